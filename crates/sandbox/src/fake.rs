//! A runtime for tests: it runs no program, but keeps the whole contract around
//! what a script says that the program does. Time-outs, cancellation, bounded
//! logs, quotas, missing images and reaping behave as on a real backend.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sha2::Digest as _;

use crate::disk::DiskWatch;
use crate::error::RuntimeError;
use crate::log::{LogStream, Recorder};
use crate::result::{Exit, RunResult, Stopped};
use crate::runtime::{BoxFuture, ImageDigest, ReapPolicy, Reaped, RunControl, Runtime};
use crate::spec::{Labels, RunSpec};

/// What a scripted program does.
#[derive(Debug)]
pub struct FakeRun {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// How often it prints that.
    pub stdout_times: usize,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// How it ends.
    pub exit: Exit,
    /// How long it takes.
    pub takes: Duration,
    /// Whether the memory limit kills it.
    pub oom: bool,
    /// Files that it writes, as paths inside a writable mount.
    pub writes: Vec<(String, Vec<u8>)>,
    /// The runtime fails instead.
    pub error: Option<RuntimeError>,
}

impl Default for FakeRun {
    fn default() -> Self {
        Self::exits(0)
    }
}

impl FakeRun {
    /// A program that exits at once and prints nothing.
    pub fn exits(code: i32) -> Self {
        Self {
            stdout: Vec::new(),
            stdout_times: 1,
            stderr: Vec::new(),
            exit: Exit::Code(code),
            takes: Duration::ZERO,
            oom: false,
            writes: Vec::new(),
            error: None,
        }
    }

    /// A program that prints and exits.
    pub fn prints(stdout: impl Into<Vec<u8>>, code: i32) -> Self {
        Self {
            stdout: stdout.into(),
            ..Self::exits(code)
        }
    }

    /// A program that never ends by itself.
    pub fn hangs() -> Self {
        Self {
            takes: Duration::from_secs(1 << 40),
            ..Self::exits(0)
        }
    }

    /// A runtime that fails.
    pub fn fails(error: RuntimeError) -> Self {
        Self {
            error: Some(error),
            ..Self::exits(0)
        }
    }
}

type Script = dyn Fn(&RunSpec) -> FakeRun + Send + Sync;

/// The scripted runtime.
#[derive(Clone)]
pub struct FakeRuntime {
    state: Arc<Mutex<State>>,
    script: Arc<Script>,
    available: Arc<std::sync::atomic::AtomicBool>,
}

#[derive(Default)]
struct State {
    images: BTreeMap<String, String>,
    next: VecDeque<FakeRun>,
    seen: Vec<RunSpec>,
    leftovers: Vec<(Reaped, Instant)>,
}

impl FakeRuntime {
    /// A runtime that has these images and asks `script` what each run does.
    pub fn new(
        images: &[&str],
        script: impl Fn(&RunSpec) -> FakeRun + Send + Sync + 'static,
    ) -> Self {
        let images = images
            .iter()
            .map(|&name| (name.to_owned(), digest_of(name)))
            .collect();
        Self {
            state: Arc::new(Mutex::new(State {
                images,
                ..State::default()
            })),
            script: Arc::new(script),
            available: Arc::new(true.into()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues what the next run does, before the script is asked.
    pub fn push(&self, run: FakeRun) {
        self.state().next.push_back(run);
    }

    /// Every run so far, in order.
    pub fn seen(&self) -> Vec<RunSpec> {
        self.state().seen.clone()
    }

    /// Gives an image another digest, as a rebuilt image has.
    pub fn set_image(&self, name: &str, digest: &str) {
        self.state()
            .images
            .insert(name.to_owned(), digest.to_owned());
    }

    /// Switches the whole runtime off and on.
    pub fn set_available(&self, available: bool) {
        self.available
            .store(available, std::sync::atomic::Ordering::SeqCst);
    }

    /// Pretends that a run of a dead worker was left behind.
    pub fn leave_behind(&self, id: &str, labels: Labels) {
        self.state().leftovers.push((
            Reaped {
                id: id.to_owned(),
                labels,
            },
            Instant::now(),
        ));
    }

    fn require_available(&self) -> Result<(), RuntimeError> {
        if self.available.load(std::sync::atomic::Ordering::SeqCst) {
            return Ok(());
        }
        Err(RuntimeError::Unavailable {
            runtime: "fake",
            detail: "switched off".to_owned(),
        })
    }

    fn digest(&self, image: &str) -> Result<String, RuntimeError> {
        self.require_available()?;
        self.state()
            .images
            .get(image)
            .cloned()
            .ok_or_else(|| RuntimeError::ImageMissing {
                image: image.to_owned(),
                detail: "no such image".to_owned(),
            })
    }

    async fn run_inner(
        &self,
        spec: &RunSpec,
        control: RunControl,
    ) -> Result<RunResult, RuntimeError> {
        spec.check()?;
        let image_digest = self.digest(&spec.image)?;
        let queued = {
            let mut state = self.state();
            state.seen.push(spec.clone());
            state.next.pop_front()
        };
        let run = queued.unwrap_or_else(|| (self.script)(spec));
        if let Some(error) = run.error {
            return Err(error);
        }
        let mut disk = DiskWatch::begin(&spec.mounts, 0).await?;
        let started = Instant::now();
        let recorder = Recorder::new(spec.limits.log_bytes, control.sink.clone());
        recorder.push(LogStream::Stderr, &run.stderr);
        for _ in 0..run.stdout_times {
            recorder.push(LogStream::Stdout, &run.stdout);
        }
        for (path, bytes) in &run.writes {
            let host = host_path(spec, path)?;
            let parent = host.parent().unwrap_or(&host).to_owned();
            std::fs::create_dir_all(&parent)
                .and_then(|()| std::fs::write(&host, bytes))
                .map_err(|e| RuntimeError::io(format!("writing {path}"), e))?;
        }
        let stopped = tokio::select! {
            biased;
            () = control.cancel.cancelled() => Some(Stopped::Cancelled),
            () = tokio::time::sleep(run.takes) => None,
            () = tokio::time::sleep(spec.timeout) => Some(Stopped::TimedOut),
            over = disk.exceeded() => { over?; Some(Stopped::QuotaExceeded) }
        };
        let (bytes_written, over) = disk.finish().await;
        let stopped = stopped.or(over.then_some(Stopped::QuotaExceeded));
        let (log, stdout) = recorder.take();
        Ok(RunResult {
            exit: if stopped.is_some() || run.oom {
                Exit::Signal(9)
            } else {
                run.exit
            },
            stopped,
            oom: run.oom,
            log,
            stdout,
            image_digest,
            peak_memory: None,
            cpu_seconds: None,
            wall_seconds: started.elapsed().as_secs_f64(),
            bytes_written,
            not_enforced: Vec::new(),
        })
    }
}

fn digest_of(name: &str) -> String {
    format!(
        "sha256:{}",
        hex::encode(sha2::Sha256::digest(name.as_bytes()))
    )
}

/// The host's file behind a path in a writable mount.
fn host_path(spec: &RunSpec, path: &str) -> Result<PathBuf, RuntimeError> {
    spec.mounts
        .iter()
        .filter(|m| m.writable.is_some())
        .find_map(|m| {
            path.strip_prefix(&m.target)?
                .strip_prefix('/')
                .map(|rest| m.source.join(rest))
        })
        .ok_or_else(|| RuntimeError::InvalidSpec {
            reason: format!("the script writes `{path}`, which is in no writable mount"),
        })
}

impl Runtime for FakeRuntime {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn check(&self) -> BoxFuture<'_, Result<(), RuntimeError>> {
        Box::pin(async { self.require_available() })
    }

    fn not_enforced(&self) -> Vec<String> {
        Vec::new()
    }

    fn resolve<'a>(&'a self, image: &'a str) -> BoxFuture<'a, Result<ImageDigest, RuntimeError>> {
        Box::pin(async move { self.digest(image).map(ImageDigest) })
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
            self.require_available()?;
            let mut state = self.state();
            let (gone, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut state.leftovers)
                .into_iter()
                .partition(|(r, made)| policy.condemns(&r.labels, made.elapsed()));
            state.leftovers = kept;
            Ok(gone.into_iter().map(|(r, _)| r).collect())
        })
    }
}
