//! The images of cases as plain folders, for the bubblewrap runtime: what
//! docker/*/Dockerfile says, done in a root file system made by debootstrap.
//! It reads the few instructions that our own Dockerfiles use and refuses any
//! other; it needs root.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{shell, ui};

/// What an image is built on, as its Dockerfile says.
const PARENT: &str = "PARENT=faultboard/";

const SUITE: &str = "bookworm";
const HALF_HOUR: Duration = Duration::from_secs(1_800);

/// Where the folders lie, one per image.
pub(crate) fn dir() -> PathBuf {
    shell::target_dir().join("rootfs")
}

/// The images under a folder, parents first, each with its parent: `base`, and
/// whatever names one as its parent.
fn images(docker: &Path) -> Result<Vec<(String, Option<String>)>> {
    let mut waiting = Vec::new();
    for entry in std::fs::read_dir(docker).context("the folder of images can't be read")? {
        let entry = entry?;
        let Ok(text) = std::fs::read_to_string(entry.path().join("Dockerfile")) else {
            continue;
        };
        let parent = instructions(&text).into_iter().find_map(|(i, rest)| {
            (i == "ARG")
                .then_some(rest)?
                .strip_prefix(PARENT)?
                .strip_suffix(":1")
                .map(str::to_owned)
        });
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(parent) = parent {
            waiting.push((name, parent));
        }
    }
    waiting.sort();
    let mut found = vec![("base".to_owned(), None)];
    while !waiting.is_empty() {
        let (ready, rest): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(_, parent)| found.iter().any(|(name, _)| name == parent));
        if ready.is_empty() {
            bail!("these images name a parent that is none: {rest:?}");
        }
        found.extend(ready.into_iter().map(|(name, parent)| (name, Some(parent))));
        waiting = rest;
    }
    Ok(found)
}

/// Makes the folders that are missing or whose Dockerfile changed.
pub(crate) fn build(force: bool) -> Result<()> {
    if !shell::is_root() {
        bail!(
            "root file systems for bubblewrap can only be made by root: run `sudo -E cargo xtask images` once"
        );
    }
    if shell::find("debootstrap").is_none() {
        bail!("debootstrap is missing: apt-get install debootstrap");
    }
    std::fs::create_dir_all(dir()).context("the folder of root file systems can't be made")?;
    for (name, parent) in images(Path::new("docker"))? {
        let (name, parent) = (name.as_str(), parent.as_deref());
        let root = folder(name);
        let stamp = root.with_extension("inputs");
        let inputs = inputs(name, parent)?;
        let current = std::fs::read_to_string(&stamp).is_ok_and(|s| s == inputs);
        if current && root.is_dir() && !force {
            ui::step(&format!("{name}: {} is up to date", root.display()));
            continue;
        }
        ui::step(&format!("{name}: making {}", root.display()));
        let fresh = root.with_extension("new");
        remove(&fresh)?;
        match parent {
            Some(parent) => copy(&folder(parent), &fresh)?,
            None => debootstrap(&fresh)?,
        }
        apply(name, &fresh)?;
        remove(&root)?;
        std::fs::rename(&fresh, &root)
            .with_context(|| format!("{} can't be put in place", root.display()))?;
        std::fs::write(&stamp, inputs)
            .context("the stamp of a root file system can't be written")?;
    }
    Ok(())
}

/// An image's folder, named as the runtime looks for it.
fn folder(name: &str) -> PathBuf {
    dir().join(format!("faultboard_{name}_1"))
}

fn inputs(name: &str, parent: Option<&str>) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in shell::files(&Path::new("docker").join(name)) {
        file.hash(&mut hasher);
        std::fs::read(&file)?.hash(&mut hasher);
    }
    if let Some(parent) = parent {
        std::fs::read_to_string(folder(parent).with_extension("inputs"))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn remove(dir: &Path) -> Result<()> {
    if dir.exists() {
        shell::run(
            Command::new("rm")
                .args(["-rf", "--one-file-system"])
                .arg(dir),
            "",
        )?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    shell::run(
        Command::new("cp")
            .args(["-a", "--reflink=auto"])
            .arg(from)
            .arg(to),
        "Is the disk full?",
    )
}

fn debootstrap(root: &Path) -> Result<()> {
    let mirror = mirror(SUITE).unwrap_or_else(|| "http://deb.debian.org/debian".to_owned());
    let security = mirror_of_security(&mirror);
    let mut command = Command::new("debootstrap");
    command
        .args(["--variant=minbase", SUITE])
        .arg(root)
        .arg(&mirror);
    shell::run_quietly(
        &mut command,
        HALF_HOUR,
        "Does the package mirror of this machine answer?",
    )?;
    let sources = format!(
        "deb {mirror} {SUITE} main\ndeb {mirror} {SUITE}-updates main\ndeb {security} {SUITE}-security main\n"
    );
    std::fs::write(root.join("etc/apt/sources.list"), sources)
        .context("the list of mirrors can't be written")
}

/// The first address from which this machine installs a suite.
fn mirror(suite: &str) -> Option<String> {
    let mut command = Command::new("apt-get");
    command.args([
        "indextargets",
        "--format",
        "$(RELEASE) $(REPO_URI)",
        "Created-By: Packages",
    ]);
    let output = shell::output(&mut command, Duration::from_secs(60)).ok()?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| {
            let (release, uri) = line.split_once(' ')?;
            (release == suite).then(|| uri.trim_end_matches('/').to_owned())
        })
}

fn mirror_of_security(mirror_of_suite: &str) -> String {
    mirror(&format!("{SUITE}-security")).unwrap_or_else(|| {
        let host = mirror_of_suite
            .strip_suffix("/debian")
            .unwrap_or(mirror_of_suite);
        format!("{host}/debian-security")
    })
}

/// Does what an image's Dockerfile says.
fn apply(name: &str, root: &Path) -> Result<()> {
    let context = Path::new("docker").join(name);
    let file = context.join("Dockerfile");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("{} can't be read", file.display()))?;
    let mut environment: Vec<(String, String)> = Vec::new();
    // Names are resolved as here.
    let _ = std::fs::copy("/etc/resolv.conf", root.join("etc/resolv.conf"));
    for (instruction, rest) in instructions(&text) {
        match instruction.as_str() {
            "FROM" | "ARG" => {}
            "ENV" => environment.extend(pairs(&rest)),
            "COPY" => copy_into(&context, &rest, root)?,
            "RUN" => {
                let mut command = Command::new("chroot");
                command.arg(root).args(["/bin/sh", "-c", &rest]).env_clear();
                command.env(
                    "PATH",
                    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                );
                command.env("HOME", "/root");
                for name in ["http_proxy", "https_proxy", "no_proxy"] {
                    if let Some(value) = std::env::var_os(name) {
                        command.env(name, value);
                    }
                }
                command.envs(environment.iter().map(|(k, v)| (k, v)));
                shell::run_quietly(
                    &mut command,
                    HALF_HOUR,
                    "The image's Dockerfile says what was wanted.",
                )?;
            }
            other => bail!(
                "{} uses {other}, which is not done for bubblewrap",
                file.display()
            ),
        }
    }
    Ok(())
}

/// The instructions of a Dockerfile, continued lines joined, comments gone.
fn instructions(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = String::new();
    for line in text.lines().filter(|l| !l.trim_start().starts_with('#')) {
        match line.strip_suffix('\\') {
            Some(part) => open.push_str(part),
            None => {
                open.push_str(line);
                if let Some((instruction, rest)) = open.trim().split_once(' ') {
                    found.push((instruction.to_owned(), rest.trim().to_owned()));
                }
                open.clear();
            }
        }
    }
    found
}

/// `A=b C=d` as pairs.
fn pairs(text: &str) -> Vec<(String, String)> {
    text.split_whitespace()
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned()))
        .collect()
}

fn copy_into(context: &Path, rest: &str, root: &Path) -> Result<()> {
    let Some((from, to)) = rest.split_once(' ') else {
        bail!("COPY {rest}: one source and one target are understood");
    };
    let target = root.join(to.trim().trim_start_matches('/'));
    if from == "build-ca/" {
        // Made by the caller, as docker/build.sh does: the certificates that
        // https mirrors need, where this machine has some.
        std::fs::create_dir_all(&target)?;
        let bundle = Path::new("/etc/ssl/certs/ca-certificates.crt");
        if bundle.is_file() {
            std::fs::copy(bundle, target.join("ca-bundle.crt"))?;
        }
        return Ok(());
    }
    std::fs::create_dir_all(target.parent().unwrap_or(root))?;
    std::fs::copy(context.join(from), &target).with_context(|| format!("COPY {rest}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continued_lines_are_one_instruction() {
        let text = "# note\nARG A=1\nFROM ${A}\nRUN set -eu; \\\n    # why\n    true; \\\n    false\nENV A=b C=\"d\"\n";
        let found = instructions(text);
        let names: Vec<&str> = found.iter().map(|(i, _)| i.as_str()).collect();
        assert_eq!(names, ["ARG", "FROM", "RUN", "ENV"]);
        assert_eq!(
            found[2].1.split_whitespace().collect::<Vec<_>>(),
            ["set", "-eu;", "true;", "false"]
        );
        assert_eq!(
            pairs(&found[3].1),
            [
                ("A".to_owned(), "b".to_owned()),
                ("C".to_owned(), "d".to_owned())
            ]
        );
    }

    #[test]
    fn every_dockerfile_of_ours_is_understood() {
        let docker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker");
        let found = images(&docker).unwrap();
        assert!(found.len() >= 4 && found[0] == ("base".to_owned(), None));
        for (name, _) in found {
            let file = docker.join(&name).join("Dockerfile");
            let text = std::fs::read_to_string(&file).unwrap();
            for (instruction, _) in instructions(&text) {
                let known = ["FROM", "ARG", "ENV", "COPY", "RUN"].contains(&instruction.as_str());
                assert!(known, "{name}: {instruction}");
            }
        }
    }
}
