//! Small lenient looks into JSON values: what is missing or of another type is none.

use serde_json::Value;
use time::format_description::well_known::Rfc3339;

/// The value under a chain of keys.
pub(crate) fn at<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().try_fold(value, |v, key| v.get(key))
}

/// The text under a chain of keys.
pub(crate) fn text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    at(value, keys)?.as_str()
}

/// The whole number under a chain of keys; numbers written as text count, as
/// OTLP writes them.
pub(crate) fn number(value: &Value, keys: &[&str]) -> Option<u64> {
    match at(value, keys)? {
        Value::Number(n) => n.as_u64().or_else(|| {
            let f = n.as_f64()?;
            // A float that a count could be; the cast saturates.
            (f >= 0.0 && f.fract() == 0.0).then_some(f as u64)
        }),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    }
}

/// The whole number, maybe below zero, under a chain of keys.
pub(crate) fn integer(value: &Value, keys: &[&str]) -> Option<i64> {
    let v = at(value, keys)?;
    v.as_i64().or_else(|| v.as_str()?.trim().parse().ok())
}

/// The finite number under a chain of keys.
pub(crate) fn float(value: &Value, keys: &[&str]) -> Option<f64> {
    let v = at(value, keys)?;
    v.as_f64()
        .or_else(|| v.as_str()?.trim().parse().ok())
        .filter(|f: &f64| f.is_finite())
}

/// What a message says: text as it is, lists of content parts joined by line
/// ends, pictures named but not shown, anything else as JSON.
pub(crate) fn prose(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        Value::Array(parts) => {
            let mut out = String::new();
            for part in parts {
                let piece = part_text(part);
                if piece.is_empty() {
                    continue;
                }
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(&piece);
            }
            out
        }
        Value::Object(_) => part_text(value),
        other => other.to_string(),
    }
}

fn part_text(part: &Value) -> String {
    let Value::Object(map) = part else {
        return prose(part);
    };
    for key in ["text", "thinking", "reasoning", "content", "output"] {
        match map.get(key) {
            Some(Value::String(s)) => return s.clone(),
            Some(list @ Value::Array(_)) => return prose(list),
            _ => {}
        }
    }
    match map.get("type").and_then(Value::as_str) {
        Some(kind) if kind.contains("image") => "[image]".to_owned(),
        Some(kind) if kind.contains("audio") => "[audio]".to_owned(),
        _ => part.to_string(),
    }
}

/// Compact JSON of a tool's input; text as it is.
pub(crate) fn command(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// A value, or the value that its text holds if that text is JSON.
pub(crate) fn unwrapped(value: &Value) -> Value {
    match value {
        Value::String(s) if s.trim_start().starts_with(['{', '[', '"']) => {
            serde_json::from_str(s).unwrap_or_else(|_| value.clone())
        }
        other => other.clone(),
    }
}

/// Seconds since 1970 of an RFC 3339 time, or of one without a zone, taken as UTC.
pub(crate) fn instant(text: &str) -> Option<f64> {
    let text = text.trim();
    let parsed = time::OffsetDateTime::parse(text, &Rfc3339)
        .or_else(|_| time::OffsetDateTime::parse(&format!("{text}Z"), &Rfc3339))
        .ok()?;
    // Microseconds of any year of four digits fit a double exactly enough.
    Some((parsed.unix_timestamp_nanos() / 1_000) as f64 / 1e6)
}

/// The time under a chain of keys, as seconds since 1970; numbers are seconds.
pub(crate) fn moment(value: &Value, keys: &[&str]) -> Option<f64> {
    match at(value, keys)? {
        Value::String(s) => instant(s),
        Value::Number(n) => n.as_f64().filter(|f| f.is_finite()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn prose_joins_parts_and_names_pictures() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "image", "data": "AAAA"}, "b"]);
        assert_eq!(prose(&parts), "a\n[image]\nb");
        assert_eq!(prose(&Value::Null), "");
        assert_eq!(prose(&json!({"x": 1})), "{\"x\":1}");
    }

    #[test]
    fn times_with_and_without_a_zone() {
        assert_eq!(instant("1970-01-01T00:00:01.5Z"), Some(1.5));
        assert_eq!(instant("1970-01-01T01:00:00+01:00"), Some(0.0));
        assert_eq!(instant("1970-01-01T00:00:02"), Some(2.0));
        assert_eq!(instant("yesterday"), None);
    }

    #[test]
    fn numbers_as_text_count() {
        assert_eq!(number(&json!({"a": {"b": "12"}}), &["a", "b"]), Some(12));
        assert_eq!(number(&json!({"a": -1}), &["a"]), None);
        assert_eq!(number(&json!({"a": 2.0}), &["a"]), Some(2));
    }
}
