//! Accounts: signing up, in and out, the first administrator, tokens. Tries are
//! counted per address and per account before any password is looked at.

use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use faultboard_app::query;
use faultboard_domain::TokenScope;
use faultboard_portal::{PortalError, Session};
use serde::Deserialize;

use super::{Typed, done, go, refused, with};
use crate::http::actor::Asker;
use crate::http::cookies;
use crate::http::envelope::Client;
use crate::http::fault::Fault;
use crate::http::state::Site;

pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/sign-in", post(sign_in))
        .route("/sign-up", post(sign_up))
        .route("/sign-out", post(sign_out))
        .route("/first-admin", post(first_admin))
        .route("/me/tokens", post(create_token))
        .route("/me/tokens/{id}/revoke", post(revoke_token))
}

/// Counts a try of an address, and of an account where one is named.
fn count(site: &Site, client: Client, account: &str) -> Result<(), Fault> {
    let mut keys = vec![format!("address {}", client.key())];
    let account = account.trim().to_lowercase();
    if !account.is_empty() {
        let digest = faultboard_domain::Digest::of(account.as_bytes());
        keys.push(format!("account {}", digest.short()));
    }
    site.rates.take(&keys)
}

/// Signs the browser in with a new session; the one that it had before ends.
async fn enter(
    site: &Site,
    headers: &HeaderMap,
    session: &Session,
    mut response: Response,
) -> Response {
    if let Some(old) = cookies::session(site, headers)
        && let Err(e) = site.portal.sign_out(&old).await
    {
        tracing::warn!(error = %e, "the session before could not be ended");
    }
    cookies::set_session(site, response.headers_mut(), &session.0);
    response
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SignIn {
    email: String,
    password: String,
    next: String,
}

async fn sign_in(
    State(site): State<Site>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    Typed(form): Typed<SignIn>,
) -> Result<Response, Fault> {
    count(&site, client, &form.email)?;
    let next = query::local_path(&form.next).unwrap_or_default();
    Ok(
        match site.portal.sign_in(&form.email, &form.password).await {
            Ok(session) => {
                let to = if next.is_empty() { "/me" } else { &next };
                enter(&site, &headers, &session, done(to, "signed-in")).await
            }
            Err(e) => refused(
                e,
                &with("/sign-in", [("next", &*next)]),
                &[("email", &form.email)],
            ),
        },
    )
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SignUp {
    name: String,
    email: String,
    password: String,
    next: String,
}

async fn sign_up(
    State(site): State<Site>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    Typed(form): Typed<SignUp>,
) -> Result<Response, Fault> {
    count(&site, client, &form.email)?;
    let next = query::local_path(&form.next).unwrap_or_default();
    Ok(
        match site
            .portal
            .sign_up(&form.name, &form.email, &form.password)
            .await
        {
            Ok(session) => {
                let to = if next.is_empty() { "/me" } else { &next };
                enter(&site, &headers, &session, done(to, "account-created")).await
            }
            Err(e) => refused(
                e,
                &with("/sign-up", [("next", &*next)]),
                &[("name", &form.name), ("email", &form.email)],
            ),
        },
    )
}

async fn sign_out(State(site): State<Site>, headers: HeaderMap) -> Result<Response, Fault> {
    if let Some(session) = cookies::session(&site, &headers) {
        site.portal.sign_out(&session).await?;
    }
    let mut response = done("/", "signed-out");
    cookies::clear_session(&site, response.headers_mut());
    Ok(response)
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FirstAdmin {
    token: String,
    name: String,
    email: String,
    password: String,
}

async fn first_admin(
    State(site): State<Site>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    Typed(form): Typed<FirstAdmin>,
) -> Result<Response, Fault> {
    count(&site, client, "")?;
    let made = site
        .portal
        .create_first_admin(&form.token, &form.name, &form.email, &form.password)
        .await;
    Ok(match made {
        Ok(session) => enter(&site, &headers, &session, done("/admin", "admin-created")).await,
        Err(e) => refused(
            e,
            &with("/first-admin", [("token", &*form.token)]),
            &[("name", &form.name), ("email", &form.email)],
        ),
    })
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NewToken {
    name: String,
    days: String,
    /// The most that it may do.
    may: String,
}

/// What a token may do whose form names the most: all before it, too.
fn scopes(most: &str) -> Result<Vec<TokenScope>, PortalError> {
    let most = if most.is_empty() { "submit" } else { most };
    let most = TokenScope::parse(most).ok_or_else(|| {
        PortalError::Invalid("A token may `read`, `submit` or `maintain`.".into())
    })?;
    Ok(TokenScope::ALL
        .iter()
        .copied()
        .filter(|s| *s <= most)
        .collect())
}

async fn create_token(
    State(site): State<Site>,
    Asker(actor): Asker,
    Typed(form): Typed<NewToken>,
) -> Response {
    let days = match form.days.trim() {
        "" => 90,
        text => match text.parse() {
            Ok(days) => days,
            Err(_) => {
                let e = PortalError::Invalid(
                    "Give the days that the token shall work as a whole number.".into(),
                );
                return refused(e, "/me", &[("name", &form.name), ("days", &form.days)]);
            }
        },
    };
    let made = match scopes(&form.may) {
        Ok(scopes) => {
            let portal = &site.portal;
            portal.create_token(&actor, &form.name, days, &scopes).await
        }
        Err(e) => Err(e),
    };
    match made {
        Ok(secret) => {
            let mut response = done("/me", "token-created");
            cookies::set_new_token(&site, response.headers_mut(), "/me", &secret);
            response
        }
        Err(e) => refused(e, "/me", &[("name", &form.name), ("days", &form.days)]),
    }
}

async fn revoke_token(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Response {
    let Ok(id) = id.parse() else {
        return Fault::missing().into_response();
    };
    match site.portal.revoke_token(&actor, id).await {
        Ok(()) => done("/me", "token-revoked"),
        Err(PortalError::SignInNeeded) => go(&with("/sign-in", [("next", "/me")])),
        Err(e) => refused(e, "/me", &[]),
    }
}
