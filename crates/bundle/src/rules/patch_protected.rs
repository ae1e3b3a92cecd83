//! Patches that touch paths which belong to the oracle.

use super::{Out, Rule, some};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct PatchProtected;

impl Rule for PatchProtected {
    fn id(&self) -> &'static str {
        "patch-protected-path"
    }

    fn describe(&self) -> &'static str {
        "Patches leave protected paths alone; changes to them are dropped before scoring."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for patch in bundle.attempts.iter().filter_map(|a| a.patch.as_ref()) {
            if !patch.protected.is_empty() {
                let paths: Vec<String> = patch.protected.iter().map(|p| format!("`{p}`")).collect();
                out.warn(
                    &bundle.entries[patch.entry].path,
                    format!(
                        "the patch touches protected paths ({}); those changes are dropped",
                        some(&paths, 5)
                    ),
                    "Take them out of the patch; they never reach the tree that is judged.",
                );
            }
        }
    }
}
