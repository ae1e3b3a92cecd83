//! A small case made on the spot, and an oracle around a runtime.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use faultboard_catalog::CaseDigests;
use faultboard_domain::case::{
    Case, CpuShare, CrashDistance, EvidenceFlags, Family, Limits, OracleSpec, ReportCharacter,
    Source, TextAnchor,
};
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::{CaseId, Clock, Digest, StageKind, SystemId, Track};
use faultboard_oracle::{Attempt, Oracle, OracleCase, OracleSettings};
use faultboard_sandbox::{CancellationToken, Labels, Runtime};

pub(crate) const IMAGE: &str = "faultboard/python:1";

/// A Python program that adds wrongly, and its cure.
pub(crate) const FAULTY: &str = "def add(a, b):\n    return a - b\n";
pub(crate) const FIX: &str = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n";

/// Drives the tree as the program under test; judges with numbers of its own.
pub(crate) const REPRODUCE: &str = r#". /oracle/lib/oracle.sh
a=$((RANDOM + 1)) b=$((RANDOM + 1))
subject 10 python3 /oracle/inject_test/driver.py "$a" "$b" >"$ORACLE_TMP/said" 2>"$ORACLE_TMP/log"
status=$?
cat "$ORACLE_TMP/said" "$ORACLE_TMP/log" >&2
[ "$status" = 124 ] && fail "no answer within 10 s"
if [ "$(head -n 1 "$ORACLE_TMP/said")" = "$((a + b))" ]; then pass "the sum is right"; fi
fail "the sum is wrong"
"#;
pub(crate) const DRIVER: &str = "import sys\nsys.path.insert(0, '/work/tree')\nimport calc\nprint(calc.add(int(sys.argv[1]), int(sys.argv[2])))\n";

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) case: OracleCase,
    pub(crate) oracle: Oracle,
    pub(crate) runtime: Arc<dyn Runtime>,
}

impl Bench {
    /// A case named after the test, so that tests never share a prepared tree.
    pub(crate) fn new(runtime: Arc<dyn Runtime>, id: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let case_dir = dir.path().join("case");
        for (path, text) in [
            (
                "setup.sh",
                "set -eu\nmkdir tree && cp /case/tree/* tree/\necho set-up done\n",
            ),
            ("tree/calc.py", FAULTY),
            ("reproduce.sh", REPRODUCE),
            ("inject_test/driver.py", DRIVER),
        ] {
            write(&case_dir.join(path), text);
        }
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/lib");
        let case = OracleCase {
            case: case(id),
            dir: case_dir,
            library,
            digests: digests("1"),
            symptom: "Sums are wrong.\n".into(),
            evidence: vec![("log.md".into(), "A log.\n".into())],
        };
        let clock: Arc<dyn Clock> = Arc::new(faultboard_domain::clock::SystemClock);
        let oracle = Oracle::new(
            runtime.clone(),
            OracleSettings::new(dir.path().join("data")),
            clock,
        );
        Self {
            dir,
            case,
            oracle,
            runtime,
        }
    }

    pub(crate) fn labels(&self) -> Labels {
        Labels {
            instance: format!("oracle-test-{}", std::process::id()),
            job: self.case.case.id.to_string(),
            lease: "1".into(),
        }
    }

    pub(crate) fn attempt<'a>(&'a self, patch: &'a str) -> Attempt<'a> {
        Attempt {
            case: &self.case,
            patch: patch.as_bytes(),
            labels: self.labels(),
            cancel: CancellationToken::new(),
            progress: None,
        }
    }

    pub(crate) async fn judge(&self, patch: &str) -> RepairResult {
        self.oracle.evaluate(&self.attempt(patch)).await.unwrap()
    }

    /// Replaces a file of the case, as a new version of it would.
    pub(crate) fn set(&mut self, path: &str, text: &str) {
        write(&self.case.dir.join(path), text);
        self.case.digests = digests(text);
    }

    /// Names of what lies in a folder under the data folder.
    pub(crate) fn listing(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir.path().join("data").join(folder)) else {
            return Vec::new();
        };
        entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn digests(seed: &str) -> CaseDigests {
    let of = |part: &str| Digest::of(format!("{part} {seed}").as_bytes());
    CaseDigests {
        content: of("content"),
        setup: of("setup"),
        oracle: of("oracle"),
        context: of("context"),
    }
}

/// The kinds of the stages that ran.
pub(crate) fn kinds(result: &RepairResult) -> Vec<StageKind> {
    result.stages.iter().map(|s| s.stage).collect()
}

/// A patch that replaces the whole program.
pub(crate) fn program(lines: &str) -> String {
    let added: String = lines.lines().map(|l| format!("+{l}\n")).collect();
    format!(
        "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,{} @@\n-def add(a, b):\n-    return a - b\n{added}",
        lines.lines().count()
    )
}

fn case(id: &str) -> Case {
    Case {
        id: CaseId::parse(id).unwrap(),
        title: "Sums are wrong".into(),
        system: SystemId::parse("calc").unwrap(),
        language: "Python".into(),
        category: "messaging".into(),
        family: Family::InputCrash,
        tier: 3,
        tracks: vec![Track::Repair],
        lite: false,
        license: "MIT".into(),
        severity: "major".into(),
        root_cause_type: "sign".into(),
        complexity: "low".into(),
        evidence: EvidenceFlags {
            contains_logs: false,
            contains_stack_traces: false,
            contains_analysis: false,
        },
        report: ReportCharacter {
            text_anchor: TextAnchor::Opaque,
            crash_distance: CrashDistance::None,
        },
        source: Source::Directory {
            path: "tree".into(),
        },
        image: IMAGE.into(),
        caps: vec!["SETUID".into(), "SETGID".into(), "KILL".into()],
        limits: Limits {
            memory_mib: 256,
            cpus: CpuShare(1000),
            pids: 64,
            setup_timeout_s: 60,
            rebuild_timeout_s: 20,
            reproduce_timeout_s: 60,
        },
        rebuild: String::new(),
        oracle: OracleSpec {
            repeats: 2,
            parallel_safe: true,
            nonce: true,
        },
        fix_size: 1,
    }
}
