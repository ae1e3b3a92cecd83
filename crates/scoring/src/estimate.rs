//! The step from a statistic to the form in which scores are stored.

use faultboard_domain::score::Estimate;
use faultboard_stats::bootstrap::{Interval, MeanEstimate};

/// A stored estimate; `None` when nothing stands behind it.
pub(crate) fn stored(estimate: &MeanEstimate) -> Option<Estimate> {
    Some(Estimate {
        mean: estimate.mean?,
        ci95: estimate.interval.map(ends),
        n: u32::try_from(estimate.n).unwrap_or(u32::MAX),
    })
}

/// An interval as a pair.
pub(crate) fn ends(interval: Interval) -> (f64, f64) {
    (interval.low, interval.high)
}
