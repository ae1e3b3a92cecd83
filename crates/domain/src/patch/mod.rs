//! Unified diffs as data: parsing what agents hand in, and applying it to one
//! file's bytes. Tolerant where transport does harm (CRLF, prefixes, counts, a
//! missing last newline), strict where a guess would change meaning: a hunk
//! applies only where every old line is found, however far it has moved.
//! It never touches a file system.

mod apply;
mod parse;

pub use apply::{AppliedFile, HunkFailure, apply_file};

/// The most bytes of a patch that are read.
pub const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Why a text is no patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// Over [`MAX_BYTES`].
    #[error("the patch has {0} bytes, more than {MAX_BYTES}")]
    TooLarge(usize),
    /// Text, but no diff in it.
    #[error("no file header (`--- a/...` and `+++ b/...`) was found in the patch")]
    NoDiff,
    /// A line that can't be read.
    #[error("line {line}: {what}")]
    Malformed {
        /// 1-based line of the patch.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A path that may not be written.
    #[error("line {line}: the path `{path}` {why}")]
    BadPath {
        /// 1-based line of the patch.
        line: usize,
        /// The path as written, shortened.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A kind of change that is not accepted.
    #[error("line {line}: {what} can't be applied")]
    Unsupported {
        /// 1-based line of the patch.
        line: usize,
        /// Which kind.
        what: &'static str,
    },
}

/// A whole patch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// Its files, in order.
    pub files: Vec<FilePatch>,
    /// What had to be tolerated (recounted hunks, CRLF ...), in words.
    pub notes: Vec<String>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// Its lines change.
    Modify,
    /// It comes into being.
    Create,
    /// It goes.
    Delete,
    /// It moves, with or without changed lines.
    Rename,
}

/// The part of a patch that concerns one file. Paths are relative, with `/`,
/// without `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// What happens.
    pub change: FileChange,
    /// Where it was (the same as `new_path` unless renamed).
    pub old_path: String,
    /// Where it will be.
    pub new_path: String,
    /// Whether the new file is to be executable; `None`: as before.
    pub executable: Option<bool>,
    /// The hunks.
    pub hunks: Vec<Hunk>,
}

/// One hunk: old lines and what takes their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// 1-based line in the old file; 0 for an insertion into an empty one.
    pub old_start: usize,
    /// The lines, in order.
    pub lines: Vec<HunkLine>,
}

/// One line of a hunk, its ending included (none: no newline at the end of the file).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkLine {
    /// Stays.
    Context(Vec<u8>),
    /// Goes.
    Remove(Vec<u8>),
    /// Comes.
    Add(Vec<u8>),
}

impl Patch {
    /// Reads a patch. White space alone is a patch without files.
    pub fn parse(bytes: &[u8]) -> Result<Self, PatchError> {
        parse::parse(bytes)
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.files
            .iter()
            .all(|f| f.hunks.is_empty() && f.change == FileChange::Modify && f.executable.is_none())
    }

    /// Takes out the files whose old or new path is protected, and names them.
    /// A pattern is a path, or a folder ending in `/`.
    pub fn drop_protected(&mut self, patterns: &[String]) -> Vec<String> {
        let mut dropped = Vec::new();
        self.files.retain(|f| {
            let hit = [&f.old_path, &f.new_path]
                .into_iter()
                .find(|p| is_protected(p, patterns));
            if let Some(path) = hit {
                dropped.push(path.clone());
            }
            hit.is_none()
        });
        dropped
    }

    /// Added and removed lines.
    pub fn size(&self) -> (usize, usize) {
        let mut counts = (0, 0);
        for line in self
            .files
            .iter()
            .flat_map(|f| &f.hunks)
            .flat_map(|h| &h.lines)
        {
            match line {
                HunkLine::Add(_) => counts.0 += 1,
                HunkLine::Remove(_) => counts.1 += 1,
                HunkLine::Context(_) => {}
            }
        }
        counts
    }
}

/// Whether a path falls under one of the patterns (a path, or a folder ending in `/`).
pub fn is_protected(path: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|p| match p.strip_suffix('/') {
        Some(folder) => path == folder || path.starts_with(p.as_str()),
        None => path == p,
    })
}

#[cfg(test)]
mod tests;
