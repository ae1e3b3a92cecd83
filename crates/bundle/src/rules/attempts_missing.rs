//! Every case of the subset has the wanted number of valid attempts.

use std::collections::BTreeMap;

use faultboard_domain::{CaseId, Condition, Track};

use super::{Out, Rule, some};
use crate::facts::{Attempt, Bundle};
use crate::knowledge::Knowledge;

pub(crate) struct AttemptsMissing;

impl Rule for AttemptsMissing {
    fn id(&self) -> &'static str {
        "attempts-missing"
    }

    fn describe(&self) -> &'static str {
        "Every case of the subset has the wanted number of valid attempts: in the repair \
         track, under each condition that the bundle has."
    }

    fn check(&self, bundle: &Bundle, knowledge: &Knowledge, out: &mut Out<'_>) {
        let (Some(top), Some(scope)) = (&bundle.top, &bundle.scope) else {
            return;
        };
        let cases = knowledge.cases_of(&scope.release, &scope.subset, scope.track);
        let Some(cases) = cases.filter(|_| bundle.complete) else {
            return;
        };
        let mut found: BTreeMap<(&CaseId, Option<Condition>), Vec<&Attempt>> = BTreeMap::new();
        for attempt in &bundle.attempts {
            if let Some(case) = &attempt.case
                && cases.binary_search(&case).is_ok()
            {
                let key = (case, attempt.condition);
                found.entry(key).or_default().push(attempt);
            }
        }
        let conditions: Vec<Option<Condition>> = match scope.track {
            Track::Diagnosis => vec![None],
            Track::Repair | Track::Recovery => {
                let used: Vec<_> = Condition::ALL
                    .into_iter()
                    .map(Some)
                    .filter(|c| found.keys().any(|(_, have)| have == c))
                    .collect();
                // No attempt at all: one whole condition would do.
                if used.is_empty() {
                    vec![Some(Condition::SymptomOnly)]
                } else {
                    used
                }
            }
        };
        let wanted = scope.attempts_wanted();
        for case in &cases {
            for condition in &conditions {
                let attempts = found.get(&(case, *condition)).map_or(&[][..], |a| a);
                let valid = attempts
                    .iter()
                    .filter(|a| bundle.flaw(a, scope.track).is_none())
                    .count();
                if valid as u64 >= u64::from(wanted) {
                    continue;
                }
                let folder = match condition {
                    Some(condition) => format!("{top}/{case}/{condition}"),
                    None => format!("{top}/{case}"),
                };
                out.error(
                    &folder,
                    message(bundle, scope.track, attempts, valid, wanted),
                    fix(*condition),
                );
            }
        }
    }
}

fn message(
    bundle: &Bundle,
    track: Track,
    attempts: &[&Attempt],
    valid: usize,
    wanted: u32,
) -> String {
    let need = if wanted == 1 {
        "1 valid attempt is needed".to_owned()
    } else {
        format!("{wanted} valid attempts are needed")
    };
    if attempts.is_empty() {
        return format!("{need}, none is there");
    }
    let flaws: Vec<String> = attempts
        .iter()
        .filter_map(|a| Some(format!("{}: {}", a.slot.run, bundle.flaw(a, track)?)))
        .collect();
    let why = if flaws.is_empty() {
        String::new()
    } else {
        format!(" ({})", some(&flaws, 3))
    };
    format!(
        "{need}, {valid} of the {} there counts{why}",
        attempts.len()
    )
}

fn fix(condition: Option<Condition>) -> String {
    match condition {
        Some(condition) => format!(
            "Add the attempts, or take every attempt {} out of the bundle: a condition is \
             handed in for all cases of the subset or not at all.",
            match condition {
                Condition::SymptomOnly => "under symptom-only",
                Condition::ContextAugmented => "under context-augmented",
            }
        ),
        None => "Add the attempts, or choose the subset that was run.".to_owned(),
    }
}
