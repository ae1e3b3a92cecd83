//! A site for one test, and requests to it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use bytes::Bytes;
use faultboard_domain::clock::{ManualClock, SystemClock};
use faultboard_domain::{Actor, Clock as _, SubmissionId, SubmissionState, TeamId, TokenScope};
use faultboard_portal::{Portal, offline};
use faultboard_server::config::{Config, Runtime};
use faultboard_server::http::{Site, router};
use http_body_util::BodyExt as _;
use tokio::sync::watch;
use tower::ServiceExt as _;

/// The address that the site believes it has.
pub(crate) const BASE: &str = "http://site.test";
/// A password that is long enough.
pub(crate) const PASSWORD: &str = "five words make a password";

/// The repository's folder.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A running site.
pub(crate) struct App {
    pub(crate) router: Router,
    pub(crate) portal: Arc<Portal>,
    pub(crate) clock: Arc<ManualClock>,

    pub(crate) dir: tempfile::TempDir,
    pub(crate) stop: watch::Sender<bool>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// What a refused form leaves for the next page, as JSON; empty if it wasn't refused.
    pub(crate) fn refused(&self) -> String {
        use base64::Engine as _;
        let cookies = self.headers.get_all("set-cookie");
        let value = cookies
            .iter()
            .filter_map(|v| v.to_str().ok()?.strip_prefix("fb_refused="))
            .find_map(|v| v.split(';').next());
        value.map_or_else(String::new, |v| {
            let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD
                .decode(v)
                .unwrap();
            String::from_utf8(bytes).unwrap()
        })
    }

    /// The session's cookie, as a browser would send it back.
    pub(crate) fn cookie(&self) -> String {
        let set = self.header("set-cookie");
        set.split(';').next().unwrap().to_owned()
    }
}

impl App {
    /// A site with changed settings.
    pub(crate) async fn with(change: impl FnOnce(&mut Config)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::defaults();
        config.base_url = Some(BASE.to_owned());
        config.data_dir = dir.path().join("data");
        config.cases_dir = root().join("cases");
        config.solutions_dir = root().join("cases-solution");
        config.static_dir = root().join("static");
        config.site_root = dir.path().join("site");
        config.runtime = Runtime::Bubblewrap;
        config.sign_in_rate = 1_000;
        config.min_free = 0;
        config.page_cache = 0;
        change(&mut config);
        let clock = Arc::new(ManualClock::at(SystemClock.now()));
        let portal = Portal::open(config.portal(), clock.clone()).await.unwrap();
        let (stop, stopping) = watch::channel(false);
        let site = Site::new(portal.clone(), config, clock.clone(), stopping);
        Self {
            router: router(site),
            portal,
            clock,

            dir,
            stop,
        }
    }

    /// A site as tests want it.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Sends a request; the body of the answer is read to its end.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.expect("the body is whole").to_bytes(),
        }
    }

    /// GET with headers, as a browser.
    pub(crate) async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::get(path).header(header::ACCEPT, "text/html,*/*");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_with(path, &[]).await
    }

    /// GET by somebody signed in.
    pub(crate) async fn get_as(&self, cookie: &str, path: &str) -> Answer {
        self.get_with(path, &[("cookie", cookie)]).await
    }

    /// A form sent from a page of this site.
    pub(crate) async fn form(&self, path: &str, cookie: &str, body: &str) -> Answer {
        self.send(
            Request::post(path)
                .header(header::ORIGIN, BASE)
                .header(header::HOST, "site.test")
                .header(header::COOKIE, cookie)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(Body::from(body.to_owned()))
                .unwrap(),
        )
        .await
    }

    /// A new account: its cookie.
    pub(crate) async fn sign_up(&self, name: &str) -> String {
        let body = format!(
            "name={name}&email={name}%40example.org&password={}",
            PASSWORD.replace(' ', "+")
        );
        let answer = self.form("/sign-up", "", &body).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
        answer.cookie()
    }

    /// The first administrator: their cookie.
    pub(crate) async fn admin(&self) -> String {
        let token = self.portal.first_admin_token().await.unwrap().unwrap();
        let body = format!(
            "token={token}&name=Ada&email=ada%40example.org&password={}",
            PASSWORD.replace(' ', "+")
        );
        let answer = self.form("/first-admin", "", &body).await;
        assert_eq!(answer.header("location"), "/admin?notice=admin-created");
        answer.cookie()
    }

    /// A bearer token of a new account.
    pub(crate) async fn token(&self, name: &str) -> String {
        let session = self
            .portal
            .sign_up(name, &format!("{name}@example.org"), PASSWORD)
            .await
            .unwrap();
        let actor = self.portal.actor_by_session(&session.0).await.unwrap();
        self.portal
            .create_token(&actor, "test", 1, TokenScope::ALL)
            .await
            .unwrap()
    }

    /// Who a session's cookie stands for.
    pub(crate) async fn actor(&self, cookie: &str) -> Actor {
        let secret = cookie.split_once('=').unwrap().1;
        self.portal.actor_by_session(secret).await.unwrap()
    }

    /// Hands in a bundle, for oneself or for a team.
    pub(crate) async fn hand_in_for(
        &self,
        actor: &Actor,
        team: Option<&TeamId>,
        bytes: &[u8],
    ) -> SubmissionId {
        let length = bytes.len() as u64;
        let upload = self
            .portal
            .create_upload_for(actor, team, length, "bundle.tar.gz", None)
            .await
            .unwrap();
        let body = futures::stream::iter([Ok::<_, String>(Bytes::copy_from_slice(bytes))]);
        let status = self
            .portal
            .append_upload(actor, &upload, 0, body)
            .await
            .unwrap();
        status.submission.unwrap()
    }

    /// A tus request.
    pub(crate) async fn tus(
        &self,
        method: Method,
        path: &str,
        token: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("tus-resumable", "1.0.0")
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    /// Begins an upload and sends bytes in one piece; the last answer.
    pub(crate) async fn upload(&self, token: &str, bytes: &[u8]) -> Answer {
        let length = bytes.len().to_string();
        let made = self
            .tus(
                Method::POST,
                "/files",
                token,
                &[("upload-length", &length)],
                Body::empty(),
            )
            .await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
        let at = made.header("location").to_owned();
        self.tus(
            Method::PATCH,
            &at,
            token,
            &[
                ("upload-offset", "0"),
                ("content-type", "application/offset+octet-stream"),
            ],
            bytes.to_vec(),
        )
        .await
    }

    /// Works on jobs until a submission is in one of the states, or a minute is over.
    pub(crate) async fn work_until(&self, id: &SubmissionId, wanted: &[SubmissionState]) {
        let (stop, stopping) = watch::channel(false);
        let workers = tokio::spawn(self.portal.clone().run_workers(stopping));
        let reached = tokio::time::timeout(std::time::Duration::from_secs(60), async {
            loop {
                let live = self
                    .portal
                    .submission_live(&Actor::System, id)
                    .await
                    .unwrap();
                if wanted.contains(&live.state) {
                    break;
                }
                assert!(!live.state.is_settled(), "it ended as {}", live.state);
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                // Leases and due times follow the injected clock.
                self.clock.advance_ms(50);
            }
        })
        .await;
        stop.send(true).unwrap();
        workers.await.unwrap();
        reached.expect("the submission gets on");
    }

    /// Works through the queue until something holds, a minute at most.
    pub(crate) async fn work_till(&self, holds: impl AsyncFn() -> bool) {
        let (stop, stopping) = watch::channel(false);
        let workers = tokio::spawn(self.portal.clone().run_workers(stopping));
        let reached = tokio::time::timeout(std::time::Duration::from_secs(60), async {
            while !holds().await {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                self.clock.advance_ms(50);
            }
        })
        .await;
        stop.send(true).unwrap();
        workers.await.unwrap();
        reached.expect("the queue gets on");
    }

    /// Hands in the diagnosis sample and has it scored; its id and its owner's token.
    pub(crate) async fn scored(&self) -> (SubmissionId, String) {
        let token = self.token("owner").await;
        let answer = self.upload(&token, sample()).await;
        let id = SubmissionId::parse(answer.header("faultboard-submission")).unwrap();
        self.work_until(&id, &[SubmissionState::Scored]).await;
        (id, token)
    }

    /// The same, published.
    pub(crate) async fn published(&self) -> SubmissionId {
        let (id, _) = self.scored().await;
        self.portal
            .publish(&Actor::System, &id, "test")
            .await
            .unwrap();
        self.work_until(&id, &[SubmissionState::Published]).await;
        id
    }
}

/// A sample bundle of the diagnosis track, packed.
pub(crate) fn sample() -> &'static [u8] {
    static PACKED: OnceLock<Vec<u8>> = OnceLock::new();
    PACKED.get_or_init(|| {
        let mut config = Config::defaults();
        config.cases_dir = root().join("cases");
        config.solutions_dir = root().join("cases-solution");
        let folder = root().join("samples/diagnosis/2026-11-30_walkthrough-a__hand-written-steps");
        let dir = tempfile::tempdir().unwrap();
        let packed = dir.path().join("sample.tar.gz");
        let report = offline::package(&folder, &packed, &config.portal()).unwrap();
        assert!(report.is_ok(), "{report:?}");
        std::fs::read(packed).unwrap()
    })
}
