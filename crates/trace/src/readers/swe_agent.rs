//! SWE-agent `.traj` files: `trajectory` holds the steps, `history` the prompts
//! and, in a file without a trajectory, the steps too.

use std::io::BufRead;

use faultboard_domain::trace::{StepRole, Tokens};
use serde_json::Value;

use super::{Reader, chat};
use crate::assemble::Assembler;
use crate::error::TraceError;
use crate::head::Head;
use crate::input::{Walk, Want, walk};
use crate::json;
use crate::summary::exit_of;

pub(crate) struct SweAgent;

const ID: &str = "swe-agent";

impl Reader for SweAgent {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "SWE-agent trajectory"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.documents.first().is_some_and(|d| {
            (d.has("trajectory.[].action")
                && (d.has("trajectory.[].response") || d.has("trajectory.[].state")))
                || (d.has("history.[].agent") && d.has("history.[].role"))
                || (d.has("trajectory") && d.has("environment") && d.has("history"))
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
            out,
            steps: Vec::new(),
            held: 0,
            prompts_done: false,
            trajectory: false,
            saw_history: false,
        };
        let read = walk(input, limits, ID, &mut file);
        file.release();
        read
    }
}

/// Steps wait here for the prompts, which stand behind them in the file; the
/// text of this many bytes may wait.
const MAX_HELD: usize = 48 << 20;

struct File<'o, 'a> {
    out: &'o mut Assembler<'a>,
    steps: Vec<Value>,
    held: usize,
    /// The first answer of the model has been passed in `history`.
    prompts_done: bool,
    trajectory: bool,
    saw_history: bool,
}

impl Walk for File<'_, '_> {
    fn want(&mut self, path: &[String]) -> Want {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        match keys.as_slice() {
            [] => Want::Enter,
            ["trajectory" | "history"] => Want::Each,
            ["info" | "environment"] => Want::Take,
            _ => Want::Skip,
        }
    }

    fn item(&mut self, path: &[String], value: Value) -> Result<(), String> {
        match path.first().map(String::as_str) {
            Some("trajectory") => {
                self.trajectory = true;
                if self.saw_history {
                    step(&value, self.out);
                    return Ok(());
                }
                self.held += value.to_string().len();
                self.steps.push(value);
                if self.held > MAX_HELD {
                    self.out.note("the prompts stand behind the steps");
                    self.release();
                }
            }
            Some("history") => self.history(&value),
            Some("info") => info(&value, self.out),
            Some("environment") => {
                if let Some(name) = value.as_str() {
                    self.out.count("environment", name);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl File<'_, '_> {
    fn release(&mut self) {
        self.held = 0;
        // Whatever comes later can wait no more.
        self.saw_history = true;
        for value in std::mem::take(&mut self.steps) {
            step(&value, self.out);
        }
    }

    /// Prompts come out as they are; the model's own messages only when there
    /// is no trajectory that holds them.
    fn history(&mut self, message: &Value) {
        let name = json::text(message, &["role"]).unwrap_or("user");
        let demo = message
            .get("is_demo")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        self.out.count("history", name);
        if demo {
            self.out.count("demo", "");
        }
        let content = json::prose(message.get("content").unwrap_or(&Value::Null));
        if demo {
            self.out.say(StepRole::User, content, None);
            return;
        }
        match chat::role(name) {
            StepRole::Assistant if self.trajectory => self.prompts_done = true,
            StepRole::Assistant => {
                self.prompts_done = true;
                self.out.next_turn();
                let thought = json::text(message, &["thought"]).unwrap_or(&content);
                self.out.think(thought, None);
                let id = json::at(message, &["tool_calls"])
                    .and_then(|c| c.get(0))
                    .and_then(|c| json::text(c, &["id"]));
                match json::text(message, &["action"]).filter(|a| !a.trim().is_empty()) {
                    Some(action) => self.out.call(ID, action.to_owned(), id, None),
                    None => {
                        chat::tool_calls(message, None, self.out);
                    }
                }
                self.out.ensure_step(None);
            }
            StepRole::Tool if !self.trajectory => {
                let id = json::at(message, &["tool_call_ids"])
                    .and_then(|c| c.get(0))
                    .and_then(Value::as_str);
                if id.is_some() {
                    self.out.answer(id, chat::output(content, None), None);
                } else {
                    self.out.answer_next(chat::output(content, None), None);
                }
            }
            StepRole::User if self.prompts_done && !self.trajectory => {
                self.out.answer_next(chat::output(content, None), None);
            }
            role @ (StepRole::System | StepRole::User) if !self.prompts_done => {
                self.out.say(role, content, None)
            }
            _ => {}
        }
    }
}

fn step(value: &Value, out: &mut Assembler<'_>) {
    out.count("steps", "");
    let turn = out.next_turn();
    let response = json::text(value, &["response"]).unwrap_or("");
    let thought = json::text(value, &["thought"])
        .filter(|t| !t.is_empty())
        .unwrap_or(response);
    out.think(thought, None);
    let action = json::text(value, &["action"]).unwrap_or("");
    if !action.trim().is_empty() {
        out.count("actions", "");
        out.call(ID, action.to_owned(), None, None);
        if action.starts_with("edit") || action.starts_with("insert") {
            let state = json::unwrapped(value.get("state").unwrap_or(&Value::Null));
            let open = json::text(&state, &["open_file"]).filter(|f| *f != "n/a" && !f.is_empty());
            if let Some(open) = open {
                out.name_file(turn, open);
            }
        }
    }
    let seen = json::prose(value.get("observation").unwrap_or(&Value::Null));
    if seen.is_empty() {
        out.count("empty observations", "");
    } else {
        out.answer_next(chat::output(seen, None), None);
    }
    out.ensure_step(None);
    if let Some(seconds) = json::float(value, &["execution_time"]) {
        out.turn_seconds(turn, seconds);
    }
}

fn info(info: &Value, out: &mut Assembler<'_>) {
    let stats = info.get("model_stats").unwrap_or(&Value::Null);
    // `total_cost` is a running total of a whole job, not of this run.
    out.account.cost = json::float(stats, &["instance_cost"]);
    if let Some(input) = json::number(stats, &["tokens_sent"]) {
        let output = json::number(stats, &["tokens_received"]).unwrap_or(0);
        out.account.tokens = Some(Tokens {
            input,
            output,
            cached: 0,
        });
    }
    if let Some(calls) = json::number(stats, &["api_calls"]) {
        out.count_by("api_calls", "", calls);
    }
    out.account.final_patch = json::text(info, &["submission"]).map(str::to_owned);
    if let Some(word) = json::text(info, &["exit_status"]) {
        out.account.exit = Some(exit_of(word));
        out.account.exit_word = Some(word.to_owned());
    }
}
