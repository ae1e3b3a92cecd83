//! Spread of repeated attempts within one unit.
//!
//! Looks at one unit's attempts at a time and never pools attempts of
//! different units.

use serde::{Deserialize, Serialize};

use crate::summary;

/// A unit is unstable when its attempts' range exceeds this (20 points).
pub const UNSTABLE_RANGE: f64 = 0.20;
/// Slack on the comparison: 0.8 - 0.6 is more than 0.2 in f64.
const SLACK: f64 = 1e-9;

/// Largest minus smallest value; `None` for no values.
#[must_use]
pub fn range(values: &[f64]) -> Option<f64> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(high - low)
}

/// Whether the attempts lie more than [`UNSTABLE_RANGE`] apart.
#[must_use]
pub fn is_unstable(values: &[f64]) -> bool {
    range(values).is_some_and(|r| r > UNSTABLE_RANGE + SLACK)
}

/// Standard deviation within units, averaged over units.
///
/// Both denominators are kept since publications rarely say which one they
/// use; whoever shows one of them must say which.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WithinSpread {
    /// Sample standard deviation (n - 1); a single attempt contributes 0.
    pub sd_ddof1: f64,
    /// Population standard deviation (n).
    pub sd_ddof0: f64,
}

/// Mean over units of the attempts' standard deviation; units without
/// attempts are left out. `None` if no unit has an attempt.
#[must_use]
pub fn within_spread<A: AsRef<[f64]>>(units: &[A]) -> Option<WithinSpread> {
    let each = |ddof: usize| -> Vec<f64> {
        units
            .iter()
            .map(AsRef::as_ref)
            .filter(|a| !a.is_empty())
            .map(|a| summary::standard_deviation(a, ddof).unwrap_or(0.0))
            .collect()
    };
    Some(WithinSpread {
        sd_ddof1: summary::mean(&each(1))?,
        sd_ddof0: summary::mean(&each(0))?,
    })
}
