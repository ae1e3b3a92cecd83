//! Codex: the rollout files of its sessions, with or without an envelope around
//! each item, and the events of `codex exec --json`.

use std::io::BufRead;

use faultboard_domain::trace::{ExitStatus, Observation, StepRole};
use serde_json::Value;

use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::{Head, Sketch};
use crate::input::json_lines;
use crate::json;

pub(crate) struct Codex;

const ID: &str = "codex";

fn is_event(d: &Sketch) -> bool {
    match d.word("type") {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted") => {
            d.has("payload")
        }
        Some("thread.started" | "turn.started" | "turn.completed") => true,
        Some("item.started" | "item.completed" | "item.updated") => d.has("item"),
        Some("message") => {
            d.has("role")
                && matches!(
                    d.word("content.[].type"),
                    Some("input_text" | "output_text")
                )
        }
        Some("function_call") => d.has("call_id") && d.has("arguments"),
        Some("function_call_output") => d.has("call_id") && d.has("output"),
        _ => false,
    }
}

impl Reader for Codex {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Codex session or event stream"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.documents.iter().take(4).any(is_event)
    }

    fn read(
        &self,
        _: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let mut session = Session { out, open: false };
        let count = json_lines(input, limits, ID, &mut |value| {
            session.event(&value);
            Ok(())
        })?;
        if count.cut {
            session.out.note("the last line is cut off and left out");
        }
        Ok(())
    }
}

struct Session<'o, 'a> {
    out: &'o mut Assembler<'a>,
    /// Whether the model still speaks: what it adds belongs to the open turn.
    open: bool,
}

impl Session<'_, '_> {
    fn event(&mut self, event: &Value) {
        let kind = json::text(event, &["type"]).unwrap_or("?");
        self.out.count("lines", "");
        self.out.count("type", kind);
        let time = json::moment(event, &["timestamp"]);
        let payload = event.get("payload").unwrap_or(&Value::Null);
        match kind {
            "response_item" => self.item(payload, time),
            "event_msg" => self.message(payload),
            "turn_context" => self.out.model(json::text(payload, &["model"])),
            "session_meta" => {
                self.out.account.subject = json::text(payload, &["id"]).map(str::to_owned);
                let told = json::text(payload, &["base_instructions", "text"])
                    .or_else(|| json::text(payload, &["instructions"]))
                    .unwrap_or("");
                if !told.is_empty() {
                    self.out.say(StepRole::System, told, time);
                }
            }
            "compacted" => {
                self.open = false;
                let text = json::text(payload, &["message"]).unwrap_or("");
                self.out
                    .say(StepRole::User, format!("(history compacted)\n{text}"), time);
            }
            "thread.started" => {
                self.out.account.subject = json::text(event, &["thread_id"]).map(str::to_owned)
            }
            "item.completed" => self.exec_item(event.get("item").unwrap_or(&Value::Null)),
            "turn.completed" => {
                if let Some(tokens) = event.get("usage").and_then(chat::usage) {
                    let sum = self.out.account.tokens.get_or_insert_default();
                    sum.input = sum.input.saturating_add(tokens.input);
                    sum.output = sum.output.saturating_add(tokens.output);
                    sum.cached = sum.cached.saturating_add(tokens.cached);
                }
            }
            "turn.failed" | "error" => {
                self.out.account.exit = Some(ExitStatus::Error);
                let why = json::text(event, &["error", "message"])
                    .or_else(|| json::text(event, &["message"]));
                self.stands_alone(why.unwrap_or("the turn failed"));
            }
            // Old sessions have no envelope.
            "message"
            | "reasoning"
            | "function_call"
            | "function_call_output"
            | "local_shell_call"
            | "custom_tool_call"
            | "custom_tool_call_output" => self.item(event, time),
            _ => {}
        }
    }

    fn turn(&mut self) {
        if !self.open {
            self.out.next_turn();
            self.open = true;
        }
    }

    fn stands_alone(&mut self, text: &str) {
        self.out.answer(None, chat::output(text, Some(1)), None);
    }

    fn item(&mut self, item: &Value, time: Option<f64>) {
        let kind = json::text(item, &["type"]).unwrap_or("?");
        self.out.count("item", kind);
        let call = json::text(item, &["call_id"]).or_else(|| json::text(item, &["id"]));
        match kind {
            "message" => {
                let text = json::prose(item.get("content").unwrap_or(&Value::Null));
                let role = json::text(item, &["role"]).unwrap_or("user");
                self.out.count("role", role);
                match chat::role(role) {
                    StepRole::Assistant => {
                        self.turn();
                        self.out.think(&text, time);
                        self.out.ensure_step(time);
                    }
                    role => {
                        self.open = false;
                        self.out.say(role, text, time);
                    }
                }
            }
            "reasoning" => {
                self.turn();
                let mut text = json::prose(item.get("summary").unwrap_or(&Value::Null));
                let full = json::prose(item.get("content").unwrap_or(&Value::Null));
                if !full.is_empty() {
                    text = full;
                }
                if text.is_empty() && item.get("encrypted_content").is_some_and(Value::is_string) {
                    self.out
                        .note("some reasoning is encrypted and can't be shown");
                }
                self.out.think(&text, time);
            }
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call"
            | "tool_search_call" => {
                self.turn();
                let name = json::text(item, &["name"]).unwrap_or(match kind {
                    "local_shell_call" => "shell",
                    "web_search_call" => "web_search",
                    _ => "tool",
                });
                self.out.count("tool", name);
                self.out.count("calls", "");
                let input = ["arguments", "input", "action"]
                    .iter()
                    .find_map(|k| item.get(*k))
                    .unwrap_or(&Value::Null);
                let awaits = call.filter(|_| kind != "web_search_call");
                self.out
                    .call(name, chat::command_of(name, input), awaits, time);
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                self.open = false;
                self.out.count("outputs", "");
                let output = item.get("output").unwrap_or(&Value::Null);
                self.out.answer(call, result(output), time);
            }
            _ => {}
        }
    }

    fn message(&mut self, payload: &Value) {
        let kind = json::text(payload, &["type"]).unwrap_or("?");
        self.out.count("event", kind);
        if kind == "token_count" {
            let info = payload.get("info").unwrap_or(&Value::Null);
            if let Some(total) = info.get("total_token_usage").and_then(chat::usage) {
                self.out.account.tokens = Some(total);
            }
            if let Some(last) = info.get("last_token_usage").and_then(chat::usage) {
                let turn = self.out.turn();
                self.out.turn_tokens(turn, last);
            }
        } else if kind == "turn_aborted" {
            self.out.account.exit = Some(ExitStatus::Error);
            self.out.account.exit_word = Some(kind.to_owned());
        }
    }

    /// An item of `codex exec --json`.
    fn exec_item(&mut self, item: &Value) {
        let kind = json::text(item, &["type"])
            .or_else(|| json::text(item, &["item_type"]))
            .unwrap_or("?");
        self.out.count("item", kind);
        let text = json::text(item, &["text"])
            .or_else(|| json::text(item, &["message"]))
            .unwrap_or("");
        match kind {
            "reasoning" | "agent_message" | "assistant_message" => {
                self.turn();
                self.out.think(text, None);
            }
            "error" => self.stands_alone(text),
            "command_execution" => {
                self.act(
                    "shell",
                    json::text(item, &["command"]).unwrap_or("").to_owned(),
                );
                let output = json::text(item, &["aggregated_output"]).unwrap_or("");
                self.out.answer_next(
                    chat::output(output, json::integer(item, &["exit_code"])),
                    None,
                );
                self.open = false;
            }
            "file_change" => {
                self.act(
                    "apply_patch",
                    item.get("changes").unwrap_or(&Value::Null).to_string(),
                );
                self.open = false;
            }
            _ => {
                self.act(kind, item.to_string());
                self.open = false;
            }
        }
    }

    fn act(&mut self, tool: &str, command: String) {
        self.turn();
        self.out.count("tool", tool);
        self.out.call(tool, command, None, None);
    }
}

/// The output of a call: text, text with a head of `Exit code: 0`, or JSON with
/// `output` and `metadata`.
fn result(output: &Value) -> Observation {
    let parsed = json::unwrapped(output);
    if let Value::Object(map) = &parsed
        && let Some(text) = map.get("output").or_else(|| map.get("content"))
    {
        let code = json::integer(&parsed, &["metadata", "exit_code"])
            .or_else(|| (map.get("success") == Some(&Value::Bool(false))).then_some(1));
        return chat::output(json::prose(text), code);
    }
    let text = json::prose(output);
    let code = text.lines().take(8).find_map(|line| {
        let rest = line
            .strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "))?;
        rest.trim().parse().ok()
    });
    chat::output(text, code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outputs_in_their_shapes() {
        let seen = result(&json!("{\"output\":\"x\",\"metadata\":{\"exit_code\":2}}"));
        assert_eq!((seen.text.as_str(), seen.exit_code), ("x", Some(2)));
        let seen = result(&json!(
            "Chunk ID: 1\nProcess exited with code 0\nOutput:\ny"
        ));
        assert_eq!(seen.exit_code, Some(0));
        assert_eq!(result(&json!("{oops")).text, "{oops");
    }
}
