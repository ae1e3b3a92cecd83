//! Forms that work without scripts. Each handler reads the fields, calls one use
//! case, and sends the browser on with 303: to the page that shows what became
//! of it, or back to the form with the reason.

mod account;
mod deeds;
mod submit;
mod teams;

use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, FromRequest, Request};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use faultboard_app::{Refused, query};
use faultboard_portal::PortalError;
use serde::de::DeserializeOwned;

use super::fault::Fault;
use super::kept;
use super::state::Site;

/// The most bytes of a form without a file.
const MOST_BYTES: usize = 64 << 10;
/// The longest reason that is carried back.
const LONGEST_ERROR: usize = 300;

/// The routes.
pub(super) fn routes(site: &Site) -> Router<Site> {
    account::routes()
        .merge(deeds::routes())
        .merge(teams::routes())
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .merge(submit::routes())
        .layer(from_fn_with_state(site.clone(), kept::carry))
}

/// The fields of a form.
struct Typed<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Typed<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, state: &S) -> Result<Self, Fault> {
        match Form::<T>::from_request(request, state).await {
            Ok(Form(fields)) => Ok(Self(fields)),
            Err(FormRejection::BytesRejection(e))
                if e.status() == StatusCode::PAYLOAD_TOO_LARGE =>
            {
                Err(Fault::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "A form may hold 64 KiB. Shorten the text and send it again.",
                ))
            }
            Err(e) => Err(Fault::new(
                e.status(),
                "The form's fields could not be read. Open the page again and send it from there.",
            )),
        }
    }
}

/// Sends the browser on. The path must be one of this site.
fn go(path: &str) -> Response {
    let target = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    (
        StatusCode::SEE_OTHER,
        [
            (header::LOCATION, target),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ],
    )
        .into_response()
}

/// A path with more pairs in its query; blank ones are left out.
fn with<'a>(path: &str, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let more = query::string(pairs);
    match (path.split_once('?'), more.is_empty()) {
        (_, true) => path.to_owned(),
        (None, _) => format!("{path}?{more}"),
        (Some((path, "")), _) => format!("{path}?{more}"),
        (Some(_), _) => format!("{path}&{more}"),
    }
}

/// Sends the browser on with a notice.
fn done(path: &str, notice: &str) -> Response {
    go(&with(path, [("notice", notice)]))
}

/// What a refusal becomes: the way back to the form with the reason where the
/// reader can mend it, an error page where they can't.
fn refused(e: PortalError, form: &str, kept: &[(&str, &str)]) -> Response {
    match &e {
        PortalError::SignInNeeded => {
            let next = form.split('?').next().unwrap_or_default();
            go(&with("/sign-in", [("next", next)]))
        }
        PortalError::NotFound | PortalError::Forbidden | PortalError::Internal(_) => {
            Fault::from(e).into_response()
        }
        PortalError::Invalid(_)
        | PortalError::Rejected(_)
        | PortalError::Conflict(_)
        | PortalError::TooMany { .. }
        | PortalError::TooLarge(_)
        | PortalError::Damaged(_) => {
            let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
            let mut response = go(form);
            response.extensions_mut().insert(Refused {
                page: form.split('?').next().unwrap_or_default().to_owned(),
                form: String::new(),
                error: e.public_message().chars().take(LONGEST_ERROR).collect(),
                fields: kept.iter().map(own).collect(),
            });
            response
        }
    }
}

/// The page that sent a form, if it is one of this site: its path and its query
/// without old messages. Else the fallback.
fn sender(headers: &HeaderMap, fallback: &str) -> String {
    let host = headers
        .get(header::HOST)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let local = headers
        .get(header::REFERER)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.split_once("://"))
        .and_then(|(_, rest)| rest.strip_prefix(host))
        .filter(|_| !host.is_empty())
        .and_then(query::local_path);
    let Some(local) = local else {
        return fallback.to_owned();
    };
    let local = local.split('#').next().unwrap_or_default();
    let (path, old) = local.split_once('?').unwrap_or((local, ""));
    let pairs = query::pairs(old);
    let kept = pairs
        .iter()
        .filter(|(k, _)| k != "notice" && k != "error")
        .map(|(k, v)| (k.as_str(), v.as_str()));
    with(path, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_added_to_any_path() {
        assert_eq!(with("/me", [("notice", "saved")]), "/me?notice=saved");
        assert_eq!(
            with("/a?x=1", [("error", "a b&c")]),
            "/a?x=1&error=a%20b%26c"
        );
        assert_eq!(with("/a", [("error", "")]), "/a");
    }

    #[test]
    fn only_pages_of_this_site_are_gone_back_to() {
        let from = |referer: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("fb.example"));
            headers.insert(header::REFERER, HeaderValue::from_str(referer).unwrap());
            sender(&headers, "/admin")
        };
        assert_eq!(
            from("https://fb.example/admin/review/s1?a=b%20c&error=old#x"),
            "/admin/review/s1?a=b%20c"
        );
        for bad in [
            "https://evil.example/x",
            "https://fb.example.evil.example/x",
            "https://fb.example//evil",
            "x",
        ] {
            assert_eq!(from(bad), "/admin", "{bad}");
        }
    }
}
