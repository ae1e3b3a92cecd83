//! McNemar's test on the discordant pairs of two conditions, exactly.
//!
//! Never looks at concordant pairs: they carry no information here.

use serde::{Deserialize, Serialize};

/// Exact and mid-p two-sided p values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2); 1 without
    /// discordant pairs.
    pub p_exact: f64,
    /// The same minus P(X = min); `None` without discordant pairs.
    pub p_mid: Option<f64>,
    /// Chi-square with continuity correction, for information only; `None`
    /// without discordant pairs.
    pub chi2_corrected: Option<f64>,
}

/// The test for `b` gains and `c` losses.
#[must_use]
pub fn test(b: u64, c: u64) -> McNemar {
    let n = b.saturating_add(c);
    if n == 0 {
        return McNemar {
            p_exact: 1.0,
            p_mid: None,
            chi2_corrected: None,
        };
    }
    let smaller = b.min(c);
    let at = half_binomial_pmf(smaller, n);
    // P(X <= smaller), summed downwards from the largest term: the ratio of
    // neighbours is k / (n - k + 1), so terms shrink and the sum may stop.
    let (mut term, mut tail, mut k) = (at, at, smaller);
    while k > 0 && term > tail * 1e-18 {
        term *= k as f64 / (n - k + 1) as f64;
        tail += term;
        k -= 1;
    }
    let p_exact = (2.0 * tail).min(1.0);
    let spread = (b.abs_diff(c) as f64 - 1.0).abs();
    McNemar {
        p_exact,
        // Subtracted from the untruncated sum: 2 P(X <= m) may exceed 1.
        p_mid: Some((2.0 * tail - at).min(1.0)),
        chi2_corrected: Some(spread * spread / n as f64),
    }
}

/// C(n, k) / 2^n. Multiplies small factors and halves on the way so that
/// neither overflow nor cancellation of large logarithms occurs.
fn half_binomial_pmf(k: u64, n: u64) -> f64 {
    let mut value = 1.0_f64;
    let mut halvings = n;
    for i in 1..=k {
        value *= (n - k + i) as f64 / i as f64;
        while value > 1.0 && halvings > 0 {
            value *= 0.5;
            halvings -= 1;
        }
    }
    // What is left may be huge (n far from 2k): underflow to 0 is right then.
    value * (-(halvings as f64)).exp2()
}
