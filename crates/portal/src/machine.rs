//! The machine room: which runtime executes runs, the workers and what they may
//! claim. It never looks at what a job is about.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use faultboard_domain::{JobId, SubmissionId};
use faultboard_jobs::{
    BoxFuture, Gate, Handler, JobContext, JobFailure, Life, Obstacle, Permit, Policy, Worker,
    WorkerEvents,
};
use faultboard_sandbox::{
    Bubblewrap, BubblewrapConfig, DockerConfig, DockerRuntime, Runtime, SwarmConfig, SwarmRuntime,
};
use faultboard_store::jobs::Claimed;
use tokio::sync::watch;

use crate::{Change, Portal, PortalError, Result, RuntimeChoice, Settings};

/// How long an answer of the runtime is believed.
const CHECK_EVERY_MS: i64 = 5_000;
const SWEEP_EVERY: Duration = Duration::from_secs(10);
/// The blob store must answer within this.
const BLOBS_PATIENCE: Duration = Duration::from_secs(3);

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

async fn docker(settings: &Settings) -> Result<Arc<dyn Runtime>> {
    let config = DockerConfig {
        // Below the watermark nothing is begun; far below it what runs is stopped.
        disk_reserve: settings.min_free_bytes / 2,
        ..DockerConfig::default()
    };
    let runtime = DockerRuntime::connect(config)
        .await
        .map_err(|e| PortalError::Internal(format!("no container engine can be used: {e}")))?;
    Ok(Arc::new(runtime))
}

async fn bubblewrap(settings: &Settings) -> Result<Arc<dyn Runtime>> {
    let mut config = BubblewrapConfig::under(&settings.data_dir.join("bubblewrap"));
    config.disk_reserve = settings.min_free_bytes / 2;
    config.host_images = HOST_IMAGES.map(str::to_owned).to_vec();
    if let Some(folder) = &settings.rootfs_dir {
        config.rootfs_dir.clone_from(folder);
    }
    let runtime = Bubblewrap::probe(config)
        .await
        .map_err(|e| PortalError::Internal(format!("bubblewrap can't be used: {e}")))?;
    Ok(Arc::new(runtime))
}

async fn swarm(settings: &Settings) -> Result<Arc<dyn Runtime>> {
    let cannot =
        |e: &dyn std::fmt::Display| PortalError::Internal(format!("no cluster can be used: {e}"));
    let Some(registry) = &settings.swarm_registry else {
        return Err(cannot(
            &"its nodes need a registry to take images from; set FAULTBOARD_SWARM_REGISTRY to its host and port",
        ));
    };
    let config = SwarmConfig {
        label: settings.swarm_label.clone(),
        disk_reserve: settings.min_free_bytes / 2,
        ..SwarmConfig::with_registry(registry)
    };
    let runtime = SwarmRuntime::connect(config)
        .await
        .map_err(|e| cannot(&e))?;
    Ok(Arc::new(runtime))
}

/// The runtime that the settings ask for, or the best there is.
pub(crate) async fn find_runtime(settings: &Settings) -> Result<Arc<dyn Runtime>> {
    match settings.runtime {
        RuntimeChoice::Docker => docker(settings).await,
        RuntimeChoice::Bubblewrap => bubblewrap(settings).await,
        RuntimeChoice::Swarm => swarm(settings).await,
        RuntimeChoice::Auto => match docker(settings).await {
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
            JobKind::Figures => Box::pin(portal.run_figures(job, context)),
            JobKind::Compare => Box::pin(portal.run_compare(job, context)),
            JobKind::Replay => Box::pin(portal.run_replay(job, context)),
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

/// This machine's name, as far as it may stand in a file's name.
pub(crate) fn node() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name
        .trim()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(40)
        .collect();
    if name.is_empty() {
        "node".to_owned()
    } else {
        name
    }
}

impl Portal {
    /// Runs this process's workers and the sweeper until `shutdown` becomes
    /// true; jobs in hand are ended first. The sweeper goes on when an
    /// administrator has drained every worker.
    pub async fn run_workers(self: Arc<Self>, shutdown: watch::Receiver<bool>) {
        let sweeper = Arc::clone(&self).sweeping(shutdown.clone());
        tokio::join!(self.working(shutdown), sweeper);
    }

    /// The same, but it ends as soon as every worker was drained.
    pub async fn run_until_drained(self: Arc<Self>, shutdown: watch::Receiver<bool>) {
        let sweeper = Arc::clone(&self).sweeping(shutdown.clone());
        tokio::select! {
            // A sweep is repeated by whoever comes next: it may end anywhere.
            () = async { sweeper.await; std::future::pending().await } => {}
            () = self.working(shutdown) => {}
        }
    }

    /// The folder of the workers' signs of life.
    pub(crate) fn life_dir(&self) -> std::path::PathBuf {
        self.settings.data_dir.join("workers")
    }

    async fn working(self: Arc<Self>, shutdown: watch::Receiver<bool>) {
        let mut tasks = tokio::task::JoinSet::new();
        // A name that no other process has, whatever its number or container.
        let process = format!("{}-{:06x}", node(), rand::random::<u32>() & 0xff_ffff);
        for n in 1..=self.settings.workers {
            let name = format!("{process}-{n}");
            let life = Life::begin(&self.life_dir(), &name);
            if let Err(e) = &life {
                tracing::warn!(worker = %name, error = %e, "no sign of life can be given: should this process be killed, its jobs wait for their leases to run out");
            }
            let gate: Gate = {
                let portal = Arc::clone(&self);
                Arc::new(move |anew| {
                    let portal = Arc::clone(&portal);
                    Box::pin(async move { portal.permit(anew).await })
                })
            };
            let worker = Worker {
                store: self.store.clone(),
                clock: Arc::clone(&self.clock),
                handler: Arc::new(Jobs(Arc::clone(&self))),
                events: Arc::clone(&self) as Arc<dyn WorkerEvents>,
                gate,
                name,
                node: node(),
                runtime: self.runtime.name().to_owned(),
                policy: Policy::default(),
                bell: Arc::clone(&self.bell),
            };
            let shutdown = shutdown.clone();
            tasks.spawn(async move {
                worker.run(shutdown).await;
                drop(life);
            });
        }
        while tasks.join_next().await.is_some() {}
    }

    async fn sweeping(self: Arc<Self>, mut shutdown: watch::Receiver<bool>) {
        while !*shutdown.borrow() {
            if let Err(e) = self.sweep().await {
                tracing::error!(error = %e, "the sweep failed; the next one tries again");
            }
            tokio::select! {
                () = tokio::time::sleep(SWEEP_EVERY) => {}
                _ = shutdown.changed() => {}
            }
        }
    }

    /// What can be worked on now: there is room, the files are there, and the
    /// runtime answers. Work waits while they don't, without using up its tries.
    pub(crate) async fn permit(&self, anew: bool) -> Permit {
        if let Some(text) = self.disk_low() {
            return Permit::Nothing(Obstacle { kind: "disk", text });
        }
        let blobs = tokio::time::timeout(BLOBS_PATIENCE, self.blobs.ready()).await;
        let text = match blobs {
            Ok(Ok(())) => None,
            Ok(Err(e)) => Some(format!("the store of uploaded files can't be used: {e}")),
            Err(_) => Some("the store of uploaded files does not answer".to_owned()),
        };
        if let Some(text) = text {
            return Permit::Nothing(Obstacle {
                kind: "blobs",
                text,
            });
        }
        let now = self.now();
        let mut checked = self.runtime_checked.lock().await;
        if anew
            || checked
                .as_ref()
                .is_none_or(|(at, _)| now.since_ms(*at) >= CHECK_EVERY_MS || now < *at)
        {
            *checked = Some((now, self.runtime.check().await.map_err(|e| e.to_string())));
        }
        match checked.as_ref() {
            Some((_, Err(why))) => Permit::WithoutContainers(Obstacle {
                kind: "engine",
                text: why.clone(),
            }),
            _ => Permit::All,
        }
    }

    /// Why the data disk keeps work from being begun, if it does.
    fn disk_low(&self) -> Option<String> {
        let least = self.settings.min_free_bytes;
        match disk(&self.settings.data_dir) {
            Ok((free, _)) if free < least => Some(format!(
                "the data disk has {} MiB free, less than the {} MiB that are kept free; make room, and work goes on by itself",
                free >> 20,
                least >> 20
            )),
            Ok(_) => None,
            Err(e) => Some(format!("the data disk can't be read: {e}")),
        }
    }
}
