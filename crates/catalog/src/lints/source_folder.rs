//! A teaching case brings the folder that its source names; no other case
//! brings source at all.

use faultboard_domain::Problem;
use faultboard_domain::case::Source;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "source-folder",
    about: "a directory source is there, and apart from the case's own files",
    check,
};

/// Folders with a meaning of their own.
const TAKEN: &[&str] = &["evidence", "inject_test", "artifacts"];

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    let Some(Source::Directory { path }) = s.parsed.map(|c| &c.source) else {
        return;
    };
    let at = s.case.at("case.yaml");
    if TAKEN
        .iter()
        .any(|t| path == t || path.starts_with(&format!("{t}/")))
    {
        out.push(Problem::error(
            &at,
            LINT.id,
            format!("the source lies in `{path}`, which has another use"),
            "use a folder such as `tree`",
        ));
    }
    if s.case.below(path).next().is_none() {
        out.push(Problem::error(
            &at,
            LINT.id,
            format!("the source folder `{path}` is missing or empty"),
            "add the faulty tree there",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;
    use crate::lints::sample::{CASE_YAML, answer, case, found};

    fn with_source(path: &str) -> Folder {
        let start = CASE_YAML.find("source:").unwrap();
        let end = CASE_YAML.find("image:").unwrap();
        let mut f = case();
        let yaml = format!(
            "{}source:\n  kind: directory\n  path: {path}\n{}",
            &CASE_YAML[..start],
            &CASE_YAML[end..]
        );
        f.put("case.yaml", yaml, false);
        f
    }

    #[test]
    fn the_folder_must_be_there() {
        let mut f = with_source("tree");
        assert_eq!(found(&LINT, &f, &answer()).len(), 1);
        f.put("tree/x.py", "x", false);
        assert_eq!(found(&LINT, &f, &answer()), []);
        assert_eq!(
            found(&LINT, &with_source("inject_test"), &answer()).len(),
            1
        );
    }
}
