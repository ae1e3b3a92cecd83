//! Whatever is sent, the answer is a refusal and never a failure of ours.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode, header};

use crate::site::{App, BASE};

/// Things that are no ids.
const NO_IDS: [&str; 15] = [
    "x",
    "%00",
    "%ff%fe",
    "..",
    "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "s'; drop table submissions; --",
    "%3Cscript%3E",
    "-1",
    "9223372036854775808",
    "s00000000%0d%0aset-cookie:%20a=b",
    "S00000000",
    "s0000000000000000000000000000000000000000000000000000000000",
    "%F0%9F%92%A9",
    "%25%32%35",
];

fn encoded(path: &str) -> String {
    path.replace(' ', "%20").replace('\'', "%27")
}

#[tokio::test]
async fn bad_ids_name_nothing() {
    let app = App::new().await;
    let admin = app.admin().await;
    let paths = [
        "/submissions/{}",
        "/submissions/{}/events",
        "/submissions/{}/traces.zip",
        "/submissions/{}/traces.tar.zst",
        "/submissions/{}/report.json",
        "/submissions/{}/selection.json",
        "/attempts/{}",
        "/attempts/{}/trace",
        "/cases/{}",
        "/board/{}",
        "/board/{}.csv",
        "/figures/repair/{}/pareto.svg",
        "/figures/repair/{}/pareto",
        "/figures/{}/2026.1/pareto.svg",
        "/figures/repair/2026.1/{}.svg",
        "/figures/repair/2026.1/{}",
        "/attempts/{}/label-map.svg",
        "/attempts/a00000000/{}.svg",
        "/admin/jobs/{}",
        "/admin/jobs/{}/events",
        "/admin/review/{}",
        "/api/v1/submissions/{}",
        "/api/v1/attempts/{}",
        "/api/v1/cases/{}",
        "/api/v1/boards/{}",
        "/static/{}",
        "/docs/{}",
        "/{}",
    ];
    for path in paths {
        for id in NO_IDS {
            let path = encoded(&path.replace("{}", id));
            let answer = app.get_as(&admin, &path).await;
            assert!(
                answer.status.is_client_error(),
                "{path}: {} {}",
                answer.status,
                answer.text()
            );
            assert!(!answer.headers.contains_key("a"), "{path}");
        }
    }
    for path in [
        "/submissions/{}/withdraw",
        "/admin/submissions/{}/publish",
        "/admin/revisions/{}/apply",
        "/admin/findings/{}/clear",
        "/admin/jobs/{}/retry",
        "/me/tokens/{}/revoke",
        "/admin/queue/{}",
    ] {
        for id in NO_IDS {
            let path = encoded(&path.replace("{}", id));
            let answer = app.form(&path, &admin, "reason=x&note=x").await;
            let refused = answer.status.is_client_error() || !answer.refused().is_empty();
            assert!(refused, "{path}: {} {:?}", answer.status, answer.headers);
        }
    }
}

#[tokio::test]
async fn odd_queries_do_no_harm() {
    let app = App::new().await;
    for query in [
        "release=%00&subset=%ff",
        "sort=nothing&reverse=1",
        "slice=%3Cscript%3Ealert(1)%3C/script%3E",
        "agent=%F0%9F%92%A9&model=%25",
        "step=99999999999&q=%00%01",
        "step=-1",
        "limit=0",
        "limit=99999999999999999999999",
        "after=%00",
        "notice=%3Cb%3E&error=%3Cscript%3Ealert(1)%3C/script%3E",
        "track=repair&track=diagnosis&theme=%00",
        "%%%&&&===",
    ] {
        for path in [
            "/",
            "/board/repair",
            "/board/diagnosis.csv",
            "/cases",
            "/figures",
            "/figures/repair/2026.1/pareto",
            "/figures/repair/2026.1/pareto.svg",
            "/api/v1/cases",
            "/api/v1/boards/repair",
            "/sign-in",
            "/changes",
        ] {
            let answer = app.get(&format!("{path}?{query}")).await;
            assert!(
                !answer.status.is_server_error(),
                "{path}?{query}: {}",
                answer.text()
            );
            assert!(
                !answer.text().contains("<script>alert(1)"),
                "{path}?{query}"
            );
        }
    }
}

#[tokio::test]
async fn odd_headers_do_no_harm() {
    let app = App::new().await;
    let long = "x".repeat(60_000);
    let raw: [(&str, &[u8]); 16] = [
        ("cookie", b"fb_session=\xff\xfe"),
        ("cookie", long.as_bytes()),
        ("cookie", b"fb_session=;;;===; fb_session=../../x"),
        ("authorization", b"Bearer"),
        ("authorization", b"Bearer \xff"),
        ("authorization", long.as_bytes()),
        ("if-none-match", b"\xff,\"\",W/,*x"),
        ("range", b"bytes=99999999999999999999-"),
        ("accept-encoding", b"\xff;q=1, br;q=abc"),
        ("accept", b"\xff"),
        ("host", b"<script>"),
        ("referer", b"http://\xff/"),
        ("x-forwarded-for", b"\xff, not an address"),
        ("x-http-method-override", b"\xff"),
        ("content-length", b"5"),
        ("sec-fetch-site", b"\xff"),
    ];
    for (name, value) in raw {
        for path in [
            "/",
            "/me",
            "/board/repair.csv",
            "/static/faultboard.css",
            "/api/v1/me",
            "/submissions/s00000000/traces.zip",
        ] {
            let mut request = Request::get(path).body(Body::empty()).unwrap();
            request.headers_mut().insert(
                HeaderName::from_static(name),
                HeaderValue::from_bytes(value).unwrap(),
            );
            let answer = app.send(request).await;
            assert!(
                !answer.status.is_server_error(),
                "{name} at {path}: {}",
                answer.status
            );
        }
    }
}

#[tokio::test]
async fn forms_are_bounded_and_their_rubbish_is_refused() {
    let app = App::new().await;
    let session = app.sign_up("eve").await;
    let large = format!("name={}", "x".repeat(70_000));
    let answer = app.form("/me/tokens", &session, &large).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    for (kind, body) in [
        ("application/json", "{}"),
        ("multipart/form-data", "x"),
        ("text/plain", "name=x"),
        (
            "application/x-www-form-urlencoded",
            "name=%zz&name=%ff&name=x",
        ),
        ("application/x-www-form-urlencoded", "days=99999999999"),
        ("application/x-www-form-urlencoded", "\u{0}"),
    ] {
        for path in ["/me/tokens", "/sign-in", "/submit"] {
            let request = Request::post(path)
                .header(header::ORIGIN, BASE)
                .header(header::COOKIE, &session)
                .header(header::CONTENT_TYPE, kind)
                .body(Body::from(body))
                .unwrap();
            let answer = app.send(request).await;
            let refused = answer.status.is_client_error() || !answer.refused().is_empty();
            assert!(
                refused,
                "{path} {kind} {body}: {} {:?}",
                answer.status, answer.headers
            );
        }
    }
    let deep = "[".repeat(50_000);
    let token = app.token("ada").await;
    let answer = app
        .send(
            Request::post("/api/v1/submissions/s00000000/withdraw")
                .header("authorization", format!("Bearer {token}"))
                .header("content-type", "application/json")
                .body(Body::from(deep))
                .unwrap(),
        )
        .await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert_eq!(answer.json()["status"], 400);
    assert!(
        answer.json()["request_id"]
            .as_str()
            .unwrap()
            .starts_with('q')
    );
}

#[tokio::test]
async fn odd_methods_are_refused() {
    let app = App::new().await;
    for method in ["PUT", "DELETE", "TRACE", "PROPFIND", "BREW"] {
        for path in [
            "/",
            "/cases",
            "/sign-in",
            "/healthz",
            "/static/faultboard.css",
            "/api/v1/cases",
            "/board/repair",
        ] {
            let request = Request::builder()
                .method(Method::from_bytes(method.as_bytes()).unwrap())
                .uri(path)
                .header(header::ORIGIN, BASE)
                .body(Body::empty())
                .unwrap();
            let answer = app.send(request).await;
            assert_eq!(
                answer.status,
                StatusCode::METHOD_NOT_ALLOWED,
                "{method} {path}"
            );
        }
    }
    let head = app
        .send(Request::head("/cases").body(Body::empty()).unwrap())
        .await;
    assert_eq!(head.status, StatusCode::OK);
    assert!(head.body.is_empty());
}
