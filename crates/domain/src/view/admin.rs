//! The admin area: what needs a human, and the machine room.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::{AttemptId, CaseId, JobId, SubmissionId};
use crate::job::{JobKind, JobState};

use super::operations::{ParkedCase, WorkerView};
use super::submission::{FindingView, SubmissionLine};

/// One job in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// Its number.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// Where it is.
    pub state: JobState,
    /// What it concerns, in words.
    pub subject: String,
    /// The submission, if it concerns one.
    pub submission: Option<SubmissionId>,
    /// The attempt, if it concerns one.
    pub attempt: Option<AttemptId>,
    /// How often it was claimed.
    pub tries: u32,
    /// The most tries.
    pub max_tries: u32,
    /// When it was made.
    pub created: Timestamp,
    /// When it may run.
    pub run_after: Timestamp,
    /// The worker that holds it.
    pub worker: Option<String>,
    /// When the lease ends.
    pub lease_until: Option<Timestamp>,
    /// The last failure in words.
    pub last_error: String,
}

/// The newest proof of a case, where it does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedProof {
    /// The case.
    pub case: CaseId,
    /// When it was made.
    pub verified: Timestamp,
    /// Its counts.
    pub sentence: String,
    /// What is wrong, one sentence each.
    pub wrong: Vec<String>,
}

/// `/admin`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdminView {
    /// Submissions that wait for a reviewer.
    pub to_review: Vec<SubmissionLine>,
    /// Submissions that a guard stopped.
    pub flagged: Vec<SubmissionLine>,
    /// Open leak hits.
    pub hits: Vec<FindingView>,
    /// Cases whose proof does not hold.
    pub failed_proofs: Vec<FailedProof>,
    /// Work given up on.
    pub parked: Vec<JobView>,
    /// Work that has waited or run for too long.
    pub stuck: Vec<JobView>,
    /// Cases of which nothing is claimed any more.
    pub parked_cases: Vec<ParkedCase>,
    /// Why work waits, if it does: (kind, sentence).
    pub blocked: Vec<(String, String)>,
    /// Submissions whose live revision is of an older scorer: (scorer's
    /// version, how many).
    pub outdated: Vec<(String, u32)>,
    /// Workers.
    pub workers: Vec<WorkerView>,
    /// Whether claiming is paused for everybody.
    pub paused: bool,
    /// Jobs by state: (state, count).
    pub counts: Vec<(JobState, u32)>,
    /// Free bytes on the data disk.
    pub disk_free: u64,
    /// All bytes of the data disk.
    pub disk_total: u64,
    /// Everything not settled, newest first.
    pub active: Vec<SubmissionLine>,
}

/// The queue's page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueView {
    /// Running and queued jobs, then the newest done ones (at most 200).
    pub jobs: Vec<JobView>,
    /// Whether claiming is paused.
    pub paused: bool,
}

/// One job with its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobDetail {
    /// The job.
    pub job: JobView,
    /// Its log so far (the last 256 KiB).
    pub log: String,
}
