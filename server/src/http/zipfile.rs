//! A zip archive of stored entries, written as it is sent. Sizes are known
//! beforehand, so its length is too. Each entry's checksum stands in its local
//! header (no data descriptors), so that readers of streams understand it; for
//! that, a file too large to hold is read twice.

use bytes::Bytes;
use faultboard_portal::BlobFile;
use flate2::Crc;
use futures::stream::StreamExt as _;

use super::body::{Gone, Sink};
use super::trace_sets::Opener;

/// The format's limit of 32-bit fields; beyond it zip64 fields are written.
const LIMIT_32: u64 = 0xFFFF_FFFF;
const LIMIT_16: usize = 0xFFFF;
/// Files up to this size are held while their checksum is made.
const HELD: u64 = 1 << 20;
/// 1980-01-01: the same files always make the same bytes.
const DATE: u16 = 0x21;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;

/// One entry's place in the archive.
#[derive(Debug)]
struct Entry {
    name: String,
    size: u64,
    offset: u64,
}

/// Where everything stands in the archive.
#[derive(Debug)]
pub(super) struct Plan {
    entries: Vec<Entry>,
    /// Where the central directory begins.
    directory: u64,
    /// Its bytes.
    central: u64,
    /// Bytes of the whole archive.
    pub(super) length: u64,
}

impl Plan {
    /// Places files (name and size) one after the other. Names are at most
    /// 65,535 bytes; longer ones are cut at a character.
    pub(super) fn new<'a>(files: impl Iterator<Item = (&'a str, u64)>) -> Self {
        let mut offset = 0;
        let mut entries = Vec::new();
        for (name, size) in files {
            let mut cut = name.len().min(LIMIT_16);
            while !name.is_char_boundary(cut) {
                cut -= 1;
            }
            let entry = Entry {
                name: name[..cut].to_owned(),
                size,
                offset,
            };
            offset += entry.local(0).len() as u64 + size;
            entries.push(entry);
        }
        let central: u64 = entries.iter().map(|e| e.central(0).len() as u64).sum();
        let mut plan = Self {
            entries,
            directory: offset,
            central,
            length: 0,
        };
        plan.length = offset + central + plan.end().len() as u64;
        plan
    }

    /// The records after the central directory.
    fn end(&self) -> Vec<u8> {
        let central = self.central;
        let count = self.entries.len();
        let mut out = Vec::with_capacity(98);
        let wide = count >= LIMIT_16 || self.directory >= LIMIT_32 || central >= LIMIT_32;
        if wide {
            let at = self.directory + central;
            out.extend(0x0606_4b50_u32.to_le_bytes());
            out.extend(44_u64.to_le_bytes());
            out.extend([45_u16, 45].iter().flat_map(|v| v.to_le_bytes()));
            out.extend([0_u32, 0].iter().flat_map(|v| v.to_le_bytes()));
            let numbers = [count as u64, count as u64, central, self.directory];
            out.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
            out.extend(0x0706_4b50_u32.to_le_bytes());
            out.extend(0_u32.to_le_bytes());
            out.extend(at.to_le_bytes());
            out.extend(1_u32.to_le_bytes());
        }
        let count16 = u16::try_from(count).unwrap_or(u16::MAX);
        out.extend(0x0605_4b50_u32.to_le_bytes());
        out.extend(
            [0, 0, count16, count16]
                .iter()
                .flat_map(|v| v.to_le_bytes()),
        );
        out.extend(narrow(central).to_le_bytes());
        out.extend(narrow(self.directory).to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        out
    }
}

/// A number for a 32-bit field; all ones when it stands in a zip64 field.
fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Entry {
    /// What both headers of an entry share: from "version needed" to the
    /// extra field's length.
    fn common(&self, crc: u32, extra: usize) -> Vec<u8> {
        let wide = self.size >= LIMIT_32 || self.offset >= LIMIT_32;
        let version: u16 = if wide { 45 } else { 20 };
        let mut out = Vec::with_capacity(26);
        out.extend(
            [version, FLAGS, 0, 0, DATE]
                .iter()
                .flat_map(|v| v.to_le_bytes()),
        );
        out.extend(crc.to_le_bytes());
        out.extend(narrow(self.size).to_le_bytes());
        out.extend(narrow(self.size).to_le_bytes());
        let name = u16::try_from(self.name.len()).unwrap_or(u16::MAX);
        let extra = u16::try_from(extra).unwrap_or(u16::MAX);
        out.extend([name, extra].iter().flat_map(|v| v.to_le_bytes()));
        out
    }

    /// A zip64 extra field with these numbers; nothing without any.
    fn extra(numbers: &[u64]) -> Vec<u8> {
        if numbers.is_empty() {
            return Vec::new();
        }
        let length = u16::try_from(numbers.len() * 8).unwrap_or(0);
        let mut out = Vec::with_capacity(4 + numbers.len() * 8);
        out.extend([1_u16, length].iter().flat_map(|v| v.to_le_bytes()));
        out.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
        out
    }

    /// The header before the entry's bytes.
    fn local(&self, crc: u32) -> Vec<u8> {
        let sizes = [self.size, self.size];
        let extra = Self::extra(if self.size >= LIMIT_32 { &sizes } else { &[] });
        let mut out = 0x0403_4b50_u32.to_le_bytes().to_vec();
        out.extend(self.common(crc, extra.len()));
        out.extend(self.name.as_bytes());
        out.extend(extra);
        out
    }

    /// The entry's record in the central directory.
    fn central(&self, crc: u32) -> Vec<u8> {
        let mut numbers = Vec::new();
        if self.size >= LIMIT_32 {
            numbers.extend([self.size, self.size]);
        }
        if self.offset >= LIMIT_32 {
            numbers.push(self.offset);
        }
        let extra = Self::extra(&numbers);
        let mut out = 0x0201_4b50_u32.to_le_bytes().to_vec();
        // Made by: Unix, version 4.5 of the format.
        out.extend((0x0300_u16 | 45).to_le_bytes());
        out.extend(self.common(crc, extra.len()));
        // No comment, disk 0, no internal attributes.
        out.extend([0_u16; 3].iter().flat_map(|v| v.to_le_bytes()));
        // A regular file, readable by all.
        out.extend((0o100_644_u32 << 16).to_le_bytes());
        out.extend(narrow(self.offset).to_le_bytes());
        out.extend(self.name.as_bytes());
        out.extend(extra);
        out
    }
}

/// Writes the archive. `files` are those that the plan was made from, in the
/// same order. A file that can't be read breaks the archive off.
pub(super) async fn write(
    plan: Plan,
    files: Vec<BlobFile>,
    open: Opener,
    sink: Sink,
) -> Result<(), Gone> {
    let mut sums = Vec::with_capacity(files.len());
    for (entry, file) in plan.entries.iter().zip(&files) {
        let (crc, held) = match checksum(file, &open).await {
            Ok(known) => known,
            Err(e) => return Err(sink.fail(e).await),
        };
        sums.push(crc);
        sink.send(entry.local(crc)).await?;
        match held {
            Some(pieces) => {
                for piece in pieces {
                    sink.send(piece).await?;
                }
            }
            None => copy(file, &open, &sink).await?,
        }
    }
    for (entry, crc) in plan.entries.iter().zip(sums) {
        sink.send(entry.central(crc)).await?;
    }
    sink.send(plan.end()).await
}

/// Reads a file once for its checksum; keeps its pieces if it is small.
async fn checksum(file: &BlobFile, open: &Opener) -> std::io::Result<(u32, Option<Vec<Bytes>>)> {
    let mut stream = open(file.clone()).await?;
    let mut crc = Crc::new();
    let mut seen: u64 = 0;
    let mut held = (file.size <= HELD).then(Vec::new);
    while let Some(piece) = stream.next().await {
        let piece = piece?;
        seen += piece.len() as u64;
        if seen > file.size {
            break;
        }
        crc.update(&piece);
        if let Some(held) = &mut held {
            held.push(piece);
        }
    }
    if seen == file.size {
        Ok((crc.sum(), held))
    } else {
        Err(other_size(file))
    }
}

fn other_size(file: &BlobFile) -> std::io::Error {
    std::io::Error::other(format!(
        "the stored file {} has another size than recorded",
        file.digest
    ))
}

/// Sends a file's bytes; breaks the body off when they aren't as many as recorded.
pub(super) async fn copy(file: &BlobFile, open: &Opener, sink: &Sink) -> Result<(), Gone> {
    let mut stream = match open(file.clone()).await {
        Ok(stream) => stream,
        Err(e) => return Err(sink.fail(e).await),
    };
    let mut left = file.size;
    while let Some(piece) = stream.next().await {
        match piece {
            Ok(piece) if piece.len() as u64 <= left => {
                left -= piece.len() as u64;
                sink.send(piece).await?;
            }
            Ok(_) => return Err(sink.fail(other_size(file)).await),
            Err(e) => return Err(sink.fail(e).await),
        }
    }
    if left > 0 {
        return Err(sink.fail(other_size(file)).await);
    }
    Ok(())
}

#[cfg(test)]
#[path = "zipfile_tests.rs"]
mod tests;
