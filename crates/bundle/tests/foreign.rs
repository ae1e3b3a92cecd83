//! Foreign layouts against real folders written by others, which lie outside of
//! the repository: `FAULTBOARD_SAMPLES`, or `../shared/samples` beside it.

use std::path::{Path, PathBuf};

use faultboard_bundle::foreign::{self, tree::Folders};
use faultboard_bundle::predictions::Predictions;
use faultboard_domain::Condition;
use serde_json::Value;

fn samples() -> Option<PathBuf> {
    let named = std::env::var_os("FAULTBOARD_SAMPLES").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let found = named.or(Some(beside)).filter(|p| p.is_dir());
    if found.is_none() {
        use std::io::Write as _;
        let told = writeln!(
            std::io::stderr(),
            "SKIP foreign layouts: no samples; name their folder in FAULTBOARD_SAMPLES"
        );
        told.unwrap();
    }
    found
}

/// The counted facts about the files of one folder: (path, facts).
fn facts(samples: &Path, folder: &str) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(samples.join("expected.json")).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let of = |v: &Value| {
        let below = v["path"]
            .as_str()?
            .strip_prefix(folder)?
            .strip_prefix('/')?;
        Some((below.to_owned(), v["facts"].clone()))
    };
    all.iter().filter_map(of).collect()
}

#[test]
fn real_predictions_agree_with_their_facts() {
    let Some(samples) = samples() else { return };
    let (mut compared, mut refused) = (0, 0);
    for (path, facts) in facts(&samples, "swebench") {
        let Some(count) = facts["predictions"].as_u64() else {
            continue;
        };
        let bytes = std::fs::read(samples.join("swebench").join(&path)).unwrap();
        let distinct = facts["distinct_ids"].as_u64().unwrap_or(count);
        if distinct < count {
            // Which of two predictions was meant, nobody can say.
            let report = Predictions::read(&bytes).unwrap_err();
            assert_eq!(report.errors() as u64, count - distinct, "{path}");
            refused += 1;
            continue;
        }
        let read = Predictions::read(&bytes).unwrap_or_else(|r| panic!("{path}: {r:?}"));
        assert_eq!(read.patches.len() as u64, count, "{path}");
        let blank = read
            .patches
            .values()
            .filter(|p| p.trim().is_empty())
            .count();
        assert_eq!(
            Some(blank as u64),
            facts["empty_or_null_patches"].as_u64(),
            "{path}"
        );
        assert_eq!(facts["models"], serde_json::json!([read.model]), "{path}");
        compared += 1;
    }
    assert!(
        compared >= 5 && refused >= 1,
        "{compared} compared, {refused} refused"
    );
}

#[test]
fn real_folders_are_recognised_and_everything_foreign_in_them_is_told() {
    let Some(samples) = samples() else { return };
    for (folder, layout) in [
        ("swebench/submission__Dex-8B-Kirkland", "swe-bench"),
        ("swebench/submission__polydev-baseline-20", "swe-bench"),
        (
            "swebench/submission__20240620_sweagent_claude3.5sonnet",
            "swe-bench",
        ),
        ("swebench/run-evaluation__vexp", "swe-bench"),
        ("swebench/preds-per-instance__aider", "swe-bench"),
        ("harbor-atif/harbor-job__2026-04-10__12-06-56", "harbor-job"),
        ("harbor-atif/harbor-job__2026-04-10__12-11-44", "harbor-job"),
        ("harbor-atif/harbor-job__2026-04-10__12-32-47", "harbor-job"),
    ] {
        let tree = Folders::open(&[&samples.join(folder)]).unwrap();
        let found = foreign::read(&tree, Condition::SymptomOnly).unwrap();
        assert_eq!(found.layout, layout, "{folder}");
        // None of their tasks is one of our cases, and every one is named.
        assert!(
            found.report.errors() > 0 && found.files.is_empty(),
            "{folder}: {:?}",
            found.report
        );
    }
}
