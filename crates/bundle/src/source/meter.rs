//! Counting what goes in and what comes out while an archive streams, so that
//! a limit stops the reading at once. Nothing here knows a format.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::rc::Rc;

use super::Stop;
use crate::CheckError;
use crate::fault::{Fault, FaultKind};
use crate::limits::{Limits, size};

/// The counters of one check, shared by the readers of one source.
#[derive(Clone)]
pub(crate) struct Meter(Rc<State>);

struct State {
    limits: Limits,
    /// Whether the source is packed at all; a folder has no ratio.
    packed: bool,
    compressed: Cell<u64>,
    unpacked: Cell<u64>,
    at_end: Cell<bool>,
    broken: RefCell<Option<io::Error>>,
    limit: RefCell<Option<Fault>>,
}

impl Meter {
    pub(crate) fn new(limits: &Limits, packed: bool) -> Self {
        Self(Rc::new(State {
            limits: limits.clone(),
            packed,
            compressed: Cell::new(0),
            unpacked: Cell::new(0),
            at_end: Cell::new(false),
            broken: RefCell::new(None),
            limit: RefCell::new(None),
        }))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(crate) fn compressed(&self) -> u64 {
        self.0.compressed.get()
    }

    pub(crate) fn unpacked(&self) -> u64 {
        self.0.unpacked.get()
    }

    /// The archive's length, where it is known before reading.
    pub(crate) fn check_length(&self, length: u64) -> Result<(), Fault> {
        let most = self.0.limits.compressed_bytes;
        if length > most {
            return Err(Fault::of(
                FaultKind::CompressedLimit,
                "",
                format!("the archive has {}, more than {}", size(length), size(most)),
            ));
        }
        Ok(())
    }

    /// Counts the packed bytes of a reader.
    pub(crate) fn count<R: Read>(&self, inner: R) -> Counted<R> {
        Counted {
            inner,
            meter: self.clone(),
        }
    }

    /// Whether the packed bytes ran out while more were wanted.
    pub(crate) fn at_end(&self) -> bool {
        self.0.at_end.get()
    }

    /// Forgets that the end was met: the next entry of a zip starts elsewhere.
    pub(crate) fn reset_end(&self) {
        self.0.at_end.set(false);
    }

    /// What a failed read means: a limit, a platform failure, or a bad archive.
    pub(crate) fn explain(&self, error: &io::Error, path: &str) -> Stop {
        if let Some(fault) = self.0.limit.borrow_mut().take() {
            return Stop::Fault(fault);
        }
        if let Some(error) = self.0.broken.borrow_mut().take() {
            return Stop::Platform(CheckError::Source(error));
        }
        if self.at_end() {
            return Stop::Fault(Fault::of(
                FaultKind::Truncated,
                path,
                format!(
                    "the archive ends in the middle of its data, after {}",
                    size(self.compressed())
                ),
            ));
        }
        Stop::Fault(Fault::of(
            FaultKind::Corrupt,
            path,
            format!(
                "the archive can't be read on at byte {} or a little before: {}",
                self.compressed(),
                crate::path::display(&error.to_string())
            ),
        ))
    }

    fn stop(&self, kind: FaultKind, detail: String) -> io::Error {
        *self.0.limit.borrow_mut() = Some(Fault::of(kind, "", detail));
        io::Error::other("a limit was reached")
    }

    /// Counts unpacked bytes and looks at both limits on them.
    pub(crate) fn add_unpacked(&self, bytes: usize) -> io::Result<()> {
        let s = &self.0;
        let unpacked = s.unpacked.get().saturating_add(bytes as u64);
        s.unpacked.set(unpacked);
        if unpacked > s.limits.unpacked_bytes {
            return Err(self.stop(
                FaultKind::UnpackedLimit,
                format!(
                    "the bundle unpacks to more than {}",
                    size(s.limits.unpacked_bytes)
                ),
            ));
        }
        let allowed = s.compressed.get().max(1).saturating_mul(s.limits.ratio);
        if s.packed && unpacked > s.limits.ratio_floor_bytes && unpacked > allowed {
            return Err(self.stop(
                FaultKind::RatioLimit,
                format!(
                    "{} of archive unpacked to {}, more than {}:1",
                    size(s.compressed.get()),
                    size(unpacked),
                    s.limits.ratio
                ),
            ));
        }
        Ok(())
    }
}

/// Counts packed bytes; remembers the end and failures of its source.
pub(crate) struct Counted<R> {
    inner: R,
    meter: Meter,
}

impl<R> Counted<R> {
    pub(crate) fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let s = &self.meter.0;
        match self.inner.read(buffer) {
            Ok(0) if !buffer.is_empty() => {
                s.at_end.set(true);
                Ok(0)
            }
            Ok(n) => {
                let compressed = s.compressed.get().saturating_add(n as u64);
                s.compressed.set(compressed);
                if compressed > s.limits.compressed_bytes {
                    let detail = format!(
                        "the archive has more than {}",
                        size(s.limits.compressed_bytes)
                    );
                    return Err(self.meter.stop(FaultKind::CompressedLimit, detail));
                }
                Ok(n)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => {
                let told = io::Error::new(e.kind(), e.to_string());
                *s.broken.borrow_mut() = Some(e);
                Err(told)
            }
        }
    }
}

/// One entry's unpacked bytes, counted; ends after the entry's size.
pub(crate) struct Unpacked<'a> {
    inner: &'a mut dyn Read,
    left: u64,
    meter: Meter,
    /// Whether this reader itself failed, as against its reader's reader.
    pub failed: Option<io::Error>,
    /// Whether bytes come from the platform's disk rather than out of an archive.
    direct: bool,
}

impl<'a> Unpacked<'a> {
    pub(crate) fn new(inner: &'a mut dyn Read, size: u64, meter: &Meter) -> Self {
        Self {
            inner,
            left: size,
            meter: meter.clone(),
            failed: None,
            direct: !meter.0.packed,
        }
    }

    /// Bytes of the entry that were not read yet.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    fn fail(&mut self, error: io::Error) -> io::Error {
        let told = io::Error::new(error.kind(), error.to_string());
        self.failed = Some(error);
        told
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let end = buffer.len().min(most);
        if end == 0 {
            return Ok(0);
        }
        match self.inner.read(&mut buffer[..end]) {
            Ok(0) if self.direct => {
                // A file on disk may have shrunk; it simply ends.
                self.left = 0;
                Ok(0)
            }
            Ok(0) => {
                let e = io::Error::new(io::ErrorKind::UnexpectedEof, "the entry ends too early");
                Err(self.fail(e))
            }
            Ok(n) => {
                self.left -= n as u64;
                if let Err(e) = self.meter.add_unpacked(n) {
                    return Err(self.fail(e));
                }
                Ok(n)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => {
                if self.direct {
                    *self.meter.0.broken.borrow_mut() =
                        Some(io::Error::new(e.kind(), e.to_string()));
                }
                Err(self.fail(e))
            }
        }
    }
}
