//! OpenHands: event logs of both generations (`action`/`observation`, and
//! `kind`), alone, in a list, one a line, or in the `history` of an evaluation's
//! output; a history of pairs is taken apart.

use std::io::BufRead;

use faultboard_domain::trace::{ExitStatus, StepRole, Tokens};
use serde_json::Value;

use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::{Head, Sketch};
use crate::input::{Walk, Want, walk};
use crate::json;

pub(crate) struct OpenHands;

const ID: &str = "openhands";

fn is_event(d: &Sketch, under: &str) -> bool {
    let has = |key: &str| d.has(&format!("{under}{key}"));
    (has("action") && (has("args") || has("action_risk") || has("is_confirmed")))
        || (has("observation") && has("extras"))
        || (has("kind")
            && has("source")
            && (has("llm_message")
                || has("tool_call_id")
                || has("system_prompt")
                || has("action_id")))
}

impl Reader for OpenHands {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "OpenHands event log"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.documents
            .first()
            .is_some_and(|d| ["", "[].", "[].[].", "history.[].", "history.[].[]."].iter().any(|u| is_event(d, u)))
            // A long instruction may stand before the history.
            || head.documents.first().is_some_and(|d| d.has("instruction") && d.has("test_result") && d.has("metadata.agent_class"))
    }

    fn read(
        &self,
        head: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let alone = head.documents.first().is_some_and(|d| is_event(d, ""));
        walk(
            input,
            limits,
            ID,
            &mut File {
                out,
                alone,
                response: None,
                runs: 0,
            },
        )
    }
}

struct File<'o, 'a> {
    out: &'o mut Assembler<'a>,
    /// Each document is an event of its own.
    alone: bool,
    /// Id of the model's response whose turn is open.
    response: Option<String>,
    runs: u32,
}

impl Walk for File<'_, '_> {
    fn want(&mut self, path: &[String]) -> Want {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        match keys.as_slice() {
            [] if self.alone => Want::Take,
            [] => Want::Enter,
            ["history"] => Want::Each,
            [
                "[]" | "instance_id" | "id" | "instruction" | "test_result" | "git_patch"
                | "metrics" | "error" | "metadata" | "issue",
            ] => Want::Take,
            _ => Want::Skip,
        }
    }

    fn item(&mut self, path: &[String], value: Value) -> Result<(), String> {
        match path.first().map(String::as_str) {
            None | Some("[]" | "history") => self.entry(&value),
            Some("instance_id" | "id") => {
                let name = json::command(&value);
                self.out.account.subject.get_or_insert(name);
            }
            Some("issue") => {
                if let Some(n) = json::number(&value, &["number"]) {
                    self.out
                        .account
                        .subject
                        .get_or_insert(format!("issue #{n}"));
                }
            }
            Some("test_result") => self.patch(json::text(&value, &["git_patch"])),
            Some("git_patch") => self.patch(value.as_str()),
            Some("metrics") => self.metrics(&value),
            Some("error") => {
                if let Some(why) = value.as_str().filter(|w| !w.is_empty()) {
                    let short: String = why.chars().take(200).collect();
                    self.out.account.exit = Some(error_exit(why));
                    self.out.account.exit_word = Some(short);
                }
            }
            Some("metadata") => self.out.model(
                json::text(&value, &["llm_config", "model"])
                    .or_else(|| json::text(&value, &["llm", "model"])),
            ),
            _ => {}
        }
        Ok(())
    }

    fn document_end(&mut self) {
        self.runs += 1;
        if !self.alone {
            self.response = None;
            self.out.close_turn();
            if self.runs == 2 {
                self.out
                    .note("the file holds several runs; they are shown one after another");
            }
        }
    }
}

fn error_exit(why: &str) -> ExitStatus {
    let lower = why.to_ascii_lowercase();
    if lower.contains("maximum iteration") || lower.contains("max_iterations") {
        ExitStatus::StepLimit
    } else if lower.contains("budget") {
        ExitStatus::CostLimit
    } else if lower.contains("context window") || lower.contains("contextwindow") {
        ExitStatus::ContextWindow
    } else {
        ExitStatus::Error
    }
}

impl File<'_, '_> {
    fn patch(&mut self, patch: Option<&str>) {
        if let Some(patch) = patch {
            self.out.account.final_patch = Some(patch.to_owned());
        }
    }

    fn metrics(&mut self, metrics: &Value) {
        if let Some(cost) = json::float(metrics, &["accumulated_cost"]) {
            *self.out.account.cost.get_or_insert(0.0) += cost;
        }
        if let Some(tokens) = metrics.get("accumulated_token_usage").and_then(accumulated) {
            self.out.account.tokens = Some(tokens);
        }
    }

    fn entry(&mut self, value: &Value) {
        self.out.count("entries", "");
        match value {
            Value::Array(pair) => {
                for event in pair {
                    self.event(event);
                }
            }
            event => self.event(event),
        }
    }

    fn event(&mut self, event: &Value) {
        if !event.is_object() {
            self.out.note("an entry that is no event is left out");
            return;
        }
        self.out.count("events", "");
        self.out
            .count("source", json::text(event, &["source"]).unwrap_or("none"));
        let time = json::moment(event, &["timestamp"]);
        if let Some(kind) = json::text(event, &["kind"]) {
            self.second(kind, event, time);
        } else if let Some(action) = json::text(event, &["action"]) {
            self.out.count("action", action);
            self.first_action(action, event, time);
        } else if let Some(seen) = json::text(event, &["observation"]) {
            self.out.count("observation", seen);
            self.first_observation(seen, event, time);
        }
    }

    /// Opens a turn unless the event comes from the response that opened the last.
    fn turn(&mut self, response: Option<&str>) {
        let same = response.is_some() && self.response.as_deref() == response;
        if !same {
            self.out.next_turn();
        }
        self.response = response.map(str::to_owned);
    }

    fn first_action(&mut self, action: &str, event: &Value, time: Option<f64>) {
        // The oldest events keep their arguments beside the action.
        let args = event.get("args").unwrap_or(event);
        let said = |key: &str| json::text(args, &[key]).unwrap_or("");
        let by_user = json::text(event, &["source"]) == Some("user");
        match action {
            "system" => self.out.say(StepRole::System, said("content"), time),
            "change_agent_state" | "recall" | "null" => {}
            "message"
                if by_user
                    || (json::text(event, &["source"]).is_none() && self.out.turn() == 0) =>
            {
                self.out.say(StepRole::User, said("content"), time);
            }
            _ => {
                let response = json::text(event, &["tool_call_metadata", "model_response", "id"]);
                self.turn(response);
                self.out.model(json::text(
                    event,
                    &["tool_call_metadata", "model_response", "model"],
                ));
                if action == "message" {
                    self.out.think(said("content"), time);
                    self.out.ensure_step(time);
                } else {
                    self.first_call(action, event, args, time);
                }
                if let Some(tokens) =
                    json::at(event, &["tool_call_metadata", "model_response", "usage"])
                        .and_then(chat::usage)
                {
                    let turn = self.out.turn();
                    self.out.turn_tokens(turn, tokens);
                }
            }
        }
        if let Some(total) =
            json::at(event, &["llm_metrics", "accumulated_token_usage"]).and_then(accumulated)
        {
            self.out.account.tokens = Some(total);
        }
    }

    fn first_call(&mut self, action: &str, event: &Value, args: &Value, time: Option<f64>) {
        let said = |key: &str| json::text(args, &[key]).unwrap_or("");
        self.out.think(said("thought"), time);
        self.out.think(said("final_thought"), time);
        let tool = json::text(event, &["tool_call_metadata", "function_name"]).unwrap_or(action);
        self.out.count("tool", tool);
        let command = match action {
            "run" => said("command").to_owned(),
            "run_ipython" => said("code").to_owned(),
            _ => {
                let mut rest = args.clone();
                if let Some(map) = rest.as_object_mut() {
                    map.retain(|key, v| {
                        !v.is_null()
                            && !matches!(
                                key.as_str(),
                                "thought"
                                    | "final_thought"
                                    | "impl_source"
                                    | "action"
                                    | "action_risk"
                                    | "is_confirmed"
                            )
                    });
                }
                rest.to_string()
            }
        };
        // Old and new names of the same tools.
        let tool = match (action, tool) {
            ("run", _) => "execute_bash",
            ("run_ipython", _) => "execute_ipython_cell",
            ("read", "str_replace_editor") => "read",
            (_, tool) => tool,
        };
        let id = event.get("id").map(Value::to_string);
        self.out.call(tool, command, id.as_deref(), time);
    }

    fn first_observation(&mut self, seen: &str, event: &Value, time: Option<f64>) {
        if matches!(seen, "agent_state_changed" | "null") {
            return;
        }
        let text = json::prose(event.get("content").unwrap_or(&Value::Null));
        let code = json::integer(event, &["extras", "metadata", "exit_code"])
            .or_else(|| json::integer(event, &["extras", "exit_code"]))
            .or_else(|| json::integer(event, &["exit_code"]))
            .or_else(|| (seen == "error").then_some(1));
        let answer = chat::output(text, code);
        match event
            .get("cause")
            .filter(|c| !c.is_null())
            .map(Value::to_string)
        {
            Some(cause) => self.out.answer(Some(&cause), answer, time),
            None => self.out.answer_next(answer, time),
        }
    }

    fn second(&mut self, kind: &str, event: &Value, time: Option<f64>) {
        self.out.count("kind", kind);
        let by_agent = json::text(event, &["source"]) == Some("agent");
        match kind {
            "SystemPromptEvent" => {
                let text = json::prose(event.get("system_prompt").unwrap_or(&Value::Null));
                self.out.say(StepRole::System, text, time);
            }
            "MessageEvent" => {
                let message = event.get("llm_message").unwrap_or(&Value::Null);
                let text = json::prose(message.get("content").unwrap_or(&Value::Null));
                if by_agent {
                    self.turn(json::text(event, &["llm_response_id"]));
                    self.out.think(chat::reasoning(message).unwrap_or(""), time);
                    self.out.think(&text, time);
                    self.out.ensure_step(time);
                } else {
                    self.out.say(StepRole::User, text, time);
                }
            }
            "ActionEvent" => {
                self.turn(json::text(event, &["llm_response_id"]));
                self.out.think(chat::reasoning(event).unwrap_or(""), time);
                self.out.think(
                    &json::prose(event.get("thought").unwrap_or(&Value::Null)),
                    time,
                );
                let tool = json::text(event, &["tool_name"]).unwrap_or("tool");
                self.out.count("tool", tool);
                let input = json::at(event, &["tool_call", "arguments"])
                    .or_else(|| event.get("action"))
                    .unwrap_or(&Value::Null);
                self.out.call(
                    tool,
                    chat::command_of(tool, input),
                    json::text(event, &["tool_call_id"]),
                    time,
                );
            }
            "ObservationEvent" | "UserRejectObservation" | "AgentErrorEvent" => {
                let seen = event.get("observation").unwrap_or(event);
                let text = seen
                    .get("content")
                    .or_else(|| seen.get("output"))
                    .or_else(|| event.get("error"))
                    .or_else(|| event.get("rejection_reason"));
                let text = json::prose(text.unwrap_or(&Value::Null));
                let failed = kind != "ObservationEvent"
                    || seen.get("is_error").and_then(Value::as_bool) == Some(true);
                let code = json::integer(seen, &["exit_code"])
                    .or_else(|| json::integer(seen, &["metadata", "exit_code"]))
                    .or(failed.then_some(1));
                self.out.answer(
                    json::text(event, &["tool_call_id"]),
                    chat::output(text, code),
                    time,
                );
            }
            _ => {}
        }
    }
}

fn accumulated(usage: &Value) -> Option<Tokens> {
    chat::usage(usage)
}
