//! What rows compare with, brought into `target/bench` once: a virtual
//! environment with NumPy, and R with lme4 unpacked from Debian's packages. The
//! system itself is not changed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::folder;
use crate::{shell, ui};

const LONG: Duration = Duration::from_secs(900);

/// The processor's name.
pub(super) fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(':'))
        .map_or_else(|| "unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

/// A Python with the given package, in an environment of its own.
pub(super) fn python(package: &str, version: &str) -> Result<PathBuf> {
    let venv = folder()?.join(format!("venv-{package}-{version}"));
    let python = venv.join("bin/python");
    if venv.join("ready").exists() {
        return Ok(python);
    }
    ui::step(&format!(
        "installing {package} {version} into {}",
        venv.display()
    ));
    let base = shell::find("python3").context("python3 is not installed: install it")?;
    shell::run_quietly(
        Command::new(base).args(["-m", "venv"]).arg(&venv),
        LONG,
        "On Debian the package python3-venv brings the module.",
    )?;
    shell::run_quietly(
        Command::new(&python).args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            &format!("{package}=={version}"),
        ]),
        LONG,
        "A Python package index must be reachable.",
    )?;
    std::fs::write(venv.join("ready"), "")?;
    Ok(python)
}

/// R with lme4: its packages as Debian has them, unpacked and not installed.
pub(super) fn r_with_lme4() -> Result<PathBuf> {
    debian("r-cran-lme4", "usr/lib/R/bin/exec/R")
}

/// A package of Debian's with what it needs, unpacked below `target/bench` and not
/// installed. Where all of it is installed already, nothing is unpacked, and the
/// folder that is given is the system's root. `file` is one that the package holds.
pub(super) fn debian(package: &str, file: &str) -> Result<PathBuf> {
    let base = folder()?.join(package);
    let root = base.join("root");
    if base.join("ready").exists() && root.join(file).exists() {
        return Ok(root);
    }
    if Path::new("/").join(file).exists() {
        return Ok(PathBuf::from("/"));
    }
    let apt = shell::find("apt-get")
        .with_context(|| format!("{package} is Debian's, and there is no apt-get here"))?;
    let archives = base.join("archives");
    std::fs::create_dir_all(archives.join("partial"))?;
    std::fs::create_dir_all(&root)?;
    ui::step(&format!("unpacking {package} into {}", root.display()));
    // Lists may be old or missing; then the download says so.
    let _ = shell::output(Command::new(&apt).args(["update", "-qq"]), LONG);
    shell::run_quietly(
        Command::new(&apt)
            .args([
                "install",
                "-y",
                "--download-only",
                "--no-install-recommends",
            ])
            .arg("-o")
            .arg(format!("Dir::Cache::archives={}", archives.display()))
            .arg(package),
        LONG,
        "Debian's archive must be reachable, and apt-get may need root.",
    )?;
    for entry in std::fs::read_dir(&archives)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "deb") {
            shell::run_quietly(
                Command::new("dpkg-deb").arg("-x").arg(&path).arg(&root),
                LONG,
                "",
            )?;
        }
    }
    if !root.join(file).exists() {
        bail!("apt-get downloaded {package}, but {file} is not in it");
    }
    std::fs::write(base.join("ready"), "")?;
    Ok(root)
}

/// Processor seconds, user's and system's, of this process's ended children so far,
/// to the hundredth.
pub(super) fn children_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // The name in brackets may hold blanks; cutime and cstime are fields 16 and 17.
    let (_, rest) = text
        .rsplit_once(')')
        .context("/proc/self/stat reads oddly")?;
    let ticks: f64 = rest
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(|n| n.parse().unwrap_or(0.0))
        .sum();
    Ok(ticks / 100.0)
}

/// Runs an R script with the unpacked packages.
pub(super) fn r(root: &Path, script: &Path, arguments: &[&str]) -> Result<Value> {
    let home = root.join("usr/lib/R");
    let libraries = [
        home.join("lib"),
        root.join("usr/lib/x86_64-linux-gnu"),
        root.join("usr/lib/x86_64-linux-gnu/blas"),
        root.join("usr/lib/x86_64-linux-gnu/lapack"),
    ];
    let mut command = Command::new(home.join("bin/exec/R"));
    command
        .args(["--vanilla", "--no-echo", "-f"])
        .arg(script)
        .arg("--args")
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        // Without its scripts of /etc, R needs these named.
        .env("EDITOR", "vi")
        .env("PAGER", "cat")
        .env("R_DEFAULT_PACKAGES", "NULL")
        .env("R_HOME", &home)
        .env("R_LIBS_SITE", home.join("site-library"))
        .env("LD_LIBRARY_PATH", std::env::join_paths(libraries)?)
        .env("OMP_NUM_THREADS", "1");
    let output = shell::run_quietly(&mut command, LONG, "R with lme4 could not be run.")?;
    last_json(&output.stdout)
}

/// The JSON in the last line of what a program printed.
pub(super) fn last_json(stdout: &[u8]) -> Result<Value> {
    let text = String::from_utf8_lossy(stdout);
    let line = text
        .lines()
        .rev()
        .find(|l| l.trim_start().starts_with('{'))
        .context("it printed no JSON")?;
    Ok(serde_json::from_str(line.trim())?)
}

/// Builds an example with optimisation and gives its path. Of the whole workspace, so
/// that what it shares with the product is not compiled again with fewer features.
pub(super) fn example(name: &str) -> Result<PathBuf> {
    ui::step(&format!("building the example {name}"));
    shell::run(
        shell::cargo().args([
            "build",
            "--release",
            "--quiet",
            "--workspace",
            "--example",
            name,
        ]),
        "",
    )?;
    Ok(shell::target_dir().join("release/examples").join(name))
}

/// Builds the product with optimisation and gives its path.
pub(super) fn faultboard() -> Result<PathBuf> {
    ui::step("building faultboard with optimisation");
    shell::run(
        shell::cargo().args([
            "build",
            "--release",
            "--quiet",
            "--workspace",
            "--bin",
            "faultboard",
        ]),
        "",
    )?;
    Ok(shell::target_dir()
        .join("release/faultboard")
        .canonicalize()?)
}

/// Starts the product with data below a folder and measures it from outside.
pub(super) fn site(arguments: &[&str], folder: &Path) -> Result<Value> {
    let binary = faultboard()?;
    let client = example("measure_site")?;
    let mut command = Command::new(client);
    command
        .args(arguments)
        .arg(folder)
        .env("FAULTBOARD_BIN", binary);
    last_json(&shell::run_quietly(&mut command, Duration::from_secs(3_600), "")?.stdout)
}

/// Runs a program that prints JSON.
pub(super) fn json_of(command: &mut Command) -> Result<Value> {
    last_json(&shell::run_quietly(command, LONG, "")?.stdout)
}

/// A number of a JSON object.
pub(super) fn number(value: &Value, key: &str) -> Result<f64> {
    value[key]
        .as_f64()
        .with_context(|| format!("no number `{key}` in {value}"))
}

/// A file of this repository's bench folder.
pub(super) fn script(name: &str) -> Result<PathBuf> {
    Ok(Path::new("xtask/bench").join(name).canonicalize()?)
}

/// A reference fixture.
pub(super) fn fixture(name: &str) -> Result<Value> {
    let folder = std::env::var_os("FAULTBOARD_FIXTURES")
        .map_or_else(|| PathBuf::from("tests/fixtures/reference"), PathBuf::from);
    let file = folder.join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("{} can't be read", file.display()))?;
    Ok(serde_json::from_str(&text)?)
}
