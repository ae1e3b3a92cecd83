//! Mean and standard deviation, with the empty case spelled out.

/// Values up to which NumPy adds without splitting.
const BLOCK: usize = 128;

/// The sum in the order in which NumPy adds a contiguous array: eight running
/// sums within a block of 128, larger arrays in halves. The same values give
/// the same bits.
#[must_use]
pub fn sum(values: &[f64]) -> f64 {
    let n = values.len();
    if n < 8 {
        return values.iter().fold(0.0, |total, v| total + v);
    }
    if n <= BLOCK {
        let (eights, rest) = values.as_chunks::<8>();
        let mut r = eights[0];
        for eight in &eights[1..] {
            for (sum, v) in r.iter_mut().zip(eight) {
                *sum += v;
            }
        }
        let total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        return rest.iter().fold(total, |total, v| total + v);
    }
    let half = n / 2 - (n / 2) % 8;
    sum(&values[..half]) + sum(&values[half..])
}

/// Arithmetic mean; `None` for no values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| sum(values) / values.len() as f64)
}

/// Standard deviation with `n - ddof` in the denominator; `None` if that is
/// not positive.
#[must_use]
pub fn standard_deviation(values: &[f64], ddof: usize) -> Option<f64> {
    let centre = mean(values)?;
    let freedom = values.len().checked_sub(ddof).filter(|f| *f > 0)?;
    let squares: Vec<f64> = values.iter().map(|v| (v - centre) * (v - centre)).collect();
    Some((sum(&squares) / freedom as f64).sqrt())
}
