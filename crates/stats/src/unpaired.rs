//! Differences of stated pass rates whose single outcomes are not known.
//!
//! Rebuilds a Bernoulli panel of the stated size from each rate: the passes
//! come first, then the failures. The two sides are drawn one after the
//! other from one fresh generator. Never mixes with paired results: nothing
//! here knows which case was passed.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::{
    bootstrap, holm,
    paired::{DifferenceTest, SignCounts},
    pcg64::Pcg64,
    special,
};

/// Passes that a rate in percent stands for: floor(rate / 100 n + 0.5), kept
/// within 0..=n.
#[must_use]
pub fn passes_of_rate(rate_percent: f64, n: u64) -> u64 {
    let passes = (rate_percent / 100.0 * n as f64 + 0.5).floor();
    // A float cast saturates, and turns NaN into 0.
    (passes.max(0.0) as u64).min(n)
}

/// Difference of two unpaired pass rates, first minus second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnpairedDifference {
    /// Outcomes per side.
    pub n: u64,
    /// Passes of the first side.
    pub passes_a: u64,
    /// Passes of the second side.
    pub passes_b: u64,
    /// Rate of the first side minus rate of the second.
    pub delta: f64,
    /// Interval and test.
    pub test: DifferenceTest,
    /// P(d* <= 0).
    pub p_one_sided: f64,
    /// Two-sided p of the Wald z test, for information; `None` when both
    /// rates are 0 or 1.
    pub p_wald: Option<f64>,
}

/// Pass counts of the bootstrap replicates of a panel with the passes first.
#[must_use]
pub fn replicate_passes(
    generator: &mut Pcg64,
    passes: u64,
    n: NonZeroU64,
    replicates: usize,
) -> Vec<u64> {
    (0..replicates)
        .map(|_| {
            (0..n.get())
                .map(|_| u64::from(generator.below(n) < passes))
                .sum()
        })
        .collect()
}

/// The unpaired bootstrap of two panels of the same size.
///
/// `None` when a count of passes exceeds `n`.
#[must_use]
pub fn difference(passes_a: u64, passes_b: u64, n: NonZeroU64) -> Option<UnpairedDifference> {
    if passes_a > n.get() || passes_b > n.get() {
        return None;
    }
    let mut generator = Pcg64::new(bootstrap::SEED);
    let a = replicate_passes(&mut generator, passes_a, n, bootstrap::REPLICATES);
    let b = replicate_passes(&mut generator, passes_b, n, bootstrap::REPLICATES);
    let size = n.get() as f64;
    let differences: Vec<f64> = a
        .iter()
        .zip(&b)
        .map(|(x, y)| *x as f64 / size - *y as f64 / size)
        .collect();
    let signs = SignCounts::of(&differences);
    let (rate_a, rate_b) = (passes_a as f64 / size, passes_b as f64 / size);
    let delta = rate_a - rate_b;
    let variance = (rate_a * (1.0 - rate_a) + rate_b * (1.0 - rate_b)) / size;
    Some(UnpairedDifference {
        n: n.get(),
        passes_a,
        passes_b,
        delta,
        test: DifferenceTest::of_replicates(&differences)?,
        p_one_sided: signs.p_first_not_better()?,
        p_wald: (variance > 0.0).then(|| special::two_sided_p(delta / variance.sqrt())),
    })
}

/// One pair `a < b` of an unpaired panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnpairedPair {
    /// Index of the first row.
    pub a: usize,
    /// Index of the second row.
    pub b: usize,
    /// First minus second.
    pub difference: UnpairedDifference,
    /// Holm-adjusted p over the panel.
    pub p_holm: f64,
}

/// All pairs of a panel, in the order (0,1), (0,2), ...; `None` when a count
/// of passes exceeds `n`.
#[must_use]
pub fn panel(passes: &[u64], n: NonZeroU64) -> Option<Vec<UnpairedPair>> {
    let mut pairs = Vec::new();
    for a in 0..passes.len() {
        for b in a + 1..passes.len() {
            pairs.push(UnpairedPair {
                a,
                b,
                difference: difference(passes[a], passes[b], n)?,
                p_holm: 1.0,
            });
        }
    }
    let p_values: Vec<f64> = pairs.iter().map(|p| p.difference.test.p).collect();
    for (pair, p) in pairs.iter_mut().zip(holm::adjust(&p_values)) {
        pair.p_holm = p;
    }
    Some(pairs)
}
