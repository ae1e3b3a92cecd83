//! Units of work in the queue, and the states that they go through.

use serde::{Deserialize, Serialize};

use crate::case::words;

words!(
    /// What a job does.
    JobKind {
        /// Check a received bundle and read its attempts.
        Validate = "validate",
        /// Run the leakage guards over a submission.
        Scan = "scan",
        /// Score one attempt of a revision.
        ScoreAttempt = "score-attempt",
        /// Aggregate a revision whose attempts are all scored.
        Finish = "finish",
        /// Rebuild the boards and plots.
        RebuildBoard = "rebuild-board",
        /// Prove a case again.
        ProveCase = "prove-case",
        /// Compute what statistics the boards lack.
        Statistics = "statistics",
        /// Draw the figures of boards that have changed.
        Figures = "figures",
        /// Compute the comparisons that readers have asked for.
        Compare = "compare",
        /// Run the commands of a trace once more.
        Replay = "replay",
    }
);

words!(
    /// Where a job is.
    JobState {
        /// Waiting for its time and a worker.
        Queued = "queued",
        /// Held by a worker under a lease.
        Running = "running",
        /// Done.
        Done = "done",
        /// Given up after its last try; waits for an operator.
        Parked = "parked",
        /// No longer wanted.
        Cancelled = "cancelled",
    }
);

/// Priority: interactive work goes before bulk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Priority {
    /// Somebody waits at a page.
    Interactive,
    /// Everything else.
    Bulk,
    /// What can wait until nothing else does.
    Background,
}

impl Priority {
    /// Smaller goes first.
    pub const fn rank(self) -> i64 {
        match self {
            Priority::Interactive => 0,
            Priority::Bulk => 10,
            Priority::Background => 20,
        }
    }
}
