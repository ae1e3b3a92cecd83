//! Re-evaluations for programs: begin one, follow it, apply or discard it. Only
//! administrators may; the use cases see to that.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use faultboard_domain::{ReevaluationId, Scope};
use serde::Deserialize;

use super::actor::Asker;
use super::api::{Json, json};
use super::fault::Fault;
use super::state::Site;

/// The most bytes of a JSON body.
const MOST_BYTES: usize = 64 << 10;

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/api/v1/reevaluations", get(list).post(begin))
        .route("/api/v1/reevaluations/{id}", get(one))
        .route("/api/v1/reevaluations/{id}/{deed}", post(decide))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    scope: String,
    #[serde(default)]
    subject: String,
    reason: String,
    #[serde(default)]
    fresh: bool,
}

async fn list(State(site): State<Site>, Asker(actor): Asker) -> Result<Response, Fault> {
    json(&actor, &site.portal.reevaluations(&actor).await?.lines)
}

async fn begin(
    State(site): State<Site>,
    Asker(actor): Asker,
    Json(asked): Json<Asked>,
) -> Result<Response, Fault> {
    site.portal.require_admin(&actor)?;
    let scope =
        Scope::parse(&asked.scope, &asked.subject).map_err(|e| Fault::bad(format!("{e}.")))?;
    let id = site
        .portal
        .begin_reevaluation(&actor, &scope, &asked.reason, asked.fresh)
        .await?;
    json(&actor, &site.portal.reevaluation(&actor, &id).await?)
}

async fn one(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = ReevaluationId::parse(&id)?;
    json(&actor, &site.portal.reevaluation(&actor, &id).await?)
}

async fn decide(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, deed)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let id = ReevaluationId::parse(&id)?;
    let decided = match deed.as_str() {
        "apply" => site.portal.apply_reevaluation(&actor, &id).await?,
        "discard" => site.portal.discard_reevaluation(&actor, &id).await?,
        _ => return Err(Fault::missing()),
    };
    json(&actor, &decided)
}
