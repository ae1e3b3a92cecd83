//! Checks of JSON documents that report every error at once, each with its JSON
//! pointer. Reading the documents as types is `domain`'s and `stats`' work.

use faultboard_domain::Diagnosis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::path::display;

/// One thing in a JSON document that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaError {
    /// JSON pointer of the value; empty for the whole document.
    pub pointer: String,
    /// What is wrong, in one sentence.
    pub message: String,
}

/// The most errors that are listed of one document.
const MOST: usize = 50;

pub(crate) struct Errors(Vec<SchemaError>);

impl Errors {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn add(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < MOST {
            self.0.push(SchemaError {
                pointer: pointer.into(),
                message: message.into(),
            });
        } else if self.0.len() == MOST {
            self.0.push(SchemaError {
                pointer: String::new(),
                message: format!("more than {MOST} errors; the rest is not listed"),
            });
        }
    }

    pub(crate) fn into_vec(self) -> Vec<SchemaError> {
        self.0
    }
}

/// A key as a part of a JSON pointer.
pub(crate) fn escape(key: &str) -> String {
    display(key).replace('~', "~0").replace('/', "~1")
}

/// What a value is, for messages.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads JSON text, or says where it breaks.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, SchemaError> {
    serde_json::from_slice(bytes).map_err(|e| SchemaError {
        pointer: String::new(),
        message: format!("no JSON: {}", display(&e.to_string())),
    })
}

/// Every error of a `diagnosis.json`; the diagnosis when there is none.
pub fn check_diagnosis(bytes: &[u8]) -> Result<Diagnosis, Vec<SchemaError>> {
    let value = read(bytes).map_err(|e| vec![e])?;
    let mut errors = Errors::new();
    if let Some(object) = object(&value, "", &mut errors) {
        text(object, "", "bug_cause_description", true, &mut errors);
        match object.get("buggy_blocks") {
            None => errors.add("", "`buggy_blocks` is missing"),
            Some(Value::Array(blocks)) => {
                for (i, value) in blocks.iter().enumerate() {
                    block(value, &format!("/buggy_blocks/{i}"), &mut errors);
                }
            }
            Some(other) => errors.add(
                "/buggy_blocks",
                format!("must be a list of blocks, but is {}", kind(other)),
            ),
        }
    }
    let errors = errors.into_vec();
    if !errors.is_empty() {
        return Err(errors);
    }
    // The type has the last word: it also knows the bound on blocks and repeated keys.
    Diagnosis::parse(bytes).map_err(|e| {
        vec![SchemaError {
            pointer: String::new(),
            message: display(&e.to_string()),
        }]
    })
}

fn object<'v>(
    value: &'v Value,
    pointer: &str,
    errors: &mut Errors,
) -> Option<&'v Map<String, Value>> {
    if value.as_object().is_none() {
        errors.add(
            pointer,
            format!("must be an object, but is {}", kind(value)),
        );
    }
    value.as_object()
}

fn text(
    object: &Map<String, Value>,
    pointer: &str,
    key: &str,
    required: bool,
    errors: &mut Errors,
) {
    match object.get(key) {
        Some(Value::String(_)) => {}
        None | Some(Value::Null) if !required => {}
        None => errors.add(pointer, format!("`{key}` is missing")),
        Some(other) => errors.add(
            format!("{pointer}/{key}"),
            format!("must be a text, but is {}", kind(other)),
        ),
    }
}

fn block(value: &Value, pointer: &str, errors: &mut Errors) {
    let Some(block) = object(value, pointer, errors) else {
        return;
    };
    text(block, pointer, "file", true, errors);
    text(block, pointer, "function", false, errors);
    text(block, pointer, "bug_contribution", false, errors);
    text(block, pointer, "patch", false, errors);
    for key in ["start_line", "end_line"] {
        let fine = match block.get(key) {
            Some(Value::Number(n)) => n.as_i64().is_some(),
            Some(Value::String(s)) => s.trim().parse::<i64>().is_ok(),
            _ => false,
        };
        if fine {
            continue;
        }
        match block.get(key) {
            None => errors.add(pointer, format!("`{key}` is missing")),
            Some(value) => errors.add(
                format!("{pointer}/{key}"),
                format!(
                    "must be a whole number, or a text that holds one, but is `{}`",
                    display(&value.to_string())
                        .chars()
                        .take(60)
                        .collect::<String>()
                ),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(text: &str) -> Vec<String> {
        check_diagnosis(text.as_bytes())
            .unwrap_err()
            .into_iter()
            .map(|e| e.pointer)
            .collect()
    }

    #[test]
    fn a_good_diagnosis_passes() {
        let text = r#"{"bug_cause_description":"x","buggy_blocks":[
            {"file":"a.rs","function":"f","start_line":"10","end_line":12,"patch":null}]}"#;
        assert_eq!(
            check_diagnosis(text.as_bytes()).unwrap().buggy_blocks[0].start_line,
            10
        );
        assert!(check_diagnosis(br#"{"bug_cause_description":"","buggy_blocks":[]}"#).is_ok());
    }

    #[test]
    fn every_error_is_listed_with_its_pointer() {
        let text = r#"{"bug_cause_description":7,"buggy_blocks":[
            {"file":"a","start_line":1.5,"end_line":"x"}, 3, {"function":[],"start_line":1}]}"#;
        assert_eq!(
            pointers(text),
            [
                "/bug_cause_description",
                "/buggy_blocks/0/start_line",
                "/buggy_blocks/0/end_line",
                "/buggy_blocks/1",
                "/buggy_blocks/2",
                "/buggy_blocks/2/function",
                "/buggy_blocks/2",
            ]
        );
        assert_eq!(pointers("[]"), [""]);
        assert_eq!(pointers("{"), [""]);
    }

    #[test]
    fn a_long_list_of_errors_is_cut() {
        let text = format!(
            r#"{{"bug_cause_description":"","buggy_blocks":[{}]}}"#,
            vec!["1"; 500].join(",")
        );
        assert_eq!(pointers(&text).len(), MOST + 1);
    }
}
