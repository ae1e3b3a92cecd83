//! Uploads as tus 1.0 says, and by a plain form.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use base64::Engine as _;
use faultboard_domain::Digest;
use futures::stream;

use crate::site::{Answer, App, BASE, sample};

const PIECE: (&str, &str) = ("content-type", "application/offset+octet-stream");

fn b64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

async fn create(app: &App, token: &str, headers: &[(&str, &str)]) -> Answer {
    app.tus(Method::POST, "/files", token, headers, Body::empty())
        .await
}

async fn patch(app: &App, at: &str, token: &str, offset: &str, bytes: &'static [u8]) -> Answer {
    let headers = [PIECE, ("upload-offset", offset)];
    app.tus(Method::PATCH, at, token, &headers, bytes).await
}

async fn head(app: &App, at: &str, token: &str) -> Answer {
    app.tus(Method::HEAD, at, token, &[], Body::empty()).await
}

#[tokio::test]
async fn what_is_offered_is_told() {
    let app = App::with(|c| c.max_upload = 1_000).await;
    let request = Request::options("/files").body(Body::empty()).unwrap();
    let offer = app.send(request).await;
    assert_eq!(offer.status, StatusCode::NO_CONTENT);
    assert_eq!(offer.header("tus-resumable"), "1.0.0");
    assert_eq!(offer.header("tus-version"), "1.0.0");
    assert_eq!(offer.header("tus-max-size"), "1000");
    assert_eq!(
        offer.header("tus-extension"),
        "creation,creation-with-upload,checksum,termination"
    );
}

#[tokio::test]
async fn another_version_is_refused_before_anything_else() {
    let app = App::new().await;
    let token = app.token("eve").await;
    for version in [None, Some("0.2.2")] {
        let mut request = Request::post("/files")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header("upload-length", "5");
        if let Some(version) = version {
            request = request.header("tus-resumable", version);
        }
        let answer = app.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
        assert_eq!(answer.header("tus-version"), "1.0.0");
    }
}

#[tokio::test]
async fn creation_checks_what_it_is_told() {
    let app = App::with(|c| c.max_upload = 1_000).await;
    let token = app.token("eve").await;
    for (headers, status) in [
        (&[][..], 400),
        (&[("upload-length", "-5")], 400),
        (&[("upload-length", "+5")], 400),
        (&[("upload-length", "5.0")], 400),
        (&[("upload-length", "99999999999999999999")], 400),
        (&[("upload-defer-length", "1")], 400),
        (&[("upload-length", "0")], 400),
        (&[("upload-length", "1001")], 413),
        (
            &[("upload-length", "5"), ("upload-metadata", "filename ???")],
            400,
        ),
        (
            &[("upload-length", "5"), ("upload-metadata", "sha256 YQ==")],
            400,
        ),
    ] {
        let answer = create(&app, &token, headers).await;
        assert_eq!(
            answer.status.as_u16(),
            status,
            "{headers:?}: {}",
            answer.text()
        );
        assert_eq!(answer.header("tus-resumable"), "1.0.0");
    }
    let nobody = app
        .send(
            Request::post("/files")
                .header("origin", BASE)
                .header("tus-resumable", "1.0.0")
                .header("upload-length", "5")
                .body(Body::empty())
                .unwrap(),
        )
        .await;
    assert_eq!(nobody.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn bytes_arrive_in_pieces_and_nothing_else_moves_the_offset() {
    let app = App::new().await;
    let token = app.token("eve").await;
    let name = format!("filename {}", b64("a/b.tar.gz"));
    let made = create(
        &app,
        &token,
        &[("upload-length", "10"), ("upload-metadata", &name)],
    )
    .await;
    assert_eq!(made.status, StatusCode::CREATED);
    let at = made.header("location").to_owned();
    assert!(at.starts_with("/files/p"));

    assert_eq!(
        patch(&app, &at, &token, "1", b"x").await.status,
        StatusCode::CONFLICT
    );
    assert_eq!(
        patch(&app, &at, &token, "x", b"x").await.status,
        StatusCode::BAD_REQUEST
    );
    let kind = [
        ("content-type", "application/octet-stream"),
        ("upload-offset", "0"),
    ];
    let other = app.tus(Method::PATCH, &at, &token, &kind, "x").await;
    assert_eq!(other.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let long = [PIECE, ("upload-offset", "0"), ("content-length", "11")];
    let over = app
        .tus(Method::PATCH, &at, &token, &long, "01234567890")
        .await;
    assert_eq!(over.status, StatusCode::PAYLOAD_TOO_LARGE);
    let told = head(&app, &at, &token).await;
    assert_eq!(
        (told.header("upload-offset"), told.header("upload-length")),
        ("0", "10")
    );
    assert_eq!(told.header("cache-control"), "no-store");

    let first = patch(&app, &at, &token, "0", b"01234").await;
    assert_eq!(first.status, StatusCode::NO_CONTENT);
    assert_eq!(first.header("upload-offset"), "5");
    assert_eq!(first.header("faultboard-submission"), "");
    let last = patch(&app, &at, &token, "5", b"56789").await;
    assert_eq!(last.header("upload-offset"), "10");
    let id = last.header("faultboard-submission").to_owned();
    assert!(id.starts_with('s'));
    assert_eq!(
        head(&app, &at, &token)
            .await
            .header("faultboard-submission"),
        id
    );
    // What has become a submission is not ended as an upload.
    let ended = app
        .tus(Method::DELETE, &at, &token, &[], Body::empty())
        .await;
    assert_eq!(ended.status, StatusCode::CONFLICT);
    // The submission knows the file's name, without its folder.
    let bearer = format!("Bearer {token}");
    let view = app
        .get_with(
            &format!("/api/v1/submissions/{id}"),
            &[("authorization", &bearer)],
        )
        .await;
    assert_eq!(view.json()["file_name"], "b.tar.gz");
}

#[tokio::test]
async fn a_broken_connection_keeps_what_arrived() {
    let app = App::new().await;
    let token = app.token("eve").await;
    let at = create(&app, &token, &[("upload-length", "10")])
        .await
        .header("location")
        .to_owned();
    let pieces = vec![Ok("0123"), Err(std::io::Error::other("the line is cut"))];
    let broken = Body::from_stream(stream::iter(pieces));
    let answer = app
        .tus(
            Method::PATCH,
            &at,
            &token,
            &[PIECE, ("upload-offset", "0")],
            broken,
        )
        .await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(head(&app, &at, &token).await.header("upload-offset"), "4");
    let last = patch(&app, &at, &token, "4", b"456789").await;
    assert!(last.header("faultboard-submission").starts_with('s'));
}

#[tokio::test]
async fn uploads_are_their_owners() {
    let app = App::new().await;
    let (eve, ada) = (app.token("eve").await, app.token("ada").await);
    let at = create(&app, &eve, &[("upload-length", "10")])
        .await
        .header("location")
        .to_owned();
    assert_eq!(head(&app, &at, &ada).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        patch(&app, &at, &ada, "0", b"x").await.status,
        StatusCode::NOT_FOUND
    );
    let ended = app.tus(Method::DELETE, &at, &ada, &[], Body::empty()).await;
    assert_eq!(ended.status, StatusCode::NOT_FOUND);
    let ended = app.tus(Method::DELETE, &at, &eve, &[], Body::empty()).await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    assert_eq!(head(&app, &at, &eve).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn other_bytes_than_promised_are_refused() {
    let app = App::new().await;
    let token = app.token("eve").await;
    let promise = format!("sha256 {}", b64(Digest::of(b"01234").as_str()));
    let headers = [
        ("upload-length", "5"),
        ("upload-metadata", promise.as_str()),
    ];
    let at = create(&app, &token, &headers)
        .await
        .header("location")
        .to_owned();
    let refused = patch(&app, &at, &token, "0", b"01235").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.text().contains("SHA-256"));
    let at = create(&app, &token, &headers)
        .await
        .header("location")
        .to_owned();
    assert_eq!(
        patch(&app, &at, &token, "0", b"01234").await.status,
        StatusCode::NO_CONTENT
    );
}

#[tokio::test]
async fn creation_may_bring_bytes_and_methods_may_be_disguised() {
    let app = App::new().await;
    let token = app.token("eve").await;
    let headers = [PIECE, ("upload-length", "6")];
    let made = app
        .tus(Method::POST, "/files", &token, &headers, "012")
        .await;
    assert_eq!(made.status, StatusCode::CREATED);
    assert_eq!(made.header("upload-offset"), "3");
    let at = made.header("location").to_owned();
    let disguised = [
        PIECE,
        ("upload-offset", "3"),
        ("x-http-method-override", "PATCH"),
    ];
    let last = app.tus(Method::POST, &at, &token, &disguised, "345").await;
    assert_eq!(last.status, StatusCode::NO_CONTENT);
    assert!(last.header("faultboard-submission").starts_with('s'));
    let plain = app.tus(Method::POST, &at, &token, &[], Body::empty()).await;
    assert_eq!(plain.status, StatusCode::METHOD_NOT_ALLOWED);
}

/// A form with a file, as browsers send it.
fn form(cookie: &str, fields: &[(&str, Option<&str>, &[u8])]) -> Request<Body> {
    const EDGE: &str = "----edge7d1b";
    let mut body = Vec::new();
    for (name, file, bytes) in fields {
        let file = file
            .map(|f| format!("; filename=\"{f}\""))
            .unwrap_or_default();
        body.extend(
            format!("--{EDGE}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n")
                .bytes(),
        );
        body.extend_from_slice(bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{EDGE}--\r\n").bytes());
    Request::post("/submit")
        .header("origin", BASE)
        .header("cookie", cookie)
        .header(
            "content-type",
            format!("multipart/form-data; boundary={EDGE}"),
        )
        .body(Body::from(body))
        .unwrap()
}

#[tokio::test]
async fn a_plain_form_hands_in_too() {
    let app = App::new().await;
    let session = app.sign_up("eve").await;
    let sum = Digest::of(sample());
    let sent = app
        .send(form(
            &session,
            &[
                ("bundle", Some("my bundle.tar.gz"), sample()),
                ("sha256", None, sum.as_str().as_bytes()),
            ],
        ))
        .await;
    let to = sent.header("location");
    assert!(
        to.starts_with("/submissions/s") && to.ends_with("?notice=uploaded"),
        "{to}"
    );
    let page = app.get_as(&session, to.split('?').next().unwrap()).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text().contains("my bundle.tar.gz"));
    // Nothing is left of the way through the disk.
    let left: Vec<_> = std::fs::read_dir(app.dir.path().join("data/uploads"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_form_without_a_file_or_with_a_wrong_sum_leads_back() {
    let app = App::with(|c| c.max_upload = 100_000).await;
    let session = app.sign_up("eve").await;
    let sum = "0".repeat(64);
    for (fields, word) in [
        (vec![], "Choose"),
        (vec![("bundle", Some(""), &b""[..])], "Choose"),
        (
            vec![
                ("bundle", Some("x"), &b"abc"[..]),
                ("sha256", None, sum.as_bytes()),
            ],
            "SHA-256",
        ),
        (
            vec![
                ("sha256", None, &b"zz"[..]),
                ("bundle", Some("x"), &b"abc"[..]),
            ],
            "hexadecimal",
        ),
    ] {
        let sent = app.send(form(&session, &fields)).await;
        let why = sent.refused();
        assert_eq!(sent.header("location"), "/submit");
        assert!(why.contains(word), "{word}: {why} {}", sent.text());
    }
    let large = vec![b'x'; 200_000];
    let sent = app
        .send(form(&session, &[("bundle", Some("x"), &large)]))
        .await;
    assert!(sent.refused().contains("larger"), "{:?}", sent.headers);
    let nobody = app.send(form("", &[("bundle", Some("x"), b"abc")])).await;
    assert_eq!(nobody.header("location"), "/sign-in?next=%2Fsubmit");
}
