//! The files that every case has.

use faultboard_domain::Problem;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "required-file",
    about: "every file of the layout is there and not empty",
    check,
};

const FILES: &[(&str, &str)] = &[
    ("case.yaml", "metadata for the machine"),
    ("README.md", "the entry point"),
    ("symptom.md", "what an operator observed"),
    ("reproduce.md", "how a person reproduces it"),
    ("verification.md", "what counts as PASS and as FAIL"),
    ("setup.md", "how the tree is fetched and built"),
    ("setup.sh", "gets and builds the faulty tree"),
    ("reproduce.sh", "the oracle"),
];

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    for (path, what) in FILES {
        let trouble = match s.case.bytes(path) {
            None => "is missing",
            Some(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => "is empty",
            Some(_) => continue,
        };
        out.push(Problem::error(
            s.case.at(path),
            LINT.id,
            format!("the file {trouble}"),
            format!("write it: {what}"),
        ));
    }
    if s.case.below("inject_test").next().is_none() {
        let fix = "put what only the oracle brings in there: driver and check";
        out.push(Problem::error(
            s.case.at("inject_test"),
            LINT.id,
            "the folder is missing or empty",
            fix,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, at, case, found};

    #[test]
    fn missing_and_empty_files_are_all_told() {
        let mut f = case();
        f.files.remove("symptom.md");
        f.files.remove("inject_test/judge.py");
        f.put("setup.md", " \n", false);
        let problems = found(&LINT, &f, &answer());
        assert_eq!(problems.len(), 3);
        for place in ["symptom.md", "setup.md", "inject_test"] {
            assert!(at(&problems, &format!("cases/sample-1/{place}")), "{place}");
        }
    }
}
