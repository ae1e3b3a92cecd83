//! A diagnosis: what an attempt says caused the failure, as suspected code blocks.

use serde::{Deserialize, Serialize};

/// The most blocks that a diagnosis may list.
pub const MAX_BLOCKS: usize = 10_000;

/// A range of lines in a file, half-open, 1-based; labels and predictions alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// Path in the faulty tree.
    pub file: String,
    /// The function, as its language writes it; may be empty, absent or null
    /// (a block of a configuration file has none).
    #[serde(default, deserialize_with = "text_or_null")]
    pub function: String,
    /// First line.
    #[serde(deserialize_with = "line_number")]
    pub start_line: i64,
    /// The line after the last one.
    #[serde(deserialize_with = "line_number")]
    pub end_line: i64,
    /// What the block contributes to the bug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bug_contribution: Option<String>,
    /// A suggested change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// The content of a `diagnosis.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The cause in words.
    pub bug_cause_description: String,
    /// The suspected blocks; empty is valid and scores zero.
    pub buggy_blocks: Vec<Block>,
}

/// Why a text is no diagnosis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct DiagnosisError {
    /// What is wrong, naming the field where that is known.
    pub message: String,
    /// 1-based line in the file.
    pub line: usize,
    /// 1-based column.
    pub column: usize,
}

impl Diagnosis {
    /// Reads a `diagnosis.json`. Line numbers may be integers or texts of an
    /// integer with optional sign and outer spaces (rule L4); anything else is an error.
    pub fn parse(bytes: &[u8]) -> Result<Self, DiagnosisError> {
        let d: Diagnosis = serde_json::from_slice(bytes).map_err(|e| DiagnosisError {
            message: e
                .to_string()
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned(),
            line: e.line(),
            column: e.column(),
        })?;
        if d.buggy_blocks.len() > MAX_BLOCKS {
            return Err(DiagnosisError {
                message: format!(
                    "buggy_blocks lists {} blocks, more than {MAX_BLOCKS}",
                    d.buggy_blocks.len()
                ),
                line: 1,
                column: 1,
            });
        }
        Ok(d)
    }
}

fn text_or_null<'de, D: serde::Deserializer<'de>>(d: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(d)?.unwrap_or_default())
}

fn line_number<'de, D: serde::Deserializer<'de>>(d: D) -> Result<i64, D::Error> {
    struct LineVisitor;
    impl serde::de::Visitor<'_> for LineVisitor {
        type Value = i64;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a line number (an integer, or a text holding one)")
        }
        fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<i64, E> {
            Ok(v)
        }
        fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<i64, E> {
            i64::try_from(v)
                .map_err(|_| E::invalid_value(serde::de::Unexpected::Unsigned(v), &self))
        }
        fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<i64, E> {
            v.trim()
                .parse()
                .map_err(|_| E::invalid_value(serde::de::Unexpected::Str(v), &self))
        }
    }
    d.deserialize_any(LineVisitor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_may_be_texts_but_not_floats() {
        let ok = br#"{"bug_cause_description":"x","buggy_blocks":[{"file":"a","function":"f","start_line":" +7 ","end_line":9}]}"#;
        assert_eq!(Diagnosis::parse(ok).unwrap().buggy_blocks[0].start_line, 7);
        for bad in ["1.0", "null", "true", "\"7a\"", "\"\"", "1e3"] {
            let text = format!(
                r#"{{"bug_cause_description":"x","buggy_blocks":[{{"file":"a","start_line":{bad},"end_line":9}}]}}"#
            );
            assert!(Diagnosis::parse(text.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let deep = "[".repeat(100_000);
        assert!(Diagnosis::parse(deep.as_bytes()).is_err());
    }
}
