//! Mean and standard deviation, with the empty case spelled out.

/// Arithmetic mean; `None` for no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        None
    } else {
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// Standard deviation with `n - ddof` in the denominator; `None` if that is
/// not positive.
#[must_use]
pub fn standard_deviation(values: &[f64], ddof: usize) -> Option<f64> {
    let centre = mean(values)?;
    let freedom = values.len().checked_sub(ddof).filter(|f| *f > 0)?;
    let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
    Some((squares / freedom as f64).sqrt())
}
