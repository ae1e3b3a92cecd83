//! Empty patches: an answer, but worth a look when there are many.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct PatchEmpty;

impl Rule for PatchEmpty {
    fn id(&self) -> &'static str {
        "patch-empty"
    }

    fn describe(&self) -> &'static str {
        "A patch changes something; an empty one is scored `no-edit`."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let all = bundle.attempts.iter().filter(|a| a.patch.is_some()).count();
        let empty: Vec<&str> = bundle
            .attempts
            .iter()
            .filter_map(|a| a.patch.as_ref())
            .filter(|p| p.empty)
            .map(|p| bundle.entries[p.entry].path.as_str())
            .collect();
        for path in &empty {
            out.warn(
                path,
                "the patch changes nothing and would be scored `no-edit`",
                "If the agent did edit files, write the patch with `git diff` before its workspace goes.",
            );
        }
        // Many of them are seldom the agent's doing.
        if empty.len() > 3 && empty.len() * 4 >= all {
            out.warn(
                "",
                format!("{} of {all} patches are empty", empty.len()),
                "Look at how the patches are collected: new files need `git add` before `git diff --cached`.",
            );
        }
    }
}
