//! What operators and their tools ask: is it alive, is it ready, how is it
//! doing. None of it tells anything about a submission.

use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use sha2::Digest as _;

use super::envelope::Client;
use super::fault::Fault;
use super::state::Site;

/// The database and the blob store must answer within this.
const PATIENCE: Duration = Duration::from_secs(3);

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
}

const NO_STORE: (header::HeaderName, &str) = (header::CACHE_CONTROL, "no-store");

async fn alive() -> impl IntoResponse {
    ([NO_STORE], "ok\n")
}

async fn ready(State(site): State<Site>) -> Result<Response, Fault> {
    if *site.stopping.borrow() {
        return Err(Fault::busy("The server is about to end.", 30));
    }
    match tokio::time::timeout(PATIENCE, site.portal.ready()).await {
        Ok(Ok(())) => Ok(([NO_STORE], "ready\n").into_response()),
        Ok(Err(e)) => {
            tracing::error!(error = %e, "not ready");
            Err(Fault::busy(
                "The database or the store of files does not answer.",
                10,
            ))
        }
        Err(_) => Err(Fault::busy(
            "The database or the store of files is slow to answer.",
            10,
        )),
    }
}

async fn metrics(
    State(site): State<Site>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let allowed = match &site.config.metrics_token {
        Some(secret) => headers
            .get(header::AUTHORIZATION)
            .and_then(|v| v.to_str().ok())
            .and_then(|v| v.strip_prefix("Bearer "))
            // Digests are compared, so the time tells nothing about the secret.
            .is_some_and(|t| sha2::Sha256::digest(t) == sha2::Sha256::digest(secret)),
        None => client.address.to_canonical().is_loopback(),
    };
    if !allowed {
        return Err(Fault::new(
            StatusCode::FORBIDDEN,
            "Metrics are for this machine itself, or for those who bring the token of the setting `metrics-token`.",
        ));
    }
    let text = site.portal.metrics().await? + &site.meter.text();
    let kind = (
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    );
    Ok(([NO_STORE, kind], text).into_response())
}
