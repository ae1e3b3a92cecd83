//! A submission: its card, timeline, scores, attempts and revisions.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::condition::{Condition, Track};
use crate::finding::{Disposition, Finding};
use crate::ids::{
    AttemptId, CaseId, ReevaluationId, ReleaseId, RevisionId, RunNumber, SubmissionId, SubsetId,
};
use crate::metadata::Metadata;
use crate::outcome::Outcome;
use crate::report::Report;
use crate::score::DiagnosisScores;
use crate::submission::SubmissionState;

use super::board::BoardRow;

/// One event of a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventView {
    /// When.
    pub at: Timestamp,
    /// Who, in words.
    pub who: String,
    /// The state that it led to; none for a remark.
    pub state: Option<SubmissionState>,
    /// Why, or what was said.
    pub note: String,
}

/// One attempt in a submission's grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptCell {
    /// The attempt.
    pub id: AttemptId,
    /// The case.
    pub case: CaseId,
    /// The condition (repair).
    pub condition: Option<Condition>,
    /// The run.
    pub run: RunNumber,
    /// Where it is.
    pub status: AttemptStatus,
    /// Its outcome under the shown revision (repair).
    pub outcome: Option<Outcome>,
    /// Why it ended so, in one sentence.
    pub reason: String,
    /// Flags such as `flaky`.
    pub flags: Vec<String>,
    /// Its metrics (diagnosis).
    pub scores: Option<DiagnosisScores>,
    /// Open or confirmed leak hits.
    pub hits: u32,
    /// Steps of its trace.
    pub steps: Option<u32>,
    /// Whether selection chose it; none before scoring.
    pub selected: Option<bool>,
}

/// Where an attempt is on its way to a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptStatus {
    /// Not queued yet.
    Waiting,
    /// In the queue.
    Queued,
    /// A worker has it.
    Running,
    /// It has a result.
    Done,
    /// Set aside by a guard.
    Quarantined,
    /// Given up after infrastructure failures; waits for an operator.
    Parked,
}

impl AttemptStatus {
    /// The word used on pages and in streams.
    pub const fn as_str(self) -> &'static str {
        match self {
            AttemptStatus::Waiting => "waiting",
            AttemptStatus::Queued => "queued",
            AttemptStatus::Running => "running",
            AttemptStatus::Done => "done",
            AttemptStatus::Quarantined => "quarantined",
            AttemptStatus::Parked => "parked",
        }
    }
}

/// Progress that a page follows while work runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmissionLive {
    /// The state.
    pub state: SubmissionState,
    /// What it means.
    pub meaning: String,
    /// Attempts with a result.
    pub done: u32,
    /// Attempts in all.
    pub total: u32,
    /// Estimated seconds left, once something is done.
    pub eta_s: Option<u64>,
    /// Every attempt.
    pub attempts: Vec<AttemptCell>,
    /// Events so far (a page that has fewer reloads its timeline).
    pub events: u32,
}

/// One score revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevisionView {
    /// Its id.
    pub id: RevisionId,
    /// 1-based number within the submission.
    pub number: u32,
    /// `building`, `ready`, `live`, `replaced` or `discarded`.
    pub state: String,
    /// When it was begun.
    pub created: Timestamp,
    /// Why it was made.
    pub reason: String,
    /// The scorer's version.
    pub scorer_version: String,
    /// Verdicts that differ from the revision that was live: (old, new, attempts).
    pub changes: Vec<(String, String, Vec<AttemptId>)>,
    /// Attempts whose verdict stayed.
    pub unchanged: u32,
    /// The re-evaluation that it belongs to, for administrators.
    pub reevaluation: Option<ReevaluationId>,
}

/// A leak hit with its place and state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingView {
    /// Row number.
    pub id: i64,
    /// The attempt.
    pub attempt: AttemptId,
    /// The case.
    pub case: CaseId,
    /// The hit.
    pub finding: Finding,
    /// What a reviewer made of it.
    pub disposition: Disposition,
    /// The reviewer's reason.
    pub reason: String,
}

/// A submission in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmissionLine {
    /// Its id.
    pub id: SubmissionId,
    /// Configuration, or the file's name until metadata is read.
    pub title: String,
    /// Track, once known.
    pub track: Option<Track>,
    /// Release, once known.
    pub release: Option<ReleaseId>,
    /// Subset, once known.
    pub subset: Option<SubsetId>,
    /// State.
    pub state: SubmissionState,
    /// When it was made.
    pub created: Timestamp,
    /// When its state last changed.
    pub changed: Timestamp,
    /// Who handed it in.
    pub owner: String,
}

/// A submission's page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubmissionView {
    /// Its id.
    pub id: SubmissionId,
    /// Its state.
    pub state: SubmissionState,
    /// Its metadata, the contact only for its owner and maintainers.
    pub metadata: Option<Metadata>,
    /// Name of the uploaded file.
    pub file_name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its SHA-256.
    pub sha256: Option<String>,
    /// The validator's report, for its owner and maintainers.
    pub report: Option<Report>,
    /// The timeline, oldest first.
    pub events: Vec<EventView>,
    /// Progress and attempts.
    pub live: SubmissionLive,
    /// Its row, under the live (or newest ready) revision.
    pub row: Option<BoardRow>,
    /// Its revisions, newest first.
    pub revisions: Vec<RevisionView>,
    /// Leak hits, for its owner and maintainers.
    pub findings: Vec<FindingView>,
    /// Whether the reader is its owner.
    pub is_owner: bool,
    /// Whether the reader may review.
    pub is_maintainer: bool,
    /// Bytes of all traces together.
    pub trace_bytes: u64,
}
