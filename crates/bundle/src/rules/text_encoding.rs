//! Files that are text must be UTF-8: metadata, diagnoses, stats, JSON traces.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct TextEncoding;

impl Rule for TextEncoding {
    fn id(&self) -> &'static str {
        "text-encoding"
    }

    fn describe(&self) -> &'static str {
        "Metadata, diagnoses, stats and JSON traces are UTF-8."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for entry in &bundle.entries {
            if let Some(at) = entry.not_text_at {
                out.error(
                    &entry.path,
                    format!("the file is not UTF-8 (first at byte {at})"),
                    "Write it as UTF-8; JSON can escape any byte sequence as `\\u....`.",
                );
            }
        }
    }
}
