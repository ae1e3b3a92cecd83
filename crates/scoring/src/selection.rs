//! Which attempts of a configuration count.
//!
//! Per case (and condition) the attempts are taken in the order of their
//! run numbers until the slots are full. The choice never looks at a score:
//! a candidate has none. What was chosen, passed over and left unused is a
//! manifest that is stored and can be downloaded.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::{AttemptId, CaseId, Condition, Digest, RunNumber, Track};
use serde::{Deserialize, Serialize};

/// Attempts that the diagnosis track keeps per case.
pub const DIAGNOSIS_SLOTS: u32 = 3;
/// Attempts that the repair track keeps per case and condition by default.
pub const REPAIR_SLOTS: u32 = 1;

/// Why an attempt takes no slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
pub enum SkipReason {
    /// The file to be scored is not there.
    Missing,
    /// The file does not follow its schema.
    Invalid {
        /// What is wrong with it.
        problem: String,
    },
    /// No scoring of it has completed.
    NotScored,
    /// Its score was computed from other bytes or by another scorer version.
    ScoreMismatch,
    /// Only the platform's own failures stand against it.
    InfraError,
    /// A reviewer set it aside.
    SetAside {
        /// The reviewer's reason.
        note: String,
    },
    /// Its case is not in the cohort.
    OutsideCohort,
    /// Another attempt has the same run number.
    DuplicateRun,
}

/// What is known of an attempt before the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its case.
    pub case: CaseId,
    /// Its condition (repair).
    pub condition: Option<Condition>,
    /// Its run number.
    pub run: RunNumber,
    /// Digest of the file that is scored, if there is one.
    pub source: Option<Digest>,
    /// Why it may not take a slot; `None` when its file is valid and a
    /// matching score has completed.
    pub obstacle: Option<SkipReason>,
}

/// What to choose for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The track.
    pub track: Track,
    /// The cases that the configuration stands for.
    pub cohort: BTreeSet<CaseId>,
    /// The conditions that each case needs; empty for the diagnosis track.
    pub conditions: Vec<Condition>,
    /// Slots per case and condition, at least 1.
    pub slots: u32,
    /// The version of the scorer whose scores count.
    pub scorer_version: String,
}

/// An attempt in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The case.
    pub case: CaseId,
    /// The condition (repair).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The run number.
    pub run: RunNumber,
    /// The attempt.
    pub attempt: AttemptId,
    /// Digest of the scored file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Digest>,
}

/// An attempt that took no slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The attempt.
    #[serde(flatten)]
    pub entry: Entry,
    /// Why not.
    #[serde(flatten)]
    pub reason: SkipReason,
}

/// A case (and condition) whose slots could not all be filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortfall {
    /// The case.
    pub case: CaseId,
    /// The condition (repair).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// Slots that were filled, fewer than the plan's.
    pub filled: u32,
}

/// The outcome of the choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The track.
    pub track: Track,
    /// The version of the scorer whose scores count.
    pub scorer_version: String,
    /// Slots per case and condition.
    pub slots: u32,
    /// The cases that the configuration stands for, sorted.
    pub cohort: Vec<CaseId>,
    /// Attempts that count, by case, condition and run number.
    pub chosen: Vec<Entry>,
    /// Attempts that were passed over before the slots were full.
    pub skipped: Vec<Skipped>,
    /// Attempts after the slots were full.
    pub unused: Vec<Entry>,
    /// Where slots stayed empty.
    pub shortfalls: Vec<Shortfall>,
}

/// Chooses attempts.
#[must_use]
pub fn select(plan: &Plan, candidates: &[Candidate]) -> Manifest {
    let mut manifest = Manifest {
        track: plan.track,
        scorer_version: plan.scorer_version.clone(),
        slots: plan.slots.max(1),
        cohort: plan.cohort.iter().cloned().collect(),
        chosen: Vec::new(),
        skipped: Vec::new(),
        unused: Vec::new(),
        shortfalls: Vec::new(),
    };
    // Every place that must be filled, so that a case without any attempt is
    // named too.
    let mut places: BTreeMap<(&CaseId, Option<Condition>), Vec<&Candidate>> = BTreeMap::new();
    for case in &plan.cohort {
        if plan.conditions.is_empty() {
            places.entry((case, None)).or_default();
        }
        for condition in &plan.conditions {
            places.entry((case, Some(*condition))).or_default();
        }
    }
    let mut ordered: Vec<&Candidate> = candidates.iter().collect();
    ordered.sort_by(|a, b| {
        (&a.case, a.condition, a.run, &a.attempt).cmp(&(&b.case, b.condition, b.run, &b.attempt))
    });
    for candidate in ordered {
        match places.get_mut(&(&candidate.case, candidate.condition)) {
            Some(place) => place.push(candidate),
            None => manifest.skipped.push(Skipped {
                entry: entry(candidate),
                reason: SkipReason::OutsideCohort,
            }),
        }
    }
    for ((case, condition), place) in places {
        let mut filled = 0;
        let mut previous: Option<RunNumber> = None;
        for candidate in place {
            let repeated = previous == Some(candidate.run);
            previous = Some(candidate.run);
            if filled == manifest.slots {
                manifest.unused.push(entry(candidate));
                continue;
            }
            let obstacle = if repeated {
                Some(SkipReason::DuplicateRun)
            } else {
                candidate.obstacle.clone()
            };
            match obstacle {
                Some(reason) => manifest.skipped.push(Skipped {
                    entry: entry(candidate),
                    reason,
                }),
                None => {
                    manifest.chosen.push(entry(candidate));
                    filled += 1;
                }
            }
        }
        if filled < manifest.slots {
            manifest.shortfalls.push(Shortfall {
                case: case.clone(),
                condition,
                filled,
            });
        }
    }
    manifest
}

fn entry(candidate: &Candidate) -> Entry {
    Entry {
        case: candidate.case.clone(),
        condition: candidate.condition,
        run: candidate.run,
        attempt: candidate.attempt.clone(),
        source: candidate.source.clone(),
    }
}
