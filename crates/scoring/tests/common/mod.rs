//! Reading of the reference values, shared by the tests of this crate.

#![allow(dead_code, reason = "each test binary uses a part of these helpers")]

use std::{fs, path::PathBuf};

use faultboard_domain::{Block, Diagnosis, diagnosis::DiagnosisError};
use serde_json::{Value, json};

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

/// |got - want| <= tolerance * max(1, |want|), where null stands for None.
#[track_caller]
pub(crate) fn close(got: Option<f64>, want: &Value, tolerance: f64, what: &str) {
    match got {
        Some(got) => {
            assert!(!want.is_null(), "{what}: got {got}, want null");
            let want = number(want);
            assert!(
                (got - want).abs() <= tolerance * want.abs().max(1.0),
                "{what}: got {got}, want {want}"
            );
        }
        None => assert!(want.is_null(), "{what}: got none, want {want}"),
    }
}

/// Reads blocks the way an uploaded diagnosis is read.
pub(crate) fn diagnosis(blocks: &Value) -> Result<Diagnosis, DiagnosisError> {
    let document = json!({"bug_cause_description": "", "buggy_blocks": blocks});
    Diagnosis::parse(document.to_string().as_bytes())
}

pub(crate) fn blocks(blocks: &Value) -> Vec<Block> {
    diagnosis(blocks).expect("valid blocks").buggy_blocks
}
