//! What a check must know of the benchmark: releases, subsets and cases, as the
//! caller tells it. This crate never looks into a catalog itself.

use std::collections::BTreeMap;

use faultboard_domain::{CaseId, ReleaseId, SubsetId, Track};
use serde::{Deserialize, Serialize};

/// The releases and cases that a bundle may speak of. It holds nothing that is
/// not public, so that it can be sent to a browser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knowledge {
    /// Releases that take submissions, with the cases of each of their subsets.
    pub releases: BTreeMap<ReleaseId, BTreeMap<SubsetId, Vec<CaseId>>>,
    /// Every case that any of them holds.
    pub cases: BTreeMap<CaseId, CaseKnowledge>,
}

/// What a check must know of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseKnowledge {
    /// Tracks that the case serves.
    pub tracks: Vec<Track>,
    /// Paths of its tree that a patch may not touch; a folder ends in `/`.
    pub protected_paths: Vec<String>,
}

impl Knowledge {
    /// The cases of a subset that serve the track, sorted; `None` when the
    /// release or the subset is not known.
    pub fn cases_of(
        &self,
        release: &ReleaseId,
        subset: &SubsetId,
        track: Track,
    ) -> Option<Vec<&CaseId>> {
        let mut cases: Vec<&CaseId> = self
            .releases
            .get(release)?
            .get(subset)?
            .iter()
            .filter(|c| self.cases.get(*c).is_none_or(|k| k.tracks.contains(&track)))
            .collect();
        cases.sort();
        cases.dedup();
        Some(cases)
    }
}
