//! ATIF, the trajectory format of the Harbor harness: one document, a list of
//! them, or a header and one step a line.

use std::io::BufRead;

use faultboard_domain::trace::StepRole;
use serde_json::Value;

use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::Head;
use crate::input::{Walk, Want, json_lines, walk};
use crate::json;

pub(crate) struct Atif;

const ID: &str = "atif";

impl Reader for Atif {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "ATIF trajectory (Harbor)"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        let Some(first) = head.documents.first() else {
            return false;
        };
        let named = |path: &str| first.word(path).is_some_and(|w| w.starts_with("ATIF"));
        named("schema_version")
            || named("[].schema_version")
            || (first.has("schema_version")
                && first.has("agent.name")
                && (first.has("steps") || first.has("session_id")))
            || (first.has("steps.[].step_id") && first.has("steps.[].source"))
            || (first.has("step_id") && first.has("source") && first.has("message"))
    }

    fn read(
        &self,
        head: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let by_line = head
            .documents
            .first()
            .is_some_and(|d| d.has("__header__") || (d.has("step_id") && d.has("source")));
        if !by_line {
            return walk(input, limits, ID, &mut File { out });
        }
        let count = json_lines(input, limits, ID, &mut |value| {
            if value.get("__header__").is_some() {
                header(&value, out);
            } else {
                step(&value, out);
            }
            Ok(())
        })?;
        if count.cut {
            out.note("the last line is cut off and left out");
        }
        Ok(())
    }
}

struct File<'o, 'a> {
    out: &'o mut Assembler<'a>,
}

impl Walk for File<'_, '_> {
    fn want(&mut self, path: &[String]) -> Want {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        // A list of trajectories holds what a single one does, one level down.
        let keys = match keys.as_slice() {
            ["[]", rest @ ..] => {
                if rest.is_empty() {
                    self.out.close_turn();
                    self.out.count("trajectories", "");
                    if self.out.account.counts.get("trajectories") == Some(&2) {
                        self.out.note(
                            "the file holds several trajectories; they are shown one after another",
                        );
                    }
                }
                rest
            }
            all => all,
        };
        match keys {
            [] => Want::Enter,
            ["steps"] => Want::Each,
            ["schema_version" | "agent" | "session_id" | "final_metrics"] => Want::Take,
            _ => Want::Skip,
        }
    }

    fn item(&mut self, path: &[String], value: Value) -> Result<(), String> {
        let key = path.iter().find(|k| *k != "[]").map(String::as_str);
        let out = &mut *self.out;
        match key {
            Some("steps") => step(&value, out),
            Some("schema_version") => version(value.as_str(), out),
            Some("agent") => agent(&value, out),
            Some("session_id") => out.account.subject = value.as_str().map(str::to_owned),
            Some("final_metrics") => metrics(&value, out),
            _ => {}
        }
        Ok(())
    }
}

fn version(word: Option<&str>, out: &mut Assembler<'_>) {
    if let Some(word) = word.filter(|w| w.len() < 40) {
        let number = word.trim_start_matches("ATIF-").trim_start_matches('v');
        out.account.format = format!("{ID}-{number}");
    }
}

fn agent(agent: &Value, out: &mut Assembler<'_>) {
    if let Some(name) = json::text(agent, &["name"]) {
        out.count("agent", name);
    }
    out.model(json::text(agent, &["model_name"]).or_else(|| json::text(agent, &["model"])));
}

fn header(value: &Value, out: &mut Assembler<'_>) {
    version(json::text(value, &["schema_version"]), out);
    agent(value.get("agent").unwrap_or(&Value::Null), out);
    out.account.subject = json::text(value, &["session_id"]).map(str::to_owned);
}

/// Totals. All zero means that nobody counted.
fn metrics(value: &Value, out: &mut Assembler<'_>) {
    let n = |key: &str| json::number(value, &[key]).unwrap_or(0);
    let (input, output) = (n("total_prompt_tokens"), n("total_completion_tokens"));
    let cost = json::float(value, &["total_cost_usd"]);
    if input > 0 || output > 0 {
        let sum = out.account.tokens.get_or_insert_default();
        sum.input = sum.input.saturating_add(input);
        sum.output = sum.output.saturating_add(output);
        sum.cached = sum.cached.saturating_add(n("total_cached_tokens"));
        if let Some(cost) = cost {
            *out.account.cost.get_or_insert(0.0) += cost;
        }
    } else if let Some(cost) = cost.filter(|c| *c > 0.0) {
        *out.account.cost.get_or_insert(0.0) += cost;
    }
}

fn step(value: &Value, out: &mut Assembler<'_>) {
    let source = json::text(value, &["source"]).unwrap_or("?");
    out.count("steps", "");
    out.count("source", source);
    let time = json::moment(value, &["timestamp"]);
    let message = json::prose(value.get("message").unwrap_or(&Value::Null));
    match source {
        "agent" => agent_step(value, &message, time, out),
        "user" if out.waits() && value.get("observation").is_none() => {
            out.answer_next(chat::output(message, None), time);
        }
        "user" => out.say(StepRole::User, message, time),
        _ => {
            let answered = value.get("observation").is_some();
            let call = message.strip_prefix("Tool result for ").map(str::trim);
            if !(answered && call.is_some()) {
                out.say(StepRole::System, message.clone(), time);
            }
            observations(value, call, time, out);
        }
    }
}

fn agent_step(value: &Value, message: &str, time: Option<f64>, out: &mut Assembler<'_>) {
    let turn = out.next_turn();
    out.model(json::text(value, &["model_name"]));
    if let Some(thinking) = chat::reasoning(value) {
        out.think(thinking, time);
    }
    let stated = json::at(value, &["tool_calls"])
        .and_then(Value::as_array)
        .is_some_and(|c| !c.is_empty());
    let keyed = if stated { None } else { keystrokes(message) };
    match keyed {
        Some((said, command, done)) => {
            out.think(&said, time);
            let tool = if command.is_empty() && done {
                "submit"
            } else {
                "terminal"
            };
            if !command.is_empty() || done {
                out.call(tool, command, None, time);
            }
        }
        None => {
            if !matches!(message, "[tool call]" | "(no assistant text)") {
                out.think(message, time);
            }
            let calls = chat::tool_calls(value, time, out);
            out.count_by("tool_calls", "", calls as u64);
        }
    }
    out.ensure_step(time);
    observations(value, None, None, out);
    let metrics = value.get("metrics").unwrap_or(&Value::Null);
    if let Some(tokens) = chat::usage(metrics) {
        out.turn_tokens(turn, tokens);
    }
    if let Some(cost) = json::float(metrics, &["cost_usd"]) {
        out.turn_cost(turn, cost);
    }
}

/// An agent that types into a terminal writes its keystrokes as JSON.
fn keystrokes(message: &str) -> Option<(String, String, bool)> {
    let start = message.find('{')?;
    let end = message.rfind('}')?;
    let parsed: Value = serde_json::from_str(message.get(start..=end)?).ok()?;
    let commands = parsed.get("commands")?.as_array()?;
    let keys: Vec<&str> = commands
        .iter()
        .filter_map(|c| json::text(c, &["keystrokes"]).or_else(|| c.as_str()))
        .collect();
    let said = ["analysis", "state_analysis", "plan", "explanation"]
        .iter()
        .filter_map(|k| json::text(&parsed, &[k]))
        .collect::<Vec<_>>()
        .join("\n\n");
    let before = message[..start].trim();
    let said = if before.is_empty() {
        said
    } else {
        format!("{before}\n\n{said}")
    };
    let done = ["task_complete", "is_task_complete"]
        .iter()
        .any(|k| parsed.get(*k).and_then(Value::as_bool) == Some(true));
    Some((said, keys.concat(), done))
}

fn observations(value: &Value, call: Option<&str>, time: Option<f64>, out: &mut Assembler<'_>) {
    let Some(seen) = value.get("observation").filter(|o| !o.is_null()) else {
        return;
    };
    match seen.get("results").and_then(Value::as_array) {
        Some(results) => {
            for result in results {
                out.count("observation_results", "");
                let id = json::text(result, &["source_call_id"]).or(call);
                let content = result.get("content").unwrap_or(&Value::Null);
                let text = match content {
                    Value::Object(_) => content.to_string(),
                    other => json::prose(other),
                };
                let answer = chat::output(text, exit_code(content));
                if id.is_some() {
                    out.answer(id, answer, time);
                } else {
                    out.answer_next(answer, time);
                }
            }
        }
        None => {
            let failed = json::at(seen, &["result", "success"]) == Some(&Value::Bool(false));
            let text = json::prose(seen.get("content").unwrap_or(seen));
            let answer = chat::output(text, failed.then_some(1));
            if call.is_some() {
                out.answer(call, answer, time);
            } else {
                out.answer_next(answer, time);
            }
        }
    }
}

/// The exit code in a tool's answer that is JSON of its own.
fn exit_code(content: &Value) -> Option<i64> {
    let parsed = json::unwrapped(content);
    ["exit_code", "exitCode", "returncode"]
        .iter()
        .find_map(|k| json::integer(&parsed, &[k]))
        .or_else(|| (parsed.get("passed") == Some(&Value::Bool(false))).then_some(1))
}
