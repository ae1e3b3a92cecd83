//! Re-evaluations: what they cover, how far they are, what they would change.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::{AttemptId, ReevaluationId, RevisionId, SubmissionId};
use crate::reevaluation::Scope;

/// An attempt behind a cell of a matrix or a changed guard hit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AttemptRef {
    /// The attempt.
    pub id: AttemptId,
    /// Its submission.
    pub submission: SubmissionId,
    /// Case, condition and run in words.
    pub words: String,
}

/// One cell of the verdict matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixCell {
    /// The verdict that is live.
    pub old: String,
    /// The verdict of the re-evaluation.
    pub new: String,
    /// How many attempts.
    pub count: u32,
    /// The attempts, at most [`MATRIX_MOST`].
    pub attempts: Vec<AttemptRef>,
}

/// The most attempts that a cell names; its count covers all.
pub const MATRIX_MOST: usize = 500;

/// A guard's hit that appeared or went away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitChange {
    /// Whether it is new; else it is gone.
    pub new: bool,
    /// Where.
    pub attempt: AttemptRef,
    /// The guard, with its version.
    pub guard: String,
    /// The step, 0-based, if it is in one.
    pub step: Option<u32>,
    /// Why it is a hit.
    pub why: String,
}

/// One submission of a re-evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReevaluatedSubmission {
    /// The submission.
    pub submission: SubmissionId,
    /// Its configuration.
    pub title: String,
    /// The new revision.
    pub revision: RevisionId,
    /// Its number.
    pub number: u32,
    /// `building`, `ready`, `live`, `replaced` or `discarded`.
    pub state: String,
    /// Attempts that have a verdict.
    pub done: u32,
    /// Attempts that need one.
    pub total: u32,
    /// Attempts given up on until an operator has looked.
    pub parked: u32,
    /// Verdicts that differ.
    pub changed: u32,
}

/// A re-evaluation in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReevaluationLine {
    /// Its id.
    pub id: ReevaluationId,
    /// What it covers.
    pub scope: Scope,
    /// Why it was begun.
    pub reason: String,
    /// When.
    pub created: Timestamp,
    /// By whom.
    pub created_by: String,
    /// Submissions by the state of their revision: (state, count).
    pub states: Vec<(String, u32)>,
}

/// `/admin/reevaluations/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReevaluationView {
    /// What the list says of it.
    pub line: ReevaluationLine,
    /// Whether cached verdicts are not reused.
    pub fresh: bool,
    /// Verdicts that are there.
    pub done: u32,
    /// Verdicts in all.
    pub total: u32,
    /// Old against new verdicts, those that differ first.
    pub matrix: Vec<MatrixCell>,
    /// Guard hits that differ.
    pub hits: Vec<HitChange>,
    /// Its submissions.
    pub submissions: Vec<ReevaluatedSubmission>,
}

/// `/admin/reevaluations`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReevaluationsView {
    /// Newest first.
    pub lines: Vec<ReevaluationLine>,
    /// Submissions that an older scorer scored: (its version, how many).
    pub outdated: Vec<(String, u32)>,
    /// Configurations that can be named: (one of its submissions, title).
    pub configurations: Vec<(SubmissionId, String)>,
    /// Releases that can be named.
    pub releases: Vec<String>,
    /// Cases that can be named.
    pub cases: Vec<String>,
}
