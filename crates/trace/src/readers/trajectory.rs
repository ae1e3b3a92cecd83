//! Trajectories meant for people to read: a list of messages or of steps, alone,
//! one a line, or in an object under `messages`, `trajectory` or `steps`. The
//! diagnosis benchmark's `trajectory.json` is one of these, and so is what most
//! home-made harnesses write.

use std::io::BufRead;

use faultboard_domain::trace::{StepRole, Tokens};
use serde_json::Value;

use super::mini_swe_agent::{info, tool_output};
use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::{Head, Sketch};
use crate::input::{Walk, Want, json_lines, walk};
use crate::json;
use crate::summary::exit_of;

pub(crate) struct Trajectory;

const ID: &str = "trajectory";

/// Keys under which the list stands.
const LISTS: [&str; 6] = [
    "messages",
    "trajectory",
    "steps",
    "turns",
    "history",
    "conversation",
];
/// Keys that make an object a step, if it has no role.
const STEP_KEYS: [&str; 6] = [
    "thought",
    "action",
    "observation",
    "command",
    "output",
    "response",
];

fn is_item(document: &Sketch, under: &str) -> bool {
    let has = |key: &str| document.has(&format!("{under}{key}"));
    (has("role") && (has("content") || has("tool_calls")))
        || STEP_KEYS.iter().filter(|k| has(k)).count() >= 2
}

impl Reader for Trajectory {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "messages or steps as JSON"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.documents.first().is_some_and(|d| {
            is_item(d, "")
                || is_item(d, "[].")
                || LISTS.iter().any(|list| is_item(d, &format!("{list}.[].")))
        })
    }

    fn read(
        &self,
        head: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        if head.documents.first().is_some_and(|d| is_item(d, "")) {
            let count = json_lines(input, limits, ID, &mut |value| {
                item(&value, out);
                Ok(())
            })?;
            if count.cut {
                out.note("the last line is cut off and left out");
            }
            return Ok(());
        }
        walk(input, limits, ID, &mut File { out })
    }
}

struct File<'o, 'a> {
    out: &'o mut Assembler<'a>,
}

impl Walk for File<'_, '_> {
    fn want(&mut self, path: &[String]) -> Want {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        match keys.as_slice() {
            [] => Want::Enter,
            [list] if LISTS.contains(list) => Want::Each,
            [
                "[]" | "info" | "stats" | "session_stats" | "usage" | "exit_status" | "status"
                | "submission" | "patch" | "model" | "model_name" | "cost" | "total_cost"
                | "instance_id" | "bug" | "bug_id" | "case",
            ] => Want::Take,
            _ => Want::Skip,
        }
    }

    fn item(&mut self, path: &[String], value: Value) -> Result<(), String> {
        let out = &mut *self.out;
        match path.first().map(String::as_str) {
            Some("info") => {
                info(&value, out);
                totals(&value, out);
            }
            Some("stats" | "session_stats" | "usage") => totals(&value, out),
            Some("cost" | "total_cost") => {
                out.account.cost = value.as_f64().filter(|c| c.is_finite())
            }
            Some("exit_status" | "status") => {
                if let Some(word) = value.as_str() {
                    out.account.exit = Some(exit_of(word));
                    out.account.exit_word = Some(word.to_owned());
                }
            }
            Some("submission" | "patch") => {
                out.account.final_patch = value.as_str().map(str::to_owned)
            }
            Some("model" | "model_name") => out.model(value.as_str()),
            Some("instance_id" | "bug" | "bug_id" | "case") => {
                out.account.subject = value.as_str().map(str::to_owned)
            }
            _ => item(&value, out),
        }
        Ok(())
    }
}

fn totals(stats: &Value, out: &mut Assembler<'_>) {
    let tokens = chat::usage(stats).or_else(|| {
        let sent = json::number(stats, &["tokens_sent"])?;
        Some(Tokens {
            input: sent,
            output: json::number(stats, &["tokens_received"]).unwrap_or(0),
            cached: 0,
        })
    });
    out.account.tokens = tokens.or(out.account.tokens);
    let cost = json::float(stats, &["cost"])
        .or_else(|| json::float(stats, &["cost_usd"]))
        .or_else(|| json::float(stats, &["total_cost"]));
    out.account.cost = cost.or(out.account.cost);
    out.account.seconds = json::float(stats, &["seconds"]).or(out.account.seconds);
}

/// One message or step.
fn item(value: &Value, out: &mut Assembler<'_>) {
    match value {
        Value::Object(map) if map.contains_key("role") => {
            super::mini_swe_agent::message(value, out)
        }
        Value::Object(_) => step(value, out),
        Value::String(text) => {
            out.count("messages", "");
            out.say(StepRole::Tool, text.clone(), None);
        }
        _ => out.note("an element that is neither a message nor a step is left out"),
    }
}

fn step(value: &Value, out: &mut Assembler<'_>) {
    out.count("steps", "");
    let start = json::moment(value, &["timestamp"]).or_else(|| json::moment(value, &["start"]));
    let first = |keys: &[&str]| {
        keys.iter()
            .find_map(|k| value.get(*k))
            .filter(|v| !v.is_null())
    };
    out.next_turn();
    for said in [
        "reasoning",
        "thought",
        "response",
        "message",
        "content",
        "text",
    ] {
        if let Some(text) = value.get(said) {
            let text = json::prose(text);
            // Some write the thought again inside the whole response.
            if said == "thought"
                || !text.contains(json::text(value, &["thought"]).unwrap_or("\u{0}"))
            {
                out.think(text.trim(), start);
            }
        }
    }
    if let Some(act) = first(&["action", "command", "tool_call"]) {
        let tool = json::text(value, &["tool"])
            .or_else(|| json::text(act, &["tool"]))
            .or_else(|| json::text(act, &["name"]))
            .unwrap_or("bash");
        let input = ["command", "input", "arguments", "args"]
            .iter()
            .find_map(|k| act.get(*k))
            .unwrap_or(act);
        out.call(tool, chat::command_of(tool, input), None, start);
    }
    if let Some(seen) = first(&["observation", "output", "result", "tool_output"]) {
        let text = json::prose(
            seen.get("output")
                .or_else(|| seen.get("text"))
                .unwrap_or(seen),
        );
        let mut answer = tool_output(&text, seen);
        if answer.exit_code.is_none() {
            answer.exit_code = ["exit_code", "returncode"]
                .iter()
                .find_map(|k| json::integer(value, &[k]).or_else(|| json::integer(seen, &[k])));
        }
        out.answer_next(answer, None);
    }
    out.ensure_step(start);
    let turn = out.turn();
    if let Some(tokens) = value
        .get("usage")
        .or_else(|| value.get("tokens"))
        .and_then(chat::usage)
    {
        out.turn_tokens(turn, tokens);
    }
    if let Some(cost) = json::float(value, &["cost"]) {
        out.turn_cost(turn, cost);
    }
}
