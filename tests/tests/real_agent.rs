//! mini-swe-agent from PyPI works on the teaching case, in the workspace that
//! agents get, with a model that answers from a script. Its own trace and patch
//! are handed in, read and judged: what it did is what the site shows.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use faultboard_tests::bundle::Draft;
use faultboard_tests::journey::{await_state, live, outcomes};
use faultboard_tests::reader::{Reader, words};
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need};
use serde_json::{Value, json};

/// What the model says in each turn, and the commands that it calls.
fn script() -> Value {
    json!([
        {"say": "I look at what is there.", "run": ["ls relay && cat relay/receiver.py"]},
        {"say": "Who takes a record in?", "run": ["grep -rn admission relay | head -20"]},
        {"say": "Only the next number may be taken.", "run": [
            "sed -i 's/elif not self.admission.take():/elif number != self.journal.last.get(self.stream, 0) + 1 or not self.admission.take():/' relay/receiver.py"
        ]},
        {"say": "Two things at once; one is wrong.", "run": ["python3 -m py_compile relay/receiver.py", "python3 -c 'import sys; print(1 + 2, \"checks failed\"); sys.exit(1)'"]},
        {"say": "Done.", "run": ["echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git -c safe.directory='*' diff"]}
    ])
}

/// The model's server; it ends with its standard input.
struct Model {
    child: Child,
    port: u16,
    asked: PathBuf,
}

impl Model {
    fn start(python: &Path, dir: &Path) -> Result<Self> {
        let (script_file, asked) = (dir.join("script.json"), dir.join("asked.jsonl"));
        std::fs::write(&script_file, script().to_string())?;
        let program = machine::root().join("tests/tests/scripted_model.py");
        let mut child = Command::new(python)
            .arg(program)
            .args([&script_file, &asked])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
        let port = line.trim().parse().context("the model names no port")?;
        Ok(Self { child, port, asked })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the agent in a tree; its trace.
async fn run_agent(model: &Model, tree: &Path, home: &Path) -> Result<Vec<u8>> {
    let (python, packages) = machine::agent().map_err(anyhow::Error::msg)?;
    let trace = home.join("trace.traj.json");
    let run = tokio::process::Command::new(python)
        .args(["-m", "minisweagent.run.mini", "-y", "--exit-immediately"])
        .args(["-m", "openai/scripted", "-t", "Records get lost.", "-o"])
        .arg(&trace)
        .args(["-c", "mini.yaml", "-c", "agent.step_limit=9"])
        .current_dir(tree)
        .env("PYTHONPATH", packages)
        .env("HOME", home)
        .env("MSWEA_CONFIGURED", "true")
        .env("MSWEA_COST_TRACKING", "ignore_errors")
        .env("OPENAI_API_KEY", "none")
        .env(
            "OPENAI_API_BASE",
            format!("http://127.0.0.1:{}/v1", model.port),
        )
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        .env_remove("HTTP_PROXY")
        .env_remove("HTTPS_PROXY")
        .env_remove("ALL_PROXY")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let out = tokio::time::timeout(Duration::from_secs(120), run)
        .await
        .context("the agent does not end")??;
    ensure!(
        trace.is_file(),
        "the agent left no trace: {}\n{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    Ok(std::fs::read(trace)?)
}

#[tokio::test]
async fn what_a_real_agent_did_is_what_the_site_shows() -> Result<()> {
    need!(
        "what_a_real_agent_did_is_what_the_site_shows",
        machine::runtime(),
        machine::agent()
    );
    let (python, _) = machine::agent().map_err(anyhow::Error::msg)?;
    let server = Server::start(Options::new("real-agent")).await?;
    let dir = tempfile::tempdir()?;
    let workspace = dir.path().join("workspace");
    let made = server
        .command()
        .args(["case", "workspace", "relay-1"])
        .args(["--condition", "symptom-only", "--dir"])
        .arg(&workspace)
        .output()?;
    ensure!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let tree = workspace.join("tree");
    let home = dir.path().join("home");
    std::fs::create_dir(&home)?;
    let model = Model::start(&python, dir.path())?;
    let trace = run_agent(&model, &tree, &home).await?;
    let asked = std::fs::read_to_string(&model.asked)?;
    ensure!(asked.lines().count() == 5, "asked: {asked}");

    // Facts as the agent itself wrote them down.
    let own: Value = serde_json::from_slice(&trace)?;
    let patch = own["info"]["submission"].as_str().context("no patch")?;
    ensure!(patch.starts_with("diff --git"), "{patch}");
    let usage = |name: &str| -> u64 {
        let messages = own["messages"].as_array().into_iter().flatten();
        messages
            .filter_map(|m| m["extra"]["response"]["usage"][name].as_u64())
            .sum()
    };

    let file = |condition: &str, name: &str| format!("relay-1/{condition}/run-01/{name}");
    let mut draft = Draft::repair("mini-swe-agent");
    for condition in ["symptom-only", "context-augmented"] {
        draft = draft
            .file(&file(condition, "patch.diff"), patch)
            .file(&file(condition, "trajectory.traj.json"), trace.clone());
    }
    let reader = Reader::submitter(&server, "Grace").await?;
    let id = reader.submit(&draft.file_name(), draft.pack()?).await?;
    await_state(&reader, &id, &["scored"], 400).await?;
    for (attempt, outcome) in outcomes(&reader, &id).await? {
        ensure!(outcome == "pass", "{attempt}: {outcome}");
    }

    let cells = live(&reader, &id).await?["attempts"].clone();
    let attempt = cells[0]["id"].as_str().context("no attempt")?.to_owned();
    let steps = reader
        .text(&format!("/attempts/{attempt}/trace.jsonl"))
        .await?;
    let steps: Vec<Value> = steps
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let kinds: Vec<&str> = steps
        .iter()
        .filter_map(|s| s["action"]["kind"].as_str())
        .collect();
    ensure!(
        kinds == ["read", "search", "edit", "build", "run", "submit"]
            || kinds == ["read", "search", "edit", "test", "run", "submit"],
        "{kinds:?}"
    );
    let codes: Vec<i64> = steps
        .iter()
        .filter_map(|s| s["observation"]["exit_code"].as_i64())
        .collect();
    ensure!(codes.starts_with(&[0, 0, 0, 0, 1]), "{codes:?}");
    let told = |name: &str| -> u64 {
        let each = steps.iter().filter_map(|s| s["tokens"][name].as_u64());
        each.sum()
    };
    ensure!(told("input") == usage("prompt_tokens"), "{}", told("input"));
    ensure!(
        told("output") == usage("completion_tokens"),
        "{}",
        told("output")
    );
    ensure!(
        codes.len() == 5,
        "the end of the run is no failure: {codes:?}"
    );
    let page = words(&reader.text(&format!("/attempts/{attempt}?step=4")).await?);
    for shown in [
        "Only the next number may be taken.",
        "turns, steps 5,",
        "first edit turn 3",
        "ended submitted",
    ] {
        ensure!(page.contains(shown), "'{shown}' is missing: {page}");
    }

    // Its commands, run once more, do what the trace says; of a trace that was
    // written otherwise they don't.
    let patch_file = dir.path().join("patch.diff");
    std::fs::write(&patch_file, patch)?;
    let replay = |trace: &[u8]| -> Result<Value> {
        let file = dir.path().join("again.traj.json");
        std::fs::write(&file, trace)?;
        let out = server
            .command()
            .args(["--json", "replay", "--case", "relay-1", "--patch"])
            .args([&patch_file, &file])
            .output()?;
        serde_json::from_slice(&out.stdout).with_context(|| {
            format!(
                "the replay says nothing: {}",
                String::from_utf8_lossy(&out.stderr)
            )
        })
    };
    let departing = |view: &Value| -> Vec<(u64, String)> {
        let steps = view["steps"].as_array().into_iter().flatten();
        steps
            .filter(|s| matches!(s["departure"].as_str(), Some("output" | "exit" | "not-run")))
            .filter_map(|s| Some((s["index"].as_u64()?, s["departure"].as_str()?.to_owned())))
            .collect()
    };
    let honest = replay(&trace)?;
    ensure!(departing(&honest).is_empty(), "{honest:#}");
    ensure!(
        honest["tree"]["departs"] == json!([]),
        "the tree: {honest:#}"
    );
    let text = String::from_utf8(trace.clone())?;
    let forged = text
        .replace("3 checks failed", "all checks passed")
        .replace("class Connection", "class Invented");
    ensure!(forged != text, "nothing was forged");
    let found = replay(forged.as_bytes())?;
    ensure!(
        departing(&found) == [(2, "output".to_owned()), (6, "output".to_owned())],
        "{found:#}"
    );
    std::fs::write(
        &patch_file,
        patch.replace("+        elif", "+        elif True or"),
    )?;
    let other = replay(&trace)?;
    ensure!(
        other["tree"]["departs"][0][0] == "relay/receiver.py",
        "{other:#}"
    );

    // A maintainer has it done on the site.
    let admin = Reader::admin(&server).await?;
    admin
        .post(&format!("/admin/attempts/{attempt}/replay"), &[])
        .await?;
    let page = faultboard_tests::wait_for("the replay", 120, async || {
        let page = words(&admin.text(&format!("/attempts/{attempt}")).await?);
        Ok(page.contains("commands were run again").then_some(page))
    })
    .await?;
    ensure!(
        page.contains("6 of 6 commands were run again, 0 with another output or exit status; the tree became what the patch makes of it"),
        "{page}"
    );
    let owner = words(&reader.text(&format!("/attempts/{attempt}")).await?);
    ensure!(!owner.contains("run again"), "{owner}");

    // The bytes come back as the agent wrote them.
    let kept = reader.get(&format!("/attempts/{attempt}/trace")).await?;
    ensure!(kept.bytes().await? == trace, "the trace has changed");
    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );
    Ok(())
}
