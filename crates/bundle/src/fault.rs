//! What may be wrong with a bundle's packaging, before anything in it is
//! understood: facts that the source readers note, and that rules put in words.

/// The kinds of fault; each has one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// No archive of a format that is read.
    Format,
    /// The archive ends too early.
    Truncated,
    /// The archive contradicts itself or its checksums.
    Corrupt,
    /// An entry is stored in a way that is not read (encrypted, other methods).
    Unreadable,
    /// Bytes follow the archive's end.
    Trailing,
    /// The archive itself is too large.
    CompressedLimit,
    /// Too much unpacked.
    UnpackedLimit,
    /// Too many entries.
    EntryLimit,
    /// Too much unpacked for its packed size.
    RatioLimit,
    /// One file is too large.
    FileLimit,
    /// One patch, diagnosis, metadata or stats file is too large, or all of them are.
    AnswerLimit,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub kind: FaultKind,
    /// Path of the entry, if it concerns one; safe to show.
    pub path: String,
    /// What happened, in words.
    pub detail: String,
}

impl Fault {
    pub(crate) fn of(kind: FaultKind, path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            kind,
            path: path.into(),
            detail: detail.into(),
        }
    }
}
