//! Running other programs: found on PATH, bounded in time, with an error that
//! names the command and shows the end of what it said. Never through a shell.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Makes the workspace's root the working directory.
pub(crate) fn enter_workspace() -> Result<()> {
    let root = workspace_root()?;
    std::env::set_current_dir(&root).with_context(|| format!("{} can't be entered", root.display()))
}

/// The folder with the workspace's Cargo.toml: above this package when cargo
/// started us, else above the working directory.
fn workspace_root() -> Result<PathBuf> {
    let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => std::env::current_dir().context("the working directory is gone")?,
    };
    for dir in start.ancestors() {
        let manifest = dir.join("Cargo.toml");
        if std::fs::read_to_string(&manifest).is_ok_and(|t| t.contains("[workspace]")) {
            return Ok(dir.to_owned());
        }
    }
    bail!(
        "no workspace above {}: run `cargo xtask` inside the repository",
        start.display()
    )
}

/// Where cargo writes: `CARGO_TARGET_DIR`, else `target`.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// The full path of a program on PATH (or in the places that PATH of an
/// unprivileged user often leaves out).
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// The cargo that runs this task, in an environment without what it tells its
/// children: some build scripts watch those variables and would run again,
/// and half of the tree with them.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    forget_parent_cargo(&mut command);
    command
}

/// Takes a parent cargo's own variables out of a command's environment.
pub(crate) fn forget_parent_cargo(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let Some(text) = name.to_str() else { continue };
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"]
            .iter()
            .any(|p| text.starts_with(p))
            || ["CARGO", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"].contains(&text);
        if own {
            command.env_remove(&name);
        }
    }
}

/// Runs a command whose output the person sees.
pub(crate) fn run(command: &mut Command, advice: &str) -> Result<()> {
    let shown = show(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("`{shown}` could not be started. {advice}"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status}). {advice}");
    }
    Ok(())
}

/// Runs a command quietly; its last lines are in the error when it fails.
pub(crate) fn run_quietly(command: &mut Command, limit: Duration, advice: &str) -> Result<Output> {
    let shown = show(command);
    let output = output(command, limit)?;
    if !output.status.success() {
        bail!(
            "`{shown}` failed ({}). {advice}\n{}",
            output.status,
            tail(&output, 20)
        );
    }
    Ok(output)
}

/// Runs a command with a time limit and collects what it says.
pub(crate) fn output(command: &mut Command, limit: Duration) -> Result<Output> {
    let shown = show(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{shown}` could not be started"))?;
    // Both pipes are drained while waiting: a full one would stop the child.
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            bail!("`{shown}` gave no answer within {} s", limit.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    Ok(Output {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What could be read counts; the exit status tells the rest.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// A command as a person would type it.
pub(crate) fn show(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The last lines that a command said, standard error last.
pub(crate) fn tail(output: &Output, lines: usize) -> String {
    let both = [&output.stdout[..], b"\n", &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&both);
    let all: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// The certificates that this machine trusts, so that set-up containers trust
/// them too; nothing where the person set it otherwise.
pub(crate) fn certificates() -> Option<PathBuf> {
    if std::env::var_os("FAULTBOARD_CA_BUNDLE").is_some() {
        return None;
    }
    std::env::var_os("SSL_CERT_FILE")
        .map(PathBuf::from)
        .into_iter()
        .chain([PathBuf::from("/etc/ssl/certs/ca-certificates.crt")])
        .find(|file| file.is_file())
}

/// Whether the caller is root.
pub(crate) fn is_root() -> bool {
    // /proc/self belongs to the effective user.
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

/// Every file below a folder, in a fixed order; hidden ones and links left out.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_ended() {
        let begun = Instant::now();
        let error = output(Command::new("sleep").arg("30"), Duration::from_millis(200));
        assert!(error.unwrap_err().to_string().contains("no answer"));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_failure_shows_what_the_command_said() {
        let mut command = Command::new("ls");
        command.arg("/no/such/folder");
        let error = run_quietly(&mut command, Duration::from_secs(10), "Look again.");
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("Look again.") && text.contains("/no/such/folder"),
            "{text}"
        );
    }
}
