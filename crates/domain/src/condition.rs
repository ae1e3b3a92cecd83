//! The three tracks and the conditions under which repair attempts run.

use serde::{Deserialize, Serialize};

use crate::ids::IdError;

/// What an attempt hands in, and so how it is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Track {
    /// A patch, judged by a hidden oracle.
    Repair,
    /// Suspected code blocks, compared with labelled ones.
    Diagnosis,
    /// One guided second attempt after a failure.
    Recovery,
}

impl Track {
    /// Every track, in the order of the site's navigation.
    pub const ALL: [Track; 3] = [Track::Repair, Track::Diagnosis, Track::Recovery];

    /// The word used in files, addresses and the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Track::Repair => "repair",
            Track::Diagnosis => "diagnosis",
            Track::Recovery => "recovery",
        }
    }

    /// The word as a heading.
    pub const fn title(self) -> &'static str {
        match self {
            Track::Repair => "Repair",
            Track::Diagnosis => "Diagnosis",
            Track::Recovery => "Recovery",
        }
    }
}

impl std::fmt::Display for Track {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Track {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        Track::ALL
            .into_iter()
            .find(|t| t.as_str() == text)
            .ok_or_else(|| IdError {
                kind: "track",
                rule: "one of repair, diagnosis, recovery",
                text: text.chars().take(80).collect(),
            })
    }
}

/// What a repair attempt was given. The context-augmented condition means the
/// bundle `default` unless a submission names another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The tree and the symptom.
    SymptomOnly,
    /// The tree, the symptom and a debug-context bundle.
    ContextAugmented,
}

impl Condition {
    /// Both conditions, in display order.
    pub const ALL: [Condition; 2] = [Condition::SymptomOnly, Condition::ContextAugmented];

    /// The word used in folders, addresses and the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Condition::SymptomOnly => "symptom-only",
            Condition::ContextAugmented => "context-augmented",
        }
    }

    /// The words used on pages.
    pub const fn title(self) -> &'static str {
        match self {
            Condition::SymptomOnly => "symptom only",
            Condition::ContextAugmented => "with context",
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Condition {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        Condition::ALL
            .into_iter()
            .find(|c| c.as_str() == text)
            .ok_or_else(|| IdError {
                kind: "condition",
                rule: "one of symptom-only, context-augmented",
                text: text.chars().take(80).collect(),
            })
    }
}
