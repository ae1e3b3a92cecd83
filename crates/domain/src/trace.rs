//! A normalised trace: what every reader makes of its format.

use serde::{Deserialize, Serialize};

use crate::case::words;

words!(
    /// What a step does.
    ActionKind {
        /// Looks at files.
        Read = "read",
        /// Searches in files.
        Search = "search",
        /// Changes files.
        Edit = "edit",
        /// Builds.
        Build = "build",
        /// Runs tests.
        Test = "test",
        /// Runs a program.
        Run = "run",
        /// Uses version control.
        Vcs = "vcs",
        /// Reaches for the network.
        Network = "network",
        /// Hands in.
        Submit = "submit",
        /// Only thinks.
        Think = "think",
        /// Anything else.
        Other = "other",
    }
);

words!(
    /// Who speaks in a step.
    StepRole {
        /// Instructions of the scaffold.
        System = "system",
        /// The task or a person.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// A tool's answer that stands alone.
        Tool = "tool",
    }
);

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    /// Its kind.
    pub kind: ActionKind,
    /// The tool, such as `bash`.
    pub tool: String,
    /// The command or the tool's input.
    pub command: String,
    /// Files that it names, as far as the command tells.
    pub files: Vec<String>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The output.
    pub text: String,
    /// Exit code, if known.
    pub exit_code: Option<i64>,
    /// Whether the scaffold had cut it.
    pub truncated: bool,
}

/// Tokens of one model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Prompt tokens, cached ones included.
    pub input: u64,
    /// Completion tokens.
    pub output: u64,
    /// Prompt tokens that came from a cache.
    pub cached: u64,
}

/// One step of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// 0-based position.
    pub index: u32,
    /// Who speaks.
    pub role: StepRole,
    /// 1-based number of the model's turn that the step belongs to; a turn with
    /// several tool calls has several steps. None for what others say.
    #[serde(default)]
    pub turn: Option<u32>,
    /// Text of the message beside its action.
    pub thought: String,
    /// What was done.
    pub action: Option<Action>,
    /// What came back.
    pub observation: Option<Observation>,
    /// Tokens, if told.
    pub tokens: Option<Tokens>,
    /// US dollars, if told.
    pub cost: Option<f64>,
    /// Seconds since 1970 when it began, if told.
    pub start: Option<f64>,
    /// How long it took, if told.
    pub seconds: Option<f64>,
}

words!(
    /// How the run ended, by its own account.
    ExitStatus {
        /// Handed in.
        Submitted = "submitted",
        /// Out of steps.
        StepLimit = "step-limit",
        /// Out of money.
        CostLimit = "cost-limit",
        /// Out of time.
        TimeLimit = "time-limit",
        /// Out of context.
        ContextWindow = "context-window",
        /// Broke down.
        Error = "error",
        /// Not told.
        Unknown = "unknown",
    }
);

/// What a whole trace amounts to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// The format that was recognised.
    pub format: String,
    /// Steps in all.
    pub steps: u32,
    /// Turns of the model: what papers count as the steps of a run.
    #[serde(default)]
    pub turns: u32,
    /// Steps by the model that did something.
    pub actions: u32,
    /// 1-based number of the model's turn that first changed a file.
    pub first_edit: Option<u32>,
    /// Reading and searching actions.
    pub reads: u32,
    /// Editing actions.
    pub edits: u32,
    /// Tokens over all calls, if told.
    pub tokens: Option<Tokens>,
    /// US dollars, if told.
    pub cost: Option<f64>,
    /// Seconds, if told.
    pub seconds: Option<f64>,
    /// How it ended.
    pub exit: ExitStatus,
    /// Files that edits name, sorted.
    pub edited_files: Vec<String>,
    /// What the reader had to leave out or repair, in words.
    pub notes: Vec<String>,
}
