//! All pairs of a set of configurations: paired differences, Holm-adjusted
//! p values over the panel, and each row's statistical rank band.
//!
//! Never ranks by p values: the band only counts significant wins and losses.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::{
    bootstrap, holm,
    paired::{self, ALPHA, PairedDifference, Pairing, SignCounts, ZERO_TOLERANCE},
    pcg64::Pcg64,
    summary,
};

/// Replicates between two looks at whether a test is decided.
const CHUNK: usize = 500;

/// One pair of rows `a < b` (indices into the panel).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair<K> {
    /// Index of the first row.
    pub a: usize,
    /// Index of the second row.
    pub b: usize,
    /// First minus second, on their common keys.
    pub difference: PairedDifference,
    /// Holm-adjusted p over the pairs of the panel that have a p.
    pub p_holm: Option<f64>,
    /// Keys that only the first row has.
    pub only_a: Vec<K>,
    /// Keys that only the second row has.
    pub only_b: Vec<K>,
}

/// Which p value decides that one row beats another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjustment {
    /// The unadjusted p of the pair.
    None,
    /// The Holm-adjusted p over the panel.
    Holm,
}

/// How a row stands among the others, counting only significant pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RankBand {
    /// Rows that beat this one significantly.
    pub beaten_by: usize,
    /// Rows that this one beats significantly.
    pub beats: usize,
}

/// Every pair of rows, in the order (0,1), (0,2), ..., (1,2), ...
#[must_use]
pub fn panel<K: Ord + Clone>(rows: &[BTreeMap<K, f64>]) -> Vec<Pair<K>> {
    let mut pairs = Vec::new();
    for a in 0..rows.len() {
        for b in a + 1..rows.len() {
            let joined = Pairing::join(&rows[a], &rows[b]);
            pairs.push(Pair {
                a,
                b,
                difference: paired::difference(&joined.a, &joined.b),
                p_holm: None,
                only_a: joined.only_a,
                only_b: joined.only_b,
            });
        }
    }
    let tested: Vec<(usize, f64)> = pairs
        .iter()
        .enumerate()
        .filter_map(|(i, pair)| Some((i, pair.difference.test?.p)))
        .collect();
    let adjusted = holm::adjust(&tested.iter().map(|(_, p)| *p).collect::<Vec<_>>());
    for ((index, _), p) in tested.into_iter().zip(adjusted) {
        pairs[index].p_holm = Some(p);
    }
    pairs
}

/// The rank band of each of `rows` rows.
#[must_use]
pub fn rank_bands<K>(rows: usize, pairs: &[Pair<K>], adjustment: Adjustment) -> Vec<RankBand> {
    let mut bands = vec![RankBand::default(); rows];
    for pair in pairs {
        let p = match adjustment {
            Adjustment::None => pair.difference.test.map(|t| t.p),
            Adjustment::Holm => pair.p_holm,
        };
        let (Some(p), Some(delta)) = (p, pair.difference.delta) else {
            continue;
        };
        if p >= ALPHA || delta == 0.0 || pair.a >= rows || pair.b >= rows {
            continue;
        }
        let (winner, loser) = if delta > 0.0 {
            (pair.a, pair.b)
        } else {
            (pair.b, pair.a)
        };
        bands[winner].beats += 1;
        bands[loser].beaten_by += 1;
    }
    bands
}

/// Which rows beat which significantly (paired bootstrap, unadjusted p below
/// [`ALPHA`]), as pairs (winner, loser) of indices.
///
/// The same decisions as those of [`panel`], without its intervals: rows with
/// the same keys share the replicates of one index stream, so a pair costs one
/// pass over two columns, and only as much of it as the decision needs.
#[must_use]
pub fn significant<K: Ord + Clone>(rows: &[BTreeMap<K, f64>]) -> Vec<(usize, usize)> {
    // Rows of the same keys form one group: nearly always there is one group.
    let mut groups: Vec<Vec<&K>> = Vec::new();
    let group_of: Vec<usize> = rows
        .iter()
        .map(|row| {
            let keys: Vec<&K> = row.keys().collect();
            groups.iter().position(|g| *g == keys).unwrap_or_else(|| {
                groups.push(keys);
                groups.len() - 1
            })
        })
        .collect();
    let mut found = Vec::new();
    for first in 0..groups.len() {
        for second in first..groups.len() {
            let common: Vec<&K> = groups[first]
                .iter()
                .filter(|k| groups[second].binary_search(k).is_ok())
                .copied()
                .collect();
            let members: Vec<usize> = (0..rows.len())
                .filter(|i| group_of[*i] == first || group_of[*i] == second)
                .collect();
            let columns = Columns::draw(rows, &members, &common);
            for (x, &a) in members.iter().enumerate() {
                for (y, &b) in members.iter().enumerate().skip(x + 1) {
                    // A pair within one group was met when that group stood alone.
                    if first == second || group_of[a] != group_of[b] {
                        found.extend(columns.winner(x, y).map(|w| match w {
                            Winner::First => (a, b),
                            Winner::Second => (b, a),
                        }));
                    }
                }
            }
        }
    }
    found.sort_unstable();
    found
}

enum Winner {
    First,
    Second,
}

/// Replicate means of several rows over the same keys.
struct Columns {
    means: Vec<f64>,
    replicates: Vec<Vec<f64>>,
}

impl Columns {
    fn draw<K: Ord>(rows: &[BTreeMap<K, f64>], members: &[usize], keys: &[&K]) -> Self {
        let values: Vec<Vec<f64>> = members
            .iter()
            .map(|i| {
                keys.iter()
                    .filter_map(|k| rows[*i].get(k).copied())
                    .collect()
            })
            .collect();
        let size = u32::try_from(keys.len()).ok().and_then(NonZeroU32::new);
        let mut replicates = vec![Vec::new(); members.len()];
        if let Some(n) = size.filter(|n| n.get() >= 2) {
            let mut generator = Pcg64::new(bootstrap::SEED);
            let mut index = vec![0_u32; keys.len()];
            for column in &mut replicates {
                column.reserve_exact(bootstrap::REPLICATES);
            }
            for _ in 0..bootstrap::REPLICATES {
                generator.fill_below(n, &mut index);
                for (column, row) in replicates.iter_mut().zip(&values) {
                    let total: f64 = index.iter().map(|i| row[*i as usize]).sum();
                    column.push(total / keys.len() as f64);
                }
            }
        }
        Self {
            means: values
                .iter()
                .map(|v| summary::mean(v).unwrap_or(0.0))
                .collect(),
            replicates,
        }
    }

    /// Who of two rows is significantly ahead.
    fn winner(&self, x: usize, y: usize) -> Option<Winner> {
        let (a, b) = (&self.replicates[x], &self.replicates[y]);
        let total = a.len();
        // Once both tails hold this many replicates, p can't be below the level.
        let enough = (ALPHA * total as f64 / 2.0).ceil() as usize;
        let mut signs = SignCounts::default();
        for (a, b) in a.chunks(CHUNK).zip(b.chunks(CHUNK)) {
            for (a, b) in a.iter().zip(b) {
                let d = a - b;
                signs.below += usize::from(d < -ZERO_TOLERANCE);
                signs.above += usize::from(d > ZERO_TOLERANCE);
                signs.zero += usize::from(d.abs() <= ZERO_TOLERANCE);
            }
            if (signs.below + signs.zero).min(signs.above + signs.zero) >= enough {
                return None;
            }
        }
        let delta = self.means[x] - self.means[y];
        if signs.p_two_sided()? >= ALPHA || delta.abs() <= ZERO_TOLERANCE {
            None
        } else if delta > 0.0 {
            Some(Winner::First)
        } else {
            Some(Winner::Second)
        }
    }
}
