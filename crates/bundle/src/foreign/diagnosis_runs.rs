//! Runs of a diagnosis benchmark: `<bug>/run-NN/diagnosis.json`, below any
//! folders, with trajectories beside it or in a tree of their own. Scores in it
//! are passed over.

use faultboard_domain::{Condition, Track};

use super::{Content, Found, Layout, Tree, json, session, trace_name};

pub(super) struct DiagnosisRuns;

/// `<bug>`, `run-NN` and the file of a path.
fn parts(path: &str) -> Option<(&str, &str, &str)> {
    let (folder, file) = path.rsplit_once('/')?;
    let (above, run) = folder.rsplit_once('/')?;
    let bug = above.rsplit('/').next()?;
    let number = run
        .strip_prefix("run-")
        .or_else(|| run.strip_prefix("run_"))?;
    let digits = (1..=6).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    (digits && !bug.is_empty()).then_some((bug, number, file))
}

impl Layout for DiagnosisRuns {
    fn id(&self) -> &'static str {
        "diagnosis-runs"
    }

    fn describe(&self) -> &'static str {
        "runs of a diagnosis benchmark: <bug>/run-NN/diagnosis.json"
    }

    fn fits(&self, tree: &dyn Tree) -> bool {
        tree.paths()
            .iter()
            .any(|p| matches!(parts(p), Some((_, _, "diagnosis.json"))))
    }

    fn read(&self, tree: &dyn Tree, _: Condition) -> Found {
        let mut found = Found::new(self.id(), Track::Diagnosis);
        let mut left_out = 0;
        for path in tree.paths() {
            let Some((bug, number, file)) = parts(path) else {
                left_out += 1;
                continue;
            };
            let name = match file {
                "diagnosis.json" | "session_stats.json" => file,
                _ if file.starts_with("trajectory.") || file.contains(".traj") => trace_name(file),
                _ => {
                    left_out += 1;
                    continue;
                }
            };
            let Some(case) = found.case(bug) else {
                continue;
            };
            let target = format!("{case}/run-{:0>2}/{name}", number.trim_start_matches('0'));
            let content = if file == "session_stats.json" {
                match json(tree, path).ok().and_then(|v| session::stats(&v)) {
                    Some(stats) => Content::Bytes(stats),
                    None => continue,
                }
            } else {
                Content::Same(path.clone())
            };
            if found.files.insert(target.clone(), content).is_some() {
                found.problem(
                    path,
                    format!("a second file for {target}"),
                    "Keep one of them.",
                );
            }
        }
        if left_out > 0 {
            found
                .notes
                .push(format!("{left_out} other files were left out"));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::*;

    #[test]
    fn runs_are_found_below_any_folder() {
        let tree = Memory::of(&[
            ("metadata.yaml", "x"),
            ("diagnoses/kv/KV-12/run-01/diagnosis.json", "{}"),
            ("diagnoses/kv/KV-12/run-01/diagnosis_scores.json", "{}"),
            ("diagnoses/kv/KV-12/run-10/diagnosis.json", "{}"),
            ("traces/KV-12/run-01/trajectory.json", "{}"),
            (
                "traces/KV-12/run-01/session_stats.json",
                r#"{"api_calls":3,"cost":1}"#,
            ),
        ]);
        assert!(DiagnosisRuns.fits(&tree));
        let found = DiagnosisRuns.read(&tree, Condition::SymptomOnly);
        assert!(found.report.is_ok(), "{:?}", found.report);
        let paths: Vec<&str> = found.files.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "kv-12/run-01/diagnosis.json",
                "kv-12/run-01/session_stats.json",
                "kv-12/run-01/trajectory.json",
                "kv-12/run-10/diagnosis.json",
            ]
        );
        assert_eq!(found.notes, ["2 other files were left out"]);
    }
}
