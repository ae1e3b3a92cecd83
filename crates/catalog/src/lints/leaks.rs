//! Nothing of the solution stands in what agents and readers are shown: no
//! reference to report or fix, no characteristic sentence.

use faultboard_domain::Problem;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "leak",
    about: "no term of the solution stands in the case's public files",
    check,
};

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    let Some(solution) = s.solution else { return };
    let terms: Vec<String> = solution
        .hidden()
        .map(fold)
        .filter(|t| !t.is_empty())
        .collect();
    for (path, file) in &s.case.files {
        let text = fold(&String::from_utf8_lossy(&file.bytes));
        for term in terms.iter().filter(|t| text.contains(t.as_str())) {
            // The term itself must not get into a report that others may read.
            let shown: String = term.chars().take(4).collect();
            let message = format!(
                "holds a term of the solution (`{shown}...`, {} characters)",
                term.chars().count()
            );
            out.push(Problem::error(
                s.case.at(path),
                LINT.id,
                message,
                "say it as an operator would see it, or drop the term if it is innocent",
            ));
        }
    }
}

/// Lower case, every run of white space one space: line breaks hide nothing.
fn fold(text: &str) -> String {
    text.split_whitespace()
        .map(str::to_lowercase)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, at, case, found};

    #[test]
    fn terms_are_found_across_lines_and_cases() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut f = case();
        f.put("setup.md", "# S\n\nThe LOCK is\n  taken twice.\n", false);
        f.put(
            "evidence/log.md",
            "see example/Sample#77 and 0123456789abcdef0123456789abcdef01234567",
            false,
        );
        let problems = found(&LINT, &f, &answer());
        assert_eq!(problems.len(), 3, "{problems:#?}");
        assert!(at(&problems, "cases/sample-1/setup.md"));
        assert!(
            problems
                .iter()
                .all(|p| !p.message.contains("lock is taken"))
        );
    }
}
