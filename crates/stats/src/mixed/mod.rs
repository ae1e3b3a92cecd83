//! Mixed-effects logistic regression with crossed random intercepts:
//! logit P(pass) = b0 + b_ctx ctx + u_model + u_case.
//!
//! Maximum of the Laplace approximation over both standard deviations and
//! both coefficients together (as lme4's `glmer` with nAGQ = 1). Standard
//! errors come from the observed information over all four parameters. A
//! model without a finite estimate is reported as such, in words: never a
//! large number in place of infinity.

mod laplace;
mod search;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Z_95, bootstrap::Interval, special, summary};
use laplace::{Cell, Laplace};

/// Estimates beyond this are on their way to infinity: a logit of 60 is a
/// probability that f64 cannot tell from 0 or 1.
const DIVERGED: f64 = 60.0;
/// Standard deviations below this are zero: variance below 1e-8.
const ZERO_SD: f64 = 1e-4;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Index of the model (configuration), from 0.
    pub model: usize,
    /// Index of the case, from 0.
    pub case: usize,
    /// Whether the run had context.
    pub context: bool,
    /// Whether it passed.
    pub passed: bool,
}

/// Why there is no estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoEstimate {
    /// No run under one of the conditions.
    OneCondition,
    /// Every run has the same outcome.
    ConstantResponse,
    /// Every run under one condition has the same outcome, so the effect of
    /// context is estimated as infinite.
    Separated,
    /// The likelihood keeps rising as a parameter grows.
    Diverging,
    /// The search for the maximum did not settle.
    NotConverged,
}

impl fmt::Display for NoEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneCondition => {
                "There are runs under one condition only, so the effect of context cannot be estimated."
            }
            Self::ConstantResponse => {
                "Every run has the same outcome, so no effect can be estimated."
            }
            Self::Separated => {
                "Every run under one condition has the same outcome (complete separation): the estimate of the effect is infinite."
            }
            Self::Diverging => {
                "The likelihood keeps rising as an estimate grows: there is no finite estimate."
            }
            Self::NotConverged => "The fit did not converge.",
        })
    }
}

impl std::error::Error for NoEstimate {}

/// A fixed effect on the logit scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// Maximum-likelihood estimate.
    pub estimate: f64,
    /// Standard error from the observed information over all parameters.
    pub se: f64,
    /// Standard error with the variances taken as known: smaller, for
    /// information.
    pub se_variances_known: f64,
    /// estimate / se.
    pub z: f64,
    /// Two-sided Wald p.
    pub p: f64,
    /// 95% Wald interval.
    pub ci95: Interval,
}

/// Average marginal effects of context, as differences of probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MarginalEffects {
    /// Averaged over the estimated distribution of both random intercepts
    /// (the main figure).
    pub population: f64,
    /// Averaged over the runs at their fitted intercepts.
    pub conditional_modes: f64,
    /// At random intercepts of zero.
    pub random_effects_zero: f64,
}

/// A fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedFit {
    /// Number of runs.
    pub n_obs: usize,
    /// b0.
    pub intercept: Coefficient,
    /// b_ctx.
    pub context: Coefficient,
    /// exp(b_ctx).
    pub odds_ratio: f64,
    /// exp of the ends of b_ctx's interval.
    pub odds_ratio_ci95: Interval,
    /// Variance of the models' intercepts; exactly 0 when singular.
    pub var_model: f64,
    /// Variance of the cases' intercepts; exactly 0 when singular.
    pub var_case: f64,
    /// Laplace log-likelihood.
    pub loglik: f64,
    /// -2 loglik + 8.
    pub aic: f64,
    /// Whether a variance is estimated at zero.
    pub singular: bool,
    /// Average marginal effects.
    pub marginal: MarginalEffects,
    /// Pass rate without context.
    pub raw_rate_symptom: f64,
    /// Pass rate with context.
    pub raw_rate_context: f64,
    /// Conditional modes of the models, logit scale.
    pub ranef_model: Vec<f64>,
    /// Conditional modes of the cases, logit scale.
    pub ranef_case: Vec<f64>,
    /// Convergence and singularity in words.
    pub notes: Vec<String>,
}

/// Fits the model. Indices may have gaps: an unused one has the mode 0.
///
/// # Errors
/// [`NoEstimate`] says why there is none.
pub fn fit(observations: &[Observation]) -> Result<MixedFit, NoEstimate> {
    let rates = raw_rates(observations)?;
    let mut surface = Laplace::new(Cell::collect(observations));
    let logit = |p: f64| (p / (1.0 - p)).ln();
    let start = [logit(rates.0), logit(rates.1) - logit(rates.0)];
    let best = search::maximize(&mut surface, start)?;
    let covariance = search::covariance(&mut surface, &best)?;
    let known = surface
        .fixed_covariance(&best)
        .ok_or(NoEstimate::NotConverged)?;
    let loglik = surface.loglik(&best).ok_or(NoEstimate::NotConverged)?;
    let [sd_model, sd_case, b0, b1] = best;

    let coefficient = |estimate: f64, i: usize| {
        let se = covariance[i].sqrt();
        let z = estimate / se;
        Coefficient {
            estimate,
            se,
            se_variances_known: known[i].sqrt(),
            z,
            p: special::two_sided_p(z),
            ci95: Interval {
                low: estimate - Z_95 * se,
                high: estimate + Z_95 * se,
            },
        }
    };
    let (intercept, context) = (coefficient(b0, 0), coefficient(b1, 1));
    let (ranef_model, ranef_case) = surface.modes(&best);
    let mut notes = Vec::new();
    for (sd, whose) in [(sd_model, "models"), (sd_case, "cases")] {
        if sd == 0.0 {
            notes.push(format!(
                "The variance between {whose} is estimated at zero (singular fit)."
            ));
        }
    }
    Ok(MixedFit {
        n_obs: observations.len(),
        intercept,
        context,
        odds_ratio: b1.exp(),
        odds_ratio_ci95: Interval {
            low: context.ci95.low.exp(),
            high: context.ci95.high.exp(),
        },
        var_model: sd_model * sd_model,
        var_case: sd_case * sd_case,
        loglik,
        aic: -2.0 * loglik + 8.0,
        singular: !notes.is_empty(),
        marginal: marginal_effects(observations, &best, &ranef_model, &ranef_case),
        raw_rate_symptom: rates.0,
        raw_rate_context: rates.1,
        ranef_model,
        ranef_case,
        notes,
    })
}

/// Pass rates without and with context, both strictly between 0 and 1.
fn raw_rates(observations: &[Observation]) -> Result<(f64, f64), NoEstimate> {
    let rate = |context: bool| {
        let outcomes: Vec<f64> = observations
            .iter()
            .filter(|o| o.context == context)
            .map(|o| f64::from(u8::from(o.passed)))
            .collect();
        summary::mean(&outcomes).ok_or(NoEstimate::OneCondition)
    };
    let (symptom, context) = (rate(false)?, rate(true)?);
    let extreme = |r: f64| r == 0.0 || r == 1.0;
    if extreme(symptom) && symptom == context {
        Err(NoEstimate::ConstantResponse)
    } else if extreme(symptom) || extreme(context) {
        Err(NoEstimate::Separated)
    } else {
        Ok((symptom, context))
    }
}

fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

fn marginal_effects(
    observations: &[Observation],
    best: &[f64; 4],
    ranef_model: &[f64],
    ranef_case: &[f64],
) -> MarginalEffects {
    let [sd_model, sd_case, b0, b1] = *best;
    let effect = |shift: f64| sigmoid(b0 + b1 + shift) - sigmoid(b0 + shift);
    let at_modes: Vec<f64> = observations
        .iter()
        .map(|o| effect(ranef_model[o.model] + ranef_case[o.case]))
        .collect();
    MarginalEffects {
        population: normal_mean(effect, sd_model.hypot(sd_case)),
        conditional_modes: summary::mean(&at_modes).unwrap_or(0.0),
        random_effects_zero: effect(0.0),
    }
}

/// E f(s) for s ~ N(0, sd^2), by the trapezoidal rule, which for a smooth
/// function under a normal density converges faster than any power of its
/// step.
pub(crate) fn normal_mean(f: impl Fn(f64) -> f64, sd: f64) -> f64 {
    const STEP: f64 = 0.02;
    const REACH: i32 = 500;
    let (mut sum, mut weights) = (0.0, 0.0);
    for i in -REACH..=REACH {
        let t = f64::from(i) * STEP;
        let weight = (-0.5 * t * t).exp();
        sum += weight * f(sd * t);
        weights += weight;
    }
    sum / weights
}
