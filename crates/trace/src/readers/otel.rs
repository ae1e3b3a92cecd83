//! OpenTelemetry spans that follow the conventions for generative AI: OTLP as
//! JSON, the Python SDK's list of spans, and traces exported again by Langfuse.
//! Spans are put in order of their start; a chat span is a turn, a tool span an action.

use std::io::BufRead;

use faultboard_domain::trace::{StepRole, Tokens};
use serde_json::{Map, Value};

use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::Head;
use crate::input::{Walk, Want, walk};
use crate::json;

pub(crate) struct OpenTelemetry;

const ID: &str = "otel-genai";
/// Spans that are held for sorting.
const MAX_SPANS: usize = 100_000;

impl Reader for OpenTelemetry {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "OpenTelemetry GenAI spans"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.documents.first().is_some_and(|d| {
            d.has("resourceSpans")
                || d.has("resource_spans")
                || d.has("[].context.trace_id")
                || (d.has("trace.id") && (d.has("observations") || d.has("trace.observations")))
                || (d.has("observations.[].traceId") && d.has("observations.[].type"))
        })
    }

    fn read(
        &self,
        _: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let mut file = File {
            spans: Vec::new(),
            held: 0,
            limit: limits.element.saturating_mul(4),
        };
        walk(input, limits, ID, &mut file)?;
        let mut spans = file.spans;
        spans.sort_by(|a, b| a.start.unwrap_or(0.0).total_cmp(&b.start.unwrap_or(0.0)));
        let mut prompted = false;
        let mut sum = Tokens::default();
        for span in &spans {
            emit(span, &mut prompted, &mut sum, out);
        }
        if sum != Tokens::default() {
            out.account.tokens = Some(sum);
        }
        Ok(())
    }
}

/// One span, whatever its dialect.
struct Span {
    name: String,
    /// `gen_ai.operation.name`, or what stands in its place.
    operation: String,
    attributes: Map<String, Value>,
    start: Option<f64>,
    end: Option<f64>,
    is_root: bool,
    input: Value,
    output: Value,
    cost: Option<f64>,
    failed: bool,
    usage: Option<Tokens>,
}

struct File {
    spans: Vec<Span>,
    held: u64,
    limit: u64,
}

impl Walk for File {
    fn want(&mut self, path: &[String]) -> Want {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        match keys.as_slice() {
            []
            | ["resourceSpans" | "resource_spans"]
            | ["resourceSpans" | "resource_spans", "[]"]
            | [
                "resourceSpans" | "resource_spans",
                "[]",
                "scopeSpans" | "scope_spans",
            ]
            | [
                "resourceSpans" | "resource_spans",
                "[]",
                "scopeSpans" | "scope_spans",
                "[]",
            ] => Want::Enter,
            [
                "resourceSpans" | "resource_spans",
                "[]",
                "scopeSpans" | "scope_spans",
                "[]",
                "spans",
            ]
            | ["observations"] => Want::Each,
            ["[]"] => Want::Take,
            _ => Want::Skip,
        }
    }

    fn item(&mut self, path: &[String], value: Value) -> Result<(), String> {
        if !value.is_object() {
            return Ok(());
        }
        self.held += value.to_string().len() as u64;
        if self.held > self.limit || self.spans.len() >= MAX_SPANS {
            return Err("more spans than can be put in order".to_owned());
        }
        self.spans.push(match path.first().map(String::as_str) {
            Some("observations") => langfuse(&value),
            Some("[]") => python(&value),
            _ => otlp(&value),
        });
        Ok(())
    }
}

fn text_of(attributes: &Map<String, Value>, keys: &[&str]) -> String {
    keys.iter()
        .find_map(|k| attributes.get(*k))
        .map(json::command)
        .unwrap_or_default()
}

fn value_of(attributes: &Map<String, Value>, keys: &[&str]) -> Value {
    keys.iter()
        .find_map(|k| attributes.get(*k))
        .map_or(Value::Null, json::unwrapped)
}

const INPUTS: [&str; 6] = [
    "gen_ai.input.messages",
    "gen_ai.prompt",
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "input.value",
    "gen_ai.tool.arguments",
];
const OUTPUTS: [&str; 6] = [
    "gen_ai.output.messages",
    "gen_ai.completion",
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "output.value",
    "gen_ai.tool.result",
];

fn of_attributes(name: String, attributes: Map<String, Value>) -> Span {
    let kind = text_of(&attributes, &["span.type"]);
    let operation = match (
        text_of(&attributes, &["gen_ai.operation.name"]),
        kind.as_str(),
    ) {
        (operation, _) if !operation.is_empty() => operation,
        (_, "inference") => "chat".to_owned(),
        (_, "agentic.tool.invocation") => "execute_tool".to_owned(),
        (_, other) => other.to_owned(),
    };
    let usage = Value::Object(
        attributes
            .iter()
            .filter_map(|(k, v)| Some((k.strip_prefix("gen_ai.usage.")?.to_owned(), v.clone())))
            .collect(),
    );
    Span {
        name,
        operation,
        start: None,
        end: None,
        is_root: false,
        input: value_of(&attributes, &INPUTS),
        output: value_of(&attributes, &OUTPUTS),
        cost: None,
        failed: false,
        usage: chat::usage(&usage),
        attributes,
    }
}

/// OTLP/JSON: attributes are a list of keys and typed values, times nanoseconds as text.
fn otlp(value: &Value) -> Span {
    let mut attributes = Map::new();
    for pair in json::at(value, &["attributes"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(key) = json::text(pair, &["key"]) {
            attributes.insert(
                key.to_owned(),
                otlp_value(pair.get("value").unwrap_or(&Value::Null), 0),
            );
        }
    }
    let name = json::text(value, &["name"]).unwrap_or("").to_owned();
    let mut span = of_attributes(name, attributes);
    let nanos = |key: &str| json::float(value, &[key]).map(|n| n / 1e9);
    span.start = nanos("startTimeUnixNano");
    span.end = nanos("endTimeUnixNano");
    span.is_root = json::text(value, &["parentSpanId"])
        .unwrap_or("")
        .is_empty();
    span.failed = json::number(value, &["status", "code"]) == Some(2)
        || json::text(value, &["status", "code"]) == Some("STATUS_CODE_ERROR");
    span
}

fn otlp_value(value: &Value, depth: usize) -> Value {
    let Value::Object(map) = value else {
        return value.clone();
    };
    let Some((kind, inner)) = map.iter().next() else {
        return Value::Null;
    };
    match kind.as_str() {
        "arrayValue" if depth < 16 => Value::Array(
            json::at(inner, &["values"])
                .and_then(Value::as_array)
                .map(|list| list.iter().map(|v| otlp_value(v, depth + 1)).collect())
                .unwrap_or_default(),
        ),
        "kvlistValue" if depth < 16 => {
            let mut out = Map::new();
            for pair in json::at(inner, &["values"])
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                if let Some(key) = json::text(pair, &["key"]) {
                    out.insert(
                        key.to_owned(),
                        otlp_value(pair.get("value").unwrap_or(&Value::Null), depth + 1),
                    );
                }
            }
            Value::Object(out)
        }
        _ => inner.clone(),
    }
}

/// The Python SDK's own JSON.
fn python(value: &Value) -> Span {
    let attributes = value
        .get("attributes")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let name = json::text(value, &["name"]).unwrap_or("").to_owned();
    let mut span = of_attributes(name, attributes);
    span.start = json::moment(value, &["start_time"]);
    span.end = json::moment(value, &["end_time"]);
    span.is_root = value.get("parent_id").is_none_or(Value::is_null);
    span.failed = json::text(value, &["status", "status_code"]) == Some("ERROR");
    if json::text(value, &["attributes", "span.type"]).is_some() {
        span.attributes
            .entry("gen_ai.tool.name")
            .or_insert_with(|| {
                json::at(value, &["attributes", "entity.1.name"])
                    .cloned()
                    .unwrap_or(Value::Null)
            });
    }
    for event in json::at(value, &["events"])
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let inside = event.get("attributes").unwrap_or(&Value::Null);
        match json::text(event, &["name"]) {
            Some("data.input") => {
                span.input = inside
                    .get("input")
                    .or_else(|| inside.get("query"))
                    .cloned()
                    .unwrap_or(Value::Null)
            }
            Some("data.output") => {
                span.output = inside
                    .get("response")
                    .or_else(|| inside.get("output"))
                    .cloned()
                    .unwrap_or(Value::Null)
            }
            Some("metadata") => span.usage = span.usage.or_else(|| chat::usage(inside)),
            _ => {}
        }
    }
    span
}

/// Langfuse's export: metadata may itself be JSON text.
fn langfuse(value: &Value) -> Span {
    let metadata = json::unwrapped(value.get("metadata").unwrap_or(&Value::Null));
    let attributes = metadata
        .get("attributes")
        .map(json::unwrapped)
        .and_then(|a| a.as_object().cloned())
        .unwrap_or_default();
    let name = json::text(value, &["name"]).unwrap_or("").to_owned();
    let mut span = of_attributes(name.clone(), attributes);
    let kind = json::text(value, &["type"]).unwrap_or("");
    span.attributes
        .insert("type".to_owned(), Value::String(kind.to_owned()));
    match kind {
        "TOOL" => span.operation = "execute_tool".to_owned(),
        "GENERATION" => span.operation = "chat".to_owned(),
        _ => {}
    }
    span.start = json::moment(value, &["startTime"]);
    span.end = json::moment(value, &["endTime"]);
    span.is_root = value.get("parentObservationId").is_none_or(Value::is_null);
    span.failed = json::text(value, &["level"]) == Some("ERROR");
    let read = |key: &str| json::unwrapped(value.get(key).unwrap_or(&Value::Null));
    if !value.get("input").is_none_or(Value::is_null) {
        span.input = read("input");
    }
    if !value.get("output").is_none_or(Value::is_null) {
        span.output = read("output");
    }
    span.cost = json::float(value, &["totalCost"]).filter(|c| *c > 0.0);
    span.usage = value.get("usageDetails").and_then(chat::usage);
    if let Some(model) = json::text(value, &["model"]) {
        span.attributes.insert(
            "gen_ai.request.model".to_owned(),
            Value::String(model.to_owned()),
        );
    }
    if kind == "TOOL" {
        span.attributes
            .insert("gen_ai.tool.name".to_owned(), Value::String(name));
    }
    span
}

fn emit(span: &Span, prompted: &mut bool, sum: &mut Tokens, out: &mut Assembler<'_>) {
    out.count("spans", "");
    if span.is_root {
        out.count("roots", "");
    }
    out.count(
        "operation",
        if span.operation.is_empty() {
            "none"
        } else {
            &span.operation
        },
    );
    if let Some(kind) = span.attributes.get("type").and_then(Value::as_str) {
        out.count("type", kind);
    }
    let model = text_of(
        &span.attributes,
        &[
            "gen_ai.response.model",
            "gen_ai.request.model",
            "entity.2.name",
        ],
    );
    let is_chat = matches!(
        span.operation.as_str(),
        "chat" | "text_completion" | "generate_content" | "call_llm"
    );
    if is_chat {
        out.model(Some(model.as_str()));
    }
    let is_tool = span.operation == "execute_tool";
    let spent = |out: &mut Assembler<'_>| {
        let turn = out.turn();
        if let Some(cost) = span.cost {
            out.turn_cost(turn, cost);
        }
        if let Some(tokens) = span.usage {
            out.turn_tokens(turn, tokens);
        }
    };
    if is_chat {
        if let Some(tokens) = span.usage {
            sum.input = sum.input.saturating_add(tokens.input);
            sum.output = sum.output.saturating_add(tokens.output);
            sum.cached = sum.cached.saturating_add(tokens.cached);
        }
        if !std::mem::replace(prompted, true) {
            prompts(&span.input, span.start, out);
        }
        out.next_turn();
        let said = words(&span.output, 0);
        out.think(&said, span.start);
        out.ensure_step(span.start);
        spent(out);
    } else if is_tool {
        let name = text_of(&span.attributes, &["gen_ai.tool.name"]);
        let name = if name.is_empty() {
            span.name.as_str()
        } else {
            name.as_str()
        };
        out.count("tool", name);
        if out.turn() == 0 || !out.has_open_turn() {
            out.next_turn();
        }
        let input = span.input.get("input").unwrap_or(&span.input);
        out.call(name, chat::command_of(name, input), None, span.start);
        let text = words(&span.output, 0);
        out.answer_next(chat::output(text, span.failed.then_some(1)), span.end);
    } else if !*prompted && !span.input.is_null() {
        *prompted = true;
        prompts(&span.input, span.start, out);
    }
}

/// The messages that a model call was given.
fn prompts(input: &Value, time: Option<f64>, out: &mut Assembler<'_>) {
    match input {
        Value::Null => {}
        Value::Array(list) if list.iter().any(|m| m.get("role").is_some()) => {
            for message in list {
                let role = chat::role(json::text(message, &["role"]).unwrap_or("user"));
                let role = if role == StepRole::System {
                    role
                } else {
                    StepRole::User
                };
                out.say(role, words(message, 0), time);
            }
        }
        other => {
            if let Some(system) = json::text(other, &["system"]) {
                out.say(StepRole::System, system, time);
            }
            let said = other
                .get("prompt")
                .map_or_else(|| words(other, 0), |p| words(p, 0));
            if !said.is_empty() {
                out.say(StepRole::User, said, time);
            }
        }
    }
}

/// What a message in any of the conventions' shapes says.
fn words(value: &Value, depth: usize) -> String {
    if depth > 8 {
        return value.to_string();
    }
    match value {
        Value::Null => String::new(),
        Value::String(text) => match json::unwrapped(value) {
            Value::String(_) => text.clone(),
            parsed => words(&parsed, depth + 1),
        },
        Value::Array(list) => list
            .iter()
            .map(|v| words(v, depth + 1))
            .filter(|t| !t.is_empty())
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Object(map) => {
            for key in ["parts", "message", "text", "content", "response", "output"] {
                if let Some(inner) = map.get(key) {
                    return words(inner, depth + 1);
                }
            }
            value.to_string()
        }
        other => other.to_string(),
    }
}
