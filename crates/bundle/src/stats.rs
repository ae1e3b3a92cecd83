//! `session_stats.json`: what an attempt's run cost by its own account. Nothing
//! here is ever a score.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{Errors, SchemaError, kind, read};

/// What a run used, as far as the bundle tells. Unknown keys are passed over:
/// scaffolds write all kinds of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionStats {
    /// Calls of the model.
    pub calls: Option<u64>,
    /// Prompt tokens, cached ones included.
    pub input_tokens: Option<u64>,
    /// Completion tokens.
    pub output_tokens: Option<u64>,
    /// Prompt tokens that came from a cache.
    pub cached_tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Seconds from start to end.
    pub seconds: Option<f64>,
}

impl SessionStats {
    /// Reads the file; every error with its JSON pointer.
    pub fn parse(bytes: &[u8]) -> Result<Self, Vec<SchemaError>> {
        let value = read(bytes).map_err(|e| vec![e])?;
        let mut errors = Errors::new();
        let Some(object) = value.as_object() else {
            errors.add("", format!("must be an object, but is {}", kind(&value)));
            return Err(errors.into_vec());
        };
        let mut whole = |key: &str| match object.get(key) {
            None | Some(Value::Null) => None,
            Some(v) => {
                let n = v.as_u64();
                if n.is_none() {
                    errors.add(
                        format!("/{key}"),
                        format!("must be a whole number from 0, but is {}", told(v)),
                    );
                }
                n
            }
        };
        let stats = Self {
            calls: whole("calls"),
            input_tokens: whole("input_tokens"),
            output_tokens: whole("output_tokens"),
            cached_tokens: whole("cached_tokens"),
            ..Self::default()
        };
        let mut number = |key: &str| match object.get(key) {
            None | Some(Value::Null) => None,
            Some(v) => {
                let n = v.as_f64().filter(|n| n.is_finite() && *n >= 0.0);
                if n.is_none() {
                    errors.add(
                        format!("/{key}"),
                        format!("must be a number from 0, but is {}", told(v)),
                    );
                }
                n
            }
        };
        let stats = Self {
            cost_usd: number("cost_usd"),
            seconds: number("seconds"),
            ..stats
        };
        let errors = errors.into_vec();
        if errors.is_empty() {
            Ok(stats)
        } else {
            Err(errors)
        }
    }
}

fn told(value: &Value) -> String {
    match value {
        Value::Number(n) => n.to_string(),
        other => kind(other).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_are_optional_and_others_ignored() {
        assert_eq!(SessionStats::parse(b"{}").unwrap(), SessionStats::default());
        let stats =
            SessionStats::parse(br#"{"calls":12,"cost_usd":0.5,"seconds":null,"model":"m"}"#)
                .unwrap();
        assert_eq!(
            (stats.calls, stats.cost_usd, stats.seconds),
            (Some(12), Some(0.5), None)
        );
    }

    #[test]
    fn every_wrong_value_is_listed() {
        let errors =
            SessionStats::parse(br#"{"calls":-1,"input_tokens":1.5,"cost_usd":"1","seconds":-2}"#)
                .unwrap_err();
        let pointers: Vec<&str> = errors.iter().map(|e| e.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            ["/calls", "/input_tokens", "/cost_usd", "/seconds"]
        );
        assert!(SessionStats::parse(b"[1]").is_err());
        assert!(SessionStats::parse(b"").is_err());
    }
}
