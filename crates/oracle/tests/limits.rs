//! Budgets, limits and time-outs are the platform's: nothing that a patch brings
//! along changes what a run is given.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{Bench, FIX, IMAGE};
use faultboard_domain::Outcome;
use faultboard_sandbox::{FakeRun, FakeRuntime, Limits, RunSpec};

fn runtime() -> FakeRuntime {
    FakeRuntime::new(&[IMAGE], |spec| {
        if spec.command.join(" ").starts_with("bash /case/setup.sh") {
            FakeRun {
                writes: vec![("/work/tree/calc.py".into(), common::FAULTY.into())],
                ..FakeRun::prints("ready\n", 0)
            }
        } else if spec.command.get(1).is_some_and(|c| c == "-c") {
            let said = "commit=abc\ncommits=1\nparents=0\nrefs=1\ntags=0\nremotes=0\nreflog=0\nstashes=0\nunreachable=0\nreachable=3\nobjects=3\nchanged=0\n";
            let git = |name: &str, text: &str| (format!("/work/tree/.git/{name}"), text.into());
            FakeRun {
                writes: vec![git("refs/heads/main", "abc\n"), git("config", "[core]\n")],
                ..FakeRun::prints(said, 0)
            }
        } else if let Some(nonce) = spec.env.get("FAULTBOARD_NONCE") {
            FakeRun::prints(format!("PASS: said [{nonce}]\n"), 0)
        } else {
            FakeRun::exits(0)
        }
    })
}

/// What each run of an attempt was given.
fn given(runs: &[RunSpec]) -> Vec<(Limits, Duration, Vec<String>)> {
    runs.iter()
        .map(|s| {
            let names = s.env.keys().cloned().collect();
            (s.limits.clone(), s.timeout, names)
        })
        .collect()
}

/// The cure, with files that ask for more of everything.
fn greedy() -> String {
    let mut patch = FIX.to_owned();
    for (path, line) in [
        (
            "case.yaml",
            "limits: {memory_mib: 99999, reproduce_timeout_s: 99999}",
        ),
        ("limits.yaml", "timeout_s: 99999"),
        ("tree/case.yaml", "oracle: {repeats: 1}"),
        ("pytest.ini", "[pytest] timeout = 99999"),
        (".env", "FAULTBOARD_TIMEOUT=99999"),
        ("reproduce.sh", "echo PASS: nothing to see"),
    ] {
        patch.push_str(&format!(
            "--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"
        ));
    }
    patch
}

#[tokio::test]
async fn a_patch_that_asks_for_more_time_and_memory_is_given_none() {
    let runtime = runtime();
    let mut bench = Bench::new(Arc::new(runtime.clone()), "calc-1");
    bench.case.case.rebuild = "make".into();
    // The first attempt sets the tree up; what is compared comes after.
    bench.judge(FIX).await;
    let start = runtime.seen().len();
    let modest = bench.judge(FIX).await;
    let between = runtime.seen().len();
    let wanting = bench.judge(&greedy()).await;
    let seen = runtime.seen();
    assert_eq!(modest.outcome, Outcome::Pass);
    assert_eq!(wanting.outcome, Outcome::Pass);
    let (plain, asked) = (given(&seen[start..between]), given(&seen[between..]));
    assert!(plain.len() > 1, "rebuild and oracle were run");
    assert_eq!(plain, asked);
    let case = &bench.case.case.limits;
    let wanted = Duration::from_secs(case.reproduce_timeout_s);
    assert_eq!(asked.last().map(|(_, t, _)| *t), Some(wanted));
}
