//! Nothing is changed by a request that no page of this site sent.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};

use crate::site::{App, BASE};

/// Every address that a form is sent to.
const FORMS: [&str; 33] = [
    "/sign-in",
    "/sign-up",
    "/sign-out",
    "/first-admin",
    "/submit",
    "/me/tokens",
    "/me/tokens/1/revoke",
    "/submissions/s00000000/withdraw",
    "/admin/submissions/s00000000/review",
    "/admin/submissions/s00000000/publish",
    "/admin/submissions/s00000000/reject",
    "/admin/submissions/s00000000/re-evaluate",
    "/admin/submissions/s00000000/resume",
    "/admin/revisions/r00000000/apply",
    "/admin/revisions/r00000000/discard",
    "/admin/findings/1/confirm",
    "/admin/findings/1/clear",
    "/admin/jobs/1/retry",
    "/admin/jobs/1/cancel",
    "/admin/queue/pause",
    "/admin/queue/resume",
    "/admin/cases/relay-1/prove",
    "/admin/workers/w/drain",
    "/admin/workers/w/release",
    "/admin/parked-cases/relay-1/release",
    "/admin/reevaluations",
    "/admin/reevaluations/e00000000/apply",
    "/admin/reevaluations/e00000000/discard",
    "/api/v1/reevaluations",
    "/api/v1/reevaluations/e00000000/apply",
    "/files",
    "/api/v1/submissions/s00000000/withdraw",
    "/nothing",
];

async fn post(app: &App, path: &str, headers: &[(&str, &str)]) -> StatusCode {
    let mut request = Request::post(path)
        .header(header::HOST, "site.test")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.send(request.body(Body::from("a=b")).unwrap())
        .await
        .status
}

#[tokio::test]
async fn forms_from_elsewhere_are_refused() {
    let app = App::new().await;
    let admin = app.admin().await;
    for path in FORMS {
        for from in [
            &[("cookie", admin.as_str())][..],
            &[
                ("cookie", admin.as_str()),
                ("origin", "https://evil.example"),
            ],
            &[("cookie", admin.as_str()), ("origin", "null")],
            &[
                ("cookie", admin.as_str()),
                ("sec-fetch-site", "cross-site"),
                ("origin", BASE),
            ],
            &[("cookie", admin.as_str()), ("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(
                post(&app, path, from).await,
                StatusCode::FORBIDDEN,
                "{path} {from:?}"
            );
        }
    }
}

#[tokio::test]
async fn forms_from_here_are_answered() {
    let app = App::new().await;
    let admin = app.admin().await;
    for from in [("origin", BASE), ("sec-fetch-site", "same-origin")] {
        for path in FORMS {
            let status = post(&app, path, &[("cookie", &admin), from]).await;
            assert_ne!(status, StatusCode::FORBIDDEN, "{path}");
            assert!(!status.is_server_error(), "{path}: {status}");
        }
    }
}

#[tokio::test]
async fn a_token_is_no_excuse_for_a_form() {
    let app = App::new().await;
    let token = app.token("eve").await;
    let bearer = format!("Bearer {token}");
    let from = [("authorization", bearer.as_str())];
    assert_eq!(post(&app, "/me/tokens", &from).await, StatusCode::FORBIDDEN);
    // Uploads and the API take it.
    assert_eq!(
        post(&app, "/files", &from).await,
        StatusCode::PRECONDITION_FAILED
    );
    let withdrawal = post(&app, "/api/v1/submissions/s00000000/withdraw", &from).await;
    assert_eq!(withdrawal, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    // One that isn't known is refused, cookie or not.
    let wrong = [("authorization", "Bearer nothing")];
    assert_eq!(post(&app, "/files", &wrong).await, StatusCode::UNAUTHORIZED);
}
