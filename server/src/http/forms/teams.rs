//! Teams by plain forms. Whether the one who asks may do it is decided by the
//! use case.

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::post;
use faultboard_domain::{TeamId, TeamRole, UserId};
use serde::Deserialize;

use super::{Typed, done, refused, with};
use crate::http::actor::Asker;
use crate::http::cookies;
use crate::http::fault::Fault;
use crate::http::state::Site;

pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/teams", post(create))
        .route("/teams/join", post(join))
        .route("/teams/{id}/invite", post(invite))
        .route("/teams/{id}/invites/{invite}/revoke", post(revoke))
        .route("/teams/{id}/members/{user}/{deed}", post(member))
        .route("/teams/{id}/end", post(end))
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Words {
    team: String,
    email: String,
    token: String,
}

async fn create(
    State(site): State<Site>,
    Asker(actor): Asker,
    Typed(words): Typed<Words>,
) -> Response {
    match site.portal.create_team(&actor, &words.team).await {
        Ok(id) => done(&format!("/teams/{id}"), "team-created"),
        Err(e) => refused(e, "/me", &[("team", &words.team)]),
    }
}

async fn join(
    State(site): State<Site>,
    Asker(actor): Asker,
    Typed(words): Typed<Words>,
) -> Response {
    match site.portal.join_team(&actor, &words.token).await {
        Ok(id) => done(&format!("/teams/{id}"), "team-joined"),
        Err(e) => refused(e, &with("/teams/join", [("token", &*words.token)]), &[]),
    }
}

async fn invite(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    Typed(words): Typed<Words>,
) -> Result<Response, Fault> {
    let id = TeamId::parse(&id)?;
    let page = format!("/teams/{id}");
    Ok(match site.portal.invite(&actor, &id, &words.email).await {
        Ok(secret) => {
            let mut response = done(&page, "invited");
            cookies::set_new_token(&site, response.headers_mut(), &page, &secret);
            response
        }
        Err(e) => refused(e, &page, &[("email", &words.email)]),
    })
}

async fn revoke(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, invite)): Path<(String, i64)>,
) -> Result<Response, Fault> {
    let id = TeamId::parse(&id)?;
    let page = format!("/teams/{id}");
    Ok(match site.portal.revoke_invite(&actor, &id, invite).await {
        Ok(()) => done(&page, "invite-revoked"),
        Err(e) => refused(e, &page, &[]),
    })
}

async fn member(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, user, deed)): Path<(String, String, String)>,
) -> Result<Response, Fault> {
    let (id, user) = (TeamId::parse(&id)?, UserId::parse(&user)?);
    let page = format!("/teams/{id}");
    let outcome = match deed.as_str() {
        "remove" => site.portal.leave_team(&actor, &id, &user).await,
        deed => {
            let role = TeamRole::parse(deed).ok_or_else(Fault::missing)?;
            site.portal.set_team_role(&actor, &id, &user, role).await
        }
    };
    Ok(match outcome {
        Ok(()) if deed == "remove" && actor.user_id() == Some(&user) => done("/me", "team-left"),
        Ok(()) => done(&page, "saved"),
        Err(e) => refused(e, &page, &[]),
    })
}

async fn end(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = TeamId::parse(&id)?;
    Ok(match site.portal.end_team(&actor, &id).await {
        Ok(()) => done("/me", "team-ended"),
        Err(e) => refused(e, &format!("/teams/{id}"), &[]),
    })
}
