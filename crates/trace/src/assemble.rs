//! Puts steps together: keeps a turn open until its tools have answered, numbers
//! steps and turns, counts what the file held, and sends finished steps on in
//! order. Holds a bounded number of steps.

use std::collections::{BTreeMap, VecDeque};

use faultboard_domain::trace::{Action, ExitStatus, Observation, Step, StepRole, Tokens};

use crate::classify;
use crate::limits::Limits;

/// Steps that may wait for an answer; older ones go on without.
const MAX_WAITING: usize = 512;
const MAX_COUNTS: usize = 400;
const MAX_NOTES: usize = 40;

/// What a trace's file says of itself, beside its steps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    /// The format, with its version where the file tells, such as `mini-swe-agent-1.1`.
    pub format: String,
    /// How the run ended, by its own account.
    pub exit: Option<ExitStatus>,
    /// The file's own word for it.
    pub exit_word: Option<String>,
    /// The task, such as an instance id.
    pub subject: Option<String>,
    /// The model that the file names first.
    pub model: Option<String>,
    /// US dollars of the whole run, if told.
    pub cost: Option<f64>,
    /// Tokens of the whole run, if told.
    pub tokens: Option<Tokens>,
    /// Seconds of the whole run, if told.
    pub seconds: Option<f64>,
    /// The patch that was handed in, if the file holds one.
    pub final_patch: Option<String>,
    /// What the file held, such as `role:assistant` or `tool:Bash`, and how often.
    pub counts: BTreeMap<String, u64>,
    /// What had to be left out or repaired, in words.
    pub notes: Vec<String>,
}

/// A step that is being put together.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) role: StepRole,
    pub(crate) turn: Option<u32>,
    pub(crate) thought: String,
    pub(crate) action: Option<Action>,
    pub(crate) observation: Option<Observation>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) cost: Option<f64>,
    pub(crate) start: Option<f64>,
    pub(crate) seconds: Option<f64>,
    /// Id of the call whose answer it waits for.
    pub(crate) awaits: Option<String>,
}

impl Draft {
    /// An empty step.
    pub(crate) fn new(role: StepRole, thought: impl Into<String>) -> Self {
        Self {
            role,
            turn: None,
            thought: thought.into(),
            action: None,
            observation: None,
            tokens: None,
            cost: None,
            start: None,
            seconds: None,
            awaits: None,
        }
    }

    fn size(&self) -> usize {
        self.thought.len()
            + self.action.as_ref().map_or(0, |a| a.command.len())
            + self.observation.as_ref().map_or(0, |o| o.text.len())
    }
}

/// Output of a tool.
pub(crate) fn observation(text: impl Into<String>, exit_code: Option<i64>) -> Observation {
    Observation {
        text: text.into(),
        exit_code,
        truncated: false,
    }
}

/// Puts the steps of one trace together.
pub(crate) struct Assembler<'a> {
    sink: &'a mut dyn FnMut(Step),
    limits: &'a Limits,
    queue: VecDeque<Draft>,
    held: usize,
    sent: u32,
    turn: u32,
    /// The open turn takes no more answers.
    closed: bool,
    refused: bool,
    /// What the file says of itself; readers fill it in.
    pub(crate) account: Account,
}

impl<'a> Assembler<'a> {
    /// Starts a trace; finished steps go to `sink`.
    pub(crate) fn new(limits: &'a Limits, sink: &'a mut dyn FnMut(Step)) -> Self {
        Self {
            sink,
            limits,
            queue: VecDeque::new(),
            held: 0,
            sent: 0,
            turn: 0,
            closed: false,
            refused: false,
            account: Account::default(),
        }
    }

    /// Counts a thing that the file holds.
    pub(crate) fn count(&mut self, kind: &str, name: &str) {
        self.count_by(kind, name, 1);
    }

    /// Counts `by` things that the file holds.
    pub(crate) fn count_by(&mut self, kind: &str, name: &str, by: u64) {
        let short: String = name.chars().take(80).collect();
        let key = if short.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}:{short}")
        };
        let counts = &mut self.account.counts;
        if counts.len() < MAX_COUNTS || counts.contains_key(&key) {
            *counts.entry(key).or_insert(0) += by;
        }
    }

    /// Says once what had to be left out or repaired.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        let notes = &mut self.account.notes;
        if notes.len() < MAX_NOTES && !notes.contains(&text) {
            notes.push(text);
        }
    }

    /// Remembers the model, if it is the first that the file names.
    pub(crate) fn model(&mut self, name: Option<&str>) {
        if self.account.model.is_none()
            && let Some(name) = name.filter(|n| !n.is_empty() && *n != "<synthetic>")
        {
            self.account.model = Some(name.chars().take(200).collect());
        }
    }

    /// Opens a turn of the model and gives its number.
    pub(crate) fn next_turn(&mut self) -> u32 {
        self.turn = self.turn.saturating_add(1);
        self.closed = false;
        self.turn
    }

    /// Ends the open turn: a further run begins, whose words answer nothing here.
    pub(crate) fn close_turn(&mut self) {
        self.closed = true;
    }

    /// The number of the open turn; 0 before the first.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    /// Adds what somebody says.
    pub(crate) fn say(&mut self, role: StepRole, text: impl Into<String>, start: Option<f64>) {
        let mut draft = Draft::new(role, text);
        draft.start = start;
        self.push(draft);
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, draft: Draft) {
        self.held += draft.size();
        self.queue.push_back(draft);
        self.flush(false);
    }

    /// Gives a tool's answer to the call that waits for it. An answer to no known
    /// call stands alone.
    pub(crate) fn answer(
        &mut self,
        call: Option<&str>,
        observation: Observation,
        end: Option<f64>,
    ) {
        self.held += observation.text.len();
        let waiting = call.and_then(|id| {
            self.queue
                .iter_mut()
                .find(|d| d.awaits.as_deref() == Some(id))
        });
        if let Some(draft) = waiting {
            draft.awaits = None;
            settle(draft, observation, end);
        } else {
            let mut draft = Draft::new(StepRole::Tool, "");
            draft.observation = Some(observation);
            draft.start = end;
            self.queue.push_back(draft);
        }
        self.flush(false);
    }

    /// Gives an answer to the first action of the open turn without one, or lets
    /// it stand alone.
    pub(crate) fn answer_next(&mut self, observation: Observation, end: Option<f64>) {
        let turn = Some(self.turn);
        let waiting = self
            .queue
            .iter_mut()
            .find(|d| d.turn == turn && d.action.is_some() && d.observation.is_none())
            .filter(|_| !self.closed);
        if let Some(draft) = waiting {
            self.held += observation.text.len();
            draft.awaits = None;
            settle(draft, observation, end);
            self.flush(false);
        } else {
            self.answer(None, observation, end);
        }
    }

    /// Whether an action of the open turn waits for its answer.
    pub(crate) fn waits(&self) -> bool {
        !self.closed
            && self
                .queue
                .iter()
                .any(|d| d.turn == Some(self.turn) && d.action.is_some() && d.observation.is_none())
    }

    /// Whether the open turn's step still has room for an action: the model has
    /// spoken and no tool has answered since.
    pub(crate) fn has_open_turn(&mut self) -> bool {
        self.open_step().is_some()
    }

    /// The limits that hold for this trace.
    pub(crate) fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// The step of the open turn that has no action yet, for one to be added.
    pub(crate) fn open_step(&mut self) -> Option<&mut Draft> {
        let turn = Some(self.turn);
        self.queue.back_mut().filter(|d| {
            d.turn == turn
                && d.turn.is_some()
                && d.action.is_none()
                && d.role == StepRole::Assistant
        })
    }

    /// Adds what the model thinks or says to the open turn.
    pub(crate) fn think(&mut self, text: &str, start: Option<f64>) {
        if text.is_empty() {
            return;
        }
        if let Some(draft) = self.open_step() {
            if !draft.thought.is_empty() {
                draft.thought.push_str("\n\n");
            }
            draft.thought.push_str(text);
            draft.start = draft.start.or(start);
            self.held += text.len();
            return;
        }
        let mut draft = Draft::new(StepRole::Assistant, text);
        draft.turn = Some(self.turn);
        draft.start = start;
        self.push(draft);
    }

    /// Adds a tool call to the open turn, beside what was said just before.
    pub(crate) fn call(
        &mut self,
        tool: &str,
        command: String,
        id: Option<&str>,
        start: Option<f64>,
    ) {
        let act = Some(action(tool, command));
        let awaits = id.filter(|i| !i.is_empty()).map(str::to_owned);
        if let Some(draft) = self.open_step() {
            draft.action = act;
            draft.awaits = awaits;
            draft.start = draft.start.or(start);
            return;
        }
        let mut draft = Draft::new(StepRole::Assistant, "");
        draft.turn = Some(self.turn);
        draft.action = act;
        draft.awaits = awaits;
        draft.start = start;
        self.push(draft);
    }

    /// Gives the open turn an empty step if it has none: an empty answer is a turn too.
    pub(crate) fn ensure_step(&mut self, start: Option<f64>) {
        let turn = Some(self.turn);
        if !self.queue.iter().any(|d| d.turn == turn) {
            let mut draft = Draft::new(StepRole::Assistant, "");
            draft.turn = turn;
            draft.start = start;
            self.push(draft);
        }
    }

    /// Gives what one turn cost to its first step, if that is still here.
    pub(crate) fn turn_cost(&mut self, turn: u32, cost: f64) {
        if let Some(draft) = self.queue.iter_mut().find(|d| d.turn == Some(turn)) {
            draft.cost = Some(cost);
        }
    }

    /// Gives the tokens of a turn to its first step, if that is still here.
    pub(crate) fn turn_tokens(&mut self, turn: u32, tokens: Tokens) {
        if let Some(draft) = self.queue.iter_mut().find(|d| d.turn == Some(turn)) {
            draft.tokens = Some(tokens);
        }
    }

    /// Tells how long a turn's first step took, if it is still here.
    pub(crate) fn turn_seconds(&mut self, turn: u32, seconds: f64) {
        if let Some(draft) = self.queue.iter_mut().find(|d| d.turn == Some(turn)) {
            draft.seconds = Some(seconds);
        }
    }

    /// Names a file that a turn's action is about but doesn't name itself.
    pub(crate) fn name_file(&mut self, turn: u32, file: &str) {
        let draft = self.queue.iter_mut().find(|d| d.turn == Some(turn));
        if let Some(action) = draft.and_then(|d| d.action.as_mut()) {
            action.files.push(file.to_owned());
        }
    }

    fn flush(&mut self, all: bool) {
        while let Some(front) = self.queue.front() {
            let crowded = self.queue.len() > MAX_WAITING || self.held as u64 > self.limits.element;
            let open = front.awaits.is_some()
                || (front.turn.is_some() && front.turn == Some(self.turn))
                || self.queue.len() == 1;
            if open && !crowded && !all {
                return;
            }
            if let Some(draft) = self.queue.pop_front() {
                self.held = self.held.saturating_sub(draft.size());
                self.send(draft);
            }
        }
    }

    fn send(&mut self, mut draft: Draft) {
        if self.sent >= self.limits.steps {
            self.refused = true;
            return;
        }
        if let Some(action) = &mut draft.action {
            let seen = classify::look(&action.tool, &action.command);
            action.kind = seen.kind;
            // A reader may know the file from elsewhere: an editor's open file.
            if action.files.is_empty() {
                action.files = seen.files;
            }
        }
        (self.sink)(Step {
            index: self.sent,
            role: draft.role,
            turn: draft.turn,
            thought: draft.thought,
            action: draft.action,
            observation: draft.observation,
            tokens: draft.tokens,
            cost: draft.cost,
            start: draft.start,
            seconds: draft.seconds,
        });
        self.sent += 1;
    }

    /// Sends what is left and gives the account of the file.
    pub(crate) fn finish(mut self) -> Account {
        self.flush(true);
        if self.refused {
            let limit = self.limits.steps;
            self.note(format!(
                "the trace has more than {limit} steps; the rest is left out"
            ));
        }
        self.account
    }
}

fn settle(draft: &mut Draft, observation: Observation, end: Option<f64>) {
    if draft.seconds.is_none()
        && let (Some(start), Some(end)) = (draft.start, end)
        && end >= start
    {
        draft.seconds = Some(end - start);
    }
    match &mut draft.observation {
        Some(earlier) => {
            earlier.text.push('\n');
            earlier.text.push_str(&observation.text);
            earlier.exit_code = earlier.exit_code.or(observation.exit_code);
            earlier.truncated |= observation.truncated;
        }
        None => draft.observation = Some(observation),
    }
}

/// An action; its kind and files are found when the step is sent on.
pub(crate) fn action(tool: impl Into<String>, command: impl Into<String>) -> Action {
    Action {
        kind: faultboard_domain::trace::ActionKind::Other,
        tool: tool.into(),
        command: command.into(),
        files: Vec::new(),
    }
}
