//! Links in the case's texts lead somewhere, and never out of the folder.

use faultboard_domain::Problem;

use super::{Lint, Subject};
use crate::markdown;

pub(super) const LINT: Lint = Lint {
    id: "link",
    about: "relative links lead to files of the case",
    check,
};

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    // Texts of the tree belong to its authors.
    for path in s
        .case
        .files
        .keys()
        .filter(|p| p.ends_with(".md") && (!p.contains('/') || p.starts_with("evidence/")))
    {
        let Some(text) = s.case.text(path) else {
            continue;
        };
        for (line, target) in markdown::links(text) {
            let goal = target.split('#').next().unwrap_or_default();
            if goal.is_empty()
                || goal.starts_with("https://")
                || goal.starts_with("http://")
                || goal.starts_with("mailto:")
            {
                continue;
            }
            let at = format!("{}:{line}", s.case.at(path));
            match resolve(path, goal) {
                None => out.push(Problem::error(
                    at,
                    LINT.id,
                    format!("the link `{target}` leaves the case's folder"),
                    "link within the case",
                )),
                Some(file) => {
                    let found =
                        s.case.files.contains_key(&file) || s.case.below(&file).next().is_some();
                    if !found {
                        out.push(Problem::error(
                            at,
                            LINT.id,
                            format!("the link `{target}` leads nowhere"),
                            "mend or remove it",
                        ));
                    }
                }
            }
        }
    }
}

/// Path of a link's target within the folder; none if it leaves it.
fn resolve(from: &str, goal: &str) -> Option<String> {
    if goal.starts_with('/') || goal.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in goal.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, case, found};

    #[test]
    fn dead_and_leaving_links_are_told() {
        let mut f = case();
        f.put("README.md", "# R\n[a](symptom.md#x) [b](evidence/) [c](nope.md) [d](../other/x.md)\n[e](https://e.org) [f](file:///x)\n", false);
        f.put(
            "evidence/log.md",
            "# L\n[up](../symptom.md) [out](../../x)\n",
            false,
        );
        let problems = found(&LINT, &f, &answer());
        let places: Vec<&str> = problems.iter().map(|p| p.path.as_str()).collect();
        let readme = "cases/sample-1/README.md";
        assert_eq!(
            places,
            [
                &*format!("{readme}:2"),
                &*format!("{readme}:2"),
                &*format!("{readme}:3"),
                "cases/sample-1/evidence/log.md:2"
            ]
        );
    }
}
