//! Aider's chat history: Markdown with `####` before what the person typed and
//! `>` before what the program said. One answer of the model is one turn; it is
//! an edit if the program applied one.

use std::io::BufRead;

use faultboard_domain::trace::{StepRole, Tokens};

use super::Reader;
use crate::assemble::{Assembler, observation};
use crate::error::TraceError;
use crate::head::Head;
use crate::input::Lines;

pub(crate) struct Aider;

const SESSION: &str = "# aider chat started at ";

impl Reader for Aider {
    fn id(&self) -> &'static str {
        "aider"
    }

    fn title(&self) -> &'static str {
        "Aider chat history"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        !head.is_json()
            && head
                .bytes
                .split(|b| *b == b'\n')
                .take(200)
                .any(|line| line.starts_with(SESSION.as_bytes()))
    }

    fn read(
        &self,
        _: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let mut lines = Lines::new(input, limits);
        let mut chat = Chat {
            out,
            part: Part::Between,
            text: String::new(),
            answered: false,
            time: None,
        };
        while let Some(line) = lines.next()? {
            let text = String::from_utf8_lossy(line.bytes);
            chat.line(&text);
            if chat.text.len() as u64 > limits.element {
                chat.close();
            }
        }
        chat.close();
        Ok(())
    }
}

/// Whose words the lines at hand are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Between,
    Person,
    Model,
    Program,
}

struct Chat<'o, 'a> {
    out: &'o mut Assembler<'a>,
    part: Part,
    text: String,
    /// The model has answered since the person spoke; what the program says
    /// belongs to that answer.
    answered: bool,
    time: Option<f64>,
}

impl Chat<'_, '_> {
    fn line(&mut self, line: &str) {
        self.out.count("lines", "");
        if let Some(when) = line.strip_prefix(SESSION) {
            self.close();
            self.out.count("sessions", "");
            self.answered = false;
            self.time = crate::json::instant(&when.trim().replace(' ', "T"));
            self.out.say(StepRole::System, line.trim(), self.time);
        } else if let Some(said) = line
            .strip_prefix("#### ")
            .or_else(|| (line == "####").then_some(""))
        {
            if self.part != Part::Person {
                self.close();
                self.part = Part::Person;
                self.answered = false;
                self.out.count("prompts", "");
            }
            self.out.count("prompt_lines", "");
            self.add(said.trim_end());
        } else if let Some(said) = line
            .strip_prefix('>')
            .filter(|_| !line.starts_with(">>>>>"))
        {
            if self.part != Part::Program {
                self.close();
                self.part = Part::Program;
            }
            self.out.count("tool_lines", "");
            self.add(said.strip_prefix(' ').unwrap_or(said).trim_end());
        } else {
            if line.starts_with(">>>>>") {
                self.out.count("tool_lines", "");
            }
            if self.part != Part::Model {
                if line.trim().is_empty() {
                    return;
                }
                self.close();
                self.part = Part::Model;
            }
            self.add(line);
        }
    }

    fn add(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The lines at hand are complete.
    fn close(&mut self) {
        let text = std::mem::take(&mut self.text);
        let part = std::mem::replace(&mut self.part, Part::Between);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        match part {
            Part::Between => {}
            Part::Person => self.out.say(StepRole::User, text, self.time),
            Part::Model => {
                self.out.next_turn();
                self.out.think(text, self.time);
                self.answered = true;
            }
            Part::Program => self.program(text),
        }
    }

    fn program(&mut self, text: &str) {
        let mut applied = Vec::new();
        for line in text.lines() {
            if let Some(file) = line.strip_prefix("Applied edit to ") {
                self.out.count("applied", "");
                applied.push(file.trim());
            } else if let Some(name) = line
                .strip_prefix("Main model: ")
                .or_else(|| line.strip_prefix("Model: "))
            {
                self.out.model(name.split(" with ").next());
            } else if let Some(version) = line.strip_prefix("Aider v") {
                self.out.count("version", version);
            } else if line.starts_with("Commit ") {
                self.out.count("commits", "");
            } else if line.starts_with("Tokens:") {
                self.tokens(line);
            }
        }
        if !self.answered {
            self.out.answer(None, observation(text, None), self.time);
            return;
        }
        if !applied.is_empty() {
            let command = applied
                .iter()
                .map(|f| format!("apply edit to {f}"))
                .collect::<Vec<_>>()
                .join("\n");
            self.out.call("edit", command, None, None);
            let turn = self.out.turn();
            for file in &applied {
                self.out.name_file(turn, file);
            }
        }
        self.out.answer_next(observation(text, None), None);
    }

    /// `Tokens: 3.2k sent, 21 received. Cost: $0.0082 message, $0.0082 session.`
    fn tokens(&mut self, line: &str) {
        self.out.count("token_lines", "");
        let before = |word: &str| {
            let end = line.find(word)?;
            amount(line[..end].split_whitespace().next_back()?)
        };
        let tokens = Tokens {
            input: before(" sent").unwrap_or(0),
            output: before(" received").unwrap_or(0),
            cached: before(" cache hit").unwrap_or(0),
        };
        let sum = self.out.account.tokens.get_or_insert_default();
        sum.input = sum.input.saturating_add(tokens.input);
        sum.output = sum.output.saturating_add(tokens.output);
        sum.cached = sum.cached.saturating_add(tokens.cached);
        let cost = line
            .split_once("Cost: $")
            .and_then(|(_, rest)| rest.split_whitespace().next())
            .and_then(|c| c.replace(',', "").parse::<f64>().ok())
            .filter(|c| c.is_finite());
        let turn = self.out.turn();
        if self.answered {
            self.out.turn_tokens(turn, tokens);
        }
        if let Some(cost) = cost {
            self.out.count("cost_lines", "");
            *self.out.account.cost.get_or_insert(0.0) += cost;
            if self.answered {
                self.out.turn_cost(turn, cost);
            }
        }
    }
}

/// `3.2k`, `21`, `1.1M`.
fn amount(word: &str) -> Option<u64> {
    let word = word.trim_end_matches(',').replace(',', "");
    let (digits, factor) = match word.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => match word.strip_suffix('M') {
            Some(digits) => (digits, 1e6),
            None => (word.as_str(), 1.0),
        },
    };
    let value = digits.parse::<f64>().ok()? * factor;
    // Counts of tokens fit a double exactly; the cast saturates.
    (value.is_finite() && value >= 0.0).then(|| value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        assert_eq!(amount("3.2k"), Some(3_200));
        assert_eq!(amount("21"), Some(21));
        assert_eq!(amount("1.1M"), Some(1_100_000));
        assert_eq!(amount("many"), None);
    }
}
