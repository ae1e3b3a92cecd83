//! Cases that the release has, but not the chosen subset or track: left aside.

use std::collections::BTreeSet;

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct CaseOutside;

impl Rule for CaseOutside {
    fn id(&self) -> &'static str {
        "case-outside-subset"
    }

    fn describe(&self) -> &'static str {
        "Attempts are at cases of the chosen subset and track; others are left aside."
    }

    fn check(&self, bundle: &Bundle, knowledge: &Knowledge, out: &mut Out<'_>) {
        let (Some(top), Some(scope)) = (&bundle.top, &bundle.scope) else {
            return;
        };
        let Some(wanted) = knowledge.cases_of(&scope.release, &scope.subset, scope.track) else {
            return;
        };
        let in_release = |case| {
            knowledge
                .releases
                .get(&scope.release)
                .is_some_and(|subsets| subsets.values().any(|cases| cases.contains(case)))
        };
        let outside: BTreeSet<_> = bundle
            .attempts
            .iter()
            .filter_map(|a| a.case.as_ref())
            .filter(|case| wanted.binary_search(case).is_err() && in_release(case))
            .collect();
        for case in outside {
            out.warn(
                &format!("{top}/{case}"),
                format!(
                    "the case is not in the subset `{}` of the {} track; its attempts are left aside",
                    scope.subset, scope.track
                ),
                "Nothing has to be done, unless another subset was meant.",
            );
        }
    }
}
