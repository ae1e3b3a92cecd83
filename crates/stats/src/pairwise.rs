//! All pairs of a set of configurations: paired differences, Holm-adjusted
//! p values over the panel, and each row's statistical rank band.
//!
//! Never ranks by p values: the band only counts significant wins and losses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    holm,
    paired::{self, ALPHA, PairedDifference, Pairing},
};

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
