//! Foreign layouts: result folders of other benchmarks and harnesses, read into
//! the files of a bundle. One file per layout. A layout finds what is there and
//! says what it could not use; whether the outcome is a good bundle is for the
//! rules to say, and nothing that was claimed there about success is taken over.

mod diagnosis_runs;
mod harbor;
mod session;
mod swebench;
#[cfg(not(target_arch = "wasm32"))]
pub mod tree;

use std::collections::BTreeMap;
use std::io;

use faultboard_domain::{CaseId, Condition, Problem, Report, Track};

use crate::path::display;

/// The most bytes of a file that is read to be understood.
const MOST_BYTES: u64 = 64 << 20;
const RULE: &str = "foreign-layout";

/// Files by their paths below one folder, with `/`.
pub trait Tree {
    /// Every path, sorted.
    fn paths(&self) -> &[String];
    /// The bytes of one, if there are at most so many.
    fn read(&self, path: &str, most: u64) -> io::Result<Vec<u8>>;
}

/// A file of the bundle to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// A file of the tree, as it is.
    Same(String),
}

/// What a foreign folder holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The layout's name.
    pub layout: &'static str,
    /// Repair where there are patches, else diagnosis.
    pub track: Track,
    /// The agent, where it is named.
    pub agent: Option<String>,
    /// Its version.
    pub agent_version: Option<String>,
    /// The model, where it is named.
    pub model: Option<String>,
    /// Who offers it.
    pub provider: Option<String>,
    /// Files by their paths below the bundle's top folder.
    pub files: BTreeMap<String, Content>,
    /// What was left out or had to be guessed, one sentence each.
    pub notes: Vec<String>,
    /// What makes it unusable.
    pub report: Report,
}

impl Found {
    fn new(layout: &'static str, track: Track) -> Self {
        Self {
            layout,
            track,
            agent: None,
            agent_version: None,
            model: None,
            provider: None,
            files: BTreeMap::new(),
            notes: Vec::new(),
            report: Report::default(),
        }
    }

    fn problem(&mut self, place: &str, message: impl Into<String>, fix: &str) {
        let problem = Problem::error(display(place), RULE, message.into(), fix);
        self.report.push(problem);
    }

    /// The case that a foreign name stands for: the same id in lower case.
    fn case(&mut self, name: &str) -> Option<CaseId> {
        let bare = name.rsplit('/').next().unwrap_or(name).to_lowercase();
        match CaseId::parse(&bare) {
            Ok(case) => Some(case),
            Err(e) => {
                self.problem(name, e.to_string(), "Name the task by the id of its case.");
                None
            }
        }
    }

    /// Sets one property, and says so where several values are given.
    fn agree(&mut self, what: &str, of: fn(&mut Self) -> &mut Option<String>, value: &str) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        match of(self) {
            None => *of(self) = Some(value.to_owned()),
            Some(known) if known == value => {}
            Some(known) => {
                let message = format!(
                    "the {what} is `{}` here and `{}` elsewhere",
                    display(value),
                    display(known)
                );
                let known = self.report.problems.iter().any(|p| p.message == message);
                if !known {
                    self.problem("", message, "Hand in one folder per configuration.");
                }
            }
        }
    }
}

/// One way in which others lay out their results.
pub trait Layout: Sync {
    /// Its name.
    fn id(&self) -> &'static str;
    /// What it is, in one line.
    fn describe(&self) -> &'static str;
    /// Whether the tree looks like it.
    fn fits(&self, tree: &dyn Tree) -> bool;
    /// Reads it; every attempt is taken to be under the condition.
    fn read(&self, tree: &dyn Tree, condition: Condition) -> Found;
}

/// Every layout, the most telling first. To add one, add its file and its line.
pub static LAYOUTS: &[&dyn Layout] = &[
    &harbor::Harbor,
    &swebench::SweBench,
    &diagnosis_runs::DiagnosisRuns,
];

/// Reads a foreign folder; none if no layout fits.
pub fn read(tree: &dyn Tree, condition: Condition) -> Option<Found> {
    let layout = LAYOUTS.iter().find(|l| l.fits(tree))?;
    let mut found = layout.read(tree, condition);
    if found.files.is_empty() && found.report.problems.is_empty() {
        found.problem(
            "",
            "the folder holds no attempt",
            "Name the folder that holds the results.",
        );
    }
    found.report.sort();
    Some(found)
}

/// The `metadata.yaml` of the bundle to be: what is known filled in, the rest
/// empty, so that the check lists what is still to be said.
pub fn metadata(found: &Found, release: &str, subset: &str) -> String {
    // A JSON text is a YAML text too.
    let text = |value: &Option<String>| serde_json::Value::from(value.clone().unwrap_or_default());
    let runs = attempts_per_case(found);
    format!(
        "# Fill in what is empty; `faultboard submit check` says what is missing.\n\
         track: {}\nrelease: {}\nsubset: {}\n\
         agent:\n  name: {}\n  version: {}\n  open_source: false\n\
         model:\n  name: {}\n  provider: {}\n  open_weights: false\n\
         submitter:\n  name: \"\"\n  contact: \"\"\n\
         attempts_per_case: {runs}\n\
         network: none\n\
         declarations:\n  no_original_issues: false\n  no_fixes: false\n  no_benchmark_access: false\n",
        found.track.as_str(),
        serde_json::Value::from(release),
        serde_json::Value::from(subset),
        text(&found.agent),
        text(&found.agent_version),
        text(&found.model),
        text(&found.provider),
    )
}

/// The smallest number of runs that every attempt's folder has.
fn attempts_per_case(found: &Found) -> usize {
    let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
    for path in found.files.keys() {
        if let Some((folder, "patch.diff" | "diagnosis.json")) = path.rsplit_once('/')
            && let Some((case, _)) = folder.rsplit_once('/')
        {
            *runs.entry(case).or_default() += 1;
        }
    }
    runs.into_values().min().unwrap_or(1)
}

/// The bundle's name for a trace, by the ending of its foreign one.
fn trace_name(path: &str) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.ends_with(".traj.json") {
        "attempt.traj.json"
    } else if name.ends_with(".traj") {
        "attempt.traj"
    } else if name.ends_with(".jsonl") {
        "trajectory.jsonl"
    } else if name.ends_with(".json") {
        "trajectory.json"
    } else if name.ends_with(".md") {
        "trajectory.md"
    } else if name.ends_with(".eval") {
        "trajectory.eval"
    } else {
        "trajectory.txt"
    }
}

/// A file of the tree as JSON.
fn json(tree: &dyn Tree, path: &str) -> Result<serde_json::Value, String> {
    let bytes = tree.read(path, MOST_BYTES).map_err(|e| e.to_string())?;
    serde_json::from_slice(&bytes).map_err(|e| format!("no JSON: {}", display(&e.to_string())))
}

#[cfg(test)]
pub(super) mod memory {
    //! A tree in memory, for tests.

    use super::{Tree, io};

    pub(in crate::foreign) struct Memory {
        paths: Vec<String>,
        files: Vec<(String, Vec<u8>)>,
    }

    impl Memory {
        pub(in crate::foreign) fn of(files: &[(&str, &str)]) -> Self {
            let mut files: Vec<(String, Vec<u8>)> = files
                .iter()
                .map(|(p, t)| ((*p).to_owned(), t.as_bytes().to_vec()))
                .collect();
            files.sort();
            Self {
                paths: files.iter().map(|f| f.0.clone()).collect(),
                files,
            }
        }
    }

    impl Tree for Memory {
        fn paths(&self) -> &[String] {
            &self.paths
        }

        fn read(&self, path: &str, _: u64) -> io::Result<Vec<u8>> {
            let found = self.files.iter().find(|f| f.0 == path);
            found
                .map(|f| f.1.clone())
                .ok_or_else(|| io::ErrorKind::NotFound.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::memory::Memory;
    use super::*;

    #[test]
    fn what_fits_no_layout_is_left_alone() {
        for files in [&[][..], &[("README.md", "x")], &[("result.json", "[]")]] {
            assert_eq!(
                read(&Memory::of(files), Condition::SymptomOnly),
                None,
                "{files:?}"
            );
        }
    }

    #[test]
    fn metadata_says_what_is_known() {
        let mut found = Found::new("x", Track::Repair);
        found.agree("agent", |f| &mut f.agent, "a \"b\": #c");
        found.agree("agent", |f| &mut f.agent, "a \"b\": #c");
        assert!(found.report.is_ok());
        found.agree("agent", |f| &mut f.agent, "other");
        found.agree("agent", |f| &mut f.agent, "other");
        assert_eq!(found.report.errors(), 1);
        for run in ["run-01", "run-02"] {
            let path = format!("kv-1/symptom-only/{run}/patch.diff");
            found.files.insert(path, Content::Bytes(Vec::new()));
        }
        let text = metadata(&found, "2026.1", "full");
        assert!(text.contains(r#"name: "a \"b\": #c""#), "{text}");
        assert!(text.contains("attempts_per_case: 2\n"));
    }
}
