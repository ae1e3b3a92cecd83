//! Competition ranks ("1224") with ties, their labels, shifts and the order
//! of display.
//!
//! Never rounds: rates compare as exact fractions, scores as exact f64, so
//! two rows that print alike are tied only if they are equal. A row without
//! a score has no rank and takes no place.

use std::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

/// A pass rate as an exact fraction, `passes <= n`, `n > 0`. Equality and
/// order are those of the fraction: 10/30 equals 11/33.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Rate {
    passes: u64,
    n: u64,
}

impl Rate {
    /// `None` for n = 0 or more passes than n.
    #[must_use]
    pub fn new(passes: u64, n: u64) -> Option<Self> {
        (n > 0 && passes <= n).then_some(Self { passes, n })
    }

    /// Numerator.
    #[must_use]
    pub fn passes(self) -> u64 {
        self.passes
    }

    /// Denominator, at least 1.
    #[must_use]
    pub fn n(self) -> u64 {
        self.n
    }

    /// The rate as a fraction in [0, 1].
    #[must_use]
    pub fn value(self) -> f64 {
        self.passes as f64 / self.n as f64
    }
}

impl Ord for Rate {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u128::from(self.passes) * u128::from(other.n);
        let right = u128::from(other.passes) * u128::from(self.n);
        left.cmp(&right)
    }
}

impl PartialOrd for Rate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rate {}

/// A place among ranked rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rank {
    /// 1 + number of strictly better rows.
    pub place: usize,
    /// Whether another row has the same place.
    pub tied: bool,
}

impl Rank {
    /// The place in words: `tied 3`, else `3`.
    #[must_use]
    pub fn label(self) -> String {
        if self.tied {
            format!("tied {}", self.place)
        } else {
            self.place.to_string()
        }
    }
}

/// Short form for tables: `3=` when tied, else `3`.
impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, if self.tied { "=" } else { "" })
    }
}

/// Ranks of pass rates, higher is better.
#[must_use]
pub fn by_rate(rates: &[Option<Rate>]) -> Vec<Option<Rank>> {
    competition(rates, Rate::cmp)
}

/// Ranks of scores, higher is better. NaN counts as no score.
#[must_use]
pub fn by_score(scores: &[Option<f64>]) -> Vec<Option<Rank>> {
    let present: Vec<Option<f64>> = scores.iter().map(|s| s.filter(|v| !v.is_nan())).collect();
    // NaN is gone, so the comparison is total, and -0.0 ties with 0.0.
    competition(&present, |a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal))
}

fn competition<T>(scores: &[Option<T>], compare: impl Fn(&T, &T) -> Ordering) -> Vec<Option<Rank>> {
    let mut present: Vec<(usize, &T)> = scores
        .iter()
        .enumerate()
        .filter_map(|(i, s)| s.as_ref().map(|s| (i, s)))
        .collect();
    present.sort_by(|a, b| compare(b.1, a.1));
    let mut ranks = vec![None; scores.len()];
    let mut start = 0;
    while start < present.len() {
        let equal = present[start..]
            .iter()
            .take_while(|(_, s)| compare(s, present[start].1) == Ordering::Equal)
            .count();
        for (index, _) in &present[start..start + equal] {
            ranks[*index] = Some(Rank {
                place: start + 1,
                tied: equal > 1,
            });
        }
        start += equal;
    }
    ranks
}

/// Places climbed from one ranking to another: positive when the second
/// place is the better one. `None` if either rank is missing.
#[must_use]
pub fn shift(first: Option<Rank>, second: Option<Rank>) -> Option<i64> {
    let place = |r: Rank| i64::try_from(r.place).unwrap_or(i64::MAX);
    Some(place(first?) - place(second?))
}

/// Indices in the order of display: by rank, then by name (code point);
/// rows without a rank last, by name.
///
/// Names and ranks are parallel; a surplus of either is ignored.
#[must_use]
pub fn display_order<S: AsRef<str>>(names: &[S], ranks: &[Option<Rank>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len().min(ranks.len())).collect();
    order.sort_by(|a, b| {
        let place = |i: usize| ranks[i].map_or(usize::MAX, |r| r.place);
        (place(*a), names[*a].as_ref()).cmp(&(place(*b), names[*b].as_ref()))
    });
    order
}
