//! Checks of what the documents claim about the source, and of the house
//! rules that no compiler knows. One file per check and one line in [`CHECKS`];
//! a check reads the tree and lists every problem, it mends nothing.

mod cases;
mod dependencies;
mod guarantees;
mod levels;
mod manifests;
mod markdown;
mod modules;
mod scripts;
mod words;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{shell, ui};

/// What every check reads.
pub(crate) struct Tree {
    /// Files of the repository, tracked or about to be, relative to its root.
    files: Vec<PathBuf>,
    /// `cargo metadata --no-deps`.
    metadata: Value,
}

/// One check: its name, and what finds its problems.
type Check = (&'static str, fn(&Tree) -> Vec<String>);

const CHECKS: [Check; 8] = [
    ("levels", levels::check),
    ("manifests", manifests::check),
    ("modules", modules::check),
    ("words", words::check),
    ("dependencies", dependencies::check),
    ("cases", cases::check),
    ("scripts", scripts::check),
    ("guarantees", guarantees::check),
];

/// Runs every check, shows every problem, and fails if there is one.
pub(crate) fn tidy() -> Result<()> {
    let tree = Tree::read()?;
    let mut problems = 0;
    for (name, check) in CHECKS {
        let found = check(&tree);
        ui::step(&format!("{name}: {}", verdict(found.len())));
        for problem in &found {
            ui::warn(&format!("{name}: {problem}"));
        }
        problems += found.len();
    }
    if problems > 0 {
        bail!(
            "tidy found {}; each line above says what to mend",
            verdict(problems)
        );
    }
    Ok(())
}

fn verdict(problems: usize) -> String {
    match problems {
        0 => "in order".to_owned(),
        1 => "1 problem".to_owned(),
        n => format!("{n} problems"),
    }
}

impl Tree {
    fn read() -> Result<Self> {
        let mut command = shell::cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1", "--locked"]);
        let output = shell::run_quietly(&mut command, Duration::from_secs(300), "")?;
        let metadata =
            serde_json::from_slice(&output.stdout).context("cargo's metadata is not JSON")?;
        Ok(Self {
            files: repository_files()?,
            metadata,
        })
    }

    /// The files with one of these endings.
    fn with_extension<'a>(&'a self, endings: &'a [&str]) -> impl Iterator<Item = &'a PathBuf> {
        self.files.iter().filter(move |f| {
            f.extension()
                .is_some_and(|e| endings.iter().any(|wanted| e == *wanted))
        })
    }

    /// The packages of the workspace.
    fn packages(&self) -> impl Iterator<Item = &Value> {
        self.metadata["packages"].as_array().into_iter().flatten()
    }
}

/// What git knows or would add; in a copy without git, every file but those
/// that builds and runs leave behind.
fn repository_files() -> Result<Vec<PathBuf>> {
    let mut command = Command::new("git");
    command.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let listed = shell::output(&mut command, Duration::from_secs(60));
    let mut files: Vec<PathBuf> = match listed {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout)
            .context("a file name is not UTF-8")?
            .split_terminator('\0')
            .map(PathBuf::from)
            .filter(|f| f.is_file())
            .collect(),
        _ => shell::files(std::path::Path::new("."))
            .into_iter()
            .filter_map(|f| f.strip_prefix(".").ok().map(PathBuf::from))
            .filter(|f| !f.starts_with("target") && !f.starts_with("data"))
            .collect(),
    };
    files.sort();
    Ok(files)
}

/// A package's name as ARCHITECTURE.md writes it.
fn short(name: &str) -> &str {
    name.strip_prefix("faultboard-").unwrap_or(name)
}
