//! The case's id is its folder's name and begins with its system.

use faultboard_domain::Problem;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "identity",
    about: "the id is the folder's name and begins with the system",
    check,
};

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    let Some(case) = s.parsed else { return };
    let at = s.case.at("case.yaml");
    if case.id.as_str() != s.name {
        let message = format!(
            "the case calls itself `{}`, its folder is `{}`",
            case.id, s.name
        );
        out.push(Problem::error(
            &at,
            LINT.id,
            message,
            "give both the same name",
        ));
    }
    if case.id.system_part() != case.system.as_str() {
        let message = format!(
            "the id `{}` does not begin with the system `{}`",
            case.id, case.system
        );
        out.push(Problem::warning(
            &at,
            LINT.id,
            message,
            "name cases `<system>-<number>`",
        ));
    }
    if !case.oracle.nonce {
        let message = "the verdict is taken without the nonce, so a patch could forge it";
        out.push(Problem::warning(
            &at,
            LINT.id,
            message,
            "only imported oracles may opt out; the case's page says so",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{CASE_YAML, answer, at, case, found};

    #[test]
    fn another_name_or_system_is_told() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut f = case();
        f.put(
            "case.yaml",
            CASE_YAML.replace("id: sample-1", "id: other-1"),
            false,
        );
        let problems = found(&LINT, &f, &answer());
        assert_eq!(problems.len(), 2);
        assert!(at(&problems, "cases/sample-1/case.yaml"));
    }
}
