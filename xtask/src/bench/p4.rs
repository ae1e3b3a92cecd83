//! P4: rescoring 6,120 diagnoses on one core, against a plain Python scorer of
//! the same rules.

use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Measured, folder, tools};
use crate::shell;

const CASES: usize = 120;
/// Of each case: 17 configurations, three attempts.
const DIAGNOSES: usize = 17 * 3;

pub(super) fn run() -> Result<Vec<Measured>> {
    let file = folder()?.join("p4.jsonl");
    std::fs::write(&file, cases())?;
    let ours = tools::example("measure_scoring")?;
    let python = shell::find("python3").context("python3 is not installed: install it")?;
    let mine = tools::json_of(Command::new(&ours).arg(&file).arg("9"))?;
    let theirs = tools::json_of(
        Command::new(&python)
            .arg(tools::script("p4.py")?)
            .arg(&file)
            .arg("3"),
    )?;
    let (a, b) = (
        tools::number(&mine, "seconds")?,
        tools::number(&theirs, "seconds")?,
    );
    let sums = |v: &Value| -> Vec<f64> {
        v["sums"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .collect()
    };
    let (x, y) = (sums(&mine), sums(&theirs));
    let same = x.len() == 10
        && x.len() == y.len()
        && x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-6)
        && x.iter().all(|x| *x > 0.0);
    let detail = json!({ "ours": mine, "python": theirs });
    Ok(vec![
        Measured {
            what: "against the Python scorer, same sums of all ten metrics".to_owned(),
            figures: format!("{:.1} ms, Python {:.2} s", a * 1e3, b),
            ratio: b / a,
            bar: 100.0,
            sound: same,
            detail: detail.clone(),
        },
        Measured {
            what: "against one second on one core".to_owned(),
            figures: format!("{:.1} ms", a * 1e3),
            ratio: 1.0 / a,
            bar: 1.0,
            sound: same,
            detail,
        },
    ])
}

/// Made-up cases with their labels and diagnoses, always the same: some right, some
/// near, some wrong, in the ways in which several languages write names.
fn cases() -> String {
    const FILES: &[&str] = &[
        "src/main/java/org/example/raft/RaftServer.java",
        "server/etcdserver/raft.go",
        "pkg/raft/node.go",
        "lib/replication/log.cc",
        "src/storage/engine.rs",
        "app/broker/session.py",
        "core/src/erl/ra_server.erl",
        "README",
    ];
    const NAMES: &[&str] = &[
        "RaftServer.handleAppendEntries",
        "(*raftNode).start",
        "func (n *node) Step",
        "storage::Engine::<K, V>::commit",
        "<Log as Store>::append",
        "Session.close",
        "ra_server:handle_leader/2",
        "run",
        "org.example.raft.RaftServer$1.run",
        "RaftServer.<init>",
        "lambda$elect$3",
        "std::vector<int>::operator[]",
    ];
    let mut state: u64 = 2026;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % n
    };
    let mut out = String::new();
    for _ in 0..CASES {
        let mut labels = Vec::new();
        for _ in 0..=next(3) {
            let start = 20 + next(900);
            labels.push(json!({
                "file": FILES[next(FILES.len())],
                "function": NAMES[next(NAMES.len())],
                "start_line": start,
                "end_line": start + 1 + next(30),
            }));
        }
        let mut diagnoses = Vec::new();
        for _ in 0..DIAGNOSES {
            let mut predicted = Vec::new();
            for i in 0..next(6) {
                let near = labels.get(i).filter(|_| next(3) > 0);
                let labelled = near
                    .and_then(|l| l["start_line"].as_u64())
                    .and_then(|s| usize::try_from(s).ok());
                let start = match labelled {
                    Some(line) => line + next(12),
                    None => 20 + next(900),
                };
                let (file, name) = near.map_or_else(
                    || {
                        (
                            json!(FILES[next(FILES.len())]),
                            json!(NAMES[next(NAMES.len())]),
                        )
                    },
                    |l| {
                        (
                            json!(format!("/workspace/{}", l["file"].as_str().unwrap_or(""))),
                            l["function"].clone(),
                        )
                    },
                );
                predicted.push(json!({
                "file": file, "function": name, "start_line": start, "end_line": start + 1 + next(60),
            }));
            }
            let mut words =
                String::from("The leader drops an entry when a follower falls behind; ");
            for _ in 0..(6 + next(10)) {
                words.push_str("then ");
                words.push_str(NAMES[next(NAMES.len())]);
                words.push_str(" is called with a stale term and nobody waits for the reply, ");
            }
            let text =
                json!({ "bug_cause_description": words, "buggy_blocks": predicted }).to_string();
            diagnoses.push(json!({ "predicted": predicted, "text": text }));
        }
        let line = json!({ "labels": labels, "diagnoses": diagnoses });
        out.push_str(&line.to_string());
        out.push('\n');
    }
    out
}
