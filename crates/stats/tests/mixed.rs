//! The mixed model over every vector of glmm.json, at each case's own
//! tolerances.

mod common;

use common::{bits, fixture, list, number, text};
use faultboard_stats::mixed::{self, Coefficient, NoEstimate, Observation};
use serde_json::Value;

fn observations(entry: &Value) -> Vec<Observation> {
    let mut rows = Vec::new();
    for (model, outcomes) in list(entry, "outcomes").iter().enumerate() {
        for (context, key) in [(false, "symptom"), (true, "context")] {
            for (case, pass) in bits(text(outcomes, key)).into_iter().enumerate() {
                rows.push(Observation {
                    model,
                    case,
                    context,
                    passed: pass > 0.5,
                });
            }
        }
    }
    rows
}

#[track_caller]
fn within(got: f64, want: &Value, absolute: f64, relative: f64, what: &str) {
    let want = number(want);
    let allowed = absolute.max(relative * want.abs());
    assert!(
        (got - want).abs() <= allowed,
        "{what}: got {got}, want {want}"
    );
}

#[track_caller]
fn check_coefficient(got: &Coefficient, want: &Value, tolerance: &Value, name: &str) {
    let of = |key: &str| tolerance[key].as_f64().unwrap_or(0.0);
    within(
        got.estimate,
        &want["estimate"],
        of("beta_abs"),
        of("beta_rel"),
        name,
    );
    within(got.se, &want["se"], 0.0, of("se_rel"), name);
    within(
        got.se_variances_known,
        &want["se_rx"],
        0.0,
        of("se_rel"),
        name,
    );
    within(got.z, &want["z"], 0.0, of("z_rel"), name);
    let p = number(&want["p"]);
    // A relative error of z by r moves p by about p z^2 r.
    let z = number(&want["z"]);
    let allowed = p * (z * z + 1.0) * of("z_rel");
    assert!((got.p - p).abs() <= allowed, "{name}: p {} want {p}", got.p);
    let half = got.ci95.high - got.estimate;
    assert!((got.estimate - got.ci95.low - half).abs() < 1e-9, "{name}");
    let ends = &want["ci95"];
    let width = number(&ends[1]) - number(&ends[0]);
    assert!(
        (2.0 * half - width).abs() <= of("se_rel") * width,
        "{name}: width"
    );
}

#[test]
fn reference_fits() {
    for case in list(&fixture("glmm"), "cases") {
        let name = text(case, "case");
        let want = &case["expected"];
        let tolerance = &case["tolerance"];
        let of = |key: &str| number(&tolerance[key]);
        let fit = mixed::fit(&observations(case)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(
            fit.n_obs as u64,
            want["n_obs"].as_u64().expect("a count"),
            "{name}"
        );
        check_coefficient(&fit.intercept, &want["intercept"], tolerance, name);
        check_coefficient(&fit.context, &want["ctx"], tolerance, name);
        assert!((fit.odds_ratio.ln() - fit.context.estimate).abs() < 1e-9);
        assert!((fit.odds_ratio_ci95.low.ln() - fit.context.ci95.low).abs() < 1e-9);
        for (got, key) in [(fit.var_model, "var_model"), (fit.var_case, "var_case")] {
            within(
                got,
                &want[key],
                of("variance_zero_abs"),
                of("variance_rel"),
                key,
            );
            assert_eq!(
                got == 0.0,
                number(&want[key]) == 0.0,
                "{name}: {key} at zero"
            );
        }
        within(fit.loglik, &want["loglik"], of("loglik_abs"), 0.0, name);
        within(fit.aic, &want["aic"], 2.0 * of("loglik_abs"), 0.0, name);
        assert_eq!(Some(fit.singular), want["singular"].as_bool(), "{name}");
        assert_eq!(fit.notes.is_empty(), !fit.singular, "{name}");
        let ame = of("ame_abs");
        within(
            fit.marginal.population,
            &want["ame_population"],
            ame,
            0.0,
            name,
        );
        within(
            fit.marginal.conditional_modes,
            &want["ame_conditional_modes"],
            ame,
            0.0,
            name,
        );
        within(
            fit.marginal.random_effects_zero,
            &want["ame_random_effects_zero"],
            ame,
            0.0,
            name,
        );
        within(
            fit.raw_rate_symptom,
            &want["raw_rate_symptom"],
            1e-12,
            0.0,
            name,
        );
        within(
            fit.raw_rate_context,
            &want["raw_rate_context"],
            1e-12,
            0.0,
            name,
        );
        let lift = fit.raw_rate_context - fit.raw_rate_symptom;
        within(lift, &want["raw_lift"], 1e-12, 0.0, name);
        for (i, model) in list(case, "outcomes").iter().enumerate() {
            let mode = &want["ranef_model"][text(model, "model")];
            within(fit.ranef_model[i], mode, of("ranef_abs"), 0.0, name);
        }
        for (i, id) in list(case, "case_ids").iter().enumerate() {
            let mode = &want["ranef_case"][id.as_str().expect("an id")];
            within(fit.ranef_case[i], mode, of("ranef_abs"), 0.0, name);
        }
    }
}

#[test]
fn no_number_where_there_is_no_estimate() {
    for case in list(&fixture("glmm"), "degenerate") {
        let name = text(case, "case");
        let finite = case["expected"]["finite"].as_bool().expect("a flag");
        let fit = mixed::fit(&observations(case));
        assert_eq!(fit.is_ok(), finite, "{name}");
        if let Err(reason) = fit {
            assert!(!reason.to_string().is_empty());
        }
    }
    assert_eq!(mixed::fit(&[]), Err(NoEstimate::OneCondition));
}

#[test]
fn the_order_of_runs_and_repeated_runs_do_not_matter() {
    let file = fixture("glmm");
    let case = list(&file, "cases")
        .iter()
        .find(|c| c["expected"]["singular"] == false)
        .expect("a regular fit");
    let rows = observations(case);
    let fit = mixed::fit(&rows).expect("an estimate");
    let reversed: Vec<Observation> = rows.iter().rev().copied().collect();
    let again = mixed::fit(&reversed).expect("an estimate");
    assert!((fit.context.estimate - again.context.estimate).abs() < 1e-9);
    assert!((fit.context.se - again.context.se).abs() < 1e-9);
    // Twice the data has the larger log-likelihood and the smaller error.
    let doubled = [rows.clone(), rows].concat();
    let twice = mixed::fit(&doubled).expect("an estimate");
    assert!(twice.loglik < fit.loglik && twice.context.se < fit.context.se);
}
