//! What the two scripts have in common: bash, Unix line ends, and the ways in
//! which they begin.

use faultboard_domain::Problem;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "script",
    about: "scripts are bash and begin as the contract says",
    check,
};

/// The first command of an oracle.
const LIBRARY: &str = ". /oracle/lib/oracle.sh";

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    let mut say = |path: &str, line: usize, message: &str, fix: &str| {
        out.push(Problem::error(
            format!("{}:{line}", s.case.at(path)),
            LINT.id,
            message,
            fix,
        ));
    };
    for path in ["setup.sh", "reproduce.sh"] {
        let Some(bytes) = s.case.bytes(path) else {
            continue;
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            say(path, 1, "the script is not UTF-8", "save it as UTF-8");
            continue;
        };
        let first = text.lines().next().unwrap_or_default();
        if !matches!(first, "#!/usr/bin/env bash" | "#!/bin/bash") {
            say(
                path,
                1,
                "the script does not begin with a line for bash",
                "begin with `#!/usr/bin/env bash`",
            );
        }
        if let Some(n) = text.split('\n').position(|l| l.ends_with('\r')) {
            say(
                path,
                n + 1,
                "the line ends with a carriage return",
                "save it with Unix line ends",
            );
        }
        if !text.ends_with('\n') {
            say(
                path,
                text.lines().count(),
                "the last line has no end",
                "end the file with a newline",
            );
        }
        let command = text
            .lines()
            .enumerate()
            .find(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
        let (n, command) = command.map_or((0, ""), |(n, l)| (n, l.trim()));
        let opted_out = s.parsed.is_some_and(|c| !c.oracle.nonce);
        if path == "reproduce.sh" && !opted_out && command != LIBRARY {
            say(
                path,
                n + 1,
                "the oracle does not begin with the shared library",
                "make `. /oracle/lib/oracle.sh` the first command",
            );
        }
        if path == "setup.sh" && !(command.starts_with("set -") && command.contains('e')) {
            say(
                path,
                n + 1,
                "set-up goes on after a failed command",
                "make `set -euo pipefail` the first command",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{CASE_YAML, answer, at, case, found};

    #[test]
    fn wrong_beginnings_and_ends_are_told() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut f = case();
        f.put("setup.sh", "#!/bin/sh\r\n# note\necho hi", true);
        f.put("reproduce.sh", "#!/bin/bash\n\necho PASS: yes\n", true);
        let problems = found(&LINT, &f, &answer());
        for place in ["setup.sh:1", "setup.sh:3", "reproduce.sh:3"] {
            assert!(
                at(&problems, &format!("cases/sample-1/{place}")),
                "{place} in {problems:#?}"
            );
        }
        assert_eq!(problems.len(), 5);
    }

    #[test]
    fn an_imported_oracle_may_go_without_the_library() {
        let mut f = case();
        f.put(
            "case.yaml",
            CASE_YAML.replace("  repeats: 3", "  repeats: 3\n  nonce: false"),
            false,
        );
        f.put(
            "reproduce.sh",
            "#!/bin/bash\necho FAIL: yes\nexit 1\n",
            true,
        );
        assert_eq!(found(&LINT, &f, &answer()), []);
    }
}
