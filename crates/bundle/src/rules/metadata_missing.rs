//! The metadata file must be there.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct MetadataMissing;

impl Rule for MetadataMissing {
    fn id(&self) -> &'static str {
        "metadata-missing"
    }

    fn describe(&self) -> &'static str {
        "The top folder holds metadata.yaml."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        if !bundle.complete || bundle.metadata_entry.is_some() {
            return;
        }
        // Without a top folder, that is the problem to tell.
        if let Some(top) = &bundle.top {
            let path = format!("{top}/metadata.yaml");
            if bundle.faults.iter().any(|f| f.path == path) {
                // It is there, but broken, and told as such.
                return;
            }
            out.error(
                &path,
                "the bundle has no metadata.yaml",
                "Add the file; docs/submissions.md shows a whole one.",
            );
        }
    }
}
