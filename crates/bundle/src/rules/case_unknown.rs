//! Folders that are named like no case.

use std::collections::BTreeSet;

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct CaseUnknown;

impl Rule for CaseUnknown {
    fn id(&self) -> &'static str {
        "case-unknown"
    }

    fn describe(&self) -> &'static str {
        "Every attempt lies in the folder of a case of the release."
    }

    fn check(&self, bundle: &Bundle, knowledge: &Knowledge, out: &mut Out<'_>) {
        let Some(top) = &bundle.top else { return };
        let release = bundle
            .scope
            .as_ref()
            .and_then(|m| Some((&m.release, knowledge.releases.get(&m.release)?)));
        let mut told = BTreeSet::new();
        for attempt in &bundle.attempts {
            let known = attempt.case.as_ref().is_some_and(|case| match release {
                Some((_, subsets)) => subsets.values().any(|cases| cases.contains(case)),
                None => knowledge.cases.contains_key(case),
            });
            if known || !told.insert(&attempt.slot.case) {
                continue;
            }
            let path = format!("{top}/{}", attempt.slot.case);
            let message = match (&attempt.case, release) {
                (Some(case), Some((release, _))) => {
                    format!("release {release} has no case `{case}`")
                }
                (Some(case), None) => format!("there is no case `{case}`"),
                (None, _) => format!(
                    "`{}` is no case id (lower-case `<system>-<number>`)",
                    attempt.slot.case
                ),
            };
            out.error(
                &path,
                message,
                "Name the folder as the case is named on its page, or take it out.",
            );
        }
    }
}
