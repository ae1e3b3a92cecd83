//! P3: the mixed model of 620 outcomes against lme4's `glmer`.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Measured, folder, tools};

pub(super) fn run() -> Result<Vec<Measured>> {
    let fixture = tools::fixture("glmm")?;
    let case = fixture["cases"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|c| c["expected"]["n_obs"] == 620)
        .context("the fixture has no case of 620 outcomes")?;
    let file = folder()?.join("p3.csv");
    std::fs::write(&file, csv(case)?)?;
    let root = tools::r_with_lme4()?;
    let ours = tools::example("measure_stats")?;
    let path = file.to_string_lossy();
    let theirs = tools::r(&root, &tools::script("p3.R")?, &[&path, "7"])?;
    let mine = tools::json_of(Command::new(&ours).arg("mixed").arg(&file).arg("21"))?;
    let again = tools::r(&root, &tools::script("p3.R")?, &[&path, "7"])?;
    let a = tools::number(&mine, "seconds")?;
    // lme4's faster setting, and the faster of two rounds.
    let mut b = f64::INFINITY;
    for round in [&theirs, &again] {
        for key in ["seconds_default", "seconds_careful"] {
            b = b.min(tools::number(round, key)?);
        }
    }
    Ok(vec![Measured {
        what: "same estimates within the fixture's tolerance".to_owned(),
        figures: format!(
            "{:.1} ms, lme4 {:.0} ms (the faster of its default and careful settings)",
            a * 1e3,
            b * 1e3
        ),
        ratio: b / a,
        bar: 10.0,
        sound: agrees(&mine, &theirs, &case["tolerance"])?,
        detail: json!({ "ours": mine, "lme4": theirs }),
    }])
}

/// One line per run: model, case, condition, outcome.
fn csv(case: &Value) -> Result<String> {
    let mut out = String::from("model,case,ctx,pass\n");
    let ids = case["case_ids"].as_array().context("no case ids")?;
    for m in case["outcomes"].as_array().context("no outcomes")? {
        let model = m["model"].as_str().context("no model")?;
        for (key, ctx) in [("symptom", 0), ("context", 1)] {
            let outcomes = m[key].as_str().context("no outcomes of a condition")?;
            for (id, pass) in ids.iter().zip(outcomes.chars()) {
                let id = id.as_str().context("a case id that is no text")?;
                writeln!(out, "{model},{id},{ctx},{pass}")?;
            }
        }
    }
    Ok(out)
}

fn agrees(ours: &Value, theirs: &Value, tolerance: &Value) -> Result<bool> {
    let near = |key: &str, absolute: f64, relative: f64| -> Result<bool> {
        let (a, b) = (tools::number(ours, key)?, tools::number(theirs, key)?);
        Ok((a - b).abs() <= absolute + relative * b.abs())
    };
    let limit = |key: &str| tolerance[key].as_f64().unwrap_or(0.0);
    Ok(near("b0", limit("beta_abs"), 0.0)?
        && near("b_ctx", limit("beta_abs"), 0.0)?
        && near("se_ctx", 0.0, limit("se_rel"))?
        && near("var_model", 0.0, limit("variance_rel"))?
        && near("var_case", 0.0, limit("variance_rel"))?
        && near("loglik", limit("loglik_abs"), 0.0)?)
}
