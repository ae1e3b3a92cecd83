//! Intervals and paired differences over every vector of
//! bootstrap_mean_ci.json and bootstrap_paired_diff.json.

mod common;

use std::{collections::BTreeMap, num::NonZeroU64};

use common::{
    bits, bug_means, close, close_list, close_or_null, count, fixture, interval, list, number,
    numbers, text,
};
use faultboard_stats::{
    attempts,
    bootstrap::{self, mean_interval},
    paired::{self, DifferenceTest, Pairing},
    pairwise::{self, Adjustment},
    pcg64::Pcg64,
    summary, unpaired,
};
use serde_json::Value;

fn tolerance(fixture: &Value) -> f64 {
    number(&fixture["tolerance"]["abs"])
}

#[test]
fn intervals_of_a_mean() {
    let file = fixture("bootstrap_mean_ci");
    // Not only within the file's tolerance: to the last bit.
    let tol = 0.0;
    assert_eq!(
        bootstrap::REPLICATES as u64,
        count(&file["bootstrap"]["replicates"])
    );
    assert_eq!(bootstrap::SEED, count(&file["bootstrap"]["seed"]));
    for case in list(&file, "cases") {
        let name = text(case, "case");
        let input = list(case, "input");
        let want = &case["expected"];
        let means = bug_means(input);
        let ids: Vec<&String> = means.keys().collect();
        assert_eq!(serde_json::json!(ids), want["sorted_bug_ids"], "{name}");
        let values: Vec<f64> = means.values().copied().collect();
        close_list(&values, &want["bug_means"], tol, name);

        let got = mean_interval(&values);
        assert_eq!(got.n as u64, count(&want["n"]), "{name}");
        close_or_null(got.mean, &want["mean"], tol, name);
        interval(got.interval, &want["ci95"], tol, name);

        if let Some(first) = want["replicates_first5"].as_array() {
            let rows: Vec<[f64; 1]> = values.iter().map(|v| [*v]).collect();
            let mut rng = Pcg64::new(bootstrap::SEED);
            let [all] = bootstrap::replicate_means(&mut rng, &rows, bootstrap::REPLICATES);
            close_list(&all[..first.len()], &want["replicates_first5"], tol, name);
            close_or_null(all.last().copied(), &want["replicates_last"], tol, name);
            close_or_null(summary::mean(&all), &want["replicates_mean"], tol, name);
            let sd = summary::standard_deviation(&all, 0);
            close_or_null(sd, &want["replicates_sd_ddof0"], tol, name);
        }

        let tol = tolerance(&file);
        let attempts: Vec<Vec<f64>> = input.iter().map(|b| numbers(&b["scores"])).collect();
        let spread = attempts::within_spread(&attempts);
        let sd = |f: fn(attempts::WithinSpread) -> f64| spread.map(f);
        close_or_null(
            sd(|s| s.sd_ddof1),
            &want["within_bug_sd_mean_ddof1"],
            tol,
            name,
        );
        close_or_null(
            sd(|s| s.sd_ddof0),
            &want["within_bug_sd_mean_ddof0"],
            tol,
            name,
        );
        let mut unstable: Vec<&str> = input
            .iter()
            .filter(|b| attempts::is_unstable(&numbers(&b["scores"])))
            .map(|b| text(b, "bug"))
            .collect();
        unstable.sort_unstable();
        let wanted = want["unstable_bugs"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        assert_eq!(serde_json::json!(unstable), Value::from(wanted), "{name}");

        for category in want["by_category"].as_array().into_iter().flatten() {
            let members: Vec<Value> = input
                .iter()
                .filter(|b| b["category"] == category["category"])
                .cloned()
                .collect();
            let values: Vec<f64> = bug_means(&members).into_values().collect();
            let got = mean_interval(&values);
            assert_eq!(got.n as u64, count(&category["n"]), "{name}");
            close_or_null(got.mean, &category["mean"], tol, name);
            interval(got.interval, &category["ci95"], tol, name);
        }
    }
}

#[track_caller]
fn check_test(got: Option<DifferenceTest>, want: &Value, tol: f64, name: &str) {
    interval(got.map(|t| t.interval), &want["ci95"], tol, name);
    let Some(got) = got else {
        assert!(want["p_two_sided"].is_null(), "{name}");
        return;
    };
    assert_eq!(got.signs.below as u64, count(&want["n_lt0"]), "{name}");
    assert_eq!(got.signs.zero as u64, count(&want["n_eq0"]), "{name}");
    assert_eq!(got.signs.above as u64, count(&want["n_gt0"]), "{name}");
    close(got.p, &want["p_two_sided"], tol, name);
    close(got.p_plus_one, &want["p_two_sided_plus1"], tol, name);
    assert_eq!(
        Some(got.is_significant()),
        want["significant_p05"].as_bool(),
        "{name}"
    );
}

#[test]
fn binary_panel_with_holm() {
    let file = fixture("bootstrap_paired_diff");
    let tol = tolerance(&file);
    let panel = &file["binary_pairs"];
    let ids: Vec<String> = list(panel, "case_ids_sorted")
        .iter()
        .map(|v| v.as_str().expect("id").to_owned())
        .collect();
    let models = list(panel, "models");
    let rows: Vec<BTreeMap<String, f64>> = models
        .iter()
        .map(|m| ids.iter().cloned().zip(bits(text(m, "outcomes"))).collect())
        .collect();
    let pairs = pairwise::panel(&rows);
    let wanted = list(panel, "pairs");
    assert_eq!(pairs.len(), wanted.len());
    for (got, want) in pairs.iter().zip(wanted) {
        let name = format!("{} - {}", text(want, "a"), text(want, "b"));
        assert_eq!(text(&models[got.a], "model"), text(want, "a"));
        assert_eq!(text(&models[got.b], "model"), text(want, "b"));
        assert_eq!(got.difference.n as u64, count(&want["n"]));
        close_or_null(got.difference.delta, &want["delta"], tol, &name);
        check_test(got.difference.test, want, tol, &name);
        close_or_null(got.p_holm, &want["p_holm"], tol, &name);
        assert!(got.only_a.is_empty() && got.only_b.is_empty());
        let only =
            |a: usize, b: usize| rows[a].iter().filter(|(k, v)| **v > rows[b][*k]).count() as u64;
        assert_eq!(only(got.a, got.b), count(&want["only_a"]), "{name}");
        assert_eq!(only(got.b, got.a), count(&want["only_b"]), "{name}");
    }
    let significant = wanted
        .iter()
        .filter(|p| p["significant_p05"] == true)
        .count();
    assert_eq!(significant as u64, count(&panel["pairs_significant_p05"]));
    let bands = pairwise::rank_bands(rows.len(), &pairs, Adjustment::None);
    assert_eq!(bands.iter().map(|b| b.beats).sum::<usize>(), significant);
    assert_eq!(
        bands.iter().map(|b| b.beaten_by).sum::<usize>(),
        significant
    );
}

#[test]
fn context_effect_of_each_model() {
    let file = fixture("bootstrap_paired_diff");
    let tol = tolerance(&file);
    let effect = &file["context_effect"];
    let mut deltas = Vec::new();
    for model in list(effect, "models") {
        let name = text(model, "model");
        let got = paired::difference(&bits(text(model, "context")), &bits(text(model, "symptom")));
        assert_eq!(got.n as u64, count(&model["n"]), "{name}");
        close_or_null(got.delta, &model["delta"], tol, name);
        check_test(got.test, model, tol, name);
        deltas.extend(got.delta);
    }
    close_or_null(
        summary::mean(&deltas),
        &effect["pooled_delta"],
        tol,
        "pooled",
    );
}

#[test]
fn continuous_pairs() {
    let file = fixture("bootstrap_paired_diff");
    let tol = tolerance(&file);
    for case in list(&file, "continuous") {
        let name = text(case, "case");
        let want = &case["expected"];
        let joined = Pairing::join(&bug_means(list(case, "a")), &bug_means(list(case, "b")));
        assert_eq!(
            serde_json::json!(joined.keys),
            want["paired_bug_ids"],
            "{name}"
        );
        assert_eq!(
            serde_json::json!(joined.only_a),
            want["only_in_a"],
            "{name}"
        );
        assert_eq!(
            serde_json::json!(joined.only_b),
            want["only_in_b"],
            "{name}"
        );
        let got = paired::difference(&joined.a, &joined.b);
        assert_eq!(got.n as u64, count(&want["n"]), "{name}");
        close_or_null(got.delta, &want["delta"], tol, name);
        check_test(got.test, want, tol, name);
        if !want["mean_a"].is_null() {
            close_or_null(got.a.mean, &want["mean_a"], tol, name);
            close_or_null(got.b.mean, &want["mean_b"], tol, name);
            interval(got.a.interval, &want["ci95_a"], tol, name);
            interval(got.b.interval, &want["ci95_b"], tol, name);
            // Same replicates for both: each side's own interval is the same.
            assert_eq!(got.a, mean_interval(&joined.a), "{name}");
        }
    }
}

#[test]
fn unpaired_panel() {
    let file = fixture("bootstrap_paired_diff");
    let tol = tolerance(&file);
    let section = &file["unpaired"];
    let n = NonZeroU64::new(count(&section["n_per_model"])).expect("positive");
    let models = list(section, "models");
    let passes: Vec<u64> = models
        .iter()
        .map(|m| unpaired::passes_of_rate(number(&m["rate_percent"]), n.get()))
        .collect();
    let wanted: Vec<u64> = models.iter().map(|m| count(&m["passes"])).collect();
    assert_eq!(passes, wanted);
    let panel = unpaired::panel(&passes, n).expect("passes within n");
    assert_eq!(panel.len(), list(section, "pairs").len());
    let mut significant = 0;
    for (got, want) in panel.iter().zip(list(section, "pairs")) {
        let name = format!("{} - {}", text(want, "a"), text(want, "b"));
        assert_eq!(text(&models[got.a], "model"), text(want, "a"));
        assert_eq!(text(&models[got.b], "model"), text(want, "b"));
        let d = &got.difference;
        assert_eq!(
            (d.passes_a, d.passes_b),
            (count(&want["passes_a"]), count(&want["passes_b"]))
        );
        close(d.delta, &want["delta"], tol, &name);
        check_test(Some(d.test), want, tol, &name);
        close(d.p_one_sided, &want["one_sided_p"], tol, &name);
        close_or_null(d.p_wald, &want["info_wald_z_p_two_sided"], tol, &name);
        close(got.p_holm, &want["p_holm"], tol, &name);
        significant += u64::from(d.test.is_significant());

        let first: Vec<u64> = list(want, "first5_replicate_pass_counts_a")
            .iter()
            .map(count)
            .collect();
        let mut rng = Pcg64::new(bootstrap::SEED);
        let a = unpaired::replicate_passes(&mut rng, d.passes_a, n, bootstrap::REPLICATES);
        assert_eq!(a[..first.len()], first, "{name}");
        let first: Vec<u64> = list(want, "first5_replicate_pass_counts_b")
            .iter()
            .map(count)
            .collect();
        let b = unpaired::replicate_passes(&mut rng, d.passes_b, n, first.len());
        assert_eq!(b, first, "{name}");
    }
    assert_eq!(significant, count(&section["pairs_significant_p05"]));
    assert_eq!(unpaired::difference(n.get() + 1, 0, n), None);
}
