//! What surrounds every request: an id, a log line, a time limit, a net for
//! panics, the form of errors, and the security headers.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use faultboard_app::RequestId;
use faultboard_domain::random_id_text;
use futures::FutureExt as _;
use tracing::Instrument as _;

use super::fault::{Fault, Form, render};
use super::listen::Peer;
use super::state::Site;

/// The header that tells the request id.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The address that a request is counted under; a whole IPv6 /64 counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) address: IpAddr,
}

impl Client {
    /// The address as a key for counting.
    pub(super) fn key(&self) -> String {
        match self.address {
            IpAddr::V4(a) => a.to_string(),
            IpAddr::V6(a) => match a.to_ipv4_mapped() {
                Some(v4) => v4.to_string(),
                None => format!("{:x?}", &a.segments()[..4]),
            },
        }
    }
}

/// Policy for answers that aren't pages of the site: nothing runs, nothing loads.
const BARE_POLICY: &str = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The middleware.
pub(super) async fn wrap(State(site): State<Site>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&site, request.headers());
    let client = client(&site, &request);
    request.extensions_mut().insert(RequestId(id.clone()));
    request.extensions_mut().insert(client);
    let method = request.method().clone();
    // The query is never logged: it may hold the secret of a one-time link.
    let path = request.uri().path().to_owned();
    let form = Form::of(&path, request.headers());
    let span = tracing::info_span!("request", id = %id, %method, path = %shown(&path));

    let work = AssertUnwindSafe(next.run(request)).catch_unwind();
    let limit = site.config.request_timeout();
    let ended = async {
        if streams_in(&method, &path) {
            // How long an upload takes depends on its size; its handler gives
            // up when no bytes arrive.
            Some(work.await)
        } else {
            tokio::time::timeout(limit, work).await.ok()
        }
    }
    .instrument(span.clone())
    .await;

    let _entered = span.entered();
    let response = match ended {
        Some(Ok(response)) => response,
        Some(Err(panic)) => {
            Fault::internal(format!("panic: {}", panic_text(&*panic))).into_response()
        }
        None => Fault::busy(
            "This took too long and was given up. Try again in a moment.",
            10,
        )
        .into_response(),
    };
    let mut response = give_form(response, form, &id);
    set_headers(&site, response.headers_mut(), &id);
    let status = response.status();
    let took = began.elapsed();
    site.meter.count(status, took);
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if status.is_server_error() {
        tracing::error!(status = status.as_u16(), ms, "answered");
    } else if is_routine(&path) {
        tracing::debug!(status = status.as_u16(), ms, "answered");
    } else {
        tracing::info!(status = status.as_u16(), ms, "answered");
    }
    response
}

/// Whether the request brings a body whose length is bounded by the upload
/// limit rather than by a time.
fn streams_in(method: &Method, path: &str) -> bool {
    (method == Method::POST || method == Method::PATCH)
        && (path == "/submit" || path == "/files" || path.starts_with("/files/"))
}

/// Whether a request is asked for so often that its log line would only hide others.
fn is_routine(path: &str) -> bool {
    ["/static/", "/pkg/", "/healthz", "/readyz", "/metrics"]
        .iter()
        .any(|p| path.starts_with(p))
}

/// A path as it is logged: bounded, and without control characters.
fn shown(path: &str) -> String {
    path.chars()
        .take(200)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a text")
}

/// A new id, or the one that the proxy before us gave.
fn request_id(site: &Site, headers: &HeaderMap) -> String {
    let given = headers
        .get(REQUEST_ID)
        .filter(|_| site.config.behind_proxy)
        .and_then(|v| v.to_str().ok())
        .filter(|v| (8..=64).contains(&v.len()))
        .filter(|v| v.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
    match given {
        Some(id) => id.to_owned(),
        None => random_id_text('q', &rand::random::<[u8; 12]>()),
    }
}

/// Where the request came from. Behind a proxy that is the last address of
/// `X-Forwarded-For`, the one that the proxy itself wrote.
fn client(site: &Site, request: &Request) -> Client {
    let forwarded = request
        .headers()
        .get_all("x-forwarded-for")
        .iter()
        .next_back()
        .filter(|_| site.config.behind_proxy)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.rsplit(',').next())
        .and_then(|a| a.trim().parse().ok());
    let peer = request.extensions().get::<Peer>().map(|p| p.0.ip());
    Client {
        address: forwarded
            .or(peer)
            .unwrap_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED)),
    }
}

/// Gives errors their form, those of the router and its extractors too.
fn give_form(response: Response, form: Form, id: &str) -> Response {
    let status = response.status();
    if let Some(fault) = response.extensions().get::<Fault>().cloned() {
        return render(&fault, form, id, response);
    }
    let bare = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_none_or(|v| v.as_bytes().starts_with(b"text/plain"));
    if bare && (status.is_client_error() || status.is_server_error()) {
        let fault = Fault::new(
            status,
            "The request could not be understood, and nothing was changed.",
        );
        return render(&fault, form, id, response);
    }
    response
}

fn set_headers(site: &Site, headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    let fixed = [
        ("x-content-type-options", "nosniff"),
        // Not `no-referrer`: browsers would then send forms with `Origin: null`.
        ("referrer-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        (
            "permissions-policy",
            "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(BARE_POLICY));
    if site.config.secure_cookies {
        headers.insert(
            header::STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_ipv6_network_counts_as_one() {
        let key = |a: &str| {
            Client {
                address: a.parse().unwrap(),
            }
            .key()
        };
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:192.0.2.7"), key("192.0.2.7"));
    }

    #[test]
    fn only_uploads_have_no_time_limit() {
        assert!(streams_in(&Method::PATCH, "/files/p12345678"));
        assert!(streams_in(&Method::POST, "/submit"));
        assert!(!streams_in(&Method::GET, "/files/p12345678"));
        assert!(!streams_in(&Method::POST, "/sign-in"));
    }

    /// A site of its own, with routes that misbehave.
    async fn misbehaving() -> (tempfile::TempDir, axum::Router) {
        let dir = tempfile::tempdir().unwrap();
        let mut config = crate::config::Config::defaults();
        config.data_dir = dir.path().join("data");
        config.cases_dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../cases").into();
        config.solutions_dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../cases-solution").into();
        config.runtime = crate::config::Runtime::Bubblewrap;
        config.request_timeout = 1;
        let clock = std::sync::Arc::new(faultboard_domain::clock::SystemClock);
        let portal = faultboard_portal::Portal::open(config.portal(), clock.clone())
            .await
            .unwrap();
        let (_, stopping) = tokio::sync::watch::channel(false);
        let site = Site::new(portal, config, clock, stopping);
        fn fails() {
            std::panic::resume_unwind(Box::new("the secret is 42"))
        }
        let panics = || async { fails() };
        let sleeps = || tokio::time::sleep(std::time::Duration::from_secs(30));
        let router = axum::Router::new()
            .route("/panics", axum::routing::get(panics))
            .route("/sleeps", axum::routing::get(sleeps))
            .layer(axum::middleware::from_fn_with_state(site, wrap));
        (dir, router)
    }

    #[tokio::test]
    async fn a_panic_and_a_long_wait_end_in_opaque_answers() {
        use tower::ServiceExt as _;
        let (_dir, router) = misbehaving().await;
        for (path, status) in [("/panics", 500), ("/sleeps", 503)] {
            let request = Request::get(path).body(axum::body::Body::empty()).unwrap();
            let answer = router.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status().as_u16(), status);
            let id = answer.headers()[REQUEST_ID].to_str().unwrap().to_owned();
            assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
            let body = axum::body::to_bytes(answer.into_body(), 10_000)
                .await
                .unwrap();
            let text = String::from_utf8_lossy(&body);
            assert!(text.contains(&id), "{text}");
            assert!(!text.contains("42") && !text.contains("panic"), "{text}");
        }
    }
}
