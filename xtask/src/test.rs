//! Every test of the workspace, from nothing: set-up, images, WebAssembly,
//! house rules, lints, one build, the tests. The last line counts them, in the
//! form that both people and machines read.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{engine, images, rootfs, setup, shell, tidy, ui, wasm};

/// Packages that must stay free of anything that a browser hasn't got. The
/// app's browser half is not among them: it is really built.
const BROWSER_CLEAN: [&str; 7] = [
    "faultboard-domain",
    "faultboard-stats",
    "faultboard-scoring",
    "faultboard-leakage",
    "faultboard-bundle",
    "faultboard-catalog",
    "faultboard-trace",
];

/// What the tests came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
    ignored: u64,
    skipped: Vec<String>,
}

/// Runs everything; the exit code says whether all of it passed.
pub(crate) fn test(args: &[String]) -> Result<ExitCode> {
    let mut lint = true;
    for arg in args {
        match arg.as_str() {
            "--no-lint" => lint = false,
            other => bail!("test does not know '{other}'"),
        }
    }
    let begun = Instant::now();
    let mut report = Report::default();

    let phase = ui::phase("set-up");
    setup::setup(&setup::Wanted::everything())?;
    report.times.push(phase.done());

    if lint {
        report.gate("house rules", tidy::tidy);
        report.gate("formatting", || {
            let mut command = shell::cargo();
            command.args(["fmt", "--all", "--check"]);
            shell::run(&mut command, "Run: cargo fmt --all")
        });
    }

    let phase = ui::phase("images");
    let engine = images::build(false)?;
    report.times.push(phase.done());

    let phase = ui::phase("the browser's half");
    wasm::build(&wasm::Options::default())?;
    report.times.push(phase.done());

    if lint {
        report.gate("lints", || {
            let mut command = shell::cargo();
            command.args([
                "clippy",
                "--locked",
                "--workspace",
                "--all-targets",
                "--quiet",
                "--",
                "-D",
                "warnings",
            ]);
            shell::run(&mut command, "clippy's message above says what and where.")
        });
        report.gate("free of the operating system", || {
            wasm::gate(&BROWSER_CLEAN)
        });
    }

    let phase = ui::phase("build");
    // The product's binary too: the end-to-end tests start it.
    let mut command = shell::cargo();
    command.args(["build", "--locked", "--workspace", "--all-targets"]);
    shell::run(&mut command, "The compiler's message above says why.")?;
    report.times.push(phase.done());

    let phase = ui::phase("tests");
    let mut command = shell::cargo();
    command.args([
        "test",
        "--locked",
        "--workspace",
        "--no-fail-fast",
        "--",
        "--show-output",
    ]);
    // A failed check of an end-to-end test is told by its words.
    command.env("RUST_LIB_BACKTRACE", "0");
    if let Some(bundle) = shell::certificates() {
        command.env("FAULTBOARD_CA_BUNDLE", bundle);
    }
    match engine {
        engine::Engine::Docker(_) => command.env("FAULTBOARD_REQUIRE_RUNTIMES", "docker"),
        engine::Engine::None(_) => command
            .env("FAULTBOARD_RUNTIME", "bubblewrap")
            .env("FAULTBOARD_ROOTFS_DIR", std::path::absolute(rootfs::dir())?),
    };
    report.count = follow(&mut command)?;
    report.times.push(phase.done());

    Ok(report.print(begun.elapsed()))
}

/// What is said at the end.
#[derive(Debug, Default)]
struct Report {
    times: Vec<(String, Duration)>,
    gates_failed: Vec<String>,
    count: Count,
}

impl Report {
    /// Runs one check that the tests don't depend on: its failure is reported
    /// at the end and does not keep the rest from running.
    fn gate(&mut self, name: &str, check: impl FnOnce() -> Result<()>) {
        let phase = ui::phase(name);
        if let Err(error) = check() {
            ui::failure(&error);
            self.gates_failed.push(name.to_owned());
        }
        self.times.push(phase.done());
    }

    fn print(&self, took: Duration) -> ExitCode {
        let _ = ui::phase("summary");
        for (name, time) in &self.times {
            ui::step(&format!("{:>12}  {name}", ui::human(*time)));
        }
        ui::step(&format!("{:>12}  in all", ui::human(took)));
        for skipped in &self.count.skipped {
            ui::warn(skipped);
        }
        if self.count.ignored > 0 {
            ui::warn(&format!(
                "{} ignored by their own attribute",
                self.count.ignored
            ));
        }
        for gate in &self.gates_failed {
            ui::warn(&format!("failed: {gate}"));
        }
        let (passed, failed, skipped) = self.totals();
        ui::plain(&format!(
            "\n{passed} passed, {failed} failed, {skipped} skipped"
        ));
        if failed == 0 && passed > 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    /// A test that skipped itself counts as passed for the test runner, not
    /// for us.
    fn totals(&self) -> (u64, u64, u64) {
        let own = self.count.skipped.len() as u64;
        (
            self.count.passed.saturating_sub(own),
            self.count.failed + self.gates_failed.len() as u64,
            self.count.ignored + own,
        )
    }
}

/// Runs the tests, shows what they say (of passing ones only what they
/// skipped), and counts.
fn follow(command: &mut Command) -> Result<Count> {
    let (reader, writer) = std::io::pipe().context("no pipe")?;
    let shown = shell::show(command);
    let mut child = command
        .stdin(std::process::Stdio::null())
        .stdout(writer.try_clone().context("no second end of the pipe")?)
        .stderr(writer)
        .spawn()
        .with_context(|| format!("`{shown}` could not be started"))?;
    // The command holds the pipe's writing ends: without this the reader
    // would wait for ourselves.
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut reading = Reading::default();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.context("the tests' output broke off")?;
        let line = String::from_utf8_lossy(&line);
        if reading.line(&line) {
            ui::plain(&line);
        }
    }
    let status = child.wait()?;
    let mut count = reading.count;
    if !status.success() && count.failed == 0 {
        // A binary that crashed or did not compile has no result line.
        ui::warn(&format!(
            "`{shown}` failed ({status}) without naming a test"
        ));
        count.failed = 1;
    }
    Ok(count)
}

/// Reads the test runner's lines.
#[derive(Debug, Default)]
struct Reading {
    count: Count,
    /// Between `successes:` and what follows it.
    in_successes: bool,
}

impl Reading {
    /// Takes one line; whether to show it.
    fn line(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("test result: ") {
            self.in_successes = false;
            self.count.passed += number_before(rest, " passed");
            self.count.failed += number_before(rest, " failed");
            self.count.ignored += number_before(rest, " ignored");
            return true;
        }
        if let Some(said) = skipped(line) {
            if !self.count.skipped.iter().any(|s| s == said) {
                self.count.skipped.push(said.to_owned());
            }
            return true;
        }
        match line {
            "successes:" => self.in_successes = true,
            "failures:" => self.in_successes = false,
            _ => {}
        }
        !self.in_successes
    }
}

/// What a line says about something that was not tested. It may follow the
/// runner's own `test name ... ` on one line.
fn skipped(line: &str) -> Option<&str> {
    let said = line.split_once(" ... ").map_or(line, |(_, said)| said);
    let marks = ["SKIP ", "NOT TESTED: ", "NO SAMPLES: "];
    marks.iter().any(|m| said.starts_with(m)).then_some(said)
}

/// The number that stands before a word.
fn number_before(text: &str, word: &str) -> u64 {
    text.split(word)
        .next()
        .and_then(|head| head.rsplit(|c: char| !c.is_ascii_digit()).next())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test a ... ok
test b ... ok
test c ... FAILED

successes:

---- a stdout ----
noise
SKIP a: no Docker engine runs

failures:

---- c stdout ----
it broke

test result: FAILED. 2 passed; 1 failed; 4 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s";

    #[test]
    fn counts_over_all_binaries_and_takes_skips_out_of_the_passed() {
        let mut reading = Reading::default();
        let shown: Vec<&str> = OUTPUT.lines().filter(|l| reading.line(l)).collect();
        assert!(shown.contains(&"it broke") && !shown.contains(&"noise"));
        assert_eq!(reading.count.skipped, ["SKIP a: no Docker engine runs"]);
        let mut report = Report {
            count: reading.count,
            ..Report::default()
        };
        assert_eq!(report.totals(), (11, 1, 5));
        report.gates_failed.push("lints".to_owned());
        assert_eq!(report.totals(), (11, 2, 5));
    }
}
