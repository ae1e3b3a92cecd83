//! P8: all traces of a submission of 6,120 attempts as one download, in both forms:
//! how soon its first bytes are there, and what memory the server takes.

use anyhow::{Context, Result};

use super::{Measured, folder, tools};

const START: f64 = 0.2;
const MEMORY: f64 = 100.0 * 1024.0 * 1024.0;

pub(super) fn run() -> Result<Vec<Measured>> {
    let folder = folder()?.join("p8");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let ours = tools::site(&["download"], &folder)?;
    std::fs::remove_dir_all(&folder)?;
    let unpacked = tools::number(&ours, "unpacked")?;
    let mut found = Vec::new();
    for form in ours["forms"].as_array().context("no forms")? {
        let name = form["form"].as_str().unwrap_or_default();
        let start = tools::number(form, "start_worst")?;
        let memory = tools::number(form, "memory")?;
        let bytes = tools::number(form, "bytes")?;
        // A stored archive holds every byte; the other one packs them.
        let whole = if name == "zip" {
            unpacked
        } else {
            unpacked / 50.0
        };
        let sound = bytes >= whole;
        found.push(Measured {
            what: format!("traces.{name}: first bytes, worst of five, against 200 ms"),
            figures: format!("{:.0} ms", start * 1e3),
            ratio: START / start,
            bar: 1.0,
            sound,
            detail: form.clone(),
        });
        found.push(Measured {
            what: format!("traces.{name}: memory of the server, against 100 MiB"),
            figures: format!(
                "{:.0} MiB for {:.0} MiB in {:.1} s",
                memory / 1024.0 / 1024.0,
                bytes / 1024.0 / 1024.0,
                tools::number(form, "seconds")?
            ),
            ratio: MEMORY / memory,
            bar: 1.0,
            sound,
            detail: form.clone(),
        });
    }
    Ok(found)
}
