//! Reading of the reference values, shared by the tests of this crate.

#![allow(dead_code, reason = "each test binary uses a part of these helpers")]

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;

/// Loads one fixture file from the folder that FAULTBOARD_FIXTURES names,
/// else from the copy in the repository.
pub(crate) fn fixture(name: &str) -> Value {
    let folder = std::env::var_os("FAULTBOARD_FIXTURES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference"),
        PathBuf::from,
    );
    let path = folder.join(format!("{name}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_else(|| panic!("{key} is no list"))
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} is no text"))
}

pub(crate) fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn count(value: &Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no count"))
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("{value} is no list"))
        .iter()
        .map(number)
        .collect()
}

/// |got - want| <= tolerance * max(1, |want|).
#[track_caller]
pub(crate) fn close(got: f64, want: &Value, tolerance: f64, what: &str) {
    let want = number(want);
    assert!(
        (got - want).abs() <= tolerance * want.abs().max(1.0),
        "{what}: got {got}, want {want}"
    );
}

/// As `close`, where null stands for None.
#[track_caller]
pub(crate) fn close_or_null(got: Option<f64>, want: &Value, tolerance: f64, what: &str) {
    match got {
        Some(got) => {
            assert!(!want.is_null(), "{what}: got {got}, want null");
            close(got, want, tolerance, what);
        }
        None => assert!(want.is_null(), "{what}: got none, want {want}"),
    }
}

#[track_caller]
pub(crate) fn close_list(got: &[f64], want: &Value, tolerance: f64, what: &str) {
    let want = want
        .as_array()
        .unwrap_or_else(|| panic!("{what}: {want} is no list"));
    assert_eq!(got.len(), want.len(), "{what}: lengths");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        close(*g, w, tolerance, &format!("{what}[{i}]"));
    }
}

#[track_caller]
pub(crate) fn interval(
    got: Option<faultboard_stats::bootstrap::Interval>,
    want: &Value,
    tolerance: f64,
    what: &str,
) {
    match got {
        Some(i) => {
            assert!(!want.is_null(), "{what}: got {i:?}, want null");
            close_list(&[i.low, i.high], want, tolerance, what);
        }
        None => assert!(want.is_null(), "{what}: got none, want {want}"),
    }
}

/// Per-bug means of `[{bug, scores}]`.
pub(crate) fn bug_means(input: &[Value]) -> BTreeMap<String, f64> {
    input
        .iter()
        .map(|bug| {
            let scores = numbers(&bug["scores"]);
            let mean = faultboard_stats::summary::mean(&scores).expect("a bug has scores");
            (text(bug, "bug").to_owned(), mean)
        })
        .collect()
}

/// A string of 0 and 1 as values.
pub(crate) fn bits(outcomes: &str) -> Vec<f64> {
    outcomes
        .chars()
        .map(|c| f64::from(c.to_digit(2).expect("0 or 1")))
        .collect()
}
