//! The proof of a case, as stored and shown: numbers and digests only. What the
//! variants are, and what an oracle said of them, belongs to the solution and
//! is never part of it.

use serde::{Deserialize, Serialize};

use crate::case::words;
use crate::clock::Timestamp;

words!(
    /// What the faulty tree showed.
    ProofStatus {
        /// Set-up works, and the oracle says FAIL every time.
        Verified = "VERIFIED",
        /// The oracle said PASS.
        Fixed = "FIXED",
        /// Set-up or the build of the faulty tree failed.
        SetupFail = "SETUP_FAIL",
        /// The oracle ended without a verdict.
        ReproError = "REPRO_ERROR",
        /// Something ran out of time.
        Timeout = "TIMEOUT",
        /// The platform failed: nothing can be said of the case.
        InfraError = "INFRA_ERROR",
    }
);

words!(
    /// Whether the oracle tells right from wrong.
    Soundness {
        /// Every tree was told right.
        Sound = "SOUND",
        /// So it was, but the oracle leans on a trick.
        Fragile = "SOUND-BUT-FRAGILE",
        /// Some tree was told wrong.
        Unsound = "UNSOUND",
    }
);

/// The proof that the oracle tells a faulty tree from a mended one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofView {
    /// Runs of the reference fix that passed.
    pub reference_passed: u32,
    /// Runs of the reference fix.
    pub reference_runs: u32,
    /// Runs of the faulty tree that failed, as they must.
    pub faulty_failed: u32,
    /// Runs of the faulty tree.
    pub faulty_runs: u32,
    /// Digest `sha256:...` of the first image.
    pub image_digest: String,
    /// When.
    pub verified: Timestamp,
    /// The runtime that ran it.
    pub runtime: String,
    /// What the faulty tree showed; none in proofs of earlier versions.
    #[serde(default)]
    pub status: Option<ProofStatus>,
    /// Whether the oracle is sound; none where it could not be found out.
    #[serde(default)]
    pub soundness: Option<Soundness>,
    /// Other right fixes that passed.
    #[serde(default)]
    pub alternatives_passed: u32,
    /// Other right fixes.
    #[serde(default)]
    pub alternatives: u32,
    /// Wrong fixes that failed, as they must.
    #[serde(default)]
    pub wrong_caught: u32,
    /// Wrong fixes.
    #[serde(default)]
    pub wrong: u32,
    /// How many things are wrong; 0: proven.
    #[serde(default)]
    pub problems: u32,
    /// What was looked for in an agent's workspace; none if that was not reached.
    #[serde(default)]
    pub hygiene: Option<Hygiene>,
    /// How long things took, in the order in which they were done.
    #[serde(default)]
    pub timings: Vec<ProofTiming>,
    /// All of it, in milliseconds.
    #[serde(default)]
    pub total_ms: u64,
    /// Digests of every image that took part.
    #[serde(default)]
    pub image_digests: Vec<String>,
    /// The rules by which it was judged.
    #[serde(default)]
    pub scorer_version: String,
    /// Digest of the case's files.
    #[serde(default)]
    pub case_digest: String,
}

impl ProofView {
    /// Whether every tree was told right, and nothing else is wrong.
    pub fn holds(&self) -> bool {
        self.reference_runs > 0
            && self.faulty_runs > 0
            && self.reference_passed == self.reference_runs
            && self.faulty_failed == self.faulty_runs
            && self.alternatives_passed == self.alternatives
            && self.wrong_caught == self.wrong
            && self.problems == 0
            && self.hygiene.as_ref().is_none_or(|h| h.problems == 0)
    }

    /// The proof as one line: counts of both directions and of the variants.
    pub fn sentence(&self) -> String {
        let mut line = format!(
            "reference passes {} of {} \u{b7} faulty fails {} of {}",
            self.reference_passed, self.reference_runs, self.faulty_failed, self.faulty_runs
        );
        let plural = |n: u32| if n == 1 { "fix" } else { "fixes" };
        if self.alternatives > 0 {
            line.push_str(&format!(
                " \u{b7} {} other right {} passed",
                of(self.alternatives_passed, self.alternatives),
                plural(self.alternatives)
            ));
        }
        if self.wrong > 0 {
            line.push_str(&format!(
                " \u{b7} {} wrong {} caught",
                of(self.wrong_caught, self.wrong),
                plural(self.wrong)
            ));
        }
        line
    }
}

fn of(n: u32, all: u32) -> String {
    if n == all {
        n.to_string()
    } else {
        format!("{n} of {all}")
    }
}

/// What was looked for in the workspace that an agent gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hygiene {
    /// Commits that can be reached.
    pub commits: u64,
    /// Refs, tags and stashes among them.
    pub refs: u64,
    /// Objects that were read, each.
    pub objects: u64,
    /// Objects that no commit needs.
    pub unreachable: u64,
    /// Files that were read, those of the tree and those beside it.
    pub files: u64,
    /// Bytes of files and objects that were searched.
    pub bytes: u64,
    /// Terms that were searched for.
    pub terms: u64,
    /// What was found that must not be there.
    pub problems: u32,
}

/// How long one kind of stage took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofTiming {
    /// What: `set-up`, `oracle, faulty tree` ...
    pub what: String,
    /// How often.
    pub runs: u32,
    /// On the average, in milliseconds.
    pub mean_ms: u64,
    /// At most.
    pub max_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(json: &str) -> ProofView {
        serde_json::from_str(json).unwrap()
    }

    const EARLIER: &str = r#"{"reference_passed":3,"reference_runs":3,"faulty_failed":3,"faulty_runs":3,"image_digest":"sha256:a","verified":0,"runtime":"docker"}"#;

    #[test]
    fn proofs_of_earlier_versions_are_read() {
        let p = proof(EARLIER);
        assert!(p.holds());
        assert_eq!(
            p.sentence(),
            "reference passes 3 of 3 \u{b7} faulty fails 3 of 3"
        );
    }

    #[test]
    fn a_proof_holds_only_when_everything_did() {
        let good = ProofView {
            alternatives: 1,
            alternatives_passed: 1,
            wrong: 2,
            wrong_caught: 2,
            hygiene: Some(Hygiene::default()),
            ..proof(EARLIER)
        };
        assert!(good.holds());
        assert!(good.sentence().ends_with("2 wrong fixes caught"));
        let spoils: [fn(&mut ProofView); 8] = [
            |p| p.reference_passed = 2,
            |p| p.faulty_failed = 0,
            |p| p.reference_runs = 0,
            |p| p.faulty_runs = 0,
            |p| p.alternatives_passed = 0,
            |p| p.wrong_caught = 1,
            |p| p.problems = 1,
            |p| {
                p.hygiene = Some(Hygiene {
                    problems: 1,
                    ..Hygiene::default()
                })
            },
        ];
        for spoil in spoils {
            let mut p = good.clone();
            spoil(&mut p);
            assert!(!p.holds(), "{p:?}");
        }
        let half = ProofView {
            wrong_caught: 1,
            ..good
        };
        assert!(half.sentence().ends_with("1 of 2 wrong fixes caught"));
    }
}
