//! Names that are not UTF-8.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::path::NameFault;

pub(crate) struct Encoding;

impl Rule for Encoding {
    fn id(&self) -> &'static str {
        "archive-name-encoding"
    }

    fn describe(&self) -> &'static str {
        "Names of entries are UTF-8."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for entry in &bundle.entries {
            if entry.name_faults.contains(&NameFault::NotUtf8) {
                out.error(
                    &entry.path,
                    "the name is not UTF-8",
                    "Rename the file; names of a bundle need only plain letters, digits and hyphens.",
                );
            }
        }
    }
}
