//! One reader per format, in the order in which they are asked. A further format
//! is one file here and one line in [`READERS`].

mod aider;
mod atif;
mod chat;
mod claude_code;
mod codex;
mod inspect;
mod mini_swe_agent;
mod normalised;
mod openhands;
mod otel;
mod swe_agent;
mod text;
mod trajectory;

use std::io::{BufRead, Cursor, Read};

use faultboard_domain::trace::{Step, TraceSummary};

use crate::assemble::{Account, Assembler};
use crate::error::TraceError;
use crate::head::{HEAD_BYTES, Head};
use crate::limits::Limits;
use crate::summary::Summariser;

/// Reads one format.
pub(crate) trait Reader: Sync {
    /// The reader's stable name.
    fn id(&self) -> &'static str;
    /// What people call the format.
    fn title(&self) -> &'static str;
    /// Whether a trace that begins like this is of the format.
    fn detects(&self, head: &Head<'_>) -> bool;
    /// Reads the trace from its first byte.
    fn read(
        &self,
        head: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError>;
}

/// Every reader. The first that knows a trace reads it; the last knows them all.
pub(crate) static READERS: &[&dyn Reader] = &[
    &normalised::Normalised,
    &inspect::Inspect,
    &atif::Atif,
    &mini_swe_agent::MiniSweAgent,
    &swe_agent::SweAgent,
    &openhands::OpenHands,
    &codex::Codex,
    &claude_code::ClaudeCode,
    &otel::OpenTelemetry,
    &aider::Aider,
    &trajectory::Trajectory,
    &text::PlainText,
];

/// A format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Stable name.
    pub id: &'static str,
    /// What people call it.
    pub title: &'static str,
}

/// Every format, in the order in which they are tried.
pub fn formats() -> Vec<Format> {
    READERS
        .iter()
        .map(|r| Format {
            id: r.id(),
            title: r.title(),
        })
        .collect()
}

fn reader_for(head: &Head<'_>) -> &'static dyn Reader {
    READERS
        .iter()
        .copied()
        .find(|r| r.detects(head))
        .unwrap_or(&text::PlainText)
}

/// The format of a trace that begins with these bytes; text if it is none of the others.
pub fn detect(first_bytes: &[u8]) -> Format {
    let head = Head::new(first_bytes);
    let reader = reader_for(&head);
    Format {
        id: reader.id(),
        title: reader.title(),
    }
}

/// What a trace amounts to.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Counts, tokens, cost, first edit, exit.
    pub summary: TraceSummary,
    /// What the file says of itself.
    pub account: Account,
}

/// Reads a trace of any format: steps go to `sink` in order, one by one.
///
/// # Errors
/// When the trace breaks its format, is too large, or the input fails; each
/// names the byte. Steps before that byte have reached `sink` by then.
pub fn read_trace(
    input: &mut dyn BufRead,
    limits: &Limits,
    sink: &mut dyn FnMut(Step),
) -> Result<Trace, TraceError> {
    read_with(None, input, limits, sink)
}

/// Reads a trace that is said to be of a format, whatever it begins like.
///
/// # Errors
/// As [`read_trace`]; a trace of another format breaks this one.
pub fn read_trace_as(
    format: Format,
    input: &mut dyn BufRead,
    limits: &Limits,
    sink: &mut dyn FnMut(Step),
) -> Result<Trace, TraceError> {
    read_with(Some(format), input, limits, sink)
}

fn read_with(
    format: Option<Format>,
    input: &mut dyn BufRead,
    limits: &Limits,
    sink: &mut dyn FnMut(Step),
) -> Result<Trace, TraceError> {
    let mut first = Vec::new();
    (&mut *input)
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut first)
        .map_err(|source| TraceError::Io { offset: 0, source })?;
    let head = Head::new(&first);
    let said = format.and_then(|f| READERS.iter().copied().find(|r| r.id() == f.id));
    let reader = said.unwrap_or_else(|| reader_for(&head));
    let mut summariser = Summariser::new();
    let mut send = |step: Step| {
        summariser.add(&step);
        sink(step);
    };
    let mut assembler = Assembler::new(limits, &mut send);
    assembler.account.format = reader.id().to_owned();
    let read = reader.read(&head, &mut Cursor::new(&first).chain(input), &mut assembler);
    // What was put together before an error still reaches the sink.
    let account = assembler.finish();
    read?;
    let mut trace = Trace {
        summary: summariser.finish(&account),
        account,
    };
    if trace.summary.steps == 0 {
        let note = "the file holds no steps".to_owned();
        trace.summary.notes.push(note.clone());
        trace.account.notes.push(note);
    }
    Ok(trace)
}
