//! Synthetic cases on disk: sound enough for the catalog, and saying in every
//! text that they are none.

use std::fs;
use std::io;
use std::path::Path;

use faultboard_domain::case::{CrashDistance, Family, TextAnchor};

const SYSTEMS: [&str; 6] = [
    "synthetic-raft",
    "synthetic-queue",
    "synthetic-store",
    "synthetic-mesh",
    "synthetic-stream",
    "synthetic-sync",
];
const LANGUAGES: [&str; 6] = ["Rust", "Python", "Go", "C", "Java", "Erlang"];
const CATEGORIES: [&str; 6] = [
    "consensus library",
    "messaging",
    "key-value store",
    "service mesh",
    "streaming engine",
    "replication library",
];
const ANCHORS: [TextAnchor; 3] = [
    TextAnchor::Opaque,
    TextAnchor::NamesFileOrClass,
    TextAnchor::NamesMethod,
];

/// The number of a case's tier: 31, 15 and 14 of each 60.
pub(super) fn tier(i: u32) -> u8 {
    match i * 7 % 60 {
        0..=30 => 1,
        31..=45 => 2,
        _ => 3,
    }
}

/// The id of the case with a 0-based number.
pub(super) fn id(i: u32) -> String {
    format!("{}-{}", SYSTEMS[i as usize % SYSTEMS.len()], i + 1)
}

fn put(folder: &Path, name: &str, text: &str, script: bool) -> io::Result<()> {
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(&path, text)?;
    #[cfg(unix)]
    if script {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn case_yaml(i: u32, tracks: &str) -> String {
    let k = i as usize;
    let distances: Vec<CrashDistance> = CrashDistance::ALL.to_vec();
    let family = Family::ALL[(k * 3 + k / 7) % Family::ALL.len()];
    format!(
        "id: {id}\ntitle: Synthetic case {n}\nsystem: {system}\nlanguage: {language}\ncategory: {category}\nfamily: {family}\ntier: {tier}\n\
         tracks: [{tracks}]\nlite: {lite}\nlicense: MIT\nseverity: major\nroot_cause_type: none\ncomplexity: medium\n\
         evidence:\n  contains_logs: true\n  contains_stack_traces: false\n  contains_analysis: false\n\
         report:\n  text_anchor: {anchor}\n  crash_distance: {distance}\n\
         source:\n  kind: pypi\n  name: synthetic\n  version: 0.0.1\n  sha256: \"{zeros}\"\n\
         image: faultboard/base:1\ncaps: []\nlimits:\n  memory_mib: 256\n  cpus: 1.0\n  pids: 64\n  setup_timeout_s: 60\n  rebuild_timeout_s: 60\n  reproduce_timeout_s: 60\n\
         rebuild: \"\"\noracle:\n  repeats: 1\n  parallel_safe: true\nfix_size: {size}\n",
        id = id(i),
        n = i + 1,
        system = SYSTEMS[k % SYSTEMS.len()],
        language = LANGUAGES[k % LANGUAGES.len()],
        category = CATEGORIES[k % CATEGORIES.len()],
        tier = tier(i),
        lite = i.is_multiple_of(5),
        anchor = ANCHORS[(k / 2) % ANCHORS.len()].as_str(),
        distance = distances[(k / 3) % distances.len()].as_str(),
        zeros = "0".repeat(64),
        size = 2 + (k * 37) % 160,
    )
}

/// Writes so many cases of each track with their solutions and the release; the
/// first ones serve both.
pub(super) fn write(cases: &Path, solutions: &Path, repair: u32, diagnosis: u32) -> io::Result<()> {
    let n = repair.max(diagnosis);
    const SAID: &str = "This case is synthetic. It stands for a bug that does not exist, was made by a generator to fill a board of a wanted size, and describes no behaviour of any program. Nothing that is shown of it was observed, run or measured by anybody.";
    for i in 0..n {
        let id = id(i);
        let f = cases.join(&id);
        let tracks = match (i < repair, i < diagnosis) {
            (true, true) => "repair, diagnosis",
            (true, false) => "repair",
            (false, _) => "diagnosis",
        };
        put(&f, "case.yaml", &case_yaml(i, tracks), false)?;
        put(
            &f,
            "README.md",
            &format!("# {id}\n\n[symptom](symptom.md)\n"),
            false,
        )?;
        put(
            &f,
            "symptom.md",
            &format!("# Synthetic case {}\n\n{SAID}\n", i + 1),
            false,
        )?;
        for name in ["reproduce.md", "verification.md", "setup.md"] {
            put(&f, name, "# Synthetic\n\nThere is nothing to do.\n", false)?;
        }
        put(
            &f,
            "setup.sh",
            "#!/usr/bin/env bash\nset -euo pipefail\nfb-fetch /work/tree\n",
            true,
        )?;
        put(
            &f,
            "reproduce.sh",
            "#!/usr/bin/env bash\n. /oracle/lib/oracle.sh\nfail \"it is synthetic\"\n",
            true,
        )?;
        put(&f, "inject_test/judge.py", "print(1)\n", false)?;
        put(
            &f,
            "evidence/log.md",
            "# Log\n\nProvenance: output of `generator`.\n\nSynthetic: nothing was logged.\n",
            false,
        )?;
        let s = solutions.join(&id);
        put(
            &s,
            "solution.md",
            "# Fix\n\n```diff\n--- a/src/none.txt\n+++ b/src/none.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n```\n",
            false,
        )?;
        put(
            &s,
            "blocks.json",
            r#"[{"file":"src/none.txt","function":"Synthetic.none","start_line":1,"end_line":2}]"#,
            false,
        )?;
        put(
            &s,
            "upstream.yaml",
            "issues: []\nfixes: []\nfix_commits: []\nidentifiers: []\nterms: [no term of a synthetic case]\n",
            false,
        )?;
    }
    let list: String = (0..n).map(|i| format!("  - {}\n", id(i))).collect();
    put(
        cases,
        "releases/0.1.yaml",
        &format!("id: \"0.1\"\ntitle: Synthetic cases\ndate: 2000-01-01\ncases:\n{list}"),
        false,
    )?;
    put(
        cases,
        "lib/oracle.sh",
        "pass() { echo \"PASS: $*\"; exit 0; }\nfail() { echo \"FAIL: $*\"; exit 1; }\n",
        false,
    )
}
