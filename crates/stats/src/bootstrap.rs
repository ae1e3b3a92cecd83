//! Percentile bootstrap of a mean, on NumPy's own index stream.
//!
//! One fresh `Generator(PCG64(2026))` per interval draws
//! `integers(0, n, size=(10000, n))`; row r is replicate r. The unit of
//! resampling is the caller's row, whose order matters: sort by key first.
//! Never allocates per replicate, and never keeps the index matrix.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::{pcg64::Pcg64, percentile, summary};

/// Replicates per interval.
pub const REPLICATES: usize = 10_000;
/// Seed of every interval.
pub const SEED: u64 = 2026;
/// Lower and upper quantile of a 95% percentile interval.
pub const QUANTILES: (f64, f64) = (0.025, 0.975);

/// A two-sided interval, `low <= high`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A mean over units with its 95% bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanEstimate {
    /// Number of units.
    pub n: usize,
    /// Their mean; `None` without units.
    pub mean: Option<f64>,
    /// 95% interval; `None` with fewer than two units.
    pub interval: Option<Interval>,
}

/// Replicate means of `K` columns drawn together: replicate r of every column
/// uses the same rows. The rows must be in their canonical order.
///
/// Returns `K` vectors of `replicates` means, or empty ones for no rows.
#[must_use]
pub fn replicate_means<const K: usize>(
    generator: &mut Pcg64,
    rows: &[[f64; K]],
    replicates: usize,
) -> [Vec<f64>; K] {
    let Some(n) = NonZeroU64::new(rows.len() as u64) else {
        return std::array::from_fn(|_| Vec::new());
    };
    let mut out: [Vec<f64>; K] = std::array::from_fn(|_| Vec::with_capacity(replicates));
    let size = rows.len() as f64;
    for _ in 0..replicates {
        let mut sums = [0.0_f64; K];
        for _ in 0..rows.len() {
            let row = &rows[generator.below(n) as usize];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
        }
        for (column, sum) in out.iter_mut().zip(sums) {
            column.push(sum / size);
        }
    }
    out
}

/// The 95% percentile interval of replicate values in any order; `None` for
/// no values.
#[must_use]
pub fn percentile_interval(replicates: &[f64]) -> Option<Interval> {
    let sorted = percentile::sorted(replicates);
    Some(Interval {
        low: percentile::of_sorted(&sorted, QUANTILES.0)?,
        high: percentile::of_sorted(&sorted, QUANTILES.1)?,
    })
}

/// Mean and 95% interval of per-unit values in canonical (sorted key) order.
///
/// ```
/// use faultboard_stats::bootstrap::mean_interval;
/// let one = mean_interval(&[0.5]);
/// assert_eq!((one.mean, one.interval), (Some(0.5), None));
/// ```
#[must_use]
pub fn mean_interval(values: &[f64]) -> MeanEstimate {
    let interval = if values.len() < 2 {
        None
    } else {
        let rows: Vec<[f64; 1]> = values.iter().map(|v| [*v]).collect();
        let [replicates] = replicate_means(&mut Pcg64::new(SEED), &rows, REPLICATES);
        percentile_interval(&replicates)
    };
    MeanEstimate {
        n: values.len(),
        mean: summary::mean(values),
        interval,
    }
}
