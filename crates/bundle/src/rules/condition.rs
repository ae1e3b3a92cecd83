//! Condition folders: repair attempts lie in one, diagnosis attempts don't.

use std::collections::BTreeSet;

use faultboard_domain::{Condition, Track};

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct ConditionFolder;

impl Rule for ConditionFolder {
    fn id(&self) -> &'static str {
        "condition-unknown"
    }

    fn describe(&self) -> &'static str {
        "Repair attempts lie in the folder of a condition, diagnosis attempts in none."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let Some(top) = &bundle.top else { return };
        let track = bundle.scope.as_ref().map(|s| s.track);
        let words: Vec<&str> = Condition::ALL.iter().map(|c| c.as_str()).collect();
        let mut told = BTreeSet::new();
        for attempt in &bundle.attempts {
            let slot = &attempt.slot;
            let (path, message, fix) = match (&slot.condition, track) {
                (Some(condition), Some(Track::Diagnosis)) => (
                    format!("{top}/{}/{condition}", slot.case),
                    format!("`{condition}`: diagnosis attempts have no condition"),
                    format!("Move its run folders up, to `{}/run-01` ...", slot.case),
                ),
                (Some(condition), _) if attempt.condition.is_none() => (
                    format!("{top}/{}/{condition}", slot.case),
                    format!("`{condition}` is no condition"),
                    format!("Name the folder {}.", words.join(" or ")),
                ),
                // A file right below a condition's folder is told as a bad run folder.
                (None, Some(Track::Repair)) if !words.contains(&slot.run.as_str()) => (
                    format!("{top}/{}/{}", slot.case, slot.run),
                    "the attempt lies in no condition's folder".to_owned(),
                    format!(
                        "Move it to `{}/{}/{}`.",
                        slot.case,
                        words.join("` or `"),
                        slot.run
                    ),
                ),
                _ => continue,
            };
            if told.insert(path.clone()) {
                out.error(&path, message, fix);
            }
        }
    }
}
