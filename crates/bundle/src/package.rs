//! Packing a folder into an archive. Deterministic: the same files give the
//! same bytes, whoever packs them, whenever and wherever. Only what a bundle
//! has a place for goes in, so that nothing private goes along by mistake.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use faultboard_domain::Digest;
use sha2::Digest as _;

use crate::CheckError;
use crate::layout::{Place, place};
use crate::limits::Limits;
use crate::path::Name;
use crate::source::{EntryHead, EntryKind, Meter, Stop, Unpacked, Visitor, folder};

/// How to compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// `.tar.zst`: smaller and faster.
    Zstd,
    /// `.tar.gz`: read everywhere.
    Gzip,
}

impl Compression {
    /// The ending of the archive's name.
    pub const fn extension(self) -> &'static str {
        match self {
            Compression::Zstd => "tar.zst",
            Compression::Gzip => "tar.gz",
        }
    }
}

/// What was packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// Number of files.
    pub files: usize,
    /// Size of the archive in bytes.
    pub bytes: u64,
    /// Digest of the archive.
    pub sha256: Digest,
    /// Paths below the folder that were left out, sorted.
    pub left_out: Vec<String>,
}

/// Packs the folder under the name `top` into `out`. Fails when a file can't be
/// read, changes while it is read, or when `out` fails.
pub fn package<W: Write>(
    source: &Path,
    top: &str,
    compression: Compression,
    out: W,
) -> io::Result<Packed> {
    let mut names = Names::default();
    let limits = Limits {
        nesting: 64,
        ..Limits::default()
    };
    let walked = folder::walk(source, top, &Meter::new(&limits, false), &mut names);
    walked.map_err(|stop| match stop {
        Stop::Platform(CheckError::Source(e) | CheckError::Sink(e)) => e,
        Stop::Fault(fault) => io::Error::other(fault.detail),
    })?;
    names.files.sort();
    names.left_out.sort();
    let mut out = Summed {
        inner: out,
        sha: sha2::Sha256::new(),
        bytes: 0,
    };
    match compression {
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(&mut out, 12)?;
            encoder.include_checksum(true)?;
            write(source, top, &names.files, &mut encoder)?;
            encoder.finish()?;
        }
        Compression::Gzip => {
            let mut encoder = flate2::GzBuilder::new()
                .mtime(0)
                .operating_system(255)
                .write(&mut out, flate2::Compression::new(6));
            write(source, top, &names.files, &mut encoder)?;
            encoder.finish()?;
        }
    }
    out.flush()?;
    Ok(Packed {
        files: names.files.len(),
        bytes: out.bytes,
        sha256: Digest::from_bytes(out.sha.finalize().into()),
        left_out: names.left_out,
    })
}

fn write(source: &Path, top: &str, files: &[String], out: &mut dyn Write) -> io::Result<()> {
    let mut tar = tar::Builder::new(out);
    for below in files {
        let mut file = File::open(source.join(below))?;
        let size = file.metadata()?.len();
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(size);
        let mut counted = Counted {
            inner: (&mut file).take(size),
            bytes: 0,
        };
        tar.append_data(&mut header, format!("{top}/{below}"), &mut counted)?;
        if counted.bytes != size || file.read(&mut [0])? > 0 {
            return Err(io::Error::other(format!(
                "`{below}` changed while it was packed"
            )));
        }
    }
    tar.into_inner().map(drop)
}

/// Collects the names below a folder, told apart by whether they are packed.
#[derive(Default)]
struct Names {
    files: Vec<String>,
    left_out: Vec<String>,
}

impl Visitor for Names {
    fn entry(&mut self, head: &EntryHead<'_>, _: &mut Unpacked<'_>) -> Result<(), Stop> {
        let name = Name::check(head.name);
        let below = crate::layout::below_top(&name.path).to_owned();
        let packed = name.faults.is_empty()
            && head.kind == EntryKind::File
            && matches!(place(&name.path), Place::Metadata | Place::Attempt(..));
        if packed {
            self.files.push(below);
        } else if head.kind != EntryKind::Folder {
            self.left_out.push(below);
        }
        Ok(())
    }

    fn fault(&mut self, _: crate::fault::Fault) {}
}

struct Counted<R> {
    inner: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes += n as u64;
        Ok(n)
    }
}

struct Summed<W> {
    inner: W,
    sha: sha2::Sha256,
    bytes: u64,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(buffer)?;
        self.sha.update(&buffer[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
