//! Percentiles with linear interpolation (NumPy's default `linear` method).
//!
//! Never sorts on its own: one caller sorts once and asks many times.

/// The `q` quantile (`0.0..=1.0`) of values sorted ascending:
/// h = q (N - 1), k = floor(h), v\[k\] + (v\[k+1\] - v\[k\]) (h - k).
///
/// `None` for no values, or for a `q` outside of the range.
#[must_use]
pub fn of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let h = q * last as f64;
    let k = (h.floor() as usize).min(last);
    let low = sorted[k];
    let high = sorted[(k + 1).min(last)];
    Some(low + (high - low) * (h - k as f64))
}

/// A sorted copy of the values (total order of f64, so it never panics).
#[must_use]
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}

/// The median of values in any order; `None` for no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    of_sorted(&sorted(values), 0.5)
}
