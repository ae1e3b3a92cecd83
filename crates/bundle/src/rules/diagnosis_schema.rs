//! Diagnoses keep their schema.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct DiagnosisSchema;

impl Rule for DiagnosisSchema {
    fn id(&self) -> &'static str {
        "diagnosis-schema"
    }

    fn describe(&self) -> &'static str {
        "diagnosis.json keeps its schema."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for diagnosis in bundle.attempts.iter().filter_map(|a| a.diagnosis.as_ref()) {
            let entry = &bundle.entries[diagnosis.entry];
            if entry.not_text_at.is_some() {
                continue;
            }
            for error in &diagnosis.errors {
                out.error(
                    &format!("{}#{}", entry.path, error.pointer),
                    &error.message,
                    "Write {\"bug_cause_description\": text, \"buggy_blocks\": [{\"file\", \
                     \"function\", \"start_line\", \"end_line\"}]}; the list may be empty.",
                );
            }
        }
    }
}
