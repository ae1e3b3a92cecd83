//! Files of a case stay small: it is fetched, digested and shown as a whole.

use faultboard_domain::Problem;

use super::{Lint, Subject};

pub(super) const LINT: Lint = Lint {
    id: "sizes",
    about: "texts, scripts and attachments keep within their sizes",
    check,
};

/// Bytes of one text or script.
const MOST_TEXT: usize = 128 * 1024;
/// Bytes of everything that the oracle brings in.
const MOST_ORACLE: usize = 1024 * 1024;

fn check(s: &Subject<'_>, out: &mut Vec<Problem>) {
    for (path, file) in &s.case.files {
        let text = !path.contains('/') || path.starts_with("evidence/");
        if text && file.bytes.len() > MOST_TEXT {
            let message = format!("has {} bytes", file.bytes.len());
            out.push(Problem::error(
                s.case.at(path),
                LINT.id,
                message,
                format!("cut it to {MOST_TEXT} bytes"),
            ));
        }
    }
    let oracle: usize = s
        .case
        .below("inject_test")
        .map(|(_, f)| f.bytes.len())
        .sum();
    if oracle > MOST_ORACLE {
        let message = format!("the folder holds {oracle} bytes");
        out.push(Problem::error(
            s.case.at("inject_test"),
            LINT.id,
            message,
            format!("cut it to {MOST_ORACLE} bytes"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lints::sample::{answer, case, found};

    #[test]
    fn large_files_are_told() {
        assert_eq!(found(&LINT, &case(), &answer()), []);
        let mut f = case();
        f.put("setup.md", vec![b'x'; MOST_TEXT + 1], false);
        f.put("inject_test/big", vec![0; MOST_ORACLE], false);
        f.put("tree/large.bin", vec![0; MOST_TEXT + 1], false);
        assert_eq!(found(&LINT, &f, &answer()).len(), 2);
    }
}
