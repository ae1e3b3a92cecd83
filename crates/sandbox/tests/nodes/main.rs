//! Runs on a cluster of three machines: where they go, what a run on another
//! machine than the manager's can and can't say, and what becomes of one whose
//! machine loses its power.

#[path = "../lab/mod.rs"]
mod lab;
mod machines;

use std::collections::HashSet;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use faultboard_sandbox::{
    CancellationToken, Exit, Labels, Mount, Quota, ReapPolicy, RunControl, RunSpec, Runtime,
    SwarmConfig, SwarmRuntime,
};
use lab::Registry;
use machines::{Machine, Switch};

const IMAGE: &str = "faultboard/base:1";
const INSTANCE: &str = "nodes-test";

/// Writes past the harness's capture, so that it is seen when all passes too.
fn announce(text: &str) {
    let mut terminal = std::io::stderr().lock();
    writeln!(terminal, "{text}").unwrap();
}

/// A manager that takes no runs, and workers that do. Fields are dropped in
/// this order.
struct Cluster {
    runtime: Arc<SwarmRuntime>,
    workers: Vec<Machine>,
    manager: Machine,
    _registries: [Registry; 2],
    _switch: Switch,
    folder: tempfile::TempDir,
}

impl Cluster {
    async fn start() -> Result<Self, String> {
        lab::tool("docker", &["image", "inspect", "-f", "{{.Id}}", IMAGE])
            .map_err(|e| format!("{e} (make it with docker/build.sh)"))?;
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755))
            .map_err(|e| e.to_string())?;
        let mut switch = Switch::new()?;
        // Two doors to one store: this machine's engine believes only a
        // registry on its loopback, the others reach only the switch.
        let mut inside = Registry::start(folder.path(), "127.0.0.1")?;
        inside.push(IMAGE)?;
        let outside = Registry::start(folder.path(), &switch.address())?;
        let mut start = |name: &str| switch.machine(folder.path(), name, &outside.address);
        let (manager, workers) = (start("manager")?, vec![start("left")?, start("right")?]);
        manager.docker(&["swarm", "init", "--advertise-addr", &manager.ip])?;
        let token = manager.docker(&["swarm", "join-token", "-q", "worker"])?;
        let door = format!("{}:2377", manager.ip);
        for w in &workers {
            let own = ["--advertise-addr", w.ip.as_str(), door.as_str()];
            w.docker(&[&["swarm", "join", "--token", token.as_str()][..], &own].concat())?;
            let label = ["node", "update", "--label-add", "faultboard=true"];
            manager.docker(&[&label[..], &[w.name.as_str()]].concat())?;
        }
        let runtime = SwarmRuntime::connect(SwarmConfig {
            host: Some(manager.host()),
            label: Some("faultboard=true".to_owned()),
            disk_reserve: 0,
            ..SwarmConfig::with_registry(&outside.address)
        });
        let runtime = runtime.await.map_err(|e| e.to_string())?;
        Ok(Self {
            runtime: Arc::new(runtime),
            workers,
            manager,
            _registries: [inside, outside],
            _switch: switch,
            folder,
        })
    }

    /// A folder that every machine sees.
    fn shared(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        path
    }

    /// On which machine the job has a run.
    async fn place_of(&self, job: &str) -> Option<String> {
        let nodes = self.runtime.nodes(INSTANCE).await.unwrap();
        let found = nodes
            .into_iter()
            .find(|n| n.running.iter().any(|l| l.job == job));
        found.map(|n| n.name)
    }
}

fn spec(job: &str, lease: &str, script: &str) -> RunSpec {
    let labels = Labels {
        instance: INSTANCE.into(),
        job: job.into(),
        lease: lease.into(),
    };
    let mut spec = RunSpec::new(IMAGE, &["bash", "-c", script], labels);
    spec.limits.memory_bytes = 128 << 20;
    spec.limits.cpu_millis = 500;
    spec.timeout = Duration::from_secs(120);
    spec
}

fn work(job: &str, lease: &str, folder: &Path) -> RunSpec {
    let script = "echo begun >>/work/begun; while [ ! -e /work/go ]; do sleep 0.2; done; echo done >>/work/done; echo finished";
    let mut spec = spec(job, lease, script);
    let quota = Quota {
        bytes: 1 << 20,
        files: 100,
    };
    spec.mounts.push(Mount::writable(folder, "/work", quota));
    spec
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |t| t.lines().count())
}

async fn until(what: &str, patience: Duration, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(
            begun.elapsed() < patience,
            "{what}: not within {patience:?}"
        );
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

/// Processes of the host, which sees those of every machine, that run `sleep SECONDS`.
fn sleepers(seconds: &str) -> usize {
    let wanted = format!("sleep\0{seconds}\0");
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|p| std::fs::read(p.path().join("cmdline")).is_ok_and(|c| c == wanted.as_bytes()))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_does_the_work_and_outlives_a_node() {
    let mut cluster = match Cluster::start().await {
        Ok(cluster) => cluster,
        Err(why) => {
            let required = std::env::var("FAULTBOARD_REQUIRE_RUNTIMES")
                .is_ok_and(|v| v.split(',').any(|w| w.trim() == "swarm"));
            assert!(!required, "a cluster is required but not available: {why}");
            announce(&format!(
                "SKIP a_cluster_does_the_work_and_outlives_a_node: {why}"
            ));
            return;
        }
    };
    far_runs_keep_the_contract(&cluster).await;
    let (one, two) = (cluster.shared("one"), cluster.shared("two"));
    let begin = |spec: RunSpec| {
        let runtime = Arc::clone(&cluster.runtime);
        tokio::spawn(async move { runtime.run(&spec, RunControl::default()).await })
    };
    let first = begin(work("one", "1", &one));
    until("the first begins", Duration::from_secs(60), async || {
        one.join("begun").exists()
    })
    .await;
    let second = begin(work("two", "1", &two));
    until("the second begins", Duration::from_secs(60), async || {
        two.join("begun").exists()
    })
    .await;

    let places = [cluster.place_of("one").await, cluster.place_of("two").await];
    let [Some(place_one), Some(place_two)] = places else {
        panic!("a run is nowhere: {places:?}");
    };
    let both: HashSet<&str> = [place_one.as_str(), &place_two].into();
    assert_eq!(both, HashSet::from(["left", "right"]), "one run on each");
    announce(&format!(
        "     swarm: one on {place_one}, two on {place_two}"
    ));

    let victim = cluster.workers.iter_mut().find(|w| w.name == place_two);
    victim.expect("a worker has it").kill();
    let killed = Instant::now();
    let lost = tokio::time::timeout(Duration::from_secs(120), second)
        .await
        .expect("a run on a dead node ends")
        .unwrap()
        .expect_err("its node is dead");
    assert_eq!(lost.kind(), "node-lost", "{lost}");
    assert!(lost.is_transient(), "the queue tries it again");
    assert!(lost.to_string().contains(&place_two), "{lost}");
    announce(&format!(
        "     swarm: {lost} ({:.0} s after)",
        killed.elapsed().as_secs_f64()
    ));

    // As the queue does it: the same work under the next lease.
    let again = begin(work("two", "2", &two));
    until(
        "the second begins again",
        Duration::from_secs(60),
        async || lines(&two.join("begun")) == 2,
    )
    .await;
    assert_eq!(cluster.place_of("two").await.as_ref(), Some(&place_one));
    for folder in [&one, &two] {
        std::fs::write(folder.join("go"), "").unwrap();
    }
    for run in [first, again] {
        let result = run.await.unwrap().unwrap();
        assert!(result.succeeded(), "{result:?}");
        assert_eq!(result.stdout.head, b"finished\n");
    }
    assert_eq!((lines(&one.join("done")), lines(&two.join("done"))), (1, 1));

    let nodes = cluster.runtime.nodes(INSTANCE).await.unwrap();
    let seen: Vec<(&str, &str, bool)> = nodes
        .iter()
        .map(|n| (n.name.as_str(), n.state.as_str(), n.eligible))
        .collect();
    let state = |name: &str| if place_two == name { "down" } else { "ready" };
    assert_eq!(
        seen,
        [
            ("left", state("left"), true),
            ("manager", "ready", false),
            ("right", state("right"), true)
        ]
    );
    let policy = ReapPolicy {
        instance: INSTANCE.into(),
        live: HashSet::new(),
        min_age: Duration::ZERO,
    };
    cluster.runtime.reap(&policy).await.unwrap();
    assert_eq!(
        cluster.manager.docker(&["service", "ls", "-q"]).unwrap(),
        ""
    );
}

/// What a run on another machine than the manager's keeps of the contract.
async fn far_runs_keep_the_contract(cluster: &Cluster) {
    let runtime = &cluster.runtime;
    let script = r"printf '\377\000ok\n'; echo err >&2; grep -c eth0 /proc/net/route; exit 7";
    let r = runtime
        .run(&spec("far", "1", script), RunControl::default())
        .await
        .unwrap();
    assert_eq!((r.exit, r.stopped), (Exit::Code(7), None));
    assert_eq!(r.stdout.head, b"\xff\x00ok\n1\n");
    assert!(r.log.text().contains("err"));
    assert!(r.not_enforced.iter().any(|n| n.contains("another node")));

    let mut hangs = spec("far", "2", "setsid sleep 4646 & echo begun; sleep 4646");
    hangs.timeout = Duration::from_secs(2);
    let begun = Instant::now();
    let r = runtime.run(&hangs, RunControl::default()).await.unwrap();
    assert!(r.timed_out() && begun.elapsed() < Duration::from_secs(30));
    assert_eq!(
        (r.exit, r.stdout.head.as_slice()),
        (Exit::Signal(9), &b"begun\n"[..])
    );
    assert_eq!(sleepers("4646"), 0);

    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let sink = Arc::new(move |_, _: &[u8]| stop.cancel());
    let control = RunControl {
        cancel: cancel.clone(),
        sink: Some(sink),
    };
    let hangs = spec("far", "3", "echo begun; sleep 4747");
    let run = runtime.run(&hangs, control);
    let asked = async {
        cancel.cancelled().await;
        let asked = Instant::now();
        until("it dies", Duration::from_secs(5), async || {
            sleepers("4747") == 0
        })
        .await;
        asked.elapsed()
    };
    let (r, took) = tokio::join!(run, asked);
    assert!(r.unwrap().cancelled());
    announce(&format!(
        "     swarm: a run on another node died {:.1} s after it was cancelled",
        took.as_secs_f64()
    ));
}
