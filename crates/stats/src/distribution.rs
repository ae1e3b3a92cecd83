//! Empirical distribution of a set of values: F(x), steps, quantiles and the
//! usual summary figures.
//!
//! Never smooths: every figure is that of the values themselves.

use serde::{Deserialize, Serialize};

use crate::{percentile, summary};

/// Values sorted once, to be asked many times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distribution {
    sorted: Vec<f64>,
}

/// The figures shown beside a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Sample standard deviation; `None` for one value.
    pub sd_ddof1: Option<f64>,
    /// Distance of the quartiles.
    pub iqr: f64,
}

/// One step of an empirical distribution function.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// A distinct value.
    pub x: f64,
    /// Share of values <= x, in (0, 1].
    pub f: f64,
}

impl Distribution {
    /// Sorts the values. They should be finite: NaN sorts last.
    #[must_use]
    pub fn new(values: &[f64]) -> Self {
        Self {
            sorted: percentile::sorted(values),
        }
    }

    /// The values, ascending.
    #[must_use]
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The `q` quantile by linear interpolation; `None` for no values.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        percentile::of_sorted(&self.sorted, q)
    }

    /// Number of values <= x.
    #[must_use]
    pub fn count_at_most(&self, x: f64) -> usize {
        self.sorted.partition_point(|v| *v <= x)
    }

    /// F(x) = count(v <= x) / n; `None` for no values.
    #[must_use]
    pub fn ecdf(&self, x: f64) -> Option<f64> {
        (!self.sorted.is_empty()).then(|| self.count_at_most(x) as f64 / self.sorted.len() as f64)
    }

    /// The distinct values with F there, ascending.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let n = self.sorted.len() as f64;
        let mut steps: Vec<Step> = Vec::new();
        for (i, x) in self.sorted.iter().enumerate() {
            let f = (i + 1) as f64 / n;
            match steps.last_mut() {
                Some(step) if step.x == *x => step.f = f,
                _ => steps.push(Step { x: *x, f }),
            }
        }
        steps
    }

    /// Summary figures; `None` for no values.
    #[must_use]
    pub fn describe(&self) -> Option<Description> {
        Some(Description {
            n: self.sorted.len(),
            mean: summary::mean(&self.sorted)?,
            median: self.quantile(0.5)?,
            min: *self.sorted.first()?,
            max: *self.sorted.last()?,
            sd_ddof1: summary::standard_deviation(&self.sorted, 1),
            iqr: self.quantile(0.75)? - self.quantile(0.25)?,
        })
    }
}
