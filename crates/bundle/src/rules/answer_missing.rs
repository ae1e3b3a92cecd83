//! Attempts that hand nothing in: they take no place among those that count.

use std::collections::BTreeSet;

use faultboard_domain::Track;

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct AnswerMissing;

impl Rule for AnswerMissing {
    fn id(&self) -> &'static str {
        "answer-missing"
    }

    fn describe(&self) -> &'static str {
        "An attempt hands in what its track asks for; one that doesn't is not counted."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let Some(scope) = bundle.scope.as_ref().filter(|_| bundle.complete) else {
            return;
        };
        // A file that was too large to be looked at is there all the same.
        let cut: BTreeSet<&str> = bundle
            .entries
            .iter()
            .filter(|e| e.cut)
            .map(|e| e.path.as_str())
            .collect();
        for attempt in &bundle.attempts {
            let (file, fix) = match scope.track {
                Track::Diagnosis => (
                    "diagnosis.json",
                    "Add it, or leave the attempt out; an empty list of blocks is a valid answer.",
                ),
                Track::Repair | Track::Recovery => (
                    "patch.diff",
                    "Add it; an empty file says that the agent changed nothing.",
                ),
            };
            let path = format!("{}/{file}", attempt.folder);
            if bundle.answer(attempt, scope.track).is_none() && !cut.contains(path.as_str()) {
                out.warn(
                    &attempt.folder,
                    format!("the attempt has no {file} and does not count"),
                    fix,
                );
            }
        }
    }
}
