//! The mixed model of a repair board, and what it says in plain words. Pure.

use std::collections::BTreeMap;

use faultboard_domain::view::{CoefficientLine, MixedFitView, MixedModelView};
use faultboard_domain::{CaseId, Condition, rounding};
use faultboard_scoring::verdict::{Standing, standing};
use faultboard_stats::mixed::{self, Coefficient, Observation};
use faultboard_stats::paired::ALPHA;

use crate::finish::RevisionScores;

/// The most configurations that a model is fitted to: its cost grows with the
/// cube of their number.
const CONFIGURATIONS: usize = 100;

/// Fits the model to every counted attempt of the rows on some cases.
pub(crate) fn compute(
    rows: &[&RevisionScores],
    within: impl Fn(&CaseId) -> bool,
) -> Option<MixedModelView> {
    let mut cases: BTreeMap<&CaseId, usize> = BTreeMap::new();
    let mut runs = Vec::new();
    for (model, scores) in rows.iter().enumerate() {
        for a in scores.repair.iter().filter(|a| within(&a.case)) {
            let passed = match standing(a.outcome) {
                Standing::Passed => true,
                Standing::NotPassed => false,
                Standing::NotCounted => continue,
            };
            let next = cases.len();
            runs.push(Observation {
                model,
                case: *cases.entry(&a.case).or_insert(next),
                context: a.condition == Condition::ContextAugmented,
                passed,
            });
        }
    }
    if runs.is_empty() {
        return None;
    }
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut view = MixedModelView {
        attempts: count(runs.len()),
        configurations: count(rows.len()),
        cases: count(cases.len()),
        fit: None,
        reading: String::new(),
        notes: Vec::new(),
    };
    if rows.len() > CONFIGURATIONS {
        view.reading = format!("Not fitted: the board has more than {CONFIGURATIONS} rows.");
        return Some(view);
    }
    match mixed::fit(&runs) {
        Ok(fit) => {
            view.notes.clone_from(&fit.notes);
            let odds = fit.odds_ratio_ci95;
            view.fit = Some(MixedFitView {
                intercept: line(&fit.intercept),
                context: line(&fit.context),
                odds_ratio: (fit.odds_ratio, odds.low, odds.high),
                var_configuration: fit.var_model,
                var_case: fit.var_case,
                marginal: fit.marginal.population,
                loglik: fit.loglik,
                aic: fit.aic,
            });
            view.reading = view.fit.as_ref().map(reading).unwrap_or_default();
        }
        Err(why) => {
            view.reading = "There is no estimate of the effect of context here.".to_owned();
            view.notes.push(why.to_string());
        }
    }
    Some(view)
}

fn line(c: &Coefficient) -> CoefficientLine {
    CoefficientLine {
        estimate: c.estimate,
        se: c.se,
        ci95: (c.ci95.low, c.ci95.high),
        z: c.z,
        p: c.p,
    }
}

/// The fit in words.
fn reading(fit: &MixedFitView) -> String {
    let two = |v: f64| rounding::number(v, 2);
    let (odds, low, high) = fit.odds_ratio;
    let verdict = if fit.context.p >= ALPHA {
        "So this data does not show that context changes the chance of a pass"
    } else if fit.context.estimate > 0.0 {
        "So context raises the chance of a pass"
    } else {
        "So context lowers the chance of a pass"
    };
    let spread = if fit.var_case == 0.0 && fit.var_configuration == 0.0 {
        "Neither cases nor configurations differ more than chance explains".to_owned()
    } else {
        let (more, less) = if fit.var_case >= fit.var_configuration {
            ("cases", "configurations")
        } else {
            ("configurations", "cases")
        };
        format!(
            "The {more} differ more than the {less} do (variance between cases {}, between configurations {})",
            two(fit.var_case),
            two(fit.var_configuration)
        )
    };
    format!(
        "With context the odds of a pass are {} times those without (95 % interval {} to {}), cases and configurations being equal; averaged over them that is {} points. {verdict} (z = {}, p {}). {spread}.",
        two(odds),
        two(low),
        two(high),
        rounding::points(fit.marginal),
        two(fit.context.z),
        rounding::p_equals(fit.context.p),
    )
}
