//! Takes a source's entries as they stream by and keeps what the rules need:
//! names, sizes, digests, and the bytes of the small files. The bytes of
//! attempts' files also go to the caller's sink, in the same single pass.

use std::collections::BTreeMap;
use std::io::{self, Read};

use faultboard_domain::Digest;
use sha2::Digest as _;

use crate::fault::{Fault, FaultKind};
use crate::layout::{Place, Role, below_top, place};
use crate::limits::size;
use crate::path::{Name, NameFault};
use crate::source::{EntryHead, EntryKind, Stop, Unpacked, Visitor};
use crate::{AttemptSink, CheckError};

/// One entry as the rules see it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Full path, clean if there are no name faults, else made safe to show.
    pub path: String,
    pub name_faults: Vec<NameFault>,
    pub kind: EntryKind,
    pub place: Place,
    /// Bytes as read, or as claimed where nothing was read.
    pub size: u64,
    /// Digest of a file that belongs to the bundle and was read to its end.
    pub sha256: Option<Digest>,
    /// Whether the file had to be cut at a limit.
    pub cut: bool,
    /// Offset of the first byte that is not UTF-8, where text is required.
    pub not_text_at: Option<u64>,
}

impl Entry {
    /// Whether the entry's bytes are there, whole, under a name that can be relied on.
    pub(crate) fn is_sound(&self) -> bool {
        self.sha256.is_some() && !self.cut && self.not_text_at.is_none()
    }
}

/// Everything that one walk brought in.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    pub entries: Vec<Entry>,
    /// Bytes of metadata, patches, diagnoses and stats, by index of their entry.
    pub kept: BTreeMap<usize, Vec<u8>>,
    pub faults: Vec<Fault>,
}

/// The visitor that fills an [`Intake`].
pub(crate) struct Collector<'a> {
    pub intake: Intake,
    sink: &'a mut dyn AttemptSink,
    kept_bytes: u64,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(sink: &'a mut dyn AttemptSink) -> Self {
        Self {
            intake: Intake::default(),
            sink,
            kept_bytes: 0,
        }
    }

    /// Reads a file that belongs to the bundle.
    fn file(&mut self, entry: &mut Entry, body: &mut Unpacked<'_>) -> Result<(), Stop> {
        let limits = body.meter().limits().clone();
        let keep = !matches!(entry.place, Place::Attempt(_, Role::Trace(_)));
        let (most, what) = if keep {
            let left = limits.answers_bytes.saturating_sub(self.kept_bytes);
            (
                limits.answer_bytes.min(left).min(limits.file_bytes),
                FaultKind::AnswerLimit,
            )
        } else {
            (limits.file_bytes, FaultKind::FileLimit)
        };
        let text = match &entry.place {
            // A patch may touch files in any encoding: its bytes stay bytes.
            Place::Attempt(_, Role::Patch) => false,
            Place::Attempt(_, Role::Trace(name)) => name.is_json(),
            _ => true,
        };
        let mut tee = Tee {
            body,
            left: most,
            cut: false,
            sha: sha2::Sha256::new(),
            bytes: 0,
            kept: keep.then(Vec::new),
            text: text.then(Utf8::default),
        };
        if matches!(entry.place, Place::Attempt(..))
            && let Err(e) = self.sink.file(below_top(&entry.path), &mut tee)
        {
            // A failure of the archive passes through the sink; any other is the sink's own.
            return Err(match tee.body.failed.take() {
                Some(e) => tee.body.meter().explain(&e, &entry.path),
                None => Stop::Platform(CheckError::Sink(e)),
            });
        }
        let mut buffer = vec![0; 16 * 1024];
        loop {
            match tee.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(tee.body.meter().explain(&e, &entry.path)),
            }
        }
        entry.size = tee.bytes.saturating_add(tee.body.left());
        entry.cut = tee.cut;
        entry.not_text_at = tee.text.and_then(Utf8::finish);
        if tee.cut {
            let detail = if keep && most < limits.answer_bytes {
                format!(
                    "all patches, diagnoses, metadata and stats together have more than {}",
                    size(limits.answers_bytes)
                )
            } else {
                format!(
                    "the file has {}, more than {}",
                    size(entry.size),
                    size(most)
                )
            };
            let fault = Fault::of(what, entry.path.clone(), detail);
            self.intake.faults.push(fault);
            return Ok(());
        }
        entry.sha256 = Some(Digest::from_bytes(tee.sha.finalize().into()));
        if let Some(bytes) = tee.kept {
            self.kept_bytes += bytes.len() as u64;
            self.intake.kept.insert(self.intake.entries.len(), bytes);
        }
        Ok(())
    }
}

impl Visitor for Collector<'_> {
    fn entry(&mut self, head: &EntryHead<'_>, body: &mut Unpacked<'_>) -> Result<(), Stop> {
        let limits = body.meter().limits();
        if self.intake.entries.len() as u64 >= limits.entries {
            return Err(Stop::Fault(Fault::of(
                FaultKind::EntryLimit,
                "",
                format!("the bundle has more than {} entries", limits.entries),
            )));
        }
        let name = Name::check(head.name);
        // `./` is how `tar -C folder .` names the folder itself.
        if name.faults == [NameFault::Empty] && head.kind == EntryKind::Folder {
            return Ok(());
        }
        let clean = name.faults.is_empty();
        let mut entry = Entry {
            place: if clean && head.kind == EntryKind::File {
                place(&name.path)
            } else {
                Place::Stray
            },
            path: name.path,
            name_faults: name.faults,
            kind: head.kind,
            size: head.size,
            sha256: None,
            cut: false,
            not_text_at: None,
        };
        let read = if matches!(entry.place, Place::Metadata | Place::Attempt(..)) {
            self.file(&mut entry, body)
        } else {
            if head.size > limits.file_bytes {
                let detail = format!(
                    "the file has {}, more than {}",
                    size(head.size),
                    size(limits.file_bytes)
                );
                let fault = Fault::of(FaultKind::FileLimit, entry.path.clone(), detail);
                self.intake.faults.push(fault);
            }
            Ok(())
        };
        // Even an entry whose bytes broke off is known to be there.
        self.intake.entries.push(entry);
        read
    }

    fn fault(&mut self, fault: Fault) {
        self.intake.faults.push(fault);
    }
}

/// Hands a file's bytes on while hashing, counting, keeping and checking them.
struct Tee<'a, 'b> {
    body: &'a mut Unpacked<'b>,
    /// Bytes that may still be read.
    left: u64,
    cut: bool,
    sha: sha2::Sha256,
    bytes: u64,
    kept: Option<Vec<u8>>,
    text: Option<Utf8>,
}

impl Read for Tee<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if end == 0 {
            self.cut |= !buffer.is_empty() && self.body.left() > 0;
            return Ok(0);
        }
        let n = self.body.read(&mut buffer[..end])?;
        let got = &buffer[..n];
        self.left -= n as u64;
        self.bytes += n as u64;
        self.sha.update(got);
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(got);
        }
        if let Some(text) = &mut self.text {
            text.push(got);
        }
        Ok(n)
    }
}

/// Finds the first byte of a stream that is not UTF-8.
#[derive(Default)]
struct Utf8 {
    at: u64,
    /// The beginning of a character whose rest comes with the next bytes.
    open: Vec<u8>,
    bad: Option<u64>,
}

impl Utf8 {
    fn push(&mut self, bytes: &[u8]) {
        if self.bad.is_some() {
            return;
        }
        let mut rest = bytes;
        // Close an open character byte by byte; there are at most three to go.
        while !self.open.is_empty() {
            let Some((first, tail)) = rest.split_first() else {
                return;
            };
            self.open.push(*first);
            rest = tail;
            match std::str::from_utf8(&self.open) {
                Ok(_) => {
                    self.at += self.open.len() as u64;
                    self.open.clear();
                }
                Err(e) if e.error_len().is_none() => {}
                Err(_) => {
                    self.bad = Some(self.at);
                    return;
                }
            }
        }
        match std::str::from_utf8(rest) {
            Ok(_) => self.at += rest.len() as u64,
            Err(e) => {
                let good = e.valid_up_to();
                self.at += good as u64;
                if e.error_len().is_some() {
                    self.bad = Some(self.at);
                } else {
                    self.open = rest[good..].to_vec();
                }
            }
        }
    }

    fn finish(self) -> Option<u64> {
        self.bad
            .or_else(|| (!self.open.is_empty()).then_some(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_checked_across_reads() {
        let text = "aü€😀z".as_bytes();
        for step in 1..=text.len() {
            let mut check = Utf8::default();
            for part in text.chunks(step) {
                check.push(part);
            }
            assert_eq!(check.finish(), None, "step {step}");
        }
        for (bytes, at) in [(&b"ab\xffc"[..], 2), (b"ab\xe2\x82", 2), (b"\xc3x", 0)] {
            for step in 1..=bytes.len() {
                let mut check = Utf8::default();
                for part in bytes.chunks(step) {
                    check.push(part);
                }
                assert_eq!(check.finish(), Some(at), "{bytes:?} step {step}");
            }
        }
    }
}
