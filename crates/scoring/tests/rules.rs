//! The diagnosis scorer over every vector and every table of
//! diagnosis_scoring.json.

mod common;

use common::{blocks, close, diagnosis, fixture, list, number, text};
use faultboard_scoring::diagnosis::{
    Counts, PreparedBlocks, Ratio,
    blocks::TOLERANCE_LINES,
    compare,
    function::FunctionName,
    mention::{GENERIC_NAMES, MentionText},
    path,
};
use serde_json::{Value, json};

fn ratio(counts: &Counts, key: &str) -> Option<Ratio> {
    Some(match key {
        "file_precision" => counts.file_precision,
        "file_coverage" => counts.file_coverage,
        "function_precision" => counts.function_precision,
        "function_coverage" => counts.function_coverage,
        "line_precision" => counts.line_precision,
        "line_coverage" => counts.line_coverage,
        "block_precision" => counts.block_precision,
        "block_coverage" => counts.block_coverage,
        "strict_block_coverage" => counts.strict_block_coverage,
        "mention_coverage" => return counts.mention_coverage,
        other => panic!("unknown metric {other}"),
    })
}

#[test]
fn every_case() {
    let file = fixture("diagnosis_scoring");
    let tol = number(&file["tolerance"]["abs"]);
    let mut wrong = Vec::new();
    for case in list(&file, "cases") {
        let name = text(case, "case");
        if case["invalid"] == true {
            assert!(
                diagnosis(&case["predicted"]).is_err(),
                "{name} must be rejected"
            );
            continue;
        }
        let labels = PreparedBlocks::new(&blocks(&case["ground_truth"]));
        let predicted = blocks(&case["predicted"]);
        let counts = compare(&labels, &predicted, case["diagnosis_text"].as_str());
        let scores = serde_json::to_value(counts.scores()).expect("scores serialise");
        for (key, want) in case["counts"].as_object().expect("counts") {
            let got = ratio(&counts, key);
            let shown = got.map_or(Value::Null, |r| json!([r.hit as u64, r.of as u64]));
            if shown != *want {
                wrong.push(format!("{name} {key}: got {shown}, want {want}"));
            }
            close(scores[key].as_f64(), &case["expected"][key], tol, name);
        }
        assert_eq!(scores["predicted_blocks"], json!(predicted.len()), "{name}");
        assert_eq!(
            u128::from(counts.scores().predicted_lines),
            counts.line_precision.of
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn constants() {
    let file = fixture("diagnosis_scoring");
    assert_eq!(json!(TOLERANCE_LINES), file["block_tolerance_lines"]);
    assert_eq!(json!(GENERIC_NAMES.as_slice()), file["generic_names"]);
    assert!(GENERIC_NAMES.is_sorted(), "searched by bisection");
}

#[test]
fn path_tables() {
    let file = fixture("diagnosis_scoring");
    for row in list(&file, "path_normalization") {
        let got = path::normalize(text(row, "path"));
        assert_eq!(got, text(row, "normalized"), "{row}");
    }
    for row in list(&file, "path_match") {
        let (a, b) = (text(row, "a"), text(row, "b"));
        assert_eq!(json!(path::paths_match(a, b)), row["match"], "{row}");
        assert_eq!(
            json!(path::paths_match(b, a)),
            row["match"],
            "{row} reversed"
        );
    }
}

#[test]
fn function_tables() {
    let file = fixture("diagnosis_scoring");
    for row in list(&file, "function_canonicalization") {
        let got = FunctionName::parse(text(row, "name")).map_or(String::new(), |f| f.to_string());
        assert_eq!(got, text(row, "canonical"), "{row}");
    }
    for row in list(&file, "function_agreement") {
        let agree = |a: &str, b: &str| {
            FunctionName::parse(a)
                .zip(FunctionName::parse(b))
                .is_some_and(|(a, b)| a.agrees(&b))
        };
        let (a, b) = (text(row, "a"), text(row, "b"));
        assert_eq!(json!(agree(a, b)), row["agree"], "{row}");
        assert_eq!(json!(agree(b, a)), row["agree"], "{row} reversed");
    }
}

#[test]
fn mention_table() {
    for row in list(&fixture("diagnosis_scoring"), "mention") {
        let got = row["function"]
            .as_str()
            .and_then(FunctionName::parse)
            .is_some_and(|f| MentionText::new(text(row, "text")).mentions(&f));
        assert_eq!(json!(got), row["mentioned"], "{row}");
    }
}
