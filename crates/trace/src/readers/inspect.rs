//! Inspect logs: `.eval` archives and their JSON form. A log of several samples
//! is shown sample after sample.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Read};

use faultboard_domain::trace::{ExitStatus, StepRole};
use serde_json::Value;
use zip::ZipArchive;

use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::Head;
use crate::input::{Walk, Want, walk};
use crate::json;

pub(crate) struct Inspect;

const ID: &str = "inspect";
/// Bytes of an archive that are held while it is read.
const MAX_ARCHIVE: u64 = 256 << 20;
const MAX_ENTRIES: usize = 50_000;

impl Reader for Inspect {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Inspect log"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.bytes.starts_with(b"PK\x03\x04")
            || head.documents.first().is_some_and(|d| {
                d.has("eval.task") && d.has("eval.model") && (d.has("status") || d.has("version"))
            })
    }

    fn read(
        &self,
        head: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        if head.bytes.starts_with(b"PK") {
            return archive(input, out);
        }
        let mut log = Log::new(out);
        let read = walk(input, limits, ID, &mut log);
        log.release();
        read
    }
}

fn malformed(offset: u64, reason: impl Into<String>) -> TraceError {
    TraceError::Malformed {
        format: ID,
        offset,
        reason: reason.into(),
    }
}

fn archive(input: &mut dyn BufRead, out: &mut Assembler<'_>) -> Result<(), TraceError> {
    let limits = out.limits();
    let ceiling = MAX_ARCHIVE.min(limits.total);
    let mut bytes = Vec::new();
    input
        .take(ceiling + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| TraceError::Io { offset: 0, source })?;
    let size = bytes.len() as u64;
    if size > ceiling {
        return Err(TraceError::TooLarge {
            what: "an archive",
            limit: ceiling,
            offset: size,
        });
    }
    unpack(bytes, out).map_err(|e| e.capped(size))
}

fn unpack(bytes: Vec<u8>, out: &mut Assembler<'_>) -> Result<(), TraceError> {
    let limits = out.limits();
    let size = bytes.len() as u64;
    let mut zip = ZipArchive::new(Cursor::new(bytes))
        .map_err(|_| malformed(size, "the zip directory at the end is missing or broken"))?;
    if zip.len() > MAX_ENTRIES {
        return Err(malformed(size, format!("more than {MAX_ENTRIES} entries")));
    }
    // A name that is no text is none that is looked for.
    let names: Vec<String> = zip
        .file_names()
        .map(|name| name.map(Into::into).unwrap_or_default())
        .collect();
    let has_log = names
        .iter()
        .any(|n| n == "header.json" || n == "_journal/start.json");
    if !has_log {
        return Err(malformed(
            0,
            "a zip archive, but not an Inspect log: it has no header.json",
        ));
    }
    let mut left = limits.total;
    // A log that was cut short has a start but no header.
    let header = names
        .iter()
        .position(|n| n == "header.json")
        .or_else(|| names.iter().position(|n| n == "_journal/start.json"));
    let samples = (0..names.len())
        .filter(|i| names[*i].starts_with("samples/") && names[*i].ends_with(".json"));
    for index in header.into_iter().chain(samples.collect::<Vec<_>>()) {
        let is_sample = names[index].starts_with("samples/");
        let content = entry(&mut zip, index, left)?;
        left = left.saturating_sub(content.len() as u64);
        let mut log = Log::new(out);
        log.bare_sample = is_sample;
        let read = walk(
            &mut BufReader::new(content.as_slice()),
            limits,
            ID,
            &mut log,
        );
        log.release();
        read?;
    }
    Ok(())
}

/// The unpacked bytes of an entry, of which at most `left` are allowed.
fn entry(
    zip: &mut ZipArchive<Cursor<Vec<u8>>>,
    index: usize,
    left: u64,
) -> Result<Vec<u8>, TraceError> {
    let mut raw = zip
        .by_index_raw(index)
        .map_err(|_| malformed(0, "an entry of the archive can't be found"))?;
    let at = raw.data_start().unwrap_or(0);
    let packed_by_zstd = raw.compression() == zip::CompressionMethod::ZSTD;
    let mut packed = Vec::new();
    if packed_by_zstd {
        raw.read_to_end(&mut packed)
            .map_err(|_| malformed(at, "an entry ends too early"))?;
        drop(raw);
        return unzstd(&packed, left, at);
    }
    drop(raw);
    let file = zip
        .by_index(index)
        .map_err(|_| malformed(at, "an entry is packed in an unknown way"))?;
    bounded(file, left, at)
}

fn bounded(source: impl Read, left: u64, at: u64) -> Result<Vec<u8>, TraceError> {
    let mut out = Vec::new();
    source
        .take(left.saturating_add(1))
        .read_to_end(&mut out)
        .map_err(|_| malformed(at, "an entry can't be unpacked"))?;
    if out.len() as u64 > left {
        return Err(TraceError::TooLarge {
            what: "an unpacked log",
            limit: left,
            offset: at,
        });
    }
    Ok(out)
}

#[cfg(not(target_arch = "wasm32"))]
fn unzstd(packed: &[u8], left: u64, at: u64) -> Result<Vec<u8>, TraceError> {
    let decoder = zstd::stream::read::Decoder::new(packed)
        .map_err(|_| malformed(at, "an entry can't be unpacked"))?;
    bounded(decoder, left, at)
}

#[cfg(target_arch = "wasm32")]
fn unzstd(_: &[u8], _: u64, at: u64) -> Result<Vec<u8>, TraceError> {
    Err(malformed(
        at,
        "a log packed with zstd can't be read in the browser",
    ))
}

struct Log<'o, 'a> {
    out: &'o mut Assembler<'a>,
    /// The document is a sample, not a log around samples.
    bare_sample: bool,
    open: bool,
    messages: Vec<Value>,
    held: usize,
    attachments: HashMap<String, String>,
    name: String,
}

impl<'o, 'a> Log<'o, 'a> {
    fn new(out: &'o mut Assembler<'a>) -> Self {
        Self {
            out,
            bare_sample: false,
            open: false,
            messages: Vec::new(),
            held: 0,
            attachments: HashMap::new(),
            name: String::new(),
        }
    }

    /// Sends the sample at hand on.
    fn release(&mut self) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        self.out.close_turn();
        self.out.count("samples", "");
        match self.out.account.counts.get("samples") {
            Some(1) => self.out.account.subject = Some(self.name.clone()),
            Some(2) => self
                .out
                .note("the log holds several samples; they are shown one after another"),
            _ => {}
        }
        if self
            .out
            .account
            .counts
            .get("samples")
            .is_some_and(|n| *n > 1)
        {
            let heading = format!("sample {}", self.name);
            self.out.say(StepRole::System, heading, None);
        }
        let attachments = std::mem::take(&mut self.attachments);
        for mut value in std::mem::take(&mut self.messages) {
            if !attachments.is_empty() {
                resolve(&mut value, &attachments, 0);
            }
            message(&value, self.out);
        }
        self.held = 0;
        self.name.clear();
    }
}

/// Puts attachments in the place of their references.
fn resolve(value: &mut Value, attachments: &HashMap<String, String>, depth: usize) {
    match value {
        Value::String(text) => {
            if let Some(found) = text
                .strip_prefix("attachment://")
                .and_then(|id| attachments.get(id))
            {
                found.clone_into(text);
            }
        }
        Value::Array(list) if depth < 32 => list
            .iter_mut()
            .for_each(|v| resolve(v, attachments, depth + 1)),
        Value::Object(map) if depth < 32 => map
            .values_mut()
            .for_each(|v| resolve(v, attachments, depth + 1)),
        _ => {}
    }
}

impl Walk for Log<'_, '_> {
    fn want(&mut self, path: &[String]) -> Want {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        let inner = match keys.as_slice() {
            inner if self.bare_sample => inner,
            ["samples", "[]", inner @ ..] => inner,
            [] | ["samples"] => return Want::Enter,
            ["status" | "eval" | "stats" | "error"] => return Want::Take,
            _ => return Want::Skip,
        };
        match inner {
            [] => {
                self.release();
                self.open = true;
                Want::Enter
            }
            ["messages"] => Want::Each,
            ["id" | "epoch" | "attachments" | "error" | "limit"] => Want::Take,
            _ => Want::Skip,
        }
    }

    fn item(&mut self, path: &[String], value: Value) -> Result<(), String> {
        let in_sample = self.bare_sample || path.len() > 2;
        let key = path.last().map_or("", String::as_str);
        match key {
            "messages" if in_sample => {
                self.held += value.to_string().len();
                if self.held as u64 > self.out.limits().element.saturating_mul(2) {
                    return Err("the messages of one sample are too large".to_owned());
                }
                self.messages.push(value);
            }
            "attachments" if in_sample => {
                if let Value::Object(map) = value {
                    self.attachments = map
                        .into_iter()
                        .filter_map(|(id, text)| Some((id, text.as_str()?.to_owned())))
                        .collect();
                }
            }
            "id" => self.name = json::command(&value).chars().take(120).collect(),
            "epoch" => {
                let epoch = json::command(&value);
                self.out.count("epoch", &epoch);
                self.name.push('@');
                self.name.push_str(&epoch);
            }
            "limit" if in_sample => {
                let kind = json::text(&value, &["type"]).unwrap_or("");
                self.out.account.exit = Some(match kind {
                    "time" | "working" => ExitStatus::TimeLimit,
                    "message" => ExitStatus::StepLimit,
                    "token" | "cost" => ExitStatus::CostLimit,
                    "context" => ExitStatus::ContextWindow,
                    _ => ExitStatus::Error,
                });
                self.out.account.exit_word = Some(format!("{kind} limit"));
            }
            "error" if !value.is_null() => {
                self.out.account.exit = Some(ExitStatus::Error);
                let why = json::text(&value, &["message"]).unwrap_or("");
                let why: String = why.chars().take(200).collect();
                self.out.note(format!("the run broke down: {why}"));
            }
            "status" => {
                let word = value.as_str().unwrap_or("");
                let exit = match word {
                    "success" => ExitStatus::Submitted,
                    "error" | "cancelled" => ExitStatus::Error,
                    _ => ExitStatus::Unknown,
                };
                self.out.account.exit.get_or_insert(exit);
                self.out.account.exit_word.get_or_insert(word.to_owned());
            }
            "eval" => {
                self.out.model(json::text(&value, &["model"]));
                if let Some(task) = json::text(&value, &["task"]) {
                    self.out.count("task", task);
                }
            }
            "stats" => stats(&value, self.out),
            _ => {}
        }
        Ok(())
    }
}

fn stats(stats: &Value, out: &mut Assembler<'_>) {
    let usage = stats.get("model_usage").and_then(Value::as_object);
    for tokens in usage.into_iter().flatten().filter_map(|(_, u)| {
        let mut tokens = chat::usage(u)?;
        // Inspect counts cached prompt tokens apart.
        let read = json::number(u, &["input_tokens_cache_read"]).unwrap_or(0);
        let written = json::number(u, &["input_tokens_cache_write"]).unwrap_or(0);
        tokens.cached = read;
        tokens.input = tokens.input.saturating_add(read).saturating_add(written);
        Some(tokens)
    }) {
        let sum = out.account.tokens.get_or_insert_default();
        sum.input = sum.input.saturating_add(tokens.input);
        sum.output = sum.output.saturating_add(tokens.output);
        sum.cached = sum.cached.saturating_add(tokens.cached);
    }
    if let (Some(start), Some(end)) = (
        json::moment(stats, &["started_at"]),
        json::moment(stats, &["completed_at"]),
    ) && end > start
    {
        out.account.seconds = Some(end - start);
    }
}

fn message(value: &Value, out: &mut Assembler<'_>) {
    let name = json::text(value, &["role"]).unwrap_or("user");
    out.count("messages", "");
    out.count("role", name);
    let text = json::prose(value.get("content").unwrap_or(&Value::Null));
    match chat::role(name) {
        StepRole::Assistant => {
            out.next_turn();
            out.model(json::text(value, &["model"]));
            out.think(chat::reasoning(value).unwrap_or(""), None);
            out.think(&text, None);
            let calls = chat::tool_calls(value, None, out);
            out.count_by("tool_calls", "", calls as u64);
            out.ensure_step(None);
        }
        StepRole::Tool => {
            let error = json::text(value, &["error", "message"]);
            let text = match error {
                Some(why) if !text.contains(why) => format!("{text}\n{why}"),
                _ => text,
            };
            let mut seen = chat::output(text.trim_start_matches('\n').to_owned(), error.map(|_| 1));
            seen.truncated |= json::text(value, &["error", "type"]) == Some("output_limit");
            out.answer(json::text(value, &["tool_call_id"]), seen, None);
        }
        role => out.say(role, text, None),
    }
}
