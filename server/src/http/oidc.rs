//! Signing in at an OpenID Connect provider: authorization code with PKCE,
//! state and nonce. What comes back is believed only after its signature,
//! issuer, audience, age and nonce were checked. Which account it opens is
//! decided by the use cases.

use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::extract::{Extension, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use faultboard_app::query;
use faultboard_domain::Actor;
use faultboard_portal::{Identity, PortalError};
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreProviderMetadata,
    CoreUserInfoClaims,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, HttpRequest, HttpResponse,
    IssuerUrl, Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    Scope, TokenResponse as _,
};

use super::actor::Asker;
use super::cookies;
use super::envelope::Client;
use super::fault::Fault;
use super::state::Site;
use crate::config::Config;

/// Where a provider sends the browser back to.
const CALLBACK: &str = "/sign-in/provider/callback";
/// The largest answer of a provider.
const MOST_BYTES: usize = 1 << 20;

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/sign-in/provider", get(leave))
        .route(CALLBACK, get(come_back))
}

/// The provider that is set.
pub(super) struct Provider {
    issuer: String,
    client: ClientId,
    secret: Option<ClientSecret>,
    redirect: String,
    http: OnceLock<reqwest::Client>,
}

/// Why a provider gave no answer.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("{0}")]
    Http(#[from] reqwest::Error),
    #[error("{0}")]
    Form(#[from] axum::http::Error),
    #[error("the answer is larger than {MOST_BYTES} bytes")]
    TooLarge,
}

/// Asks a provider. It follows no redirect, so that a provider can't lead this
/// server to another host.
async fn fetch(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, Trouble> {
    let mut answer = http.execute(request.try_into()?).await?;
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        if body.len() + piece.len() > MOST_BYTES {
            return Err(Trouble::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    let mut response = axum::http::Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        headers.clone_from(answer.headers());
    }
    Ok(response.body(body)?)
}

/// The provider can't be used now, or what it said can't be believed; the cause is for the log.
fn broken(what: &str, e: &(dyn std::error::Error + 'static)) -> Fault {
    let mut causes = e.to_string();
    let mut next = e.source();
    while let Some(cause) = next {
        causes.push_str(": ");
        causes.push_str(&cause.to_string());
        next = cause.source();
    }
    tracing::warn!(error = %causes, "{what}");
    Fault::new(
        StatusCode::BAD_GATEWAY,
        "The provider could not be reached, or what it said could not be believed, so nobody was signed in. Try again; if it happens again, tell the maintainers the request id.",
    )
}

impl Provider {
    /// The provider of the settings, if one is set.
    pub(super) fn of(config: &Config) -> Option<Self> {
        let accounts = &config.accounts;
        Some(Self {
            issuer: accounts.oidc_issuer.clone()?,
            client: ClientId::new(accounts.oidc_client_id.clone()?),
            secret: accounts.oidc_client_secret.clone().map(ClientSecret::new),
            redirect: format!("{}{CALLBACK}", config.base_url()),
            http: OnceLock::new(),
        })
    }

    fn http(&self) -> Result<reqwest::Client, Fault> {
        if let Some(http) = self.http.get() {
            return Ok(http.clone());
        }
        // A second call changes nothing and says so by an error.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .user_agent(concat!("faultboard/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_secs(15))
            .build()
            .map_err(Fault::internal)?;
        Ok(self.http.get_or_init(|| http).clone())
    }

    /// What the provider says of itself and its keys, asked anew each time: so
    /// keys that it changed are known at once.
    async fn metadata(&self) -> Result<CoreProviderMetadata, Fault> {
        let http = self.http()?;
        let issuer = IssuerUrl::new(self.issuer.clone())
            .map_err(|e| broken("the setting oidc-issuer is no address", &e))?;
        CoreProviderMetadata::discover_async(issuer, &|request| fetch(http.clone(), request))
            .await
            .map_err(|e| broken("the identity provider did not describe itself", &e))
    }

    fn redirect(&self) -> Result<RedirectUrl, Fault> {
        RedirectUrl::new(self.redirect.clone()).map_err(Fault::internal)
    }

    /// Trades a code for an identity.
    async fn identify(
        &self,
        code: String,
        nonce: String,
        verifier: String,
    ) -> Result<Identity, Fault> {
        let http = self.http()?;
        let ask = |request| fetch(http.clone(), request);
        let metadata = self.metadata().await?;
        let methods = metadata.token_endpoint_auth_methods_supported();
        let by_post = methods.is_some_and(|m| {
            m.contains(&CoreClientAuthMethod::ClientSecretPost)
                && !m.contains(&CoreClientAuthMethod::ClientSecretBasic)
        });
        let has_user_info = metadata.userinfo_endpoint().is_some();
        let mut client =
            CoreClient::from_provider_metadata(metadata, self.client.clone(), self.secret.clone())
                .set_redirect_uri(self.redirect()?);
        if by_post {
            client = client.set_auth_type(AuthType::RequestBody);
        }
        let tokens = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|e| broken("the identity provider names no token endpoint", &e))?
            .set_pkce_verifier(PkceCodeVerifier::new(verifier))
            .request_async(&ask)
            .await
            .map_err(|e| broken("the identity provider gave no token for a code", &e))?;
        let token = tokens.id_token().ok_or_else(|| {
            broken(
                "the identity provider sent no identity token",
                &PortalError::NotFound,
            )
        })?;
        let claims = token
            .claims(&client.id_token_verifier(), &Nonce::new(nonce))
            .map_err(|e| broken("an identity token was refused", &e))?;
        let mut identity = Identity {
            issuer: self.issuer.clone(),
            subject: claims.subject().as_str().to_owned(),
            email: claims.email().map(|e| e.as_str().to_owned()),
            email_verified: claims.email_verified().unwrap_or(false),
            name: claims
                .name()
                .and_then(|n| n.get(None))
                .map(|n| n.as_str().to_owned())
                .or_else(|| claims.preferred_username().map(|n| n.as_str().to_owned())),
        };
        if identity.email.is_none() && has_user_info {
            // Some tell the address at this place only; the answer must be
            // about the subject of the token.
            let info: CoreUserInfoClaims = client
                .user_info(
                    tokens.access_token().clone(),
                    Some(claims.subject().clone()),
                )
                .map_err(|e| broken("the identity provider names no user info", &e))?
                .request_async(&ask)
                .await
                .map_err(|e| broken("the identity provider gave no user info", &e))?;
            identity.email = info.email().map(|e| e.as_str().to_owned());
            identity.email_verified = info.email_verified().unwrap_or(false);
            if identity.name.is_none() {
                identity.name = info
                    .name()
                    .and_then(|n| n.get(None))
                    .map(|n| n.as_str().to_owned());
            }
        }
        Ok(identity)
    }
}

fn provider(site: &Site) -> Result<&Provider, Fault> {
    site.provider.as_ref().ok_or_else(Fault::missing)
}

/// Sends the browser to an address of this site, or the provider's.
fn go(to: &str) -> Result<Response, Fault> {
    let to = HeaderValue::from_str(to).map_err(Fault::internal)?;
    Ok((
        StatusCode::SEE_OTHER,
        [
            (header::LOCATION, to),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ],
    )
        .into_response())
}

async fn leave(
    State(site): State<Site>,
    Extension(client): Extension<Client>,
    Asker(actor): Asker,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let provider = provider(&site)?;
    site.rates.take(&[format!("address {}", client.key())])?;
    let pairs = query::pairs(text.as_deref().unwrap_or_default());
    let next = query::get(&pairs, "next")
        .and_then(query::local_path)
        .unwrap_or_default();
    let metadata = provider.metadata().await?;
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let leaving = site
        .portal
        .leave_for_provider(&actor, verifier.secret(), &next)
        .await?;
    let (state, nonce) = (leaving.state.clone(), leaving.nonce);
    let (address, _, _) = CoreClient::from_provider_metadata(
        metadata,
        provider.client.clone(),
        provider.secret.clone(),
    )
    .set_redirect_uri(provider.redirect()?)
    .authorize_url(
        CoreAuthenticationFlow::AuthorizationCode,
        move || CsrfToken::new(state),
        move || Nonce::new(nonce),
    )
    .add_scope(Scope::new("email".to_owned()))
    .add_scope(Scope::new("profile".to_owned()))
    .set_pkce_challenge(challenge)
    .url();
    let mut response = go(address.as_str())?;
    cookies::set_leaving(&site, response.headers_mut(), &leaving.state);
    Ok(response)
}

async fn come_back(
    State(site): State<Site>,
    Extension(client): Extension<Client>,
    Asker(actor): Asker,
    headers: HeaderMap,
    RawQuery(text): RawQuery,
) -> Result<Response, Fault> {
    let provider = provider(&site)?;
    site.rates.take(&[format!("address {}", client.key())])?;
    let mut response = finish(&site, provider, &actor, &headers, text.as_deref())
        .await
        .unwrap_or_else(IntoResponse::into_response);
    cookies::clear_leaving(&site, response.headers_mut());
    Ok(response)
}

async fn finish(
    site: &Site,
    provider: &Provider,
    actor: &Actor,
    headers: &HeaderMap,
    text: Option<&str>,
) -> Result<Response, Fault> {
    let pairs = query::pairs(text.unwrap_or_default());
    let state = query::get(&pairs, "state").unwrap_or_default();
    // Only the browser that left may come back: a link with somebody else's
    // code must not sign its reader in as somebody else.
    if state.is_empty() || cookies::leaving(headers).as_deref() != Some(state) {
        return Err(Fault::bad(
            "This sign-in did not begin in this browser, or it took too long. Begin it again at /sign-in.",
        ));
    }
    let returned = site.portal.return_from_provider(actor, state).await?;
    if query::get(&pairs, "iss").is_some_and(|iss| iss != provider.issuer) {
        return Err(Fault::bad(
            "Another provider than the one that was asked sent this answer, so nobody was signed in.",
        ));
    }
    let Some(code) = query::get(&pairs, "code") else {
        return Err(Fault::bad(
            "The provider did not sign you in. Begin again at /sign-in, or use a password.",
        ));
    };
    let identity = provider
        .identify(
            code.to_owned(),
            returned.nonce.clone(),
            returned.verifier.clone(),
        )
        .await?;
    let session = site.portal.sign_in_with(&returned, &identity).await?;
    if let Some(old) = cookies::session(site, headers) {
        site.portal.sign_out(&old).await?;
    }
    let next = if returned.next.is_empty() {
        "/me"
    } else {
        &returned.next
    };
    let joined = if next.contains('?') { '&' } else { '?' };
    let mut response = go(&format!("{next}{joined}notice=signed-in"))?;
    cookies::set_session(site, response.headers_mut(), &session.0);
    Ok(response)
}
