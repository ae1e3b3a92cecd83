//! Scoring whole sets again, on a real database and a scripted runtime: what is
//! rerun, what is carried over or reused, what shows before it goes live, and
//! who may do it. Failures of the platform are never anybody's score.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use faultboard_bundle::package::{Compression, package};
use faultboard_domain::clock::SystemClock;
use faultboard_domain::view::{AttemptStatus, BoardQuery, ReevaluationView};
use faultboard_domain::{
    Actor, CaseId, Outcome, ReevaluationId, ReleaseId, RevisionId, Scope, SubmissionId,
    SubmissionState, SubsetId, Timestamp, Track,
};
use faultboard_portal::{Portal, PortalError, Settings};
use faultboard_sandbox::{FakeRun, FakeRuntime, RunSpec};
use faultboard_store::revisions::{self, NewRevision, Part, RevisionState};
use faultboard_store::{Store, submissions};
use futures::stream;

const IMAGE: &str = "faultboard/python:1";
/// Runs of the oracle per attempt on the teaching case.
const REPEATS: usize = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn is_verify(spec: &RunSpec) -> bool {
    spec.command
        .last()
        .is_some_and(|c| c == "/oracle/reproduce.sh")
}

/// The teaching case's tree, as its set-up leaves it.
fn tree() -> Vec<(String, Vec<u8>)> {
    let folder = root().join("cases/relay-1/tree/relay");
    std::fs::read_dir(folder)
        .unwrap()
        .map(|e| {
            let path = e.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (
                format!("/work/tree/relay/{name}"),
                std::fs::read(path).unwrap(),
            )
        })
        .collect()
}

/// A runtime on which the teaching case is set up, and whose oracle says PASS
/// for as long as `passes` is true.
fn runtime(images: &[&str], passes: Arc<AtomicBool>) -> FakeRuntime {
    FakeRuntime::new(images, move |spec| {
        if spec.command.join(" ").starts_with("bash /case/setup.sh") {
            FakeRun {
                writes: tree(),
                ..FakeRun::prints("ready\n", 0)
            }
        } else if spec.command.get(1).is_some_and(|c| c == "-c") {
            let said = "commit=abc\ncommits=1\nparents=0\nrefs=1\ntags=0\nremotes=0\nreflog=0\nstashes=0\nunreachable=0\nreachable=3\nobjects=3\nchanged=0\n";
            let git = |name: &str, text: &str| (format!("/work/tree/.git/{name}"), text.into());
            FakeRun {
                writes: vec![git("refs/heads/main", "abc\n"), git("config", "[core]\n")],
                ..FakeRun::prints(said, 0)
            }
        } else if is_verify(spec) {
            let nonce = &spec.env["FAULTBOARD_NONCE"];
            if passes.load(Ordering::SeqCst) {
                FakeRun::prints(format!("PASS: said [{nonce}]\n"), 0)
            } else {
                FakeRun::prints(format!("FAIL: said [{nonce}]\n"), 1)
            }
        } else {
            FakeRun::exits(0)
        }
    })
}

struct Site {
    portal: Arc<Portal>,
    runtime: FakeRuntime,
    passes: Arc<AtomicBool>,
    admin: Actor,
    owner: Actor,
    stop: tokio::sync::watch::Sender<bool>,
    workers: tokio::task::JoinHandle<()>,
    folder: tempfile::TempDir,
}

impl Site {
    async fn start() -> Self {
        Self::with_images(&[IMAGE]).await
    }

    async fn with_images(images: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            data_dir: folder.path().join("data"),
            cases_dir: root().join("cases"),
            solutions_dir: root().join("cases-solution"),
            min_free_bytes: 0,
            ..Settings::default()
        };
        let passes = Arc::new(AtomicBool::new(true));
        let runtime = runtime(images, Arc::clone(&passes));
        let portal = Portal::open_on(settings, Arc::new(SystemClock), Arc::new(runtime.clone()))
            .await
            .unwrap();
        let token = portal.first_admin_token().await.unwrap().unwrap();
        let session = portal
            .create_first_admin(&token, "Ada", "ada@example.org", "a long password")
            .await
            .unwrap();
        let admin = portal.actor_by_session(&session.0).await.unwrap();
        let session = portal
            .sign_up("Grace", "grace@example.org", "a long password")
            .await
            .unwrap();
        let owner = portal.actor_by_session(&session.0).await.unwrap();
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let workers = tokio::spawn(Arc::clone(&portal).run_workers(stopped));
        Self {
            portal,
            runtime,
            passes,
            admin,
            owner,
            stop,
            workers,
            folder,
        }
    }

    async fn end(self) {
        self.stop.send_replace(true);
        self.workers.await.unwrap();
        self.portal.close().await;
    }

    async fn submit(&self, agent: &str) -> SubmissionId {
        let bytes = sample(agent);
        let id = self
            .portal
            .create_upload(&self.owner, bytes.len() as u64, "bundle.tar.zst", None)
            .await
            .unwrap();
        let body = stream::iter([Ok::<_, String>(Bytes::from(bytes))]);
        self.portal
            .append_upload(&self.owner, &id, 0, body)
            .await
            .unwrap()
            .submission
            .unwrap()
    }

    async fn published(&self, agent: &str) -> SubmissionId {
        let id = self.submit(agent).await;
        self.until("scored", async || {
            let view = self.portal.submission(&self.owner, &id).await.unwrap();
            assert_ne!(view.state, SubmissionState::Invalid, "{:?}", view.report);
            view.state == SubmissionState::Scored
        })
        .await;
        self.portal.publish(&self.admin, &id, "").await.unwrap();
        id
    }

    async fn until(&self, what: &str, mut there: impl AsyncFnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !there().await {
            assert!(
                Instant::now() < deadline,
                "waited for {what}: {:?}",
                self.portal.queue(&self.admin).await
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn complete(&self, id: &ReevaluationId) -> ReevaluationView {
        self.until("the re-evaluation", async || {
            let view = self.portal.reevaluation(&self.admin, id).await.unwrap();
            !view.line.states.iter().any(|(s, _)| s == "building")
        })
        .await;
        self.portal.reevaluation(&self.admin, id).await.unwrap()
    }

    fn verified(&self) -> usize {
        self.runtime.seen().iter().filter(|s| is_verify(s)).count()
    }

    /// Pass rates under `symptom only`, as the board shows them.
    async fn rates(&self) -> Vec<f64> {
        let asked = BoardQuery {
            track: Track::Repair,
            release: None,
            subset: Some(SubsetId::parse("teaching").unwrap()),
            slice: None,
            sort: None,
            reverse: false,
            agent: None,
            model: None,
            open_weights: false,
        };
        let board = self.portal.board(&Actor::Anonymous, &asked).await.unwrap();
        board
            .rows
            .iter()
            .map(|r| r.repair.as_ref().unwrap().symptom.unwrap().mean)
            .collect()
    }

    fn sqlite(&self) -> PathBuf {
        self.folder.path().join("data/faultboard.sqlite")
    }
}

/// The teaching sample under another agent's name.
fn sample(agent: &str) -> Vec<u8> {
    let source = root().join("samples/teaching/2026-11-30_walkthrough-a__hand-written-steps");
    let temp = tempfile::tempdir().unwrap();
    let copy = temp.path().join(format!(
        "2026-11-30_{}__hand-written-steps",
        agent.to_lowercase().replace(' ', "-")
    ));
    copy_folder(&source, &copy);
    let file = copy.join("metadata.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("Recorded Walkthrough A", agent)).unwrap();
    let mut bytes = Vec::new();
    package(
        &copy,
        &copy.file_name().unwrap().to_string_lossy(),
        Compression::Zstd,
        &mut bytes,
    )
    .unwrap();
    bytes
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Cells as (old, new, count).
fn cells(view: &ReevaluationView) -> Vec<(&str, &str, u32)> {
    view.matrix
        .iter()
        .map(|c| (c.old.as_str(), c.new.as_str(), c.count))
        .collect()
}

fn case() -> Scope {
    Scope::Case(CaseId::parse("relay-1").unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_set_is_scored_again_beside_what_is_live_and_goes_live_when_applied() {
    let site = Site::start().await;
    let (a, b) = (
        site.published("Agent A").await,
        site.published("Agent B").await,
    );
    site.until("two rows", async || site.rates().await == [1.0, 1.0])
        .await;

    // Only administrators may, and nothing is begun for nothing.
    for other in [&Actor::Anonymous, &site.owner] {
        let refused = site
            .portal
            .begin_reevaluation(other, &case(), "why", true)
            .await;
        assert!(
            matches!(
                refused,
                Err(PortalError::Forbidden | PortalError::SignInNeeded)
            ),
            "{refused:?}"
        );
        assert!(site.portal.reevaluations(other).await.is_err());
    }
    let nothing = Scope::Release(ReleaseId::parse("1999.1").unwrap());
    for (scope, why) in [(&nothing, "why"), (&case(), " ")] {
        let refused = site
            .portal
            .begin_reevaluation(&site.admin, scope, why, true)
            .await;
        assert!(
            matches!(refused, Err(PortalError::Invalid(_))),
            "{refused:?}"
        );
    }

    // The machine has changed its mind: every verdict would be another.
    site.passes.store(false, Ordering::SeqCst);
    let id = site
        .portal
        .begin_reevaluation(&site.admin, &case(), "the oracle was mended", true)
        .await
        .unwrap();
    let again = site
        .portal
        .begin_reevaluation(&site.admin, &case(), "twice", true)
        .await;
    assert!(matches!(again, Err(PortalError::Conflict(_))), "{again:?}");
    let view = site.complete(&id).await;
    assert_eq!(cells(&view), [("pass", "fail", 4)]);
    let mut behind: Vec<_> = view.matrix[0]
        .attempts
        .iter()
        .map(|a| &a.submission)
        .collect();
    behind.dedup();
    assert_eq!(
        behind.len(),
        2,
        "attempts of both submissions stand behind the cell"
    );
    assert_eq!((view.done, view.total), (4, 4));
    assert_eq!(site.rates().await, [1.0, 1.0], "nothing is live yet");
    for r in [&site.owner, &Actor::Anonymous] {
        assert!(site.portal.reevaluation(r, &id).await.is_err());
        assert!(site.portal.apply_reevaluation(r, &id).await.is_err());
        assert!(site.portal.discard_reevaluation(r, &id).await.is_err());
    }

    let decided = site
        .portal
        .apply_reevaluation(&site.admin, &id)
        .await
        .unwrap();
    assert_eq!((decided.done, decided.left), (2, 0));
    site.until("new rows", async || site.rates().await == [0.0, 0.0])
        .await;
    for submission in [&a, &b] {
        let public = site
            .portal
            .submission(&Actor::Anonymous, submission)
            .await
            .unwrap();
        let told: Vec<_> = public
            .revisions
            .iter()
            .map(|r| (r.number, r.state.as_str(), r.reason.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (2, "live", "the oracle was mended"),
                (1, "replaced", "first scoring")
            ]
        );
        let change = &public.revisions[0].changes[0];
        assert_eq!(
            (change.0.as_str(), change.1.as_str(), change.2.len()),
            ("pass", "fail", 2)
        );
        assert!(
            public.revisions[0].reevaluation.is_none(),
            "for administrators only"
        );
        assert!(
            public
                .live
                .attempts
                .iter()
                .all(|a| a.outcome == Some(Outcome::Fail))
        );
    }
    let deeds: Vec<String> = site
        .portal
        .audit_log(&site.admin)
        .await
        .unwrap()
        .into_iter()
        .map(|l| l.deed)
        .collect();
    assert_eq!(
        deeds,
        [
            "re-evaluation-applied",
            "revision-applied",
            "revision-applied",
            "re-evaluation-begun"
        ]
    );
    assert!(matches!(
        site.portal.apply_reevaluation(&site.admin, &id).await,
        Err(PortalError::Conflict(_))
    ));
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_attempt_is_rerun_and_the_rest_is_carried_over() {
    let site = Site::start().await;
    let id = site.published("Agent A").await;
    let attempt = site
        .portal
        .submission(&site.owner, &id)
        .await
        .unwrap()
        .live
        .attempts[0]
        .id
        .clone();
    site.passes.store(false, Ordering::SeqCst);
    let before = site.verified();
    let begun = site
        .portal
        .begin_reevaluation(
            &site.admin,
            &Scope::Attempt(attempt.clone()),
            "one doubt",
            true,
        )
        .await
        .unwrap();
    let view = site.complete(&begun).await;
    assert_eq!(cells(&view), [("pass", "fail", 1), ("pass", "pass", 1)]);
    assert_eq!(view.matrix[0].attempts[0].id, attempt);
    assert!(
        site.verified() - before <= REPEATS,
        "the other attempt was not run again"
    );
    let decided = site
        .portal
        .discard_reevaluation(&site.admin, &begun)
        .await
        .unwrap();
    assert_eq!(decided.done, 1);
    let after = site.portal.submission(&site.admin, &id).await.unwrap();
    let states: Vec<_> = after.revisions.iter().map(|r| r.state.as_str()).collect();
    assert_eq!(states, ["discarded", "live"]);
    assert!(
        after
            .live
            .attempts
            .iter()
            .all(|a| a.outcome == Some(Outcome::Pass))
    );
    // The way is free for the next one.
    site.portal
        .begin_reevaluation(&site.admin, &Scope::Submission(id), "again", false)
        .await
        .unwrap();
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verdicts_are_reused_until_something_that_they_depend_on_changes() {
    let site = Site::start().await;
    site.published("Agent A").await;
    let release = Scope::Release(ReleaseId::parse("2026.1").unwrap());
    let before = site.verified();
    let begun = site
        .portal
        .begin_reevaluation(&site.admin, &release, "a look", false)
        .await
        .unwrap();
    assert_eq!(cells(&site.complete(&begun).await), [("pass", "pass", 2)]);
    assert_eq!(site.verified(), before, "the verdicts were there");
    site.portal
        .discard_reevaluation(&site.admin, &begun)
        .await
        .unwrap();

    site.runtime
        .set_image(IMAGE, &format!("sha256:{}", "1".repeat(64)));
    let begun = site
        .portal
        .begin_reevaluation(&site.admin, &release, "a new image", false)
        .await
        .unwrap();
    assert_eq!(cells(&site.complete(&begun).await), [("pass", "pass", 2)]);
    assert_eq!(
        site.verified(),
        before + 2 * REPEATS,
        "everything was run again"
    );
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_older_scorer_scored_is_offered_for_re_evaluation() {
    let site = Site::start().await;
    let id = site.published("Agent A").await;
    assert!(
        site.portal
            .admin(&site.admin)
            .await
            .unwrap()
            .outdated
            .is_empty()
    );
    // As an earlier version of the program left it.
    let store = Store::open(&site.sqlite()).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    let live = submissions::get(&mut tx, &id)
        .await
        .unwrap()
        .unwrap()
        .live_revision
        .unwrap();
    let old = RevisionId::parse("r00000001").unwrap();
    let new = NewRevision {
        id: &old,
        submission: &id,
        reason: "long ago",
        fresh: false,
        scorer_version: "oracle-0",
        created_by: "faultboard",
        base: None,
        reevaluation: None,
    };
    revisions::begin(&mut tx, &new, Timestamp(1)).await.unwrap();
    let scope = Scope::Case(CaseId::parse("other-1").unwrap());
    revisions::carry_over(&mut tx, &live, &old, &scope)
        .await
        .unwrap();
    let mut part = async |which| -> serde_json::Value {
        let part = revisions::part(&mut tx, &live, which).await.unwrap();
        part.unwrap()
    };
    let (scores, selection) = (part(Part::Scores).await, part(Part::Selection).await);
    let changes = serde_json::json!({ "changes": [], "unchanged": 2 });
    revisions::complete(&mut tx, &old, &scores, &selection, &changes, Timestamp(2))
        .await
        .unwrap();
    for (revision, from, to) in [
        (&live, RevisionState::Live, RevisionState::Replaced),
        (&old, RevisionState::Ready, RevisionState::Live),
    ] {
        assert!(
            revisions::transition(&mut tx, revision, from, to)
                .await
                .unwrap()
        );
    }
    submissions::set_live_revision(&mut tx, &id, &old)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    store.close().await;

    let offered = site.portal.admin(&site.admin).await.unwrap().outdated;
    assert_eq!(offered, [("oracle-0".to_owned(), 1)]);
    let begun = site
        .portal
        .begin_reevaluation(&site.admin, &Scope::Outdated, "the scorer changed", false)
        .await
        .unwrap();
    let view = site.complete(&begun).await;
    assert_eq!(view.submissions.len(), 1);
    assert_eq!(cells(&view), [("pass", "pass", 2)]);
    site.portal
        .apply_reevaluation(&site.admin, &begun)
        .await
        .unwrap();
    let view = site.portal.submission(&site.admin, &id).await.unwrap();
    let live = view.revisions.iter().find(|r| r.state == "live").unwrap();
    assert_ne!(live.scorer_version, "oracle-0");
    assert!(
        site.portal
            .admin(&site.admin)
            .await
            .unwrap()
            .outdated
            .is_empty()
    );
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_image_is_nobody_s_failure_and_the_work_goes_on_when_it_is_there() {
    let site = Site::with_images(&[]).await;
    let id = site.submit("Agent A").await;
    site.until("the case to be parked", async || {
        let view = site.portal.admin(&site.admin).await.unwrap();
        !view.parked_cases.is_empty()
    })
    .await;
    let view = site.portal.admin(&site.admin).await.unwrap();
    assert!(
        view.parked_cases[0].reason.contains(IMAGE),
        "{:?}",
        view.parked_cases
    );
    let seen = site.portal.submission(&site.owner, &id).await.unwrap();
    assert_eq!(seen.state, SubmissionState::Scoring);
    assert!(seen.row.is_none(), "no score is made of it");
    for a in &seen.live.attempts {
        assert_eq!((a.status, a.outcome), (AttemptStatus::Parked, None));
        assert!(a.reason.contains("does not count"), "{}", a.reason);
    }
    let quota = site.portal.quota(&site.owner).await.unwrap();
    assert_eq!(quota.used, 0, "nor does it use up the quota");
    let metrics = site.portal.metrics().await.unwrap();
    assert!(metrics.contains("faultboard_parked_cases 1"), "{metrics}");

    site.runtime
        .set_image(IMAGE, &format!("sha256:{}", "2".repeat(64)));
    let relay = CaseId::parse("relay-1").unwrap();
    assert!(site.portal.release_case(&site.owner, &relay).await.is_err());
    site.portal.release_case(&site.admin, &relay).await.unwrap();
    site.until("the score", async || {
        let view = site.portal.submission(&site.owner, &id).await.unwrap();
        view.state == SubmissionState::Scored
    })
    .await;
    site.end().await;
}
