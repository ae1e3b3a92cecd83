//! `cargo xtask fuzz [TARGET ...]`: libFuzzer on every parser of foreign bytes, with
//! coverage from the ordinary compiler. Targets, their runner and the kept corpus lie
//! in `fuzz/`, a workspace of its own that no other task builds; the tests of the
//! packages replay the kept corpus with every run. What a run finds lies in
//! `target/fuzz`; only `--keep` changes the corpus.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::{shell, ui};

/// Targets beside the trace formats.
const TARGETS: [&str; 5] = ["archive", "diagnosis", "patch", "case_yaml", "guards"];
/// Trace formats, each a target `trace-ID`; `trace` lets the reader find the format.
const FORMATS: [&str; 12] = [
    "faultboard",
    "inspect",
    "atif",
    "mini-swe-agent",
    "swe-agent",
    "openhands",
    "codex",
    "claude-code",
    "otel-genai",
    "aider",
    "trajectory",
    "text",
];
/// Instruments code as libFuzzer wants it, with options that the stable compiler has.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";
/// The most bytes of an input that is kept, of a target's kept inputs, and their number.
const KEPT_INPUT: u64 = 2 << 10;
const KEPT_TARGET: u64 = 32 << 10;
const KEPT_INPUTS: usize = 48;

/// What to run.
#[derive(Debug)]
pub(crate) struct Options {
    targets: Vec<String>,
    seconds: u64,
    keep: bool,
}

impl Options {
    /// Reads the task's arguments.
    pub(crate) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self {
            targets: Vec::new(),
            seconds: 600,
            keep: false,
        };
        let known = all();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--seconds" => {
                    let value = args.next().context("--seconds needs a number")?;
                    options.seconds = value.parse().context("--seconds needs a number")?;
                }
                "--keep" => options.keep = true,
                name if known.iter().any(|k| k == name) => options.targets.push(name.to_owned()),
                other => bail!("fuzz has no target '{other}'; it has {}", known.join(", ")),
            }
        }
        if options.targets.is_empty() {
            options.targets = known;
        }
        Ok(options)
    }
}

fn all() -> Vec<String> {
    let formats = FORMATS.iter().map(|f| format!("trace-{f}"));
    TARGETS
        .iter()
        .chain(&["trace"])
        .map(|t| (*t).to_owned())
        .chain(formats)
        .collect()
}

/// Fuzzes each target for so many seconds; fails if one crashed.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let phase = ui::phase("building the targets with instrumentation");
    let programs = build()?;
    phase.done();
    let work = shell::target_dir().join("fuzz");
    let seeds = work.join("seeds");
    let _ = std::fs::remove_dir_all(&seeds);
    shell::run_quietly(
        Command::new(programs.join("seed")).env("FAULTBOARD_FUZZ_SEEDS", &seeds),
        Duration::from_secs(120),
        "",
    )?;
    let mut crashed = Vec::new();
    for target in &options.targets {
        let phase = ui::phase(&format!("{target}, {} s", options.seconds));
        let found = work.join("found").join(target);
        let crashes = work.join("crashes").join(target);
        for folder in [&found, &crashes, &seeds.join(target)] {
            std::fs::create_dir_all(folder)?;
        }
        let mut command = program(&programs, target);
        command
            .arg(&found)
            .args(
                [kept(target), seeds.join(target)]
                    .iter()
                    .filter(|f| f.is_dir()),
            )
            .arg(format!("-max_total_time={}", options.seconds))
            .arg(format!("-artifact_prefix={}/", crashes.display()))
            .args([
                "-max_len=65536",
                "-timeout=20",
                "-rss_limit_mb=2048",
                "-print_final_stats=1",
            ]);
        let output = shell::output(&mut command, Duration::from_secs(options.seconds + 300))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let stat = |name: &str| {
            text.lines()
                .find_map(|l| l.strip_prefix(&format!("stat::{name}:")))
                .map_or("?", str::trim)
                .to_owned()
        };
        let covered = text
            .lines()
            .rev()
            .find_map(|l| l.split("cov: ").nth(1)?.split(' ').next())
            .unwrap_or("?");
        ui::step(&format!(
            "{target}: {} inputs, {covered} edges, {} MiB at most",
            stat("number_of_executed_units"),
            stat("peak_rss_mb"),
        ));
        if !output.status.success() {
            ui::warn(&format!(
                "{target} crashed; the input lies in {}\n{}",
                crashes.display(),
                shell::tail(&output, 30)
            ));
            crashed.push(target.clone());
        } else if options.keep {
            keep(&programs, target, &[found, seeds.join(target)])?;
        }
        phase.done();
    }
    if crashed.is_empty() {
        ui::step("no target crashed");
        return Ok(ExitCode::SUCCESS);
    }
    ui::warn(&format!("crashed: {}", crashed.join(", ")));
    Ok(ExitCode::FAILURE)
}

/// Where a target's kept inputs lie.
fn kept(target: &str) -> PathBuf {
    Path::new("fuzz/corpus").join(target)
}

fn program(programs: &Path, target: &str) -> Command {
    match target.strip_prefix("trace-") {
        Some(format) => {
            let mut command = Command::new(programs.join("trace"));
            command.env("FAULTBOARD_FUZZ_FORMAT", format);
            command
        }
        None => Command::new(programs.join(target)),
    }
}

/// Builds every target; gives the folder of the programs.
fn build() -> Result<PathBuf> {
    let version = shell::run_quietly(
        Command::new("rustc").arg("-vV"),
        Duration::from_secs(60),
        "",
    )?;
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = text
        .lines()
        .find_map(|l| l.strip_prefix("host: "))
        .context("rustc does not say what it compiles for")?;
    let target_dir = std::path::absolute(shell::target_dir().join("fuzz/build"))?;
    // A named target keeps the flags away from build scripts and macros.
    shell::run(
        shell::cargo()
            .args([
                "build",
                "--release",
                "--quiet",
                "--locked",
                "--target",
                host,
            ])
            .args(["--manifest-path", "fuzz/Cargo.toml"])
            .env("CARGO_TARGET_DIR", &target_dir)
            .env("RUSTFLAGS", FLAGS),
        "libFuzzer is C++: on Debian the package g++ compiles it.",
    )?;
    Ok(target_dir.join(host).join("release"))
}

/// Makes the kept corpus anew: of all inputs the smallest set that covers as much, as
/// far as each input and all of them are small.
fn keep(programs: &Path, target: &str, from: &[PathBuf]) -> Result<()> {
    let merged = shell::target_dir().join("fuzz/merged").join(target);
    let _ = std::fs::remove_dir_all(&merged);
    std::fs::create_dir_all(&merged)?;
    shell::run_quietly(
        program(programs, target)
            .arg("-merge=1")
            .arg(format!("-max_len={KEPT_INPUT}"))
            .arg(&merged)
            .args([kept(target)].iter().filter(|f| f.is_dir()))
            .args(from),
        Duration::from_secs(900),
        "",
    )?;
    let mut inputs: Vec<(u64, PathBuf)> = std::fs::read_dir(&merged)?
        .map(|e| {
            let e = e?;
            Ok((e.metadata()?.len(), e.path()))
        })
        .collect::<std::io::Result<_>>()?;
    inputs.sort();
    let folder = kept(target);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    // Small and large ones alike, where not all have room.
    let total: u64 = inputs.iter().map(|(n, _)| n).sum();
    let every = usize::try_from(total / KEPT_TARGET)
        .unwrap_or(0)
        .max(inputs.len() / KEPT_INPUTS)
        + 1;
    let mut count = 0;
    for (_, path) in inputs.iter().step_by(every) {
        let name = path.file_name().context("an input without a name")?;
        std::fs::copy(path, folder.join(name))?;
        count += 1;
    }
    ui::step(&format!(
        "{target}: {count} inputs kept of {}",
        inputs.len()
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_known_and_has_kept_inputs() {
        shell::enter_workspace().unwrap();
        for target in all() {
            assert!(Options::parse(std::slice::from_ref(&target)).is_ok());
            assert!(kept(&target).is_dir(), "{target} has no corpus");
        }
        assert!(Options::parse(&["nothing".to_owned()]).is_err());
    }
}
