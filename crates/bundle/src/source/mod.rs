//! Where a bundle's entries come from: an archive of one of three formats, or a
//! folder. Every source hands its entries to one visitor, one after the other,
//! as a stream; none holds more than a few buffers, and none writes anything.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod folder;
mod meter;
mod tarball;
mod zipfile;
mod zstd;

use std::io::{BufReader, Read, Seek, SeekFrom};

pub(crate) use meter::{Meter, Unpacked};

use crate::CheckError;
use crate::fault::{Fault, FaultKind};

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file with bytes.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    SymbolicLink,
    /// A second name of another entry.
    HardLink,
    /// A device, a pipe, a socket: named in words.
    Special(&'static str),
}

/// An entry before its bytes.
pub(crate) struct EntryHead<'a> {
    /// The name's bytes as they stand in the source.
    pub name: &'a [u8],
    /// What it is.
    pub kind: EntryKind,
    /// Size as the source claims it.
    pub size: u64,
}

/// Why a walk ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something is wrong with the bundle; nothing behind it can be read.
    Fault(Fault),
    /// The platform failed: the bundle is not to blame.
    Platform(CheckError),
}

/// Takes a source's entries.
pub(crate) trait Visitor {
    /// One entry with its bytes; what is not read of them is skipped by the source.
    fn entry(&mut self, head: &EntryHead<'_>, body: &mut Unpacked<'_>) -> Result<(), Stop>;
    /// Something wrong with the source that doesn't end the walk.
    fn fault(&mut self, fault: Fault);
}

/// The archive formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    TarGz,
    TarZst,
    Zip,
}

/// The format by the first bytes; a name proves nothing.
pub(crate) fn detect(head: &[u8]) -> Result<Format, Fault> {
    let skippable_zstd =
        head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18];
    if head.starts_with(&[0x1f, 0x8b]) {
        Ok(Format::TarGz)
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || skippable_zstd {
        Ok(Format::TarZst)
    } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        Ok(Format::Zip)
    } else {
        let what = if head.is_empty() {
            "the file is empty"
        } else if head.starts_with(b"BZh") {
            "the file is compressed with bzip2"
        } else if head.starts_with(&[0xfd, b'7', b'z', b'X', b'Z']) {
            "the file is compressed with xz"
        } else if head.starts_with(&[b'7', b'z', 0xbc, 0xaf]) {
            "the file is a 7z archive"
        } else if head.get(257..262) == Some(b"ustar") {
            "the file is a tar archive that was not compressed"
        } else {
            "the file starts like none of the three archive formats"
        };
        Err(Fault::of(FaultKind::Format, "", what))
    }
}

/// Walks over an archive of whichever format.
pub(crate) fn walk_archive<R: Read + Seek>(
    mut input: R,
    meter: &Meter,
    visitor: &mut dyn Visitor,
) -> Result<(), Stop> {
    let io = |e| Stop::Platform(CheckError::Source(e));
    let length = input.seek(SeekFrom::End(0)).map_err(io)?;
    input.seek(SeekFrom::Start(0)).map_err(io)?;
    meter.check_length(length).map_err(Stop::Fault)?;
    let mut head = [0; 512];
    let got = read_full(&mut input, &mut head).map_err(io)?;
    input.seek(SeekFrom::Start(0)).map_err(io)?;
    match detect(&head[..got]).map_err(Stop::Fault)? {
        Format::TarGz => {
            let raw = BufReader::with_capacity(64 * 1024, meter.count(input));
            tarball::walk(flate2::bufread::MultiGzDecoder::new(raw), meter, visitor)
        }
        Format::TarZst => {
            let raw = BufReader::with_capacity(64 * 1024, meter.count(input));
            tarball::walk(zstd::Frames::new(raw), meter, visitor)
        }
        Format::Zip => zipfile::walk(input, length, meter, visitor),
    }
}

/// Fills the buffer as far as the input goes.
fn read_full(input: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match input.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}
