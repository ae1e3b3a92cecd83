//! Lints of a case's artefacts. Each looks at files in memory and says what is
//! wrong and how to mend it; adding one means adding a file here and a line in
//! [`LINTS`]. None runs anything: a shell's own syntax check is a matter for
//! whoever has a shell.

mod evidence;
mod executable;
mod identity;
mod labels;
mod leaks;
mod links;
mod required_files;
mod scripts;
mod sizes;
mod source_folder;
mod texts;

use faultboard_domain::{Case, Problem};

use crate::folder::Folder;
use crate::solution::Solution;

/// What a lint looks at.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Name of the case's folder.
    pub name: &'a str,
    /// The case's folder.
    pub case: &'a Folder,
    /// `case.yaml`, where it is sound.
    pub parsed: Option<&'a Case>,
    /// The solution, where it is sound.
    pub solution: Option<&'a Solution>,
}

/// One lint.
pub struct Lint {
    /// Its stable name, the `rule` of its problems.
    pub id: &'static str,
    /// What it asks for, in one sentence.
    pub about: &'static str,
    /// Adds what it finds.
    pub check: fn(&Subject<'_>, &mut Vec<Problem>),
}

/// Every lint, in the order in which they run.
pub const LINTS: &[Lint] = &[
    identity::LINT,
    required_files::LINT,
    executable::LINT,
    scripts::LINT,
    texts::LINT,
    evidence::LINT,
    links::LINT,
    sizes::LINT,
    source_folder::LINT,
    labels::LINT,
    leaks::LINT,
];

/// Runs every lint.
pub fn run(subject: &Subject<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    for lint in LINTS {
        (lint.check)(subject, &mut found);
    }
    found
}

#[cfg(test)]
pub(crate) mod sample {
    //! A small sound case that a test may spoil.

    use super::*;
    use crate::{case_file, solution};

    pub(crate) const CASE_YAML: &str = include_str!("../../tests/data/sample-case.yaml");

    pub(crate) fn case() -> Folder {
        let mut f = Folder::named("cases/sample-1");
        f.put("case.yaml", CASE_YAML, false);
        f.put("README.md", "# sample-1\n\n[symptom](symptom.md)\n", false);
        f.put(
            "symptom.md",
            format!(
                "# Writes are lost\n\n{}\n",
                "What an operator saw was this. ".repeat(8)
            ),
            false,
        );
        for name in ["reproduce.md", "verification.md", "setup.md"] {
            f.put(name, "# Title\n\nText.\n", false);
        }
        f.put(
            "setup.sh",
            "#!/usr/bin/env bash\nset -euo pipefail\nfb-fetch /work/tree\n",
            true,
        );
        f.put(
            "reproduce.sh",
            "#!/usr/bin/env bash\n. /oracle/lib/oracle.sh\nfail \"it is there\"\n",
            true,
        );
        f.put("inject_test/judge.py", "print(1)\n", false);
        f.put(
            "evidence/log.md",
            "# Log\n\nProvenance: output of `app -v` in the container.\n\n```\nx\n```\n",
            false,
        );
        f
    }

    pub(crate) fn answer() -> Folder {
        let mut f = Folder::named("cases-solution/sample-1");
        f.put(
            "solution.md",
            "# Fix\n\n```diff\n--- a/src/x.py\n+++ b/src/x.py\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n```\n",
            false,
        );
        f.put(
            "blocks.json",
            r#"[{"file":"src/x.py","function":"f","start_line":1,"end_line":2}]"#,
            false,
        );
        f.put(
            "upstream.yaml",
            "issues: [https://example.org/a/b/issues/77]\nfixes: []\nfix_commits: [0123456789abcdef0123456789abcdef01234567]\nidentifiers: [example/sample#77]\nterms: [the lock is taken twice]\n",
            false,
        );
        f
    }

    /// Problems of one lint on a (spoiled) sample.
    pub(crate) fn found(lint: &Lint, case: &Folder, answer: &Folder) -> Vec<Problem> {
        let parsed = case
            .bytes("case.yaml")
            .and_then(|b| case_file::parse("case.yaml", b).0);
        let (solution, problems) = solution::read(answer);
        assert_eq!(problems, []);
        let mut out = Vec::new();
        (lint.check)(
            &Subject {
                name: "sample-1",
                case,
                parsed: parsed.as_ref(),
                solution: solution.as_ref(),
            },
            &mut out,
        );
        out
    }

    /// Whether one of the problems is at this place.
    pub(crate) fn at(problems: &[Problem], place: &str) -> bool {
        problems.iter().any(|p| p.path == place)
    }
}

#[cfg(test)]
mod tests {
    use super::sample::{answer, case};
    use super::*;
    use crate::{case_file, solution};

    #[test]
    fn the_sample_is_sound() {
        let (case, answer) = (case(), answer());
        let (parsed, problems) = case_file::parse("case.yaml", case.bytes("case.yaml").unwrap());
        assert_eq!(problems, []);
        let (solution, problems) = solution::read(&answer);
        assert_eq!(problems, []);
        let subject = Subject {
            name: "sample-1",
            case: &case,
            parsed: parsed.as_ref(),
            solution: solution.as_ref(),
        };
        assert_eq!(run(&subject), []);
    }

    #[test]
    fn lints_have_names_of_their_own() {
        let mut ids: Vec<&str> = LINTS.iter().map(|l| l.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), LINTS.len());
    }
}
