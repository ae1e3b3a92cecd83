//! Agreement under the scorer's rules, over the vectors of krippendorff.json.

mod common;

use std::collections::BTreeSet;

use common::{blocks, close, fixture, list, number, text};
use faultboard_scoring::agreement::{
    self, CaseAnnotations, SetAgreement, block_agreement, function_set, set_agreement,
};
use faultboard_stats::agreement::Answers;
use serde_json::{Value, json};

fn answers<T: Ord>(annotators: &Value, set: impl Fn(Vec<&str>) -> BTreeSet<T>) -> Answers<T> {
    annotators
        .as_array()
        .expect("annotators")
        .iter()
        .map(|items| {
            let items = items.as_array()?;
            Some(set(items.iter().filter_map(Value::as_str).collect()))
        })
        .collect()
}

#[track_caller]
fn check(got: &SetAgreement, want: &Value, tol: f64, name: &str) {
    for (alpha, key) in [
        (got.set_label, "set_label"),
        (got.binary_bug_union, "binary_bug_union"),
        (got.binary_global_pool, "binary_global_pool"),
    ] {
        assert_eq!(
            json!(alpha.units),
            want[format!("units_{key}")],
            "{name} {key}"
        );
        close(alpha.alpha, &want[format!("alpha_{key}")], tol, name);
    }
    close(
        got.jaccard.mean_over_bugs,
        &want["jaccard_mean_over_bugs"],
        tol,
        name,
    );
    close(
        got.jaccard.mean_over_pairs,
        &want["jaccard_mean_over_pairs"],
        tol,
        name,
    );
}

#[test]
fn files_and_functions_as_written() {
    let file = fixture("krippendorff");
    let tol = number(&file["tolerance"]["abs"]);
    for case in list(&file, "cases") {
        let name = text(case, "case");
        let bugs = list(case, "bugs");
        let functions: Vec<_> = bugs
            .iter()
            .map(|b| answers(&b["functions"], |names| function_set(names)))
            .collect();
        check(
            &set_agreement(&functions),
            &case["expected"]["functions"],
            tol,
            name,
        );
        let files: Vec<_> = bugs
            .iter()
            .map(|b| answers(&b["files"], |files| agreement::file_set(files)))
            .collect();
        check(
            &set_agreement(&files),
            &case["expected"]["files"],
            tol,
            name,
        );

        if let Some(canonical) = case["functions_canonical"].as_object() {
            for (bug, got) in bugs.iter().zip(&functions) {
                let got: Vec<Option<Vec<String>>> = got
                    .iter()
                    .map(|set| {
                        set.as_ref()
                            .map(|s| s.iter().map(ToString::to_string).collect())
                    })
                    .collect();
                assert_eq!(json!(got), canonical[text(bug, "bug")], "{name}");
            }
        }
    }
}

#[test]
fn blocks_under_the_five_line_rule() {
    let file = fixture("krippendorff");
    let tol = number(&file["tolerance"]["abs"]);
    let cases: Vec<CaseAnnotations> = list(&file, "block_agreement")
        .iter()
        .map(|bug| {
            list(bug, "annotators")
                .iter()
                .map(|a| (!a.is_null()).then(|| blocks(a)))
                .collect()
        })
        .collect();
    let got = block_agreement(&cases);
    for (pairs, bug) in got.cases.iter().zip(list(&file, "block_agreement")) {
        let name = text(bug, "bug");
        assert_eq!(pairs.len(), list(bug, "pairs").len(), "{name}");
        for (pair, want) in pairs.iter().zip(list(bug, "pairs")) {
            assert_eq!(json!(pair.annotators), want["pair"], "{name}");
            close(
                Some(pair.j_covered_by_i),
                &want["j_covered_by_i"],
                tol,
                name,
            );
            close(
                Some(pair.i_covered_by_j),
                &want["i_covered_by_j"],
                tol,
                name,
            );
            close(Some(pair.agreement.coverage), &want["coverage"], tol, name);
            close(Some(pair.agreement.f1), &want["f1"], tol, name);
        }
    }
    let want = &file["block_agreement_expected"];
    close(got.mean_coverage, &want["mean_coverage"], tol, "coverage");
    close(got.mean_f1, &want["mean_f1"], tol, "f1");
}

#[test]
fn annotations_of_whole_cases() {
    let annotated = |file: &str, function: &str| {
        Some(blocks(
            &json!([{"file": file, "function": function, "start_line": 1, "end_line": 3}]),
        ))
    };
    let cases = [
        vec![
            annotated("src/a.rs", "A::b"),
            annotated("./src/a.rs", "A.b"),
            None,
        ],
        vec![annotated("src/x.rs", "x"), annotated("src/y.rs", "x"), None],
    ];
    let files = agreement::file_agreement(&cases);
    assert_eq!(files.jaccard.mean_over_bugs, Some(0.5));
    let functions = agreement::function_agreement(&cases);
    assert_eq!(functions.jaccard.mean_over_bugs, Some(1.0));
    assert_eq!(functions.set_label.alpha, Some(1.0));
}
