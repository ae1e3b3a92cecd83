//! A row's values by case under each measure, from its selected attempts: what
//! pairs, groups and leave-one-out are made of. Pure.

use std::collections::BTreeMap;

use faultboard_domain::score::Estimate;
use faultboard_domain::view::{Difference, FlipTable, MeasureKind};
use faultboard_domain::{CaseId, Track};
use faultboard_scoring::verdict::{Standing, standing};
use faultboard_stats::bootstrap::{self, MeanEstimate};
use faultboard_stats::flips::Flips;
use faultboard_stats::paired::PairedDifference;
use faultboard_stats::summary;

use crate::finish::RevisionScores;

/// One measure of a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values {
    /// The mean over the counted attempts of each case.
    pub by_case: BTreeMap<CaseId, f64>,
    /// Most counted attempts of a case.
    pub attempts: u32,
    /// Whether every case has exactly one.
    pub single: bool,
}

/// A row's measures; one without a case is left out.
pub(crate) type Profile = BTreeMap<MeasureKind, Values>;

/// The values of a row on some cases.
pub(crate) fn profile(
    track: Track,
    scores: &RevisionScores,
    within: impl Fn(&CaseId) -> bool,
) -> Profile {
    let mut lists: BTreeMap<MeasureKind, BTreeMap<CaseId, Vec<f64>>> = BTreeMap::new();
    let mut add = |kind: MeasureKind, case: &CaseId, value: f64| {
        lists
            .entry(kind)
            .or_default()
            .entry(case.clone())
            .or_default()
            .push(value);
    };
    for kind in MeasureKind::of(track) {
        if let Some(condition) = kind.condition() {
            for a in &scores.repair {
                let counts = a.condition == condition && within(&a.case);
                match standing(a.outcome) {
                    Standing::Passed if counts => add(*kind, &a.case, 1.0),
                    Standing::NotPassed if counts => add(*kind, &a.case, 0.0),
                    _ => {}
                }
            }
        } else {
            for a in scores.diagnosis.iter().filter(|a| within(&a.case)) {
                let value = match kind {
                    MeasureKind::File => a.scores.file_coverage,
                    _ => a.scores.block_coverage,
                };
                add(*kind, &a.case, value);
            }
        }
    }
    lists
        .into_iter()
        .map(|(kind, cases)| {
            let values = Values {
                attempts: cases
                    .values()
                    .map(|v| u32::try_from(v.len()).unwrap_or(u32::MAX))
                    .max()
                    .unwrap_or(0),
                single: cases.values().all(|v| v.len() == 1),
                by_case: cases
                    .into_iter()
                    .filter_map(|(case, v)| Some((case, summary::mean(&v)?)))
                    .collect(),
            };
            (kind, values)
        })
        .collect()
}

/// A stored estimate; none when nothing stands behind it.
pub(crate) fn estimate(e: &MeanEstimate) -> Option<Estimate> {
    Some(Estimate {
        mean: e.mean?,
        ci95: e.interval.map(|i| (i.low, i.high)),
        n: u32::try_from(e.n).unwrap_or(u32::MAX),
    })
}

/// The mean over the cases of a map that `within` keeps.
pub(crate) fn mean_of(
    values: Option<&Values>,
    within: impl Fn(&CaseId) -> bool,
) -> Option<Estimate> {
    let kept: Vec<f64> = values?
        .by_case
        .iter()
        .filter(|(case, _)| within(case))
        .map(|(_, v)| *v)
        .collect();
    estimate(&bootstrap::mean_interval(&kept))
}

/// A paired difference as it is stored; none without a pair.
pub(crate) fn difference(d: &PairedDifference) -> Option<Difference> {
    Some(Difference {
        mean: d.delta?,
        ci95: d.test.map(|t| (t.interval.low, t.interval.high)),
        p: d.test.map(|t| t.p),
        n: u32::try_from(d.n).unwrap_or(u32::MAX),
    })
}

/// A table of flips with its test.
pub(crate) fn flip_table(f: Flips) -> FlipTable {
    let test = f.mcnemar();
    FlipTable {
        gained: f.fail_to_pass,
        lost: f.pass_to_fail,
        both_pass: f.pass_to_pass,
        both_fail: f.fail_to_fail,
        p_exact: test.p_exact,
        p_mid: test.p_mid,
    }
}

/// What flipped from the first to the second column of rates of single attempts.
pub(crate) fn flips(first: &[f64], second: &[f64]) -> FlipTable {
    flip_table(Flips::count(
        first.iter().zip(second).map(|(a, b)| (*a > 0.5, *b > 0.5)),
    ))
}
