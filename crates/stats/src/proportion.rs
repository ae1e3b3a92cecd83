//! 95% intervals of a proportion: Wilson for display, Clopper-Pearson for
//! downloads.
//!
//! Never a Wald interval: it has no width at 0 and 1, where boards need one.

use crate::{Z_95, bootstrap::Interval, special};

/// Wilson score interval without continuity correction; exactly 0 at the
/// low end for no passes, exactly 1 at the high end for all passes. `None`
/// for n = 0 or more passes than n.
#[must_use]
pub fn wilson(passes: u64, n: u64) -> Option<Interval> {
    if n == 0 || passes > n {
        return None;
    }
    let size = n as f64;
    let rate = passes as f64 / size;
    let z2 = Z_95 * Z_95;
    let denominator = 1.0 + z2 / size;
    let centre = (rate + z2 / (2.0 * size)) / denominator;
    let half = Z_95 * (rate * (1.0 - rate) / size + z2 / (4.0 * size * size)).sqrt() / denominator;
    Some(Interval {
        low: if passes == 0 { 0.0 } else { centre - half },
        high: if passes == n { 1.0 } else { centre + half },
    })
}

/// Clopper-Pearson ("exact") interval from beta quantiles. `None` for n = 0
/// or more passes than n.
#[must_use]
pub fn clopper_pearson(passes: u64, n: u64) -> Option<Interval> {
    const TAIL: f64 = 0.025;
    if n == 0 || passes > n {
        return None;
    }
    let (k, failures) = (passes as f64, (n - passes) as f64);
    Some(Interval {
        low: if passes == 0 {
            0.0
        } else {
            special::beta_quantile(TAIL, k, failures + 1.0)
        },
        high: if passes == n {
            1.0
        } else {
            special::beta_quantile(1.0 - TAIL, k + 1.0, failures)
        },
    })
}
