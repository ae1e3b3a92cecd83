//! Alpha, Jaccard and coverage agreement over the vectors of
//! krippendorff.json that need no scoring rules. Raw function names and
//! block matching are tested where those rules live.

mod common;

use std::collections::BTreeSet;

use common::{close_or_null, count, fixture, list, number, text};
use faultboard_stats::agreement::{
    self, Answers, Coding, alpha_nominal, alpha_of_sets, jaccard_summary,
};
use serde_json::Value;

fn answers(annotators: &Value) -> Answers<String> {
    annotators
        .as_array()
        .expect("annotators")
        .iter()
        .map(|set| {
            set.as_array().map(|items| {
                items
                    .iter()
                    .map(|i| i.as_str().expect("item").to_owned())
                    .collect::<BTreeSet<_>>()
            })
        })
        .collect()
}

#[test]
fn alpha_of_matrices() {
    let file = fixture("krippendorff");
    let tol = number(&file["tolerance"]["abs"]);
    for entry in list(&file, "matrices") {
        let rows = list(entry, "matrix");
        let units: Vec<Vec<i64>> = (0..rows[0].as_array().expect("row").len())
            .map(|unit| rows.iter().filter_map(|row| row[unit].as_i64()).collect())
            .collect();
        let name = text(entry, "name");
        close_or_null(alpha_nominal(&units), &entry["alpha_nominal"], tol, name);
    }
}

#[test]
fn alpha_and_jaccard_of_sets() {
    let file = fixture("krippendorff");
    let tol = number(&file["tolerance"]["abs"]);
    for case in list(&file, "cases") {
        for what in ["files", "functions"] {
            let name = format!("{} {what}", text(case, "case"));
            let bugs: Vec<Answers<String>> = list(case, "bugs")
                .iter()
                .map(|bug| match &case["functions_canonical"] {
                    Value::Object(canonical) if what == "functions" => {
                        answers(&canonical[text(bug, "bug")])
                    }
                    _ => answers(&bug[what]),
                })
                .collect();
            let want = &case["expected"][what];
            for (coding, key) in [
                (Coding::SetLabel, "set_label"),
                (Coding::BinaryBugUnion, "binary_bug_union"),
                (Coding::BinaryGlobalPool, "binary_global_pool"),
            ] {
                let got = alpha_of_sets(&bugs, coding);
                let units = count(&want[format!("units_{key}")]);
                assert_eq!(got.units as u64, units, "{name} {key}");
                close_or_null(got.alpha, &want[format!("alpha_{key}")], tol, &name);
            }
            let got = jaccard_summary(&bugs);
            for (bug, want) in got.bugs.iter().zip(list(want, "jaccard_per_bug")) {
                for (pair, want) in bug.pairs.iter().zip(list(want, "pairs_01_02_12")) {
                    close_or_null(*pair, want, tol, &name);
                }
                close_or_null(bug.mean, &want["mean"], tol, &name);
            }
            close_or_null(
                got.mean_over_bugs,
                &want["jaccard_mean_over_bugs"],
                tol,
                &name,
            );
            close_or_null(
                got.mean_over_pairs,
                &want["jaccard_mean_over_pairs"],
                tol,
                &name,
            );
        }
    }
}

#[test]
fn coverage_and_f1_of_pairs() {
    let file = fixture("krippendorff");
    let tol = number(&file["tolerance"]["abs"]);
    for bug in list(&file, "block_agreement") {
        for pair in list(bug, "pairs") {
            let got = agreement::coverage_agreement(
                number(&pair["j_covered_by_i"]),
                number(&pair["i_covered_by_j"]),
            );
            close_or_null(Some(got.coverage), &pair["coverage"], tol, "coverage");
            close_or_null(Some(got.f1), &pair["f1"], tol, "f1");
        }
    }
}
