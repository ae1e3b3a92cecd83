//! The scored result of an attempt: the outcome taxonomy and the record of each
//! stage that led to it.

use serde::{Deserialize, Serialize};

use crate::case::words;
use crate::clock::Timestamp;

words!(
    /// How a repair attempt ended.
    Outcome {
        /// Every repeat of the oracle passed.
        Pass = "pass",
        /// The oracle said FAIL at least once.
        Fail = "fail",
        /// The patch is empty, or only touches protected paths.
        NoEdit = "no-edit",
        /// The patch does not fit the tree.
        ApplyFailed = "apply-failed",
        /// The patched tree does not build.
        BuildFailed = "build-failed",
        /// A stage ran out of time.
        Timeout = "timeout",
        /// The oracle said neither PASS nor FAIL; curators look at it.
        OracleError = "oracle-error",
        /// The platform failed; retried, never scored.
        InfraError = "infra-error",
    }
);

impl Outcome {
    /// Whether the attempt passed; `None` for an infrastructure failure, which
    /// never counts for or against anybody.
    pub const fn passed(self) -> Option<bool> {
        match self {
            Outcome::Pass => Some(true),
            Outcome::InfraError => None,
            _ => Some(false),
        }
    }
}

words!(
    /// The stages of the oracle protocol, in their order.
    StageKind {
        /// Get a clean worktree of the faulty tree.
        Prepare = "prepare",
        /// Apply the patch.
        Apply = "apply",
        /// Build the patched tree.
        Rebuild = "rebuild",
        /// Run the oracle once.
        Verify = "verify",
    }
);

/// What one stage did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Which stage.
    pub stage: StageKind,
    /// 1-based number among the repeats of the stage.
    pub repeat: u32,
    /// When it began.
    pub started: Timestamp,
    /// When it ended.
    pub finished: Timestamp,
    /// Exit code of its program, if one ran and exited.
    pub exit_code: Option<i32>,
    /// Digest of the image it ran in, `sha256:...`, if it ran in one.
    pub image_digest: Option<String>,
    /// One word or sentence on how it ended.
    pub result: String,
    /// The log's bytes, head and tail, as text with invalid parts replaced; nonce removed.
    pub log: String,
    /// Bytes of the log that were cut out of its middle.
    pub log_cut: u64,
    /// Peak memory in bytes, where measured.
    pub peak_memory: Option<u64>,
    /// CPU seconds, where measured.
    pub cpu_seconds: Option<f64>,
}

/// The whole result of one repair attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairResult {
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in one sentence for the submitter.
    pub reason: String,
    /// Flags such as `flaky`, `protected-paths-dropped`, `forged-marker`.
    pub flags: Vec<String>,
    /// The stages, in order.
    pub stages: Vec<StageRecord>,
    /// Digests of every image used, sorted, without repeats.
    pub image_digests: Vec<String>,
    /// Version of the oracle protocol that judged.
    pub scorer_version: String,
    /// Key under which an equal attempt may reuse the verdict.
    pub cache_key: String,
    /// What the runtime could not enforce, if anything.
    pub notes: Vec<String>,
}
