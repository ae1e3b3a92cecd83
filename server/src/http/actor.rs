//! Who asks: the session's cookie, or a bearer token. Whether they may do what
//! they ask for is decided by the use cases.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use faultboard_domain::Actor;

use super::cookies;
use super::fault::Fault;
use super::state::Site;

/// The one who asks, for handlers.
#[derive(Debug, Clone)]
pub(super) struct Asker(pub(super) Actor);

impl<S: Sync> FromRequestParts<S> for Asker {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        parts
            .extensions
            .get::<Asker>()
            .cloned()
            .ok_or_else(|| Fault::internal("a route outside of the identified ones asks who it is"))
    }
}

/// The token that a request brings, where tokens count: uploads, the API, and
/// reading anything. Forms are for browsers, so a token is no excuse there.
pub(super) fn bearer(request: &Request) -> Option<String> {
    let path = request.uri().path();
    let counts = path == "/files"
        || path.starts_with("/files/")
        || path.starts_with("/api/")
        || matches!(*request.method(), Method::GET | Method::HEAD);
    if !counts {
        return None;
    }
    let value = request
        .headers()
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim().to_owned())
        .filter(|t| !t.is_empty() && t.len() <= 512)
}

/// The middleware.
pub(super) async fn identify(
    State(site): State<Site>,
    mut request: Request,
    next: Next,
) -> Response {
    let actor = if let Some(token) = bearer(&request) {
        site.portal.actor_by_token(&token).await
    } else if let Some(secret) = cookies::session(&site, request.headers()) {
        site.portal.actor_by_session(&secret).await
    } else {
        Ok(Actor::Anonymous)
    };
    match actor {
        Ok(actor) => {
            request.extensions_mut().insert(Asker(actor));
            next.run(request).await
        }
        Err(e) => Fault::from(e).into_response(),
    }
}
