//! The whole taxonomy, and what surrounds it, on the scripted runtime.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Bench, FIX, IMAGE, kinds};
use faultboard_catalog::{Expect, Variant};
use faultboard_domain::view::{ProofStatus, Soundness};
use faultboard_domain::{Condition, Outcome, StageKind};
use faultboard_oracle::{OracleError, Progress, ProofRequest, ProofRun};
use faultboard_sandbox::{
    CancellationToken, Exit, FakeRun, FakeRuntime, RunControl, RunSpec, RuntimeError,
};

/// A runtime on which set-up works; rebuilds and oracles do what `then` says.
fn runtime(then: impl Fn(&RunSpec) -> FakeRun + Send + Sync + 'static) -> FakeRuntime {
    FakeRuntime::new(&[IMAGE], move |spec| {
        let line = spec.command.join(" ");
        if line.starts_with("bash /case/setup.sh") {
            FakeRun {
                writes: vec![("/work/tree/calc.py".into(), common::FAULTY.into())],
                ..FakeRun::prints("ready\n", 0)
            }
        } else if spec.command.get(1).is_some_and(|c| c == "-c") {
            let said = "commit=abc\ncommits=1\nparents=0\nrefs=1\ntags=0\nremotes=0\nreflog=0\nstashes=0\nunreachable=0\nreachable=0\nobjects=0\nchanged=0\n";
            let git = |name: &str, text: &str| (format!("/work/tree/.git/{name}"), text.into());
            FakeRun {
                writes: vec![git("refs/heads/main", "abc\n"), git("config", "[core]\n")],
                ..FakeRun::prints(said, 0)
            }
        } else {
            then(spec)
        }
    })
}

fn is_verify(spec: &RunSpec) -> bool {
    spec.command
        .last()
        .is_some_and(|c| c == "/oracle/reproduce.sh")
}

fn says(spec: &RunSpec, word: &str, code: i32) -> FakeRun {
    FakeRun::prints(
        format!("noise\n{word}: said [{}]\n", spec.env["FAULTBOARD_NONCE"]),
        code,
    )
}

fn bench(then: impl Fn(&RunSpec) -> FakeRun + Send + Sync + 'static) -> (Bench, FakeRuntime) {
    let runtime = runtime(then);
    (Bench::new(Arc::new(runtime.clone()), "calc-1"), runtime)
}

fn passing() -> (Bench, FakeRuntime) {
    bench(|s| {
        if is_verify(s) {
            says(s, "PASS", 0)
        } else {
            FakeRun::exits(0)
        }
    })
}

#[tokio::test]
async fn pass_with_every_stage_recorded() {
    let (mut bench, runtime) = passing();
    bench.case.case.rebuild = "make".into();
    let result = bench.judge(FIX).await;
    assert_eq!(
        (result.outcome, result.reason.as_str()),
        (Outcome::Pass, "said")
    );
    use StageKind::{Apply, Prepare, Rebuild, Verify};
    assert_eq!(kinds(&result), [Prepare, Apply, Rebuild, Verify, Verify]);
    assert_eq!(result.stages[4].repeat, 2);
    assert!(result.flags.is_empty());
    assert_eq!(result.image_digests.len(), 1);
    assert_eq!(result.scorer_version, faultboard_oracle::PROTOCOL_VERSION);
    assert!(result.stages.iter().all(|s| s.finished >= s.started));
    assert!(
        result.stages[0].log.contains("ready"),
        "the set-up log of a fresh tree is kept"
    );
    // No nonce in any log, a new one for each run, and no run shares a container's settings by accident.
    let nonces: Vec<String> = runtime
        .seen()
        .iter()
        .filter_map(|s| s.env.get("FAULTBOARD_NONCE").cloned())
        .collect();
    assert_eq!(nonces.len(), 2);
    assert_ne!(nonces[0], nonces[1]);
    let text = serde_json::to_string(&result).unwrap();
    assert!(nonces.iter().all(|n| !text.contains(n.as_str())));
    assert!(
        bench.listing("scratch").is_empty(),
        "nothing is left of the attempt"
    );
}

#[tokio::test]
async fn only_set_up_has_a_network_and_only_the_oracle_is_root() {
    let (mut bench, runtime) = passing();
    bench.case.case.rebuild = "make".into();
    bench.judge(FIX).await;
    for spec in runtime.seen() {
        let setup = spec.command.last().is_some_and(|c| c == "/case/setup.sh");
        assert_eq!(
            spec.network == faultboard_sandbox::Network::Setup,
            setup,
            "{:?}",
            spec.command
        );
        assert_eq!(spec.user.uid == 0, is_verify(&spec));
        assert_eq!(!spec.caps.is_empty(), is_verify(&spec));
        if is_verify(&spec) {
            assert!(spec.mounts.iter().all(|m| m.writable.is_none()));
        } else {
            assert!(spec.mounts.iter().all(|m| !m.target.starts_with("/oracle")));
            assert!(!spec.env.contains_key("FAULTBOARD_NONCE"));
        }
    }
}

#[tokio::test]
async fn fail_and_flaky() {
    let (bench, _) = bench(|s| {
        if is_verify(s) {
            says(s, "FAIL", 1)
        } else {
            FakeRun::exits(0)
        }
    });
    let result = bench.judge(FIX).await;
    assert_eq!(result.outcome, Outcome::Fail);
    assert!(result.flags.is_empty());

    let (bench, runtime) = passing();
    bench.judge(FIX).await;
    let calls = runtime.seen().len();
    let (bench, _) = self::bench({
        let turn = Mutex::new(0);
        move |s| {
            *turn.lock().unwrap() += 1;
            if *turn.lock().unwrap() % 2 == 0 {
                says(s, "PASS", 0)
            } else {
                says(s, "FAIL", 1)
            }
        }
    });
    let result = bench.judge(FIX).await;
    assert_eq!(
        (result.outcome, result.flags.as_slice()),
        (Outcome::Fail, &["flaky".to_owned()][..])
    );
    assert!(result.reason.contains("1 of 2"), "{}", result.reason);
    assert_eq!(calls, 4, "set-up, snapshot and two runs");
}

#[tokio::test]
async fn patches_that_settle_it_alone_start_no_container() {
    let (bench, runtime) = passing();
    let empty = bench.judge(" \n").await;
    assert_eq!(
        (empty.outcome, empty.reason.as_str()),
        (Outcome::NoEdit, "the patch is empty")
    );
    let protected = bench
        .judge("--- a/SYMPTOM.md\n+++ b/SYMPTOM.md\n@@ -1 +1 @@\n-a\n+b\n")
        .await;
    assert_eq!(protected.outcome, Outcome::NoEdit);
    assert_eq!(protected.flags, ["protected-paths-dropped"]);
    let garbage = bench.judge("this is no diff\n").await;
    assert_eq!(garbage.outcome, Outcome::ApplyFailed);
    assert!(runtime.seen().is_empty());
    let unfit = bench
        .judge("--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-nothing like it\n+x\n")
        .await;
    assert_eq!(unfit.outcome, Outcome::ApplyFailed);
    assert!(unfit.reason.contains("calc.py: hunk 1"), "{}", unfit.reason);
    assert_eq!(kinds(&unfit), [StageKind::Prepare, StageKind::Apply]);
}

#[tokio::test]
async fn rebuilds_that_fail() {
    type Run = fn() -> FakeRun;
    let table: Vec<(Run, Outcome, &str)> = vec![
        (
            || FakeRun {
                stderr: b"cc: error\n".to_vec(),
                ..FakeRun::exits(2)
            },
            Outcome::BuildFailed,
            "status 2",
        ),
        (
            || FakeRun {
                oom: true,
                ..FakeRun::exits(0)
            },
            Outcome::BuildFailed,
            "memory",
        ),
        (FakeRun::hangs, Outcome::Timeout, "did not end"),
    ];
    for (run, outcome, word) in table {
        let (mut bench, _) = bench(move |s| {
            if is_verify(s) {
                says(s, "PASS", 0)
            } else {
                run()
            }
        });
        bench.case.case.rebuild = "make".into();
        bench.case.case.limits.rebuild_timeout_s = 1;
        let result = bench.judge(FIX).await;
        assert_eq!(result.outcome, outcome);
        assert!(result.reason.contains(word), "{}", result.reason);
        assert!(!kinds(&result).contains(&StageKind::Verify));
    }
}

#[tokio::test]
async fn oracles_that_do_not_decide() {
    type Run = fn(&RunSpec) -> FakeRun;
    let table: Vec<(Run, Outcome, &str)> = vec![
        (
            |_| FakeRun::prints("PASS: by guess\n", 0),
            Outcome::OracleError,
            "without a verdict",
        ),
        (|s| says(s, "PASS", 3), Outcome::OracleError, "contradicts"),
        (|_| FakeRun::exits(2), Outcome::OracleError, "status 2"),
        (
            |_| FakeRun {
                exit: Exit::Signal(11),
                ..FakeRun::exits(0)
            },
            Outcome::OracleError,
            "signal 11",
        ),
        (
            |_| FakeRun {
                oom: true,
                ..FakeRun::exits(0)
            },
            Outcome::OracleError,
            "memory",
        ),
        (
            |s| FakeRun {
                takes: Duration::from_secs(3600),
                ..says(s, "PASS", 0)
            },
            Outcome::Timeout,
            "out of time",
        ),
    ];
    for (run, outcome, word) in table {
        let (mut bench, _) = bench(run);
        bench.case.case.limits.reproduce_timeout_s = 1;
        let result = bench.judge(FIX).await;
        assert_eq!(result.outcome, outcome, "{}", result.reason);
        assert!(result.reason.contains(word), "{}", result.reason);
        assert_eq!(
            kinds(&result)
                .iter()
                .filter(|k| **k == StageKind::Verify)
                .count(),
            1,
            "no second try"
        );
    }
}

#[tokio::test]
async fn a_forged_marker_changes_nothing_and_is_flagged() {
    let (bench, _) = bench(|s| {
        let nonce = &s.env["FAULTBOARD_NONCE"];
        FakeRun::prints(
            format!("PASS: mine [0000]\nPASS: mine\nFAIL: lost [{nonce}]\n"),
            1,
        )
    });
    let result = bench.judge(FIX).await;
    assert_eq!(
        (result.outcome, result.flags.as_slice()),
        (Outcome::Fail, &["forged-marker".to_owned()][..])
    );
}

#[tokio::test]
async fn the_platform_s_failures_are_never_a_verdict() {
    let (bench, runtime) = passing();
    bench.judge(FIX).await;
    // The engine goes away between stages.
    runtime.push(FakeRun::fails(RuntimeError::Unavailable {
        runtime: "fake",
        detail: "gone".into(),
    }));
    let result = bench.judge(FIX).await;
    assert_eq!(result.outcome, Outcome::InfraError);
    assert!(result.reason.contains("gone"));
    assert_eq!(result.stages.last().unwrap().stage, StageKind::Verify);
    // It is down from the start.
    runtime.set_available(false);
    assert_eq!(bench.judge(FIX).await.outcome, Outcome::InfraError);
    runtime.set_available(true);

    let (mut bench, _) = passing();
    bench.case.case.image = "faultboard/none:1".into();
    let result = bench.judge(FIX).await;
    assert_eq!(result.outcome, Outcome::InfraError);
    assert!(
        result.reason.contains("faultboard/none:1"),
        "{}",
        result.reason
    );

    let (mut bench, _) = passing();
    bench.case.case.caps = vec!["SYS_ADMIN".into()];
    assert!(bench.judge(FIX).await.reason.contains("SYS_ADMIN"));
}

#[tokio::test]
async fn set_up_runs_once_and_its_failure_is_named() {
    let (bench, runtime) = passing();
    runtime.push(FakeRun {
        stderr: b"no route to host\n".to_vec(),
        ..FakeRun::exits(1)
    });
    let result = bench.judge(FIX).await;
    assert_eq!(result.outcome, Outcome::InfraError);
    assert!(
        result
            .reason
            .contains("set-up of calc-1 failed: exit status 1"),
        "{}",
        result.reason
    );
    assert!(
        result.stages[0].log.contains("no route"),
        "{:?}",
        result.stages
    );
    // A failure is not remembered; success is.
    bench.judge(FIX).await;
    bench.judge(FIX).await;
    let setups = runtime
        .seen()
        .iter()
        .filter(|s| s.command.last().is_some_and(|c| c == "/case/setup.sh"))
        .count();
    assert_eq!(setups, 2);
    // Two at once share one set-up too.
    let (bench, runtime) = passing();
    let (a, b) = tokio::join!(bench.judge(FIX), bench.judge(FIX));
    assert_eq!((a.outcome, b.outcome), (Outcome::Pass, Outcome::Pass));
    let setups = runtime
        .seen()
        .iter()
        .filter(|s| s.command.last().is_some_and(|c| c == "/case/setup.sh"))
        .count();
    assert_eq!(setups, 1);
}

#[tokio::test]
async fn a_prepared_tree_that_was_changed_is_not_used() {
    let (bench, _) = passing();
    bench.judge(FIX).await;
    let prepared = bench
        .listing("prepared")
        .into_iter()
        .find(|n| !n.ends_with(".lock"))
        .unwrap();
    let file = bench
        .dir
        .path()
        .join("data/prepared")
        .join(prepared)
        .join("work/tree/calc.py");
    std::fs::write(&file, "def add(a, b): return a + b\n").unwrap();
    let result = bench.judge(FIX).await;
    assert_eq!(result.outcome, Outcome::InfraError);
    assert!(
        result.reason.contains("prepared again"),
        "{}",
        result.reason
    );
    assert_eq!(bench.judge(FIX).await.outcome, Outcome::Pass);
}

#[tokio::test]
async fn what_set_up_may_not_leave() {
    let runtime = FakeRuntime::new(&[IMAGE], |_| FakeRun {
        writes: vec![
            ("/work/tree/a".into(), b"x".to_vec()),
            ("/work/deps/lib/.git/HEAD".into(), b"ref".to_vec()),
        ],
        ..FakeRun::exits(0)
    });
    let bench = Bench::new(Arc::new(runtime), "calc-2");
    let result = bench.judge(FIX).await;
    assert_eq!(result.outcome, Outcome::InfraError);
    assert!(result.reason.contains("deps/lib/.git"), "{}", result.reason);
}

#[tokio::test]
async fn the_cache_key_covers_all_that_could_change_the_verdict() {
    let (mut bench, runtime) = passing();
    let key = |b: &Bench, patch: &'static str| {
        let (oracle, case) = (b.oracle.clone(), b.case.clone());
        async move { oracle.cache_key(&case, patch.as_bytes()).await.unwrap() }
    };
    let first = key(&bench, FIX).await;
    assert_eq!(first, key(&bench, FIX).await);
    assert_eq!(bench.judge(FIX).await.cache_key, first);
    let mut keys = vec![first, key(&bench, "").await];
    bench.set("reproduce.sh", "another");
    keys.push(key(&bench, FIX).await);
    runtime.set_image(IMAGE, &format!("sha256:{}", "1".repeat(64)));
    keys.push(key(&bench, FIX).await);
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[tokio::test]
async fn cancelling_leaves_no_result_and_no_files() {
    let (bench, _) = bench(|_| FakeRun::hangs());
    let mut attempt = bench.attempt(FIX);
    attempt.cancel = CancellationToken::new();
    let cancel = attempt.cancel.clone();
    let (ended, ()) = tokio::join!(bench.oracle.evaluate(&attempt), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    });
    assert!(matches!(ended, Err(OracleError::Cancelled)));
    assert!(bench.listing("scratch").is_empty());
}

#[tokio::test]
async fn progress_tells_of_stages_and_output_without_the_nonce() {
    let (bench, runtime) = passing();
    let seen = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let copy = seen.clone();
    let mut attempt = bench.attempt(FIX);
    attempt.progress = Some(Arc::new(move |p: Progress<'_>| {
        let mut seen = copy.lock().unwrap();
        match p {
            Progress::Began { stage, repeat } => seen.0.push(format!("begin {stage} {repeat}")),
            Progress::Ended(record) => seen
                .0
                .push(format!("end {} {}", record.stage, record.repeat)),
            Progress::Output { bytes, .. } => seen.1.extend_from_slice(bytes),
        }
    }));
    bench.oracle.evaluate(&attempt).await.unwrap();
    let (events, output) = seen.lock().unwrap().clone();
    assert_eq!(events.first().unwrap(), "begin prepare 1");
    assert_eq!(events.last().unwrap(), "end verify 2");
    assert_eq!(events.len(), 10);
    let output = String::from_utf8(output).unwrap();
    assert!(
        output.contains("PASS: said [nonce]") && output.contains("ready"),
        "{output}"
    );
    for spec in runtime.seen() {
        assert!(
            spec.env
                .get("FAULTBOARD_NONCE")
                .is_none_or(|n| !output.contains(n.as_str()))
        );
    }
}

#[tokio::test]
async fn a_proof_needs_both_directions_every_time() {
    // The fake can see whether the fix is in the tree that it is shown.
    let (bench, _) = bench(|s| {
        let work = s.mounts.iter().find(|m| m.target == "/work").unwrap();
        let fixed = std::fs::read_to_string(work.source.join("tree/calc.py"))
            .unwrap()
            .contains("a + b");
        if fixed {
            says(s, "PASS", 0)
        } else {
            says(s, "FAIL", 1)
        }
    });
    let request = |solution| ProofRequest::new(solution, 3, bench.labels());
    let proof = bench
        .oracle
        .verify_case(&bench.case, &request(FIX))
        .await
        .unwrap();
    assert!(proof.holds(), "{:?}", proof.problems);
    assert_eq!(
        (proof.status, proof.soundness),
        (ProofStatus::Verified, Some(Soundness::Sound))
    );
    let agreed = |run: &Option<ProofRun>| run.as_ref().unwrap().agreed;
    assert_eq!((agreed(&proof.faulty), agreed(&proof.solved)), (3, 3));
    assert_eq!(proof.hygiene.as_ref().unwrap().problems, [] as [String; 0]);
    let timed: Vec<(&str, u32)> = proof
        .timings
        .iter()
        .map(|t| (t.what.as_str(), t.runs))
        .collect();
    assert_eq!(
        timed,
        [
            ("set-up", 1),
            ("oracle, faulty tree", 3),
            ("oracle, reference fix", 3)
        ]
    );
    assert_eq!(proof.scorer_version, faultboard_oracle::PROTOCOL_VERSION);
    assert_eq!(proof.image_digests.len(), 1);
    let proof = bench
        .oracle
        .verify_case(&bench.case, &request(WRONG))
        .await
        .unwrap();
    assert_eq!((proof.problems.len(), agreed(&proof.solved)), (1, 0));
    assert_eq!(proof.soundness, Some(Soundness::Unsound));
    assert!(
        proof.problems[0].contains("the solution must PASS"),
        "{:?}",
        proof.problems
    );
}

/// Changes the program without mending it.
const WRONG: &str = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return b - a\n";

#[tokio::test]
async fn variants_must_be_told_right_as_well() {
    // This oracle takes every change of the operator for the cure.
    let (bench, _) = bench(|s| {
        let work = s.mounts.iter().find(|m| m.target == "/work").unwrap();
        let text = std::fs::read_to_string(work.source.join("tree/calc.py")).unwrap();
        if text.contains("a - b") {
            says(s, "FAIL", 1)
        } else {
            says(s, "PASS", 0)
        }
    });
    let variant = |name: &str, expect, diff: &str| Variant {
        name: name.into(),
        expect,
        about: "what it is".into(),
        diff: diff.into(),
    };
    let variants = [
        variant(
            "alternative-swapped",
            Expect::Pass,
            &FIX.replace("a + b", "b + a"),
        ),
        variant("wrong-sign", Expect::Fail, WRONG),
        variant(
            "wrong-file",
            Expect::Fail,
            &WRONG.replace("calc.py", "other.py"),
        ),
    ];
    let mut request = ProofRequest::new(FIX, 2, bench.labels());
    request.variants = &variants;
    let proof = bench
        .oracle
        .verify_case(&bench.case, &request)
        .await
        .unwrap();
    assert_eq!(
        (proof.told_right(true), proof.told_right(false)),
        ((1, 1), (0, 2))
    );
    assert_eq!(proof.soundness, Some(Soundness::Unsound));
    assert_eq!(proof.status, ProofStatus::Verified);
    assert_eq!(proof.problems.len(), 2, "{:?}", proof.problems);
    assert!(
        proof.problems[1].starts_with("`wrong-file` must FAIL, but ended as apply-failed"),
        "{:?}",
        proof.problems
    );
    assert!(
        proof.problems[0].starts_with("false positive: `wrong-sign`"),
        "{:?}",
        proof.problems
    );
    request.variant_times = 0;
    let proof = bench
        .oracle
        .verify_case(&bench.case, &request)
        .await
        .unwrap();
    assert!(proof.holds() && proof.variants.is_empty());
}

#[tokio::test]
async fn every_way_a_proof_can_fail_has_a_status_and_a_next_step() {
    async fn proof_of(bench: &Bench) -> faultboard_oracle::CaseProof {
        let request = ProofRequest::new(FIX, 2, bench.labels());
        let proof = bench
            .oracle
            .verify_case(&bench.case, &request)
            .await
            .unwrap();
        assert!(!proof.holds() && !proof.problems.is_empty() && !proof.next_step.is_empty());
        proof
    }
    let (fixed, _) = passing();
    assert_eq!(proof_of(&fixed).await.status, ProofStatus::Fixed);

    let (silent, _) = bench(|_| FakeRun::prints("line 1\nline 2\n", 3));
    let proof = proof_of(&silent).await;
    assert_eq!(
        (proof.status, proof.tail.len()),
        (ProofStatus::ReproError, 2)
    );

    let (slow, _) = bench(|_| FakeRun::hangs());
    let mut slow = slow;
    slow.case.case.limits.reproduce_timeout_s = 1;
    assert_eq!(proof_of(&slow).await.status, ProofStatus::Timeout);

    let broken = FakeRuntime::new(&[IMAGE], |_| FakeRun::prints("no such package\n", 4));
    let broken = Bench::new(Arc::new(broken), "calc-1");
    let proof = proof_of(&broken).await;
    assert_eq!(
        (proof.status, proof.soundness),
        (ProofStatus::SetupFail, None)
    );
    assert_eq!(proof.tail, ["no such package"]);

    // A missing image is the platform's failure, and named.
    let nothing = Bench::new(
        Arc::new(FakeRuntime::new(&[], |_| FakeRun::exits(0))),
        "calc-1",
    );
    let proof = proof_of(&nothing).await;
    assert_eq!(
        (proof.status, proof.soundness),
        (ProofStatus::InfraError, None)
    );
    assert!(
        proof.problems[0].starts_with("infra-error: ") && proof.problems[0].contains(IMAGE),
        "{:?}",
        proof.problems
    );
}

#[tokio::test]
async fn a_workspace_that_tells_of_the_solution_is_no_proof() {
    let (bench, _) = bench(|s| {
        let work = s.mounts.iter().find(|m| m.target == "/work").unwrap();
        let text = std::fs::read_to_string(work.source.join("tree/calc.py")).unwrap();
        if text.contains("a + b") {
            says(s, "PASS", 0)
        } else {
            says(s, "FAIL", 1)
        }
    });
    let mut request = ProofRequest::new(FIX, 1, bench.labels());
    request.hidden.terms = vec!["Sums  are\nwrong"];
    let proof = bench
        .oracle
        .verify_case(&bench.case, &request)
        .await
        .unwrap();
    assert_eq!(proof.problems.len(), 1, "{:?}", proof.problems);
    assert!(
        proof.problems[0].contains("SYMPTOM.md"),
        "{:?}",
        proof.problems
    );
    assert!(
        !proof.problems[0].contains("Sums are wrong"),
        "the term itself is not told"
    );
    assert_eq!(proof.soundness, Some(Soundness::Sound));
    assert!(bench.listing("scratch").is_empty());
}

#[tokio::test]
async fn a_workspace_holds_what_its_condition_allows() {
    let (mut bench, _) = passing();
    bench.case.case.rebuild = "make".into();
    for (condition, evidence) in [
        (Condition::SymptomOnly, false),
        (Condition::ContextAugmented, true),
    ] {
        let to = bench.dir.path().join(condition.as_str());
        let control = RunControl::default();
        let made = bench
            .oracle
            .prepare_workspace(&bench.case, condition, &to, &bench.labels(), &control)
            .await
            .unwrap();
        assert_eq!(made.commit, "abc");
        assert_eq!(
            std::fs::read_to_string(made.tree.join("SYMPTOM.md")).unwrap(),
            "Sums are wrong.\n"
        );
        assert!(
            std::fs::read_to_string(made.tree.join("REBUILD.sh"))
                .unwrap()
                .contains("make")
        );
        assert_eq!(made.tree.join("evidence/log.md").exists(), evidence);
        for hidden in ["reproduce.sh", "inject_test", "case.yaml", "setup.sh"] {
            assert!(!made.tree.join(hidden).exists() && !made.work.join(hidden).exists());
        }
        assert!(
            bench
                .oracle
                .prepare_workspace(&bench.case, condition, &to, &bench.labels(), &control)
                .await
                .is_err()
        );
    }
}

#[tokio::test]
async fn sweeping_spares_what_is_in_use() {
    let (bench, _) = passing();
    bench.judge(FIX).await;
    assert_eq!(bench.oracle.sweep().await.unwrap(), (0, 0));
    let mut settings = faultboard_oracle::OracleSettings::new(bench.dir.path().join("data"));
    settings.keep_prepared = Duration::ZERO;
    let eager = faultboard_oracle::Oracle::new(
        bench.runtime.clone(),
        settings,
        Arc::new(faultboard_domain::clock::SystemClock),
    );
    let held = eager
        .prepare(&bench.case, &bench.labels(), &RunControl::default())
        .await
        .unwrap();
    assert_eq!(eager.sweep().await.unwrap(), (0, 0));
    drop(held);
    assert_eq!(eager.sweep().await.unwrap(), (0, 1));
    assert_eq!(bench.judge(FIX).await.outcome, Outcome::Pass);
}
