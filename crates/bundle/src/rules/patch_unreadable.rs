//! Patches that can't be read: taken, but scored as not applied.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct PatchUnreadable;

impl Rule for PatchUnreadable {
    fn id(&self) -> &'static str {
        "patch-unreadable"
    }

    fn describe(&self) -> &'static str {
        "patch.diff is a unified diff; one that can't be read will not be applied."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for patch in bundle.attempts.iter().filter_map(|a| a.patch.as_ref()) {
            if let Some(why) = &patch.unreadable {
                out.warn(
                    &bundle.entries[patch.entry].path,
                    format!("the patch can't be read and would be scored `apply-failed`: {why}"),
                    "Write it with `git diff`, and don't edit or wrap its lines.",
                );
            }
        }
    }
}
