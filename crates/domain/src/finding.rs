//! What a leakage guard found, and what became of it.

use serde::{Deserialize, Serialize};

/// What a guard's hit does by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardSeverity {
    /// Sets the attempt aside: it no longer counts as valid.
    Quarantine,
    /// Waits for a reviewer, who confirms or clears it.
    Flag,
}

impl GuardSeverity {
    /// The word used in the database and on pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            GuardSeverity::Quarantine => "quarantine",
            GuardSeverity::Flag => "flag",
        }
    }
}

/// One hit of a guard in one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The guard's stable name, such as `issue-identifier`.
    pub guard: String,
    /// The guard's version.
    pub guard_version: u32,
    /// What the hit does.
    pub severity: GuardSeverity,
    /// Index of the normalised step (0-based); none for the patch or the diagnosis.
    pub step: Option<u32>,
    /// Which text was scanned: `prompt`, `thought`, `input`, `output`, `patch`, `diagnosis`.
    pub source: String,
    /// Byte range of the hit within that original text, half-open.
    pub start: u64,
    /// End of the range.
    pub end: u64,
    /// The hit with a little text around it, at most 400 bytes of valid UTF-8.
    pub excerpt: String,
    /// Why this counts, in one sentence.
    pub why: String,
}

/// What a reviewer decided about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Disposition {
    /// Nobody has looked yet.
    Open,
    /// A reviewer agrees: the attempt stays set aside.
    Confirmed,
    /// A reviewer disagrees, with a reason: the attempt counts.
    Cleared,
}

impl Disposition {
    /// The word used in the database and on pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Disposition::Open => "open",
            Disposition::Confirmed => "confirmed",
            Disposition::Cleared => "cleared",
        }
    }

    /// The disposition of a database word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Open, Self::Confirmed, Self::Cleared]
            .into_iter()
            .find(|d| d.as_str() == text)
    }
}
