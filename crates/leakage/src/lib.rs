//! Leakage guards: texts of an attempt in, findings out. Text is first made
//! comparable (control sequences, invisible characters, lookalikes, escapes,
//! base64 hide nothing), then one automaton looks for every guard's patterns
//! and each guard looks closer at what it found.
//!
//! Pure: it reads no trace format, no file and no database, and it decides
//! nothing about an attempt. What a finding leads to is for its readers.
//!
//! To add a guard, add a file to `guards/` and a line to the list in
//! `guards/mod.rs`, and a folder of examples to `tests/corpus/`.

mod guard;
mod guards;
mod literals;
pub mod normalise;
mod reference;
mod scan;
mod segment;
mod shell;
mod terms;

use faultboard_domain::Digest;
use faultboard_domain::finding::GuardSeverity;

pub use guard::{Attempt, Confirmed, Form, Guard, Hit, Pattern, Terms};
pub use literals::TooManyTerms;
pub use scan::{Scan, Scanned, Scanner};
pub use segment::{Segment, Source, Sources};
pub use terms::{CaseTerms, Reference, SiteTerms};

/// One guard of the set, for pages and for comparing two sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardInfo {
    /// Its stable name.
    pub id: &'static str,
    /// Its version.
    pub version: u32,
    /// What its hits do.
    pub severity: GuardSeverity,
    /// What it finds, in one sentence.
    pub describe: &'static str,
}

/// Every guard of the set, in order.
pub fn guard_set() -> Vec<GuardInfo> {
    guards::GUARDS
        .iter()
        .map(|g| GuardInfo {
            id: g.id(),
            version: g.version(),
            severity: g.severity(),
            describe: g.describe(),
        })
        .collect()
}

/// The version of the whole set: it changes when a guard is added, taken out or
/// changed. Twelve hexadecimal digits.
pub fn guard_set_version() -> String {
    let all: Vec<String> = guard_set()
        .iter()
        .map(|g| format!("{}@{}/{}", g.id, g.version, g.severity.as_str()))
        .collect();
    Digest::of(all.join(" ").as_bytes()).short().to_owned()
}
