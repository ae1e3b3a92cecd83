//! Bytes in, JSON values out, one message at a time: documents and lines are
//! streamed, so that a trace of any size needs the memory of its largest
//! message. Never holds a whole trace.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{BufRead, Read};

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;

use crate::error::TraceError;
use crate::limits::Limits;

/// What a document's reader wants done with the value at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// Hand it over whole.
    Take,
    /// It is a list: hand over its elements one by one.
    Each,
    /// Go inside; keys are asked about one by one, list elements as `[]`.
    Enter,
    /// Pass over it.
    Skip,
}

/// A reader of one JSON document.
pub(crate) trait Walk {
    /// What to do with the value at a path. The document itself is at `[]`.
    fn want(&mut self, path: &[String]) -> Want;
    /// Takes a value that was wanted. An error is a reason in words.
    fn item(&mut self, path: &[String], value: Value) -> Result<(), String>;
    /// A document has ended; more may follow.
    fn document_end(&mut self) {}
}

/// Counts bytes as the parser takes them and stops it at a ceiling.
#[derive(Default)]
struct Meter {
    served: Cell<u64>,
    ceiling: Cell<u64>,
    tripped: Cell<bool>,
    line: Cell<usize>,
    /// Numbers and offsets of the latest lines: an error names a line that the
    /// parser may have left by the time it is seen.
    starts: RefCell<VecDeque<(usize, u64)>>,
}

/// Starts of lines that are remembered.
const MAX_STARTS: usize = 256;

impl Meter {
    fn line_ends(&self, at: u64) {
        self.line.set(self.line.get() + 1);
        let mut starts = self.starts.borrow_mut();
        if starts.len() == MAX_STARTS {
            starts.pop_front();
        }
        starts.push_back((self.line.get(), at));
    }

    /// The offset of an error. The parser's column counts the byte it complains of.
    fn offset_of(&self, error: &serde_json::Error) -> u64 {
        let line = error.line().saturating_sub(1);
        let start = match self.starts.borrow().iter().find(|(n, _)| *n == line) {
            Some((_, start)) => *start,
            None => return self.served.get(),
        };
        let column = error.column() as u64;
        let column = if error.is_eof() {
            column
        } else {
            column.saturating_sub(1)
        };
        (start + column).min(self.served.get())
    }
}

struct Metered<'a> {
    inner: &'a mut dyn BufRead,
    buffer: Vec<u8>,
    at: usize,
    meter: &'a Meter,
}

impl Metered<'_> {
    fn refill(&mut self) -> std::io::Result<bool> {
        let chunk = self.inner.fill_buf()?;
        let taken = chunk.len();
        self.buffer.clear();
        self.buffer.extend_from_slice(chunk);
        self.inner.consume(taken);
        self.at = 0;
        Ok(taken > 0)
    }
}

impl Read for Metered<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.buffer.len() && !self.refill()? {
            return Ok(0);
        }
        if self.meter.served.get() >= self.meter.ceiling.get() {
            self.meter.tripped.set(true);
            return Err(std::io::Error::other("limit"));
        }
        let n = out.len().min(self.buffer.len() - self.at);
        let served = self.meter.served.get();
        for (i, (to, from)) in out
            .iter_mut()
            .zip(&self.buffer[self.at..self.at + n])
            .enumerate()
        {
            *to = *from;
            if *from == b'\n' {
                self.meter.line_ends(served + i as u64 + 1);
            }
        }
        self.at += n;
        self.meter.served.set(served + n as u64);
        Ok(n)
    }
}

struct Guide<'a> {
    walk: &'a mut dyn Walk,
    path: Vec<String>,
    meter: &'a Meter,
    limits: &'a Limits,
}

impl Guide<'_> {
    /// The next value may take this much memory and no more.
    fn arm(&self) {
        let ceiling = self.meter.served.get().saturating_add(self.limits.element);
        self.meter.ceiling.set(ceiling.min(self.limits.total));
    }

    /// The next value is not kept: only the whole matters.
    fn disarm(&self) {
        self.meter.ceiling.set(self.limits.total);
    }
}

struct At<'g, 'a>(&'g mut Guide<'a>);

impl<'de> DeserializeSeed<'de> for At<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let guide = self.0;
        match guide.walk.want(&guide.path) {
            Want::Skip => {
                guide.disarm();
                deserializer.deserialize_ignored_any(IgnoredAny)?;
                Ok(())
            }
            Want::Take => {
                guide.arm();
                let value = <Value as serde::Deserialize>::deserialize(deserializer)?;
                guide
                    .walk
                    .item(&guide.path, value)
                    .map_err(D::Error::custom)
            }
            want => {
                guide.arm();
                deserializer.deserialize_any(Inside {
                    guide,
                    each: want == Want::Each,
                })
            }
        }
    }
}

struct Inside<'g, 'a> {
    guide: &'g mut Guide<'a>,
    each: bool,
}

impl Inside<'_, '_> {
    fn scalar<E: serde::de::Error>(self, value: Value) -> Result<(), E> {
        self.guide
            .walk
            .item(&self.guide.path, value)
            .map_err(E::custom)
    }
}

impl<'de> Visitor<'de> for Inside<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        loop {
            self.guide.arm();
            let Some(key) = map.next_key::<String>()? else {
                return Ok(());
            };
            self.guide.path.push(key);
            map.next_value_seed(At(self.guide))?;
            self.guide.path.pop();
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if self.each {
            loop {
                self.guide.arm();
                let Some(value) = seq.next_element::<Value>()? else {
                    return Ok(());
                };
                self.guide
                    .walk
                    .item(&self.guide.path, value)
                    .map_err(A::Error::custom)?;
            }
        }
        self.guide.path.push("[]".to_owned());
        while seq.next_element_seed(At(self.guide))?.is_some() {}
        self.guide.path.pop();
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, v: bool) -> Result<(), E> {
        self.scalar(v.into())
    }
    fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<(), E> {
        self.scalar(v.into())
    }
    fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<(), E> {
        self.scalar(v.into())
    }
    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<(), E> {
        self.scalar(v.into())
    }
    fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<(), E> {
        self.scalar(v.into())
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.scalar(Value::Null)
    }
}

/// Walks the JSON documents of an input, one after another.
pub(crate) fn walk(
    input: &mut dyn BufRead,
    limits: &Limits,
    format: &'static str,
    walker: &mut dyn Walk,
) -> Result<(), TraceError> {
    let bom = skip_bom(input)?;
    let meter = Meter::default();
    meter.served.set(bom);
    meter.starts.borrow_mut().push_back((0, bom));
    meter.ceiling.set(limits.total);
    let source = Metered {
        inner: input,
        buffer: Vec::new(),
        at: 0,
        meter: &meter,
    };
    let mut deserializer = serde_json::Deserializer::from_reader(source);
    let mut documents = 0_u64;
    loop {
        if documents > 0 {
            // `end` accepts blanks up to the end of the input; anything else is
            // the first byte of a further document.
            meter.ceiling.set(limits.total);
            match deserializer.end() {
                Ok(()) => return Ok(()),
                Err(error) if error.is_io() => {
                    return Err(refusal(error, &meter, limits, format));
                }
                Err(_) => {}
            }
        }
        let mut guide = Guide {
            walk: &mut *walker,
            path: Vec::new(),
            meter: &meter,
            limits,
        };
        At(&mut guide)
            .deserialize(&mut deserializer)
            .map_err(|error| refusal(error, &meter, limits, format))?;
        walker.document_end();
        documents += 1;
    }
}

fn refusal(
    error: serde_json::Error,
    meter: &Meter,
    limits: &Limits,
    format: &'static str,
) -> TraceError {
    let offset = meter.served.get();
    if meter.tripped.get() {
        return if offset >= limits.total {
            TraceError::TooLarge {
                what: "a file",
                limit: limits.total,
                offset,
            }
        } else {
            TraceError::TooLarge {
                what: "a message",
                limit: limits.element,
                offset,
            }
        };
    }
    if error.is_io() {
        return TraceError::Io {
            offset,
            source: error.into(),
        };
    }
    TraceError::Malformed {
        format,
        offset: meter.offset_of(&error),
        reason: plain(&error),
    }
}

/// The parser's message without its own line and column.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// Passes over a byte order mark and gives its length.
fn skip_bom(input: &mut dyn BufRead) -> Result<u64, TraceError> {
    let head = input
        .fill_buf()
        .map_err(|source| TraceError::Io { offset: 0, source })?;
    if head.starts_with(b"\xef\xbb\xbf") {
        input.consume(3);
        return Ok(3);
    }
    Ok(0)
}

/// One line, without its end.
pub(crate) struct Line<'a> {
    /// The bytes.
    pub(crate) bytes: &'a [u8],
    /// Where it begins.
    pub(crate) offset: u64,
}

/// Lines of an input, within limits.
pub(crate) struct Lines<'a> {
    input: &'a mut dyn BufRead,
    limits: &'a Limits,
    buffer: Vec<u8>,
    offset: u64,
}

impl<'a> Lines<'a> {
    /// Lines from the start of the input.
    pub(crate) fn new(input: &'a mut dyn BufRead, limits: &'a Limits) -> Self {
        Self {
            input,
            limits,
            buffer: Vec::new(),
            offset: 0,
        }
    }

    /// The next line, or none at the end. A line longer than an element may be is refused.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, TraceError> {
        self.buffer.clear();
        let start = self.offset;
        loop {
            let chunk = self.input.fill_buf().map_err(|source| TraceError::Io {
                offset: self.offset,
                source,
            })?;
            if chunk.is_empty() {
                if self.buffer.is_empty() && self.offset == start {
                    return Ok(None);
                }
                break;
            }
            let (taken, ended) = match chunk.iter().position(|b| *b == b'\n') {
                Some(at) => (at + 1, true),
                None => (chunk.len(), false),
            };
            let keep = taken - usize::from(ended);
            if self.buffer.len() as u64 + keep as u64 > self.limits.element {
                return Err(TraceError::TooLarge {
                    what: "a line",
                    limit: self.limits.element,
                    offset: self.offset,
                });
            }
            self.buffer.extend_from_slice(&chunk[..keep]);
            self.input.consume(taken);
            self.offset += taken as u64;
            if self.offset > self.limits.total {
                return Err(TraceError::TooLarge {
                    what: "a file",
                    limit: self.limits.total,
                    offset: self.offset,
                });
            }
            if ended {
                break;
            }
        }
        if self.buffer.last() == Some(&b'\r') {
            self.buffer.pop();
        }
        let skip = if start == 0 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        Ok(Some(Line {
            bytes: &self.buffer[skip..],
            offset: start + skip as u64,
        }))
    }

    /// Whether nothing but blanks follows. Consumes the blanks.
    fn is_finished(&mut self) -> bool {
        loop {
            let Ok(chunk) = self.input.fill_buf() else {
                return false;
            };
            if chunk.is_empty() {
                return true;
            }
            let blanks = chunk.iter().take_while(|b| b.is_ascii_whitespace()).count();
            let all = blanks == chunk.len();
            self.input.consume(blanks);
            self.offset += blanks as u64;
            if !all {
                return false;
            }
        }
    }
}

/// What came of reading JSON lines.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LineCount {
    /// Lines that hold JSON.
    pub(crate) lines: u64,
    /// Whether the last line was cut off and left out.
    pub(crate) cut: bool,
}

/// Reads a file of one JSON value a line. A last line that is only half there is
/// left out; any other broken line is an error. `take` gets the value and the
/// offset of its line, and answers with a reason if it can't go on.
pub(crate) fn json_lines(
    input: &mut dyn BufRead,
    limits: &Limits,
    format: &'static str,
    take: &mut dyn FnMut(Value) -> Result<(), String>,
) -> Result<LineCount, TraceError> {
    let mut lines = Lines::new(input, limits);
    let mut count = LineCount::default();
    loop {
        let Some(line) = lines.next()? else {
            return Ok(count);
        };
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let offset = line.offset;
        match serde_json::from_slice::<Value>(line.bytes) {
            Ok(value) => {
                count.lines += 1;
                take(value).map_err(|reason| TraceError::Malformed {
                    format,
                    offset,
                    reason,
                })?;
            }
            Err(error) => {
                let at = offset + (error.column() as u64).saturating_sub(1);
                if count.lines > 0 && lines.is_finished() {
                    count.cut = true;
                    return Ok(count);
                }
                return Err(TraceError::Malformed {
                    format,
                    offset: at,
                    reason: plain(&error),
                });
            }
        }
    }
}
