//! Walking over a plain folder, in the order of its names. Links are reported,
//! never followed; only regular files are opened.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::{EntryHead, EntryKind, Meter, Stop, Unpacked, Visitor};
use crate::CheckError;

#[cfg(unix)]
fn raw(name: &OsStr) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    name.as_bytes().to_vec()
}

#[cfg(not(unix))]
fn raw(name: &OsStr) -> Vec<u8> {
    name.to_string_lossy().into_owned().into_bytes()
}

#[cfg(unix)]
fn special(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() {
        "a block device"
    } else {
        "a character device"
    }
}

#[cfg(not(unix))]
fn special(_: fs::FileType) -> &'static str {
    "neither a file nor a folder"
}

/// Walks over everything below `root`; names start with `top`, as if the folder
/// had been packed under that name.
pub(crate) fn walk(
    root: &Path,
    top: &str,
    meter: &Meter,
    visitor: &mut dyn Visitor,
) -> Result<(), Stop> {
    let mut folders = vec![(root.to_path_buf(), top.as_bytes().to_vec())];
    while let Some((folder, name)) = folders.pop() {
        let mut below = Vec::new();
        for child in names(&folder)? {
            let path = folder.join(&child);
            let mut child_name = name.clone();
            child_name.push(b'/');
            child_name.extend(raw(&child));
            let meta = fs::symlink_metadata(&path).map_err(io_error)?;
            let kind = meta.file_type();
            let entry_kind = if kind.is_symlink() {
                EntryKind::SymbolicLink
            } else if kind.is_dir() {
                EntryKind::Folder
            } else if kind.is_file() {
                EntryKind::File
            } else {
                EntryKind::Special(special(kind))
            };
            let head = EntryHead {
                name: &child_name,
                kind: entry_kind,
                size: if kind.is_file() { meta.len() } else { 0 },
            };
            if kind.is_file() {
                let mut file = File::open(&path).map_err(io_error)?;
                visitor.entry(&head, &mut Unpacked::new(&mut file, meta.len(), meter))?;
            } else {
                visitor.entry(&head, &mut Unpacked::new(&mut io::empty(), 0, meter))?;
            }
            // What lies too deep was reported with this folder; going on would find no end.
            let depth = child_name.split(|b| *b == b'/').count();
            if kind.is_dir() && depth <= meter.limits().nesting {
                below.push((path, child_name));
            }
        }
        below.reverse();
        folders.append(&mut below);
    }
    Ok(())
}

fn io_error(error: io::Error) -> Stop {
    Stop::Platform(CheckError::Source(error))
}

/// The names in a folder, sorted: the same folder gives the same report.
fn names(folder: &Path) -> Result<BTreeSet<std::ffi::OsString>, Stop> {
    fs::read_dir(folder)
        .map_err(io_error)?
        .map(|entry| entry.map(|e| e.file_name()).map_err(io_error))
        .collect()
}
