//! What commands print. Results go to the standard output, remarks and progress
//! beside it; a reader that went away is no error.

use std::fmt::Display;
use std::io::Write as _;

/// Prints a line of the result.
pub(super) fn line(text: impl Display) {
    // The reader may have closed the pipe (`| head`): nothing is left to do.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints a text of the result as it is.
pub(super) fn text(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Prints the result as JSON.
pub(super) fn json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(text),
        Err(e) => aside(format_args!("the result can't be written as JSON: {e}")),
    }
}

/// Prints a remark, beside the result.
pub(super) fn aside(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Text from outside without what could steer a terminal.
pub(super) fn tame(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

/// A JSON value as an indented outline for people.
pub(super) fn outline(value: &serde_json::Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn write(value: &serde_json::Value, depth: usize, out: &mut String) {
    use serde_json::Value;
    let pad = "  ".repeat(depth);
    let scalar = |v: &Value| match v {
        Value::Null => Some("-".to_owned()),
        Value::Bool(b) => Some(if *b { "yes" } else { "no" }.to_owned()),
        // Four decimals are what the boards rest on; JSON has them all.
        Value::Number(n) if n.is_f64() => n.as_f64().map(|f| format!("{f:.4}")),
        Value::Number(n) => Some(n.to_string()),
        Value::String(s) => Some(tame(s)),
        Value::Array(a) if a.is_empty() => Some("none".to_owned()),
        Value::Object(o) if o.is_empty() => Some("none".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Value::Object(pairs) => {
            for (key, inner) in pairs {
                let key = tame(&key.replace('_', " "));
                match scalar(inner) {
                    Some(text) => out.push_str(&format!("{pad}{key}: {text}\n")),
                    None => {
                        out.push_str(&format!("{pad}{key}:\n"));
                        write(inner, depth + 1, out);
                    }
                }
            }
        }
        Value::Array(items) => {
            for inner in items {
                match scalar(inner) {
                    Some(text) => out.push_str(&format!("{pad}- {text}\n")),
                    None => {
                        out.push_str(&format!("{pad}-\n"));
                        write(inner, depth + 1, out);
                    }
                }
            }
        }
        other => out.push_str(&format!("{pad}{}\n", scalar(other).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_indented_and_tame() {
        let value =
            serde_json::json!({"a_b": 1, "c": [{"d": "x\u{1b}[31m"}], "e": [], "f": 0.123456});
        assert_eq!(
            outline(&value),
            "a b: 1\nc:\n  -\n    d: x\u{fffd}[31m\ne: none\nf: 0.1235\n"
        );
    }
}
