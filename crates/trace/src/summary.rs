//! What a whole trace amounts to, from its steps and the file's own account.
//! Where the two disagree on totals, the file's account wins: it knows of calls
//! that left no step.

use std::collections::BTreeSet;

use faultboard_domain::trace::{ActionKind, ExitStatus, Step, StepRole, Tokens, TraceSummary};

use crate::assemble::Account;
use crate::classify;

/// Edited files that are kept.
const MAX_FILES: usize = 500;

/// Adds steps up. Feed it every step in order, then finish it.
#[derive(Debug, Default)]
pub struct Summariser {
    steps: u32,
    turns: u32,
    actions: u32,
    first_edit: Option<u32>,
    reads: u32,
    edits: u32,
    tokens: Option<Tokens>,
    cost: Option<f64>,
    begun: Option<f64>,
    ended: Option<f64>,
    last_action: Option<ActionKind>,
    files: BTreeSet<String>,
}

impl Summariser {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next step in.
    pub fn add(&mut self, step: &Step) {
        self.steps += 1;
        if let Some(turn) = step.turn {
            self.turns = self.turns.max(turn);
        }
        if let Some(tokens) = step.tokens {
            let sum = self.tokens.get_or_insert_default();
            sum.input = sum.input.saturating_add(tokens.input);
            sum.output = sum.output.saturating_add(tokens.output);
            sum.cached = sum.cached.saturating_add(tokens.cached);
        }
        if let Some(cost) = step.cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
        if let Some(start) = step.start {
            let end = start + step.seconds.unwrap_or(0.0);
            self.begun = Some(self.begun.map_or(start, |b| b.min(start)));
            self.ended = Some(self.ended.map_or(end, |e| e.max(end)));
        }
        let Some(action) = &step.action else { return };
        if step.role != StepRole::Assistant {
            return;
        }
        self.actions += 1;
        self.last_action = Some(action.kind);
        let seen = classify::look(&action.tool, &action.command);
        match seen.kind {
            ActionKind::Read | ActionKind::Search => self.reads += 1,
            _ => {}
        }
        if seen.edits {
            self.edits += 1;
            if self.first_edit.is_none() {
                self.first_edit = Some(step.turn.unwrap_or(self.actions));
            }
            let named = if seen.edited.is_empty() && seen.kind == ActionKind::Edit {
                &action.files
            } else {
                &seen.edited
            };
            for file in named {
                if self.files.len() < MAX_FILES {
                    self.files.insert(file.clone());
                }
            }
        }
    }

    /// The summary, with the file's own account.
    pub fn finish(self, account: &Account) -> TraceSummary {
        let exit = match account.exit {
            Some(exit) if exit != ExitStatus::Unknown => exit,
            _ if self.last_action == Some(ActionKind::Submit) => ExitStatus::Submitted,
            other => other.unwrap_or(ExitStatus::Unknown),
        };
        let span = match (self.begun, self.ended) {
            (Some(begun), Some(ended)) if ended > begun => Some(ended - begun),
            _ => None,
        };
        TraceSummary {
            format: account.format.clone(),
            steps: self.steps,
            turns: self.turns,
            actions: self.actions,
            first_edit: self.first_edit,
            reads: self.reads,
            edits: self.edits,
            tokens: account.tokens.or(self.tokens),
            cost: account.cost.or(self.cost),
            seconds: account.seconds.or(span),
            exit,
            edited_files: self.files.into_iter().collect(),
            notes: account.notes.clone(),
        }
    }
}

/// What a scaffold's own word for its end means.
pub(crate) fn exit_of(word: &str) -> ExitStatus {
    let w = word.to_ascii_lowercase();
    let has = |part: &str| w.contains(part);
    if w.is_empty() {
        ExitStatus::Unknown
    } else if has("cost") || has("budget") {
        ExitStatus::CostLimit
    } else if has("context") {
        ExitStatus::ContextWindow
    } else if has("step")
        || has("max_turns")
        || has("maxturns")
        || has("iteration")
        || has("limitsexceeded")
    {
        ExitStatus::StepLimit
    } else if w == "timeexceeded"
        || has("time_limit")
        || has("execution_time")
        || has("wall")
        || has("working limit")
    {
        ExitStatus::TimeLimit
    } else if has("submitted")
        || matches!(
            w.as_str(),
            "success" | "finished" | "completed" | "finish" | "complete"
        )
    {
        ExitStatus::Submitted
    } else if has("error")
        || has("exit")
        || has("timeout")
        || has("exception")
        || has("fail")
        || has("interrupt")
        || has("cancel")
        || has("limit")
    {
        ExitStatus::Error
    } else {
        ExitStatus::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_the_end() {
        for (word, want) in [
            ("Submitted", ExitStatus::Submitted),
            ("submitted", ExitStatus::Submitted),
            ("submitted (exit_cost)", ExitStatus::CostLimit),
            ("exit_context", ExitStatus::ContextWindow),
            ("LimitsExceeded", ExitStatus::StepLimit),
            ("error_max_turns", ExitStatus::StepLimit),
            ("Timeout", ExitStatus::Error),
            ("InternalServerError", ExitStatus::Error),
            ("TimeExceeded", ExitStatus::TimeLimit),
            ("", ExitStatus::Unknown),
            ("wandered off", ExitStatus::Unknown),
        ] {
            assert_eq!(exit_of(word), want, "{word}");
        }
    }
}
