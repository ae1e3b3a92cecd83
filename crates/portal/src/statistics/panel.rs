//! A board as a whole: every pair of its first rows with adjusted p values,
//! pooled flips, the mean lift, the mixed model and the power of its design.
//! Pure, but for the pairs, which are handed in.

use std::collections::BTreeMap;

use faultboard_domain::view::{
    BoardRow, BoardStatistics, FlipTable, MeasureKind, PairStatistics, PanelPair, PowerNote,
    RowStatistics,
};
use faultboard_domain::{SubmissionId, Timestamp, Track};
use faultboard_stats::power::{self, Design};
use faultboard_stats::{flips::Flips, holm, summary};

use super::profile::flip_table;

/// The most rows whose pairs are computed before anybody asks for them.
pub(crate) const PANEL_ROWS: usize = 40;
/// Spread of the cases' difficulty that power is computed with, on the logit
/// scale; about what published repair results show.
const DIFFICULTY_SD: f64 = 2.0;

/// A design that stands for many: the base rate is rounded, so that few have to
/// be simulated. None where no test is possible.
pub(crate) fn design(cases: u32, attempts: u32, base_rate: f64) -> Option<Design> {
    let tenths = (base_rate * 10.0).round() / 10.0;
    let cases = cases as usize;
    ((2..=power::MAX_CASES).contains(&cases) && attempts > 0 && base_rate.is_finite()).then(|| {
        Design {
            cases,
            attempts: attempts.min(20),
            base_rate: tenths.clamp(0.05, 0.9),
            difficulty_sd: DIFFICULTY_SD,
        }
    })
}

/// What the paired test could find in a design.
pub(crate) fn power(design: Design) -> PowerNote {
    PowerNote {
        cases: u32::try_from(design.cases).unwrap_or(u32::MAX),
        attempts: design.attempts,
        base_rate: design.base_rate,
        points: power::smallest_detectable(design).and_then(|d| d.points),
    }
}

/// Holm's adjustment over those p values that are there.
pub(crate) fn adjust(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut adjusted = holm::adjust(&p.iter().flatten().copied().collect::<Vec<_>>()).into_iter();
    p.iter().map(|p| p.and_then(|_| adjusted.next())).collect()
}

/// The panel of rows in rank order; `pairs` gives the first minus the second.
pub(crate) fn panel(
    measure: MeasureKind,
    rows: &[SubmissionId],
    pairs: &BTreeMap<(usize, usize), PairStatistics>,
) -> Vec<PanelPair> {
    let mut found: Vec<PanelPair> = pairs
        .iter()
        .filter_map(|((a, b), p)| {
            Some(PanelPair {
                a: rows.get(*a)?.clone(),
                b: rows.get(*b)?.clone(),
                difference: p.measure(measure)?.difference?,
                p_holm: None,
            })
        })
        .collect();
    let adjusted = adjust(&found.iter().map(|p| p.difference.p).collect::<Vec<_>>());
    for (pair, p) in found.iter_mut().zip(adjusted) {
        pair.p_holm = p;
    }
    found
}

/// Flips of several rows added up; none if none has any.
pub(crate) fn pooled<'a>(rows: impl Iterator<Item = &'a RowStatistics>) -> Option<FlipTable> {
    let mut sum = Flips::default();
    for f in rows.filter_map(|r| r.flips) {
        sum += Flips {
            fail_to_pass: f.gained,
            pass_to_fail: f.lost,
            pass_to_pass: f.both_pass,
            fail_to_fail: f.both_fail,
        };
    }
    (sum.n() > 0).then(|| flip_table(sum))
}

/// The mean of the rows' lifts.
pub(crate) fn mean_lift(rows: &[BoardRow]) -> Option<f64> {
    let lifts: Vec<f64> = rows
        .iter()
        .filter_map(|r| Some(r.repair.as_ref()?.lift?.mean))
        .collect();
    summary::mean(&lifts)
}

/// Statistics of a board that has nothing yet.
pub(crate) fn empty(track: Track, inputs: String, computed: Timestamp) -> BoardStatistics {
    BoardStatistics {
        measure: MeasureKind::of(track)[0],
        panel_rows: Vec::new(),
        panel: Vec::new(),
        pooled_flips: None,
        mean_lift: None,
        mixed: None,
        power: None,
        inputs,
        computed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_p_values_stay_missing() {
        let got = adjust(&[Some(0.01), None, Some(0.04)]);
        assert_eq!(got, vec![Some(0.02), None, Some(0.04)]);
    }

    #[test]
    fn few_designs_stand_for_all_rates() {
        assert_eq!(design(1, 1, 0.5), None);
        assert_eq!(design(60, 0, 0.5), None);
        assert_eq!(design(60, 1, 0.3249), design(60, 1, 0.26));
        let note = power(design(31, 1, 0.33).unwrap());
        assert!(
            note.points.is_some_and(|p| (10..=40).contains(&p)),
            "{note:?}"
        );
    }
}
