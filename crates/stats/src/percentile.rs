//! Percentiles with linear interpolation (NumPy's default `linear` method).
//!
//! Either one caller sorts once and asks many times, or one quantile is
//! selected from values that are left in any order. Never sorts on its own.

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
    Some(between(sorted[k], sorted[(k + 1).min(last)], h - k as f64))
}

/// Interpolates as NumPy does: from the nearer end, so that both ends are met
/// exactly.
fn between(low: f64, high: f64, t: f64) -> f64 {
    let width = high - low;
    if t >= 0.5 {
        high - width * (1.0 - t)
    } else {
        low + width * t
    }
}

/// The `q` quantile of values in any order, which are reordered: the same as
/// [`of_sorted`] of them, without sorting them all.
#[must_use]
pub fn select(values: &mut [f64], q: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&q) {
        return None;
    }
    let last = values.len().checked_sub(1)?;
    let h = q * last as f64;
    let k = (h.floor() as usize).min(last);
    let (_, low, above) = values.select_nth_unstable_by(k, f64::total_cmp);
    let low = *low;
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    Some(between(low, high, h - k as f64))
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
