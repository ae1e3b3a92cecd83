//! mini-swe-agent trajectories: `mini-swe-agent-1` (a command in a fence),
//! `mini-swe-agent-1.1` (tool calls), and the bare lists of messages before them.

use std::io::BufRead;

use faultboard_domain::trace::{ExitStatus, Observation, StepRole};
use serde_json::Value;

use super::{Reader, chat};
use crate::assemble::{Assembler, observation};
use crate::error::TraceError;
use crate::head::Head;
use crate::input::{Walk, Want, walk};
use crate::json;
use crate::summary::exit_of;

pub(crate) struct MiniSweAgent;

const ID: &str = "mini-swe-agent";
/// What stands in for the output of a call that ended the run.
const NOT_EXECUTED: &str = "action was not executed";

impl Reader for MiniSweAgent {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "mini-swe-agent trajectory"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        let Some(first) = head.documents.first() else {
            return false;
        };
        let fenced = || {
            let text = String::from_utf8_lossy(head.bytes);
            text.contains("```bash\\n") || text.contains("```mswea_bash_command\\n")
        };
        first
            .word("trajectory_format")
            .is_some_and(|w| w.starts_with("mini-swe-agent"))
            || first.has("info.mini_version")
            || (first.has("info.model_stats") && first.has("messages.[].role"))
            || (first.has("messages.[].role") && (first.has("messages.[].extra") || fenced()))
            || (first.has("[].role")
                && first.has("[].content")
                && (first.has("[].extra.actions") || fenced()))
    }

    fn read(
        &self,
        _: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let mut file = File { out };
        walk(input, limits, ID, &mut file)
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
            ["messages"] => Want::Each,
            ["[]" | "info" | "trajectory_format" | "instance_id"] => Want::Take,
            _ => Want::Skip,
        }
    }

    fn item(&mut self, path: &[String], value: Value) -> Result<(), String> {
        match path.first().map(String::as_str) {
            Some("messages" | "[]") => message(&value, self.out),
            Some("info") => info(&value, self.out),
            Some("trajectory_format") => {
                if let Some(word) = value.as_str().filter(|w| w.starts_with(ID) && w.len() < 60) {
                    self.out.account.format = word.to_owned();
                }
            }
            Some("instance_id") => self.out.account.subject = value.as_str().map(str::to_owned),
            _ => {}
        }
        Ok(())
    }
}

/// Reads the `info` object: cost, exit, patch.
pub(crate) fn info(info: &Value, out: &mut Assembler<'_>) {
    let cost = json::float(info, &["model_stats", "instance_cost"]);
    out.account.cost = cost.or(out.account.cost);
    if let Some(calls) = json::number(info, &["model_stats", "api_calls"]) {
        out.count_by("api_calls", "", calls);
    }
    out.model(json::text(info, &["config", "model", "model_name"]));
    if let Some(version) = json::text(info, &["mini_version"]) {
        out.count(&format!("version {version}"), "");
    }
    if let Some(patch) = json::text(info, &["submission"]) {
        out.account.final_patch = Some(patch.to_owned());
    }
    let Some(word) = json::text(info, &["exit_status"]) else {
        return;
    };
    let mut exit = exit_of(word);
    if word == "LimitsExceeded" {
        // One word for both limits; the configuration tells which was reached.
        let limit = json::float(info, &["config", "agent", "cost_limit"]).filter(|l| *l > 0.0);
        if let (Some(limit), Some(cost)) = (limit, cost)
            && cost >= limit
        {
            exit = ExitStatus::CostLimit;
        }
    }
    if json::text(info, &["traceback"]).is_some() && exit == ExitStatus::Unknown {
        exit = ExitStatus::Error;
    }
    if exit == ExitStatus::Error {
        let why: String = json::text(info, &["exception_str"])
            .unwrap_or("")
            .chars()
            .take(200)
            .collect();
        out.note(
            format!("the run broke down: {word} {why}")
                .trim_end()
                .to_owned(),
        );
    }
    out.account.exit = Some(exit);
    out.account.exit_word = Some(word.to_owned());
}

/// Reads one message.
pub(crate) fn message(message: &Value, out: &mut Assembler<'_>) {
    let name = json::text(message, &["role"]).unwrap_or("user");
    out.count("messages", "");
    out.count("role", name);
    let extra = message.get("extra").unwrap_or(&Value::Null);
    let time = json::moment(extra, &["timestamp"])
        .or_else(|| json::moment(extra, &["response", "created"]));
    let content = json::prose(message.get("content").unwrap_or(&Value::Null));
    match chat::role(name) {
        StepRole::Assistant => assistant(message, extra, &content, time, out),
        StepRole::Tool if name == "exit" => {
            if let Some(word) = json::text(extra, &["exit_status"])
                && out.account.exit_word.is_none()
            {
                out.account.exit = Some(exit_of(word));
                out.account.exit_word = Some(word.to_owned());
            }
            if !content.is_empty() {
                out.answer_next(observation(content, None), time);
            }
        }
        // What ends a run has no output of its own: the message after this one
        // says how it ended.
        StepRole::Tool if json::text(extra, &["exception_info"]) == Some(NOT_EXECUTED) => {}
        StepRole::Tool => {
            let seen = tool_output(&content, extra);
            let id = json::text(message, &["tool_call_id"]);
            if id.is_some() {
                out.answer(id, seen, time);
            } else {
                out.answer_next(seen, time);
            }
        }
        StepRole::User if out.waits() => out.answer_next(tool_output(&content, extra), time),
        StepRole::User if out.turn() > 0 && content.contains("<returncode>") => {
            out.answer_next(tool_output(&content, extra), time);
        }
        role => out.say(role, content, time),
    }
}

fn assistant(
    message: &Value,
    extra: &Value,
    content: &str,
    time: Option<f64>,
    out: &mut Assembler<'_>,
) {
    let turn = out.next_turn();
    let reply = json::at(extra, &["response", "choices"])
        .and_then(|c| c.get(0))
        .and_then(|c| c.get("message"))
        .unwrap_or(&Value::Null);
    out.model(json::text(extra, &["response", "model"]));
    if let Some(thinking) = chat::reasoning(message).or_else(|| chat::reasoning(reply)) {
        out.think(thinking, time);
    }
    let given = json::at(extra, &["actions"]).and_then(Value::as_array);
    let (said, fenced) = match given {
        Some(_) => (content.to_owned(), Vec::new()),
        None => fences(content),
    };
    out.think(&said, time);
    let mut actions = 0;
    if let Some(given) = given {
        let mut stated = json::at(message, &["tool_calls"])
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for act in given {
            let call = stated.next().unwrap_or(&Value::Null);
            let tool = json::text(call, &["function", "name"]).unwrap_or("bash");
            let id = json::text(act, &["tool_call_id"]).or_else(|| json::text(call, &["id"]));
            let command = json::text(act, &["command"])
                .or_else(|| json::text(act, &["action"]))
                .map_or_else(|| act.to_string(), str::to_owned);
            out.call(tool, command, id, time);
            actions += 1;
        }
    } else if fenced.is_empty() {
        actions += chat::tool_calls(message, time, out);
    } else {
        for command in fenced {
            out.call("bash", command, None, time);
            actions += 1;
        }
    }
    out.count_by("actions", "", actions as u64);
    out.ensure_step(time);
    let usage = json::at(extra, &["response", "usage"]).or_else(|| message.get("usage"));
    if let Some(tokens) = usage.and_then(chat::usage) {
        out.turn_tokens(turn, tokens);
    }
    let cost =
        json::float(extra, &["cost"]).or_else(|| usage.and_then(|u| json::float(u, &["cost"])));
    if let Some(cost) = cost {
        out.turn_cost(turn, cost);
    }
}

/// The text around the command fences, and the commands inside them.
fn fences(content: &str) -> (String, Vec<String>) {
    let mut said = String::new();
    let mut commands = Vec::new();
    let mut rest = content;
    while let Some((at, opening)) = ["```bash\n", "```mswea_bash_command\n"]
        .iter()
        .filter_map(|mark| rest.find(mark).map(|at| (at, mark.len())))
        .min()
    {
        let body = &rest[at + opening..];
        let Some(end) = body.find("\n```") else { break };
        said.push_str(&rest[..at]);
        commands.push(body[..end].to_owned());
        rest = &body[end + 4..];
    }
    said.push_str(rest);
    (said.trim().to_owned(), commands)
}

/// The output and exit code that a message wraps in tags or keeps apart.
pub(crate) fn tool_output(content: &str, extra: &Value) -> Observation {
    let tagged = content
        .split_once("<returncode>")
        .and_then(|(_, rest)| rest.split_once("</returncode>"))
        .and_then(|(code, _)| code.trim().parse().ok());
    let code = json::integer(extra, &["returncode"]).or(tagged);
    let text = match json::text(extra, &["raw_output"]) {
        Some(raw) => raw,
        None => between(content, "<output>\n", "</output>").unwrap_or(content),
    };
    let mut seen = observation(text, code);
    seen.truncated = chat::looks_cut(content);
    if let Some(error) = json::text(extra, &["exception_info"]).filter(|e| !e.is_empty()) {
        seen.text.push('\n');
        seen.text.push_str(error);
    }
    seen
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let start = text.find(open)? + open.len();
    let end = text[start..].rfind(close)? + start;
    Some(&text[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_taken_out_of_the_text() {
        let (said, commands) = fences("THOUGHT: a\n\n```bash\nls\nps\n```\nmore\n```bash\nx\n```");
        assert_eq!(said, "THOUGHT: a\n\n\nmore");
        assert_eq!(commands, ["ls\nps", "x"]);
        assert_eq!(fences("```bash\nno end").1.len(), 0);
    }

    #[test]
    fn outputs_in_tags() {
        let seen = tool_output(
            "<returncode>\n1\n</returncode>\n<output>\nx</output>",
            &Value::Null,
        );
        assert_eq!((seen.exit_code, seen.text.as_str()), (Some(1), "x"));
        let seen = tool_output("plain", &Value::Null);
        assert_eq!((seen.exit_code, seen.text.as_str()), (None, "plain"));
    }
}
