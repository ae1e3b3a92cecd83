//! Files that a bundle has no place for: they are not kept.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::layout::Place;
use crate::source::EntryKind;

pub(crate) struct Stray;

/// The most that are named one by one; they are only warnings.
const MOST: usize = 100;

impl Rule for Stray {
    fn id(&self) -> &'static str {
        "stray-file"
    }

    fn describe(&self) -> &'static str {
        "A bundle holds its metadata and its attempts' files; anything else is not kept."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let strays = bundle.entries.iter().filter(|e| {
            e.kind == EntryKind::File
                && e.name_faults.is_empty()
                && match e.place {
                    // A file outside any folder is told as such.
                    Place::Stray => e.path.contains('/'),
                    Place::Dropping => true,
                    Place::Metadata | Place::Attempt(..) => false,
                }
        });
        let mut n = 0;
        for entry in strays {
            n += 1;
            if n <= MOST {
                out.warn(
                    &entry.path,
                    "the file has no place in a bundle and is not kept",
                    "Take it out; an attempt has patch.diff or diagnosis.json, a trace, and \
                     session_stats.json.",
                );
            }
        }
        if n > MOST {
            out.warn(
                "",
                format!("{} more files have no place in a bundle", n - MOST),
                "Take them out.",
            );
        }
    }
}
