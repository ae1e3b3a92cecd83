//! One worker: claims, runs a handler, keeps the lease alive, writes the log,
//! and ends failed tries by the policy. It hears what an administrator wishes of
//! it whenever it says that it lives.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use faultboard_domain::job::JobState;
use faultboard_domain::view::WorkerView;
use faultboard_domain::{CaseId, Clock, JobId, SubmissionId};
use faultboard_store::jobs::{self, Claimed, Heartbeat};
use faultboard_store::workers::{self, Wish};
use faultboard_store::{Store, StoreError};
use rand::RngExt as _;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{BoxFuture, Handler, JobContext, JobFailure, Permit, Policy};

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

/// What may be claimed just now. Asked with true it must look anew, however
/// short ago it looked.
pub type Gate = Arc<dyn Fn(bool) -> BoxFuture<'static, Permit> + Send + Sync>;

/// How long a worker may be silent and still count as alive.
const ALIVE_MS: i64 = 60_000;

/// What an administrator wished while a job was at work.
#[derive(Debug, Default)]
struct Wishes {
    drain: AtomicBool,
    release: AtomicBool,
}

impl Wishes {
    fn hear(&self, wish: Option<Wish>) {
        match wish {
            Some(Wish::Drain) => self.drain.store(true, Ordering::Relaxed),
            Some(Wish::Release) => self.release.store(true, Ordering::Relaxed),
            None => {}
        }
    }

    fn drain(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }
}

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
    /// The machine that it runs on, for the admin page.
    pub node: String,
    /// The runtime that it uses, for the admin page.
    pub runtime: String,
    /// Times.
    pub policy: Policy,
    /// Rung when a job was added.
    pub bell: Arc<tokio::sync::Notify>,
}

impl Worker {
    /// Works until `shutdown` becomes true, or an administrator wishes it to
    /// drain, and then ends the job in hand first.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let mut failed_cases: BTreeSet<CaseId> = BTreeSet::new();
        let mut last_seen: Option<i64> = None;
        let mut quarantined_at: Option<i64> = None;
        let wishes = Wishes::default();
        while !*shutdown.borrow() && !wishes.drain() {
            let over = quarantined_at
                .is_some_and(|at| self.clock.now().0 - at >= self.policy.quarantine_ms);
            if wishes.release.swap(false, Ordering::Relaxed) || over {
                quarantined_at = None;
                failed_cases.clear();
            }
            let permit = (self.gate)(false).await;
            let (state, why) = match (quarantined_at, permit.obstacle()) {
                (Some(_), _) => (
                    "quarantined",
                    format!(
                        "runs no containers after infrastructure failures of {} cases in a row: {}",
                        failed_cases.len(),
                        list(&failed_cases)
                    ),
                ),
                (None, Some(obstacle)) => ("waiting", obstacle.to_string()),
                (None, None) => ("claiming", String::new()),
            };
            let now = self.clock.now();
            let beat_ms = i64::try_from(self.policy.heartbeat_ms).unwrap_or(i64::MAX);
            if last_seen.is_none_or(|seen| now.0 - seen >= beat_ms) {
                last_seen = Some(now.0);
                wishes.hear(self.seen(state, &why, 0).await);
                if wishes.drain() {
                    break;
                }
            }
            let claimed = if permit.anything() {
                self.claim(permit.containers() && quarantined_at.is_none())
                    .await
            } else {
                None
            };
            let Some(job) = claimed else {
                let pause = tokio::time::sleep(Duration::from_millis(self.policy.poll_ms));
                tokio::select! {
                    () = pause => {}
                    () = self.bell.notified() => {}
                    _ = shutdown.changed() => {}
                }
                continue;
            };
            wishes.hear(self.seen("working", &why, 1).await);
            match self.work(&job, &wishes).await {
                Ended::CaseFailed(case) => {
                    failed_cases.insert(case);
                    if failed_cases.len() >= self.policy.quarantine_after {
                        quarantined_at = Some(self.clock.now().0);
                    }
                }
                Ended::Well => {
                    if job.attempt.is_some() {
                        failed_cases.clear();
                    }
                }
                Ended::Otherwise => {}
            }
            last_seen = None;
        }
        self.seen("stopped", "", 0).await;
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
    async fn work(&self, job: &Claimed, wishes: &Wishes) -> Ended {
        let cancel = CancellationToken::new();
        let (log_tx, log_rx) = mpsc::unbounded_channel();
        let writer = self.write_log(job.id, log_rx);
        let beat = self.keep_alive(job, &cancel, wishes);
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
        let ended = match result {
            Ok(()) => {
                self.case_worked(job).await;
                Ended::Well
            }
            Err(failure) => self.fail(job, &failure).await,
        };
        self.events.job_changed(job.id, job.submission.as_ref());
        ended
    }

    /// Forgets what was held against the job's case, if anything was.
    async fn case_worked(&self, job: &Claimed) {
        let Some(attempt) = &job.attempt else { return };
        let forget = async {
            if !workers::is_suspected(&mut *self.store.reader().await?, attempt).await? {
                return Ok(());
            }
            let mut tx = self.store.begin().await?;
            workers::case_worked(&mut tx, attempt).await?;
            tx.commit().await
        };
        if let Err(e) = forget.await {
            tracing::warn!(job = %job.id, error = %e, "a case that works again is still suspected");
        }
    }

    /// Prolongs the lease until it is lost; passes a wish to cancel on.
    async fn keep_alive(&self, job: &Claimed, cancel: &CancellationToken, wishes: &Wishes) {
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
            wishes.hear(self.seen("working", "", 1).await);
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

    /// Ends a failed try: again later, parked, or cancelled. A try that failed
    /// while the platform is out of order is given back, so that an outage,
    /// however long, uses up nobody's tries.
    async fn fail(&self, job: &Claimed, failure: &JobFailure) -> Ended {
        if *failure == JobFailure::LeaseLost {
            return Ended::Otherwise;
        }
        if matches!(failure, JobFailure::Infrastructure { .. })
            && let Some(obstacle) = (self.gate)(true).await.obstacle()
            && self.spare(job, &format!("{failure} ({obstacle})")).await
        {
            return Ended::Otherwise;
        }
        let now = self.clock.now();
        let (state, run_after) = match failure {
            JobFailure::LeaseLost => return Ended::Otherwise,
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
        let case = match failure {
            JobFailure::Infrastructure { case, .. } => case.clone(),
            _ => None,
        };
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
            let parked = match &case {
                Some(case) => {
                    workers::case_failed(
                        &mut tx,
                        case,
                        &self.name,
                        &failure.to_string(),
                        (self.policy.park_case_after, now.plus_ms(-ALIVE_MS)),
                        now,
                    )
                    .await?
                }
                None => false,
            };
            tx.commit().await?;
            Ok::<_, StoreError>(parked)
        };
        match ended.await {
            Ok(true) => {
                tracing::error!(case = ?case, "the case fails on every worker: nothing more of it is claimed until an operator lets it go on");
            }
            Ok(false) => {}
            // If even this fails the lease runs out, and the sweeper does the same.
            Err(e) => {
                tracing::error!(job = %job.id, error = %e, "a failed try could not be recorded");
            }
        }
        case.map_or(Ended::Otherwise, Ended::CaseFailed)
    }

    /// Gives a failed try back; false if it counts after all.
    async fn spare(&self, job: &Claimed, error: &str) -> bool {
        let now = self.clock.now();
        let wait = self.policy.backoff.wait_ms(1, rand::rng().random());
        let spared = async {
            let mut tx = self.store.begin().await?;
            let spared = jobs::spare(
                &mut tx,
                job.id,
                &job.token,
                error,
                now.plus_ms(wait),
                self.policy.spared_most,
            )
            .await?;
            tx.commit().await?;
            Ok::<_, StoreError>(spared)
        };
        match spared.await {
            Ok(spared) => {
                if spared {
                    tracing::warn!(job = %job.id, kind = %job.kind, error, "a try failed with the platform out of order; it does not count");
                }
                spared
            }
            Err(e) => {
                tracing::error!(job = %job.id, error = %e, "a failed try could not be given back");
                false
            }
        }
    }

    /// Says that the worker lives; what is wished of it.
    async fn seen(&self, state: &str, why: &str, running: u32) -> Option<Wish> {
        let view = WorkerView {
            name: self.name.clone(),
            node: self.node.clone(),
            runtime: self.runtime.clone(),
            seen: self.clock.now(),
            state: state.to_owned(),
            why: why.to_owned(),
            running,
            wish: None,
        };
        let written = async {
            let mut tx = self.store.begin().await?;
            let wish = workers::seen(&mut tx, &view).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(wish)
        };
        written.await.unwrap_or_else(|e| {
            tracing::warn!(worker = %self.name, error = %e, "the worker could not say that it lives");
            None
        })
    }
}

/// How a job in hand ended, as far as the worker's own health goes.
enum Ended {
    /// Well.
    Well,
    /// The platform failed on this case, and nothing else is known to be wrong.
    CaseFailed(CaseId),
    /// In a way that says nothing about the worker.
    Otherwise,
}

fn list(cases: &BTreeSet<CaseId>) -> String {
    cases
        .iter()
        .map(CaseId::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}
