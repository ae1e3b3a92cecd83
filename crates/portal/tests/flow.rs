//! A bundle's whole way through the use cases, on a real database, real blobs
//! and the container runtime that this machine has.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use faultboard_bundle::package::{Compression, package};
use faultboard_domain::clock::SystemClock;
use faultboard_domain::view::{BoardQuery, TraceQuery};
use faultboard_domain::{Actor, Outcome, SubmissionId, SubmissionState, SubsetId, Track};
use faultboard_portal::{AttemptFile, Portal, PortalError, Settings};
use futures::{StreamExt, stream};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A site in a temporary folder, with its workers running.
struct Site {
    portal: Arc<Portal>,
    stop: tokio::sync::watch::Sender<bool>,
    workers: tokio::task::JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Site {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bundle = Path::new("/etc/ssl/certs/ca-certificates.crt");
        let settings = Settings {
            data_dir: folder.path().join("data"),
            cases_dir: root().join("cases"),
            solutions_dir: root().join("cases-solution"),
            ca_bundle: bundle.exists().then(|| bundle.to_owned()),
            min_free_bytes: 0,
            ..Settings::default()
        };
        let portal = Portal::open(settings, Arc::new(SystemClock)).await.unwrap();
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let workers = tokio::spawn(Arc::clone(&portal).run_workers(stopped));
        Self {
            portal,
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

    async fn admin(&self) -> Actor {
        let token = self.portal.first_admin_token().await.unwrap().unwrap();
        let session = self
            .portal
            .create_first_admin(&token, "Ada", "ada@example.org", "a long password")
            .await
            .unwrap();
        assert!(self.portal.first_admin_token().await.unwrap().is_none());
        assert!(
            self.portal
                .create_first_admin(&token, "Eve", "eve@example.org", "a long password")
                .await
                .is_err(),
            "the link works once"
        );
        self.portal.actor_by_session(&session.0).await.unwrap()
    }

    async fn submitter(&self, email: &str) -> Actor {
        let session = self
            .portal
            .sign_up("Sub Mitter", email, "a long password")
            .await
            .unwrap();
        self.portal.actor_by_session(&session.0).await.unwrap()
    }

    async fn upload(&self, actor: &Actor, bytes: Vec<u8>) -> SubmissionId {
        let id = self
            .portal
            .create_upload(actor, bytes.len() as u64, "bundle.tar.zst", None)
            .await
            .unwrap();
        // Two parts, with a connection that breaks between them.
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        let broken = stream::iter([Ok(Bytes::copy_from_slice(first)), Err("connection reset")]);
        assert!(matches!(
            self.portal.append_upload(actor, &id, 0, broken).await,
            Err(PortalError::Invalid(_))
        ));
        let status = self.portal.upload_status(actor, &id).await.unwrap();
        assert_eq!(status.offset, first.len() as u64, "what arrived is kept");
        let twice = stream::iter([Ok::<_, String>(Bytes::copy_from_slice(first))]);
        assert!(matches!(
            self.portal.append_upload(actor, &id, 0, twice).await,
            Err(PortalError::Conflict(_))
        ));
        let end = stream::iter([Ok::<_, String>(Bytes::copy_from_slice(rest))]);
        self.portal
            .append_upload(actor, &id, status.offset, end)
            .await
            .unwrap()
            .submission
            .unwrap()
    }

    async fn settle(&self, actor: &Actor, id: &SubmissionId) -> SubmissionState {
        let deadline = Instant::now() + Duration::from_secs(300);
        loop {
            let view = self.portal.submission(actor, id).await.unwrap();
            if view.state.is_settled() {
                return view.state;
            }
            assert!(
                Instant::now() < deadline,
                "stuck in {}: {:?}",
                view.state,
                view.events
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// The teaching sample, packed; `edit` may change the copy first.
fn sample(edit: impl FnOnce(&Path)) -> Vec<u8> {
    let source = root().join("samples/teaching/2026-11-30_walkthrough-a__hand-written-steps");
    let temp = tempfile::tempdir().unwrap();
    let copy = temp.path().join(source.file_name().unwrap());
    copy_folder(&source, &copy);
    edit(&copy);
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

fn teaching_board() -> BoardQuery {
    BoardQuery {
        track: Track::Repair,
        release: None,
        subset: Some(SubsetId::parse("teaching").unwrap()),
        slice: None,
        sort: None,
        reverse: false,
        agent: None,
        model: None,
        open_weights: false,
    }
}

async fn board_rows(site: &Site, least: usize) -> Vec<faultboard_domain::view::BoardRow> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let rows = site
            .portal
            .board(&Actor::Anonymous, &teaching_board())
            .await
            .unwrap()
            .rows;
        if rows.len() >= least || Instant::now() > deadline {
            return rows;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_upload_to_row_and_re_evaluation() {
    let site = Site::start().await;
    let (admin, owner) = (site.admin().await, site.submitter("sub@example.org").await);
    let id = site.upload(&owner, sample(|_| {})).await;
    let state = site.settle(&owner, &id).await;
    let view = site.portal.submission(&owner, &id).await.unwrap();
    assert_eq!(
        state,
        SubmissionState::Scored,
        "{:?} {:?}",
        view.report,
        view.findings
    );
    assert!(
        view.live
            .attempts
            .iter()
            .all(|a| a.outcome.is_some() && !a.reason.is_empty()),
        "{:?}",
        view.live.attempts
    );
    let states: Vec<_> = view.events.iter().filter_map(|e| e.state).collect();
    use SubmissionState as S;
    assert_eq!(
        states,
        [
            S::Received,
            S::Validating,
            S::Scanning,
            S::Queued,
            S::Scoring,
            S::Scored
        ]
    );

    // Private until published; only maintainers publish.
    for stranger in [Actor::Anonymous, site.submitter("else@example.org").await] {
        assert!(matches!(
            site.portal.submission(&stranger, &id).await,
            Err(PortalError::NotFound)
        ));
        assert!(matches!(
            site.portal.traces(&stranger, &id).await,
            Err(PortalError::NotFound)
        ));
        assert!(site.portal.publish(&stranger, &id, "").await.is_err());
    }
    assert!(matches!(
        site.portal.publish(&owner, &id, "").await,
        Err(PortalError::Forbidden)
    ));
    assert!(board_rows(&site, 0).await.is_empty());
    site.portal
        .publish(&admin, &id, "looks right")
        .await
        .unwrap();

    let rows = board_rows(&site, 1).await;
    assert_eq!(rows.len(), 1);
    let passed = |c| {
        view.live
            .attempts
            .iter()
            .any(|a| a.condition == Some(c) && a.outcome == Some(Outcome::Pass))
    };
    let cells = rows[0].repair.as_ref().unwrap();
    let rate = |c| if passed(c) { 1.0 } else { 0.0 };
    assert_eq!(
        cells.symptom.unwrap().mean,
        rate(faultboard_domain::Condition::SymptomOnly)
    );
    assert_eq!(
        cells.context.unwrap().mean,
        rate(faultboard_domain::Condition::ContextAugmented)
    );

    // Anybody reads a trace and takes it away, byte for byte.
    let attempt = &view.live.attempts[0];
    let page = site
        .portal
        .attempt(
            &Actor::Anonymous,
            &attempt.id,
            &TraceQuery {
                step: Some(1),
                q: None,
            },
        )
        .await
        .unwrap();
    assert!(page.total_steps > 2 && page.selected.unwrap().index == 1);
    assert!(page.findings.is_empty() && !page.diff.is_empty());
    let file = site
        .portal
        .attempt_file(&Actor::Anonymous, &attempt.id, AttemptFile::Trace)
        .await
        .unwrap();
    let bytes: Vec<Bytes> = site
        .portal
        .blob_stream(&file, None)
        .await
        .unwrap()
        .map(Result::unwrap)
        .collect()
        .await;
    assert_eq!(bytes.concat().len() as u64, file.size);
    assert_eq!(faultboard_domain::Digest::of(&bytes.concat()), file.digest);
    let public = site
        .portal
        .submission(&Actor::Anonymous, &id)
        .await
        .unwrap();
    assert!(
        public.metadata.unwrap().submitter.contact.is_empty(),
        "the contact is never public"
    );
    assert!(public.report.is_none());

    // Re-evaluation adds a revision beside the live one; apply makes it live.
    assert!(matches!(
        site.portal.reevaluate(&owner, &id, "x", true).await,
        Err(PortalError::Forbidden)
    ));
    let revision = site
        .portal
        .reevaluate(&admin, &id, "oracle checked again", true)
        .await
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    while !site
        .portal
        .submission(&admin, &id)
        .await
        .unwrap()
        .revisions
        .iter()
        .any(|r| r.id == revision && r.state == "ready")
    {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let ready = site.portal.submission(&admin, &id).await.unwrap().revisions;
    assert!(
        ready[0].changes.is_empty(),
        "the same verdicts: {:?}",
        ready[0].changes
    );
    assert_eq!(ready[0].unchanged as usize, view.live.attempts.len());
    site.portal.apply_revision(&admin, &revision).await.unwrap();
    let after = site.portal.submission(&admin, &id).await.unwrap().revisions;
    assert_eq!(
        after.iter().map(|r| r.state.as_str()).collect::<Vec<_>>(),
        ["live", "replaced"]
    );
    site.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_that_names_the_issue_waits_for_a_reviewer_and_loses_nothing() {
    let site = Site::start().await;
    let (admin, owner) = (site.admin().await, site.submitter("sub@example.org").await);
    let bytes = sample(|folder| {
        // The teaching case has no issue; looking the benchmark up is a leak all the same.
        let trace = folder.join("relay-1/symptom-only/run-01/trajectory.traj.json");
        let text = std::fs::read_to_string(&trace).unwrap();
        let command = "\"command\": \"";
        assert!(text.contains(command), "the sample's trace has commands");
        std::fs::write(
            &trace,
            text.replacen(
                command,
                "\"command\": \"curl https://github.com/search?q=relay ; git log --all ; ",
                1,
            ),
        )
        .unwrap();
    });
    let id = site.upload(&owner, bytes).await;
    assert_eq!(site.settle(&owner, &id).await, SubmissionState::Flagged);
    let view = site.portal.submission(&owner, &id).await.unwrap();
    assert!(view.findings.len() >= 2, "{:?}", view.findings);
    assert!(
        view.findings
            .iter()
            .all(|f| !f.finding.why.is_empty() && !f.finding.excerpt.is_empty())
    );
    assert!(
        site.portal.resume_flagged(&admin, &id).await.is_err(),
        "undecided hits hold it"
    );
    for f in &view.findings {
        assert!(
            site.portal
                .decide_finding(&owner, f.id, false, "mine")
                .await
                .is_err()
        );
        site.portal
            .decide_finding(&admin, f.id, true, "it looked the case up")
            .await
            .unwrap();
    }
    site.portal.resume_flagged(&admin, &id).await.unwrap();
    assert_eq!(site.settle(&owner, &id).await, SubmissionState::Scored);
    let scored = site.portal.submission(&owner, &id).await.unwrap();
    let aside: Vec<_> = scored
        .live
        .attempts
        .iter()
        .filter(|a| a.status == faultboard_domain::view::AttemptStatus::Quarantined)
        .collect();
    assert_eq!(aside.len(), 1, "one attempt is set aside, the other counts");
    assert!(aside[0].outcome.is_none());
    site.end().await;
}
