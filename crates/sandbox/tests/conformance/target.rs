//! What the suite runs on: a backend, an image it has, and a way to look for
//! what was left behind.

use std::sync::Arc;
use std::time::Duration;

use faultboard_sandbox::{
    Bubblewrap, BubblewrapConfig, DockerConfig, DockerRuntime, Exit, FakeRun, FakeRuntime, Labels,
    ReapPolicy, Reaped, RunControl, RunResult, RunSpec, Runtime, SwarmConfig, SwarmRuntime,
};

use crate::checks;
use crate::lab::Registry;
use crate::own_swarm::OwnSwarm;

pub(crate) const IMAGE: &str = "faultboard/base:1";

pub(crate) struct Target {
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) fake: bool,
    pub(crate) instance: String,
    /// For mounts; on a disk, readable by every user.
    pub(crate) dir: tempfile::TempDir,
    /// What the backend needs for as long as it is used.
    _needs: Option<(OwnSwarm, Registry, tempfile::TempDir)>,
}

impl Target {
    fn new(runtime: Arc<dyn Runtime>, fake: bool) -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let instance = format!("conformance-{}-{}", runtime.name(), std::process::id());
        Self {
            runtime,
            fake,
            instance,
            dir,
            _needs: None,
        }
    }

    pub(crate) async fn docker() -> Result<Self, String> {
        let runtime = DockerRuntime::connect(DockerConfig {
            disk_reserve: 0,
            ..Default::default()
        });
        let runtime = runtime.await.map_err(|e| e.to_string())?;
        // The engine answers: now a missing image is a mistake, and says how to mend it.
        runtime
            .resolve(IMAGE)
            .await
            .map_err(|e| format!("{e} (make it with docker/build.sh)"))?;
        Ok(Self::new(Arc::new(runtime), false))
    }

    pub(crate) async fn bubblewrap() -> Result<Self, String> {
        let state = tempfile::tempdir().unwrap().keep();
        let config = BubblewrapConfig {
            host_images: vec![IMAGE.to_owned()],
            disk_reserve: 0,
            ..BubblewrapConfig::under(&state)
        };
        let runtime = Bubblewrap::probe(config).await.map_err(|e| e.to_string())?;
        Ok(Self::new(Arc::new(runtime), false))
    }

    /// This machine's engine as a cluster of one, with a registry of its own.
    pub(crate) async fn swarm() -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mut registry = Registry::start(folder.path(), "127.0.0.1")?;
        let swarm = OwnSwarm::enter()?;
        registry
            .push(IMAGE)
            .map_err(|e| format!("{e} (make it with docker/build.sh)"))?;
        let runtime = SwarmRuntime::connect(SwarmConfig {
            disk_reserve: 0,
            ..SwarmConfig::with_registry(&registry.address)
        });
        let runtime = runtime.await.map_err(|e| e.to_string())?;
        let mut target = Self::new(Arc::new(runtime), false);
        target._needs = Some((swarm, registry, folder));
        Ok(target)
    }

    pub(crate) fn fake() -> Self {
        Self::new(Arc::new(FakeRuntime::new(&[IMAGE], script)), true)
    }

    pub(crate) fn labels(&self) -> Labels {
        Labels {
            instance: self.instance.clone(),
            job: "job".into(),
            lease: "1".into(),
        }
    }

    /// A run of a shell script, with a minute's time.
    pub(crate) fn shell(&self, script: &str) -> RunSpec {
        let mut spec = RunSpec::new(IMAGE, &["bash", "-c", script], self.labels());
        spec.timeout = Duration::from_secs(60);
        spec.limits.memory_bytes = 256 << 20;
        spec.limits.log_bytes = 64 << 10;
        spec.limits.pids = 64;
        spec
    }

    pub(crate) async fn run(&self, spec: &RunSpec) -> RunResult {
        self.runtime
            .run(spec, RunControl::default())
            .await
            .expect("the runtime works")
    }

    /// Everything of this instance that is still there.
    pub(crate) async fn left_behind(&self) -> Vec<Reaped> {
        let policy = ReapPolicy {
            instance: self.instance.clone(),
            live: [].into(),
            min_age: Duration::ZERO,
        };
        self.runtime.reap(&policy).await.unwrap()
    }
}

/// What the fake does for the scripts of the portable checks.
fn script(spec: &RunSpec) -> FakeRun {
    match spec.command.last().map(String::as_str) {
        Some(checks::EXIT_SEVEN) => FakeRun {
            stderr: b"err\n".to_vec(),
            ..FakeRun::prints("out\n", 7)
        },
        Some(checks::SIGNAL) => FakeRun {
            exit: Exit::Signal(9),
            ..FakeRun::exits(0)
        },
        Some(checks::BYTES) => FakeRun::prints(&b"\xff\xfe\x00ok\n"[..], 0),
        Some(checks::ENDLESS) => FakeRun {
            stdout_times: 100_000,
            takes: Duration::from_secs(1 << 30),
            ..FakeRun::prints("0123456789abcdef\n", 0)
        },
        Some(checks::HANG | checks::DAEMON_THEN_HANG) => FakeRun {
            stdout: b"begun\n".to_vec(),
            ..FakeRun::hangs()
        },
        Some(checks::FILL) => FakeRun {
            writes: vec![("/work/full".into(), vec![1; 40 << 20])],
            ..FakeRun::hangs()
        },
        Some(checks::OUT_OF_MEMORY) => FakeRun {
            oom: true,
            exit: Exit::Signal(9),
            ..FakeRun::exits(0)
        },
        other => panic!("the fake has no script for {other:?}"),
    }
}
