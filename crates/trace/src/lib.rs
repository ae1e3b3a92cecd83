//! Traces: what an agent did, whatever its scaffold wrote down. Reads a dozen
//! formats into one kind of step, says what each step does, adds a trace up,
//! and writes it so that any page of it can be read alone.
//!
//! Pure: bytes in, steps out. It never opens a file, never knows HTML, and never
//! trusts what it reads: limits come first, everything is streamed, and a broken
//! trace is an error with the byte at which it breaks.

mod ansi;
mod assemble;
mod classify;
mod error;
mod head;
mod input;
mod json;
mod limits;
mod pages;
mod readers;
mod search;
mod segments;
mod shell;
mod summary;

pub use ansi::{Colour, Style, ansi_to_spans};
pub use assemble::Account;
pub use classify::{Look, look, look_at_shell, script_of_action};
pub use error::TraceError;
pub use head::HEAD_BYTES;
pub use limits::Limits;
pub use pages::{
    EVERY, NormalisedWriter, Outline, PageRange, StepIndex, failed, read_page, write_normalised,
};
pub use readers::{Format, Trace, detect, formats, read_trace, read_trace_as};
pub use search::{Hit, search};
pub use segments::{Segment, Source, segments};
pub use summary::Summariser;
