//! The pieces of text that an attempt's model saw or wrote. Bytes stay bytes:
//! tool output need not be UTF-8.

use faultboard_domain::trace::{Step, StepRole};

/// Where a text stands in an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// System and user prompts.
    Prompt,
    /// What the model wrote beside its actions, reasoning included.
    Thought,
    /// Commands and other input of tools.
    Input,
    /// What tools gave back.
    Output,
    /// The patch handed in.
    Patch,
    /// The diagnosis handed in.
    Diagnosis,
}

impl Source {
    /// Every source.
    pub const ALL: [Source; 6] = [
        Source::Prompt,
        Source::Thought,
        Source::Input,
        Source::Output,
        Source::Patch,
        Source::Diagnosis,
    ];

    /// The word used in findings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Prompt => "prompt",
            Source::Thought => "thought",
            Source::Input => "input",
            Source::Output => "output",
            Source::Patch => "patch",
            Source::Diagnosis => "diagnosis",
        }
    }

    /// The source of a word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

/// A set of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sources(u8);

impl Sources {
    /// Every source.
    pub const ALL: Sources = Sources(0b11_1111);
    /// What the model itself wrote, tool input aside.
    pub const WRITTEN: Sources = Sources::of(&[Source::Thought, Source::Patch, Source::Diagnosis]);
    /// Tool input alone.
    pub const INPUT: Sources = Sources::of(&[Source::Input]);

    /// The set of these.
    pub const fn of(sources: &[Source]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < sources.len() {
            bits |= 1 << sources[i] as u8;
            i += 1;
        }
        Sources(bits)
    }

    /// Whether the source is one of them.
    pub const fn has(self, source: Source) -> bool {
        self.0 & (1 << source as u8) != 0
    }
}

/// One text of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a> {
    /// Where it stands.
    pub source: Source,
    /// Index of its step; none for the patch and the diagnosis.
    pub step: Option<u32>,
    /// Name of the tool, for input and output, if known.
    pub tool: Option<&'a str>,
    /// The text.
    pub bytes: &'a [u8],
}

impl<'a> Segment<'a> {
    /// A text without a step.
    pub fn whole(source: Source, bytes: &'a [u8]) -> Self {
        Self {
            source,
            step: None,
            tool: None,
            bytes,
        }
    }

    /// The texts of a normalised step, in the order in which they came up.
    pub fn of_step(step: &'a Step) -> Vec<Self> {
        let segment = |source, tool, text: &'a str| Segment {
            source,
            step: Some(step.index),
            tool,
            bytes: text.as_bytes(),
        };
        let spoken = match step.role {
            StepRole::System | StepRole::User => Source::Prompt,
            StepRole::Assistant => Source::Thought,
            StepRole::Tool => Source::Output,
        };
        let mut segments = vec![segment(spoken, None, &step.thought)];
        let tool = step.action.as_ref().map(|a| a.tool.as_str());
        if let Some(action) = &step.action {
            segments.push(segment(Source::Input, tool, &action.command));
        }
        if let Some(observation) = &step.observation {
            segments.push(segment(Source::Output, tool, &observation.text));
        }
        segments.retain(|s| !s.bytes.is_empty());
        segments
    }
}
