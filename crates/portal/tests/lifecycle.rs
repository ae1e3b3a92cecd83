//! What becomes of attempts and of a second submission of the same
//! configuration, on a real database and a scripted runtime: every failure says
//! why, an empty patch is an outcome of its own, and a resubmission is judged
//! anew where it differs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use faultboard_bundle::package::{Compression, package};
use faultboard_domain::clock::SystemClock;
use faultboard_domain::view::{BoardQuery, SubmissionView};
use faultboard_domain::{
    Actor, Outcome, ReleaseId, Severity, SubmissionId, SubmissionState, SubsetId, Track,
};
use faultboard_portal::{AttemptFile, Portal, PortalError, Settings, reproduce};
use faultboard_sandbox::{FakeRun, FakeRuntime, RunSpec};
use futures::stream;

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

/// A runtime on which the teaching case is set up and whose oracle says FAIL.
fn runtime() -> FakeRuntime {
    let folder = root().join("cases/relay-1/tree/relay");
    let tree: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| {
            let path = e.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let place = format!("/work/tree/relay/{name}");
            (place, std::fs::read(path).unwrap())
        })
        .collect();
    FakeRuntime::new(&["faultboard/python:1"], move |spec| {
        if spec.command.join(" ").starts_with("bash /case/setup.sh") {
            FakeRun {
                writes: tree.clone(),
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
            FakeRun::prints(format!("FAIL: 3 records were lost [{nonce}]\n"), 1)
        } else {
            FakeRun::exits(0)
        }
    })
}

struct Site {
    portal: Arc<Portal>,
    runtime: FakeRuntime,
    admin: Actor,
    owner: Actor,
    stop: tokio::sync::watch::Sender<bool>,
    workers: tokio::task::JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Site {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            data_dir: folder.path().join("data"),
            cases_dir: root().join("cases"),
            solutions_dir: root().join("cases-solution"),
            min_free_bytes: 0,
            ..Settings::default()
        };
        let runtime = runtime();
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
            admin,
            owner,
            stop,
            workers,
            _folder: folder,
        }
    }

    async fn end(self) {
        self.stop.send_replace(true);
        self.workers.await.unwrap();
        self.portal.close().await;
    }

    /// Hands in the teaching case with these patches, and waits for its scores.
    async fn scored(&self, symptom_only: &str, with_context: &str) -> SubmissionView {
        let bytes = bundle(symptom_only, with_context);
        let upload = self
            .portal
            .create_upload(&self.owner, bytes.len() as u64, "bundle.tar.zst", None)
            .await
            .unwrap();
        let body = stream::iter([Ok::<_, String>(Bytes::from(bytes))]);
        let status = self
            .portal
            .append_upload(&self.owner, &upload, 0, body)
            .await
            .unwrap();
        let id = status.submission.unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let view = self.view(&id).await;
            if view.state == SubmissionState::Scored {
                return view;
            }
            assert!(
                !view.state.is_settled() && Instant::now() < deadline,
                "{}: {:?}",
                view.state,
                view.report
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn view(&self, id: &SubmissionId) -> SubmissionView {
        self.portal.submission(&self.owner, id).await.unwrap()
    }

    fn verified(&self) -> usize {
        self.runtime.seen().iter().filter(|s| is_verify(s)).count()
    }
}

/// The teaching sample with other patches.
fn bundle(symptom_only: &str, with_context: &str) -> Vec<u8> {
    let top = "2026-11-30_walkthrough-a__hand-written-steps";
    let source = root().join("samples/teaching").join(top);
    let temp = tempfile::tempdir().unwrap();
    let copy = temp.path().join(top);
    copy_folder(&source, &copy);
    for (condition, patch) in [
        ("symptom-only", symptom_only),
        ("context-augmented", with_context),
    ] {
        let file = copy.join(format!("relay-1/{condition}/run-01/patch.diff"));
        std::fs::write(file, patch).unwrap();
    }
    let mut bytes = Vec::new();
    package(&copy, top, Compression::Zstd, &mut bytes).unwrap();
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

/// The board of the teaching case.
fn teaching_board(release: Option<ReleaseId>) -> BoardQuery {
    BoardQuery {
        track: Track::Repair,
        release,
        subset: Some(SubsetId::parse("teaching").unwrap()),
        slice: None,
        sort: None,
        reverse: false,
        agent: None,
        model: None,
        open_weights: false,
    }
}

/// A patch that adds a file of this name.
fn adds(name: &str) -> String {
    format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+looked\n")
}

const MISFIT: &str = "--- a/relay/receiver.py\n+++ b/relay/receiver.py\n@@ -1,2 +1,2 @@\n-stands nowhere\n-nor this\n+so this\n+does not apply\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_attempt_that_did_not_pass_says_why_and_keeps_its_log() {
    let site = Site::start().await;
    let view = site.scored(&adds("a.txt"), MISFIT).await;
    let mut outcomes = Vec::new();
    for cell in &view.live.attempts {
        outcomes.push(cell.outcome.unwrap());
        assert!(
            cell.reason.len() > 10,
            "{}: no reason: {:?}",
            cell.id,
            cell.reason
        );
        // Its page tells every stage that it went through.
        let asked = faultboard_domain::view::TraceQuery::default();
        let page = site
            .portal
            .attempt(&site.owner, &cell.id, &asked)
            .await
            .unwrap();
        let result = page.result.unwrap();
        assert!(!result.stages.is_empty(), "{}: no stages", cell.id);
    }
    outcomes.sort();
    let mut expected = [Outcome::Fail, Outcome::ApplyFailed];
    expected.sort();
    assert_eq!(outcomes, expected);
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resubmission_is_judged_anew_where_it_differs_and_says_what_changed() {
    let site = Site::start().await;
    let first = site.scored(&adds("a.txt"), &adds("b.txt")).await;
    assert!(
        !first
            .events
            .iter()
            .any(|e| e.note.contains("same configuration"))
    );
    let before = site.verified();
    assert!(before > 0);

    // One patch of the two is another one: that one is judged.
    let second = site.scored(&adds("a.txt"), &adds("c.txt")).await;
    assert_ne!(first.id, second.id);
    let told: Vec<&str> = second
        .events
        .iter()
        .map(|e| e.note.as_str())
        .filter(|n| n.contains("The same configuration as submission"))
        .collect();
    assert_eq!(told.len(), 1, "{:?}", second.events);
    let told = told[0];
    assert!(told.contains(first.id.as_str()), "{told}");
    assert!(
        told.contains("1 answer(s) unchanged, 1 changed, 0 added, 0 left out"),
        "{told}"
    );
    assert!(
        told.contains("Changed: relay-1/context-augmented/run-01."),
        "{told}"
    );
    assert_eq!(
        site.verified(),
        before + before / 2,
        "one of the two was judged"
    );
    assert!(second.live.attempts.iter().all(|a| a.outcome.is_some()));

    // Published, it supersedes the one before, which stays readable.
    site.portal
        .publish(&site.admin, &first.id, "")
        .await
        .unwrap();
    site.portal
        .publish(&site.admin, &second.id, "")
        .await
        .unwrap();
    assert_eq!(
        site.view(&first.id).await.state,
        SubmissionState::Superseded
    );
    let nobody = Actor::Anonymous;
    site.portal.submission(&nobody, &first.id).await.unwrap();
    // What is public can't be taken back by its owner any more.
    assert!(matches!(
        site.portal.withdraw(&site.owner, &second.id, "").await,
        Err(PortalError::Conflict(_))
    ));
    // The notes of the timeline are between its owner and the reviewers.
    let seen = site.portal.submission(&nobody, &second.id).await.unwrap();
    assert!(seen.events.iter().all(|e| e.note.is_empty()));
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_patch_is_warned_of_and_is_an_outcome_of_its_own() {
    let site = Site::start().await;
    let view = site.scored("", &adds("a.txt")).await;
    let report = view.report.as_ref().unwrap();
    assert!(
        report.problems.iter().any(|p| p.rule == "patch-empty"
            && p.severity == Severity::Warning
            && p.path.contains("symptom-only")),
        "{report:?}"
    );
    let outcomes: Vec<_> = view
        .live
        .attempts
        .iter()
        .map(|a| a.outcome.unwrap())
        .collect();
    assert!(
        outcomes.contains(&Outcome::NoEdit) && outcomes.contains(&Outcome::Fail),
        "{outcomes:?}"
    );
    // The board shows it beside the failures, and counts it as no pass.
    site.portal
        .publish(&site.admin, &view.id, "")
        .await
        .unwrap();
    let asked = teaching_board(None);
    let deadline = Instant::now() + Duration::from_secs(60);
    let row = loop {
        let board = site.portal.board(&Actor::Anonymous, &asked).await.unwrap();
        if let Some(row) = board.rows.into_iter().next() {
            break row;
        }
        assert!(Instant::now() < deadline, "no row");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(row.repair.unwrap().symptom.unwrap().mean, 0.0);
    let patch = view
        .live
        .attempts
        .iter()
        .find(|a| a.outcome == Some(Outcome::NoEdit))
        .unwrap();
    let kept = site
        .portal
        .attempt_file(&Actor::Anonymous, &patch.id, AttemptFile::Patch)
        .await;
    assert!(kept.is_ok(), "the empty patch is kept as it was sent");
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_returns_a_submission_with_comments_and_takes_it_up_again() {
    let site = Site::start().await;
    let view = site.scored(&adds("a.txt"), &adds("b.txt")).await;
    let (portal, id) = (&site.portal, &view.id);
    // Only what is in review is returned, by a maintainer, and never without a word.
    assert!(matches!(
        portal.return_with_comments(&site.admin, id, "x").await,
        Err(PortalError::Conflict(_))
    ));
    portal.start_review(&site.admin, id, "").await.unwrap();
    assert!(matches!(
        portal.return_with_comments(&site.owner, id, "x").await,
        Err(PortalError::Forbidden)
    ));
    assert!(matches!(
        portal.return_with_comments(&site.admin, id, " ").await,
        Err(PortalError::Invalid(_))
    ));
    portal
        .return_with_comments(&site.admin, id, "Which version of the agent was it?")
        .await
        .unwrap();
    portal
        .comment(&site.owner, id, "2.1, as the metadata says.")
        .await
        .unwrap();
    let session = portal
        .sign_up("Eve", "eve@example.org", "a long password")
        .await
        .unwrap();
    let eve = portal.actor_by_session(&session.0).await.unwrap();
    assert!(matches!(
        portal.comment(&eve, id, "me too").await,
        Err(PortalError::NotFound)
    ));
    let seen = site.view(id).await;
    assert_eq!(seen.state, SubmissionState::Scored);
    let notes: Vec<&str> = seen.events.iter().map(|e| e.note.as_str()).collect();
    assert!(notes.contains(&"returned with comments: Which version of the agent was it?"));
    assert!(notes.contains(&"2.1, as the metadata says."));
    // Returning it is no second scoring.
    assert_eq!(portal.quota(&site.owner).await.unwrap().used, 1);
    portal.start_review(&site.admin, id, "").await.unwrap();
    portal.publish(&site.admin, id, "").await.unwrap();
    assert_eq!(site.view(id).await.state, SubmissionState::Published);
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_board_is_rebuilt_from_its_raw_attempts_to_the_last_digit() {
    let site = Site::start().await;
    let patches = (adds("a.txt"), adds("b.txt"));
    let view = site.scored(&patches.0, &patches.1).await;
    let portal = &site.portal;
    portal.publish(&site.admin, &view.id, "").await.unwrap();
    let asked = teaching_board(Some(ReleaseId::parse("2026.1").unwrap()));
    let deadline = Instant::now() + Duration::from_secs(60);
    let cards = loop {
        let gallery = portal.gallery(&Actor::Anonymous, &asked).await.unwrap();
        let statistics = portal.board(&Actor::Anonymous, &asked).await.unwrap();
        let waits = portal.work_waits().await.unwrap() || statistics.rows.is_empty();
        if !waits && gallery.figures.iter().any(|f| f.computed.is_some()) {
            break gallery.figures;
        }
        assert!(Instant::now() < deadline, "no figures");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };

    // The same attempts in a folder, without the site.
    let folder = tempfile::tempdir().unwrap();
    let name = "2026-11-30_walkthrough-a__hand-written-steps.tar.zst";
    std::fs::create_dir(folder.path().join("raw")).unwrap();
    let archive = bundle(&patches.0, &patches.1);
    std::fs::write(folder.path().join("raw").join(name), archive).unwrap();
    let settings = Settings {
        data_dir: folder.path().join("data"),
        cases_dir: root().join("cases"),
        solutions_dir: root().join("cases-solution"),
        min_free_bytes: 0,
        ..Settings::default()
    };
    let rebuild = async |use_stored_scores: bool, from: &str, out: &str| {
        let options = reproduce::Options {
            runtime: Some(Arc::new(site.runtime.clone())),
            use_stored_scores,
            out: Some(folder.path().join(out)),
            reference: (out == "again").then(|| folder.path().join("out")),
        };
        reproduce::reproduce(
            &folder.path().join(from),
            &settings,
            Arc::new(SystemClock),
            &options,
            Arc::new(|_: &str| {}),
        )
        .await
        .unwrap()
    };
    let verified = site.verified();
    assert!(!rebuild(false, "raw", "out").await.is_empty());
    assert!(site.verified() > verified, "the patches were judged");

    // Ids are those of the site; every number is equal as text.
    let plain = |text: &[u8]| -> Vec<String> {
        let text = std::str::from_utf8(text).unwrap();
        let id = |field: &str| {
            let rest = field.rsplit('/').next().unwrap();
            rest.len() == 17 && rest.starts_with(['a', 's', 'r'])
        };
        let fields = text.lines().flat_map(|line| line.split(','));
        fields.filter(|f| !id(f)).map(str::to_owned).collect()
    };
    let mut compared = 0;
    for card in cards.iter().filter(|c| c.computed.is_some()) {
        let file = portal
            .figure_file(&Actor::Anonymous, &card.id, "csv", &asked, None)
            .await
            .unwrap();
        let at = format!("out/repair-2026.1-teaching/figures/{}.csv", card.id);
        let here = std::fs::read(folder.path().join(at)).unwrap();
        assert_eq!(plain(&file.bytes), plain(&here), "{}", card.id);
        compared += 1;
    }
    assert!(compared > 8, "only {compared} figures");
    // What only traces tell is among it.
    let behaviour = folder
        .path()
        .join("out/repair-2026.1-teaching/figures/behaviour.csv");
    let behaviour = std::fs::read_to_string(behaviour).unwrap();
    let reads = behaviour
        .lines()
        .find(|l| l.contains("reads and searches"))
        .unwrap();
    assert!(!reads.ends_with(",,,0") && reads.contains('1'), "{reads}");

    // Stored scores make the very same files, and nothing is judged again.
    let verified = site.verified();
    let lines = rebuild(true, "out/scores", "again").await;
    assert!(
        lines.len() > 20 && lines.iter().all(|l| l.result == "equal"),
        "{lines:?}"
    );
    assert_eq!(site.verified(), verified);
    site.end().await;
}
