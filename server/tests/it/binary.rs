//! The binary as scripts use it, and the listener that real connections meet.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use faultboard_server::http::listen::{self, Limits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use crate::site::{App, root, sample};

/// Runs the binary in the repository's folder, with nothing of the environment's settings.
async fn run(dir: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_faultboard"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FAULTBOARD_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(root())
        .args(args)
        .env("XDG_STATE_HOME", dir)
        .envs(env.iter().copied())
        .kill_on_drop(true);
    tokio::time::timeout(Duration::from_secs(60), command.output())
        .await
        .expect("it ends in time")
        .unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Serves a site on a free port; its address.
async fn serve(app: &App, limits: Limits) -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = listen::serve(listener, app.router.clone(), limits, app.stop.subscribe());
    (address.to_string(), tokio::spawn(served))
}

const LIMITS: Limits = Limits {
    connections: 10,
    head: Duration::from_secs(5),
    idle: Duration::from_secs(5),
    grace: Duration::from_secs(5),
};

#[tokio::test]
async fn exit_codes_are_as_documented() {
    let dir = tempfile::tempdir().unwrap();
    let bundle = root().join("samples/diagnosis/2026-11-30_walkthrough-a__hand-written-steps");
    let bundle = bundle.to_str().unwrap();
    let good = run(dir.path(), &["submit", "check", bundle], &[]).await;
    assert_eq!(
        code(&good),
        0,
        "{}{}",
        text(&good.stdout),
        text(&good.stderr)
    );
    assert!(text(&good.stdout).contains("in order"));

    let broken = dir.path().join("2026-01-01_a__b");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("metadata.yaml"), "track: repair\n").unwrap();
    let bad = run(
        dir.path(),
        &["submit", "check", "--json", broken.to_str().unwrap()],
        &[],
    )
    .await;
    assert_eq!(code(&bad), 1, "{}", text(&bad.stderr));
    let report: faultboard_domain::Report = serde_json::from_slice(&bad.stdout).unwrap();
    assert!(!report.is_ok());

    for args in [
        &["submit", "check", "/nothing/here"][..],
        &["nothing"],
        &["serve", "--listen", "nowhere"],
        &["submit", "upload", bundle],
        &["--config", "/nothing/here", "settings"],
    ] {
        let refused = run(dir.path(), args, &[]).await;
        assert_eq!(code(&refused), 2, "{args:?}");
        assert!(!refused.stderr.is_empty(), "{args:?}");
    }
    let listed = run(dir.path(), &["settings", "--json"], &[]).await;
    assert_eq!(code(&listed), 0);
    assert!(text(&listed.stdout).contains("FAULTBOARD_DATA_DIR"));
}

#[tokio::test]
async fn the_command_line_sends_follows_and_takes_back() {
    let app = App::new().await;
    let token = app.token("owner").await;
    let (address, _serving) = serve(&app, LIMITS).await;
    let url = format!("http://{address}");
    let env = [
        ("FAULTBOARD_URL", url.as_str()),
        ("FAULTBOARD_TOKEN", token.as_str()),
    ];
    let file = app.dir.path().join("bundle.tar.gz");
    std::fs::write(&file, sample()).unwrap();
    let file = file.to_str().unwrap();

    let sent = run(app.dir.path(), &["submit", "upload", file, "--json"], &env).await;
    assert_eq!(code(&sent), 0, "{}", text(&sent.stderr));
    let told: serde_json::Value = serde_json::from_slice(&sent.stdout).unwrap();
    let id = told["submission"].as_str().unwrap();
    let status = run(app.dir.path(), &["submit", "status", id], &env).await;
    assert_eq!(code(&status), 0);
    assert!(
        text(&status.stdout).starts_with(&format!("{id}: received.")),
        "{}",
        text(&status.stdout)
    );
    let back = run(
        app.dir.path(),
        &["submit", "withdraw", id, "--reason", "a test"],
        &env,
    )
    .await;
    assert_eq!(code(&back), 0, "{}", text(&back.stderr));
    let status = run(app.dir.path(), &["submit", "status", id], &env).await;
    assert_eq!(code(&status), 1);

    let wrong = [
        ("FAULTBOARD_URL", url.as_str()),
        ("FAULTBOARD_TOKEN", "nothing"),
    ];
    let refused = run(app.dir.path(), &["submit", "upload", file], &wrong).await;
    assert_eq!(code(&refused), 2);
    assert!(
        text(&refused.stderr).contains("401"),
        "{}",
        text(&refused.stderr)
    );
}

#[tokio::test]
async fn an_upload_that_was_begun_before_goes_on_where_it_stopped() {
    use axum::body::Body;
    use axum::http::Method;
    let app = App::new().await;
    let token = app.token("owner").await;
    let (address, _serving) = serve(&app, LIMITS).await;
    let url = format!("http://{address}");
    let length = sample().len().to_string();
    let made = app
        .tus(
            Method::POST,
            "/files",
            &token,
            &[("upload-length", &length)],
            Body::empty(),
        )
        .await;
    let at = made.header("location").to_owned();
    let half = sample().len() / 2;
    let headers = [
        ("content-type", "application/offset+octet-stream"),
        ("upload-offset", "0"),
    ];
    app.tus(
        Method::PATCH,
        &at,
        &token,
        &headers,
        sample()[..half].to_vec(),
    )
    .await;
    let key = format!("{url} {}", faultboard_domain::Digest::of(sample()));
    let state = app.dir.path().join("faultboard");
    std::fs::create_dir_all(&state).unwrap();
    let kept = serde_json::json!({ key: format!("{url}{at}") });
    std::fs::write(state.join("uploads.json"), kept.to_string()).unwrap();

    let file = app.dir.path().join("bundle.tar.gz");
    std::fs::write(&file, sample()).unwrap();
    let env = [
        ("FAULTBOARD_URL", url.as_str()),
        ("FAULTBOARD_TOKEN", token.as_str()),
    ];
    let sent = run(
        app.dir.path(),
        &["submit", "upload", file.to_str().unwrap()],
        &env,
    )
    .await;
    assert_eq!(code(&sent), 0, "{}", text(&sent.stderr));
    // It is the upload that was begun before that became the submission.
    let told = app.tus(Method::HEAD, &at, &token, &[], Body::empty()).await;
    assert!(text(&sent.stdout).starts_with(told.header("faultboard-submission")));
    assert_eq!(
        std::fs::read_to_string(state.join("uploads.json"))
            .unwrap()
            .trim(),
        "{}"
    );
}

#[tokio::test]
async fn a_head_that_never_ends_is_given_up() {
    let app = App::new().await;
    let limits = Limits {
        head: Duration::from_millis(300),
        ..LIMITS
    };
    let (address, _serving) = serve(&app, limits).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n")
        .await
        .unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the connection is closed");
    assert!(!text(&rest).contains("200 OK"));
}

#[tokio::test]
async fn running_requests_end_before_the_process_does() {
    let app = App::new().await;
    let token = app.token("owner").await;
    let (address, serving) = serve(&app, LIMITS).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nTus-Resumable: 1.0.0\r\n\
         Upload-Length: 4\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 4\r\n\r\nab"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    app.stop.send(true).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(
        TcpStream::connect(&address).await.is_err(),
        "nothing new is taken"
    );
    assert!(!serving.is_finished());
    stream.write_all(b"cd").await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(text(&rest).starts_with("HTTP/1.1 201"), "{}", text(&rest));
    serving.await.unwrap();
}
