//! What the use cases ask the catalog: cases, releases, subsets, labels, and
//! the forms in which the bundle validator wants to know of them.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_bundle::{CaseKnowledge, Knowledge, Limits};
use faultboard_catalog::{Catalog, CatalogError, Entry};
use faultboard_domain::release::Release;
use faultboard_domain::{Block, Case, CaseId, Digest, ReleaseId, Report, SubsetId, Track};
use faultboard_store::submissions;

use crate::{Portal, PortalError, Result, Settings};

/// Reads the cases; every problem comes back in one report.
pub(crate) fn load_catalog(settings: &Settings) -> Result<Catalog> {
    match Catalog::load(&settings.cases_dir, &settings.solutions_dir) {
        Ok((catalog, report)) => {
            for p in &report.problems {
                tracing::warn!(path = %p.path, rule = %p.rule, "{}", p.message);
            }
            Ok(catalog)
        }
        Err(CatalogError::Problems(report)) => Err(PortalError::Rejected(Box::new(report))),
        Err(e) => Err(PortalError::internal(e)),
    }
}

/// Reads the cases that are in order, and tells what is wrong with the others.
pub(crate) fn inspect_catalog(settings: &Settings) -> Result<(Catalog, Report)> {
    Catalog::inspect(&settings.cases_dir, &settings.solutions_dir).map_err(PortalError::internal)
}

/// What the bundle validator knows of a catalog.
pub(crate) fn bundle_knowledge(catalog: &Catalog) -> Knowledge {
    let releases = catalog
        .releases()
        .map(|r| {
            let subsets: BTreeMap<SubsetId, Vec<CaseId>> = catalog
                .subsets(r)
                .into_iter()
                .map(|s| (s.clone(), catalog.subset(r, &s)))
                .collect();
            (r.id.clone(), subsets)
        })
        .collect();
    let protected: Vec<String> = faultboard_oracle::PROTECTED_PATHS
        .iter()
        .map(|p| (*p).to_owned())
        .collect();
    let cases = catalog
        .cases()
        .map(|e| {
            (
                e.case.id.clone(),
                CaseKnowledge {
                    tracks: e.case.tracks.clone(),
                    protected_paths: protected.clone(),
                },
            )
        })
        .collect();
    Knowledge { releases, cases }
}

/// The limits that a bundle must keep under these settings.
pub(crate) fn bundle_limits(settings: &Settings) -> Limits {
    Limits {
        compressed_bytes: settings.max_upload_bytes,
        unpacked_bytes: settings.max_unpacked_bytes,
        ..Limits::default()
    }
}

impl Portal {
    pub(crate) fn bundle_knowledge(&self) -> Knowledge {
        bundle_knowledge(&self.catalog)
    }

    pub(crate) fn bundle_limits(&self) -> Limits {
        bundle_limits(&self.settings)
    }

    pub(crate) fn entry(&self, id: &CaseId) -> Result<&Entry> {
        self.catalog.case(id).ok_or(PortalError::NotFound)
    }

    pub(crate) fn case_of(&self, id: &CaseId) -> Result<&Case> {
        Ok(&self.entry(id)?.case)
    }

    pub(crate) fn labels(&self, id: &CaseId) -> Result<&[Block]> {
        Ok(&self.entry(id)?.solution.blocks)
    }

    pub(crate) fn newest_release(&self) -> Option<ReleaseId> {
        self.catalog.latest_release().map(|r| r.id.clone())
    }

    /// The release that a board shows unless another is asked for: the newest
    /// with published rows, so that a new release doesn't empty the boards.
    pub(crate) async fn release_to_show(&self, track: Track) -> Result<Option<ReleaseId>> {
        let with_rows =
            submissions::published_releases(&mut *self.store.reader().await?, track).await?;
        let shown = self
            .releases()
            .into_iter()
            .find(|r| with_rows.contains(r))
            .or_else(|| self.newest_release());
        Ok(shown)
    }

    /// Every release, newest first.
    pub(crate) fn releases(&self) -> Vec<ReleaseId> {
        let mut all: Vec<&Release> = self.catalog.releases().collect();
        all.sort_by(|a, b| (&b.date, &b.id).cmp(&(&a.date, &a.id)));
        all.into_iter().map(|r| r.id.clone()).collect()
    }

    fn release(&self, id: &ReleaseId) -> Result<&Release> {
        self.catalog.release(id).ok_or(PortalError::NotFound)
    }

    pub(crate) fn subsets(&self, release: &ReleaseId) -> Result<Vec<SubsetId>> {
        Ok(self.catalog.subsets(self.release(release)?))
    }

    pub(crate) fn subset_cases(
        &self,
        release: &ReleaseId,
        subset: &SubsetId,
    ) -> Result<Vec<CaseId>> {
        Ok(self.catalog.subset(self.release(release)?, subset))
    }

    /// The cases of a subset that serve a track, sorted by id.
    pub(crate) fn track_cases(
        &self,
        track: Track,
        release: &ReleaseId,
        subset: &SubsetId,
    ) -> Result<Vec<Case>> {
        let mut cases = self
            .subset_cases(release, subset)?
            .iter()
            .map(|id| self.case_of(id).cloned())
            .collect::<Result<Vec<_>>>()?;
        cases.retain(|c| c.tracks.contains(&track));
        cases.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(cases)
    }

    /// Releases that hold a case in any of their subsets, newest first.
    pub(crate) fn releases_of(&self, case: &CaseId) -> Vec<ReleaseId> {
        let holds = |r: &ReleaseId| {
            self.subsets(r).is_ok_and(|subsets| {
                subsets
                    .iter()
                    .any(|s| self.subset_cases(r, s).is_ok_and(|c| c.contains(case)))
            })
        };
        self.releases().into_iter().filter(holds).collect()
    }

    /// Cases and systems of the newest release.
    pub(crate) fn release_counts(&self) -> (u32, u32) {
        let Some(release) = self.catalog.latest_release() else {
            return (0, 0);
        };
        let cases: Vec<&Case> = release
            .cases
            .iter()
            .filter_map(|id| self.catalog.case(id))
            .map(|e| &e.case)
            .collect();
        let systems: BTreeSet<&str> = cases.iter().map(|c| c.system.as_str()).collect();
        (
            u32::try_from(cases.len()).unwrap_or(u32::MAX),
            u32::try_from(systems.len()).unwrap_or(u32::MAX),
        )
    }

    /// A digest of every case and release, so that boards are rebuilt when any changes.
    pub(crate) fn catalog_digest(&self) -> Digest {
        let mut text = String::new();
        for e in self.catalog.cases() {
            text.push_str(&format!("{} {}\n", e.case.id, e.digests.content));
        }
        for r in self.catalog.releases() {
            text.push_str(&serde_json::to_string(r).unwrap_or_default());
        }
        text.push_str(faultboard_scoring::SCORER_VERSION);
        Digest::of(text.as_bytes())
    }
}
