//! Claude Code: session files and the stream of print mode, one record a line or
//! one JSON list. A model's message is spread over several records with the same
//! id; they make one turn. An exit code of 1 for a tool that is no shell means
//! that the tool said it failed.

use std::collections::HashMap;
use std::io::BufRead;

use faultboard_domain::trace::{Observation, StepRole, Tokens};
use serde_json::Value;

use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::{Head, Sketch};
use crate::input::{Walk, Want, json_lines, walk};
use crate::json;
use crate::summary::exit_of;

pub(crate) struct ClaudeCode;

const ID: &str = "claude-code";
/// Messages whose usage is remembered apart.
const MAX_MESSAGES: usize = 200_000;

fn is_record(d: &Sketch, under: &str) -> bool {
    let word = d.word(&format!("{under}type"));
    let has = |key: &str| d.has(&format!("{under}{key}"));
    match word {
        Some("user" | "assistant") => has("message.content") || has("message.role"),
        Some("system") => {
            has("session_id") || has("sessionId") || has("message.subtype") || has("subtype")
        }
        Some("summary") => has("leafUuid"),
        Some("file-history-snapshot") => has("snapshot"),
        Some("queue-operation" | "progress" | "attachment") => has("sessionId"),
        Some("result") => has("total_cost_usd") || has("num_turns"),
        _ => false,
    }
}

impl Reader for ClaudeCode {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Claude Code session or stream"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.documents.iter().any(|d| is_record(d, ""))
            || head.documents.first().is_some_and(|d| is_record(d, "[]."))
    }

    fn read(
        &self,
        head: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let is_list = head.documents.first().is_some_and(|d| d.has("[]"));
        let mut session = Session {
            out,
            open: None,
            usage: HashMap::new(),
            anonymous: Tokens::default(),
            has_usage: false,
        };
        if is_list {
            walk(input, limits, ID, &mut session)?;
        } else {
            let count = json_lines(input, limits, ID, &mut |value| {
                session.record(&value);
                Ok(())
            })?;
            if count.cut {
                session.out.note("the last line is cut off and left out");
            }
        }
        session.finish();
        Ok(())
    }
}

struct Session<'o, 'a> {
    out: &'o mut Assembler<'a>,
    /// Id of the message whose turn is open.
    open: Option<String>,
    /// Turn and latest usage of each message.
    usage: HashMap<String, (u32, Option<Tokens>)>,
    /// Usage of messages without an id.
    anonymous: Tokens,
    has_usage: bool,
}

impl Walk for Session<'_, '_> {
    fn want(&mut self, path: &[String]) -> Want {
        if path.is_empty() {
            Want::Each
        } else {
            Want::Skip
        }
    }

    fn item(&mut self, _: &[String], value: Value) -> Result<(), String> {
        self.record(&value);
        Ok(())
    }
}

impl Session<'_, '_> {
    fn record(&mut self, record: &Value) {
        let kind = json::text(record, &["type"]).unwrap_or("?");
        self.out.count("records", "");
        self.out.count("type", kind);
        if record.get("isSidechain").and_then(Value::as_bool) == Some(true) {
            self.out.count("sidechain", "");
        }
        let time = json::moment(record, &["timestamp"]);
        match kind {
            "assistant" => self.assistant(record, time),
            "user" => self.user(record, time),
            "system" => self.system(record, time),
            "result" => self.result(record),
            _ => {}
        }
    }

    fn assistant(&mut self, record: &Value, time: Option<f64>) {
        let message = record.get("message").unwrap_or(record);
        let id = json::text(message, &["id"]).filter(|i| !i.is_empty());
        let turn = match id {
            Some(id) if self.open.as_deref() == Some(id) => self.out.turn(),
            _ => {
                let known = id.and_then(|i| self.usage.get(i)).map(|(turn, _)| *turn);
                self.open = id.map(str::to_owned);
                known.unwrap_or_else(|| self.out.next_turn())
            }
        };
        self.out.model(json::text(message, &["model"]));
        if let Some(usage) = message.get("usage").filter(|u| !u.is_null()) {
            self.usage(id, turn, usage);
        } else if let Some(id) = id
            && self.usage.len() < MAX_MESSAGES
        {
            self.usage.entry(id.to_owned()).or_insert((turn, None));
        }
        match message.get("content") {
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    self.block(block, time);
                }
            }
            Some(other) => self.out.think(&json::prose(other), time),
            None => {}
        }
        self.out.ensure_step(time);
        if let Some((_, Some(tokens))) = id.and_then(|i| self.usage.get(i)) {
            self.out.turn_tokens(turn, *tokens);
        }
    }

    fn block(&mut self, block: &Value, time: Option<f64>) {
        match json::text(block, &["type"]) {
            Some("tool_use" | "server_tool_use") => {
                let name = json::text(block, &["name"]).unwrap_or("tool");
                self.out.count("tool", name);
                let command = chat::command_of(name, block.get("input").unwrap_or(&Value::Null));
                self.out
                    .call(name, command, json::text(block, &["id"]), time);
            }
            Some("thinking") => self
                .out
                .think(json::text(block, &["thinking"]).unwrap_or(""), time),
            Some("redacted_thinking") => self
                .out
                .note("some thinking is encrypted and can't be shown"),
            _ => self.out.think(&json::prose(block), time),
        }
    }

    fn usage(&mut self, id: Option<&str>, turn: u32, usage: &Value) {
        let n = |key: &str| json::number(usage, &[key]).unwrap_or(0);
        let cached = n("cache_read_input_tokens");
        let written = n("cache_creation_input_tokens");
        let tokens = Tokens {
            input: n("input_tokens")
                .saturating_add(written)
                .saturating_add(cached),
            output: n("output_tokens"),
            cached,
        };
        self.has_usage = true;
        match id {
            Some(id) if self.usage.len() < MAX_MESSAGES || self.usage.contains_key(id) => {
                self.usage.insert(id.to_owned(), (turn, Some(tokens)));
            }
            _ => add(&mut self.anonymous, tokens),
        }
    }

    fn user(&mut self, record: &Value, time: Option<f64>) {
        let message = record.get("message").unwrap_or(record);
        let mut said = String::new();
        let mut answered = false;
        match message.get("content") {
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    if json::text(block, &["type"]) == Some("tool_result") {
                        answered = true;
                        self.answer(block, time);
                    } else {
                        let text = json::prose(block);
                        if !said.is_empty() && !text.is_empty() {
                            said.push('\n');
                        }
                        said.push_str(&text);
                    }
                }
            }
            Some(other) => said = json::prose(other),
            None => {}
        }
        let flag = |key: &str| record.get(key).and_then(Value::as_bool) == Some(true);
        if !said.is_empty() {
            if !answered && !flag("isMeta") && !flag("isSidechain") {
                self.out.count("prompts", "");
            }
            self.out.say(StepRole::User, said, time);
        }
    }

    fn answer(&mut self, block: &Value, time: Option<f64>) {
        let text = json::prose(block.get("content").unwrap_or(&Value::Null));
        let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
        self.out.count("tool_results", "");
        if failed {
            self.out.count("tool_errors", "");
        }
        let told = text
            .strip_prefix("Exit code ")
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|code| code.parse().ok());
        let seen: Observation = chat::output(text, told.or(failed.then_some(1)));
        self.out
            .answer(json::text(block, &["tool_use_id"]), seen, time);
    }

    fn system(&mut self, record: &Value, time: Option<f64>) {
        let init = record
            .get("message")
            .filter(|m| m.is_object())
            .unwrap_or(record);
        if json::text(init, &["subtype"]) == Some("init") {
            self.out.model(json::text(init, &["model"]));
        }
        if let Some(text) = json::text(record, &["content"]).filter(|t| !t.is_empty()) {
            self.out.say(StepRole::System, text, time);
        }
    }

    fn result(&mut self, record: &Value) {
        let account = &mut self.out.account;
        account.cost = json::float(record, &["total_cost_usd"]).or(account.cost);
        account.seconds = json::float(record, &["duration_ms"])
            .map(|ms| ms / 1000.0)
            .or(account.seconds);
        if let Some(word) = json::text(record, &["subtype"]) {
            let failed = record.get("is_error").and_then(Value::as_bool) == Some(true);
            account.exit = Some(match exit_of(word) {
                faultboard_domain::trace::ExitStatus::Submitted if failed => {
                    faultboard_domain::trace::ExitStatus::Error
                }
                other => other,
            });
            account.exit_word = Some(word.to_owned());
        }
    }

    fn finish(self) {
        if self.has_usage {
            let mut sum = self.anonymous;
            for (_, tokens) in self.usage.values() {
                add(&mut sum, tokens.unwrap_or_default());
            }
            self.out.account.tokens = Some(sum);
        }
    }
}

fn add(sum: &mut Tokens, more: Tokens) {
    sum.input = sum.input.saturating_add(more.input);
    sum.output = sum.output.saturating_add(more.output);
    sum.cached = sum.cached.saturating_add(more.cached);
}
