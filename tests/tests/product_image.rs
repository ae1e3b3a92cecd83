//! The product's image: its run-time stage, made from what is already built,
//! starts as an ordinary user, says that it is well, and scores a bundle with
//! the engine that it is given.

use std::path::Path;
use std::process::{Command, Stdio};

use faultboard_tests::bundle::{Draft, GOOD_PATCH, IDLE_PATCH};
use faultboard_tests::journey::{await_state, outcomes};
use faultboard_tests::reader::Reader;
use faultboard_tests::server::free_port;
use faultboard_tests::{Result, bail, ensure, machine, need, wait_for};

const TAG: &str = "faultboard/product-test:1";
const BASE: &str = "faultboard/base:1";

fn docker(args: &[&str]) -> Result<String> {
    let output = Command::new("docker")
        .args(args)
        .env("DOCKER_BUILDKIT", "0")
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        bail!(
            "docker {}: {}\n{}",
            args.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Lays out what the image takes: the binary without its symbols, the site,
/// the cases.
fn context(dir: &Path) -> Result<()> {
    let root = machine::root();
    let dist = dir.join("dist");
    std::fs::create_dir_all(dist.join("bin"))?;
    std::fs::copy(root.join("Dockerfile"), dir.join("Dockerfile"))?;
    std::fs::create_dir_all(dir.join("docker/product"))?;
    let entry = "docker/product/entry.sh";
    std::fs::copy(root.join(entry), dir.join(entry))?;
    let binary = dist.join("bin/faultboard");
    let stripped = Command::new("strip")
        .arg("-o")
        .arg(&binary)
        .arg(machine::binary())
        .status();
    if !stripped.is_ok_and(|s| s.success()) {
        std::fs::copy(machine::binary(), &binary)?;
    }
    let site = machine::site().map_err(anyhow::Error::msg)?;
    for (from, to) in [
        (site, "site"),
        (root.join("static"), "static"),
        (root.join("cases"), "cases"),
        (root.join("cases-solution"), "cases-solution"),
        (root.join("samples"), "samples"),
    ] {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(&from)
            .arg(dist.join(to))
            .status()?;
        ensure!(copied.success(), "{} can't be copied", from.display());
    }
    Ok(())
}

/// Removes what the test made.
struct Cleaner(String);

impl Drop for Cleaner {
    fn drop(&mut self) {
        let _ = docker(&["rm", "--force", "--volumes", &self.0]);
        let _ = docker(&["rmi", "--force", TAG]);
    }
}

#[tokio::test]
async fn the_image_starts_and_is_well() -> Result<()> {
    need!(
        "the_image_starts_and_is_well",
        machine::image(BASE),
        machine::root_user(),
        machine::site()
    );
    let dir = tempfile::tempdir()?;
    context(dir.path())?;
    let folder = dir.path().display().to_string();
    docker(&[
        "build",
        "--target",
        "packed",
        "--build-arg",
        &format!("BASE={BASE}"),
        "--tag",
        TAG,
        &folder,
    ])?;

    // One path for the data inside and outside: the engine mounts from it.
    let data = tempfile::Builder::new()
        .prefix("faultboard-product-")
        .tempdir()?;
    let path = data.path().display().to_string();
    std::os::unix::fs::chown(data.path(), Some(10_001), Some(10_001))?;
    let socket = "/var/run/docker.sock";
    let group = std::os::unix::fs::MetadataExt::gid(&std::fs::metadata(socket)?).to_string();
    let port = free_port()?;
    let name = format!("faultboard-product-test-{port}");
    let cleaner = Cleaner(name.clone());
    docker(&[
        "run",
        "--detach",
        "--name",
        &name,
        "--label",
        "faultboard-test=product",
        "--publish",
        &format!("127.0.0.1:{port}:3000"),
        "--volume",
        &format!("{path}:{path}"),
        "--volume",
        &format!("{socket}:{socket}"),
        "--group-add",
        &group,
        "--env",
        &format!("FAULTBOARD_DATA_DIR={path}"),
        "--env",
        &format!("FAULTBOARD_BASE_URL=http://127.0.0.1:{port}"),
        "--read-only",
        "--tmpfs",
        "/tmp",
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        TAG,
    ])?;
    let health = format!("http://127.0.0.1:{port}/healthz");
    let answered = wait_for("the image's first answer", 60, async || {
        let running = docker(&["inspect", "--format", "{{.State.Running}}", &name])?;
        ensure!(
            running == "true",
            "it ended:\n{}",
            docker(&["logs", &name])?
        );
        faultboard_tests::name_tls_provider();
        Ok(reqwest::get(&health)
            .await
            .is_ok_and(|a| a.status().is_success())
            .then_some(()))
    })
    .await;
    if answered.is_err() {
        eprintln!("{}", docker(&["logs", &name])?);
    }
    answered?;

    let home = reqwest::get(format!("http://127.0.0.1:{port}/")).await?;
    ensure!(
        home.status().is_success(),
        "the first page: {}",
        home.status()
    );
    let wasm = reqwest::get(format!("http://127.0.0.1:{port}/pkg/faultboard.wasm")).await?;
    ensure!(
        wasm.status().is_success(),
        "the browser's half: {}",
        wasm.status()
    );
    ensure!(
        docker(&["exec", &name, "id", "-u"])? == "10001",
        "it runs as another user"
    );
    let health = wait_for("the image's own health check", 60, async || {
        let health = docker(&["inspect", "--format", "{{.State.Health.Status}}", &name])?;
        Ok((health != "starting").then_some(health))
    })
    .await?;
    ensure!(health == "healthy", "{health}");

    // It scores: the containers of the case run beside it.
    let reader = Reader::at(&format!("http://127.0.0.1:{port}"))?;
    reader.sign_up("Grace").await?;
    let draft = Draft::repair("Boxed").patches(GOOD_PATCH, IDLE_PATCH);
    let id = reader.submit(&draft.file_name(), draft.pack()?).await?;
    await_state(&reader, &id, &["scored"], 300).await?;
    let told: Vec<String> = outcomes(&reader, &id).await?.into_values().collect();
    ensure!(
        told == ["fail", "pass"],
        "{told:?}\n{}",
        docker(&["logs", &name])?
    );

    // It ends when asked, within its grace.
    docker(&["stop", "--time", "40", &name])?;
    let code = docker(&["inspect", "--format", "{{.State.ExitCode}}", &name])?;
    ensure!(
        code == "0",
        "it ended with {code}:\n{}",
        docker(&["logs", &name])?
    );
    drop(cleaner);
    Ok(())
}
