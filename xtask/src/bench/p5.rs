//! P5: the leak scan of an attempt's texts, against ripgrep with the same literals on
//! the same bytes. Both have one thread; both are counted in processor time, so that
//! what else the machine does counts for neither.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::texts::Texts;
use super::{Measured, folder, tools};
use crate::{shell, ui};

const SIZE: usize = 256 << 20;
const TIMES: usize = 3;

pub(super) fn run() -> Result<Vec<Measured>> {
    let folder = folder()?;
    let (file, terms) = (folder.join("p5.txt"), folder.join("p5.terms.json"));
    let literals = folder.join("p5.literals");
    ui::step(&format!("making up {} MiB of traces", SIZE >> 20));
    write(&file)?;
    std::fs::write(&terms, serde_json::to_vec(&case_terms())?)?;
    let root = tools::debian("ripgrep", "usr/bin/rg")?;
    let ours = tools::example("measure_scan")?;
    let mine = tools::json_of(
        Command::new(&ours)
            .args([&terms, &file])
            .arg(TIMES.to_string())
            .arg(&literals),
    )?;
    let mut theirs = f64::INFINITY;
    for _ in 0..TIMES {
        let before = tools::children_seconds()?;
        // The guards see no letter case, so ripgrep must not either.
        let output = shell::output(
            Command::new(root.join("usr/bin/rg"))
                .args(["--no-config", "-a", "-F", "-i", "-c", "-j1", "-f"])
                .args([&literals, &file]),
            Duration::from_secs(900),
        )?;
        if !output.status.success() {
            anyhow::bail!("ripgrep failed: {}", shell::tail(&output, 5));
        }
        theirs = theirs.min(tools::children_seconds()? - before);
    }
    let seconds = tools::number(&mine, "seconds")?;
    let rate = |s: f64| SIZE as f64 / s / f64::from(1 << 20);
    let findings = tools::number(&mine, "findings")?;
    Ok(vec![Measured {
        what: format!(
            "leak scan, {} literals in {} MiB",
            tools::number(&mine, "literals")?,
            SIZE >> 20
        ),
        figures: format!(
            "{:.0} MiB/s, ripgrep {:.0} MiB/s",
            rate(seconds),
            rate(theirs)
        ),
        ratio: theirs / seconds,
        bar: 0.5,
        // Each of the planted references, and nothing else.
        sound: findings == PLANTED as f64,
        detail: json!({ "ours": mine, "ripgrep_seconds": theirs }),
    }])
}

/// How many references to the bug's report are in the texts.
const PLANTED: usize = 4;

fn write(file: &Path) -> Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
    let mut texts = Texts::new(5);
    let mut written = 0;
    let mut planted = 0;
    while written < SIZE {
        let words = 20 + texts.next(120);
        let size = 200 + texts.next(12_000);
        let mut output = texts.output(size);
        if planted < PLANTED && written > planted * (SIZE / PLANTED) {
            planted += 1;
            output.push_str("see https://github.com/tikv/raft-rs/issues/376\n");
        }
        let step = [
            ("thought", texts.thought(words)),
            ("input", texts.command()),
            ("output", output),
        ];
        for (source, text) in step {
            let head = format!("@@ {source} {}\n", text.len());
            out.write_all(head.as_bytes())?;
            out.write_all(text.as_bytes())?;
            written += head.len() + text.len();
        }
    }
    Ok(out.flush()?)
}

/// Terms of the extent that a case of this benchmark has.
fn case_terms() -> serde_json::Value {
    let repository = "tikv/raft-rs";
    json!({
        "names": ["raft-rs", "tikv raft"],
        "issues": [{
            "repository": repository,
            "number": 376,
            "url": "https://github.com/tikv/raft-rs/issues/376",
            "title": "Becoming a precandidate should reset the votes of an earlier term",
        }],
        "fixes": [{
            "repository": repository,
            "number": 383,
            "url": "https://github.com/tikv/raft-rs/pull/383",
            "title": "Reset votes when a node becomes a precandidate again",
        }],
        "commits": ["7dc6c2b74cd1ec5b6f6f5b3d2f1a1b0c9d8e7f60"],
        "fixed_versions": ["0.6.0-alpha"],
        "phrases": [
            "Fixes a bug where votes of an earlier campaign were counted again",
            "precandidates forget their votes before they campaign once more",
        ],
        "functions": ["Raft::become_pre_candidate", "ProgressTracker::reset_votes"],
        "sentences": [
            "the tally of an earlier campaign survives the change of role",
            "resetting the votes of the tracker where the role is taken on repairs it",
        ],
        "diffs": ["--- a/src/raft.rs\n+++ b/src/raft.rs\n@@ -1093,6 +1093,7 @@ impl<T: Storage> Raft<T> {\n         self.state = StateRole::PreCandidate;\n+        self.prs.reset_votes();\n         self.leader_id = INVALID_ID;\n"],
        "snapshot_time": 1_570_000_000,
    })
}
