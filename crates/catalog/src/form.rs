//! Forms: what the fields of a YAML file must be, as data. Checking a document
//! against its form finds every mistake, each with its line and with what would
//! be allowed. A form knows the shape of values, never how they depend on each other.

use faultboard_domain::{IdError, Problem};

use crate::yaml::{Node, Value};

/// What a field must hold.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// One line of text, not empty, at most this many characters.
    Line(usize),
    /// Text of any number of lines, which may be empty.
    Text(usize),
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A whole number between these, both included.
    Int(i128, i128),
    /// A number between these, both included.
    Number(f64, f64),
    /// Text that a function accepts; else it says what would be allowed.
    Checked(fn(&str) -> Result<(), String>),
    /// A list with at least this many items, each of this kind, none twice.
    List(usize, &'static Kind),
    /// Fields of its own.
    Section(&'static [Field]),
    /// Fields that depend on the word of the field `kind`.
    Variant(&'static [(&'static str, &'static [Field])]),
    /// Any keys that the function accepts, each with a value of this kind.
    Table(fn(&str) -> Result<(), String>, &'static Kind),
}

/// One field.
pub(crate) struct Field {
    /// Its key.
    pub name: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// What it holds.
    pub kind: Kind,
}

/// A field that must be there.
pub(crate) const fn must(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        required: true,
        kind,
    }
}

/// A field that may be left out or empty.
pub(crate) const fn may(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        required: false,
        kind,
    }
}

/// Turns an identifier's parser into what [`Kind::Checked`] wants.
pub(crate) fn id<T>(parsed: Result<T, IdError>) -> Result<(), String> {
    parsed
        .map(drop)
        .map_err(|e| format!("{}: {}", e.kind, e.rule))
}

/// Checks a document; `path` is the file's name in the problems.
pub(crate) fn check(path: &str, node: &Node, fields: &[Field], out: &mut Vec<Problem>) {
    Checker { path, out }.section("", node, fields, &[]);
}

struct Checker<'a> {
    path: &'a str,
    out: &'a mut Vec<Problem>,
}

impl Checker<'_> {
    fn say(&mut self, line: u64, message: String, fix: String) {
        self.out.push(Problem::error(
            format!("{}:{line}", self.path),
            "schema",
            message,
            fix,
        ));
    }

    fn wrong(&mut self, at: &str, node: &Node, allowed: &str) {
        let message = format!("`{at}` is {}", node.value.describe());
        self.say(node.line, message, format!("allowed: {allowed}"));
    }

    fn section(&mut self, at: &str, node: &Node, fields: &[Field], also: &[&str]) {
        let Value::Map(entries) = &node.value else {
            return self.wrong(
                if at.is_empty() { "the file" } else { at },
                node,
                &format!("the fields {}", names(fields)),
            );
        };
        for (key, line, value) in entries {
            match fields.iter().find(|f| f.name == key) {
                Some(f) if !f.required && value.value == Value::Null => {}
                Some(f) => self.value(&join(at, key), value, f.kind),
                None if also.contains(&key.as_str()) => {}
                None => {
                    let message = format!("unknown field `{}`", join(at, key));
                    self.say(*line, message, format!("allowed: {}", names(fields)));
                }
            }
        }
        for f in fields {
            if f.required && !entries.iter().any(|(key, ..)| key == f.name) {
                let message = format!("field `{}` is missing", join(at, f.name));
                self.say(node.line, message, format!("allowed: {}", f.kind.allowed()));
            }
        }
    }

    fn value(&mut self, at: &str, node: &Node, kind: Kind) {
        let good = match (kind, &node.value) {
            (Kind::Line(max), Value::Text(t)) => {
                !t.trim().is_empty() && !t.contains('\n') && t.chars().count() <= max
            }
            (Kind::Text(max), Value::Text(t)) => t.len() <= max,
            (Kind::Word(words), Value::Text(t)) => words.contains(&t.as_str()),
            (Kind::Bool, Value::Bool(_)) => true,
            (Kind::Int(min, max), Value::Int(v)) => (min..=max).contains(v),
            (Kind::Number(min, max), Value::Float(v)) => (min..=max).contains(v),
            #[expect(
                clippy::cast_precision_loss,
                reason = "bounds are small; far larger values are out of them anyway"
            )]
            (Kind::Number(min, max), Value::Int(v)) => (min..=max).contains(&(*v as f64)),
            (Kind::Checked(accepts), Value::Text(t)) => match accepts(t) {
                Ok(()) => true,
                Err(allowed) => return self.wrong(at, node, &allowed),
            },
            (Kind::List(least, of), Value::List(items)) => {
                for (i, item) in items.iter().enumerate() {
                    let place = format!("{at}[{i}]");
                    if items[..i].iter().any(|earlier| earlier.value == item.value) {
                        self.say(
                            item.line,
                            format!("`{place}` repeats {}", item.value.describe()),
                            "name each once".to_owned(),
                        );
                    }
                    self.value(&place, item, *of);
                }
                items.len() >= least
            }
            (Kind::Section(fields), Value::Map(_)) => return self.section(at, node, fields, &[]),
            (Kind::Variant(variants), Value::Map(entries)) => {
                return self.variant(at, node, entries, variants);
            }
            (Kind::Table(accepts, of), Value::Map(entries)) => {
                for (key, line, value) in entries {
                    if let Err(allowed) = accepts(key) {
                        self.say(
                            *line,
                            format!("`{key}` in `{at}` is not a valid key"),
                            format!("allowed: {allowed}"),
                        );
                    }
                    self.value(&join(at, key), value, *of);
                }
                true
            }
            _ => false,
        };
        if !good {
            self.wrong(at, node, &kind.allowed());
        }
    }

    fn variant(
        &mut self,
        at: &str,
        node: &Node,
        entries: &[(String, u64, Node)],
        variants: &[(&str, &'static [Field])],
    ) {
        let words: Vec<&str> = variants.iter().map(|(w, _)| *w).collect();
        let Some((_, _, tag)) = entries.iter().find(|(key, ..)| key == "kind") else {
            return self.say(
                node.line,
                format!("field `{}` is missing", join(at, "kind")),
                format!("allowed: {}", words.join(", ")),
            );
        };
        match variants
            .iter()
            .find(|(w, _)| tag.value == Value::Text((*w).to_owned()))
        {
            Some((_, fields)) => self.section(at, node, fields, &["kind"]),
            None => self.wrong(&join(at, "kind"), tag, &words.join(", ")),
        }
    }
}

impl Kind {
    fn allowed(self) -> String {
        match self {
            Kind::Line(max) => {
                format!("one line of text, 1 to {max} characters (quote what looks like a number)")
            }
            Kind::Text(max) => format!("text, at most {max} bytes"),
            Kind::Word(words) => words.join(", "),
            Kind::Bool => "true, false".to_owned(),
            Kind::Int(min, max) => format!("a whole number from {min} to {max}"),
            Kind::Number(min, max) => format!("a number from {min} to {max}"),
            Kind::Checked(accepts) => accepts("").err().unwrap_or_else(|| "text".to_owned()),
            Kind::List(0, of) => format!("a list; each: {}", of.allowed()),
            Kind::List(least, of) => format!("a list of at least {least}; each: {}", of.allowed()),
            Kind::Section(fields) => format!("the fields {}", names(fields)),
            Kind::Variant(variants) => {
                let words: Vec<&str> = variants.iter().map(|(w, _)| *w).collect();
                format!(
                    "a field `kind` ({}) and the fields of that kind",
                    words.join(", ")
                )
            }
            Kind::Table(_, of) => format!("keys with values; each: {}", of.allowed()),
        }
    }
}

fn names(fields: &[Field]) -> String {
    fields.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")
}

fn join(at: &str, key: &str) -> String {
    let key: String = key.chars().take(60).collect();
    if at.is_empty() {
        key
    } else {
        format!("{at}.{key}")
    }
}
