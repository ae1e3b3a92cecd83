//! SWE-bench's ways: an experiments folder (`all_preds.jsonl`, `trajs/`,
//! `logs/`), a run's output with a folder per instance, or a folder of one
//! prediction per file. Results and reports in it are passed over.

use std::collections::BTreeMap;

use faultboard_domain::{Condition, Track};

use super::{Content, Found, Layout, MOST_BYTES, Tree, trace_name};
use crate::predictions::Predictions;

pub(super) struct SweBench;

const PREDICTIONS: [&str; 5] = [
    "all_preds.jsonl",
    "preds.json",
    "preds.jsonl",
    "predictions.jsonl",
    "predictions.json",
];

/// The predictions at the top, if there are any.
fn predictions(tree: &dyn Tree) -> Option<&str> {
    PREDICTIONS
        .into_iter()
        .find(|name| tree.paths().iter().any(|p| p == name))
}

/// Patches in a folder per instance: (instance, path).
fn patches(tree: &dyn Tree) -> Vec<(&str, &str)> {
    let of = |path: &'_ String| -> Option<(usize, usize)> {
        let folder = path.strip_suffix("/patch.diff")?;
        let start = folder.rfind('/').map_or(0, |i| i + 1);
        let telling = folder[start..].contains("__") || folder.starts_with("logs/");
        telling.then_some((start, folder.len()))
    };
    tree.paths()
        .iter()
        .filter_map(|p| of(p).map(|(a, b)| (&p[a..b], p.as_str())))
        .collect()
}

/// Files at the top that hold one prediction each.
fn singles(tree: &dyn Tree) -> Vec<&str> {
    let tops = tree
        .paths()
        .iter()
        .filter(|p| !p.contains('/') && p.ends_with(".json"));
    tops.filter(|p| {
        tree.read(p, MOST_BYTES).is_ok_and(|bytes| {
            serde_json::from_slice::<serde_json::Value>(&bytes)
                .is_ok_and(|v| v["instance_id"].is_string() && !v["model_patch"].is_array())
        })
    })
    .map(String::as_str)
    .collect()
}

impl Layout for SweBench {
    fn id(&self) -> &'static str {
        "swe-bench"
    }

    fn describe(&self) -> &'static str {
        "SWE-bench predictions: all_preds.jsonl or preds.json with trajs/, or a folder per instance"
    }

    fn fits(&self, tree: &dyn Tree) -> bool {
        predictions(tree).is_some() || !patches(tree).is_empty() || !singles(tree).is_empty()
    }

    fn read(&self, tree: &dyn Tree, condition: Condition) -> Found {
        let mut found = Found::new(self.id(), Track::Repair);
        let mut answers: BTreeMap<String, Content> = BTreeMap::new();
        let files: Vec<&str> = match predictions(tree) {
            Some(path) => vec![path],
            None => singles(tree),
        };
        for path in &files {
            let bytes = match tree.read(path, MOST_BYTES) {
                Ok(bytes) => bytes,
                Err(e) => {
                    found.problem(path, e.to_string(), "Hand in a smaller file, or a bundle.");
                    continue;
                }
            };
            match Predictions::read(&bytes) {
                Ok(read) => {
                    found.agree("model", |f| &mut f.model, &read.model);
                    for (instance, patch) in read.patches {
                        let patch = Content::Bytes(patch.into_bytes());
                        if answers.insert(instance.clone(), patch).is_some() {
                            found.problem(
                                path,
                                format!("`{instance}` stands in two files"),
                                "Keep one of them.",
                            );
                        }
                    }
                }
                Err(report) => {
                    for mut problem in report.problems {
                        problem.path = format!("{path}{}", problem.path);
                        found.report.push(problem);
                    }
                }
            }
        }
        if files.is_empty() {
            for (instance, path) in patches(tree) {
                let same = Content::Same(path.to_owned());
                if answers.insert(instance.to_owned(), same).is_some() {
                    found.problem(
                        path,
                        format!("a second patch of `{instance}`"),
                        "Keep one of them.",
                    );
                }
            }
        }
        for (instance, patch) in answers {
            let Some(case) = found.case(&instance) else {
                continue;
            };
            let folder = format!("{case}/{condition}/run-01");
            if found
                .files
                .insert(format!("{folder}/patch.diff"), patch)
                .is_some()
            {
                found.problem(
                    &instance,
                    "two instances are the same case",
                    "Keep one of them.",
                );
            }
            match trace(tree, &instance) {
                Some(path) => {
                    let name = trace_name(path);
                    found.files.insert(format!("{folder}/{name}"), Content::Same(path.to_owned()));
                }
                None => found.problem(
                    &instance,
                    "there is no trajectory of it",
                    "Put it into trajs/ under the instance's name, or name the folder with --trajectories.",
                ),
            }
        }
        found
    }
}

/// The trajectory of an instance: a file or a folder of its name.
fn trace<'t>(tree: &'t dyn Tree, instance: &str) -> Option<&'t str> {
    const ENDS: [&str; 7] = [
        ".traj.json",
        ".traj",
        ".jsonl",
        ".json",
        ".md",
        ".txt",
        ".log",
    ];
    let named = |path: &str| {
        let mut parts = path.rsplit('/');
        let file = parts.next().unwrap_or_default();
        let folder = parts.next().unwrap_or_default();
        let own = file
            .strip_prefix(instance)
            .is_some_and(|rest| rest.starts_with('.'));
        let skip = [
            "patch.diff",
            "report.json",
            "test_output.txt",
            "run_instance.log",
            "eval.sh",
        ];
        let single = own && path.ends_with(".json") && !path.contains('/');
        (own || folder == instance) && !skip.contains(&file) && !single
    };
    let own: Vec<&String> = tree.paths().iter().filter(|p| named(p)).collect();
    ENDS.iter()
        .find_map(|end| own.iter().find(|p| p.ends_with(end)).map(|p| p.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::*;

    fn line(id: &str) -> String {
        format!(r#"{{"instance_id":"{id}","model_name_or_path":"m","model_patch":"p {id}"}}"#)
    }

    #[test]
    fn an_experiments_folder_is_read_with_its_trajectories() {
        let preds = format!("{}\n{}\n", line("kv-1"), line("kv-2"));
        let tree = Memory::of(&[
            ("all_preds.jsonl", &preds),
            ("metadata.yaml", "name: x"),
            ("trajs/kv-1.traj", "{}"),
            ("trajs/kv-2/kv-2.traj.json", "{}"),
            ("logs/kv-1/report.json", "{}"),
            ("results/results.json", "{}"),
        ]);
        assert!(SweBench.fits(&tree));
        let found = SweBench.read(&tree, Condition::ContextAugmented);
        assert!(found.report.is_ok(), "{:?}", found.report);
        let paths: Vec<&str> = found.files.keys().map(String::as_str).collect();
        assert_eq!(
            paths,
            [
                "kv-1/context-augmented/run-01/attempt.traj",
                "kv-1/context-augmented/run-01/patch.diff",
                "kv-2/context-augmented/run-01/attempt.traj.json",
                "kv-2/context-augmented/run-01/patch.diff",
            ]
        );
        assert_eq!(found.model.as_deref(), Some("m"));
    }

    #[test]
    fn patches_in_folders_and_single_predictions_are_read_too() {
        let tree = Memory::of(&[("logs/kv-1/patch.diff", "p"), ("trajs/kv-1.md", "x")]);
        assert!(SweBench.fits(&tree));
        assert_eq!(SweBench.read(&tree, Condition::SymptomOnly).files.len(), 2);
        let (one, two) = (line("kv-1"), line("kv-2"));
        let tree = Memory::of(&[("kv-1.json", &one), ("kv-2.json", &two)]);
        let found = SweBench.read(&tree, Condition::SymptomOnly);
        assert_eq!(
            (found.files.len(), found.report.errors()),
            (2, 2),
            "the traces are missing"
        );
    }

    #[test]
    fn foreign_ids_and_duplicates_are_all_told() {
        let preds = format!(
            "{}\n{}\n{}\n",
            line("django__django-1"),
            line("kv-1"),
            line("kv-1")
        );
        let found = SweBench.read(
            &Memory::of(&[("preds.json", &preds)]),
            Condition::SymptomOnly,
        );
        assert!(!found.report.is_ok());
        let one = line("django__django-1");
        let found = SweBench.read(&Memory::of(&[("preds.json", &one)]), Condition::SymptomOnly);
        assert_eq!(found.report.errors(), 1);
    }
}
