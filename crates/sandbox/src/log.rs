//! Bounded capture of a program's output: bytes stay bytes, the first and the
//! last part are kept, the middle is cut and counted. Nothing here decodes or
//! interprets what was printed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Which stream a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Receives output while a run goes on. It is called from the task that drains
/// the program, so it must return quickly and never block. It gets at most
/// [`crate::Limits::log_bytes`] bytes of a run; the rest is counted only.
pub type LogSink = Arc<dyn Fn(LogStream, &[u8]) + Send + Sync>;

/// Output as it was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes; all of them when nothing was cut.
    pub head: Vec<u8>,
    /// The last bytes; empty when nothing was cut.
    pub tail: Vec<u8>,
    /// How many bytes between head and tail were dropped.
    pub cut: u64,
}

impl Captured {
    /// Everything that was printed, kept or not, in bytes.
    pub fn total(&self) -> u64 {
        self.head.len() as u64 + self.cut + self.tail.len() as u64
    }

    /// The kept bytes as text, invalid parts replaced, with a line that names the gap.
    pub fn text(&self) -> String {
        if self.cut == 0 {
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        format!(
            "{}\n[... {} bytes cut ...]\n{}",
            String::from_utf8_lossy(&self.head),
            self.cut,
            String::from_utf8_lossy(&self.tail)
        )
    }

    /// The kept lines, without their line ends, that are complete: a line that
    /// the cut went through is left out.
    pub fn whole_lines(&self) -> impl Iterator<Item = &[u8]> {
        let (head, tail) = if self.cut == 0 {
            (self.head.as_slice(), &[][..])
        } else {
            let end = self
                .head
                .iter()
                .rposition(|&b| b == b'\n')
                .map_or(0, |i| i + 1);
            let start = self
                .tail
                .iter()
                .position(|&b| b == b'\n')
                .map_or(self.tail.len(), |i| i + 1);
            (&self.head[..end], &self.tail[start..])
        };
        head.split(|&b| b == b'\n')
            .chain(tail.split(|&b| b == b'\n'))
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Collects output in bounded memory.
#[derive(Debug)]
pub struct BoundedLog {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_cap: usize,
    tail_cap: usize,
    cut: u64,
}

impl BoundedLog {
    /// A log that keeps at most `cap` bytes, half from each end.
    pub fn new(cap: usize) -> Self {
        let head_cap = cap / 2;
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_cap,
            tail_cap: cap - head_cap,
            cut: 0,
        }
    }

    /// Adds output.
    pub fn push(&mut self, mut bytes: &[u8]) {
        let room = self.head_cap - self.head.len();
        if room > 0 {
            let (first, rest) = bytes.split_at(room.min(bytes.len()));
            self.head.extend_from_slice(first);
            bytes = rest;
        }
        if bytes.len() > self.tail_cap {
            let skip = bytes.len() - self.tail_cap;
            self.cut += skip as u64;
            bytes = &bytes[skip..];
        }
        let over = (self.tail.len() + bytes.len()).saturating_sub(self.tail_cap);
        self.tail.drain(..over);
        self.cut += over as u64;
        self.tail.extend(bytes);
    }

    /// What was kept.
    pub fn finish(self) -> Captured {
        let mut captured = Captured {
            head: self.head,
            tail: self.tail.into(),
            cut: self.cut,
        };
        if captured.cut == 0 {
            captured.head.append(&mut captured.tail);
        }
        captured
    }
}

/// The two logs of a run, filled from the task that drains the program.
#[derive(Clone)]
pub(crate) struct Recorder {
    inner: Arc<Mutex<RecorderState>>,
    sink: Option<LogSink>,
}

struct RecorderState {
    all: BoundedLog,
    stdout: BoundedLog,
    live_left: usize,
}

impl Recorder {
    pub(crate) fn new(cap: usize, sink: Option<LogSink>) -> Self {
        let state = RecorderState {
            all: BoundedLog::new(cap),
            stdout: BoundedLog::new(cap),
            live_left: cap,
        };
        Self {
            inner: Arc::new(Mutex::new(state)),
            sink,
        }
    }

    pub(crate) fn push(&self, stream: LogStream, bytes: &[u8]) {
        let live = {
            let mut state = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            state.all.push(bytes);
            if stream == LogStream::Stdout {
                state.stdout.push(bytes);
            }
            let live = bytes.len().min(state.live_left);
            state.live_left -= live;
            live
        };
        // Outside the lock: the sink is foreign code.
        if let (Some(sink), true) = (&self.sink, live > 0) {
            sink(stream, &bytes[..live]);
        }
    }

    /// Takes what was recorded: everything in order of arrival, and standard output alone.
    pub(crate) fn take(&self) -> (Captured, Captured) {
        let mut state = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::replace(&mut state.all, BoundedLog::new(0));
        let stdout = std::mem::replace(&mut state.stdout, BoundedLog::new(0));
        (all.finish(), stdout.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(cap: usize, pieces: &[&[u8]]) -> Captured {
        let mut log = BoundedLog::new(cap);
        for piece in pieces {
            log.push(piece);
        }
        log.finish()
    }

    #[test]
    fn short_output_is_kept_whole() {
        let c = capture(10, &[b"abc", b"", b"defghij"]);
        assert_eq!(
            (c.head.as_slice(), c.tail.len(), c.cut),
            (&b"abcdefghij"[..], 0, 0)
        );
    }

    #[test]
    fn the_middle_is_cut_and_counted_however_it_arrives() {
        let input: Vec<u8> = (0..100u8).collect();
        let whole = capture(10, &[&input]);
        let pieces: Vec<&[u8]> = input.chunks(3).collect();
        assert_eq!(whole, capture(10, &pieces));
        assert_eq!(whole.head, [0, 1, 2, 3, 4]);
        assert_eq!(whole.tail, [95, 96, 97, 98, 99]);
        assert_eq!((whole.cut, whole.total()), (90, 100));
    }

    #[test]
    fn lines_that_the_cut_went_through_do_not_count() {
        let c = Captured {
            head: b"one\ntwo".to_vec(),
            tail: b"PASS: forged\nlast\r\n".to_vec(),
            cut: 5,
        };
        let lines: Vec<&[u8]> = c.whole_lines().filter(|l| !l.is_empty()).collect();
        assert_eq!(lines, [&b"one"[..], b"last"]);
        assert!(c.text().contains("[... 5 bytes cut ...]"));
    }

    #[test]
    fn a_log_without_room_counts_everything() {
        let c = capture(0, &[b"abc"]);
        assert_eq!((c.total(), c.cut), (3, 3));
    }

    #[test]
    fn the_live_view_ends_at_the_cap() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let copy = seen.clone();
        let recorder = Recorder::new(
            4,
            Some(Arc::new(move |_, b: &[u8]| {
                copy.lock().unwrap().extend_from_slice(b)
            })),
        );
        recorder.push(LogStream::Stderr, b"abc");
        recorder.push(LogStream::Stdout, b"defg");
        recorder.push(LogStream::Stdout, b"h");
        assert_eq!(*seen.lock().unwrap(), b"abcd");
        let (all, stdout) = recorder.take();
        assert_eq!((all.total(), stdout.total()), (8, 5));
    }
}
