//! Normalised traces on disk: one step a line as JSON, with an index of byte
//! offsets, so that any page of a large trace is one small range read.

use std::io::{self, Write};

use faultboard_domain::trace::{ActionKind, Step, StepRole};
use serde::{Deserialize, Serialize};

use crate::classify;

/// Steps between two entries of an index.
pub const EVERY: u32 = 32;
/// Failing steps that an index remembers.
const MAX_FAILURES: usize = 2_000;

/// Where the steps of a normalised trace lie. Small: 8 bytes of JSON or so per 32 steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepIndex {
    /// Steps between two offsets.
    pub every: u32,
    /// Steps in all.
    pub steps: u32,
    /// Bytes of the normalised trace.
    pub bytes: u64,
    /// Byte offset of step 0, `every`, 2 `every`, and so on.
    pub offsets: Vec<u64>,
    /// Index of the first step that edits.
    pub first_edit: Option<u32>,
    /// Index of the last step that hands in.
    pub submit: Option<u32>,
    /// Indices of steps whose tool failed, in order; at most 2,000 of them.
    pub failures: Vec<u32>,
}

/// A range of bytes to read for a page, and how many steps to pass over in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRange {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Steps at the front of the range that come before the page.
    pub skip: u32,
    /// Steps of the page.
    pub count: u32,
}

impl StepIndex {
    /// The bytes that hold `count` steps from step `first` on; none when there
    /// are no such steps.
    pub fn page(&self, first: u32, count: u32) -> Option<PageRange> {
        if count == 0 || first >= self.steps || self.every == 0 {
            return None;
        }
        let count = count.min(self.steps - first);
        let slot = first / self.every;
        let last_slot = (first + count - 1) / self.every;
        let start = *self.offsets.get(slot as usize)?;
        let end = self
            .offsets
            .get(last_slot as usize + 1)
            .copied()
            .unwrap_or(self.bytes);
        Some(PageRange {
            start,
            end,
            skip: first - slot * self.every,
            count,
        })
    }

    /// The first failing step after `step`, for "next error".
    pub fn next_failure(&self, step: Option<u32>) -> Option<u32> {
        let from = step.map_or(0, |s| s.saturating_add(1));
        let at = self.failures.partition_point(|f| *f < from);
        self.failures.get(at).copied()
    }
}

/// Whether a step's tool said that it failed. A search or a comparison that ends
/// with 1 in a shell found nothing, or a difference: an answer, not a failure.
pub fn failed(step: &Step) -> bool {
    // Tools that are no shells take JSON, and mean it when they say 1.
    let looked = step.action.as_ref().is_some_and(|a| {
        matches!(a.kind, ActionKind::Search | ActionKind::Read) && !a.command.starts_with('{')
    });
    step.observation
        .as_ref()
        .and_then(|o| o.exit_code)
        .is_some_and(|code| code != 0 && !(looked && code == 1))
}

/// Writes steps as lines and builds their index. Holds one step at a time.
pub struct NormalisedWriter<W: Write> {
    out: W,
    index: StepIndex,
    line: Vec<u8>,
}

impl<W: Write> NormalisedWriter<W> {
    /// Writes to `out`; wrap a file in a buffer first.
    pub fn new(out: W) -> Self {
        Self {
            out,
            index: StepIndex {
                every: EVERY,
                ..StepIndex::default()
            },
            line: Vec::new(),
        }
    }

    /// Writes the next step.
    ///
    /// # Errors
    /// What `out` says.
    pub fn push(&mut self, step: &Step) -> io::Result<()> {
        let index = &mut self.index;
        if index.steps.is_multiple_of(EVERY) {
            index.offsets.push(index.bytes);
        }
        if let Some(action) = &step.action
            && step.role == StepRole::Assistant
        {
            if index.first_edit.is_none()
                && (action.kind == ActionKind::Edit
                    || (action.kind == ActionKind::Submit
                        && classify::look(&action.tool, &action.command).edits))
            {
                index.first_edit = Some(index.steps);
            }
            if action.kind == ActionKind::Submit {
                index.submit = Some(index.steps);
            }
        }
        if failed(step) && index.failures.len() < MAX_FAILURES {
            index.failures.push(index.steps);
        }
        self.line.clear();
        serde_json::to_writer(&mut self.line, step)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        index.steps += 1;
        index.bytes += self.line.len() as u64;
        Ok(())
    }

    /// Flushes, and gives the index and what was written to.
    ///
    /// # Errors
    /// What `out` says.
    pub fn finish(mut self) -> io::Result<(StepIndex, W)> {
        self.out.flush()?;
        Ok((self.index, self.out))
    }
}

/// Steps as normalised lines, with their index; for traces that fit in memory.
pub fn write_normalised<'s>(steps: impl IntoIterator<Item = &'s Step>) -> (Vec<u8>, StepIndex) {
    let mut writer = NormalisedWriter::new(Vec::new());
    for step in steps {
        // A vector takes every write, and a step has only JSON-able fields.
        if writer.push(step).is_err() {
            break;
        }
    }
    let NormalisedWriter { out, index, .. } = writer;
    (out, index)
}

/// The steps of a page from the bytes that its range names. A line that is no
/// step is an error; so is a range that ends too early.
///
/// # Errors
/// With kind `InvalidData`, when the bytes are not what the index promised.
pub fn read_page(bytes: &[u8], range: &PageRange) -> io::Result<Vec<Step>> {
    let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let mut steps = Vec::new();
    let lines = bytes
        .split(|b| *b == b'\n')
        .filter(|l| !l.is_empty())
        .skip(range.skip as usize)
        .take(range.count as usize);
    for line in lines {
        steps.push(serde_json::from_slice(line).map_err(|_| bad("a line is no step"))?);
    }
    if steps.len() < range.count as usize {
        return Err(bad("the page ends too early"));
    }
    Ok(steps)
}

/// A step in one line, for the list beside the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Index of the step.
    pub index: u32,
    /// The model's turn, if it is one of the model's.
    pub turn: Option<u32>,
    /// Who speaks.
    pub role: StepRole,
    /// Kind of its action.
    pub kind: Option<ActionKind>,
    /// First line of its command, or of its text, shortened.
    pub line: String,
    /// Whether its tool failed.
    pub failed: bool,
    /// US dollars, if told.
    pub cost: Option<f64>,
    /// Seconds, if told.
    pub seconds: Option<f64>,
    /// Bytes of its output.
    pub output_bytes: u64,
}

impl Outline {
    /// Characters of the line.
    const WIDTH: usize = 140;

    /// The outline of a step.
    pub fn of(step: &Step) -> Self {
        let text = match &step.action {
            Some(action) => action.command.as_str(),
            None if step.thought.trim().is_empty() => {
                step.observation.as_ref().map_or("", |o| &o.text)
            }
            None => step.thought.as_str(),
        };
        let mut line = String::new();
        let mut length = 0;
        let mut rest = text.trim_start().chars();
        for c in rest.by_ref() {
            if c == '\n' {
                break;
            }
            if length == Self::WIDTH {
                line.push('…');
                break;
            }
            line.push(if c.is_control() { ' ' } else { c });
            length += 1;
        }
        if length < Self::WIDTH && !rest.as_str().trim().is_empty() {
            line.push_str(" …");
        }
        Self {
            index: step.index,
            turn: step.turn,
            role: step.role,
            kind: step.action.as_ref().map(|a| a.kind),
            line,
            failed: failed(step),
            cost: step.cost,
            seconds: step.seconds,
            output_bytes: step.observation.as_ref().map_or(0, |o| o.text.len() as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultboard_domain::trace::{Action, Observation};

    fn step(index: u32, kind: ActionKind, exit: i64) -> Step {
        Step {
            index,
            role: StepRole::Assistant,
            turn: Some(index + 1),
            thought: format!("thought {index}\nwith a line"),
            action: Some(Action {
                kind,
                tool: "bash".into(),
                command: format!("run {index}\nmore"),
                files: vec![],
            }),
            observation: Some(Observation {
                text: "x".repeat(index as usize % 7),
                exit_code: Some(exit),
                truncated: false,
            }),
            tokens: None,
            cost: None,
            start: None,
            seconds: None,
        }
    }

    #[test]
    fn every_page_reads_back() {
        for total in [0_u32, 1, 31, 32, 33, 100] {
            let steps: Vec<Step> = (0..total).map(|i| step(i, ActionKind::Run, 0)).collect();
            let (bytes, index) = write_normalised(&steps);
            assert_eq!(index.bytes as usize, bytes.len());
            for first in 0..total + 2 {
                for count in [0, 1, 5, 40, u32::MAX] {
                    let Some(range) = index.page(first, count) else {
                        assert!(first >= total || count == 0);
                        continue;
                    };
                    let page = read_page(&bytes[range.start as usize..range.end as usize], &range)
                        .unwrap();
                    let last = total.min(first.saturating_add(count));
                    assert_eq!(page, steps[first as usize..last as usize]);
                }
            }
        }
    }

    #[test]
    fn landmarks() {
        let steps = [
            step(0, ActionKind::Read, 0),
            step(1, ActionKind::Run, 2),
            step(2, ActionKind::Edit, 0),
            step(3, ActionKind::Test, 1),
            step(4, ActionKind::Submit, 0),
        ];
        let (_, index) = write_normalised(&steps);
        assert_eq!(index.first_edit, Some(2));
        assert_eq!(index.submit, Some(4));
        assert_eq!(index.next_failure(None), Some(1));
        assert_eq!(index.next_failure(Some(1)), Some(3));
        assert_eq!(index.next_failure(Some(3)), None);
    }

    #[test]
    fn outlines_are_one_short_line() {
        let mut s = step(0, ActionKind::Run, 0);
        assert_eq!(Outline::of(&s).line, "run 0 …");
        s.action.as_mut().unwrap().command = "é".repeat(500);
        assert_eq!(Outline::of(&s).line.chars().count(), 141);
        s.action = None;
        assert_eq!(Outline::of(&s).line, "thought 0 …");
    }

    #[test]
    fn broken_pages_are_errors() {
        let (bytes, index) =
            write_normalised(&[step(0, ActionKind::Run, 0), step(1, ActionKind::Run, 0)]);
        let range = index.page(0, 2).unwrap();
        assert!(read_page(&bytes[..bytes.len() - 4], &range).is_err());
        assert!(read_page(b"{}\n{}\n", &range).is_err());
        assert!(read_page(b"", &range).is_err());
    }
}
