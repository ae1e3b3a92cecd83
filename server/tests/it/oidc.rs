//! Signing in at an identity provider: a real one, in a process of its own,
//! with a client that follows where it is sent; and one that lies, in every way
//! that a token can be wrong.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use faultboard_domain::{Clock as _, TokenScope};
use openidconnect::PrivateSigningKey as _;
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJwsSigningAlgorithm};
use serde_json::{Value, json};

use crate::site::{Answer, App, BASE, PASSWORD, root};

/// The real provider, a package of PyPI that `cargo xtask setup` fetches.
struct RealProvider {
    child: Child,
    issuer: String,
}

impl Drop for RealProvider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts it with two people, one with an address that it vouches for; none
/// where it isn't installed.
async fn real_provider(token_seconds: i64) -> Option<RealProvider> {
    let folder = root().join("target/oidc");
    if !folder.join("oidc_provider_mock").is_dir() {
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let people = [
        json!({"sub": "grace-1", "email": "grace@example.org", "email_verified": true, "name": "Grace H"}),
        json!({"sub": "mallory-1", "email": "grace@example.org", "email_verified": false, "name": "Not Grace"}),
        json!({"sub": "nameless-1"}),
    ];
    let mut command = Command::new("python3");
    command
        .args(["-m", "oidc_provider_mock", "--port", &port.to_string()])
        .args(["--token-max-age", &token_seconds.to_string()])
        .args(["--require-nonce", "true"])
        .env("PYTHONPATH", &folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for person in people {
        command.args(["--user-claims", &person.to_string()]);
    }
    let provider = RealProvider {
        child: command.spawn().unwrap(),
        issuer: format!("http://127.0.0.1:{port}"),
    };
    let begun = Instant::now();
    let known = format!("{}/.well-known/openid-configuration", provider.issuer);
    while !client()
        .get(&known)
        .send()
        .await
        .is_ok_and(|a| a.status().is_success())
    {
        assert!(begun.elapsed() < Duration::from_secs(60), "no provider");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Some(provider)
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

async fn site(issuer: &str) -> App {
    App::with(|c| {
        c.accounts.oidc_issuer = Some(issuer.to_owned());
        c.accounts.oidc_client_id = Some("faultboard".to_owned());
        c.accounts.oidc_client_secret = Some("a secret".to_owned());
        c.accounts.oidc_name = "Example Lab".to_owned();
    })
    .await
}

/// The value of a pair of an address's query.
fn pair(address: &str, name: &str) -> String {
    let url = reqwest::Url::parse(address).unwrap();
    url.query_pairs()
        .find(|(k, _)| k == name)
        .map(|(_, v)| v.into_owned())
        .unwrap_or_default()
}

/// Leaves for the provider: its address, and the cookie that comes along.
async fn leave(app: &App, cookie: &str, next: &str) -> (String, String) {
    let answer = app
        .get_as(cookie, &format!("/sign-in/provider?next={next}"))
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text());
    let set = answer.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Lax", "Path=/sign-in/provider"] {
        assert!(set.contains(part), "{set}");
    }
    (answer.header("location").to_owned(), answer.cookie())
}

/// Agrees at the provider as somebody; the path that it sends the browser to.
async fn agree(address: &str, who: &str) -> String {
    let answer = client()
        .post(address)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("sub={who}"))
        .send()
        .await
        .unwrap();
    assert!(answer.status().is_redirection(), "{}", answer.status());
    let to = answer.headers()["location"].to_str().unwrap().to_owned();
    to.strip_prefix(BASE).expect("back to this site").to_owned()
}

/// The whole way as somebody; the last answer.
async fn sign_in_as(app: &App, cookie: &str, who: &str) -> Answer {
    let (address, leaving) = leave(app, cookie, "/submit").await;
    let back = agree(&address, who).await;
    app.get_as(&format!("{cookie}; {leaving}"), &back).await
}

/// The session's cookie among those that an answer sets.
fn session(answer: &Answer) -> Option<String> {
    let all = answer.headers.get_all("set-cookie");
    all.iter()
        .filter_map(|v| v.to_str().ok())
        .find(|v| v.starts_with("fb_session="))
        .map(|v| v.split(';').next().unwrap().to_owned())
}

macro_rules! provider_or_skip {
    ($name:literal, $seconds:expr) => {
        match real_provider($seconds).await {
            Some(provider) => provider,
            None => {
                use std::io::Write as _;
                let _ = writeln!(
                    std::io::stderr(),
                    "SKIP {}: no identity provider; cargo xtask setup fetches one",
                    $name
                );
                return;
            }
        }
    };
}

#[tokio::test]
async fn somebody_signs_in_at_a_real_provider() {
    let provider = provider_or_skip!("somebody_signs_in_at_a_real_provider", 3600);
    let app = site(&provider.issuer).await;
    let page = app.get("/sign-in?next=/submit").await.text();
    assert!(page.contains("Sign in with Example Lab"));
    assert!(page.contains("/sign-in/provider?next="));

    let (address, leaving) = leave(&app, "", "/submit").await;
    assert_eq!(pair(&address, "response_type"), "code");
    assert_eq!(pair(&address, "code_challenge_method"), "S256");
    assert_eq!(pair(&address, "code_challenge").len(), 43);
    assert_eq!(
        pair(&address, "redirect_uri"),
        format!("{BASE}/sign-in/provider/callback")
    );
    assert!(pair(&address, "nonce").len() > 20 && pair(&address, "state").len() > 20);
    let back = agree(&address, "grace-1").await;
    let answer = app.get_as(&leaving, &back).await;
    assert_eq!(
        answer.header("location"),
        "/submit?notice=signed-in",
        "{}",
        answer.text()
    );
    let first = session(&answer).unwrap();
    let me = app.get_as(&first, "/me").await.text();
    assert!(me.contains("Grace H") && me.contains("grace@example.org"));
    assert!(me.contains("An account of Example Lab opens this one"));

    // The state worked once, and so did the code.
    let again = app.get_as(&leaving, &back).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(session(&again).is_none());
    let (_, other) = leave(&app, "", "").await;
    let state = other.split_once('=').unwrap().1;
    let code = pair(&format!("{BASE}{back}"), "code");
    let replayed = app
        .get_as(
            &other,
            &format!("/sign-in/provider/callback?code={code}&state={state}"),
        )
        .await;
    assert_eq!(replayed.status, StatusCode::BAD_GATEWAY);
    assert!(session(&replayed).is_none());

    // The next time it is the same account.
    let answer = sign_in_as(&app, "", "grace-1").await;
    let second = session(&answer).unwrap();
    let one = app.actor(&first).await;
    assert_eq!(one.user_id(), app.actor(&second).await.user_id());
    // No password opens it, and asking is no fault of the server's.
    let form = format!(
        "email=grace%40example.org&password={}",
        PASSWORD.replace(' ', "+")
    );
    let refused = app.form("/sign-in", "", &form).await;
    assert!(refused.refused().contains("password is wrong"));

    // Whoever the provider tells no address of gets none here.
    let answer = sign_in_as(&app, "", "nameless-1").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.text().contains("did not tell an e-mail address"));
    // Who says no is not signed in.
    let (_, leaving) = leave(&app, "", "").await;
    let state = leaving.split_once('=').unwrap().1;
    let denied = app
        .get_as(
            &leaving,
            &format!("/sign-in/provider/callback?error=access_denied&state={state}"),
        )
        .await;
    assert_eq!(denied.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_state_of_another_browser_or_of_nobody_signs_nobody_in() {
    let provider = provider_or_skip!(
        "a_state_of_another_browser_or_of_nobody_signs_nobody_in",
        3600
    );
    let app = site(&provider.issuer).await;
    let (address, leaving) = leave(&app, "", "").await;
    let back = agree(&address, "grace-1").await;
    let (_, other) = leave(&app, "", "").await;
    for cookie in ["", &other, "fb_leaving=made-up"] {
        let answer = app.get_as(cookie, &back).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{cookie}");
        assert!(session(&answer).is_none());
    }
    let invented = app
        .get_as(
            "fb_leaving=invented",
            "/sign-in/provider/callback?code=x&state=invented",
        )
        .await;
    assert_eq!(invented.status, StatusCode::BAD_REQUEST);
    // What took too long is over.
    app.clock.advance_ms(11 * 60_000);
    let late = app.get_as(&leaving, &back).await;
    assert_eq!(late.status, StatusCode::BAD_REQUEST);
    assert!(session(&late).is_none());
}

#[tokio::test]
async fn an_account_is_opened_only_by_who_shows_that_its_address_is_theirs() {
    let provider = provider_or_skip!(
        "an_account_is_opened_only_by_who_shows_that_its_address_is_theirs",
        3600
    );
    let app = site(&provider.issuer).await;
    // Somebody made an account with Grace's address before she came.
    let squatter = app.sign_up("grace").await;
    let actor = app.actor(&squatter).await;
    let token = app
        .portal
        .create_token(&actor, "t", 30, TokenScope::ALL)
        .await
        .unwrap();
    // An address that the provider does not vouch for opens nothing.
    let answer = sign_in_as(&app, "", "mallory-1").await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(session(&answer).is_none());
    assert_eq!(app.get_as(&squatter, "/me").await.status, StatusCode::OK);

    // Grace herself gets the account, alone.
    let answer = sign_in_as(&app, "", "grace-1").await;
    let grace = session(&answer).unwrap();
    assert_eq!(app.actor(&grace).await.user_id(), actor.user_id());
    assert_eq!(
        app.get_as(&squatter, "/me").await.status,
        StatusCode::UNAUTHORIZED
    );
    assert!(app.portal.actor_by_token(&token).await.is_err());
    let form = format!(
        "email=grace%40example.org&password={}",
        PASSWORD.replace(' ', "+")
    );
    let refused = app.form("/sign-in", "", &form).await;
    assert!(refused.refused().contains("password is wrong"));

    // Who is signed in adds the provider to their account, whatever the address,
    // and keeps the password.
    let hopper = app.sign_up("hopper").await;
    let answer = sign_in_as(&app, &hopper, "mallory-1").await;
    let linked = session(&answer).unwrap();
    assert_eq!(
        app.get_as(&hopper, "/me").await.status,
        StatusCode::UNAUTHORIZED,
        "the session before has ended"
    );
    let me = app.get_as(&linked, "/me").await.text();
    assert!(me.contains("hopper@example.org"));
    let form = format!(
        "email=hopper%40example.org&password={}",
        PASSWORD.replace(' ', "+")
    );
    let entered = app.form("/sign-in", "", &form).await;
    assert_eq!(entered.header("location"), "/me?notice=signed-in");
    // One identity opens one account.
    let eve = app.sign_up("eve").await;
    let taken = sign_in_as(&app, &eve, "grace-1").await;
    assert_eq!(taken.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn an_expired_token_of_a_real_provider_is_refused() {
    let provider = provider_or_skip!("an_expired_token_of_a_real_provider_is_refused", 0);
    let app = site(&provider.issuer).await;
    let (address, leaving) = leave(&app, "", "").await;
    let back = agree(&address, "grace-1").await;
    let answer = app.get_as(&leaving, &back).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{}", answer.text());
    assert!(session(&answer).is_none());
}

/// A provider that says whatever a test wants.
struct Liar {
    issuer: String,
    answer: Arc<Mutex<Value>>,
    key: CoreEdDsaPrivateSigningKey,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A signing key made of one byte.
fn key(byte: u8) -> CoreEdDsaPrivateSigningKey {
    let mut der = vec![
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    der.extend([byte; 32]);
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n",
        STANDARD.encode(der)
    );
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, None).unwrap()
}

fn signed(key: &CoreEdDsaPrivateSigningKey, claims: &Value) -> String {
    let part = |v: &Value| URL_SAFE_NO_PAD.encode(v.to_string());
    let text = format!("{}.{}", part(&json!({"alg": "EdDSA"})), part(claims));
    let signature = key
        .sign(&CoreJwsSigningAlgorithm::EdDsa, text.as_bytes())
        .unwrap();
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}

impl Liar {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new(Value::Null));
        let key = key(7);
        let jwks = json!({"keys": [serde_json::to_value(key.as_verification_key()).unwrap()]});
        let known = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/jwks"),
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
        });
        let told = answer.clone();
        let router = Router::new()
            .route(
                "/.well-known/openid-configuration",
                get(move || async move { Json(known) }),
            )
            .route("/jwks", get(move || async move { Json(jwks) }))
            .route(
                "/token",
                post(move || async move { Json(told.lock().unwrap().clone()) }),
            );
        let serving = tokio::spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        Self {
            issuer,
            answer,
            key,
            serving,
        }
    }

    /// Comes back to the site with a token of these claims, changed.
    async fn answers(
        &self,
        app: &App,
        change: impl FnOnce(&mut Value) -> Option<String>,
    ) -> Answer {
        let (address, leaving) = leave(app, "", "").await;
        let now = app.clock.now().0 / 1000;
        let mut claims = json!({
            "iss": self.issuer,
            "sub": "sam-1",
            "aud": "faultboard",
            "exp": now + 600,
            "iat": now,
            "nonce": pair(&address, "nonce"),
            "email": "sam@example.org",
            "email_verified": true,
        });
        let own = change(&mut claims);
        let token = own.unwrap_or_else(|| signed(&self.key, &claims));
        *self.answer.lock().unwrap() =
            json!({"access_token": "x", "token_type": "Bearer", "id_token": token});
        let state = pair(&address, "state");
        app.get_as(
            &leaving,
            &format!("/sign-in/provider/callback?code=x&state={state}"),
        )
        .await
    }
}

#[tokio::test]
async fn a_token_that_is_wrong_in_any_way_signs_nobody_in() {
    let liar = Liar::start().await;
    let app = site(&liar.issuer).await;
    let set = |name: &'static str, value: Value| {
        move |claims: &mut Value| {
            claims[name] = value;
            None
        }
    };
    let now = app.clock.now().0 / 1000;
    let mut answers = Vec::new();
    answers.push((
        "audience",
        liar.answers(&app, set("aud", json!("another"))).await,
    ));
    answers.push((
        "further audiences",
        liar.answers(&app, set("aud", json!(["faultboard", "another"])))
            .await,
    ));
    answers.push((
        "issuer",
        liar.answers(&app, set("iss", json!("http://elsewhere")))
            .await,
    ));
    answers.push((
        "nonce",
        liar.answers(&app, set("nonce", json!("another"))).await,
    ));
    answers.push((
        "no nonce",
        liar.answers(&app, set("nonce", Value::Null)).await,
    ));
    answers.push((
        "expiry",
        liar.answers(&app, set("exp", json!(now - 1))).await,
    ));
    let other = key(8);
    answers.push((
        "another's signature",
        liar.answers(&app, |claims| Some(signed(&other, claims)))
            .await,
    ));
    let part = |v: &Value| URL_SAFE_NO_PAD.encode(v.to_string());
    answers.push((
        "no signature",
        liar.answers(&app, |claims| {
            Some(format!(
                "{}.{}.",
                part(&json!({"alg": "none"})),
                part(claims)
            ))
        })
        .await,
    ));
    answers.push((
        "claims changed after signing",
        liar.answers(&app, |claims| {
            let token = signed(&liar.key, claims);
            claims["sub"] = json!("the-administrator");
            let mut parts: Vec<&str> = token.split('.').collect();
            let claims = part(claims);
            parts[1] = &claims;
            Some(parts.join("."))
        })
        .await,
    ));
    for (what, answer) in &answers {
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY, "{what}");
        assert!(session(answer).is_none(), "{what}");
        assert!(
            !answer.text().contains("EdDSA"),
            "{what}: inner words on a page"
        );
    }
    // An answer in another provider's name.
    let (address, leaving) = leave(&app, "", "").await;
    let state = pair(&address, "state");
    let mixed = app
        .get_as(
            &leaving,
            &format!("/sign-in/provider/callback?code=x&state={state}&iss=http%3A%2F%2Felsewhere"),
        )
        .await;
    assert_eq!(mixed.status, StatusCode::BAD_REQUEST);
    // The same with nothing wrong is believed: the tests above are not in vain.
    let good = liar.answers(&app, |_| None).await;
    assert_eq!(
        good.header("location"),
        "/me?notice=signed-in",
        "{}",
        good.text()
    );
    assert!(session(&good).is_some());
}
