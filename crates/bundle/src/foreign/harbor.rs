//! Job folders of the Harbor harness: one folder per trial with its
//! `result.json`, the agent's files and the verifier's. The verifier's reward is
//! passed over: only our own oracles score.

use std::collections::BTreeMap;

use faultboard_domain::{CaseId, Condition, Track};
use serde_json::Value;

use super::{Content, Found, Layout, Tree, json, session, trace_name};

pub(super) struct Harbor;

/// Where a trial may keep its patch, the most telling first.
const PATCHES: [&str; 6] = [
    "patch.diff",
    "agent/patch.diff",
    "artifacts/patch.diff",
    "agent/model.patch",
    "verifier/patch.diff",
    "artifacts/model.patch",
];
/// Where it may keep its diagnosis.
const DIAGNOSES: [&str; 3] = [
    "diagnosis.json",
    "agent/diagnosis.json",
    "artifacts/diagnosis.json",
];

/// The folders of trials: those whose `result.json` is not the top one.
fn trials(tree: &dyn Tree) -> Vec<&str> {
    let folders = tree
        .paths()
        .iter()
        .filter_map(|p| p.strip_suffix("/result.json"));
    folders
        .filter(|f| !f.is_empty() && !f.contains("/agent") && !f.contains("/verifier"))
        .collect()
}

impl Layout for Harbor {
    fn id(&self) -> &'static str {
        "harbor-job"
    }

    fn describe(&self) -> &'static str {
        "a Harbor job: a folder per trial with result.json, agent/ and verifier/"
    }

    fn fits(&self, tree: &dyn Tree) -> bool {
        trials(tree).iter().any(|t| {
            json(tree, &format!("{t}/result.json"))
                .is_ok_and(|v| v["task_name"].is_string() && v["trial_name"].is_string())
        })
    }

    fn read(&self, tree: &dyn Tree, condition: Condition) -> Found {
        let mut found = Found::new(self.id(), Track::Repair);
        // By case, and there in the order in which they began.
        let mut by_case: BTreeMap<CaseId, Vec<(String, &str, Value)>> = BTreeMap::new();
        for trial in trials(tree) {
            let place = format!("{trial}/result.json");
            let value = match json(tree, &place) {
                Ok(value) => value,
                Err(e) => {
                    found.problem(&place, e, "Restore the file, or remove the trial's folder.");
                    continue;
                }
            };
            let Some(task) = value["task_name"].as_str() else {
                found.problem(
                    &place,
                    "names no task",
                    "A trial's result.json has `task_name`.",
                );
                continue;
            };
            let info = &value["agent_info"];
            let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
            found.agree("agent", |f| &mut f.agent, &text(&info["name"]));
            let version = text(&info["version"]);
            if version != "unknown" {
                found.agree("agent's version", |f| &mut f.agent_version, &version);
            }
            found.agree(
                "model",
                |f| &mut f.model,
                &text(&info["model_info"]["name"]),
            );
            found.agree(
                "provider",
                |f| &mut f.provider,
                &text(&info["model_info"]["provider"]),
            );
            if let Some(case) = found.case(task) {
                let began = text(&value["started_at"]);
                by_case.entry(case).or_default().push((began, trial, value));
            }
        }
        let has = |path: &str| {
            tree.paths()
                .binary_search_by(|p| p.as_str().cmp(path))
                .is_ok()
        };
        let diagnoses = by_case
            .values()
            .flatten()
            .any(|(_, t, _)| DIAGNOSES.iter().any(|d| has(&format!("{t}/{d}"))));
        let patches = by_case
            .values()
            .flatten()
            .any(|(_, t, _)| PATCHES.iter().any(|d| has(&format!("{t}/{d}"))));
        if diagnoses && !patches {
            found.track = Track::Diagnosis;
        }
        let (names, ours): (&[&str], _) = match found.track {
            Track::Diagnosis => (&DIAGNOSES, "diagnosis.json"),
            _ => (&PATCHES, "patch.diff"),
        };
        for (case, mut trials) in by_case {
            trials.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
            for (i, (_, trial, value)) in trials.into_iter().enumerate() {
                let folder = match found.track {
                    Track::Diagnosis => format!("{case}/run-{:02}", i + 1),
                    _ => format!("{case}/{condition}/run-{:02}", i + 1),
                };
                let answer = names
                    .iter()
                    .map(|n| format!("{trial}/{n}"))
                    .find(|p| has(p));
                match answer {
                    Some(path) => drop(found.files.insert(format!("{folder}/{ours}"), Content::Same(path))),
                    None => found.problem(
                        trial,
                        format!("the trial kept no {ours}"),
                        "Let the task copy the agent's answer into artifacts/ before the container goes.",
                    ),
                }
                match trace(tree, trial) {
                    Some(path) => {
                        let name = trace_name(&path);
                        found
                            .files
                            .insert(format!("{folder}/{name}"), Content::Same(path));
                    }
                    None => found.problem(
                        trial,
                        "the trial kept no trajectory",
                        "Keep what the agent writes into agent/.",
                    ),
                }
                if let Some(stats) = session::stats(&value["agent_result"]) {
                    found.files.insert(
                        format!("{folder}/session_stats.json"),
                        Content::Bytes(stats),
                    );
                }
                if value["exception_info"].is_object() {
                    found.notes.push(format!(
                        "{trial} ended with an exception; what it left is taken as its answer"
                    ));
                }
            }
        }
        found
    }
}

/// The agent's trajectory: the structured one before any log.
fn trace(tree: &dyn Tree, trial: &str) -> Option<String> {
    let prefix = format!("{trial}/agent/");
    let own: Vec<&String> = tree
        .paths()
        .iter()
        .filter(|p| p.starts_with(&prefix))
        .collect();
    let is = |p: &str, ends: &[&str]| ends.iter().any(|e| p.ends_with(e));
    let skip = |p: &str| {
        is(
            p,
            &[
                "patch.diff",
                "diagnosis.json",
                "session_stats.json",
                "config.json",
            ],
        )
    };
    let of = |ends: &[&str]| {
        own.iter()
            .find(|p| is(p, ends) && !skip(p))
            .map(|p| (*p).clone())
    };
    of(&["trajectory.json"])
        .or_else(|| of(&[".traj.json", ".traj"]))
        .or_else(|| of(&[".jsonl"]))
        .or_else(|| of(&[".json"]))
        .or_else(|| of(&[".md", ".txt", ".log"]))
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::*;

    fn trial(task: &str, name: &str, began: &str) -> String {
        format!(
            r#"{{"task_name":"{task}","trial_name":"{name}","started_at":"{began}","exception_info":null,
            "agent_info":{{"name":"a","version":"1","model_info":{{"name":"m","provider":"p"}}}},
            "agent_result":{{"n_input_tokens":5,"cost_usd":null}},"verifier_result":{{"rewards":{{"reward":1.0}}}}}}"#
        )
    }

    #[test]
    fn trials_become_runs_in_the_order_in_which_they_began() {
        let (late, early) = (
            trial("org/KV-1", "kv-1__b", "2026-01-02"),
            trial("kv-1", "kv-1__c", "2026-01-01"),
        );
        let tree = Memory::of(&[
            ("result.json", r#"{"stats":{}}"#),
            ("kv-1__b/result.json", &late),
            ("kv-1__b/agent/patch.diff", "late"),
            ("kv-1__b/agent/trajectory.json", "{}"),
            ("kv-1__b/agent/agent.txt", "log"),
            ("kv-1__c/result.json", &early),
            ("kv-1__c/artifacts/patch.diff", "early"),
            ("kv-1__c/agent/agent.txt", "log"),
        ]);
        assert!(Harbor.fits(&tree));
        let found = Harbor.read(&tree, Condition::SymptomOnly);
        assert!(found.report.is_ok(), "{:?}", found.report);
        let same = |p: &str| Some(Content::Same(p.to_owned()));
        let at = |p: &str| found.files.get(&format!("kv-1/symptom-only/{p}")).cloned();
        assert_eq!(
            at("run-01/patch.diff"),
            same("kv-1__c/artifacts/patch.diff")
        );
        assert_eq!(at("run-01/trajectory.txt"), same("kv-1__c/agent/agent.txt"));
        assert_eq!(
            at("run-02/trajectory.json"),
            same("kv-1__b/agent/trajectory.json")
        );
        assert_eq!(
            at("run-02/session_stats.json"),
            Some(Content::Bytes(br#"{"input_tokens":5}"#.to_vec()))
        );
        assert_eq!(
            (found.agent.as_deref(), found.model.as_deref()),
            (Some("a"), Some("m"))
        );
    }

    #[test]
    fn what_a_trial_lacks_is_told_for_every_trial() {
        let one = trial("kv-1", "a", "1");
        let tree = Memory::of(&[
            ("a/result.json", &one),
            ("b/result.json", "{"),
            ("c/result.json", "{}"),
        ]);
        let found = Harbor.read(&tree, Condition::SymptomOnly);
        assert_eq!(found.report.errors(), 4, "{:?}", found.report);
    }
}
