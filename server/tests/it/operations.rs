//! The machine room over HTTP: who sees it, who may act on it, how a set is
//! scored again by a form and by the API.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};

use crate::site::App;

const PAGES: [&str; 5] = [
    "/admin/workers",
    "/admin/audit",
    "/admin/reevaluations",
    "/admin/reevaluations/e00000000",
    "/api/v1/reevaluations",
];

#[tokio::test]
async fn operators_pages_are_for_operators() {
    let app = App::new().await;
    let (admin, eve) = (app.admin().await, app.sign_up("eve").await);
    for path in PAGES {
        let bare = app.get(path).await.status;
        assert!(
            bare == StatusCode::UNAUTHORIZED || bare.is_redirection(),
            "{path}: {bare}"
        );
        assert_eq!(
            app.get_as(&eve, path).await.status,
            StatusCode::FORBIDDEN,
            "{path}"
        );
        let wanted = if path.ends_with("e00000000") {
            StatusCode::NOT_FOUND
        } else {
            StatusCode::OK
        };
        assert_eq!(app.get_as(&admin, path).await.status, wanted, "{path}");
    }
    for path in [
        "/admin/workers/w/drain",
        "/admin/workers/w/release",
        "/admin/parked-cases/relay-1/release",
        "/admin/reevaluations/e00000000/apply",
        "/admin/reevaluations/e00000000/discard",
    ] {
        assert_eq!(
            app.form(path, &eve, "").await.status,
            StatusCode::FORBIDDEN,
            "{path}"
        );
    }
    for body in [
        "scope=case&subject=relay-1&reason=x",
        "scope=nonsense&reason=x",
    ] {
        let refused = app.form("/admin/reevaluations", &eve, body).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{body}");
    }
}

#[tokio::test]
async fn a_mistake_in_the_form_leads_back_to_it_with_the_reason() {
    let app = App::new().await;
    let admin = app.admin().await;
    for (body, told) in [
        ("scope=nonsense&subject=x&reason=y", "there is no scope"),
        ("scope=case&subject=..%2F..&reason=y", "not a valid case id"),
        ("scope=case&subject=relay-1&reason=y", "Nothing is covered"),
        ("scope=outdated&reason=y", "Nothing is covered"),
        ("scope=outdated&reason=", "Give a reason"),
    ] {
        let answer = app.form("/admin/reevaluations", &admin, body).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{body}");
        let to = answer.header("location").to_owned();
        assert_eq!(to, "/admin/reevaluations", "{body}");
        let cookies = format!("{admin}; {}", answer.cookie());
        let page = app.get_as(&cookies, &to).await.text();
        assert!(page.contains(told), "{body}: {page}");
    }
    let gone = app.form("/admin/workers/nobody/drain", &admin, "").await;
    let cookies = format!("{admin}; {}", gone.cookie());
    let page = app.get_as(&cookies, "/admin/workers").await.text();
    assert!(page.contains("no worker of this name"), "{page}");
}

#[tokio::test]
async fn a_submission_is_scored_again_by_form_and_decided() {
    let app = App::new().await;
    let id = app.published().await;
    let admin = app.admin().await;
    let body = format!("scope=submission&subject={id}&reason=a+doubt");
    let begun = app.form("/admin/reevaluations", &admin, &body).await;
    let page = begun
        .header("location")
        .split('?')
        .next()
        .unwrap_or_default()
        .to_owned();
    assert!(page.starts_with("/admin/reevaluations/e"), "{page}");
    let seen = app.get_as(&admin, &page).await;
    assert_eq!(seen.status, StatusCode::OK);
    assert!(seen.text().contains("a doubt"));
    let one = app
        .get_as(&admin, &page.replace("/admin/", "/api/v1/"))
        .await
        .json();
    assert_eq!(one["line"]["scope"]["scope"], "submission");
    let dropped = app.form(&format!("{page}/discard"), &admin, "").await;
    assert!(dropped.header("location").contains("notice=set-discarded"));
    let again = app.form(&format!("{page}/discard"), &admin, "").await;
    assert_eq!(
        again.header("location"),
        page,
        "refused: nothing is left to discard"
    );
    let audit = app.get_as(&admin, "/admin/audit").await.text();
    for deed in ["re-evaluation-begun", "re-evaluation-discarded"] {
        assert!(audit.contains(deed), "{audit}");
    }
    // The API says no in a problem document.
    let bad = Request::post("/api/v1/reevaluations")
        .header(header::HOST, "site.test")
        .header(header::ORIGIN, crate::site::BASE)
        .header(header::COOKIE, admin.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(
            r#"{"scope":"case","subject":"Relay","reason":"x"}"#,
        ))
        .unwrap();
    let refused = app.send(bad).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text().contains("case id"), "{}", refused.text());
}
