//! The repair track's figures of one configuration: pass rates per
//! condition, the lift of context, and what flipped.
//!
//! The unit is the case: attempts average within it. Attempts that only the
//! platform failed are named and never counted; cases that lack a condition
//! are named and never paired.

use std::collections::BTreeMap;

use faultboard_domain::{AttemptId, CaseId, Condition, Outcome, score::Estimate};
use faultboard_stats::{
    bootstrap::{self, Interval},
    flips::Flips,
    mcnemar::McNemar,
    paired::{self, Pairing},
    proportion,
    rank::Rate,
};
use serde::{Deserialize, Serialize};

use crate::{
    estimate::{ends, stored},
    usage::{self, Usage, UsageSummary},
    verdict::{Standing, standing},
};

/// A selected repair attempt with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its case.
    pub case: CaseId,
    /// Its condition.
    pub condition: Condition,
    /// How it ended.
    pub outcome: Outcome,
    /// What it spent.
    pub usage: Usage,
}

/// Passes and counted attempts of one case under one condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CasePasses {
    /// Attempts that passed.
    pub passes: u64,
    /// Attempts that count, at least 1.
    pub attempts: u64,
}

impl CasePasses {
    /// Pass rate of the case.
    #[must_use]
    pub fn rate(self) -> f64 {
        if self.attempts == 0 {
            0.0
        } else {
            self.passes as f64 / self.attempts as f64
        }
    }
}

/// One condition of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionFigures {
    /// The condition.
    pub condition: Condition,
    /// Pass rate over cases with its bootstrap interval; `None` without a
    /// counted case.
    pub rate: Option<Estimate>,
    /// The same rate as an exact fraction, for ranks; `None` without a
    /// counted case, or when the fraction does not fit 64 bits.
    pub exact: Option<Rate>,
    /// Wilson interval of passed cases, where each has one attempt.
    pub wilson: Option<Interval>,
    /// Clopper-Pearson interval, likewise.
    pub clopper_pearson: Option<Interval>,
    /// Passes by case, sorted by id.
    pub cases: BTreeMap<CaseId, CasePasses>,
    /// How many attempts ended how, not counted ones included.
    pub outcomes: BTreeMap<Outcome, u32>,
    /// Attempts that only the platform failed.
    pub not_counted: Vec<AttemptId>,
    /// Cohort cases without a counted attempt.
    pub missing_cases: Vec<CaseId>,
    /// What the counted attempts spent.
    pub usage: UsageSummary,
}

/// The effect of context: context-augmented minus symptom-only, paired by
/// case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lift {
    /// Mean difference over the common cases.
    pub delta: f64,
    /// 95% bootstrap interval; `None` with one common case.
    pub ci95: Option<(f64, f64)>,
    /// Two-sided bootstrap p; `None` with one common case.
    pub p: Option<f64>,
    /// The same p with one replicate added, never 0.
    pub p_plus_one: Option<f64>,
    /// Number of common cases.
    pub n: u32,
    /// Cases that only symptom-only has.
    pub only_symptom: Vec<CaseId>,
    /// Cases that only context-augmented has.
    pub only_context: Vec<CaseId>,
    /// What flipped from symptom-only to context-augmented, and McNemar's
    /// test; only where each side has one attempt per case.
    pub flips: Option<(Flips, McNemar)>,
}

/// Every figure of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairAggregate {
    /// Conditions with at least one attempt, in display order.
    pub conditions: Vec<ConditionFigures>,
    /// The effect of context; `None` without a common case.
    pub lift: Option<Lift>,
    /// What all counted attempts spent.
    pub usage: UsageSummary,
    /// Attempts whose case is not in the cohort: they are in no rate.
    pub outside_cohort: Vec<AttemptId>,
}

impl RepairAggregate {
    /// The figures of a condition.
    #[must_use]
    pub fn condition(&self, condition: Condition) -> Option<&ConditionFigures> {
        self.conditions.iter().find(|c| c.condition == condition)
    }
}

impl ConditionFigures {
    /// Pass rate by case, for paired comparisons.
    #[must_use]
    pub fn by_case(&self) -> BTreeMap<CaseId, f64> {
        self.cases
            .iter()
            .map(|(case, passes)| (case.clone(), passes.rate()))
            .collect()
    }

    fn single_attempts(&self) -> bool {
        self.cases.values().all(|c| c.attempts == 1)
    }
}

/// Aggregates selected attempts over a cohort.
#[must_use]
pub fn aggregate(attempts: &[RepairAttempt], cohort: &[CaseId]) -> RepairAggregate {
    let (inside, outside): (Vec<&RepairAttempt>, Vec<&RepairAttempt>) =
        attempts.iter().partition(|a| cohort.contains(&a.case));
    let conditions: Vec<ConditionFigures> = Condition::ALL
        .into_iter()
        .filter_map(|condition| {
            let list: Vec<&RepairAttempt> = inside
                .iter()
                .copied()
                .filter(|a| a.condition == condition)
                .collect();
            (!list.is_empty()).then(|| figures(condition, &list, cohort))
        })
        .collect();
    let find = |condition| conditions.iter().find(|c| c.condition == condition);
    let lift = find(Condition::SymptomOnly)
        .zip(find(Condition::ContextAugmented))
        .and_then(|(symptom, context)| lift(symptom, context));
    let counted = inside
        .iter()
        .filter(|a| standing(a.outcome) != Standing::NotCounted);
    RepairAggregate {
        lift,
        usage: usage::summarize(counted.map(|a| &a.usage)),
        outside_cohort: outside.into_iter().map(|a| a.attempt.clone()).collect(),
        conditions,
    }
}

fn figures(
    condition: Condition,
    attempts: &[&RepairAttempt],
    cohort: &[CaseId],
) -> ConditionFigures {
    let mut cases: BTreeMap<CaseId, CasePasses> = BTreeMap::new();
    let mut outcomes: BTreeMap<Outcome, u32> = BTreeMap::new();
    let mut not_counted = Vec::new();
    for attempt in attempts {
        *outcomes.entry(attempt.outcome).or_default() += 1;
        let passed = match standing(attempt.outcome) {
            Standing::Passed => 1,
            Standing::NotPassed => 0,
            Standing::NotCounted => {
                not_counted.push(attempt.attempt.clone());
                continue;
            }
        };
        let entry = cases.entry(attempt.case.clone()).or_default();
        entry.passes += passed;
        entry.attempts += 1;
    }
    let mut missing_cases: Vec<CaseId> = cohort
        .iter()
        .filter(|c| !cases.contains_key(c))
        .cloned()
        .collect();
    missing_cases.sort();
    missing_cases.dedup();

    let rates: Vec<f64> = cases.values().map(|c| c.rate()).collect();
    let (mut wilson, mut clopper_pearson) = (None, None);
    if cases.values().all(|c| c.attempts == 1) {
        let (k, n) = (cases.values().map(|c| c.passes).sum(), cases.len() as u64);
        wilson = proportion::wilson(k, n);
        clopper_pearson = proportion::clopper_pearson(k, n);
    }
    let counted = attempts
        .iter()
        .filter(|a| standing(a.outcome) != Standing::NotCounted);
    ConditionFigures {
        condition,
        rate: stored(&bootstrap::mean_interval(&rates)),
        exact: exact_rate(cases.values()),
        wilson,
        clopper_pearson,
        usage: usage::summarize(counted.map(|a| &a.usage)),
        cases,
        outcomes,
        not_counted,
        missing_cases,
    }
}

/// Mean of the case rates as one fraction: sum of passes * (m / attempts)
/// over n m, m a common multiple of the numbers of attempts.
fn exact_rate<'a>(cases: impl Iterator<Item = &'a CasePasses> + Clone) -> Option<Rate> {
    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let multiple = cases.clone().try_fold(1_u64, |m, c| {
        let attempts = c.attempts.max(1);
        m.checked_mul(attempts / gcd(m, attempts))
    })?;
    let (mut passes, mut n) = (0_u64, 0_u64);
    for case in cases {
        let weight = multiple / case.attempts.max(1);
        passes = passes.checked_add(case.passes.checked_mul(weight)?)?;
        n += 1;
    }
    Rate::new(passes, n.checked_mul(multiple)?)
}

fn lift(symptom: &ConditionFigures, context: &ConditionFigures) -> Option<Lift> {
    let joined = Pairing::join(&context.by_case(), &symptom.by_case());
    let difference = paired::difference(&joined.a, &joined.b);
    let flips = (symptom.single_attempts() && context.single_attempts()).then(|| {
        let table = Flips::count(
            joined
                .a
                .iter()
                .zip(&joined.b)
                .map(|(c, s)| (*s > 0.5, *c > 0.5)),
        );
        (table, table.mcnemar())
    });
    Some(Lift {
        delta: difference.delta?,
        ci95: difference.test.map(|t| ends(t.interval)),
        p: difference.test.map(|t| t.p),
        p_plus_one: difference.test.map(|t| t.p_plus_one),
        n: u32::try_from(difference.n).unwrap_or(u32::MAX),
        only_context: joined.only_a,
        only_symptom: joined.only_b,
        flips,
    })
}

/// Flips of several configurations added up; `None` if none has any.
#[must_use]
pub fn pooled_flips<'a>(lifts: impl IntoIterator<Item = &'a Lift>) -> Option<(Flips, McNemar)> {
    let mut pooled = Flips::default();
    for lift in lifts {
        if let Some((table, _)) = lift.flips {
            pooled += table;
        }
    }
    (pooled.n() > 0).then(|| (pooled, pooled.mcnemar()))
}
