//! One worker: claims, runs a handler, keeps the lease alive, writes the log,
//! and ends failed tries by the policy.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use faultboard_domain::job::JobState;
use faultboard_domain::view::WorkerView;
use faultboard_domain::{CaseId, Clock, JobId, SubmissionId};
use faultboard_store::jobs::{self, Claimed, Heartbeat};
use faultboard_store::{Store, StoreError};
use rand::RngExt as _;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{BoxFuture, Handler, JobContext, JobFailure, Policy};

/// A piece of a job's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine(pub String);

/// What a worker tells while it works.
pub trait WorkerEvents: Send + Sync {
    /// A job was claimed, ended, or went back.
    fn job_changed(&self, id: JobId, submission: Option<&SubmissionId>);
    /// A piece of a job's log was written.
    fn job_log(&self, id: JobId, chunk: &str);
}

/// Whether work that needs containers may be claimed just now; the text says
/// why not.
pub type Gate = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// A worker.
pub struct Worker {
    /// The database.
    pub store: Store,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// What jobs do.
    pub handler: Arc<dyn Handler>,
    /// Who listens.
    pub events: Arc<dyn WorkerEvents>,
    /// Whether it may claim work that needs containers.
    pub gate: Gate,
    /// Its name, unique among those alive.
    pub name: String,
    /// The runtime that it uses, for the admin page.
    pub runtime: String,
    /// Times.
    pub policy: Policy,
    /// Rung when a job was added.
    pub bell: Arc<tokio::sync::Notify>,
}

impl Worker {
    /// Works until `shutdown` becomes true, and then ends the job in hand first.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let mut failed_cases: BTreeSet<CaseId> = BTreeSet::new();
        let mut last_seen: Option<i64> = None;
        let mut quarantined_at: Option<i64> = None;
        while !*shutdown.borrow() {
            if quarantined_at.is_some_and(|at| self.clock.now().0 - at >= self.policy.quarantine_ms)
            {
                quarantined_at = None;
                failed_cases.clear();
            }
            let gate = if quarantined_at.is_some() {
                Err(format!(
                    "runs no containers after infrastructure failures of {} cases in a row",
                    failed_cases.len()
                ))
            } else {
                (self.gate)().await
            };
            let state = gate
                .as_ref()
                .err()
                .map_or_else(|| "claiming".to_owned(), Clone::clone);
            let now = self.clock.now();
            let beat_ms = i64::try_from(self.policy.heartbeat_ms).unwrap_or(i64::MAX);
            if last_seen.is_none_or(|seen| now.0 - seen >= beat_ms) {
                last_seen = Some(now.0);
                self.seen(&state, 0).await;
            }
            let claimed = self.claim(gate.is_ok()).await;
            let Some(job) = claimed else {
                let pause = tokio::time::sleep(Duration::from_millis(self.policy.poll_ms));
                tokio::select! {
                    () = pause => {}
                    () = self.bell.notified() => {}
                    _ = shutdown.changed() => {}
                }
                continue;
            };
            self.seen(&state, 1).await;
            match self.work(&job).await {
                Err(JobFailure::Infrastructure {
                    case: Some(case), ..
                }) => {
                    failed_cases.insert(case);
                    if failed_cases.len() >= self.policy.quarantine_after {
                        quarantined_at = Some(self.clock.now().0);
                    }
                }
                Err(_) => {}
                Ok(()) => failed_cases.clear(),
            }
            last_seen = None;
        }
        self.seen("stopped", 0).await;
    }

    async fn claim(&self, containers: bool) -> Option<Claimed> {
        let token = format!("{:032x}", rand::rng().random::<u128>());
        let claimed = async {
            let mut tx = self.store.begin().await?;
            let job = jobs::claim(
                &mut tx,
                &self.name,
                &token,
                containers,
                self.policy.lease_ms,
                self.clock.now(),
            )
            .await?;
            tx.commit().await?;
            Ok::<_, StoreError>(job)
        };
        match claimed.await {
            Ok(job) => {
                if let Some(job) = &job {
                    self.events.job_changed(job.id, job.submission.as_ref());
                }
                job
            }
            Err(e) => {
                tracing::error!(worker = %self.name, error = %e, "claiming failed");
                None
            }
        }
    }

    /// Runs one job to its end, whatever that is.
    async fn work(&self, job: &Claimed) -> Result<(), JobFailure> {
        let cancel = CancellationToken::new();
        let (log_tx, log_rx) = mpsc::unbounded_channel();
        let writer = self.write_log(job.id, log_rx);
        let beat = self.keep_alive(job, &cancel);
        let run = async {
            let context = JobContext {
                cancel: cancel.clone(),
                log: log_tx,
            };
            self.handler.run(job, context).await
        };
        let work = async {
            tokio::select! {
                result = run => result,
                // The heartbeat only ends when the lease is lost.
                () = beat => Err(JobFailure::LeaseLost),
            }
        };
        let (result, ()) = tokio::join!(work, writer);
        if let Err(failure) = &result {
            self.fail(job, failure).await;
        }
        self.events.job_changed(job.id, job.submission.as_ref());
        result
    }

    /// Prolongs the lease until it is lost; passes a wish to cancel on.
    async fn keep_alive(&self, job: &Claimed, cancel: &CancellationToken) {
        loop {
            tokio::time::sleep(Duration::from_millis(self.policy.heartbeat_ms)).await;
            let beat = async {
                let mut tx = self.store.begin().await?;
                let beat = jobs::heartbeat(
                    &mut tx,
                    job.id,
                    &job.token,
                    self.policy.lease_ms,
                    self.clock.now(),
                )
                .await?;
                tx.commit().await?;
                Ok::<_, StoreError>(beat)
            };
            match beat.await {
                Ok(Heartbeat::Held) => {}
                Ok(Heartbeat::CancelWanted) => {
                    cancel.cancel();
                }
                Ok(Heartbeat::Lost) => {
                    cancel.cancel();
                    // The handler gets the time that ending a container takes.
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    return;
                }
                // The lease outlives a few missed beats.
                Err(e) => tracing::warn!(job = %job.id, error = %e, "heartbeat failed"),
            }
            self.seen("claiming", 1).await;
        }
    }

    /// Writes the log in batches until the handler has dropped its end.
    async fn write_log(&self, id: JobId, mut lines: mpsc::UnboundedReceiver<LogLine>) {
        const BATCH: usize = 64 * 1024;
        while let Some(LogLine(mut chunk)) = lines.recv().await {
            while chunk.len() < BATCH
                && let Ok(LogLine(more)) = lines.try_recv()
            {
                chunk.push_str(&more);
            }
            let written = async {
                let mut tx = self.store.begin().await?;
                jobs::append_log(&mut tx, id, &chunk).await?;
                tx.commit().await
            };
            if let Err(e) = written.await {
                tracing::warn!(job = %id, error = %e, "a piece of the job's log was lost");
            }
            self.events.job_log(id, &chunk);
        }
    }

    /// Ends a failed try: again later, parked, or cancelled.
    async fn fail(&self, job: &Claimed, failure: &JobFailure) {
        let now = self.clock.now();
        let (state, run_after) = match failure {
            JobFailure::LeaseLost => return,
            JobFailure::Cancelled => (JobState::Cancelled, None),
            JobFailure::Permanent(_) => (JobState::Parked, None),
            JobFailure::Infrastructure { .. } if job.tries >= job.max_tries => {
                (JobState::Parked, None)
            }
            JobFailure::Infrastructure { .. } => {
                let wait = self.policy.backoff.wait_ms(job.tries, rand::rng().random());
                (JobState::Queued, Some(now.plus_ms(wait)))
            }
        };
        tracing::warn!(job = %job.id, kind = %job.kind, tries = job.tries, next = %state, error = %failure, "a try failed");
        let ended = async {
            let mut tx = self.store.begin().await?;
            jobs::end(
                &mut tx,
                job.id,
                &job.token,
                state,
                &failure.to_string(),
                run_after,
                now,
            )
            .await?;
            tx.commit().await
        };
        // If even this fails the lease runs out, and the sweeper does the same.
        if let Err(e) = ended.await {
            tracing::error!(job = %job.id, error = %e, "a failed try could not be recorded");
        }
    }

    async fn seen(&self, state: &str, running: u32) {
        let view = WorkerView {
            name: self.name.clone(),
            runtime: self.runtime.clone(),
            seen: self.clock.now(),
            state: state.to_owned(),
            running,
        };
        let written = async {
            let mut tx = self.store.begin().await?;
            jobs::worker_seen(&mut tx, &view).await?;
            tx.commit().await
        };
        if let Err(e) = written.await {
            tracing::warn!(worker = %self.name, error = %e, "the worker could not say that it lives");
        }
    }
}
