//! Percentile bootstrap of a mean, on NumPy's own index stream.
//!
//! One fresh `Generator(PCG64(2026))` per interval draws
//! `integers(0, n, size=(10000, n))`; row r is replicate r. The unit of
//! resampling is the caller's row, whose order matters: sort by key first.
//! Sums in NumPy's order, so means and intervals are its to the bit. Never
//! allocates per replicate, and never keeps the index matrix.

use std::num::NonZeroU32;

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
/// Returns `K` vectors of `replicates` means, or empty ones for no rows (or
/// for 2^32 of them).
#[must_use]
pub fn replicate_means<const K: usize>(
    generator: &mut Pcg64,
    rows: &[[f64; K]],
    replicates: usize,
) -> [Vec<f64>; K] {
    let size = u32::try_from(rows.len()).ok().and_then(NonZeroU32::new);
    let Some(n) = size else {
        return std::array::from_fn(|_| Vec::new());
    };
    let mut out: [Vec<f64>; K] = std::array::from_fn(|_| Vec::with_capacity(replicates));
    let columns: [Vec<f64>; K] = std::array::from_fn(|k| rows.iter().map(|r| r[k]).collect());
    let mut index = vec![0_u32; rows.len()];
    let mut drawn = vec![0.0_f64; rows.len()];
    for _ in 0..replicates {
        generator.fill_below(n, &mut index);
        for (column, means) in columns.iter().zip(&mut out) {
            for (slot, i) in drawn.iter_mut().zip(&index) {
                *slot = column[*i as usize];
            }
            means.push(summary::sum(&drawn) / rows.len() as f64);
        }
    }
    out
}

/// The 95% percentile interval of replicate values in any order; `None` for
/// no values.
#[must_use]
pub fn percentile_interval(replicates: &[f64]) -> Option<Interval> {
    let mut values = replicates.to_vec();
    Some(Interval {
        low: percentile::select(&mut values, QUANTILES.0)?,
        high: percentile::select(&mut values, QUANTILES.1)?,
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
