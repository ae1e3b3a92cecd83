//! Scripts can be executed, and nothing else claims to be a program.

use faultboard_domain::Problem;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "executable-bit",
    about: "scripts are executable, texts are not",
    check,
};

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    // Windows has no such bit to look at; there everything reads as false.
    if cfg!(not(unix)) {
        return;
    }
    for path in ["setup.sh", "reproduce.sh"] {
        if s.case.files.get(path).is_some_and(|f| !f.executable) {
            out.push(Problem::error(
                s.case.at(path),
                LINT.id,
                "the script is not executable",
                format!("chmod +x {path}"),
            ));
        }
    }
    for (path, file) in &s.case.files {
        let text = path.ends_with(".md") || path.ends_with(".yaml");
        if file.executable && text {
            out.push(Problem::warning(
                s.case.at(path),
                LINT.id,
                "a text is executable",
                format!("chmod -x {path}"),
            ));
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, at, case, found};

    #[test]
    fn wrong_bits_are_told() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut f = case();
        f.files.get_mut("setup.sh").unwrap().executable = false;
        f.files.get_mut("README.md").unwrap().executable = true;
        let problems = found(&LINT, &f, &answer());
        assert_eq!(problems.len(), 2);
        assert!(
            at(&problems, "cases/sample-1/setup.sh") && at(&problems, "cases/sample-1/README.md")
        );
    }
}
