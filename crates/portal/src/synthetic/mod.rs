//! Boards of any size from a generator: to try pages, figures and limits with.
//! Nothing on them was run. Everything says so: the release is `0.1`, cases,
//! agents and models are called synthetic, and every page bears a banner.
//!
//! It never writes into a site that holds anything else, and the same
//! description always makes the same board.

mod cases;
mod results;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use faultboard_domain::job::JobState;
use faultboard_domain::{ReleaseId, Track};
use faultboard_store::{flag, jobs, set_flag, submissions};

use crate::{Portal, PortalError, Result, Settings};

const FLAG: &str = "synthetic";
/// The release of synthetic cases.
pub(crate) const RELEASE: &str = "0.1";
/// The folder within the data folder that holds synthetic cases.
const FOLDER: &str = "synthetic";

/// What to generate: `repair:60x10` (cases x configurations, two conditions) or
/// `diagnosis:120x17x3` (cases x configurations x attempts).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// The track.
    pub track: Track,
    /// Cases.
    pub cases: u32,
    /// Configurations, each one submission.
    pub configurations: u32,
    /// Attempts per case (and condition).
    pub attempts: u32,
}

impl std::str::FromStr for Synthetic {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || {
            "write `repair:60x10` (cases x configurations) or `diagnosis:120x17x3` (cases x configurations x attempts)".to_owned()
        };
        let (track, size) = text.split_once(':').ok_or_else(wrong)?;
        let track = match track {
            "repair" => Track::Repair,
            "diagnosis" => Track::Diagnosis,
            _ => return Err(wrong()),
        };
        let numbers: Vec<u32> = size
            .split('x')
            .map(|n| n.parse().map_err(|_| wrong()))
            .collect::<std::result::Result<_, _>>()?;
        let (cases, configurations, attempts) = match numbers[..] {
            [c, n] => (c, n, 1),
            [c, n, k] => (c, n, k),
            _ => return Err(wrong()),
        };
        let fits = (1..=999).contains(&cases)
            && (1..=10_000).contains(&configurations)
            && (1..=20).contains(&attempts);
        if !fits {
            return Err("at most 999 cases, 10,000 configurations and 20 attempts".to_owned());
        }
        Ok(Self {
            track,
            cases,
            configurations,
            attempts,
        })
    }
}

/// Whether a release is one of synthetic cases.
pub(crate) fn is_synthetic(release: &ReleaseId) -> bool {
    release.as_str() == RELEASE
}

fn folders(data: &Path) -> (PathBuf, PathBuf) {
    let base = data.join(FOLDER);
    (base.join("cases"), base.join("cases-solution"))
}

/// Writes the synthetic cases into a data folder; the site that is opened on it
/// uses them. Refuses a folder that holds a site of another kind.
pub fn prepare(settings: &Settings, wanted: &[Synthetic]) -> Result<()> {
    let data = &settings.data_dir;
    let (cases_dir, solutions_dir) = folders(data);
    if data.join("faultboard.sqlite").exists() && !cases_dir.exists() {
        return Err(PortalError::Invalid(format!(
            "{} holds a site that is not synthetic. Name an empty data folder.",
            data.display()
        )));
    }
    let most = |track| {
        let of_track = wanted.iter().filter(|w| w.track == track);
        of_track.map(|w| w.cases).max().unwrap_or(0)
    };
    let (repair, diagnosis) = (most(Track::Repair), most(Track::Diagnosis));
    cases::write(&cases_dir, &solutions_dir, repair, diagnosis).map_err(|e| {
        PortalError::Invalid(format!("{} can't be written: {e}.", cases_dir.display()))
    })
}

/// The settings with the synthetic cases of the data folder, where it has some.
pub(crate) fn adopt(mut settings: Settings) -> Settings {
    let (cases_dir, solutions_dir) = folders(&settings.data_dir);
    if cases_dir.is_dir() {
        settings.cases_dir = cases_dir;
        settings.solutions_dir = solutions_dir;
    }
    settings
}

impl Portal {
    /// Whether what this site shows was generated.
    pub fn is_synthetic(&self) -> bool {
        self.newest_release().is_some_and(|r| is_synthetic(&r))
    }

    /// Whether a job waits or runs.
    pub async fn work_waits(&self) -> Result<bool> {
        let counts = jobs::counts(&mut *self.store.reader().await?).await?;
        Ok(counts
            .into_iter()
            .any(|(s, n)| n > 0 && matches!(s, JobState::Queued | JobState::Running)))
    }

    /// Fills a synthetic site; gives the submissions that were made. Those that
    /// are there already are not made again.
    pub async fn load_synthetic(self: &Arc<Self>, wanted: &[Synthetic]) -> Result<usize> {
        if !self.is_synthetic() {
            return Err(PortalError::Invalid(
                "This site is not synthetic. Name an empty data folder.".to_owned(),
            ));
        }
        let mut made = 0;
        for w in wanted {
            made += results::fill(self, *w).await?;
        }
        let mut tx = self.store.begin().await?;
        if flag(&mut tx, FLAG).await?.is_none() {
            set_flag(&mut tx, FLAG, "generated").await?;
            submissions::add_change(
                &mut tx,
                "Synthetic boards were generated. Nothing on them was run.",
                "/board/repair",
                self.now(),
            )
            .await?;
        }
        self.enqueue_rebuild(&mut tx).await?;
        tx.commit().await?;
        self.wake();
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_bounded() {
        let repair: Synthetic = "repair:60x10".parse().unwrap();
        assert_eq!(
            (repair.cases, repair.configurations, repair.attempts),
            (60, 10, 1)
        );
        let diagnosis: Synthetic = "diagnosis:120x17x3".parse().unwrap();
        assert_eq!(diagnosis.attempts, 3);
        for bad in [
            "",
            "repair",
            "repair:60",
            "recovery:1x1",
            "repair:0x1",
            "repair:1000x1",
            "repair:1x1x1x1",
        ] {
            assert!(bad.parse::<Synthetic>().is_err(), "{bad}");
        }
    }
}
