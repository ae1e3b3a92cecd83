//! Refuses requests that change something and were not sent by a page of this
//! site. Browsers tell where a request came from; what a browser can't be made
//! to send from elsewhere (a bearer token) needs no such proof.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::actor::bearer;
use super::fault::Fault;
use super::state::Site;

/// The middleware.
pub(super) async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    let safe = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if safe || bearer(&request).is_some() || ours(&site.base_url, request.headers()) {
        return next.run(request).await;
    }
    tracing::warn!("refused a request that no page of this site sent");
    Fault::new(
        StatusCode::FORBIDDEN,
        "This request did not come from a page of this site, so nothing was changed. \
         Open the page here and send the form again. A program uses a token instead.",
    )
    .into_response()
}

/// Whether the browser says that a page of this site sent the request.
fn ours(base_url: &str, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
    if let Some(fetch_site) = text("sec-fetch-site") {
        return matches!(fetch_site, "same-origin" | "none");
    }
    let Some(origin) = text(header::ORIGIN.as_str()) else {
        return false;
    };
    let host = text(header::HOST.as_str()).unwrap_or_default();
    let here = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"))
        .is_some_and(|o| !host.is_empty() && o.eq_ignore_ascii_case(host));
    here || origin.eq_ignore_ascii_case(base_url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn judged(pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        ours("https://fb.example", &headers)
    }

    #[test]
    fn only_pages_of_this_site_pass() {
        assert!(judged(&[("sec-fetch-site", "same-origin")]));
        assert!(judged(&[
            ("origin", "https://fb.example"),
            ("host", "10.0.0.1:3000")
        ]));
        assert!(judged(&[
            ("origin", "http://127.0.0.1:3000"),
            ("host", "127.0.0.1:3000")
        ]));
        for bad in [
            &[][..],
            &[("host", "fb.example")],
            &[("origin", "null"), ("host", "fb.example")],
            &[("origin", "https://evil.example"), ("host", "fb.example")],
            &[
                ("origin", "https://fb.example.evil.example"),
                ("host", "fb.example"),
            ],
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://fb.example"),
            ],
            &[
                ("sec-fetch-site", "same-site"),
                ("origin", "https://fb.example"),
            ],
        ] {
            assert!(!judged(bad), "{bad:?}");
        }
    }
}
