//! The headers that every answer carries, whatever it is.

use axum::http::StatusCode;

use crate::site::App;

/// Addresses of every kind; many of them refuse an anonymous reader.
const PATHS: [&str; 36] = [
    "/",
    "/board/repair",
    "/board/diagnosis.csv",
    "/board/diagnosis.json",
    "/board/nothing.csv",
    "/cases",
    "/cases/relay-1",
    "/cases/nothing-1",
    "/submissions/s00000000",
    "/submissions/s00000000/report.json",
    "/submissions/s00000000/traces.zip",
    "/submissions/s00000000/traces.tar.zst",
    "/submissions/s00000000/events",
    "/attempts/a00000000",
    "/attempts/a00000000/trace",
    "/figures/repair/teaching/pareto.svg",
    "/figures",
    "/figures/repair/teaching/pareto",
    "/attempts/a00000000/label-map.svg",
    "/submit",
    "/sign-in",
    "/sign-up",
    "/first-admin",
    "/me",
    "/admin",
    "/admin/queue",
    "/admin/queue/events",
    "/admin/jobs/1",
    "/changes",
    "/docs/submit",
    "/static/faultboard.css",
    "/pkg/nothing.js",
    "/api/v1/boards",
    "/api/v1/nothing",
    "/healthz",
    "/nothing/here",
];

#[tokio::test]
async fn every_answer_is_safe_to_show() {
    let app = App::new().await;
    for path in PATHS {
        let answer = app.get(path).await;
        assert!(
            !answer.status.is_server_error(),
            "{path}: {}",
            answer.text()
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert!(
            answer.header("permissions-policy").contains("camera=()"),
            "{path}"
        );
        assert!(answer.header("x-request-id").starts_with('q'), "{path}");
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe-inline"), "{path}: {policy}");
        assert!(!answer.header("cache-control").is_empty(), "{path}");
    }
}

#[tokio::test]
async fn request_ids_differ_and_stand_on_error_pages() {
    let app = App::new().await;
    let (a, b) = (app.get("/nothing").await, app.get("/nothing").await);
    assert_ne!(a.header("x-request-id"), b.header("x-request-id"));
    assert_eq!(a.status, StatusCode::NOT_FOUND);
    for answer in [
        a,
        app.get("/submissions/s00000000/traces.zip").await,
        app.get("/api/v1/cases/x").await,
    ] {
        assert!(
            answer.text().contains(answer.header("x-request-id")),
            "{}",
            answer.text()
        );
    }
}

#[tokio::test]
async fn a_proxys_word_counts_only_where_one_stands() {
    let given = [("x-request-id", "from-the-proxy-1")];
    let alone = App::new().await;
    assert_ne!(
        alone
            .get_with("/healthz", &given)
            .await
            .header("x-request-id"),
        "from-the-proxy-1"
    );
    let behind = App::with(|c| c.behind_proxy = true).await;
    assert_eq!(
        behind
            .get_with("/healthz", &given)
            .await
            .header("x-request-id"),
        "from-the-proxy-1"
    );
    let odd = [("x-request-id", "<b>not an id</b>")];
    assert!(
        behind
            .get_with("/healthz", &odd)
            .await
            .header("x-request-id")
            .starts_with('q')
    );
}

#[tokio::test]
async fn https_is_insisted_on_where_it_is_set() {
    let plain = App::new().await;
    assert_eq!(plain.get("/").await.header("strict-transport-security"), "");
    let secure = App::with(|c| c.secure_cookies = true).await;
    assert!(
        secure
            .get("/")
            .await
            .header("strict-transport-security")
            .starts_with("max-age=")
    );
}

#[tokio::test]
async fn metrics_are_for_this_machine_or_for_a_token() {
    let app = App::new().await;
    // Without a connection there is no loopback address.
    assert_eq!(app.get("/metrics").await.status, StatusCode::FORBIDDEN);
    let app = App::with(|c| c.metrics_token = Some("secret".into())).await;
    assert_eq!(
        app.get_with("/metrics", &[("authorization", "Bearer wrong")])
            .await
            .status,
        StatusCode::FORBIDDEN
    );
    let answer = app
        .get_with("/metrics", &[("authorization", "Bearer secret")])
        .await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(
        answer
            .text()
            .contains("faultboard_http_requests_total{class=\"4xx\"} 1"),
        "{}",
        answer.text()
    );
}
