//! What attempts spent: tokens, cost, steps, and when they first edited.
//!
//! Unknown figures stay unknown: they are counted, never taken for zero.

use faultboard_domain::trace::TraceSummary;
use faultboard_stats::{percentile, summary};
use serde::{Deserialize, Serialize};

/// One attempt's spending, as its trace tells it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt and completion tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Turns of the model.
    pub steps: Option<u32>,
    /// 1-based turn of the first edit; `None` also when nothing was edited.
    pub first_edit: Option<u32>,
}

impl From<&TraceSummary> for Usage {
    fn from(trace: &TraceSummary) -> Self {
        Self {
            tokens: trace.tokens.map(|t| t.input.saturating_add(t.output)),
            cost_usd: trace.cost,
            // A trace without turns could not be read into steps.
            steps: (trace.turns > 0).then_some(trace.turns),
            first_edit: trace.first_edit,
        }
    }
}

/// Totals and medians of one kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Figure {
    /// Attempts whose figure is known.
    pub known: usize,
    /// Attempts in all.
    pub of: usize,
    /// Sum over the known ones; `None` if none is.
    pub total: Option<f64>,
    /// Mean over the known ones.
    pub mean: Option<f64>,
    /// Median over the known ones.
    pub median: Option<f64>,
}

impl Figure {
    fn of(values: impl Iterator<Item = Option<f64>>) -> Self {
        let (mut known, mut of) = (Vec::new(), 0);
        for value in values {
            of += 1;
            known.extend(value.filter(|v| v.is_finite()));
        }
        Self {
            known: known.len(),
            of,
            total: (!known.is_empty()).then(|| known.iter().sum()),
            mean: summary::mean(&known),
            median: percentile::median(&known),
        }
    }
}

/// Spending of a set of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct UsageSummary {
    /// Tokens.
    pub tokens: Figure,
    /// US dollars.
    pub cost_usd: Figure,
    /// Turns of the model.
    pub steps: Figure,
    /// Turn of the first edit, over attempts that edited.
    pub first_edit: Figure,
}

/// Totals, means and medians over attempts.
#[must_use]
pub fn summarize<'a>(attempts: impl Iterator<Item = &'a Usage> + Clone) -> UsageSummary {
    UsageSummary {
        tokens: Figure::of(attempts.clone().map(|u| u.tokens.map(|t| t as f64))),
        cost_usd: Figure::of(attempts.clone().map(|u| u.cost_usd)),
        steps: Figure::of(attempts.clone().map(|u| u.steps.map(f64::from))),
        first_edit: Figure::of(attempts.map(|u| u.first_edit.map(f64::from))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_not_zero() {
        let usage = |tokens, cost_usd| Usage {
            tokens,
            cost_usd,
            ..Usage::default()
        };
        let attempts = [
            usage(Some(100), Some(0.5)),
            usage(None, Some(1.5)),
            usage(Some(300), None),
        ];
        let summary = summarize(attempts.iter());
        assert_eq!((summary.tokens.known, summary.tokens.of), (2, 3));
        assert_eq!(summary.tokens.total, Some(400.0));
        assert_eq!(summary.tokens.median, Some(200.0));
        assert_eq!(summary.cost_usd.mean, Some(1.0));
        assert_eq!(summary.steps.total, None);
    }
}
