//! Event streams: they begin with the present state, follow changes, and end
//! when the process does.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use faultboard_domain::SubmissionId;
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use crate::site::App;

/// Opens a stream.
async fn open(app: &App, path: &str, headers: &[(&str, &str)]) -> axum::response::Response {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.router
        .clone()
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap()
}

/// The next event of a stream; none when it has ended.
async fn next(body: &mut Body) -> Option<String> {
    let frame = tokio::time::timeout(Duration::from_secs(10), body.frame())
        .await
        .expect("an event comes in time");
    let bytes = frame?.unwrap().into_data().unwrap();
    Some(String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn a_submission_is_followed_by_those_who_may_see_it() {
    let app = App::new().await;
    let token = app.token("eve").await;
    let id = app
        .upload(&token, b"no archive")
        .await
        .header("faultboard-submission")
        .to_owned();
    let path = format!("/submissions/{id}/events");
    assert_eq!(open(&app, &path, &[]).await.status(), StatusCode::NOT_FOUND);

    let bearer = format!("Bearer {token}");
    let response = open(
        &app,
        &path,
        &[("authorization", &bearer), ("accept-encoding", "br, gzip")],
    )
    .await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(!response.headers().contains_key("content-encoding"));
    let mut body = response.into_body();
    let first = next(&mut body).await.unwrap();
    assert!(
        first.starts_with("event: live\ndata: {") && first.contains("\"received\""),
        "{first}"
    );
    let id = SubmissionId::parse(&id).unwrap();
    let actor = app.portal.actor_by_token(&token).await.unwrap();
    app.portal
        .withdraw(&actor, &id, "changed my mind")
        .await
        .unwrap();
    let second = next(&mut body).await.unwrap();
    assert!(second.contains("\"withdrawn\""), "{second}");
    app.stop.send(true).unwrap();
    assert_eq!(next(&mut body).await, None);
}

#[tokio::test]
async fn the_queue_and_logs_are_for_maintainers() {
    let app = App::new().await;
    let (admin, eve) = (app.admin().await, app.sign_up("eve").await);
    for path in ["/admin/queue/events", "/admin/jobs/1/events"] {
        assert_eq!(
            open(&app, path, &[]).await.status(),
            StatusCode::UNAUTHORIZED,
            "{path}"
        );
        assert_eq!(
            open(&app, path, &[("cookie", &eve)]).await.status(),
            StatusCode::FORBIDDEN,
            "{path}"
        );
    }
    let mut body = open(&app, "/admin/queue/events", &[("cookie", &admin)])
        .await
        .into_body();
    let first = next(&mut body).await.unwrap();
    assert!(first.starts_with("event: queue\ndata: {"), "{first}");
    let paused = app.form("/admin/queue/pause", &admin, "").await;
    assert_eq!(
        paused.header("location"),
        "/admin/queue?notice=queue-paused"
    );
    let second = next(&mut body).await.unwrap();
    assert!(second.contains("\"paused\":true"), "{second}");
}
