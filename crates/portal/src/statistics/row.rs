//! What is computed of one row alone: by tier, family and system, what flipped
//! with context, how stable its attempts are, and how much rests on one system.
//! Pure.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::view::{
    GroupLine, LeftOutLine, MeasureKind, RowStatistics, Stability, UnstableCase,
};
use faultboard_domain::{Case, CaseId, SystemId, Track};
use faultboard_stats::attempts as spread;
use faultboard_stats::groups::{self, GroupAnalysis, Unit};
use faultboard_stats::paired::{self, Pairing};
use faultboard_stats::proportion;

use super::profile::{Profile, Values, difference, estimate, flips, mean_of, profile};
use crate::board::slices;
use crate::finish::RevisionScores;

/// Everything of one row on the cases of its board.
pub(crate) fn compute(track: Track, scores: &RevisionScores, cases: &[&Case]) -> RowStatistics {
    let all: BTreeSet<&CaseId> = cases.iter().map(|c| &c.id).collect();
    let values = profile(track, scores, |c| all.contains(c));
    let mut row = RowStatistics {
        groups: groups_of(&values, cases),
        ..RowStatistics::default()
    };
    if track == Track::Diagnosis {
        leave_one_out(&mut row, &values, cases);
        row.stability = stability(scores, &all);
    } else {
        let symptom = values.get(&MeasureKind::Symptom);
        let context = values.get(&MeasureKind::Context);
        row.exact_symptom = exact(symptom);
        row.exact_context = exact(context);
        if let (Some(s), Some(c)) = (symptom, context)
            && s.single
            && c.single
        {
            let joined = Pairing::join(&s.by_case, &c.by_case);
            row.flips = (!joined.keys.is_empty()).then(|| flips(&joined.a, &joined.b));
        }
    }
    row
}

fn groups_of(values: &Profile, cases: &[&Case]) -> Vec<GroupLine> {
    slices(cases)
        .into_iter()
        .map(|slice| {
            let within = |c: &CaseId| slice.cases.contains(c);
            let mean = |kind| mean_of(values.get(&kind), within);
            let kept = |kind| -> BTreeMap<CaseId, f64> {
                values
                    .get(&kind)
                    .map(|v| v.by_case.iter().filter(|(c, _)| within(c)))
                    .into_iter()
                    .flatten()
                    .map(|(c, v)| (c.clone(), *v))
                    .collect()
            };
            let joined = Pairing::join(&kept(MeasureKind::Context), &kept(MeasureKind::Symptom));
            GroupLine {
                cases: u32::try_from(slice.cases.len()).unwrap_or(u32::MAX),
                symptom: mean(MeasureKind::Symptom),
                context: mean(MeasureKind::Context),
                lift: difference(&paired::difference(&joined.a, &joined.b)),
                block: mean(MeasureKind::Block),
                file: mean(MeasureKind::File),
                key: slice.key,
                label: slice.label,
            }
        })
        .collect()
}

/// Clopper-Pearson interval where each case has one attempt.
fn exact(values: Option<&Values>) -> Option<(f64, f64)> {
    let v = values.filter(|v| v.single)?;
    let passes = v.by_case.values().filter(|rate| **rate > 0.5).count();
    let found = proportion::clopper_pearson(passes as u64, v.by_case.len() as u64)?;
    Some((found.low, found.high))
}

fn leave_one_out(row: &mut RowStatistics, values: &Profile, cases: &[&Case]) {
    let systems: BTreeMap<&CaseId, &SystemId> = cases.iter().map(|c| (&c.id, &c.system)).collect();
    let analyse = |kind| -> Option<GroupAnalysis<&SystemId>> {
        let units: Vec<Unit<&CaseId, &SystemId>> = values
            .get(&kind)?
            .by_case
            .iter()
            .filter_map(|(case, value)| {
                Some(Unit {
                    key: case,
                    group: *systems.get(case)?,
                    value: *value,
                })
            })
            .collect();
        Some(groups::analyse(&units))
    };
    let (Some(block), Some(file)) = (analyse(MeasureKind::Block), analyse(MeasureKind::File))
    else {
        return;
    };
    row.leave_one_out = block
        .leave_one_out
        .iter()
        .zip(&file.leave_one_out)
        .map(|(b, f)| LeftOutLine {
            system: b.excluded.clone(),
            block: estimate(&b.estimate),
            delta: b.delta,
            gap: f.estimate.mean.zip(b.estimate.mean).map(|(f, b)| f - b),
        })
        .collect();
    row.max_abs_delta = block.max_abs_delta;
}

fn stability(scores: &RevisionScores, all: &BTreeSet<&CaseId>) -> Option<Stability> {
    let mut by_case: BTreeMap<&CaseId, Vec<f64>> = BTreeMap::new();
    for a in scores.diagnosis.iter().filter(|a| all.contains(&a.case)) {
        by_case
            .entry(&a.case)
            .or_default()
            .push(a.scores.block_coverage);
    }
    let within = spread::within_spread(&by_case.values().collect::<Vec<_>>())?;
    let mut unstable: Vec<UnstableCase> = by_case
        .iter()
        .filter(|(_, v)| spread::is_unstable(v))
        .map(|(case, v)| UnstableCase {
            case: (*case).clone(),
            low: v.iter().copied().fold(f64::INFINITY, f64::min),
            high: v.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
        .collect();
    unstable.sort_by(|a, b| {
        (b.high - b.low)
            .total_cmp(&(a.high - a.low))
            .then_with(|| a.case.cmp(&b.case))
    });
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Some(Stability {
        within_case_sd: within.sd_ddof1,
        within_case_sd_population: within.sd_ddof0,
        unstable,
        repeated: count(by_case.values().filter(|v| v.len() > 1).count()),
        cases: count(by_case.len()),
    })
}
