//! Flips, McNemar's test and proportions over every vector of
//! mcnemar_and_flips.json.

mod common;

use common::{bits, close, close_or_null, count, fixture, interval, list, number, text};
use faultboard_stats::{Z_95, flips::Flips, proportion};
use serde_json::Value;

fn count_flips(entry: &Value) -> Flips {
    let first = bits(text(entry, "symptom"));
    let second = bits(text(entry, "context"));
    Flips::count(first.iter().zip(&second).map(|(a, b)| (*a > 0.5, *b > 0.5)))
}

#[track_caller]
fn check(got: Flips, want: &Value, p_rel: f64) {
    assert_eq!(got.fail_to_pass, count(&want["fail_to_pass"]));
    assert_eq!(got.pass_to_fail, count(&want["pass_to_fail"]));
    assert_eq!(got.pass_to_pass, count(&want["pass_to_pass"]));
    assert_eq!(got.fail_to_fail, count(&want["fail_to_fail"]));
    assert_eq!(got.n(), count(&want["n"]));
    assert_eq!(got.passes_first(), count(&want["pass_symptom"]));
    assert_eq!(got.passes_second(), count(&want["pass_context"]));
    close_or_null(got.delta(), &want["delta"], 1e-12, "delta");
    let relative = |got: Option<f64>, want: &Value, what: &str| match got {
        Some(got) => {
            let want = number(want);
            assert!(
                (got - want).abs() <= p_rel * want.abs(),
                "{what}: {got}, want {want}"
            );
        }
        None => assert!(want.is_null(), "{what}"),
    };
    let test = got.mcnemar();
    relative(Some(test.p_exact), &want["mcnemar_exact_p"], "exact");
    relative(test.p_mid, &want["mcnemar_midp"], "mid-p");
    relative(test.chi2_corrected, &want["info_chi2_cc"], "chi2");
    if test.p_mid.is_some() {
        close_or_null(
            got.gain_loss_ratio(),
            &want["gain_loss_ratio"],
            1e-12,
            "ratio",
        );
    }
}

#[test]
fn flips_and_mcnemar() {
    let file = fixture("mcnemar_and_flips");
    let p_rel = number(&file["tolerance"]["p_rel"]);
    let mut pooled = Flips::default();
    for model in list(&file, "models") {
        let flips = count_flips(model);
        check(flips, &model["expected"], p_rel);
        pooled += flips;
    }
    check(pooled, &file["pooled"], p_rel);
    for entry in list(&file, "small") {
        check(count_flips(entry), &entry["expected"], p_rel);
    }
    for table in list(&file, "tables") {
        let flips = Flips {
            fail_to_pass: count(&table["fail_to_pass"]),
            pass_to_fail: count(&table["pass_to_fail"]),
            pass_to_pass: count(&table["pass_to_pass"]),
            fail_to_fail: count(&table["fail_to_fail"]),
        };
        check(flips, table, p_rel);
    }
}

#[test]
fn proportions() {
    let file = fixture("mcnemar_and_flips");
    close(Z_95, &file["z"], 0.0, "z");
    let tol = number(&file["tolerance"]["interval_abs"]);
    for entry in list(&file, "proportions") {
        let (k, n) = (count(&entry["passes"]), count(&entry["n"]));
        let name = format!("{k} of {n}");
        interval(proportion::wilson(k, n), &entry["wilson95"], tol, &name);
        interval(
            proportion::clopper_pearson(k, n),
            &entry["clopper_pearson95"],
            tol,
            &name,
        );
        if n > 0 && (k == 0 || k == n) {
            let wilson = proportion::wilson(k, n).expect("n > 0");
            assert!(wilson.low == 0.0 || wilson.high == 1.0, "{name}: exact end");
        }
    }
    assert_eq!(proportion::wilson(2, 1), None);
    assert_eq!(proportion::clopper_pearson(2, 1), None);
}
