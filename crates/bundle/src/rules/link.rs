//! Links, symbolic and hard.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::source::EntryKind;

pub(crate) struct Link;

impl Rule for Link {
    fn id(&self) -> &'static str {
        "archive-link"
    }

    fn describe(&self) -> &'static str {
        "A bundle holds files and folders, no links."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for entry in &bundle.entries {
            let what = match entry.kind {
                EntryKind::SymbolicLink => "a symbolic link",
                EntryKind::HardLink => "a hard link",
                _ => continue,
            };
            out.error(
                &entry.path,
                format!("the entry is {what}"),
                "Put the file itself in its place (`tar --dereference --hard-dereference`).",
            );
        }
    }
}
