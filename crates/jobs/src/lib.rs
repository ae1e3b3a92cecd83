//! The queue's rules and its workers: claim, lease with a fencing token,
//! heartbeat, back-off with jitter, sweep. It never knows what a job does: that
//! is a [`Handler`].
//!
//! Work runs outside any transaction. A handler writes its result and ends its
//! job in one transaction that commits only while the lease is still its own,
//! so a result is written once however often the work was begun.

mod backoff;
mod life;
mod permit;
mod worker;

pub use backoff::Backoff;
pub use life::Life;
pub use permit::{Obstacle, Permit};
pub use worker::{Gate, LogLine, Worker, WorkerEvents};

use std::pin::Pin;

use faultboard_domain::CaseId;
use faultboard_store::jobs::Claimed;
pub use tokio_util::sync::CancellationToken;

/// Times of the queue, in milliseconds.
#[derive(Debug, Clone)]
pub struct Policy {
    /// How long a lease holds without a heartbeat.
    pub lease_ms: i64,
    /// How often a worker says that it lives.
    pub heartbeat_ms: u64,
    /// How long a worker waits when there is nothing to do.
    pub poll_ms: u64,
    /// How long a failed try waits.
    pub backoff: Backoff,
    /// After how many different cases in a row, each failed for reasons of
    /// infrastructure, a worker claims no more work that needs containers.
    pub quarantine_after: usize,
    /// After how long it tries again.
    pub quarantine_ms: i64,
    /// How many failed tries of a job are given back because the platform was
    /// out of order when they failed.
    pub spared_most: u32,
    /// A case that failed so often, and on every worker, is parked.
    pub park_case_after: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            lease_ms: 60_000,
            heartbeat_ms: 2_000,
            poll_ms: 500,
            backoff: Backoff::default(),
            quarantine_after: 3,
            quarantine_ms: 600_000,
            spared_most: 20,
            park_case_after: 3,
        }
    }
}

/// Why a try ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobFailure {
    /// The platform failed (engine, disk, database): worth another try.
    #[error("{reason}")]
    Infrastructure {
        /// What happened, for the operator.
        reason: String,
        /// The case that was being run, if any.
        case: Option<CaseId>,
    },
    /// Trying again would not help; an operator must look.
    #[error("{0}")]
    Permanent(String),
    /// Somebody cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// The lease passed to somebody else; the result was dropped.
    #[error("the lease was lost")]
    LeaseLost,
}

/// What a handler is given beside its job.
pub struct JobContext {
    /// Cancelled when the work must end: somebody wished it, or the lease is lost.
    pub cancel: CancellationToken,
    /// Where its log goes.
    pub log: tokio::sync::mpsc::UnboundedSender<LogLine>,
}

impl JobContext {
    /// Writes a line to the job's log.
    pub fn say(&self, text: impl Into<String>) {
        let mut text = text.into();
        text.push('\n');
        // The receiver lives as long as the job; after that nobody reads.
        let _ = self.log.send(LogLine(text));
    }
}

/// A boxed future, so that handlers can be used behind a pointer.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What jobs do. On success the handler has ended its job itself, in the
/// transaction that wrote its result.
pub trait Handler: Send + Sync {
    /// Does one job.
    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: JobContext,
    ) -> BoxFuture<'a, Result<(), JobFailure>>;
}
