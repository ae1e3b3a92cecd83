//! Paired difference of two configurations on their common keys.
//!
//! The unit is the key: attempts are averaged before they come here, and are
//! never paired by their number. Keys that only one side has are returned
//! by name, never dropped in silence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    bootstrap::{self, Interval, MeanEstimate},
    pcg64::Pcg64,
    summary,
};

/// Replicate differences within this distance of 0 count as 0, so that the
/// counts equal those of exact fractions.
pub const ZERO_TOLERANCE: f64 = 1e-12;
/// Level at which a difference is called significant.
pub const ALPHA: f64 = 0.05;

/// Two maps joined on their keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pairing<K> {
    /// Common keys, ascending.
    pub keys: Vec<K>,
    /// Values of the first side, in the order of `keys`.
    pub a: Vec<f64>,
    /// Values of the second side, in the order of `keys`.
    pub b: Vec<f64>,
    /// Keys that only the first side has, ascending.
    pub only_a: Vec<K>,
    /// Keys that only the second side has, ascending.
    pub only_b: Vec<K>,
}

impl<K: Ord + Clone> Pairing<K> {
    /// Joins two maps. Strings order by code point, as the bootstrap needs.
    #[must_use]
    pub fn join(a: &BTreeMap<K, f64>, b: &BTreeMap<K, f64>) -> Self {
        let mut pairing = Self {
            keys: Vec::new(),
            a: Vec::new(),
            b: Vec::new(),
            only_a: Vec::new(),
            only_b: b.keys().filter(|k| !a.contains_key(k)).cloned().collect(),
        };
        for (key, left) in a {
            if let Some(right) = b.get(key) {
                pairing.keys.push(key.clone());
                pairing.a.push(*left);
                pairing.b.push(*right);
            } else {
                pairing.only_a.push(key.clone());
            }
        }
        pairing
    }
}

/// How many replicate differences lie below, at and above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SignCounts {
    /// Replicates with d* < 0.
    pub below: usize,
    /// Replicates with |d*| <= [`ZERO_TOLERANCE`].
    pub zero: usize,
    /// Replicates with d* > 0.
    pub above: usize,
}

impl SignCounts {
    /// Counts the signs of replicate differences.
    #[must_use]
    pub fn of(differences: &[f64]) -> Self {
        let mut counts = Self::default();
        for d in differences {
            if d.abs() <= ZERO_TOLERANCE {
                counts.zero += 1;
            } else if *d < 0.0 {
                counts.below += 1;
            } else {
                counts.above += 1;
            }
        }
        counts
    }

    fn total(self) -> usize {
        self.below + self.zero + self.above
    }

    fn smaller_tail(self) -> usize {
        (self.below + self.zero).min(self.above + self.zero)
    }

    /// P(d* <= 0): the one-sided p of "the first side is better".
    #[must_use]
    pub fn p_first_not_better(self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (self.below + self.zero) as f64 / total as f64)
    }

    /// Two-sided p = min(1, 2 min(P(d* <= 0), P(d* >= 0))); `None` without
    /// replicates.
    #[must_use]
    pub fn p_two_sided(self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (2.0 * self.smaller_tail() as f64 / total as f64).min(1.0))
    }

    /// The same with one replicate added to the smaller tail and to the
    /// total, which is never 0.
    #[must_use]
    pub fn p_two_sided_plus_one(self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| (2.0 * (self.smaller_tail() + 1) as f64 / (total + 1) as f64).min(1.0))
    }
}

/// Result of a bootstrap test of a difference, first side minus second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DifferenceTest {
    /// 95% percentile interval of the difference.
    pub interval: Interval,
    /// Signs of the replicates.
    pub signs: SignCounts,
    /// Two-sided p, see [`SignCounts::p_two_sided`].
    pub p: f64,
    /// Two-sided p that is never 0, see [`SignCounts::p_two_sided_plus_one`].
    pub p_plus_one: f64,
}

impl DifferenceTest {
    /// Interval and p values of replicate differences; `None` for none.
    #[must_use]
    pub fn of_replicates(differences: &[f64]) -> Option<Self> {
        let signs = SignCounts::of(differences);
        Some(Self {
            interval: bootstrap::percentile_interval(differences)?,
            signs,
            p: signs.p_two_sided()?,
            p_plus_one: signs.p_two_sided_plus_one()?,
        })
    }

    /// Whether p is below [`ALPHA`].
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.p < ALPHA
    }
}

/// A paired difference over common keys.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedDifference {
    /// Number of pairs.
    pub n: usize,
    /// Mean difference, first side minus second; `None` without pairs.
    pub delta: Option<f64>,
    /// Interval and test; `None` with fewer than two pairs.
    pub test: Option<DifferenceTest>,
    /// Mean of the first side over the pairs, with its own interval.
    pub a: MeanEstimate,
    /// Mean of the second side over the pairs, with its own interval.
    pub b: MeanEstimate,
}

/// The paired bootstrap of two equally long columns in canonical key order.
///
/// Both sides and the difference are resampled by the same replicates. If
/// the lengths differ, the surplus of the longer side has no partner and is
/// ignored; use [`Pairing::join`] to know what was left out.
#[must_use]
pub fn difference(a: &[f64], b: &[f64]) -> PairedDifference {
    let rows: Vec<[f64; 3]> = a.iter().zip(b).map(|(x, y)| [x - y, *x, *y]).collect();
    let n = rows.len();
    let column = |i: usize| summary::mean(&rows.iter().map(|r| r[i]).collect::<Vec<_>>());
    let (mut test, mut interval_a, mut interval_b) = (None, None, None);
    if n >= 2 {
        let mut generator = Pcg64::new(bootstrap::SEED);
        let [d, left, right] =
            bootstrap::replicate_means(&mut generator, &rows, bootstrap::REPLICATES);
        test = DifferenceTest::of_replicates(&d);
        interval_a = bootstrap::percentile_interval(&left);
        interval_b = bootstrap::percentile_interval(&right);
    }
    PairedDifference {
        n,
        delta: column(0),
        test,
        a: MeanEstimate {
            n,
            mean: column(1),
            interval: interval_a,
        },
        b: MeanEstimate {
            n,
            mean: column(2),
            interval: interval_b,
        },
    }
}
