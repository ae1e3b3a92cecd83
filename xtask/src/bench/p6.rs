//! P6: what the platform adds to one run of a case's oracle, beside the same steps
//! typed as engine commands, and how much more two runs at once get done than one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::{Measured, folder, tools};
use crate::ui;

/// A case whose oracle takes seconds, and which may run beside itself.
const CASE: &str = "relay-1";
const IMAGE: &str = "faultboard/python:1";
const REPEATS: usize = 3;
const ROUNDS: usize = 3;

pub(super) fn run() -> Result<Vec<Measured>> {
    let binary = tools::faultboard()?;
    let home = folder()?.join("p6");
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home)?;
    let bench = Bench {
        binary,
        data: home.join("data"),
    };
    ui::step("preparing the case");
    bench.quietly(&["setup", CASE])?;
    let workspace = bench.json(&["agent", CASE])?;
    let tree = PathBuf::from(workspace["dir"].as_str().context("no workspace")?);
    let oracle = lay_oracle(&home)?;
    // The first run of each is for the caches.
    bench.reproduce()?.wait()?;
    typed(&tree, &oracle, &home)?;

    let (mut ours, mut theirs, mut alone, mut together) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let result = ended(bench.reproduce()?)?;
        alone.push(begun.elapsed().as_secs_f64());
        ours.push(stages(&result)?);
        theirs.push(typed(&tree, &oracle, &home)?);
        let begun = Instant::now();
        let both = [bench.reproduce()?, bench.reproduce()?];
        for child in both {
            ended(child)?;
        }
        together.push(begun.elapsed().as_secs_f64());
    }
    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let (alone, together) = (median(&mut alone), median(&mut together));
    std::fs::remove_dir_all(&home)?;
    Ok(vec![
        Measured {
            what: format!("an attempt at {CASE}, {REPEATS} repeats, beside typed commands"),
            figures: format!("{ours:.2} s, typed {theirs:.2} s"),
            ratio: theirs / ours,
            // The bar: at most 10 % over.
            bar: 1.0 / 1.1,
            sound: true,
            detail: json!({ "ours": ours, "typed": theirs }),
        },
        Measured {
            what: "two at once, in runs of one".to_owned(),
            figures: format!("one in {alone:.2} s, two in {together:.2} s"),
            ratio: 2.0 * alone / together,
            bar: 1.8,
            sound: true,
            detail: json!({ "alone": alone, "together": together }),
        },
    ])
}

fn median(of: &mut [f64]) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The product's commands for a case at a terminal.
struct Bench {
    binary: PathBuf,
    data: PathBuf,
}

impl Bench {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(["--json", "bench"])
            .args(args)
            .env("FAULTBOARD_DATA_DIR", &self.data)
            .env("FAULTBOARD_RUNTIME", "docker")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn quietly(&self, args: &[&str]) -> Result<Vec<u8>> {
        let output = self.command(args).output()?;
        ensure!(
            output.status.success(),
            "bench {}: it failed",
            args.join(" ")
        );
        Ok(output.stdout)
    }

    fn json(&self, args: &[&str]) -> Result<Value> {
        Ok(serde_json::from_slice(&self.quietly(args)?)?)
    }

    /// Begins to judge the faulty tree as it is.
    fn reproduce(&self) -> Result<Child> {
        let repeats = REPEATS.to_string();
        let mut command = self.command(&["reproduce", CASE, "--times", &repeats]);
        Ok(command.stdout(Stdio::piped()).spawn()?)
    }
}

/// The verdict of a run: the faulty tree fails.
fn ended(child: Child) -> Result<Value> {
    let output = child.wait_with_output()?;
    let result: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(result["outcome"] == "fail", "the faulty tree: {result}");
    Ok(result)
}

/// Seconds from the beginning of the first stage to the end of the last.
fn stages(result: &Value) -> Result<f64> {
    let all = result["stages"].as_array().context("no stages")?;
    let time = |stage: Option<&Value>, key: &str| {
        stage
            .and_then(|s| s[key].as_f64())
            .with_context(|| format!("a stage without {key}"))
    };
    Ok((time(all.last(), "finished")? - time(all.first(), "started")?) / 1_000.0)
}

/// What a container sees of the oracle, as it stands in the repository.
fn lay_oracle(home: &Path) -> Result<PathBuf> {
    let oracle = home.join("oracle");
    std::fs::create_dir(&oracle)?;
    let case = Path::new("cases").join(CASE);
    for (from, to) in [
        (case.join("reproduce.sh"), "reproduce.sh"),
        (case.join("inject_test"), "inject_test"),
        (PathBuf::from("cases/lib"), "lib"),
    ] {
        copy(&from, &oracle.join(to))?;
    }
    Ok(oracle)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("cp").arg("-a").args([from, to]).status()?;
    ensure!(status.success(), "{} can't be copied", from.display());
    Ok(())
}

/// The same steps as somebody would type them; seconds.
fn typed(workspace: &Path, oracle: &Path, home: &Path) -> Result<f64> {
    let begun = Instant::now();
    let work = home.join("typed");
    copy(workspace, &work)?;
    for repeat in 0..REPEATS {
        let mount = |from: &Path, to: &str| format!("{}:{to}:ro", from.display());
        let status = Command::new("docker")
            .args(["run", "--rm", "--network", "none", "--read-only"])
            .args(["--memory", "512m", "--memory-swap", "512m", "--cpus", "1"])
            .args(["--pids-limit", "128", "--tmpfs", "/tmp:exec,size=256m"])
            .args(["--cap-drop", "ALL", "--cap-add", "SETUID"])
            .args(["--cap-add", "SETGID", "--cap-add", "KILL"])
            .args(["--security-opt", "no-new-privileges"])
            .args([
                "-e",
                &format!("FAULTBOARD_NONCE=typed-{repeat}"),
                "-w",
                "/tmp",
            ])
            .args([
                "-v",
                &mount(&work, "/work"),
                "-v",
                &mount(oracle, "/oracle"),
            ])
            .args([IMAGE, "bash", "/oracle/reproduce.sh"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if status.code() != Some(1) {
            bail!("typed by hand, the faulty tree ended with {status}");
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&work)?;
    Ok(seconds)
}
