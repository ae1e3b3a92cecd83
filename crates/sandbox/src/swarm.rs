//! The backend for more than one machine: Docker's own cluster engine. Every
//! run is a service of one task on a network of its own; the cluster chooses the
//! node, by label and by what is free there. Images come from a registry that
//! every node reaches, pinned by digest; the folders that a run mounts must be
//! on every node under the same path (a shared file system), or where
//! [`SwarmConfig::path_map`] says.
//!
//! A task is never restarted: its folders may be half-written. A run whose node
//! goes away is an error that may be tried again, and whoever holds the lease
//! does that. So the service is a replicated one with one replica and no
//! restart, not a job: engine 20.10 never ends the tasks of a job that is
//! removed, and keeps the containers of those that failed.
//!
//! It never builds or pushes images, and never gives a task the engine's socket.

mod body;
mod nodes;
mod output;
mod removal;
mod task;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bollard::Docker;
use bollard::models::{LocalNodeState, Task};
use sha2::{Digest as _, Sha256};

use crate::disk::DiskWatch;
use crate::docker::calls::{LONG, SHORT, call};
use crate::docker::watch::{self, UsageMeter};
use crate::error::RuntimeError;
use crate::result::{Exit, RunResult, Stopped};
use crate::runtime::{BoxFuture, ImageDigest, Node, ReapPolicy, Reaped, RunControl, Runtime};
use crate::spec::{Labels, Network, RunSpec};

use output::Following;
use removal::RemoveOnDrop;
use task::Stage;

const NAME: &str = "swarm";

/// What a site may set.
#[derive(Debug, Clone)]
pub struct SwarmConfig {
    /// A manager's engine; none: the one that `DOCKER_HOST` names.
    pub host: Option<String>,
    /// Host and port of the registry that every node reaches.
    pub registry: String,
    /// `name=value` among a node's labels that makes it ours; none: every node.
    pub label: Option<String>,
    /// How long a run may wait for a node and its image.
    pub start_patience: Duration,
    /// Bytes that stay free on the disks of writable mounts.
    pub disk_reserve: u64,
    /// Where nodes see our folders: (our prefix, their prefix).
    pub path_map: Vec<(PathBuf, PathBuf)>,
}

impl SwarmConfig {
    /// The usual, with images from this registry.
    pub fn with_registry(registry: impl Into<String>) -> Self {
        Self {
            host: None,
            registry: registry.into(),
            label: None,
            start_patience: Duration::from_secs(900),
            disk_reserve: 1 << 30,
            path_map: Vec::new(),
        }
    }
}

/// A connection to a manager of a cluster.
#[derive(Debug, Clone)]
pub struct SwarmRuntime {
    client: Docker,
    config: SwarmConfig,
    /// The manager's own node.
    own_node: String,
}

/// An image as nodes are told to take it.
struct Pinned {
    reference: String,
    digest: String,
}

impl SwarmRuntime {
    /// Connects to a manager.
    pub async fn connect(config: SwarmConfig) -> Result<Self, RuntimeError> {
        if config.registry.is_empty() || config.registry.contains(['/', ' ', '@']) {
            return Err(unavailable(&format!(
                "`{}` is no registry: give its host and port, such as registry.example:5000",
                config.registry
            )));
        }
        let client = match &config.host {
            Some(host) => Docker::connect_with_host(host),
            None => Docker::connect_with_defaults(),
        }
        .map_err(|e| unavailable(&e))?
        .with_timeout(Duration::from_secs(7 * 86_400));
        let client = tokio::time::timeout(SHORT, client.negotiate_version())
            .await
            .map_err(|_| unavailable(&"no answer"))?
            .map_err(|e| unavailable(&e))?;
        let version = client.client_version();
        if (version.major_version, version.minor_version) < (1, 41) {
            return Err(unavailable(&"services need engine 20.10 or later"));
        }
        let mut runtime = Self {
            client,
            config,
            own_node: String::new(),
        };
        runtime.own_node = runtime.manager().await?;
        Ok(runtime)
    }

    /// The id of the manager's node; an error where the engine is none.
    async fn manager(&self) -> Result<String, RuntimeError> {
        let info = call("info", SHORT, self.client.info())
            .await
            .map_err(|e| unavailable(&e))?;
        let swarm = info.swarm.unwrap_or_default();
        let active = swarm.local_node_state == Some(LocalNodeState::ACTIVE);
        match swarm.node_id {
            Some(id) if active && swarm.control_available == Some(true) => Ok(id),
            _ => Err(unavailable(
                &"the engine is no manager of a cluster (docker swarm init, or name a manager by DOCKER_HOST)",
            )),
        }
    }

    /// The image in the registry, by the digest that it has there now.
    async fn pin(&self, image: &str) -> Result<Pinned, RuntimeError> {
        let reference = in_registry(&self.config.registry, image);
        let found = call(
            "inspect image in registry",
            SHORT,
            self.client.inspect_registry_image(&reference, None),
        )
        .await;
        let missing = |detail: String| RuntimeError::ImageMissing {
            image: image.to_owned(),
            detail: format!("{detail} (asked for as {reference})"),
        };
        match found {
            Ok(found) => {
                let digest = found.descriptor.digest;
                let digest = digest.ok_or_else(|| missing("it has no digest".to_owned()))?;
                Ok(Pinned {
                    reference: format!("{}@{digest}", without_tag(&reference)),
                    digest,
                })
            }
            Err(RuntimeError::Engine { detail, .. }) if says_missing(&detail) => {
                Err(missing(detail))
            }
            Err(e) => Err(e),
        }
    }

    async fn run_inner(
        &self,
        spec: &RunSpec,
        control: RunControl,
    ) -> Result<RunResult, RuntimeError> {
        spec.check()?;
        let image = self.pin(&spec.image).await?;
        let disk = DiskWatch::begin(&spec.mounts, self.config.disk_reserve).await?;
        let (cpu_millis, memory) = self.largest().await?;
        let name = name(&spec.labels);
        let labels = body::labels(&spec.labels, SystemTime::now());
        let removal = RemoveOnDrop::new(&self.client, &self.own_node, &name);
        let made = async {
            if spec.network == Network::None {
                let network = body::network(&name, labels.clone());
                call("create network", LONG, self.client.create_network(network)).await?;
            }
            let service = body::service(
                &body::Placed {
                    spec,
                    name: &name,
                    image: &image.reference,
                    network: (spec.network == Network::None).then_some(name.as_str()),
                    label: self.config.label.as_deref(),
                    cpu_millis,
                    memory,
                    largest_file: disk.largest_file(),
                    path_map: &self.config.path_map,
                },
                labels,
            );
            call(
                "create service",
                LONG,
                self.client.create_service(service, None),
            )
            .await
        };
        let result = match made.await {
            Ok(_) => self.run_created(&name, spec, control, image, disk).await,
            Err(e) => Err(e),
        };
        removal.now().await;
        let mut result = result?;
        if spec.limits.cpu_millis > cpu_millis {
            result.not_enforced.push(format!(
                "{} CPUs were asked for, the cluster's largest node has {}",
                f64::from(spec.limits.cpu_millis) / 1000.0,
                cpu_millis / 1000
            ));
        }
        Ok(result)
    }

    async fn run_created(
        &self,
        name: &str,
        spec: &RunSpec,
        control: RunControl,
        image: Pinned,
        mut disk: DiskWatch,
    ) -> Result<RunResult, RuntimeError> {
        let started = tokio::select! {
            started = task::started(&self.client, name, self.config.start_patience) => started?,
            () = control.cancel.cancelled() => return Ok(never_ran(image.digest)),
        };
        let begun = Instant::now();
        let (Some(id), Some(node)) = (started.id.clone(), started.node_id.clone()) else {
            return Err(RuntimeError::Engine {
                call: "list tasks",
                detail: "a task runs that has no id or no node".to_owned(),
            });
        };
        let here = task::container(&started)
            .filter(|_| node == self.own_node)
            .map(str::to_owned);
        let cap = spec.limits.log_bytes;
        let following = Following::begin(&self.client, &id, cap, control.sink.clone());
        let meter = here
            .as_ref()
            .map(|container| UsageMeter::start(self.client.clone(), container.clone()));
        let (status, stopped) = match task::stage(&started) {
            Stage::Ended(status) => (status, None),
            _ => tokio::select! {
                ended = task::ended(&self.client, &id, &node) => (ended?, None),
                () = tokio::time::sleep(spec.timeout) => (137, Some(Stopped::TimedOut)),
                () = control.cancel.cancelled() => (137, Some(Stopped::Cancelled)),
                over = disk.exceeded() => { over?; (137, Some(Stopped::QuotaExceeded)) }
            },
        };
        let wall_seconds = begun.elapsed().as_secs_f64();
        if let (Some(_), Some(container)) = (stopped, &here) {
            removal::kill_here(&self.client, container).await?;
            tokio::time::timeout(SHORT, task::ended(&self.client, &id, &node))
                .await
                .map_err(|_| RuntimeError::EngineTimeout {
                    call: "kill",
                    seconds: SHORT.as_secs(),
                })??;
        }
        let patience = if stopped.is_some() {
            Duration::from_secs(3)
        } else {
            LONG
        };
        let kept = output::kept(&self.client, &id, cap, patience).await;
        if stopped.is_some() && here.is_none() {
            // On another node only this ends it; the service goes with it.
            removal::remove(&self.client, &self.own_node, name).await?;
        }
        let live = following.finish().await;
        let mut not_enforced = self.not_enforced();
        let ((log, log_whole), (stdout, stdout_whole)) = match kept {
            Ok(kept) => (
                output::joined(live.0, kept.0),
                output::joined(live.1, kept.1),
            ),
            // Nobody's verdict hangs on what a stopped program printed last.
            Err(_) if stopped.is_some() => ((live.0, false), (live.1, false)),
            Err(e) => return Err(e),
        };
        if !(log_whole && stdout_whole) {
            not_enforced.push(
                "more was printed than a node keeps: how much was cut is not known exactly"
                    .to_owned(),
            );
        }
        let oom = match &here {
            Some(container) => watch::ended(&self.client, container).await?.oom,
            None => {
                not_enforced.push(NOT_SEEN.to_owned());
                false
            }
        };
        let usage = meter.map(UsageMeter::finish).unwrap_or_default();
        let (bytes_written, over) = disk.finish().await;
        Ok(RunResult {
            exit: Exit::from_status(status),
            stopped: stopped.or(over.then_some(Stopped::QuotaExceeded)),
            oom,
            log,
            stdout,
            image_digest: image.digest,
            peak_memory: usage.peak_memory,
            cpu_seconds: usage.cpu_seconds,
            wall_seconds,
            bytes_written,
            not_enforced,
        })
    }
}

/// On the result of a run on another node.
const NOT_SEEN: &str = "peak memory, CPU time and whether the memory limit killed something are not seen on another node than the manager's";

impl Runtime for SwarmRuntime {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self) -> BoxFuture<'_, Result<(), RuntimeError>> {
        Box::pin(async move {
            self.manager().await?;
            self.largest().await.map(drop)
        })
    }

    fn not_enforced(&self) -> Vec<String> {
        vec![
            "an internal network of its own stands in for no network: a program sees one interface that leads nowhere".to_owned(),
            "memory may be swapped beyond its limit on nodes that have swap".to_owned(),
        ]
    }

    fn resolve<'a>(&'a self, image: &'a str) -> BoxFuture<'a, Result<ImageDigest, RuntimeError>> {
        Box::pin(async move { self.pin(image).await.map(|p| ImageDigest(p.digest)) })
    }

    fn run<'a>(
        &'a self,
        spec: &'a RunSpec,
        control: RunControl,
    ) -> BoxFuture<'a, Result<RunResult, RuntimeError>> {
        Box::pin(self.run_inner(spec, control))
    }

    fn nodes<'a>(&'a self, instance: &'a str) -> BoxFuture<'a, Result<Vec<Node>, RuntimeError>> {
        Box::pin(self.nodes_inner(instance))
    }

    fn reap<'a>(
        &'a self,
        policy: &'a ReapPolicy,
    ) -> BoxFuture<'a, Result<Vec<Reaped>, RuntimeError>> {
        Box::pin(self.reap_inner(policy))
    }
}

fn unavailable(e: &dyn std::fmt::Display) -> RuntimeError {
    RuntimeError::Unavailable {
        runtime: NAME,
        detail: e.to_string(),
    }
}

/// What comes of a run that was cancelled while it waited for a node.
fn never_ran(image_digest: String) -> RunResult {
    RunResult {
        exit: Exit::Signal(9),
        stopped: Some(Stopped::Cancelled),
        oom: false,
        log: crate::log::Captured::default(),
        stdout: crate::log::Captured::default(),
        image_digest,
        peak_memory: None,
        cpu_seconds: None,
        wall_seconds: 0.0,
        bytes_written: 0,
        not_enforced: Vec::new(),
    }
}

/// A name that no other run of any portal has.
fn name(labels: &Labels) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [&labels.instance, &labels.job, &labels.lease] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update(std::process::id().to_le_bytes());
    hash.update(NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    hash.update(now.as_nanos().to_le_bytes());
    format!("fb-{}", &hex::encode(hash.finalize())[..24])
}

/// An image's name in the cluster's registry.
fn in_registry(registry: &str, image: &str) -> String {
    match image.strip_prefix(registry) {
        Some(rest) if rest.starts_with('/') => image.to_owned(),
        _ => format!("{registry}/{image}"),
    }
}

/// A reference without its tag or digest.
fn without_tag(reference: &str) -> &str {
    let reference = reference
        .split_once('@')
        .map_or(reference, |(name, _)| name);
    match reference.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => reference,
    }
}

fn says_missing(detail: &str) -> bool {
    let detail = detail.to_lowercase();
    [
        "manifest unknown",
        "not found",
        "name unknown",
        "unauthorized",
        "denied",
    ]
    .iter()
    .any(|word| detail.contains(word))
}

/// Whether a task is this runtime's business at all.
fn runs(task: &Task) -> bool {
    matches!(task::stage(task), Stage::Running | Stage::Waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_named_by_the_clusters_registry() {
        let named = in_registry("r.example:5000", "faultboard/base:1");
        assert_eq!(named, "r.example:5000/faultboard/base:1");
        assert_eq!(in_registry("r.example:5000", &named), named);
        assert_eq!(without_tag(&named), "r.example:5000/faultboard/base");
        assert_eq!(without_tag("r.example:5000/a"), "r.example:5000/a");
        assert_eq!(without_tag("r:1/a:2@sha256:3"), "r:1/a");
    }

    #[test]
    fn no_two_runs_have_one_name() {
        let labels = Labels {
            instance: "i".into(),
            job: "j".into(),
            lease: "1".into(),
        };
        let (a, b) = (name(&labels), name(&labels));
        assert_ne!(a, b);
        assert!(a.len() < 63 && a.starts_with("fb-"));
    }

    #[tokio::test]
    async fn a_registry_is_a_host_and_a_port() {
        for wrong in ["", "https://r/x", "a b"] {
            let error = SwarmRuntime::connect(SwarmConfig::with_registry(wrong)).await;
            assert!(error.unwrap_err().to_string().contains("is no registry"));
        }
    }
}
