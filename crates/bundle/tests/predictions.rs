//! Predictions files written by others: every one is read, and agrees with the
//! facts that were counted independently. They lie in the folder that
//! `FAULTBOARD_SAMPLES` names, or beside the repository in `shared/samples`.

use std::io::Write as _;
use std::path::PathBuf;

use faultboard_bundle::predictions::Predictions;
use serde_json::Value;

fn samples() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/samples");
    let folder =
        std::env::var_os("FAULTBOARD_SAMPLES").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    folder.join("expected.json").is_file().then_some(folder)
}

#[test]
fn real_predictions_are_read() {
    let Some(folder) = samples() else {
        // Straight to the terminal: the test runner swallows what a passing test prints.
        let _ = writeln!(
            std::io::stderr(),
            "NO SAMPLES: set FAULTBOARD_SAMPLES; predictions were NOT compared with real ones"
        );
        return;
    };
    let expected: Value =
        serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let mut seen = 0;
    for sample in expected.as_array().unwrap() {
        let facts = &sample["facts"];
        let kind = facts["kind"].as_str().unwrap_or_default();
        if !kind.starts_with("predictions") && kind != "one prediction" {
            continue;
        }
        let path = sample["path"].as_str().unwrap();
        let read = Predictions::read(&std::fs::read(folder.join(path)).unwrap());
        seen += 1;
        let wanted = facts["predictions"].as_u64().unwrap_or(1);
        if facts["distinct_ids"]
            .as_u64()
            .is_some_and(|ids| ids < wanted)
        {
            let report = read.unwrap_err();
            let repeats = wanted - facts["distinct_ids"].as_u64().unwrap();
            assert_eq!(report.errors() as u64, repeats, "{path}");
            continue;
        }
        let read = read.unwrap();
        assert_eq!(read.patches.len() as u64, wanted, "{path}");
        let empty = read
            .patches
            .values()
            .filter(|p| p.trim().is_empty())
            .count();
        if let Some(wanted) = facts["empty_or_null_patches"].as_u64() {
            assert_eq!(empty as u64, wanted, "{path}");
            assert_eq!(
                facts["models"][0].as_str(),
                Some(read.model.as_str()),
                "{path}"
            );
        }
    }
    assert!(seen >= 9, "only {seen} predictions files were found");
}
