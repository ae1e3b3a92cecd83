//! The machine room: which runtime executes runs, the workers, the sweeper that
//! recomputes missing work from the database, and the reaper.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use faultboard_domain::{JobId, SubmissionId};
use faultboard_jobs::{
    BoxFuture, Gate, Handler, JobContext, JobFailure, Policy, Worker, WorkerEvents,
};
use faultboard_sandbox::{
    Bubblewrap, BubblewrapConfig, DockerConfig, DockerRuntime, ReapPolicy, Runtime,
};
use faultboard_store::jobs::{self, Claimed};
use tokio::sync::watch;

use crate::{Change, Portal, PortalError, Result, RuntimeChoice, Settings};

/// How long an answer of the runtime is believed.
const CHECK_EVERY_MS: i64 = 5_000;
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// Containers younger than this are spared by the reaper: their lease may be
/// newer than the list that it compares with.
const REAP_MIN_AGE: Duration = Duration::from_secs(30);

/// Free and all bytes of the disk that holds the folder.
pub(crate) fn disk(folder: &Path) -> std::io::Result<(u64, u64)> {
    let s = rustix::fs::statvfs(folder)?;
    Ok((
        s.f_bavail.saturating_mul(s.f_frsize),
        s.f_blocks.saturating_mul(s.f_frsize),
    ))
}

/// A name for this site's containers: another instance's are left alone.
pub(crate) fn instance(settings: &Settings) -> String {
    let folder =
        std::path::absolute(&settings.data_dir).unwrap_or_else(|_| settings.data_dir.clone());
    faultboard_domain::Digest::of(folder.as_os_str().as_encoded_bytes())
        .short()
        .to_owned()
}

/// Images for which a host's own programs may stand in under bubblewrap: they
/// hold nothing but what every host of this kind has.
const HOST_IMAGES: [&str; 2] = ["faultboard/base:1", "faultboard/python:1"];

async fn docker() -> Result<Arc<dyn Runtime>> {
    let runtime = DockerRuntime::connect(DockerConfig::default())
        .await
        .map_err(|e| PortalError::Internal(format!("no container engine can be used: {e}")))?;
    Ok(Arc::new(runtime))
}

async fn bubblewrap(settings: &Settings) -> Result<Arc<dyn Runtime>> {
    let mut config = BubblewrapConfig::under(&settings.data_dir.join("bubblewrap"));
    config.host_images = HOST_IMAGES.map(str::to_owned).to_vec();
    if let Some(folder) = &settings.rootfs_dir {
        config.rootfs_dir.clone_from(folder);
    }
    let runtime = Bubblewrap::probe(config)
        .await
        .map_err(|e| PortalError::Internal(format!("bubblewrap can't be used: {e}")))?;
    Ok(Arc::new(runtime))
}

/// The runtime that the settings ask for, or the best there is.
pub(crate) async fn find_runtime(settings: &Settings) -> Result<Arc<dyn Runtime>> {
    match settings.runtime {
        RuntimeChoice::Docker => docker().await,
        RuntimeChoice::Bubblewrap => bubblewrap(settings).await,
        RuntimeChoice::Auto => match docker().await {
            Ok(d) => Ok(d),
            Err(e) => {
                tracing::warn!(reason = %e, "bubblewrap takes the engine's place");
                bubblewrap(settings).await
            }
        },
    }
}

/// The portal as the workers see it.
struct Jobs(Arc<Portal>);

impl Handler for Jobs {
    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: JobContext,
    ) -> BoxFuture<'a, std::result::Result<(), JobFailure>> {
        use faultboard_domain::job::JobKind;
        let portal = &self.0;
        match job.kind {
            JobKind::Validate => Box::pin(portal.run_validate(job, context)),
            JobKind::Scan => Box::pin(portal.run_scan(job, context)),
            JobKind::ScoreAttempt => Box::pin(portal.run_score_attempt(job, context)),
            JobKind::Finish => Box::pin(portal.run_finish(job, context)),
            JobKind::RebuildBoard => Box::pin(portal.run_rebuild(job, context)),
            JobKind::ProveCase => Box::pin(portal.run_prove_case(job, context)),
            JobKind::Statistics => Box::pin(portal.run_statistics(job, context)),
            JobKind::Compare => Box::pin(portal.run_compare(job, context)),
        }
    }
}

impl WorkerEvents for Portal {
    fn job_changed(&self, id: JobId, submission: Option<&SubmissionId>) {
        self.tell(Change::Job(id));
        self.tell(Change::Queue);
        if let Some(s) = submission {
            self.tell(Change::Submission(s.clone()));
        }
    }

    fn job_log(&self, id: JobId, chunk: &str) {
        self.tell(Change::JobLog(id, chunk.to_owned()));
    }
}

/// Turns an error of a use case into a failed try.
pub(crate) fn failure(e: PortalError) -> JobFailure {
    JobFailure::Infrastructure {
        reason: e.to_string(),
        case: None,
    }
}

impl Portal {
    /// Runs this process's workers and the sweeper until `shutdown` becomes
    /// true; jobs in hand are ended first.
    pub async fn run_workers(self: Arc<Self>, shutdown: watch::Receiver<bool>) {
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..self.settings.workers {
            let portal = Arc::clone(&self);
            let gate: Gate = {
                let portal = Arc::clone(&self);
                Arc::new(move || {
                    let portal = Arc::clone(&portal);
                    Box::pin(async move { portal.may_run_containers().await })
                })
            };
            let worker = Worker {
                store: self.store.clone(),
                clock: Arc::clone(&self.clock),
                handler: Arc::new(Jobs(Arc::clone(&portal))),
                events: portal,
                gate,
                name: format!(
                    "{}-{}-{}",
                    instance(&self.settings),
                    std::process::id(),
                    n + 1
                ),
                runtime: self.runtime.name().to_owned(),
                policy: Policy::default(),
                bell: Arc::clone(&self.bell),
            };
            tasks.spawn(worker.run(shutdown.clone()));
        }
        let sweeper = Arc::clone(&self);
        let mut stop = shutdown.clone();
        tasks.spawn(async move {
            while !*stop.borrow() {
                if let Err(e) = sweeper.sweep().await {
                    tracing::error!(error = %e, "the sweep failed; the next one tries again");
                }
                tokio::select! {
                    () = tokio::time::sleep(SWEEP_EVERY) => {}
                    _ = stop.changed() => {}
                }
            }
        });
        while tasks.join_next().await.is_some() {}
    }

    /// Whether containers can be run now: there is room, and the runtime answers.
    /// Work waits while they can't, without using up its tries.
    async fn may_run_containers(&self) -> std::result::Result<(), String> {
        let least = self.settings.min_free_bytes;
        match disk(&self.settings.data_dir) {
            Ok((free, _)) if free < least => {
                return Err(format!(
                    "the data disk has {} MiB free, less than the {} MiB that are kept",
                    free >> 20,
                    least >> 20
                ));
            }
            Ok(_) => {}
            Err(e) => return Err(format!("the data disk can't be read: {e}")),
        }
        let now = self.now();
        let mut checked = self.runtime_checked.lock().await;
        if checked
            .as_ref()
            .is_none_or(|(at, _)| now.since_ms(*at) >= CHECK_EVERY_MS || now < *at)
        {
            *checked = Some((now, self.runtime.check().await.map_err(|e| e.to_string())));
        }
        checked
            .as_ref()
            .map_or(Ok(()), |(_, result)| result.clone())
    }

    /// Recomputes from the database what should be under way and is not: leases
    /// that ran out, revisions whose last outcome is in, stale uploads; and
    /// removes containers that no live lease owns.
    pub async fn sweep(&self) -> Result<()> {
        let mut tx = self.store.begin().await?;
        let expired = jobs::expire(&mut tx, self.now()).await?;
        let finished = self.enqueue_missing_finishes(&mut tx).await?;
        tx.commit().await?;
        if !expired.is_empty() || finished > 0 {
            tracing::info!(expired = expired.len(), finished, "the sweep put work back");
            self.wake();
            self.tell(Change::Queue);
        }
        self.sweep_uploads().await?;
        if self.enqueue_due_proof().await? {
            self.wake();
            self.tell(Change::Queue);
        }
        if let Err(e) = self.oracle.sweep().await {
            tracing::warn!(error = %e, "left-over trees and scratch folders could not be swept");
        }
        self.reap().await
    }

    async fn reap(&self) -> Result<()> {
        let live: HashSet<(String, String)> = jobs::live_leases(&mut *self.store.reader().await?)
            .await?
            .into_iter()
            .map(|(id, token)| (id.to_string(), token))
            .collect();
        let policy = ReapPolicy {
            instance: instance(&self.settings),
            live,
            min_age: REAP_MIN_AGE,
        };
        match self.runtime.reap(&policy).await {
            Ok(gone) => {
                for r in gone {
                    tracing::info!(container = %r.id, job = %r.labels.job, "removed what no live lease owns");
                }
                Ok(())
            }
            // An engine that is down now is found by the work that needs it.
            Err(e) => {
                tracing::warn!(error = %e, "the reaper could not look for orphans");
                Ok(())
            }
        }
    }
}
