//! Case set releases: immutable, versioned lists of cases, and their subsets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{CaseId, ReleaseId, SubsetId};

/// One release, as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Its id.
    pub id: ReleaseId,
    /// One line for people.
    pub title: String,
    /// ISO date of its publication.
    pub date: String,
    /// The cases of the subset `full`.
    pub cases: Vec<CaseId>,
    /// Subsets that this release defines itself, beyond the standard ones.
    #[serde(default)]
    pub subsets: BTreeMap<SubsetId, Vec<CaseId>>,
}
