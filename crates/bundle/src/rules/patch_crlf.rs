//! Patches with Windows line endings.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct PatchCrlf;

impl Rule for PatchCrlf {
    fn id(&self) -> &'static str {
        "patch-crlf"
    }

    fn describe(&self) -> &'static str {
        "Patches keep the tree's line endings; CRLF is tolerated when they are applied."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for patch in bundle.attempts.iter().filter_map(|a| a.patch.as_ref()) {
            if patch.crlf > 0 {
                out.warn(
                    &bundle.entries[patch.entry].path,
                    format!("{} lines end in CRLF", patch.crlf),
                    "Keep the patch as `git diff` writes it, unless the files have CRLF themselves.",
                );
            }
        }
    }
}
