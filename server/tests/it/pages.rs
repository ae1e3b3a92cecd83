//! Pages: validators, compression, what is kept and for whom.

use axum::http::StatusCode;

use crate::site::App;

#[tokio::test]
async fn public_pages_carry_a_validator_and_private_ones_are_not_kept() {
    let app = App::new().await;
    let page = app.get("/cases").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.header("cache-control"), "no-cache");
    assert!(page.header("vary").contains("cookie"));
    assert_eq!(
        page.header("content-security-policy"),
        faultboard_app::CONTENT_SECURITY_POLICY
    );
    let tag = page.header("etag").to_owned();
    assert!(tag.starts_with("W/\""));
    let kept = app.get_with("/cases", &[("if-none-match", &tag)]).await;
    assert_eq!(kept.status, StatusCode::NOT_MODIFIED);
    assert!(kept.body.is_empty());

    let session = app.sign_up("eve").await;
    let private = app.get_as(&session, "/cases").await;
    assert_eq!(private.header("cache-control"), "private, no-store");
    assert_eq!(private.header("etag"), "");
}

#[tokio::test]
async fn equal_pages_have_equal_bytes() {
    let app = App::new().await;
    assert_eq!(app.get("/").await.body, app.get("/").await.body);
}

#[tokio::test]
async fn pages_are_compressed_for_those_who_take_it() {
    for kept in [0, 1_000] {
        let app = App::with(|c| c.page_cache = kept).await;
        let plain = app.get("/cases").await;
        assert_eq!(plain.header("content-encoding"), "");
        let packed = app
            .get_with("/cases", &[("accept-encoding", "gzip, br")])
            .await;
        assert_eq!(packed.header("content-encoding"), "br");
        let mut text = Vec::new();
        brotli::BrotliDecompress(&mut &*packed.body, &mut text).unwrap();
        assert_eq!(text, plain.body);
        let gzip = app.get_with("/cases", &[("accept-encoding", "gzip")]).await;
        assert_eq!(gzip.header("content-encoding"), "gzip");
    }
}

#[tokio::test]
async fn a_kept_page_is_shown_again_for_its_time_and_only_to_the_anonymous() {
    let app = App::with(|c| c.page_cache = 5_000).await;
    let before = app.get("/").await.body;
    let session = app.sign_up("eve").await;
    assert_ne!(app.get_as(&session, "/").await.body, before);
    assert_eq!(app.get("/").await.body, before);
    assert_eq!(app.get("/?notice=signed-out").await.status, StatusCode::OK);
    assert_ne!(app.get("/?notice=signed-out").await.body, before);
}

#[tokio::test]
async fn what_is_not_there_is_a_page_with_its_status() {
    let app = App::new().await;
    for path in [
        "/nothing",
        "/cases/nothing-1",
        "/submissions/s00000000",
        "/board/nothing",
        "/docs/nothing",
    ] {
        let page = app.get(path).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert!(
            page.header("content-type").starts_with("text/html"),
            "{path}"
        );
        assert_eq!(page.header("etag"), "", "{path}");
    }
    assert_eq!(app.get("/me").await.status, StatusCode::UNAUTHORIZED);
    let eve = app.sign_up("eve").await;
    assert_eq!(
        app.get_as(&eve, "/admin").await.status,
        StatusCode::FORBIDDEN
    );
}

#[tokio::test]
async fn static_files_are_kept_for_ever_where_their_address_says_so() {
    let app = App::new().await;
    let pkg = app.dir.path().join("site/pkg");
    std::fs::create_dir_all(&pkg).unwrap();
    std::fs::write(pkg.join("faultboard.js"), "// code ".repeat(100)).unwrap();
    std::fs::write(pkg.join(".secret.js"), "no").unwrap();
    std::fs::write(pkg.join("notes.md"), "no").unwrap();

    let plain = app.get("/pkg/faultboard.js").await;
    assert_eq!(
        plain.header("content-type"),
        "text/javascript; charset=utf-8"
    );
    assert_eq!(plain.header("cache-control"), "public, no-cache");
    let versioned = app.get("/pkg/faultboard.js?v=abc").await;
    assert_eq!(
        versioned.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let kept = app
        .get_with(
            "/pkg/faultboard.js",
            &[("if-none-match", plain.header("etag"))],
        )
        .await;
    assert_eq!(kept.status, StatusCode::NOT_MODIFIED);
    let packed = app
        .get_with("/pkg/faultboard.js", &[("accept-encoding", "br")])
        .await;
    assert_eq!(packed.header("content-encoding"), "br");

    std::fs::write(pkg.join("faultboard.js.br"), "packed before").unwrap();
    let before = app
        .get_with("/pkg/faultboard.js", &[("accept-encoding", "br")])
        .await;
    assert_eq!(
        (before.header("content-encoding"), before.text().as_str()),
        ("br", "packed before")
    );
    for path in [
        "/pkg/.secret.js",
        "/pkg/notes.md",
        "/pkg/nothing.js",
        "/pkg/..%2f..%2fdata/faultboard.sqlite",
        "/static/../Cargo.toml",
    ] {
        assert_eq!(app.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
