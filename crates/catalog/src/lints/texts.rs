//! The texts for people: UTF-8, with a title, and a symptom of fitting length.

use faultboard_domain::Problem;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "text",
    about: "texts are UTF-8, have a title, and the symptom has a fitting length",
    check,
};

/// Words that a symptom has at least and at most.
const SYMPTOM_WORDS: std::ops::RangeInclusive<usize> = 30..=800;

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    for (path, file) in s
        .case
        .files
        .iter()
        .filter(|(p, _)| p.ends_with(".md") && (!p.contains('/') || p.starts_with("evidence/")))
    {
        let at = s.case.at(path);
        let Ok(text) = std::str::from_utf8(&file.bytes) else {
            out.push(Problem::error(
                at,
                LINT.id,
                "the text is not UTF-8",
                "save it as UTF-8",
            ));
            continue;
        };
        if !text.trim().is_empty() && !text.starts_with("# ") {
            out.push(Problem::error(
                format!("{at}:1"),
                LINT.id,
                "the text has no title",
                "begin with a line `# Title`",
            ));
        }
        let words = text.split_whitespace().count();
        if path == "symptom.md" && words > 0 && !SYMPTOM_WORDS.contains(&words) {
            let message = format!("the symptom has {words} words");
            let fix = format!(
                "write {} to {} words",
                SYMPTOM_WORDS.start(),
                SYMPTOM_WORDS.end()
            );
            out.push(Problem::error(at, LINT.id, message, fix));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, at, case, found};

    #[test]
    fn texts_without_title_or_encoding_are_told() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut f = case();
        f.put("setup.md", "Just text.\n", false);
        f.put("evidence/log.md", b"# \xff\n".to_vec(), false);
        f.put("symptom.md", "# Broken\n\nIt is broken.\n", false);
        let problems = found(&LINT, &f, &answer());
        assert_eq!(problems.len(), 3);
        for place in ["setup.md:1", "evidence/log.md", "symptom.md"] {
            assert!(at(&problems, &format!("cases/sample-1/{place}")), "{place}");
        }
    }
}
