//! Proofs over their whole life: made by hand, shown on the case's page, made
//! again by a job when they are old, and told on the admin page when they fail.
//! On the scripted runtime, with the teaching case's real files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use faultboard_domain::clock::ManualClock;
use faultboard_domain::view::{ProofStatus, Soundness};
use faultboard_domain::{Actor, CaseId, Clock as _, Timestamp};
use faultboard_portal::{Portal, PortalError, ProofTimes, Settings};
use faultboard_sandbox::{FakeRun, FakeRuntime, RunSpec};

const IMAGE: &str = "faultboard/python:1";
const DAY_MS: i64 = 86_400_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// The teaching case's tree, as set-up leaves it.
fn tree() -> Vec<(String, Vec<u8>)> {
    let from = root().join("cases/relay-1/tree");
    let mut files = Vec::new();
    let mut open = vec![from.clone()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&from).unwrap().display().to_string();
                files.push((format!("/work/tree/{name}"), std::fs::read(path).unwrap()));
            }
        }
    }
    files
}

/// A runtime whose oracle knows right fixes by what they leave in the tree; with
/// `blind` it passes everything.
fn runtime(blind: Arc<AtomicBool>) -> FakeRuntime {
    FakeRuntime::new(&[IMAGE], move |spec: &RunSpec| {
        let line = spec.command.join(" ");
        if line.starts_with("bash /case/setup.sh") {
            return FakeRun {
                writes: tree(),
                ..FakeRun::exits(0)
            };
        }
        if spec.command.get(1).is_some_and(|c| c == "-c") {
            let said = "commit=abc\ncommits=1\nparents=0\nrefs=1\ntags=0\nremotes=0\nreflog=0\nstashes=0\nunreachable=0\nreachable=0\nobjects=0\nchanged=0\n";
            let git = |name: &str, text: &str| (format!("/work/tree/.git/{name}"), text.into());
            return FakeRun {
                writes: vec![git("refs/heads/main", "abc\n"), git("config", "[core]\n")],
                ..FakeRun::prints(said, 0)
            };
        }
        if !line.ends_with("/oracle/reproduce.sh") {
            return FakeRun::exits(0);
        }
        let work = spec.mounts.iter().find(|m| m.target == "/work").unwrap();
        let text = std::fs::read_to_string(work.source.join("tree/relay/receiver.py")).unwrap();
        let mended = text.contains("number != self.journal.last.get") || text.contains("_note");
        let nonce = &spec.env["FAULTBOARD_NONCE"];
        if mended || blind.load(Ordering::Relaxed) {
            FakeRun::prints(format!("PASS: said [{nonce}]\n"), 0)
        } else {
            FakeRun::prints(format!("FAIL: said [{nonce}]\n"), 1)
        }
    })
}

struct Site {
    portal: Arc<Portal>,
    clock: Arc<ManualClock>,
    blind: Arc<AtomicBool>,
    _folder: tempfile::TempDir,
}

impl Site {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            data_dir: folder.path().join("data"),
            cases_dir: root().join("cases"),
            solutions_dir: root().join("cases-solution"),
            min_free_bytes: 0,
            ..Settings::default()
        };
        let clock = Arc::new(ManualClock::at(Timestamp(1_800_000_000_000)));
        let blind = Arc::new(AtomicBool::new(false));
        let runtime = Arc::new(runtime(Arc::clone(&blind)));
        let portal = Portal::open_on(settings, clock.clone(), runtime)
            .await
            .unwrap();
        Self {
            portal,
            clock,
            blind,
            _folder: folder,
        }
    }

    async fn proof(&self) -> Option<faultboard_domain::view::ProofView> {
        let view = self.portal.case(&Actor::Anonymous, &case()).await.unwrap();
        view.proof
    }

    /// Works until every job is done.
    async fn work(&self) {
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let workers = tokio::spawn(Arc::clone(&self.portal).run_workers(stopped));
        let begun = Instant::now();
        loop {
            let queue = self.portal.queue(&Actor::System).await.unwrap();
            let open = queue
                .jobs
                .iter()
                .any(|j| matches!(j.state.as_str(), "queued" | "running"));
            if !open {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{queue:#?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        stop.send_replace(true);
        workers.await.unwrap();
    }

    async fn queued_proofs(&self) -> usize {
        let queue = self.portal.queue(&Actor::System).await.unwrap();
        queue
            .jobs
            .iter()
            .filter(|j| j.kind.as_str() == "prove-case" && j.state.as_str() == "queued")
            .count()
    }
}

fn case() -> CaseId {
    CaseId::parse("relay-1").unwrap()
}

const TIMES: ProofTimes = ProofTimes {
    directions: 2,
    variants: 1,
};

#[tokio::test(flavor = "multi_thread")]
async fn proofs_are_kept_made_again_and_told_when_they_fail() {
    let site = Site::open().await;
    site.work().await;
    site.portal.sweep().await.unwrap();
    assert_eq!(site.queued_proofs().await, 0, "none is begun by itself");
    assert!(site.proof().await.is_none());

    let silent = Arc::new(|_: &str| {});
    let made = site
        .portal
        .case_verify(&case(), TIMES, silent.clone())
        .await
        .unwrap();
    assert!(made.view.holds(), "{:?}", made.proof.problems);
    let shown = site.proof().await.unwrap();
    assert_eq!(shown, made.view);
    assert_eq!(
        (shown.status, shown.soundness),
        (Some(ProofStatus::Verified), Some(Soundness::Sound))
    );
    assert_eq!((shown.reference_passed, shown.faulty_failed), (2, 2));
    assert_eq!((shown.alternatives_passed, shown.wrong_caught), (1, 2));
    assert!(shown.hygiene.unwrap().files > 3);
    assert_eq!(shown.image_digests.len(), 1);
    // What everybody may see names no other fix.
    let public = serde_json::to_string(&made.view).unwrap();
    assert!(
        !public.contains("alternative-") && !public.contains("wrong-"),
        "{public}"
    );

    // Not before its time.
    site.clock.advance_ms(29 * DAY_MS);
    site.portal.sweep().await.unwrap();
    assert_eq!(site.queued_proofs().await, 0);
    site.clock.advance_ms(2 * DAY_MS);
    site.portal.sweep().await.unwrap();
    site.portal.sweep().await.unwrap();
    assert_eq!(site.queued_proofs().await, 1, "once");
    site.work().await;
    let again = site.proof().await.unwrap();
    assert!(again.holds() && again.verified > made.view.verified);
    assert_eq!((again.reference_runs, again.wrong), (10, 2));
    assert!(
        site.portal
            .admin(&Actor::System)
            .await
            .unwrap()
            .failed_proofs
            .is_empty()
    );

    // The oracle no longer tells anything apart: somebody must be told.
    site.blind.store(true, Ordering::Relaxed);
    site.clock.advance_ms(31 * DAY_MS);
    site.portal.sweep().await.unwrap();
    site.work().await;
    let failed = site
        .portal
        .admin(&Actor::System)
        .await
        .unwrap()
        .failed_proofs;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].case, case());
    assert!(
        failed[0].wrong.iter().any(|w| w.contains("false positive")),
        "{failed:?}"
    );
    let metrics = site.portal.metrics().await.unwrap();
    assert!(metrics.contains("faultboard_failed_proofs 1"), "{metrics}");
    let shown = site.proof().await.unwrap();
    assert!(!shown.holds());
    assert_eq!(shown.status, Some(ProofStatus::Fixed));
    assert_eq!(shown.soundness, Some(Soundness::Unsound));

    // Mended, and asked for at once; by an administrator alone.
    site.blind.store(false, Ordering::Relaxed);
    assert!(matches!(
        site.portal.prove_now(&Actor::Anonymous, &case()).await,
        Err(PortalError::SignInNeeded)
    ));
    site.portal
        .prove_now(&Actor::System, &case())
        .await
        .unwrap();
    assert!(matches!(
        site.portal.prove_now(&Actor::System, &case()).await,
        Err(PortalError::Conflict(_))
    ));
    site.work().await;
    assert!(
        site.portal
            .admin(&Actor::System)
            .await
            .unwrap()
            .failed_proofs
            .is_empty()
    );
    assert!(site.clock.now() >= site.proof().await.unwrap().verified);
    site.portal.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_that_the_platform_spoiled_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        data_dir: folder.path().join("data"),
        cases_dir: root().join("cases"),
        solutions_dir: root().join("cases-solution"),
        min_free_bytes: 0,
        ..Settings::default()
    };
    let clock = Arc::new(ManualClock::at(Timestamp(1_800_000_000_000)));
    let runtime = Arc::new(FakeRuntime::new(&[], |_| FakeRun::exits(0)));
    let portal = Portal::open_on(settings, clock, runtime).await.unwrap();
    let made = portal
        .case_verify(&case(), TIMES, Arc::new(|_: &str| {}))
        .await
        .unwrap();
    assert_eq!(made.proof.status, ProofStatus::InfraError);
    assert!(made.proof.problems[0].contains(IMAGE), "the image is named");
    let view = portal.case(&Actor::Anonymous, &case()).await.unwrap();
    assert!(view.proof.is_none());
    portal.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_at_a_terminal_is_judged_and_reset() {
    let site = Site::open().await;
    let silent: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(|_: &str| {});
    let none = site.portal.bench_reset(&case(), None).await;
    assert!(matches!(none, Err(PortalError::Conflict(_))));
    let tree = site
        .portal
        .bench_setup(&case(), silent.clone())
        .await
        .unwrap();
    assert!(tree.fresh);
    let made = site.portal.bench_agent(&case(), None, None).await.unwrap();
    assert!(
        !made.dir.display().to_string().contains("relay"),
        "a random name"
    );
    assert_eq!(
        site.portal.bench_agent(&case(), None, None).await.unwrap(),
        made
    );
    let file = made.dir.join("tree/relay/receiver.py");
    let before = std::fs::read(&file).unwrap();
    std::fs::write(&file, "edited").unwrap();
    std::fs::write(made.dir.join("tree/new.py"), "more").unwrap();
    let again = site.portal.bench_reset(&case(), None).await.unwrap();
    assert_eq!(again.dir, made.dir);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert!(!made.dir.join("tree/new.py").exists());
    site.portal.close().await;
}
