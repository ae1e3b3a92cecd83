//! Predictions in the style of SWE-bench (`preds.json`, `all_preds.jsonl`): a
//! dict by instance, a list, or one object per line. Read into patches by case;
//! traces are not in them and must be added by the caller.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use faultboard_domain::{CaseId, Condition, Problem, Report};
use serde::Deserialize;
use serde_json::Value;

use crate::path::display;
use crate::schema::kind;

/// The most bytes of a predictions file that are read.
pub const MAX_BYTES: usize = 64 * 1024 * 1024;

/// What a predictions file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predictions {
    /// The model, the same for all of them.
    pub model: String,
    /// Patches as sent, by instance id; a null patch is an empty one.
    pub patches: BTreeMap<String, String>,
}

impl Predictions {
    /// Reads a file in any of the three forms; every problem is told.
    pub fn read(bytes: &[u8]) -> Result<Self, Report> {
        let mut reader = Reader::default();
        if bytes.len() > MAX_BYTES {
            reader.problem(
                "",
                format!("the file has more than {MAX_BYTES} bytes"),
                "Hand in a bundle instead.",
            );
        } else {
            reader.document(bytes);
        }
        if reader.patches.is_empty() && reader.report.problems.is_empty() {
            reader.problem(
                "",
                "the file holds no prediction".to_owned(),
                "Write {\"instance_id\", \"model_name_or_path\", \"model_patch\"} for each case.",
            );
        }
        reader.report.sort();
        if reader.report.is_ok() {
            Ok(Self {
                model: reader.models.into_keys().next().unwrap_or_default(),
                patches: reader.patches,
            })
        } else {
            Err(reader.report)
        }
    }

    /// The patches as files of a bundle, by path below its top folder. Instance
    /// ids that are no case ids are told.
    pub fn files(&self, condition: Condition) -> Result<BTreeMap<String, Vec<u8>>, Report> {
        let mut files = BTreeMap::new();
        let mut report = Report::default();
        for (instance, patch) in &self.patches {
            match CaseId::parse(&instance.to_lowercase()) {
                Ok(case) => {
                    let path = format!("{case}/{condition}/run-01/patch.diff");
                    if files.insert(path, patch.clone().into_bytes()).is_some() {
                        report.push(Problem::error(
                            display(instance),
                            RULE,
                            "two instances are the same case",
                            "Keep one of them.",
                        ));
                    }
                }
                Err(e) => report.push(Problem::error(
                    display(instance),
                    RULE,
                    e.to_string(),
                    "Name the instance by its case id.",
                )),
            }
        }
        if report.is_ok() {
            Ok(files)
        } else {
            Err(report)
        }
    }
}

const RULE: &str = "predictions";

#[derive(Default)]
struct Reader {
    patches: BTreeMap<String, String>,
    /// Models, each with the place where it was first named.
    models: BTreeMap<String, String>,
    report: Report,
}

/// An object whose repeated keys are kept, or a list.
enum Document {
    Object(Vec<(String, Value)>),
    List(Vec<Value>),
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Document;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object or a list")
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut a: A,
            ) -> Result<Document, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = a.next_element()? {
                    list.push(value);
                }
                Ok(Document::List(list))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut a: A,
            ) -> Result<Document, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = a.next_entry()? {
                    entries.push(entry);
                }
                Ok(Document::Object(entries))
            }
        }
        d.deserialize_any(Visitor)
    }
}

impl Reader {
    fn problem(&mut self, place: &str, message: String, fix: &str) {
        self.report.push(Problem::error(place, RULE, message, fix));
    }

    fn document(&mut self, bytes: &[u8]) {
        let is_line = |line: &[u8]| {
            matches!(serde_json::from_slice(line), Ok(Document::Object(entries))
                if entries.iter().any(|(key, _)| key == "instance_id"))
        };
        let mut lines = bytes
            .split(|b| *b == b'\n')
            .filter(|l| !l.trim_ascii().is_empty());
        if lines.next().is_some_and(is_line) {
            self.lines(bytes);
            return;
        }
        match serde_json::from_slice(bytes) {
            Ok(Document::List(list)) => {
                for (i, value) in list.into_iter().enumerate() {
                    self.prediction(&format!("#/{i}"), None, value);
                }
            }
            Ok(Document::Object(entries))
                if entries.iter().any(|(key, _)| key == "instance_id") =>
            {
                self.prediction("", None, Value::Object(entries.into_iter().collect()));
            }
            Ok(Document::Object(entries)) => {
                for (key, value) in entries {
                    let place = format!("#/{}", crate::schema::escape(&key));
                    self.prediction(&place, Some(key), value);
                }
            }
            Err(e) => self.problem(
                "",
                format!("no JSON: {}", display(&e.to_string())),
                "Write a dict by instance, a list, or one object per line.",
            ),
        }
    }

    fn lines(&mut self, bytes: &[u8]) {
        for (i, line) in bytes.split(|b| *b == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = format!(":{}", i + 1);
            match serde_json::from_slice(line) {
                Ok(value) => self.prediction(&place, None, value),
                Err(e) => self.problem(
                    &place,
                    format!("the line is no JSON: {}", display(&e.to_string())),
                    "Write one whole object per line.",
                ),
            }
        }
    }

    fn prediction(&mut self, place: &str, key: Option<String>, value: Value) {
        let Value::Object(mut object) = value else {
            return self.problem(
                place,
                format!("a prediction must be an object, but is {}", kind(&value)),
                "Write {\"instance_id\", \"model_name_or_path\", \"model_patch\"}.",
            );
        };
        let id = match (object.remove("instance_id"), key) {
            (Some(Value::String(id)), None) => id,
            (Some(Value::String(id)), Some(key)) if id == key => id,
            (None, Some(key)) => key,
            (Some(Value::String(id)), Some(key)) => {
                return self.problem(
                    place,
                    format!(
                        "`instance_id` is `{}`, but the key is `{}`",
                        display(&id),
                        display(&key)
                    ),
                    "Write the same id in both places.",
                );
            }
            _ => {
                return self.problem(
                    place,
                    "`instance_id` is missing or no text".to_owned(),
                    "Name the instance.",
                );
            }
        };
        let patch = match object.remove("model_patch") {
            Some(Value::String(patch)) => patch,
            Some(Value::Null) => String::new(),
            _ => {
                return self.problem(
                    place,
                    "`model_patch` is missing or no text".to_owned(),
                    "Write the patch; an empty text says that nothing was changed.",
                );
            }
        };
        let model = match object.remove("model_name_or_path") {
            Some(Value::String(model)) => model,
            _ => {
                return self.problem(
                    place,
                    "`model_name_or_path` is missing or no text".to_owned(),
                    "Name the model.",
                );
            }
        };
        if let Some((other, at)) = self.models.iter().next()
            && *other != model
        {
            let message = format!(
                "the model is `{}`, but `{}` at {at}",
                display(&model),
                display(other)
            );
            self.problem(place, message, "Hand in one file per model.");
        } else {
            let at = if place.is_empty() { "the start" } else { place };
            self.models.entry(model).or_insert_with(|| at.to_owned());
        }
        let message = format!("the instance `{}` stands more than once", display(&id));
        match self.patches.entry(id) {
            Entry::Occupied(_) => {
                self.problem(place, message, "Keep one prediction per instance.");
            }
            Entry::Vacant(free) => {
                free.insert(patch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"instance_id":"kv-1","model_name_or_path":"m","model_patch":"p"}"#;
    const TWO: &str = r#"{"instance_id":"kv-2","model_name_or_path":"m","model_patch":null}"#;

    #[test]
    fn all_three_forms_say_the_same() {
        let dict =
            format!(r#"{{"kv-1":{ONE},"kv-2":{{"model_name_or_path":"m","model_patch":""}}}}"#);
        for text in [format!("{ONE}\n\n{TWO}\n"), format!("[{ONE},{TWO}]"), dict] {
            let read = Predictions::read(text.as_bytes()).unwrap();
            assert_eq!(read.model, "m");
            assert_eq!(read.patches.len(), 2, "{text}");
            let files = read.files(Condition::SymptomOnly).unwrap();
            assert_eq!(files["kv-1/symptom-only/run-01/patch.diff"], b"p");
        }
        assert_eq!(Predictions::read(ONE.as_bytes()).unwrap().patches.len(), 1);
    }

    #[test]
    fn duplicates_and_mixed_models_are_told_together() {
        let other = r#"{"instance_id":"kv-3","model_name_or_path":"n","model_patch":"p"}"#;
        let text = format!("{ONE}\n{ONE}\n{other}\nnonsense\n");
        let report = Predictions::read(text.as_bytes()).unwrap_err();
        let places: Vec<&str> = report.problems.iter().map(|p| p.path.as_str()).collect();
        assert_eq!(places, [":2", ":3", ":4"]);
        let dict = format!(r#"{{"kv-1":{ONE},"kv-1":{ONE}}}"#);
        assert!(Predictions::read(dict.as_bytes()).is_err());
        for bad in ["", "[]", "{}", "7", "[7]", r#"{"a":{"instance_id":"b"}}"#] {
            assert!(Predictions::read(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn foreign_instance_ids_are_told() {
        let text =
            r#"{"instance_id":"django__django-1","model_name_or_path":"m","model_patch":""}"#;
        let read = Predictions::read(text.as_bytes()).unwrap();
        assert_eq!(read.files(Condition::SymptomOnly).unwrap_err().errors(), 1);
    }
}
