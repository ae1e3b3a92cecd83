//! The Docker backend, over any engine that `DOCKER_HOST` names (20.10 and
//! later; cgroup v1 and v2). With [`crate::swarm`] the only code that knows bollard. Host folders are
//! bind-mounted, so a remote engine must see the same files; where it sees them
//! elsewhere, [`DockerConfig::path_map`] says so.
//!
//! It never builds images, never hands out the engine's socket, and takes exit
//! codes from `inspect` only: waiting reports a failed program as an error.

pub(crate) mod body;
pub(crate) mod calls;
mod shell;
pub(crate) mod watch;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::models::SystemInfo;
use bollard::query_parameters as query;
use futures::StreamExt as _;

use crate::disk::DiskWatch;
use crate::error::RuntimeError;
use crate::log::{LogStream, Recorder};
use crate::result::{Exit, RunResult, Stopped};
use crate::runtime::{BoxFuture, ImageDigest, ReapPolicy, Reaped, RunControl, Runtime};
use crate::spec::RunSpec;
use crate::terminal::Terminal;

use calls::{LONG, SHORT, call, engine_error};
use watch::{Ended, UsageMeter};

/// What a site may set.
#[derive(Debug, Clone)]
pub struct DockerConfig {
    /// Network that [`crate::Network::Setup`] stands for.
    pub setup_network: String,
    /// Whether a missing image is asked for at its registry.
    pub pull: bool,
    /// How long a pull may take.
    pub pull_timeout: Duration,
    /// Bytes that stay free on the disks of writable mounts.
    pub disk_reserve: u64,
    /// Where the engine sees our folders: (our prefix, its prefix).
    pub path_map: Vec<(PathBuf, PathBuf)>,
}

impl Default for DockerConfig {
    fn default() -> Self {
        Self {
            setup_network: "bridge".to_owned(),
            pull: false,
            pull_timeout: Duration::from_secs(600),
            disk_reserve: 1 << 30,
            path_map: Vec::new(),
        }
    }
}

/// A connection to a Docker engine.
#[derive(Debug, Clone)]
pub struct DockerRuntime {
    client: Docker,
    config: DockerConfig,
    /// CPUs of the engine's machine, in thousandths.
    cpu_millis: u32,
    not_enforced: Vec<String>,
}

impl DockerRuntime {
    /// Connects to the engine that `DOCKER_HOST` names, else the local one, and
    /// asks what it can enforce.
    pub async fn connect(config: DockerConfig) -> Result<Self, RuntimeError> {
        let unavailable = |e: &dyn std::fmt::Display| RuntimeError::Unavailable {
            runtime: "docker",
            detail: e.to_string(),
        };
        let client = Docker::connect_with_defaults().map_err(|e| unavailable(&e))?;
        // Every call has its own deadline; the client's single one would cut long waits.
        let client = client.with_timeout(Duration::from_secs(7 * 86_400));
        let client = tokio::time::timeout(SHORT, client.negotiate_version())
            .await
            .map_err(|_| unavailable(&"no answer"))?
            .map_err(|e| unavailable(&e))?;
        let info = call("info", SHORT, client.info())
            .await
            .map_err(|e| unavailable(&e))?;
        let cpus = u32::try_from(info.ncpu.unwrap_or(0)).unwrap_or(0);
        let cpu_millis = if cpus == 0 {
            u32::MAX
        } else {
            cpus.saturating_mul(1000)
        };
        Ok(Self {
            client,
            config,
            cpu_millis,
            not_enforced: gaps(&info),
        })
    }

    async fn image_id(&self, image: &str) -> Result<String, RuntimeError> {
        match call("inspect image", SHORT, self.client.inspect_image(image)).await {
            Ok(found) => found.id.ok_or_else(|| RuntimeError::Engine {
                call: "inspect image",
                detail: format!("the engine gives no id for `{image}`"),
            }),
            Err(RuntimeError::ImageMissing { .. }) if self.config.pull => {
                self.pull(image).await?;
                let found = call("inspect image", SHORT, self.client.inspect_image(image)).await;
                found
                    .map_err(|e| named(e, image))?
                    .id
                    .ok_or_else(|| RuntimeError::ImageMissing {
                        image: image.to_owned(),
                        detail: "the engine gives no id for it".to_owned(),
                    })
            }
            Err(e) => Err(named(e, image)),
        }
    }

    async fn pull(&self, image: &str) -> Result<(), RuntimeError> {
        let options = query::CreateImageOptionsBuilder::default()
            .from_image(image)
            .build();
        let mut progress = Box::pin(self.client.create_image(Some(options), None, None));
        let pulled = tokio::time::timeout(self.config.pull_timeout, async {
            while let Some(step) = progress.next().await {
                step?;
            }
            Ok::<_, bollard::errors::Error>(())
        })
        .await;
        let detail = match pulled {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(e)) => e.to_string(),
            Err(_) => format!(
                "the pull took more than {} s",
                self.config.pull_timeout.as_secs()
            ),
        };
        Err(RuntimeError::ImageMissing {
            image: image.to_owned(),
            detail,
        })
    }

    async fn run_inner(
        &self,
        spec: &RunSpec,
        control: RunControl,
    ) -> Result<RunResult, RuntimeError> {
        spec.check()?;
        let image = self.image_id(&spec.image).await?;
        let disk = DiskWatch::begin(&spec.mounts, self.config.disk_reserve).await?;
        let body = body::container(spec, &image, self, disk.largest_file());
        let created = call(
            "create container",
            LONG,
            self.client.create_container(None, body),
        )
        .await;
        let id = created.map_err(|e| named(e, &spec.image))?.id;
        let removal = RemoveOnDrop {
            client: self.client.clone(),
            id: Some(id.clone()),
        };
        let result = self.run_created(&id, spec, control, image, disk).await;
        removal.now().await;
        result
    }

    async fn run_created(
        &self,
        id: &str,
        spec: &RunSpec,
        control: RunControl,
        image: String,
        mut disk: DiskWatch,
    ) -> Result<RunResult, RuntimeError> {
        // Attached before the start, so that not even the first byte is missed.
        // The engine keeps no log of its own, which could fill its disk.
        let attach = query::AttachContainerOptionsBuilder::default()
            .stream(true)
            .stdout(true)
            .stderr(true)
            .build();
        let attached = call(
            "attach",
            SHORT,
            self.client.attach_container(id, Some(attach)),
        )
        .await?;
        let recorder = Recorder::new(spec.limits.log_bytes, control.sink.clone());
        let pump = tokio::spawn(drain(attached.output, recorder.clone()));
        let started = Instant::now();
        if let Err(e) = call("start", LONG, self.client.start_container(id, None)).await {
            pump.abort();
            return Err(start_error(e));
        }
        let meter = UsageMeter::start(self.client.clone(), id.to_owned());

        let stopped = tokio::select! {
            ended = watch::wait(&self.client, id) => { ended?; None }
            () = tokio::time::sleep(spec.timeout) => Some(Stopped::TimedOut),
            () = control.cancel.cancelled() => Some(Stopped::Cancelled),
            over = disk.exceeded() => { over?; Some(Stopped::QuotaExceeded) }
        };
        if stopped.is_some() {
            self.kill(id).await?;
        }
        let wall_seconds = started.elapsed().as_secs_f64();
        // The stream ends with the container; a lost connection must not hang
        // us, nor pass for a program that printed nothing.
        let abort = pump.abort_handle();
        let drained = match tokio::time::timeout(SHORT, pump).await {
            Ok(Ok(drained)) => drained,
            Ok(Err(e)) => Err(RuntimeError::Engine {
                call: "attach",
                detail: e.to_string(),
            }),
            Err(_) => Err(RuntimeError::EngineTimeout {
                call: "attach",
                seconds: SHORT.as_secs(),
            }),
        };
        abort.abort();
        if stopped.is_none() {
            drained?;
        }
        let usage = meter.finish();
        let Ended { status, oom } = watch::ended(&self.client, id).await?;
        let (bytes_written, over) = disk.finish().await;
        let (log, stdout) = recorder.take();
        let mut not_enforced = self.not_enforced.clone();
        if spec.limits.cpu_millis > self.cpu_millis {
            not_enforced.push(format!(
                "{} CPUs were asked for, the engine's machine has {}",
                f64::from(spec.limits.cpu_millis) / 1000.0,
                self.cpu_millis / 1000
            ));
        }
        Ok(RunResult {
            exit: Exit::from_status(status),
            stopped: stopped.or(over.then_some(Stopped::QuotaExceeded)),
            oom,
            log,
            stdout,
            image_digest: image,
            peak_memory: usage.peak_memory,
            cpu_seconds: usage.cpu_seconds,
            wall_seconds,
            bytes_written,
            not_enforced,
        })
    }

    /// Kills the container's whole tree and waits until it is gone.
    async fn kill(&self, id: &str) -> Result<(), RuntimeError> {
        let options = query::KillContainerOptionsBuilder::default()
            .signal("SIGKILL")
            .build();
        match call("kill", SHORT, self.client.kill_container(id, Some(options))).await {
            Ok(()) => {}
            // It ended by itself in this very moment.
            Err(RuntimeError::Engine { detail, .. }) if detail.contains("is not running") => {}
            Err(e) => return Err(e),
        }
        tokio::time::timeout(SHORT, watch::wait(&self.client, id))
            .await
            .map_err(|_| RuntimeError::EngineTimeout {
                call: "kill",
                seconds: SHORT.as_secs(),
            })?
    }
}

impl Runtime for DockerRuntime {
    fn name(&self) -> &'static str {
        "docker"
    }

    fn check(&self) -> BoxFuture<'_, Result<(), RuntimeError>> {
        Box::pin(async move {
            call("ping", SHORT, self.client.ping())
                .await
                .map(drop)
                .map_err(|e| RuntimeError::Unavailable {
                    runtime: "docker",
                    detail: e.to_string(),
                })
        })
    }

    fn not_enforced(&self) -> Vec<String> {
        self.not_enforced.clone()
    }

    fn resolve<'a>(&'a self, image: &'a str) -> BoxFuture<'a, Result<ImageDigest, RuntimeError>> {
        Box::pin(async move { self.image_id(image).await.map(ImageDigest) })
    }

    fn run<'a>(
        &'a self,
        spec: &'a RunSpec,
        control: RunControl,
    ) -> BoxFuture<'a, Result<RunResult, RuntimeError>> {
        Box::pin(self.run_inner(spec, control))
    }

    fn shell<'a>(
        &'a self,
        spec: &'a RunSpec,
        terminal: Terminal,
    ) -> BoxFuture<'a, Result<i32, RuntimeError>> {
        Box::pin(self.shell_inner(spec, terminal))
    }

    fn reap<'a>(
        &'a self,
        policy: &'a ReapPolicy,
    ) -> BoxFuture<'a, Result<Vec<Reaped>, RuntimeError>> {
        Box::pin(async move {
            let filter = format!("{}={}", body::LABEL_INSTANCE, policy.instance);
            let filters = std::collections::HashMap::from([("label".to_owned(), vec![filter])]);
            let options = query::ListContainersOptionsBuilder::default()
                .all(true)
                .filters(&filters)
                .build();
            let found = call(
                "list containers",
                LONG,
                self.client.list_containers(Some(options)),
            )
            .await?;
            let now = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap_or_default();
            let mut reaped = Vec::new();
            for container in found {
                let (Some(id), Some(labels)) = (container.id, container.labels) else {
                    continue;
                };
                let labels = body::labels_back(&labels);
                let made = u64::try_from(container.created.unwrap_or(0)).unwrap_or(0);
                let age = now.saturating_sub(Duration::from_secs(made));
                if policy.condemns(&labels, age) {
                    calls::remove(&self.client, &id).await?;
                    tracing::info!(container = %id, job = %labels.job, lease = %labels.lease, "reaped a container that no live lease owns");
                    reaped.push(Reaped { id, labels });
                }
            }
            Ok(reaped)
        })
    }
}

/// Removes the container when the run's future is dropped half-way.
struct RemoveOnDrop {
    client: Docker,
    id: Option<String>,
}

impl RemoveOnDrop {
    /// Removes it now. What can't be removed is left to the reaper: the run's
    /// result stands either way.
    async fn now(mut self) {
        if let Some(id) = self.id.take()
            && let Err(e) = calls::remove(&self.client, &id).await
        {
            tracing::warn!(container = %id, error = %e, "could not remove a container; the reaper will");
        }
    }
}

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        let (Some(id), Ok(handle)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let client = self.client.clone();
        handle.spawn(async move {
            if let Err(e) = calls::remove(&client, &id).await {
                tracing::warn!(container = %id, error = %e, "could not remove a container; the reaper will");
            }
        });
    }
}

pub(crate) async fn drain(
    mut output: std::pin::Pin<
        Box<dyn futures::Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>,
    >,
    recorder: Recorder,
) -> Result<(), RuntimeError> {
    while let Some(piece) = output.next().await {
        match piece {
            Ok(LogOutput::StdErr { message }) => recorder.push(LogStream::Stderr, &message),
            Ok(LogOutput::StdOut { message } | LogOutput::Console { message }) => {
                recorder.push(LogStream::Stdout, &message);
            }
            Ok(LogOutput::StdIn { .. }) => {}
            Err(e) => return Err(engine_error("attach", e)),
        }
    }
    Ok(())
}

/// Puts the image's name as it was asked for into a "missing" error.
fn named(error: RuntimeError, image: &str) -> RuntimeError {
    match error {
        RuntimeError::ImageMissing { detail, .. } => RuntimeError::ImageMissing {
            image: image.to_owned(),
            detail,
        },
        other => other,
    }
}

fn start_error(error: RuntimeError) -> RuntimeError {
    match error {
        RuntimeError::Engine { detail, .. } => RuntimeError::CannotStart { detail },
        other => other,
    }
}

/// What the engine says that it can't enforce.
fn gaps(info: &SystemInfo) -> Vec<String> {
    let mut gaps = Vec::new();
    let mut need = |there: Option<bool>, what: &str| {
        if there == Some(false) {
            gaps.push(format!("the engine can't enforce {what}"));
        }
    };
    need(info.memory_limit, "a memory limit");
    need(
        info.swap_limit,
        "a swap limit: memory may be swapped beyond its limit",
    );
    need(info.pids_limit, "a limit of processes");
    need(info.cpu_cfs_quota, "a CPU limit");
    let seccomp = info
        .security_options
        .iter()
        .flatten()
        .any(|o| o.contains("seccomp") && !o.contains("unconfined"));
    need(Some(seccomp), "a seccomp profile");
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_an_engine_lacks() {
        let info = SystemInfo {
            memory_limit: Some(true),
            swap_limit: Some(false),
            security_options: Some(vec!["name=seccomp,profile=default".into()]),
            ..Default::default()
        };
        assert_eq!(gaps(&info).len(), 1);
        assert!(gaps(&info)[0].contains("swap"));
        let bare = SystemInfo {
            security_options: Some(vec!["name=seccomp,profile=unconfined".into()]),
            ..Default::default()
        };
        assert!(gaps(&bare)[0].contains("seccomp"));
    }

    #[test]
    fn a_missing_image_is_named_as_asked_for() {
        let error = engine_error(
            "create container",
            bollard::errors::Error::DockerResponseServerError {
                status_code: 404,
                message: "No such image: x".into(),
            },
        );
        assert!(
            named(error, "faultboard/none:1")
                .to_string()
                .contains("`faultboard/none:1`")
        );
    }
}
