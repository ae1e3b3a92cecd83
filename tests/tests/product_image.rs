//! The product's image: its run-time stage, made from what is already built,
//! starts as an ordinary user and says that it is well.

use std::path::Path;
use std::process::{Command, Stdio};

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
        "--env",
        &format!("FAULTBOARD_BASE_URL=http://127.0.0.1:{port}"),
        // No engine within: the site serves, and says that it can't score.
        "--env",
        "FAULTBOARD_WORKERS=0",
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
