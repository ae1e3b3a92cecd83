//! Signing in and out, and what the browser is told to keep.

use axum::http::StatusCode;

use crate::site::{App, BASE, PASSWORD};

fn sign_in_form(email: &str, password: &str) -> String {
    format!(
        "email={}&password={}",
        email.replace('@', "%40"),
        password.replace(' ', "+")
    )
}

#[tokio::test]
async fn the_session_is_kept_from_scripts_and_other_sites() {
    let app = App::new().await;
    let body = format!("name=Eve&{}", sign_in_form("eve@example.org", PASSWORD));
    let answer = app.form("/sign-up", "", &body).await;
    assert_eq!(answer.header("location"), "/me?notice=account-created");
    let cookie = answer.header("set-cookie").to_owned();
    assert!(cookie.starts_with("fb_session="));
    for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/;"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"));
    assert_eq!(
        app.get_as(&answer.cookie(), "/me").await.status,
        StatusCode::OK
    );

    let secure = App::with(|c| c.secure_cookies = true).await;
    let answer = secure.form("/sign-up", "", &body).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-fb_session="), "{cookie}");
    assert!(
        cookie.contains("; Secure") && cookie.contains("; Path=/;") && !cookie.contains("Domain")
    );
}

#[tokio::test]
async fn signing_in_begins_a_new_session_and_ends_the_old_one() {
    let app = App::new().await;
    let first = app.sign_up("eve").await;
    let form = sign_in_form("eve@example.org", PASSWORD);
    let answer = app
        .form("/sign-in", &first, &format!("{form}&next=/submit"))
        .await;
    assert_eq!(answer.header("location"), "/submit?notice=signed-in");
    let second = answer.cookie();
    assert_ne!(first, second);
    assert_eq!(
        app.get_as(&first, "/me").await.status,
        StatusCode::UNAUTHORIZED
    );
    let out = app.form("/sign-out", &second, "").await;
    assert_eq!(out.header("location"), "/?notice=signed-out");
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(
        app.get_as(&second, "/me").await.status,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn a_wrong_password_leads_back_with_what_was_typed() {
    let app = App::new().await;
    app.sign_up("eve").await;
    let answer = app
        .form(
            "/sign-in",
            "",
            &format!(
                "{}&next=%2Fsubmit",
                sign_in_form("eve@example.org", "wrong wrong")
            ),
        )
        .await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let kept = answer.refused();
    assert_eq!(answer.header("location"), "/sign-in?next=%2Fsubmit");
    assert!(
        kept.contains("password is wrong") && kept.contains("eve@example.org"),
        "{kept}"
    );
    assert!(!kept.contains("wrong wrong"), "{kept}");
    // The page shows both once, and forgets them.
    let cookie = answer.header("set-cookie").split(';').next().unwrap();
    let page = app.get_as(cookie, "/sign-in?next=%2Fsubmit").await;
    assert!(page.text().contains("eve@example.org") && page.text().contains("password is wrong"));
    assert!(page.header("set-cookie").starts_with("fb_refused=;"));
    // An address can't put words on a page.
    let spoken = app.get("/sign-in?error=call+us").await.text();
    assert!(!spoken.contains("call us") && !spoken.contains("eve@example.org"));
}

#[tokio::test]
async fn nobody_is_sent_to_another_site() {
    let app = App::new().await;
    app.sign_up("eve").await;
    for next in [
        "//evil.example",
        "https%3A%2F%2Fevil.example",
        "%2F%5Cevil.example",
    ] {
        let body = format!("{}&next={next}", sign_in_form("eve@example.org", PASSWORD));
        let answer = app.form("/sign-in", "", &body).await;
        assert_eq!(answer.header("location"), "/me?notice=signed-in", "{next}");
    }
}

#[tokio::test]
async fn tries_are_counted_per_address_and_come_back_with_time() {
    let app = App::with(|c| c.sign_in_rate = 3).await;
    let form = sign_in_form("eve@example.org", "wrong wrong wrong");
    for _ in 0..3 {
        assert_eq!(
            app.form("/sign-in", "", &form).await.status,
            StatusCode::SEE_OTHER
        );
    }
    let refused = app.form("/sign-in", "", &form).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.header("retry-after"), "20");
    // The same limit holds for new accounts and for the first administrator.
    for path in ["/sign-up", "/first-admin"] {
        assert_eq!(
            app.form(path, "", &form).await.status,
            StatusCode::TOO_MANY_REQUESTS
        );
    }
    app.clock.advance_ms(20_000);
    assert_eq!(
        app.form("/sign-in", "", &form).await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn tries_are_counted_per_account_whatever_the_address() {
    let app = App::with(|c| {
        c.sign_in_rate = 3;
        c.behind_proxy = true;
    })
    .await;
    let from = |address: &'static str, email: &'static str| {
        let request = axum::http::Request::post("/sign-in")
            .header("origin", BASE)
            .header("x-forwarded-for", format!("203.0.113.99, {address}"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(axum::body::Body::from(sign_in_form(
                email,
                "wrong wrong wrong",
            )))
            .unwrap();
        app.send(request)
    };
    for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
        assert_eq!(
            from(address, "eve@example.org").await.status,
            StatusCode::SEE_OTHER
        );
    }
    assert_eq!(
        from("192.0.2.4", "EVE@example.org").await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    assert_eq!(
        from("192.0.2.4", "ada@example.org").await.status,
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn a_new_token_is_shown_once_and_works() {
    let app = App::new().await;
    let session = app.sign_up("eve").await;
    let made = app
        .form("/me/tokens", &session, "name=laptop&days=30")
        .await;
    assert_eq!(made.header("location"), "/me?notice=token-created");
    let set = made.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/me", "Max-Age=60"] {
        assert!(set.contains(part), "{set}");
    }
    let secret = made.cookie();
    let token = secret.split_once('=').unwrap().1.to_owned();
    let shown = app.get_as(&format!("{session}; {secret}"), "/me").await;
    assert!(shown.text().contains(&token));
    assert!(shown.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(shown.header("cache-control"), "private, no-store");
    assert!(!app.get_as(&session, "/me").await.text().contains(&token));

    let bearer = format!("Bearer {token}");
    let me = app
        .get_with("/api/v1/me", &[("authorization", &bearer)])
        .await;
    assert_eq!(me.json()["email"], "eve@example.org");
    let id = me.json()["tokens"][0]["id"].as_i64().unwrap();
    let revoked = app
        .form(&format!("/me/tokens/{id}/revoke"), &session, "")
        .await;
    assert_eq!(revoked.header("location"), "/me?notice=token-revoked");
    let refused = app
        .get_with("/api/v1/me", &[("authorization", &bearer)])
        .await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_first_administrators_link_works_once() {
    let app = App::new().await;
    let token = app.portal.first_admin_token().await.unwrap().unwrap();
    let page = app.get(&format!("/first-admin?token={token}")).await;
    assert!(page.text().contains(&token));
    let form = |name: &str| {
        format!(
            "token={token}&name={name}&{}",
            sign_in_form(&format!("{name}@example.org"), PASSWORD)
        )
    };
    let admin = app.form("/first-admin", "", &form("ada")).await.cookie();
    assert_eq!(app.get_as(&admin, "/admin").await.status, StatusCode::OK);
    let again = app.form("/first-admin", "", &form("eve")).await;
    assert!(!again.refused().is_empty(), "{:?}", again.headers);
    assert!(!again.header("set-cookie").contains("session"));
}
