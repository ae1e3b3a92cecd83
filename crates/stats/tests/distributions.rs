//! Distributions and histograms over every vector of cdf_histogram.json.

mod common;

use common::{close, close_or_null, count, fixture, list, number, numbers, text};
use faultboard_stats::{
    distribution::Distribution,
    histogram::{self, HistogramError, Kind, LastBin},
    percentile, summary,
};
use serde_json::{Value, json};

/// |got - want| <= max(abs, rel |want|).
#[track_caller]
fn near(got: f64, want: &Value, tolerance: &Value, what: &str) {
    let want = number(want);
    let allowed = number(&tolerance["abs"]).max(number(&tolerance["rel"]) * want.abs());
    assert!(
        (got - want).abs() <= allowed,
        "{what}: got {got}, want {want}"
    );
}

#[track_caller]
fn near_list(got: &[f64], want: &Value, tolerance: &Value, what: &str) {
    let want = want.as_array().unwrap_or_else(|| panic!("{what}: no list"));
    assert_eq!(got.len(), want.len(), "{what}: lengths");
    for (g, w) in got.iter().zip(want) {
        near(*g, w, tolerance, what);
    }
}

#[test]
fn distributions_and_histograms() {
    let file = fixture("cdf_histogram");
    let tol = &file["tolerance"];
    for case in list(&file, "cases") {
        let name = text(case, "case");
        let want = &case["expected"];
        let values = numbers(&case["values"]);
        let kind = match text(case, "dtype") {
            "int" => Kind::Integer,
            "float" => Kind::Real,
            other => panic!("unknown dtype {other}"),
        };
        let distribution = Distribution::new(&values);
        let fixed =
            histogram::fixed(&values, number(&want["hist_fixed"]["width"])).expect("finite values");
        near_list(&fixed.edges, &want["hist_fixed"]["edges"], tol, name);
        assert_eq!(json!(fixed.counts), want["hist_fixed"]["counts"], "{name}");
        assert_eq!(
            fixed.counts.iter().sum::<u64>(),
            values.len() as u64,
            "{name}"
        );

        let Some(described) = distribution.describe() else {
            assert_eq!(count(&want["n"]), 0, "{name}");
            assert!(want["mean"].is_null() && want["median"].is_null(), "{name}");
            assert_eq!(
                histogram::auto(&values, kind),
                Ok(histogram::Histogram::default())
            );
            continue;
        };
        assert_eq!(described.n as u64, count(&want["n"]), "{name}");
        near(described.mean, &want["mean"], tol, name);
        near(described.median, &want["median"], tol, name);
        near(described.min, &want["min"], tol, name);
        near(described.max, &want["max"], tol, name);
        near(described.iqr, &want["iqr"], tol, name);
        close_or_null(described.sd_ddof1, &want["sd_ddof1"], 1e-12, name);
        for (q, value) in want["quantiles"].as_object().expect("quantiles") {
            let q: f64 = q.parse().expect("a number");
            near(distribution.quantile(q).expect("values"), value, tol, name);
        }
        for point in list(want, "ecdf") {
            let x = number(&point["x"]);
            assert_eq!(
                distribution.count_at_most(x) as u64,
                count(&point["count_le"])
            );
            near(
                distribution.ecdf(x).expect("values"),
                &point["F"],
                tol,
                name,
            );
        }
        let steps = distribution.steps();
        let shown = list(&want["ecdf_steps"], "x").len();
        assert_eq!(
            steps.len() as u64,
            count(&want["ecdf_steps"]["distinct"]),
            "{name}"
        );
        let x: Vec<f64> = steps.iter().take(shown).map(|s| s.x).collect();
        let f: Vec<f64> = steps.iter().take(shown).map(|s| s.f).collect();
        near_list(&x, &want["ecdf_steps"]["x"], tol, name);
        near_list(&f, &want["ecdf_steps"]["F"], tol, name);

        let auto = histogram::auto_edges(&values, kind).expect("finite values");
        let hist = &want["hist_auto"];
        near(auto.fd_width, &hist["fd_width"], tol, name);
        near(auto.sturges_width, &hist["sturges_width"], tol, name);
        near(auto.sqrt_width, &hist["sqrt_width"], tol, name);
        near_list(&auto.edges, &hist["edges"], tol, name);
        let counted = histogram::auto(&values, kind).expect("finite values");
        assert_eq!(counted.counts.len() as u64, count(&hist["bins"]), "{name}");
        assert_eq!(json!(counted.counts), hist["counts"], "{name}");
    }
}

#[test]
fn two_conditions_on_one_axis() {
    let file = fixture("cdf_histogram");
    let tol = &file["tolerance"];
    let panel = &file["paired_panel"];
    let want = &panel["expected"];
    let kept = |condition: &str| -> Vec<f64> {
        list(panel, "runs")
            .iter()
            .filter(|r| text(r, "exit") == "Submitted" && text(r, "condition") == condition)
            .map(|r| number(&r["steps"]))
            .collect()
    };
    let groups = [("symptom", kept("symptom")), ("context", kept("context"))];
    let pooled: Vec<f64> = groups.iter().flat_map(|(_, v)| v.clone()).collect();
    let auto = histogram::auto_edges(&pooled, Kind::Integer)
        .expect("finite")
        .edges;
    let fixed = histogram::fixed_edges(&pooled, 10.0).expect("finite");
    near_list(&auto, &want["pooled_auto_edges"], tol, "auto");
    near_list(&fixed, &want["pooled_fixed10_edges"], tol, "fixed");
    for (name, values) in &groups {
        assert_eq!(values.len() as u64, count(&want["kept"][name]));
        let by_auto = histogram::count(auto.clone(), values, LastBin::Closed);
        assert_eq!(json!(by_auto.counts), want["counts_auto"][name]);
        let by_fixed = histogram::count(fixed.clone(), values, LastBin::HalfOpen);
        assert_eq!(json!(by_fixed.counts), want["counts_fixed10"][name]);
        near(
            percentile::median(values).expect("values"),
            &want["median"][name],
            tol,
            name,
        );
        near(
            summary::mean(values).expect("values"),
            &want["mean"][name],
            tol,
            name,
        );
    }
    let median = |i: usize| percentile::median(&groups[i].1).expect("values");
    let shift = median(1) - median(0);
    close(shift, &want["median_shift"], 1e-12, "shift");
    close(
        shift / median(0),
        &want["median_shift_fraction"],
        1e-12,
        "fraction",
    );
}

#[test]
fn hostile_histograms_are_refused() {
    assert_eq!(
        histogram::fixed(&[0.0, 1.0], 0.0),
        Err(HistogramError::BadWidth)
    );
    assert_eq!(
        histogram::fixed(&[0.0, 1.0], f64::NAN),
        Err(HistogramError::BadWidth)
    );
    assert_eq!(
        histogram::fixed(&[0.0, 1e18], 1.0),
        Err(HistogramError::TooManyBins)
    );
    assert_eq!(
        histogram::fixed(&[1e300], 1e-300),
        Err(HistogramError::TooManyBins)
    );
    assert_eq!(
        histogram::fixed(&[f64::INFINITY], 1.0),
        Err(HistogramError::NotFinite)
    );
    assert_eq!(
        histogram::auto(&[f64::MAX, f64::MIN], Kind::Real),
        Err(HistogramError::NotFinite)
    );
}
