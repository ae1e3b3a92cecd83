//! What this machine has: a container runtime, a browser, the built site. A
//! test that lacks something skips itself, and says so on standard error.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."))
        .to_owned()
}

/// The folder that this test was built into (`target/debug`).
pub fn build_dir() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    // target/debug/deps/NAME-HASH
    exe.ancestors().nth(2).unwrap_or(Path::new(".")).to_owned()
}

/// cargo's target folder.
pub fn target_dir() -> PathBuf {
    build_dir().parent().unwrap_or(Path::new(".")).to_owned()
}

/// Where failed tests leave what helps to understand them.
pub fn evidence_dir() -> PathBuf {
    target_dir().join("e2e")
}

/// The product's binary, built beside this test.
pub fn binary() -> PathBuf {
    std::env::var_os("FAULTBOARD_BIN").map_or_else(|| build_dir().join("faultboard"), PathBuf::from)
}

/// Says that a test does not run here, and why. `cargo xtask test` counts
/// these lines; they bypass the test runner's capture on purpose.
pub fn skip(test: &str, reason: &str) {
    // A test that can't even say that it is skipped has nothing to add.
    let _ = writeln!(std::io::stderr(), "SKIP {test}: {reason}");
}

/// The most bytes of memory that a process has held so far.
pub fn memory_peak(process: u32) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    text.lines()
        .find_map(|l| l.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"))
        .and_then(|n| n.trim().parse::<u64>().ok())
        .map(|n| n * 1024)
        .ok_or_else(|| anyhow::anyhow!("/proc/{process}/status tells no peak"))
}

/// Says what a test measured; it bypasses the test runner's capture on purpose.
pub fn tell(what: &str) {
    // Figures are an extra: a closed pipe changes no result.
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Skips a test when this machine lacks something.
#[macro_export]
macro_rules! need {
    ($test:literal, $($what:expr),+ $(,)?) => {
        $(
            if let Err(reason) = $what {
                $crate::machine::skip($test, &reason);
                return Ok(());
            }
        )+
    };
}

/// Which runtime cases use here, as the binary's setting spells it.
pub fn runtime() -> Result<&'static str, String> {
    if std::env::var("FAULTBOARD_RUNTIME").is_ok_and(|r| r == "bubblewrap") {
        return bubblewrap();
    }
    match docker() {
        Ok(()) => Ok("docker"),
        Err(reason) => bubblewrap().map_err(|other| format!("{reason}, and {other}")),
    }
}

fn bubblewrap() -> Result<&'static str, String> {
    find("bwrap")
        .map(|_| "bubblewrap")
        .ok_or_else(|| "bubblewrap is not installed".to_owned())
}

/// Whether a Docker engine answers.
pub fn docker() -> Result<(), String> {
    quiet("docker", &["version", "--format", "{{.Server.Version}}"])
        .map_err(|_| "no Docker engine answers".to_owned())
}

/// Whether this process may give files to other users.
pub fn root_user() -> Result<(), String> {
    if rustix::process::geteuid().is_root() {
        Ok(())
    } else {
        Err("only root can give a folder to the image's user".to_owned())
    }
}

/// Whether an image of the cases is there.
pub fn image(name: &str) -> Result<(), String> {
    docker()?;
    quiet("docker", &["image", "inspect", name])
        .map_err(|_| format!("the image {name} was not built (cargo xtask images)"))
}

/// The browser and its driver.
pub fn browser() -> Result<(PathBuf, PathBuf), String> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .find_map(|name| find(name))
        .ok_or("no Chromium is installed")?;
    let driver = find("chromedriver").ok_or("no chromedriver is installed")?;
    Ok((browser, driver))
}

/// The built browser's half of the site.
pub fn site() -> Result<PathBuf, String> {
    let site = target_dir().join("site");
    if site.join("pkg/faultboard.wasm").is_file() {
        Ok(site)
    } else {
        Err("the browser's half was not built (cargo xtask wasm)".to_owned())
    }
}

/// The accessibility rules.
pub fn axe_script() -> Result<PathBuf, String> {
    let script = target_dir().join("axe/axe_playwright_python/axe.min.js");
    if script.is_file() {
        Ok(script)
    } else {
        Err("axe-core was not fetched (cargo xtask setup)".to_owned())
    }
}

/// The folder with the tus client of PyPI, and a Python for it.
pub fn tus_client() -> Result<(PathBuf, PathBuf), String> {
    let python = find("python3").ok_or("no Python is installed")?;
    let folder = target_dir().join("tus-client");
    if folder.join("tusclient/client.py").is_file() {
        Ok((python, folder))
    } else {
        Err("the tus client was not fetched (cargo xtask setup)".to_owned())
    }
}

/// The folder with the agent of PyPI, and a Python for it.
pub fn agent() -> Result<(PathBuf, PathBuf), String> {
    let python = find("python3").ok_or("no Python is installed")?;
    let folder = target_dir().join("agent");
    if folder.join("minisweagent/run/mini.py").is_file() {
        Ok((python, folder))
    } else {
        Err("the agent was not fetched (cargo xtask setup)".to_owned())
    }
}

/// The most memory that a process has held at once, bytes.
///
/// # Errors
/// When the kernel does not tell: the process is gone.
pub fn peak_memory(pid: u32) -> std::io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse::<u64>().ok())
        .map(|kb| kb * 1024)
        .ok_or_else(|| std::io::Error::other("the kernel tells no VmHWM"))
}

/// A program on PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

fn quiet(program: &str, args: &[&str]) -> Result<(), ()> {
    let status = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => Err(()),
    }
}
