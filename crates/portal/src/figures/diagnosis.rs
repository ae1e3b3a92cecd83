//! The diagnosis track's figures: data only, from selected attempts. Pure.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::case::{CrashDistance, TextAnchor};
use faultboard_domain::view::MeasureKind;
use faultboard_domain::{CaseId, SystemId};
use faultboard_plot::{
    CaseRange, DeltaCell, EvidenceCell, EvidenceDelta, EvidenceGrid, LeaveOneOut, PerSystem,
    Stability, StabilityRow, SystemRow, SystemValue,
};
use faultboard_stats::attempts::{is_unstable, range, within_spread};
use faultboard_stats::groups::{self, GroupAnalysis, Unit};
use faultboard_stats::summary;

use super::pooled::{ByCase, difference_where, href, mean_over_rows, mean_where};
use super::pooled::{paired_differences, pairwise, profiles};
use super::{Drawing, Source, count};
use crate::Result;
use crate::finish::RevisionScores;
use crate::statistics::profile::{Profile, Values};

/// Computes and draws all of them.
pub(super) fn draw(source: &Source<'_>, drawing: &mut Drawing) -> Result<()> {
    if source.rows.is_empty() {
        return Ok(());
    }
    let profiles = profiles(source);
    drawing.add(&paired_differences(source, &profiles))?;
    if let Some(panels) = pairwise(source) {
        drawing.add(&panels)?;
    }
    let levels: Vec<[ByCase; 2]> = source.rows.iter().map(|(_, e)| levels(source, e)).collect();
    drawing.add(&evidence_grid(source, &levels))?;
    drawing.add(&evidence_delta(source, &levels))?;
    let (per_system, left_out) = systems(source, &profiles);
    drawing.add(&per_system)?;
    drawing.add(&left_out)?;
    drawing.add(&stability(source))
}

/// A row's block and line coverage by case.
fn levels(source: &Source<'_>, entry: &RevisionScores) -> [ByCase; 2] {
    let mut lists: BTreeMap<&CaseId, [Vec<f64>; 2]> = BTreeMap::new();
    for a in entry.diagnosis.iter().filter(|a| source.within(&a.case)) {
        let slot = lists.entry(&a.case).or_default();
        slot[0].push(a.scores.block_coverage);
        slot[1].push(a.scores.line_coverage);
    }
    [0, 1].map(|level: usize| {
        lists
            .iter()
            .filter_map(|(case, v)| Some(((*case).clone(), summary::mean(&v[level])?)))
            .collect()
    })
}

/// Every cell of the grid, and whether a case lies in it.
fn grid() -> impl Iterator<Item = (TextAnchor, CrashDistance)> {
    TextAnchor::ALL
        .iter()
        .flat_map(|a| CrashDistance::ALL.iter().map(move |d| (*a, *d)))
}

fn lies(source: &Source<'_>, id: &CaseId, anchor: TextAnchor, distance: CrashDistance) -> bool {
    source.cases.iter().any(|c| {
        c.id == *id && c.report.text_anchor == anchor && c.report.crash_distance == distance
    })
}

fn evidence_grid(source: &Source<'_>, levels: &[[ByCase; 2]]) -> EvidenceGrid {
    let pooled = [0, 1].map(|l: usize| mean_over_rows(levels.iter().map(|row| &row[l])));
    let of = match source.rows.as_slice() {
        [(only, _)] => only.configuration.clone(),
        rows => format!("{} configurations pooled", rows.len()),
    };
    EvidenceGrid {
        about: source.about.clone(),
        of,
        cells: grid()
            .filter_map(|(a, d)| {
                let inside = |id: &CaseId| lies(source, id, a, d);
                let block = mean_where(&pooled[0], inside)?;
                Some(EvidenceCell {
                    text_anchor: a,
                    crash_distance: d,
                    block: Some(block),
                    line: mean_where(&pooled[1], inside),
                })
            })
            .collect(),
    }
}

fn evidence_delta(source: &Source<'_>, levels: &[[ByCase; 2]]) -> EvidenceDelta {
    let name = |i: usize| {
        source
            .rows
            .get(i)
            .map(|(r, _)| r.configuration.clone())
            .unwrap_or_default()
    };
    let cells = match levels {
        [first, second, ..] => grid()
            .filter_map(|(a, d)| {
                let inside = |id: &CaseId| lies(source, id, a, d);
                let block = difference_where(&second[0], &first[0], inside)?;
                Some(DeltaCell {
                    text_anchor: a,
                    crash_distance: d,
                    block: Some(block),
                    line: difference_where(&second[1], &first[1], inside),
                })
            })
            .collect(),
        _ => Vec::new(),
    };
    EvidenceDelta {
        about: source.about.clone(),
        candidate: name(1),
        reference: name(0),
        cells,
    }
}

fn analyse<'a>(source: &'a Source<'_>, values: Option<&'a Values>) -> GroupAnalysis<&'a SystemId> {
    let units: Vec<Unit<&CaseId, &SystemId>> = values
        .into_iter()
        .flat_map(|v| &v.by_case)
        .filter_map(|(case, value)| {
            let found = source.cases.iter().find(|c| c.id == *case)?;
            Some(Unit {
                key: case,
                group: &found.system,
                value: *value,
            })
        })
        .collect();
    groups::analyse(&units)
}

fn systems(source: &Source<'_>, profiles: &[Profile]) -> (PerSystem, LeaveOneOut) {
    let names: BTreeSet<&SystemId> = source.cases.iter().map(|c| &c.system).collect();
    let cases = source.view.n_cases;
    let mut each = Vec::new();
    let mut without = Vec::new();
    for ((row, _), profile) in source.rows.iter().zip(profiles) {
        let block = analyse(source, profile.get(&MeasureKind::Block));
        let file = analyse(source, profile.get(&MeasureKind::File));
        let line = |values| SystemRow {
            name: row.configuration.clone(),
            block: block.full.mean,
            file: file.full.mean,
            values,
            href: href(row),
        };
        let value =
            |b: &faultboard_stats::bootstrap::MeanEstimate, file: Option<f64>| SystemValue {
                block: b.mean,
                block_ci95: b.interval.map(|i| (i.low, i.high)),
                file,
                n: count(b.n),
            };
        each.push(line(
            names
                .iter()
                .map(|s| {
                    let b = block.per_group.iter().find(|g| g.group == *s)?;
                    let f = file.per_group.iter().find(|g| g.group == *s);
                    Some(value(&b.estimate, f.and_then(|f| f.estimate.mean)))
                })
                .collect(),
        ));
        without.push(line(
            names
                .iter()
                .map(|s| {
                    let b = block.leave_one_out.iter().find(|g| g.excluded == *s)?;
                    let f = file.leave_one_out.iter().find(|g| g.excluded == *s);
                    b.estimate.mean?;
                    Some(value(&b.estimate, f.and_then(|f| f.estimate.mean)))
                })
                .collect(),
        ));
    }
    let systems: Vec<String> = names.iter().map(|s| s.to_string()).collect();
    (
        PerSystem {
            about: source.about.clone(),
            cases,
            systems: systems.clone(),
            rows: each,
        },
        LeaveOneOut {
            about: source.about.clone(),
            cases,
            systems,
            rows: without,
        },
    )
}

fn stability(source: &Source<'_>) -> Stability {
    let rows = source
        .rows
        .iter()
        .map(|(row, entry)| {
            let mut lists: BTreeMap<&CaseId, Vec<f64>> = BTreeMap::new();
            for a in entry.diagnosis.iter().filter(|a| source.within(&a.case)) {
                lists
                    .entry(&a.case)
                    .or_default()
                    .push(a.scores.block_coverage);
            }
            StabilityRow {
                name: row.configuration.clone(),
                within_case_sd: within_spread(&lists.values().collect::<Vec<_>>())
                    .map(|w| w.sd_ddof1),
                unstable: count(lists.values().filter(|v| is_unstable(v)).count()),
                cases: lists
                    .iter()
                    .filter(|(_, v)| v.len() > 1)
                    .filter_map(|(case, v)| {
                        Some(CaseRange {
                            case: case.to_string(),
                            range: range(v)?,
                        })
                    })
                    .collect(),
                href: href(row),
            }
        })
        .collect();
    Stability {
        about: source.about.clone(),
        rows,
    }
}
