//! The bubblewrap backend, for machines where no engine runs. Namespaces come
//! from `bwrap`, limits from cgroups where they may be made, else from
//! `prlimit`. An image is an unpacked root file system under
//! [`BubblewrapConfig::rootfs_dir`]; for the images that the site lists, the
//! host's own `/usr` may stand in.
//!
//! It never claims more than it did: what this machine can't enforce stands on
//! every result, and a missing image is an error, never a silent stand-in.

mod argv;
mod cgroup;
mod root;
mod state;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use crate::disk::DiskWatch;
use crate::error::RuntimeError;
use crate::log::{LogStream, Recorder};
use crate::result::{Exit, RunResult, Stopped};
use crate::runtime::{BoxFuture, ImageDigest, ReapPolicy, Reaped, RunControl, Runtime};
use crate::spec::{Capability, RunSpec};

use cgroup::Cgroups;
use root::Root;
use state::RunFolder;

/// What a site may set.
#[derive(Debug, Clone)]
pub struct BubblewrapConfig {
    /// Holds one folder per image, named by the reference with `/` and `:`
    /// replaced by `_`.
    pub rootfs_dir: PathBuf,
    /// Images for which the host's `/usr` may stand in.
    pub host_images: Vec<String>,
    /// Programs to add to the host's in that case, put first in `PATH`.
    pub tools_dir: Option<PathBuf>,
    /// Where running programs are noted; one folder per installation.
    pub state_dir: PathBuf,
    /// Bytes that stay free on the disks of writable mounts.
    pub disk_reserve: u64,
}

impl BubblewrapConfig {
    /// A configuration that keeps everything under one folder and has no image yet.
    pub fn under(dir: &Path) -> Self {
        Self {
            rootfs_dir: dir.join("rootfs"),
            host_images: Vec::new(),
            tools_dir: None,
            state_dir: dir.join("bubblewrap"),
            disk_reserve: 1 << 30,
        }
    }
}

/// Programs run by `bwrap` on this machine.
#[derive(Debug)]
pub struct Bubblewrap {
    config: BubblewrapConfig,
    /// Root gives every run its real uids; without it there is only one.
    privileged: bool,
    cgroups: Cgroups,
}

impl Bubblewrap {
    /// Finds out whether `bwrap` works here and what can be enforced.
    pub async fn probe(config: BubblewrapConfig) -> Result<Self, RuntimeError> {
        std::fs::create_dir_all(&config.state_dir)
            .map_err(|e| RuntimeError::io(format!("making {}", config.state_dir.display()), e))?;
        let privileged = rustix::process::geteuid().is_root();
        let runtime = Self {
            config,
            privileged,
            cgroups: Cgroups::probe(),
        };
        runtime.check_works().await?;
        Ok(runtime)
    }

    async fn check_works(&self) -> Result<(), RuntimeError> {
        let unavailable = |detail: String| RuntimeError::Unavailable {
            runtime: "bubblewrap",
            detail,
        };
        let mut command = Command::new("bwrap");
        command.args([
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--",
            "true",
        ]);
        command.stdin(Stdio::null()).kill_on_drop(true);
        match tokio::time::timeout(Duration::from_secs(10), command.output()).await {
            Ok(Ok(output)) if output.status.success() => Ok(()),
            Ok(Ok(output)) => Err(unavailable(
                String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            )),
            Ok(Err(e)) => Err(unavailable(format!("bwrap: {e}"))),
            Err(_) => Err(unavailable("bwrap did not end within 10 s".to_owned())),
        }
    }

    fn gaps(&self) -> Vec<String> {
        let mut gaps = vec!["no seccomp profile: bubblewrap has no default one".to_owned()];
        if !self.cgroups.memory() {
            gaps.push("memory is limited per process (address space), not for the whole run: no memory cgroup may be made here".to_owned());
        }
        if !self.cgroups.pids() {
            gaps.push("processes are limited per user of the host, not per run: no pids cgroup may be made here".to_owned());
        }
        if !self.cgroups.cpu() {
            gaps.push("CPU time is not limited: no cpu cgroup may be made here".to_owned());
        }
        if !self.privileged {
            gaps.push("without root there is one user inside only: the oracle and the program under test are not kept apart".to_owned());
        }
        gaps
    }

    async fn run_inner(
        &self,
        spec: &RunSpec,
        control: RunControl,
    ) -> Result<RunResult, RuntimeError> {
        spec.check()?;
        let root = Root::find(&self.config, &spec.image)?;
        let digest = root.digest().await?;
        let mut disk = DiskWatch::begin(&spec.mounts, self.config.disk_reserve).await?;
        // Order matters on the way out: the group is emptied before the folder
        // that notes it goes.
        let folder = RunFolder::create(&self.config.state_dir, &spec.labels)?;
        let group = self.cgroups.create(folder.name(), &spec.limits)?;
        let plan = argv::plan(&argv::Inputs {
            spec,
            root: &root,
            folder: &folder,
            privileged: self.privileged,
            cgroup_files: group.join_files(),
            limit_memory: !self.cgroups.memory(),
            limit_pids: !self.cgroups.pids(),
            largest_file: disk.largest_file(),
        })?;

        let started = Instant::now();
        let mut command = Command::new(&plan[0]);
        command.args(&plan[1..]).env_clear().current_dir("/");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|e| RuntimeError::Unavailable {
            runtime: "bubblewrap",
            detail: format!("{}: {e}", plan[0]),
        })?;
        folder.note_process(child.id())?;
        let recorder = Recorder::new(spec.limits.log_bytes, control.sink.clone());
        let pumps = [
            child
                .stdout
                .take()
                .map(|out| tokio::spawn(drain(out, LogStream::Stdout, recorder.clone()))),
            child
                .stderr
                .take()
                .map(|err| tokio::spawn(drain(err, LogStream::Stderr, recorder.clone()))),
        ];

        let stopped = tokio::select! {
            ended = child.wait() => { ended.map_err(|e| RuntimeError::io("waiting for bwrap", e))?; None }
            () = tokio::time::sleep(spec.timeout) => Some(Stopped::TimedOut),
            () = control.cancel.cancelled() => Some(Stopped::Cancelled),
            over = disk.exceeded() => { over?; Some(Stopped::QuotaExceeded) }
        };
        if stopped.is_some() {
            kill(&mut child).await?;
        }
        // The first process of the namespace dies with bwrap and takes all
        // others along; the group catches whatever is still on its way out.
        group.kill_all().await;
        let wall_seconds = started.elapsed().as_secs_f64();
        for mut pump in pumps.into_iter().flatten() {
            if tokio::time::timeout(Duration::from_secs(5), &mut pump)
                .await
                .is_err()
            {
                pump.abort();
            }
        }
        let status = child
            .wait()
            .await
            .map_err(|e| RuntimeError::io("waiting for bwrap", e))?;
        let usage = group.usage();
        let (bytes_written, over) = disk.finish().await;
        let (log, stdout) = recorder.take();
        if stopped.is_none() && !folder.program_ended() {
            let detail = String::from_utf8_lossy(&log.head)
                .trim()
                .chars()
                .take(400)
                .collect();
            return Err(RuntimeError::CannotStart { detail });
        }
        let mut not_enforced = self.gaps();
        not_enforced.extend(root.note());
        Ok(RunResult {
            exit: exit_of(status),
            stopped: stopped.or(over.then_some(Stopped::QuotaExceeded)),
            oom: usage.oom,
            log,
            stdout,
            image_digest: digest,
            peak_memory: usage.peak_memory,
            cpu_seconds: usage.cpu_seconds,
            wall_seconds,
            bytes_written,
            not_enforced,
        })
    }
}

/// `bwrap` reports a signal inside as 128 + n, and dies of its own when killed.
fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::from_status(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(9)),
    }
}

async fn kill(child: &mut Child) -> Result<(), RuntimeError> {
    match child.start_kill() {
        // Already ended and reaped.
        Err(e) if e.kind() == std::io::ErrorKind::InvalidInput => {}
        other => other.map_err(|e| RuntimeError::io("killing bwrap", e))?,
    }
    tokio::time::timeout(Duration::from_secs(5), child.wait())
        .await
        .map_err(|_| RuntimeError::EngineTimeout {
            call: "kill",
            seconds: 5,
        })?
        .map(drop)
        .map_err(|e| RuntimeError::io("waiting for bwrap", e))
}

async fn drain(mut from: impl AsyncRead + Unpin, stream: LogStream, recorder: Recorder) {
    let mut buffer = vec![0u8; 32 * 1024];
    while let Ok(n) = from.read(&mut buffer).await {
        if n == 0 {
            break;
        }
        recorder.push(stream, &buffer[..n]);
    }
}

/// Whether the run expects to tell two users apart.
fn separates_users(spec: &RunSpec) -> bool {
    spec.caps.contains(&Capability::Setuid)
}

impl Runtime for Bubblewrap {
    fn name(&self) -> &'static str {
        "bubblewrap"
    }

    fn check(&self) -> BoxFuture<'_, Result<(), RuntimeError>> {
        Box::pin(self.check_works())
    }

    fn not_enforced(&self) -> Vec<String> {
        self.gaps()
    }

    fn resolve<'a>(&'a self, image: &'a str) -> BoxFuture<'a, Result<ImageDigest, RuntimeError>> {
        Box::pin(async move {
            Root::find(&self.config, image)?
                .digest()
                .await
                .map(ImageDigest)
        })
    }

    fn run<'a>(
        &'a self,
        spec: &'a RunSpec,
        control: RunControl,
    ) -> BoxFuture<'a, Result<RunResult, RuntimeError>> {
        Box::pin(self.run_inner(spec, control))
    }

    fn reap<'a>(
        &'a self,
        policy: &'a ReapPolicy,
    ) -> BoxFuture<'a, Result<Vec<Reaped>, RuntimeError>> {
        Box::pin(async move {
            let mut reaped = Vec::new();
            for found in state::list(&self.config.state_dir)? {
                if !policy.condemns(&found.labels, found.age) {
                    continue;
                }
                found.kill_process();
                self.cgroups.adopt(&found.name).kill_all().await;
                found.remove()?;
                tracing::info!(run = %found.name, job = %found.labels.job, lease = %found.labels.lease, "reaped a run that no live lease owns");
                reaped.push(Reaped {
                    id: found.name,
                    labels: found.labels,
                });
            }
            Ok(reaped)
        })
    }
}
