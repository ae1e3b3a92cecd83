//! Group means and leave-one-out over every vector of leave_one_out.json.

mod common;

use common::{close, close_or_null, count, fixture, interval, list, number, numbers, text};
use faultboard_stats::{
    bootstrap::MeanEstimate,
    groups::{Unit, analyse},
    summary,
};
use serde_json::Value;

#[track_caller]
fn check(file: MeanEstimate, block: MeanEstimate, want: &Value, tol: f64, name: &str) {
    assert_eq!(block.n as u64, count(&want["n"]), "{name}");
    close_or_null(block.mean, &want["block_mean"], tol, name);
    if block.n == 0 {
        return;
    }
    close_or_null(file.mean, &want["file_mean"], tol, name);
    interval(file.interval, &want["file_ci95"], tol, name);
    interval(block.interval, &want["block_ci95"], tol, name);
    let gap = file.mean.zip(block.mean).map(|(f, b)| f - b);
    close_or_null(gap, &want["gap_file_minus_block"], tol, name);
}

#[test]
fn leave_one_system_out() {
    let data = fixture("leave_one_out");
    let tol = number(&data["tolerance"]["abs"]);
    for case in list(&data, "cases") {
        let name = text(case, "case");
        let want = &case["expected"];
        let units = |key: &str| -> Vec<Unit<&str, &str>> {
            list(case, "bugs")
                .iter()
                .map(|bug| Unit {
                    key: text(bug, "bug"),
                    group: text(bug, "system"),
                    value: summary::mean(&numbers(&bug[key])).expect("attempts"),
                })
                .collect()
        };
        let file = analyse(&units("file_coverage"));
        let block = analyse(&units("block_coverage"));
        check(file.full, block.full, &want["full"], tol, name);
        let per_system = list(want, "per_system");
        assert_eq!(block.per_group.len(), per_system.len(), "{name}");
        for ((f, b), w) in file.per_group.iter().zip(&block.per_group).zip(per_system) {
            assert_eq!(b.group, text(w, "system"), "{name}");
            check(f.estimate, b.estimate, w, tol, name);
        }
        let left_out = list(want, "leave_one_out");
        assert_eq!(block.leave_one_out.len(), left_out.len(), "{name}");
        let mut gaps = Vec::new();
        for ((f, b), w) in file
            .leave_one_out
            .iter()
            .zip(&block.leave_one_out)
            .zip(left_out)
        {
            assert_eq!(b.excluded, text(w, "excluded"), "{name}");
            check(f.estimate, b.estimate, w, tol, name);
            if let Some(delta) = b.delta {
                close(delta, &w["delta_block_vs_full"], tol, name);
            }
            gaps.extend(f.estimate.mean.zip(b.estimate.mean).map(|(f, b)| f - b));
        }
        close_or_null(block.max_abs_delta, &want["max_abs_delta_block"], tol, name);
        if let Some(range) = want["gap_range"].as_array() {
            let low = gaps.iter().copied().reduce(f64::min);
            let high = gaps.iter().copied().reduce(f64::max);
            close_or_null(low, &range[0], tol, name);
            close_or_null(high, &range[1], tol, name);
        }
        if let Some(unused) = want["mean_of_system_means_not_used"].as_f64() {
            let means: Vec<f64> = block
                .per_group
                .iter()
                .filter_map(|g| g.estimate.mean)
                .collect();
            close_or_null(summary::mean(&means), &Value::from(unused), tol, name);
        }
    }
}
