//! Holm's step-down adjustment of a family of p values.
//!
//! Never decides which tests form a family: the caller does, by what it
//! passes.

/// Adjusted p values in the order of the input: the sorted p values times
/// m, m - 1, ..., 1, running maximum, at most 1.
///
/// S. Holm, "A simple sequentially rejective multiple test procedure",
/// Scandinavian Journal of Statistics 6 (1979).
#[must_use]
pub fn adjust(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut running = 0.0_f64;
    for (place, index) in order.into_iter().enumerate() {
        let factor = (p_values.len() - place) as f64;
        running = running.max(p_values[index] * factor).min(1.0);
        adjusted[index] = running;
    }
    adjusted
}
