//! Reading `metadata.yaml` so that every mistake in its form is told with its
//! line, not only the first. What the values mean is for the rules to judge.

use std::fmt;

use faultboard_domain::metadata::Metadata;
use faultboard_domain::{ReleaseId, SubsetId, Track};
use serde::Deserialize;
use serde_saphyr::Spanned;

use crate::path::display;

/// One mistake in the form of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormError {
    /// 1-based line; 0 where none is known.
    pub line: u32,
    pub message: String,
    pub fix: String,
}

/// What a field must hold.
#[derive(Clone, Copy)]
enum Kind {
    /// Any plain value; a number stands for its own text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number from 0.
    Whole,
    /// A number from 0.
    Number,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Fields of its own.
    Section(&'static [Field]),
    /// Any keys, each with a plain value.
    Settings,
}

/// One field of the file or of a section of it.
struct Field {
    name: &'static str,
    required: bool,
    kind: Kind,
}

const fn must(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        required: true,
        kind,
    }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        required: false,
        kind,
    }
}

/// The form of the file. The type `Metadata` has the last word; a test keeps
/// the two together.
const FORM: &[Field] = &[
    must("track", Kind::Word(&["repair", "diagnosis", "recovery"])),
    must("subset", Kind::Text),
    must("release", Kind::Text),
    must(
        "agent",
        Kind::Section(&[
            must("name", Kind::Text),
            must("version", Kind::Text),
            may("url", Kind::Text),
            may("open_source", Kind::Bool),
        ]),
    ),
    must(
        "model",
        Kind::Section(&[
            must("name", Kind::Text),
            may("version", Kind::Text),
            may("provider", Kind::Text),
            may("open_weights", Kind::Bool),
            may("settings", Kind::Settings),
        ]),
    ),
    must(
        "submitter",
        Kind::Section(&[
            must("name", Kind::Text),
            may("organisation", Kind::Text),
            must("contact", Kind::Text),
        ]),
    ),
    may("report_url", Kind::Text),
    may("attempts_per_case", Kind::Whole),
    may(
        "budget",
        Kind::Section(&[
            may("max_steps", Kind::Whole),
            may("max_cost_usd", Kind::Number),
            may("max_minutes", Kind::Number),
        ]),
    ),
    must("network", Kind::Word(&["none", "docs-only", "open"])),
    must(
        "declarations",
        Kind::Section(&[
            must("no_original_issues", Kind::Bool),
            must("no_fixes", Kind::Bool),
            must("no_benchmark_access", Kind::Bool),
        ]),
    ),
];

/// A YAML value with the line it stands on.
struct Node {
    line: u32,
    value: Value,
}

enum Value {
    Null,
    Bool,
    Whole(u64),
    Number(f64),
    Text(String),
    List,
    Map(Vec<(Spanned<String>, Node)>),
}

impl Value {
    const fn what(&self) -> &'static str {
        match self {
            Value::Null => "empty",
            Value::Bool => "true or false",
            Value::Whole(_) | Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List => "a list",
            Value::Map(_) => "a section",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(d)?;
        Ok(Node {
            line: u32::try_from(spanned.referenced.line()).unwrap_or(0),
            value: spanned.value,
        })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> serde::de::Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_none<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
                Ok(Value::Bool)
            }
            fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
                Ok(Value::Whole(v))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
                Ok(u64::try_from(v).map_or(Value::Number(-1.0), Value::Whole))
            }
            fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
                Ok(Value::Number(v))
            }
            fn visit_str<E>(self, v: &str) -> Result<Value, E> {
                Ok(Value::Text(v.to_owned()))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut a: A) -> Result<Value, A::Error> {
                while a.next_element::<Node>()?.is_some() {}
                Ok(Value::List)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut a: A) -> Result<Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = a.next_entry()? {
                    entries.push(entry);
                }
                Ok(Value::Map(entries))
            }
        }
        d.deserialize_any(Any)
    }
}

/// Reads the file: the metadata, or every mistake in its form.
pub(crate) fn read(bytes: &[u8]) -> Result<Metadata, Vec<FormError>> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        // The rule on text encodings tells it.
        return Err(Vec::new());
    };
    let yaml_error = |e: &serde_saphyr::Error| FormError {
        line: e
            .location()
            .map_or(0, |l| u32::try_from(l.line()).unwrap_or(0)),
        message: display(&e.without_snippet().to_string()),
        fix: "Correct the file; docs/submissions.md shows a whole one.".to_owned(),
    };
    let node: Node = serde_saphyr::from_str(text).map_err(|e| vec![yaml_error(&e)])?;
    let mut errors = Vec::new();
    section(&node, "", FORM, &mut errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    serde_saphyr::from_str(text).map_err(|e| vec![yaml_error(&e)])
}

/// What a bundle says that it covers.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Scope {
    pub track: Track,
    pub release: ReleaseId,
    pub subset: SubsetId,
    #[serde(default)]
    attempts_per_case: Option<u32>,
}

impl Scope {
    /// How many attempts each case needs.
    pub(crate) fn attempts_wanted(&self) -> u32 {
        self.attempts_per_case
            .unwrap_or(Metadata::usual_attempts(self.track))
    }
}

/// What the file says that the bundle covers, even where its other fields are
/// wrong: so that one report tells of them and of missing attempts alike.
pub(crate) fn scope(bytes: &[u8]) -> Option<Scope> {
    serde_saphyr::from_str(std::str::from_utf8(bytes).ok()?).ok()
}

fn section(node: &Node, path: &str, fields: &[Field], errors: &mut Vec<FormError>) {
    let Value::Map(entries) = &node.value else {
        let name = if path.is_empty() { "the file" } else { path };
        errors.push(FormError {
            line: node.line,
            message: format!("{name} must hold fields, but is {}", node.value.what()),
            fix: format!("Write the fields {} under it.", names(fields)),
        });
        return;
    };
    let full = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    for (key, value) in entries {
        match fields.iter().find(|f| f.name == key.value) {
            Some(field) => check(value, &full(field.name), field, errors),
            None => errors.push(FormError {
                line: u32::try_from(key.referenced.line()).unwrap_or(0),
                message: format!("`{}` is not a known field", full(&display(&key.value))),
                fix: match closest(&key.value, fields) {
                    Some(name) => format!("Did you mean `{name}`? Else take it out."),
                    None => format!("Take it out; known fields here are {}.", names(fields)),
                },
            }),
        }
    }
    for field in fields.iter().filter(|f| f.required) {
        if !entries.iter().any(|(key, _)| key.value == field.name) {
            errors.push(FormError {
                line: node.line,
                message: format!("`{}` is missing", full(field.name)),
                fix: format!("Add `{}`: {}.", full(field.name), wanted(field.kind)),
            });
        }
    }
}

fn names(fields: &[Field]) -> String {
    let quoted: Vec<String> = fields.iter().map(|f| format!("`{}`", f.name)).collect();
    quoted.join(", ")
}

fn wanted(kind: Kind) -> String {
    match kind {
        Kind::Text => "a text".to_owned(),
        Kind::Bool => "true or false".to_owned(),
        Kind::Whole => "a whole number from 0".to_owned(),
        Kind::Number => "a number from 0".to_owned(),
        Kind::Word(words) => format!("one of {}", words.join(", ")),
        Kind::Section(fields) => format!("a section with {}", names(fields)),
        Kind::Settings => "a section of settings, each with a plain value".to_owned(),
    }
}

fn check(node: &Node, path: &str, field: &Field, errors: &mut Vec<FormError>) {
    let value = &node.value;
    if matches!(value, Value::Null) && !field.required {
        return;
    }
    let fine = match (field.kind, value) {
        (Kind::Section(fields), _) => return section(node, path, fields, errors),
        (Kind::Settings, Value::Map(entries)) => {
            for (key, setting) in entries {
                if matches!(setting.value, Value::Null | Value::List | Value::Map(_)) {
                    errors.push(FormError {
                        line: setting.line,
                        message: format!(
                            "the setting `{path}.{}` must be a plain value, but is {}",
                            display(&key.value),
                            setting.value.what()
                        ),
                        fix: "Write a number, a text, true or false.".to_owned(),
                    });
                }
            }
            true
        }
        (Kind::Text, Value::Text(_) | Value::Bool | Value::Whole(_) | Value::Number(_))
        | (Kind::Bool, Value::Bool)
        | (Kind::Whole | Kind::Number, Value::Whole(_)) => true,
        (Kind::Number, Value::Number(n)) => n.is_finite() && *n >= 0.0,
        (Kind::Word(words), Value::Text(text)) => words.contains(&text.as_str()),
        _ => false,
    };
    if !fine {
        let found = match value {
            Value::Text(text) => format!("`{}`", display(text)),
            Value::Whole(n) => format!("`{n}`"),
            Value::Number(n) if *n >= 0.0 => format!("`{n}`"),
            other => other.what().to_owned(),
        };
        errors.push(FormError {
            line: node.line,
            message: format!("`{path}` must be {}, but is {found}", wanted(field.kind)),
            fix: format!("Write {}.", wanted(field.kind)),
        });
    }
}

/// A known field that the unknown one was probably meant to be.
fn closest(key: &str, fields: &[Field]) -> Option<&'static str> {
    let plain = |t: &str| -> String {
        t.chars()
            .filter(|c| c.is_alphanumeric())
            .take(64)
            .flat_map(char::to_lowercase)
            .collect()
    };
    let key = plain(key);
    fields
        .iter()
        .map(|f| (distance(&key, &plain(f.name)), f.name))
        .filter(|(d, _)| *d <= 2)
        .min()
        .map(|(_, name)| name)
}

/// Edits (insert, delete, replace) from one text to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "track: repair
subset: full
release: 2026.1
agent: {name: A, version: 1.10, url: https://a.example, open_source: true}
model: {name: M, version: null, provider: P, open_weights: false, settings: {temperature: 0.2, effort: high, n: 3, t: true}}
submitter: {name: N, organisation: O, contact: n@a.example}
report_url: https://a.example/report
attempts_per_case: 1
budget: {max_steps: 100, max_cost_usd: 2.5, max_minutes: 30}
network: none
declarations: {no_original_issues: true, no_fixes: true, no_benchmark_access: true}
";

    /// The form above and the type `Metadata` must agree in every field.
    #[test]
    fn the_form_knows_every_field_of_the_type() {
        let metadata = read(WHOLE.as_bytes()).unwrap();
        assert_eq!(metadata.agent.version, "1.10");
        let json = serde_json::to_value(&metadata).unwrap();
        fn compare(value: &serde_json::Value, fields: &[Field]) {
            let object = value.as_object().unwrap();
            let mut known: Vec<&str> = fields.iter().map(|f| f.name).collect();
            let mut typed: Vec<&str> = object.keys().map(String::as_str).collect();
            known.sort_unstable();
            typed.sort_unstable();
            assert_eq!(known, typed);
            for field in fields {
                if let Kind::Section(inner) = field.kind {
                    compare(&object[field.name], inner);
                }
            }
        }
        compare(&json, FORM);
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        let text = "track: repare
subset: full
relaese: 2026.1
agent:
  name: A
  colour: red
model: M
submitter: {name: N, contact: n@a.example}
attempts_per_case: -1
network: none
declarations: {no_original_issues: 'yes', no_fixes: true, no_benchmark_access: true}
";
        let errors = read(text.as_bytes()).unwrap_err();
        let told: Vec<(u32, &str)> = errors
            .iter()
            .map(|e| (e.line, e.message.as_str()))
            .collect();
        let has = |line: u32, part: &str| {
            assert!(
                told.iter().any(|(l, m)| *l == line && m.contains(part)),
                "{line} {part}: {told:?}"
            );
        };
        has(1, "`track` must be one of");
        has(3, "`relaese` is not a known field");
        has(1, "`release` is missing");
        has(6, "`agent.colour`");
        has(5, "`agent.version` is missing");
        has(7, "model must hold fields");
        has(9, "`attempts_per_case` must be a whole number");
        has(11, "`declarations.no_original_issues`");
        assert_eq!(told.len(), 8, "{told:?}");
        assert!(errors.iter().any(|e| e.fix.contains("`release`?")));
    }

    #[test]
    fn broken_yaml_is_one_error_with_its_line() {
        for text in ["a: [", "", "a: 1\na: 2\n", "- x\n", "\u{0}"] {
            let errors = read(text.as_bytes()).unwrap_err();
            assert!(!errors.is_empty(), "{text:?}");
        }
        assert_eq!(read(b"a: 1\na: 2\n").unwrap_err()[0].line, 2);
        // Aliases that multiply must end in an error, not in gigabytes.
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for i in 1..12 {
            let refs = vec![format!("*a{}", i - 1); 9].join(",");
            bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
        }
        assert!(read(bomb.as_bytes()).is_err());
    }
}
