//! P12: a trace of 50 MB opened at its last step: how long the server takes for the
//! page, and what memory the browser takes that shows it.

use anyhow::Result;

use super::{Measured, folder, tools};

const SECONDS: f64 = 0.3;
const MEMORY: f64 = 300e6;

pub(super) fn run() -> Result<Vec<Measured>> {
    let folder = folder()?.join("p12");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let ours = tools::site(&["trace"], &folder)?;
    std::fs::remove_dir_all(&folder)?;
    let worst = tools::number(&ours, "worst")?;
    let browser = tools::number(&ours, "browser")?;
    let sound = tools::number(&ours, "bytes")? >= 50e6;
    Ok(vec![
        Measured {
            what: "page of the last step, worst of 21, against 300 ms".to_owned(),
            figures: format!(
                "{:.0} ms, median {:.0} ms",
                worst * 1e3,
                tools::number(&ours, "median")? * 1e3
            ),
            ratio: SECONDS / worst,
            bar: 1.0,
            sound,
            detail: ours.clone(),
        },
        Measured {
            what: "the browser's process of the page, against 300 MB".to_owned(),
            figures: format!("{:.0} MB", browser / 1e6),
            ratio: MEMORY / browser,
            bar: 1.0,
            sound,
            detail: ours,
        },
    ])
}
