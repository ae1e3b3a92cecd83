//! The labels and the fix belong together: ranges make sense, the diff can be
//! read, and it touches a labelled file.

use faultboard_domain::Problem;
use faultboard_domain::patch::Patch;

use super::{Lint, Subject};
use crate::case_file::inner_path;

pub(super) const LINT: Lint = Lint {
    id: "labels",
    about: "labelled blocks are ranges of files that the fix touches",
    check,
};

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    let Some(solution) = s.solution else { return };
    let home = format!("cases-solution/{}", s.name);
    let at = format!("{home}/blocks.json");
    if solution.blocks.is_empty() {
        out.push(Problem::error(
            &at,
            LINT.id,
            "no block is labelled",
            "label at least one root-cause block",
        ));
    }
    for (i, b) in solution.blocks.iter().enumerate() {
        let place = format!("{at}#/{i}");
        if b.start_line < 1 || b.end_line <= b.start_line {
            let message = format!("the range [{}, {}) holds no line", b.start_line, b.end_line);
            out.push(Problem::error(
                &place,
                LINT.id,
                message,
                "lines count from 1, the end is the line after the last one",
            ));
        }
        if !inner_path(&b.file) {
            out.push(Problem::error(
                &place,
                LINT.id,
                format!("`{}` is no path in the tree", b.file),
                "write it relative to the tree",
            ));
        }
        if b.function.trim().is_empty() {
            out.push(Problem::error(
                &place,
                LINT.id,
                "the block names no function",
                "name the function or type it lies in",
            ));
        }
    }
    match Patch::parse(solution.diff.as_bytes()) {
        Err(e) => out.push(Problem::error(
            format!("{home}/solution.md"),
            LINT.id,
            format!("the diff cannot be read: {e}"),
            "write a unified diff",
        )),
        Ok(patch) if patch.is_empty() => {
            out.push(Problem::error(
                format!("{home}/solution.md"),
                LINT.id,
                "the diff changes nothing",
                "write the whole fix as a unified diff",
            ));
        }
        Ok(patch) => {
            let touched: Vec<&str> = patch.files.iter().map(|f| f.old_path.as_str()).collect();
            if !solution.blocks.is_empty()
                && !solution
                    .blocks
                    .iter()
                    .any(|b| touched.contains(&b.file.as_str()))
            {
                let message = format!(
                    "no labelled block lies in a file of the fix ({})",
                    touched.join(", ")
                );
                out.push(Problem::warning(
                    &at,
                    LINT.id,
                    message,
                    "check paths and labels",
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, case, found};

    #[test]
    fn senseless_ranges_and_diffs_are_told() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut a = answer();
        a.put(
            "blocks.json",
            r#"[{"file":"../x","function":"","start_line":5,"end_line":5}]"#,
            false,
        );
        assert_eq!(found(&LINT, &case(), &a).len(), 4);
        let mut a = answer();
        a.put("blocks.json", "[]", false);
        a.put("solution.md", "# F\n```diff\nnonsense\n```\n", false);
        assert_eq!(found(&LINT, &case(), &a).len(), 2);
    }
}
