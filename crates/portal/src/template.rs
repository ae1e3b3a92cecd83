//! A bundle to fill in: the folder that a track, a release and a subset ask
//! for, with its metadata begun. It holds no answer and no trace, and nothing
//! is declared in it: a bundle made of it is refused until somebody did all that.

use std::fmt::Write as _;

use faultboard_domain::{Actor, Condition, ReleaseId, RunNumber, SubsetId, Track};

use crate::{Portal, PortalError, Result};

/// The folder of a template, without its files' contents apart from the metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The folder at the top.
    pub top: String,
    /// The text of its `metadata.yaml`.
    pub metadata: String,
    /// The run folders below it, empty.
    pub folders: Vec<String>,
}

impl Portal {
    /// What a template can be had for, as `release/subset`, newest release first.
    pub fn template_choices(&self) -> Vec<String> {
        self.releases()
            .into_iter()
            .flat_map(|r| {
                let subsets = self.subsets(&r).unwrap_or_default();
                subsets.into_iter().map(move |s| format!("{r}/{s}"))
            })
            .collect()
    }

    /// The bundle that a subset asks for, to be filled in.
    ///
    /// # Errors
    /// [`PortalError::NotFound`] where there is no such subset, or where none of
    /// its cases serves the track.
    pub fn template(
        &self,
        _actor: &Actor,
        track: Track,
        release: &ReleaseId,
        subset: &SubsetId,
    ) -> Result<Template> {
        if !self.subsets(release)?.contains(subset) {
            return Err(PortalError::NotFound);
        }
        let cases = self.track_cases(track, release, subset)?;
        if cases.is_empty() {
            return Err(PortalError::NotFound);
        }
        let runs = match track {
            Track::Diagnosis => 3,
            _ => 1,
        };
        let mut folders = Vec::new();
        for case in &cases {
            for run in (1..=runs).map(RunNumber) {
                if track == Track::Diagnosis {
                    folders.push(format!("{}/{}", case.id, run.folder()));
                } else {
                    folders.extend(
                        Condition::ALL
                            .iter()
                            .map(|c| format!("{}/{c}/{}", case.id, run.folder())),
                    );
                }
            }
        }
        let date = self.clock.now().date();
        let mut metadata = String::new();
        // Writing to a String can't fail.
        let _ = write!(
            metadata,
            "# Put your own in place of what is here; the page /docs/formats tells every key.\n\
             track: {track}\n\
             release: \"{release}\"\n\
             subset: {subset}\n\
             agent:\n  name: my-agent\n  version: \"1.0\"\n  open_source: false\n\
             model:\n  name: my-model\n  open_weights: false\n\
             submitter:\n  name: Your name\n  contact: you@example.org    # never public\n\
             attempts_per_case: {runs}\n\
             network: none    # none, docs-only or open\n\
             # Read the rules (/docs/rules), then make each of these true if it is.\n\
             declarations:\n  no_original_issues: false\n  no_fixes: false\n  no_benchmark_access: false\n"
        );
        Ok(Template {
            top: format!("{date}_my-agent__my-model"),
            metadata,
            folders,
        })
    }
}
