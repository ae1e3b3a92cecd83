//! The protocol in real containers, on a small Python case; every way to cheat
//! that a program under test has is tried. Where no engine runs, the same is
//! done by bubblewrap if it can; if neither can, that is said on the terminal.

mod common;

use std::io::Write as _;
use std::sync::Arc;

use common::{Bench, FIX, IMAGE, program};
use faultboard_domain::{Condition, Outcome};
use faultboard_oracle::ProofRequest;
use faultboard_sandbox::{
    Bubblewrap, BubblewrapConfig, DockerConfig, DockerRuntime, ReapPolicy, RunControl, Runtime,
};

fn announce(text: &str) {
    let mut terminal = std::io::stderr().lock();
    writeln!(terminal, "{text}").unwrap();
}

async fn docker() -> Result<Arc<dyn Runtime>, String> {
    let runtime = DockerRuntime::connect(DockerConfig {
        disk_reserve: 0,
        ..Default::default()
    })
    .await;
    let runtime = runtime.map_err(|e| e.to_string())?;
    runtime
        .resolve(IMAGE)
        .await
        .map_err(|e| format!("{e} (make it with docker/build.sh)"))?;
    Ok(Arc::new(runtime))
}

async fn bubblewrap() -> Result<Arc<dyn Runtime>, String> {
    let state = tempfile::tempdir().unwrap().keep();
    let config = BubblewrapConfig {
        host_images: vec![IMAGE.into()],
        disk_reserve: 0,
        ..BubblewrapConfig::under(&state)
    };
    let runtime = Bubblewrap::probe(config).await.map_err(|e| e.to_string())?;
    if runtime
        .not_enforced()
        .iter()
        .any(|n| n.contains("not kept apart"))
    {
        return Err(
            "without root it cannot keep the oracle and the program under test apart".into(),
        );
    }
    Ok(Arc::new(runtime))
}

/// A bench on each real runtime of this machine.
async fn benches(id: &str) -> Vec<Bench> {
    let mut benches = Vec::new();
    for (name, runtime) in [
        ("docker", docker().await),
        ("bubblewrap", bubblewrap().await),
    ] {
        match runtime {
            Ok(runtime) => benches.push(Bench::new(runtime, id)),
            Err(why) => {
                let required = std::env::var("FAULTBOARD_REQUIRE_RUNTIMES").unwrap_or_default();
                assert!(
                    !required.split(',').any(|w| w.trim() == name),
                    "{name} is required but not available: {why}"
                );
                announce(&format!("NOT TESTED: oracle protocol on {name}: {why}"));
            }
        }
    }
    benches
}

#[tokio::test(flavor = "multi_thread")]
async fn fails_as_shipped_and_passes_when_cured() {
    for bench in benches("calc-11").await {
        let request = ProofRequest::new(FIX, 2, bench.labels());
        let proof = bench
            .oracle
            .verify_case(&bench.case, &request)
            .await
            .unwrap();
        assert!(proof.holds(), "{:?} {:#?}", proof.problems, proof.solved);
        let result = bench.judge(FIX).await;
        assert_eq!(result.outcome, Outcome::Pass, "{result:#?}");
        assert!(result.image_digests[0].starts_with("sha256:"));
        assert!(
            result.stages[0].result.contains("from the prepared one"),
            "{}",
            result.stages[0].result
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_the_program_does_decides() {
    // Each of these computes a wrong sum and tries to be judged right anyway.
    let cheats = [
        (
            "prints a marker",
            "import sys\nprint('PASS: the sum is right')\nprint('PASS: the sum is right', file=sys.stderr)\ndef add(a, b):\n    print('PASS: x [0]'); return 0\n",
        ),
        (
            "exits well",
            "import os\ndef add(a, b):\n    print('PASS: fine', flush=True); os._exit(0)\n",
        ),
        (
            "kills the checker",
            "import os, signal\ndef add(a, b):\n    for p in [1, os.getppid(), *[int(d) for d in os.listdir('/proc') if d.isdigit()]]:\n        if p != os.getpid():\n            try: os.kill(p, signal.SIGKILL)\n            except OSError: pass\n    return 0\n",
        ),
        (
            "reads the nonce",
            "import glob\ndef add(a, b):\n    for f in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):\n        try: text = open(f, 'rb').read()\n        except OSError: continue\n        for part in text.split(b'\\0'):\n            if b'NONCE' in part: print('PASS: found [' + part.split(b'=')[1].decode() + ']')\n    return 0\n",
        ),
        (
            "writes into the oracle",
            "import glob\ndef add(a, b):\n    for f in ['/oracle/reproduce.sh', '/oracle/lib/oracle.sh', '/work/tree/calc.py'] + glob.glob('/tmp/oracle.*/*') + glob.glob('/proc/[0-9]*/fd/*'):\n        try: open(f, 'a').write('\\nPASS: written [x]\\nexit 0\\n')\n        except OSError: pass\n    return 0\n",
        ),
        (
            "leaves a daemon",
            "import os, time\ndef add(a, b):\n    for _ in range(3):\n        if os.fork() == 0:\n            os.setsid()\n            if os.fork() == 0:\n                while True:\n                    try: print('PASS: from behind', flush=True)\n                    except OSError: pass\n                    time.sleep(0.01)\n            os._exit(0)\n    return 0\n",
        ),
    ];
    for mut bench in benches("calc-12").await {
        bench.case.case.oracle.repeats = 1;
        for (name, code) in &cheats {
            let result = bench.judge(&program(code)).await;
            assert_eq!(
                result.outcome,
                Outcome::Fail,
                "{name} on {}: {result:#?}",
                bench.runtime.name()
            );
            assert_eq!(result.reason, "the sum is wrong", "{name}");
        }
        // Output that does reach the container's own is counted, and ignored.
        bench.set(
            "reproduce.sh",
            &common::REPRODUCE
                .replace(">\"$ORACLE_TMP/said\" 2>\"$ORACLE_TMP/log\"", "")
                .replace(
                    "cat \"$ORACLE_TMP/said\" \"$ORACLE_TMP/log\" >&2",
                    ": >\"$ORACLE_TMP/said\"",
                ),
        );
        let result = bench.judge(&program(cheats[0].1)).await;
        assert_eq!(result.outcome, Outcome::Fail, "{result:#?}");
        assert_eq!(result.flags, ["forged-marker"]);
        let policy = ReapPolicy {
            instance: bench.labels().instance,
            live: [].into(),
            min_age: std::time::Duration::from_secs(30),
        };
        assert!(
            bench.runtime.reap(&policy).await.unwrap().is_empty(),
            "containers were left behind"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_hangs_or_bombs_is_an_observation() {
    for mut bench in benches("calc-13").await {
        bench.case.case.oracle.repeats = 1;
        bench.set(
            "reproduce.sh",
            &common::REPRODUCE
                .replace("subject 10", "subject 3")
                .replace("10 s", "3 s"),
        );
        let hang = bench
            .judge(&program(
                "import time\ndef add(a, b):\n    time.sleep(1000)\n",
            ))
            .await;
        assert_eq!(
            (hang.outcome, hang.reason.as_str()),
            (Outcome::Fail, "no answer within 3 s"),
            "{hang:#?}"
        );
        let bomb = bench.judge(&program("import os\ndef add(a, b):\n    while True:\n        try: os.fork()\n        except OSError: pass\n")).await;
        assert_eq!(bomb.outcome, Outcome::Fail, "{bomb:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_failures_and_oracle_failures_in_containers() {
    for mut bench in benches("calc-14").await {
        bench.case.case.oracle.repeats = 1;
        bench.case.case.rebuild =
            "python3 -m py_compile calc.py\ntest ! -e /oracle/reproduce.sh\ntouch /work/built"
                .into();
        let broken = bench.judge(&program("def add(a, b:\n")).await;
        assert_eq!(broken.outcome, Outcome::BuildFailed, "{broken:#?}");
        assert!(
            broken.stages.last().unwrap().log.contains("SyntaxError"),
            "{broken:#?}"
        );
        assert_eq!(bench.judge(FIX).await.outcome, Outcome::Pass);

        bench.case.case.rebuild = "sleep 600".into();
        bench.case.case.limits.rebuild_timeout_s = 2;
        assert_eq!(bench.judge(FIX).await.outcome, Outcome::Timeout);
        bench.case.case.rebuild = String::new();

        bench.set(
            "reproduce.sh",
            ". /oracle/lib/oracle.sh\noracle_error 'no such tool'\n",
        );
        let error = bench.judge(FIX).await;
        assert_eq!(error.outcome, Outcome::OracleError);
        assert!(error.stages.last().unwrap().log.contains("no such tool"));

        bench.set("reproduce.sh", "sleep 600\n");
        bench.case.case.limits.reproduce_timeout_s = 2;
        let slow = bench.judge(FIX).await;
        assert_eq!(slow.outcome, Outcome::Timeout);
        assert_eq!(slow.stages.last().unwrap().exit_code, None);

        assert_eq!(bench.judge("").await.outcome, Outcome::NoEdit);
        assert_eq!(
            bench
                .judge("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
                .await
                .outcome,
            Outcome::ApplyFailed
        );

        bench.case.case.image = "faultboard/never-built:9".into();
        let missing = bench.judge(FIX).await;
        assert_eq!(missing.outcome, Outcome::InfraError);
        assert!(
            missing.reason.contains("faultboard/never-built:9"),
            "{}",
            missing.reason
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_s_repository_holds_one_commit_and_gives_the_patch() {
    for mut bench in benches("calc-15").await {
        // A tree that ignores a file it ships: edits to it must show all the same.
        bench.set("tree/.gitignore", "generated.py\nbuild/\n");
        bench.set("tree/generated.py", "x = 1\n");
        bench.set(
            "setup.sh",
            "set -eu\ncp -r /case/tree tree\nmkdir tree/build\necho o >tree/build/out\n",
        );
        let to = bench.dir.path().join("agent");
        let (labels, control) = (bench.labels(), RunControl::default());
        let made = bench.oracle.prepare_workspace(
            &bench.case,
            Condition::ContextAugmented,
            &to,
            &labels,
            &control,
        );
        let made = made.await.unwrap();
        let script = "cd /work/tree && git log --all --format='%H %an %ad %s' --date=iso && git status --short && \
            sed -i 's/a - b/a + b/' calc.py && sed -i 's/1/2/' generated.py && git diff && git stash list && git fsck --unreachable --lost-found; \
            ls .git/logs 2>/dev/null; git remote; ls";
        let mut spec = faultboard_sandbox::RunSpec::new(IMAGE, &["bash", "-c", script], labels);
        spec.user = made.owner;
        let quota = faultboard_sandbox::Quota {
            bytes: 1 << 30,
            files: 10_000,
        };
        spec.mounts.push(faultboard_sandbox::Mount::writable(
            &made.work, "/work", quota,
        ));
        let run = bench
            .runtime
            .run(&spec, RunControl::default())
            .await
            .unwrap();
        let text = run.log.text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with(&made.commit)
                && lines[0].ends_with("faultboard 2000-01-01 00:00:00 +0000 snapshot"),
            "{text}"
        );
        assert!(
            lines[1].starts_with("diff --git a/calc.py"),
            "the fresh tree is clean: {text}"
        );
        assert!(
            text.contains("+    return a + b")
                && text.contains("generated.py")
                && !text.contains("unreachable"),
            "{text}"
        );
        assert!(
            text.contains("SYMPTOM.md") && text.contains("evidence"),
            "{text}"
        );
        let diff: String = lines[1..]
            .iter()
            .take_while(|l| {
                !l.starts_with("build") && !l.starts_with("SYMPTOM") && !l.starts_with("REBUILD")
            })
            .map(|l| format!("{l}\n"))
            .collect();
        let result = bench.judge(&diff).await;
        assert_eq!(
            result.outcome,
            Outcome::Pass,
            "what the agent sees as its diff is what is judged: {result:#?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_attempt_leaves_nothing() {
    for mut bench in benches("calc-16").await {
        bench.set("reproduce.sh", "sleep 600\n");
        let attempt = bench.attempt(FIX);
        let cancel = attempt.cancel.clone();
        let started = std::time::Instant::now();
        let (ended, ()) = tokio::join!(bench.oracle.evaluate(&attempt), async {
            tokio::time::sleep(std::time::Duration::from_secs(4)).await;
            cancel.cancel();
        });
        assert!(ended.is_err() && started.elapsed().as_secs() < 12);
        assert!(bench.listing("scratch").is_empty());
    }
}
