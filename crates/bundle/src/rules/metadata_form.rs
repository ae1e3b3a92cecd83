//! The form of metadata.yaml: known fields, all required ones, right types.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct MetadataForm;

impl Rule for MetadataForm {
    fn id(&self) -> &'static str {
        "metadata-schema"
    }

    fn describe(&self) -> &'static str {
        "metadata.yaml holds every required field, in its type, and no unknown ones."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        if let (Some(entry), Some(Err(errors))) = (bundle.metadata_entry, &bundle.metadata) {
            let path = &bundle.entries[entry].path;
            for error in errors {
                let place = if error.line > 0 {
                    format!("{path}:{}", error.line)
                } else {
                    path.clone()
                };
                out.error(&place, &error.message, &error.fix);
            }
        }
    }
}
