//! What the protocol needs to know of a case. The catalog reads and checks case
//! folders; this only picks from what it found.

use std::path::{Path, PathBuf};

use faultboard_catalog::{CaseDigests, Entry};
use faultboard_domain::Case;

/// A case as the protocol sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleCase {
    /// What `case.yaml` says.
    pub case: Case,
    /// The case's public folder.
    pub dir: PathBuf,
    /// The folder that all oracles share.
    pub library: PathBuf,
    /// Digests of its parts.
    pub digests: CaseDigests,
    /// `symptom.md`.
    pub symptom: String,
    /// Names and texts of the default debug context.
    pub evidence: Vec<(String, String)>,
}

impl OracleCase {
    /// From the catalog's entry and its library folder ([`faultboard_catalog::Catalog::library`]).
    pub fn from_entry(entry: &Entry, library: &Path) -> Self {
        Self {
            case: entry.case.clone(),
            dir: entry.dir.clone(),
            library: library.to_owned(),
            digests: entry.digests.clone(),
            symptom: entry.texts.symptom.clone(),
            evidence: entry
                .texts
                .evidence
                .iter()
                .map(|e| (e.name.clone(), e.text.clone()))
                .collect(),
        }
    }

    /// The text of `REBUILD.sh`; `None` when there is nothing to build.
    pub fn rebuild_script(&self) -> Option<String> {
        let command = self.case.rebuild.trim();
        (!command.is_empty()).then(|| format!("#!/usr/bin/env bash\nset -eo pipefail\n{command}\n"))
    }
}
