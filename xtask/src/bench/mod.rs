//! `cargo xtask bench [ROW ...]`: the product's bars, each measured as a ratio
//! within one run on one machine, never as an absolute time. A row brings what
//! it compares with (NumPy, lme4, a plain scorer) into `target/bench` by itself.
//!
//! One file per row and a line in [`ROWS`]. Prints a table and writes
//! `target/bench/results.json`; ends with a failure if a bar is missed.

mod p10;
mod p12;
mod p2;
mod p3;
mod p4;
mod p5;
mod p6;
mod p7;
mod p8;
mod texts;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::{shell, ui};

/// One measured bar.
pub(crate) struct Measured {
    /// What was compared.
    pub what: String,
    /// Ours and theirs, with their units.
    pub figures: String,
    /// The ratio, the larger the better.
    pub ratio: f64,
    /// The least ratio.
    pub bar: f64,
    /// Whether the results agree and every other condition of the row holds.
    pub sound: bool,
    /// Everything, for the JSON.
    pub detail: Value,
}

impl Measured {
    fn met(&self) -> bool {
        self.sound && self.ratio >= self.bar
    }
}

/// A row of the table.
struct Row {
    id: &'static str,
    about: &'static str,
    run: fn() -> Result<Vec<Measured>>,
}

const ROWS: &[Row] = &[
    Row {
        id: "P2",
        about: "interval of a mean, n = 120, 10,000 replicates, against NumPy",
        run: p2::run,
    },
    Row {
        id: "P3",
        about: "mixed model of 620 outcomes, against lme4's glmer",
        run: p3::run,
    },
    Row {
        id: "P4",
        about: "rescoring 6,120 diagnoses, against a plain Python scorer",
        run: p4::run,
    },
    Row {
        id: "P5",
        about: "leak scan of 256 MiB of traces, against ripgrep",
        run: p5::run,
    },
    Row {
        id: "P6",
        about: "a run of an oracle, against the same steps typed as engine commands",
        run: p6::run,
    },
    Row {
        id: "P7",
        about: "upload of 1 GiB, against nginx's WebDAV",
        run: p7::run,
    },
    Row {
        id: "P8",
        about: "all traces of 6,120 attempts as a download",
        run: p8::run,
    },
    Row {
        id: "P10",
        about: "pages at 10 and at 1,000 submissions (synthetic)",
        run: p10::run,
    },
    Row {
        id: "P12",
        about: "a trace of 50 MB at its last step",
        run: p12::run,
    },
];

/// The folder for everything that the bench installs and writes.
pub(crate) fn folder() -> Result<PathBuf> {
    let folder = shell::target_dir().join("bench");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("{} can't be made", folder.display()))?;
    Ok(folder.canonicalize()?)
}

/// Runs the rows that are named, or all.
pub(crate) fn bench(wanted: &[String]) -> Result<ExitCode> {
    for name in wanted {
        if !ROWS.iter().any(|r| r.id.eq_ignore_ascii_case(name)) {
            let known: Vec<&str> = ROWS.iter().map(|r| r.id).collect();
            bail!("bench has no row '{name}'; it has {}", known.join(", "));
        }
    }
    let mut lines = Vec::new();
    let mut results = Vec::new();
    let mut all_met = true;
    for row in ROWS {
        if !wanted.is_empty() && !wanted.iter().any(|n| row.id.eq_ignore_ascii_case(n)) {
            continue;
        }
        let phase = ui::phase(&format!("{}: {}", row.id, row.about));
        for m in (row.run)()? {
            ui::step(&format!("{}: {}", m.what, m.figures));
            all_met &= m.met();
            lines.push(format!(
                "| {} | {} | {} | {:.2} | {:.2} | {} |",
                row.id,
                m.what,
                m.figures,
                m.ratio,
                m.bar,
                match (m.sound, m.met()) {
                    (false, _) => "results differ",
                    (true, true) => "met",
                    (true, false) => "missed",
                }
            ));
            results.push(json!({
                "row": row.id,
                "what": m.what,
                "ratio": m.ratio,
                "bar": m.bar,
                "sound": m.sound,
                "met": m.met(),
                "detail": m.detail,
            }));
        }
        phase.done();
    }
    ui::plain("\n| row | what | figures | ratio | bar | |\n| --- | --- | --- | --- | --- | --- |");
    for line in lines {
        ui::plain(&line);
    }
    let file = folder()?.join("results.json");
    let machine = json!({
        "cpu": tools::cpu(),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "load": std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
    });
    std::fs::write(
        &file,
        serde_json::to_vec_pretty(&json!({ "machine": machine, "rows": results }))?,
    )?;
    ui::step(&format!("written to {}", file.display()));
    Ok(if all_met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
