//! A YAML document as a tree that remembers the line of every key and value,
//! so that a check can name them all. Reads one bounded document; never follows
//! an include, and never decides what a value means.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// The largest YAML file that is read, in bytes.
pub const MAX_YAML_BYTES: usize = 256 * 1024;

/// A value with its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// 1-based line of the value.
    pub line: u64,
    /// The value.
    pub value: Value,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys (with their lines) and values, in file order.
    Map(Vec<(String, u64, Node)>),
}

impl Value {
    /// What the value is, in words for an author.
    pub fn describe(&self) -> String {
        match self {
            Value::Null => "nothing".to_owned(),
            Value::Bool(v) => format!("`{v}`"),
            Value::Int(v) => format!("the number {v}"),
            Value::Float(v) => format!("the number {v}"),
            Value::Text(t) => format!("`{}`", t.chars().take(60).collect::<String>()),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Map(_) => "a set of fields".to_owned(),
        }
    }
}

/// A mistake in the document itself, before any field is looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct YamlError {
    /// 1-based line; 1 where none is known.
    pub line: u64,
    /// What is wrong.
    pub message: String,
}

/// Reads one document.
pub fn parse(bytes: &[u8]) -> Result<Node, YamlError> {
    let fault = |line, message: String| YamlError { line, message };
    if bytes.len() > MAX_YAML_BYTES {
        return Err(fault(
            1,
            format!(
                "the file has {} bytes, more than {MAX_YAML_BYTES}",
                bytes.len()
            ),
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = &bytes[..e.valid_up_to()];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count() as u64;
        fault(line, "the file is not UTF-8".to_owned())
    })?;
    match serde_saphyr::from_str::<Spanned<Raw>>(text) {
        Ok(raw) => Ok(node(raw)),
        Err(e) => Err(yaml_error(&e)),
    }
}

/// The line and the plain message of the library's error.
pub(crate) fn yaml_error(e: &serde_saphyr::Error) -> YamlError {
    let line = e.location().map_or(1, |l| l.line());
    let message = e.without_snippet().to_string();
    YamlError {
        line: line.max(1),
        message: message
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(300)
            .collect(),
    }
}

fn node(raw: Spanned<Raw>) -> Node {
    Node {
        line: raw.referenced.line(),
        value: raw.value.0,
    }
}

struct Raw(Value);

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(RawVisitor).map(Raw)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Value, D::Error> {
        d.deserialize_any(RawVisitor)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::Int(v.into()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::Int(v.into()))
    }

    fn visit_i128<E>(self, v: i128) -> Result<Value, E> {
        Ok(Value::Int(v))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(Value::Float(v))
    }

    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::Text(v.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Spanned<Raw>>()? {
            items.push(node(item));
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let value = map.next_value::<Spanned<Raw>>()?;
            entries.push((key.value.clone(), key.referenced.line(), node(value)));
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_value_knows_its_line() {
        let doc = parse(b"a: 1\nb:\n  - x\n  - c: true\n").unwrap();
        let Value::Map(top) = doc.value else {
            panic!("a map")
        };
        assert_eq!(top[0].1, 1);
        assert_eq!(top[1].1, 2);
        let Value::List(items) = &top[1].2.value else {
            panic!("a list")
        };
        assert_eq!(items[0].line, 3);
        let Value::Map(inner) = &items[1].value else {
            panic!("a map")
        };
        assert_eq!(
            (inner[0].1, inner[0].2.value.clone()),
            (4, Value::Bool(true))
        );
    }

    #[test]
    fn what_is_no_document_is_an_error_with_a_line() {
        assert_eq!(parse(b"a: 1\na: 2\n").unwrap_err().line, 2);
        assert_eq!(parse(b"a: 1\nb: \xff\n").unwrap_err().line, 2);
        assert!(parse(b"a: [1,\n").is_err());
        assert!(parse(&vec![b'#'; MAX_YAML_BYTES + 1]).is_err());
    }

    #[test]
    fn bombs_end_in_an_error() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for i in 1..12 {
            let refs = vec![format!("*a{}", i - 1); 9].join(", ");
            bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
        }
        assert!(parse(bomb.as_bytes()).is_err());
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
