//! What came of running a trace's commands once more: where the replayed output
//! or the resulting tree departs from what was handed in.

use serde::{Deserialize, Serialize};

use crate::case::words;
use crate::clock::Timestamp;

words!(
    /// How a replayed command compares with what the trace says of it.
    Departure {
        /// The same output and exit status.
        Same = "same",
        /// The same but for numbers: times, sizes, addresses.
        Numbers = "numbers",
        /// Another output.
        Output = "output",
        /// Another exit status.
        Exit = "exit",
        /// It was not run.
        NotRun = "not-run",
    }
);

impl Departure {
    /// Whether an auditor should look at it.
    pub const fn departs(self) -> bool {
        matches!(self, Departure::Output | Departure::Exit)
    }
}

/// One command of the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedStep {
    /// 0-based position of its step in the trace.
    pub index: u32,
    /// The beginning of the command.
    pub command: String,
    /// How it compares.
    pub departure: Departure,
    /// In words, where it departs or why it was not run; may be empty.
    pub why: String,
    /// What the trace says, around the first difference; empty if it does not depart.
    pub told: String,
    /// What the replay printed there.
    pub seen: String,
}

/// The tree after the replay beside the tree with the patch that was handed in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedTree {
    /// Files that the patch changes and the replay left otherwise, or the other
    /// way round: (path, in words).
    pub departs: Vec<(String, String)>,
    /// New files that the replay left behind and the patch does not bring.
    pub left_behind: Vec<String>,
}

/// A whole replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayView {
    /// Every command of the trace, in order.
    pub steps: Vec<ReplayedStep>,
    /// The trees, where a patch was handed in.
    pub tree: Option<ReplayedTree>,
    /// What the shell was: `fresh` for each command, or `kept` over all.
    pub shell: String,
    /// Digest of the image that it ran in.
    pub image_digest: String,
    /// How long the commands took, seconds.
    pub seconds: f64,
    /// When it ended.
    pub at: Timestamp,
}

impl ReplayView {
    /// Commands that compare in this way.
    pub fn count(&self, of: Departure) -> usize {
        self.steps.iter().filter(|s| s.departure == of).count()
    }

    /// Whether nothing departs.
    pub fn agrees(&self) -> bool {
        !self.steps.iter().any(|s| s.departure.departs())
            && self.tree.as_ref().is_none_or(|t| t.departs.is_empty())
    }

    /// What came of it, in a sentence.
    pub fn sentence(&self) -> String {
        let run = self.steps.len() - self.count(Departure::NotRun);
        let departs = self.steps.iter().filter(|s| s.departure.departs()).count();
        let tree = match &self.tree {
            None => String::new(),
            Some(t) if t.departs.is_empty() => {
                "; the tree became what the patch makes of it".to_owned()
            }
            Some(t) => format!(
                "; {} files became other than with the patch",
                t.departs.len()
            ),
        };
        format!(
            "{run} of {} commands were run again, {departs} with another output or exit status{tree}",
            self.steps.len()
        )
    }
}

/// An attempt's newest replay, and whether one is under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayStatus {
    /// The newest one.
    pub newest: Option<ReplayView>,
    /// Whether one waits or runs.
    pub under_way: bool,
}
