//! The default debug context: one to three Markdown files, each with a line
//! that says which command its output came from, and nothing of the workshop.

use faultboard_domain::Problem;

use super::{Lint, Subject};
use crate::markdown;

pub(super) const LINT: Lint = Lint {
    id: "evidence",
    about: "one to three files with provenance, within bounds",
    check,
};

/// Files that a context bundle may have.
const FILES: std::ops::RangeInclusive<usize> = 1..=3;
/// Tokens of all files together beyond which a bundle is too much of a hint or a burden.
const MOST_TOKENS: u64 = 8_000;
/// Words of the workshop and of somebody's own machine.
const FOREIGN: &[(&str, &str)] = &[
    ("reproduce.sh", "the oracle"),
    ("inject_test", "the oracle's files"),
    ("/oracle/", "the oracle's files"),
    ("case.yaml", "the case's metadata"),
    ("faultboard", "this platform"),
    ("docker run", "the engine outside of the container"),
    ("docker exec", "the engine outside of the container"),
    ("/home/", "somebody's own folder"),
    ("/Users/", "somebody's own folder"),
    ("C:\\", "somebody's own machine"),
];

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    let mut files = 0;
    let mut tokens = 0;
    for (path, file) in s.case.below("evidence") {
        let at = s.case.at(path);
        let plain = path
            .strip_prefix("evidence/")
            .is_some_and(|n| !n.contains('/') && n.ends_with(".md"));
        if !plain {
            out.push(Problem::error(
                at,
                LINT.id,
                "is no Markdown file of the bundle",
                "keep only `evidence/*.md`",
            ));
            continue;
        }
        files += 1;
        let Ok(text) = std::str::from_utf8(&file.bytes) else {
            continue;
        };
        tokens += markdown::tokens(text);
        // The line may go on over several lines, up to an empty one.
        let provenance = text
            .split("\n\n")
            .find(|p| p.trim_start().starts_with("Provenance:"));
        match provenance {
            None => out.push(Problem::error(
                &at,
                LINT.id,
                "has no provenance",
                "add a line `Provenance: output of `command` ...`",
            )),
            Some(p) if p.matches('`').count() < 2 => {
                out.push(Problem::error(
                    &at,
                    LINT.id,
                    "the provenance names no command",
                    "put the command between backticks",
                ));
            }
            Some(_) => {}
        }
        for (i, line) in text.lines().enumerate() {
            for (word, what) in FOREIGN.iter().filter(|(word, _)| line.contains(word)) {
                let message = format!("speaks of {what} (`{word}`)");
                out.push(Problem::error(
                    format!("{at}:{}", i + 1),
                    LINT.id,
                    message,
                    "show only what works inside an agent's container",
                ));
            }
        }
    }
    if !FILES.contains(&files) {
        let message = format!("the bundle has {files} files");
        out.push(Problem::error(
            s.case.at("evidence"),
            LINT.id,
            message,
            "have one to three Markdown files",
        ));
    }
    if tokens > MOST_TOKENS {
        let message = format!("the bundle has {tokens} tokens (1.3 for each word)");
        out.push(Problem::error(
            s.case.at("evidence"),
            LINT.id,
            message,
            format!("cut it to {MOST_TOKENS}"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, at, case, found};

    #[test]
    fn bounds_and_provenance_are_checked() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut f = case();
        f.put(
            "evidence/log.md",
            "# Log\n\nProvenance: my laptop\n\nfrom /home/me, by `reproduce.sh`\n",
            false,
        );
        f.put("evidence/b.md", "# B\n", false);
        f.put("evidence/c.txt", "c", false);
        let problems = found(&LINT, &f, &answer());
        assert_eq!(problems.len(), 5, "{problems:#?}");
        for place in [
            "evidence/log.md",
            "evidence/log.md:5",
            "evidence/b.md",
            "evidence/c.txt",
        ] {
            assert!(at(&problems, &format!("cases/sample-1/{place}")), "{place}");
        }
    }

    #[test]
    fn too_many_files_or_words_are_told() {
        let text = |words: usize| format!("# E\n\nProvenance: `x`\n\n{}\n", "word ".repeat(words));
        let mut f = case();
        for name in ["a", "b", "c"] {
            f.put(format!("evidence/{name}.md"), text(1), false);
        }
        assert_eq!(found(&LINT, &f, &answer()).len(), 1);
        let mut f = case();
        f.put("evidence/log.md", text(6_200), false);
        assert_eq!(found(&LINT, &f, &answer()).len(), 1);
        let mut f = case();
        f.files.remove("evidence/log.md");
        assert_eq!(found(&LINT, &f, &answer()).len(), 1);
    }
}
