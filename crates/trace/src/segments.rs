//! The model-visible texts of a trace, one by one, for whoever scans them.
//! Texts are handed out as they stand in the steps: byte ranges found in them
//! hold for the step shown on a page.

use faultboard_domain::trace::{Step, StepRole};

/// Where a text stands in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// What the model was told: instructions, task, messages of people.
    Prompt,
    /// What the model said or thought.
    Thought,
    /// What it gave a tool.
    Input,
    /// What a tool answered.
    Output,
}

impl Source {
    /// The word used in findings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Prompt => "prompt",
            Source::Thought => "thought",
            Source::Input => "input",
            Source::Output => "output",
        }
    }
}

/// One text of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Where it stands.
    pub source: Source,
    /// 0-based index of the step.
    pub step: u32,
    /// The text, whole.
    pub text: &'a str,
}

/// The texts of one step that are not empty, in the order in which they came about.
pub fn segments(step: &Step) -> impl Iterator<Item = Segment<'_>> {
    let said = match step.role {
        StepRole::System | StepRole::User => Source::Prompt,
        StepRole::Assistant => Source::Thought,
        StepRole::Tool => Source::Output,
    };
    let input = step.action.as_ref().map_or("", |a| a.command.as_str());
    let output = step.observation.as_ref().map_or("", |o| o.text.as_str());
    [
        (said, step.thought.as_str()),
        (Source::Input, input),
        (Source::Output, output),
    ]
    .into_iter()
    .filter(|(_, text)| !text.is_empty())
    .map(|(source, text)| Segment {
        source,
        step: step.index,
        text,
    })
}
