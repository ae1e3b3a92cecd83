//! Costs of a session under the names that other tools give them, as the
//! bundle's `session_stats.json`. It never invents a number.

use serde_json::{Map, Value};

/// Our names, each with the names that others use.
const NAMES: [(&str, &[&str]); 6] = [
    ("calls", &["calls", "api_calls", "n_calls", "num_api_calls"]),
    (
        "input_tokens",
        &[
            "input_tokens",
            "n_input_tokens",
            "prompt_tokens",
            "total_prompt_tokens",
            "tokens_sent",
        ],
    ),
    (
        "output_tokens",
        &[
            "output_tokens",
            "n_output_tokens",
            "completion_tokens",
            "total_completion_tokens",
            "tokens_received",
        ],
    ),
    (
        "cached_tokens",
        &[
            "cached_tokens",
            "n_cache_tokens",
            "cache_read_tokens",
            "total_cached_tokens",
        ],
    ),
    (
        "cost_usd",
        &[
            "cost_usd",
            "cost",
            "total_cost",
            "total_cost_usd",
            "instance_cost",
        ],
    ),
    (
        "seconds",
        &[
            "seconds",
            "duration",
            "duration_seconds",
            "elapsed_seconds",
            "wall_seconds",
        ],
    ),
];

/// The file, if the object names any of the costs.
pub(super) fn stats(value: &Value) -> Option<Vec<u8>> {
    let object = value.as_object()?;
    let mut out = Map::new();
    for (ours, theirs) in NAMES {
        let known = theirs.iter().find_map(|name| {
            let value = object.get(*name)?;
            let whole = ours != "cost_usd" && ours != "seconds";
            let good = if whole {
                value.as_u64().is_some()
            } else {
                value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0)
            };
            good.then(|| value.clone())
        });
        if let Some(value) = known {
            out.insert(ours.to_owned(), value);
        }
    }
    (!out.is_empty()).then(|| Value::Object(out).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_names_are_known_and_rubbish_is_left_out() {
        let value = serde_json::json!({
            "api_calls": 7, "n_input_tokens": 10, "n_output_tokens": null, "cost": 0.5, "seconds": -1, "x": 3
        });
        let text = stats(&value).unwrap();
        let read: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            read,
            serde_json::json!({"calls": 7, "input_tokens": 10, "cost_usd": 0.5})
        );
        assert!(crate::SessionStats::parse(&text).is_ok());
        assert_eq!(stats(&serde_json::json!({"n_input_tokens": null})), None);
        assert_eq!(stats(&serde_json::json!([])), None);
    }
}
