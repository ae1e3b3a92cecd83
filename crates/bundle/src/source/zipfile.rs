//! Walking over a zip archive by its central directory. The directory is read
//! here rather than by a library because a library's directory is a map: a
//! duplicate entry would vanish in it, and its claimed number of entries would
//! be believed. Data is read in the order of the directory and its CRC compared.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use super::{EntryHead, EntryKind, Meter, Stop, Unpacked, Visitor};
use crate::fault::{Fault, FaultKind};
use crate::path::{MAX_PATH_BYTES, Name};

const END: &[u8] = b"PK\x05\x06";
const END64: &[u8] = b"PK\x06\x06";
const LOCATOR64: &[u8] = b"PK\x06\x07";
const CENTRAL: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
/// End record plus the longest comment.
const END_SEARCH: u64 = 22 + 65_535;

/// One line of the central directory.
struct Line {
    /// At most [`MAX_PATH_BYTES`] + 1 bytes, so that a longer name is known as such.
    name: Vec<u8>,
    /// Bytes that the local header and the data take at least.
    extent: u64,
    kind: EntryKind,
    encrypted: bool,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

/// Walks over the entries of a zip archive of the given length.
pub(super) fn walk<R: Read + Seek>(
    input: R,
    length: u64,
    meter: &Meter,
    visitor: &mut dyn Visitor,
) -> Result<(), Stop> {
    let mut input = meter.count(input);
    let (start, bytes) = directory(&mut input, length, meter)?;
    seek(&mut input, start, meter)?;
    let lines = {
        let mut reader = BufReader::with_capacity(64 * 1024, (&mut input).take(bytes));
        lines(&mut reader, bytes, meter)?
    };
    overlaps(&lines, start)?;
    for line in &lines {
        meter.reset_end();
        let name = Name::check(&line.name).path;
        match entry(&mut input, line, &name, meter, visitor) {
            // One bad entry says nothing of the others: the directory names them.
            Err(Stop::Fault(fault))
                if matches!(fault.kind, FaultKind::Corrupt | FaultKind::Truncated) =>
            {
                visitor.fault(fault);
            }
            other => other?,
        }
    }
    Ok(())
}

fn corrupt(path: &str, detail: &str) -> Stop {
    Stop::Fault(Fault::of(FaultKind::Corrupt, path, detail))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..at + 2)
        .map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

fn seek<R: Seek>(input: &mut super::meter::Counted<R>, to: u64, meter: &Meter) -> Result<(), Stop> {
    input
        .get_mut()
        .seek(SeekFrom::Start(to))
        .map(drop)
        .map_err(|e| meter.explain(&e, ""))
}

fn exact(input: &mut dyn Read, buffer: &mut [u8], meter: &Meter, path: &str) -> Result<(), Stop> {
    input
        .read_exact(buffer)
        .map_err(|e| meter.explain(&e, path))
}

/// Finds the central directory: where it starts and how long it is.
fn directory<R: Read + Seek>(
    input: &mut super::meter::Counted<R>,
    length: u64,
    meter: &Meter,
) -> Result<(u64, u64), Stop> {
    let from = length.saturating_sub(END_SEARCH);
    seek(input, from, meter)?;
    let mut tail = vec![0; usize::try_from(length - from).unwrap_or(0)];
    exact(input, &mut tail, meter, "")?;
    // The record's comment must end where the file ends; a look-alike inside a comment doesn't.
    let at = (0..tail.len().saturating_sub(21)).rev().find(|i| {
        tail[*i..].starts_with(END) && i + 22 + usize::from(u16_at(&tail, i + 20)) == tail.len()
    });
    let Some(at) = at else {
        return Err(Stop::Fault(Fault::of(
            FaultKind::Truncated,
            "",
            "the archive's directory, which stands at its end, is missing",
        )));
    };
    let mut end_at = from + at as u64;
    let mut bytes = u64::from(u32_at(&tail, at + 12));
    let mut start = u64::from(u32_at(&tail, at + 16));
    if bytes == u64::from(u32::MAX)
        || start == u64::from(u32::MAX)
        || u16_at(&tail, at + 10) == u16::MAX
    {
        let locator = at
            .checked_sub(20)
            .map(|l| &tail[l..at])
            .filter(|l| l.starts_with(LOCATOR64));
        if let Some(locator) = locator {
            end_at = u64_at(locator, 8);
            let mut record = [0; 56];
            seek(input, end_at, meter)?;
            exact(input, &mut record, meter, "")?;
            if !record.starts_with(END64) {
                return Err(corrupt(
                    "",
                    "the 64-bit end record is not where it should be",
                ));
            }
            bytes = u64_at(&record, 40);
            start = u64_at(&record, 48);
        }
    }
    if start.checked_add(bytes) != Some(end_at) {
        return Err(corrupt(
            "",
            "the archive's directory is not where its end record says",
        ));
    }
    Ok((start, bytes))
}

/// Reads the lines of the directory, at most as many as the limit allows.
fn lines(reader: &mut dyn Read, bytes: u64, meter: &Meter) -> Result<Vec<Line>, Stop> {
    let mut lines = Vec::new();
    let mut left = bytes;
    while left > 0 {
        if lines.len() as u64 >= meter.limits().entries {
            return Err(Stop::Fault(Fault::of(
                FaultKind::EntryLimit,
                "",
                format!(
                    "the archive has more than {} entries",
                    meter.limits().entries
                ),
            )));
        }
        let mut fixed = [0; 46];
        exact(reader, &mut fixed, meter, "")?;
        if !fixed.starts_with(CENTRAL) {
            return Err(corrupt("", "the archive's directory holds a broken line"));
        }
        let name_length = usize::from(u16_at(&fixed, 28));
        let extra_length = usize::from(u16_at(&fixed, 30));
        let comment_length = usize::from(u16_at(&fixed, 32));
        let mut rest = vec![0; name_length + extra_length + comment_length];
        exact(reader, &mut rest, meter, "")?;
        let line_length = 46 + rest.len() as u64;
        left = left
            .checked_sub(line_length)
            .ok_or_else(|| corrupt("", "the archive's directory ends in the middle of a line"))?;
        let extra = &rest[name_length..name_length + extra_length];
        let mut name = rest[..name_length].to_vec();
        let mut line = Line {
            kind: kind(&fixed, &name),
            encrypted: u16_at(&fixed, 8) & 1 != 0,
            method: u16_at(&fixed, 10),
            crc: u32_at(&fixed, 16),
            packed: u64::from(u32_at(&fixed, 20)),
            size: u64::from(u32_at(&fixed, 24)),
            offset: u64::from(u32_at(&fixed, 42)),
            extent: 0,
            name: Vec::new(),
        };
        zip64(&mut line, extra);
        line.extent = line.packed.saturating_add(30 + name_length as u64);
        name.truncate(MAX_PATH_BYTES + 1);
        line.name = name;
        lines.push(line);
    }
    Ok(lines)
}

/// Takes the 64-bit values that stand in for those that read `0xffffffff`.
fn zip64(line: &mut Line, mut extra: &[u8]) {
    while extra.len() >= 4 {
        let end = 4 + usize::from(u16_at(extra, 2));
        if u16_at(extra, 0) == 1 {
            let mut values = extra.get(4..end).unwrap_or_default().chunks_exact(8);
            for field in [&mut line.size, &mut line.packed, &mut line.offset] {
                if *field == u64::from(u32::MAX)
                    && let Some(value) = values.next()
                {
                    *field = u64_at(value, 0);
                }
            }
        }
        extra = extra.get(end..).unwrap_or_default();
    }
}

fn kind(fixed: &[u8], name: &[u8]) -> EntryKind {
    let made_by = fixed[5];
    let attributes = u32_at(fixed, 38);
    // Unix and macOS keep the file's mode in the upper half.
    let mode = if matches!(made_by, 3 | 19) {
        (attributes >> 16) & 0o170_000
    } else {
        0
    };
    match mode {
        0o120_000 => EntryKind::SymbolicLink,
        0o020_000 => EntryKind::Special("a character device"),
        0o060_000 => EntryKind::Special("a block device"),
        0o010_000 => EntryKind::Special("a named pipe"),
        0o140_000 => EntryKind::Special("a socket"),
        _ if name.ends_with(b"/") || mode == 0o040_000 => EntryKind::Folder,
        _ => EntryKind::File,
    }
}

/// Entries that share bytes make small archives huge; an honest one has none.
fn overlaps(lines: &[Line], directory: u64) -> Result<(), Stop> {
    let mut ranges: Vec<(u64, u64)> = lines
        .iter()
        .map(|l| (l.offset, l.offset.saturating_add(l.extent)))
        .collect();
    ranges.sort_unstable();
    let beyond = ranges.iter().any(|(_, end)| *end > directory);
    let overlap = ranges.windows(2).any(|w| w[0].1 > w[1].0);
    if beyond || overlap {
        let detail = if beyond {
            "an entry lies outside the archive's data"
        } else {
            "entries of the archive overlap"
        };
        return Err(corrupt("", detail));
    }
    Ok(())
}

/// One entry: its local header, then its data.
fn entry<R: Read + Seek>(
    input: &mut super::meter::Counted<R>,
    line: &Line,
    name: &str,
    meter: &Meter,
    visitor: &mut dyn Visitor,
) -> Result<(), Stop> {
    seek(input, line.offset, meter)?;
    let mut fixed = [0; 30];
    exact(input, &mut fixed, meter, name)?;
    if !fixed.starts_with(LOCAL) {
        return Err(corrupt(name, "the entry is not where the directory says"));
    }
    let name_length = usize::from(u16_at(&fixed, 26));
    let mut rest = vec![0; name_length + usize::from(u16_at(&fixed, 28))];
    exact(input, &mut rest, meter, name)?;
    let mut local_name = rest[..name_length].to_vec();
    local_name.truncate(MAX_PATH_BYTES + 1);
    if local_name != line.name {
        return Err(corrupt(name, "the entry has another name in the directory"));
    }
    let head = EntryHead {
        name: &line.name,
        kind: line.kind,
        size: line.size,
    };
    if line.encrypted || !matches!(line.method, 0 | 8) {
        visitor.fault(Fault::of(
            FaultKind::Unreadable,
            name,
            if line.encrypted {
                "the entry is encrypted".to_owned()
            } else {
                format!("the entry is compressed by method {}", line.method)
            },
        ));
        let mut nothing = io::empty();
        return visitor.entry(&head, &mut Unpacked::new(&mut nothing, 0, meter));
    }
    let packed = BufReader::with_capacity(32 * 1024, input.take(line.packed));
    let mut data: Box<dyn Read + '_> = if line.method == 8 {
        Box::new(flate2::bufread::DeflateDecoder::new(packed))
    } else {
        Box::new(packed)
    };
    let mut summed = Summed {
        inner: &mut data,
        crc: flate2::Crc::new(),
    };
    let unread = {
        let mut body = Unpacked::new(&mut summed, line.size, meter);
        visitor.entry(&head, &mut body)?;
        body.left()
    };
    // What the visitor left unread is not unpacked, so its CRC is not known.
    if unread == 0 {
        let more = summed
            .inner
            .read(&mut [0])
            .map_err(|e| meter.explain(&e, name))?;
        if more > 0 {
            return Err(corrupt(name, "the entry is longer than the directory says"));
        }
        if summed.crc.sum() != line.crc {
            return Err(corrupt(name, "the checksum of the entry is wrong"));
        }
    }
    Ok(())
}

/// Sums up the CRC of what passes through.
struct Summed<'a, 'b> {
    inner: &'a mut Box<dyn Read + 'b>,
    crc: flate2::Crc,
}

impl Read for Summed<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.crc.update(&buffer[..n]);
        Ok(n)
    }
}
