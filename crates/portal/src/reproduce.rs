//! Every table and figure of a track from a folder of attempts, without a site
//! and without a database: by the functions that the site's jobs use. Compares
//! them with a reference, file by file and byte by byte.
//!
//! The folder holds bundles (folders with `metadata.yaml`, or archives of them).
//! Beside a bundle `NAME` may lie `NAME.scores.json`: what an earlier run scored,
//! taken instead of scoring again where that is asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faultboard_catalog::Catalog;
use faultboard_domain::metadata::Metadata;
use faultboard_domain::view::{BoardRow, BoardStatistics, BoardView, MeasureKind, RowStatistics};
use faultboard_domain::{
    AttemptId, Case, CaseId, Clock, Digest, ReleaseId, RevisionId, SubmissionId, SubsetId,
    SystemId, Timestamp, Track,
};
use faultboard_sandbox::Runtime;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::figures::Detail;
use crate::finish::{RevisionScores, scorer_version};
use crate::knowledge::load_catalog;
use crate::statistics::{self, mixed, panel, profile, row};
use crate::{PortalError, Result, Settings, csv, figures, offline, rows};

/// What stands in `NAME.scores.json`.
#[derive(Serialize, Deserialize)]
struct StoredScores {
    scorer_version: String,
    metadata: Metadata,
    scores: RevisionScores,
    /// What traces tell beyond scores.
    #[serde(default)]
    details: BTreeMap<AttemptId, Detail>,
}

/// One bundle with its scores.
struct Scored {
    name: String,
    metadata: Metadata,
    scores: RevisionScores,
    details: BTreeMap<AttemptId, Detail>,
}

/// How to go about it.
#[derive(Clone, Default)]
pub struct Options {
    /// Where patches are judged; none: where the settings say.
    pub runtime: Option<Arc<dyn Runtime>>,
    /// Take `NAME.scores.json` where it is there and of this scorer's version.
    pub use_stored_scores: bool,
    /// Where the tables and figures are written; none: nowhere.
    pub out: Option<PathBuf>,
    /// What they are compared with.
    pub reference: Option<PathBuf>,
}

/// A line of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// The table's or figure's path.
    pub file: String,
    /// `equal`, `differs`, `only here`, `only in the reference` or `made`.
    pub result: String,
}

fn unusable(what: &Path, e: impl std::fmt::Display) -> PortalError {
    PortalError::Invalid(format!("{}: {e}", what.display()))
}

/// Bundles of a folder: itself, or those right below it, sorted by name.
fn bundles(dir: &Path) -> Result<Vec<PathBuf>> {
    if dir.join("metadata.yaml").is_file() || dir.is_file() {
        return Ok(vec![dir.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| unusable(dir, e))? {
        let path = entry.map_err(|e| unusable(dir, e))?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let archive = [".tar.zst", ".tar.gz", ".tgz", ".zip"]
            .iter()
            .any(|end| name.ends_with(end));
        let stored_alone = name
            .strip_suffix(".scores.json")
            .is_some_and(|stem| !dir.join(stem).exists());
        if path.join("metadata.yaml").is_file() || archive || stored_alone {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(PortalError::Invalid(format!(
            "{} holds no bundle: no folder with a metadata.yaml, no archive, no *.scores.json.",
            dir.display()
        )));
    }
    Ok(found)
}

fn stored_beside(bundle: &Path) -> PathBuf {
    let mut name = bundle.file_name().unwrap_or_default().to_os_string();
    if name.to_string_lossy().ends_with(".scores.json") {
        return bundle.to_owned();
    }
    name.push(".scores.json");
    bundle.with_file_name(name)
}

async fn load(
    dir: &Path,
    settings: &Settings,
    catalog: &Catalog,
    clock: &Arc<dyn Clock>,
    options: &Options,
    say: &Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<Vec<Scored>> {
    let mut all = Vec::new();
    for bundle in bundles(dir)? {
        let name = bundle
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .trim_end_matches(".scores.json")
            .to_owned();
        let beside = stored_beside(&bundle);
        let only_stored = beside == bundle;
        if only_stored && !options.use_stored_scores {
            return Err(PortalError::Invalid(format!(
                "{name} has stored scores but no attempts. Bring its bundle, or pass --use-stored-scores."
            )));
        }
        if options.use_stored_scores && beside.is_file() {
            let text = std::fs::read(&beside).map_err(|e| unusable(&beside, e))?;
            let stored: StoredScores =
                serde_json::from_slice(&text).map_err(|e| unusable(&beside, e))?;
            if stored.scorer_version == scorer_version(stored.metadata.track) {
                all.push(Scored {
                    name,
                    metadata: stored.metadata,
                    scores: stored.scores,
                    details: stored.details,
                });
                continue;
            }
            say(&format!(
                "{name}: its scores are of {}, so it is scored again",
                stored.scorer_version
            ));
        }
        let scored = offline::scored(
            &bundle,
            settings,
            catalog,
            options.runtime.clone(),
            Arc::clone(clock),
            Arc::clone(say),
        )
        .await?;
        all.push(Scored {
            name,
            metadata: scored.metadata,
            scores: scored.scores,
            details: scored.details,
        });
    }
    Ok(all)
}

/// A board made from bundles.
struct Made {
    view: BoardView,
    statistics: BoardStatistics,
    rows: Vec<(String, String, RowStatistics)>,
    cases: Vec<Case>,
    scores: BTreeMap<SubmissionId, RevisionScores>,
    details: BTreeMap<AttemptId, Detail>,
}

fn id(prefix: char, name: &str) -> String {
    format!("{prefix}{}", &Digest::of(name.as_bytes()).as_str()[..16])
}

fn make(catalog: &Catalog, key: &(Track, ReleaseId, SubsetId), all: &[&Scored]) -> Result<Made> {
    let (track, release, subset) = key;
    let listed = catalog.release(release).ok_or_else(|| {
        PortalError::Invalid(format!(
            "There is no release {release} among the cases here."
        ))
    })?;
    let mut cases: Vec<Case> = catalog
        .subset(listed, subset)
        .iter()
        .filter_map(|id| catalog.case(id))
        .map(|e| e.case.clone())
        .filter(|c| c.tracks.contains(track))
        .collect();
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    let cohort: BTreeMap<CaseId, SystemId> = cases
        .iter()
        .map(|c| (c.id.clone(), c.system.clone()))
        .collect();
    let mut by_id: BTreeMap<SubmissionId, &Scored> = BTreeMap::new();
    let mut scored = Vec::new();
    for s in all {
        let submission = SubmissionId::parse(&id('s', &s.name)).map_err(PortalError::internal)?;
        let revision = RevisionId::parse(&id('r', &s.name)).map_err(PortalError::internal)?;
        by_id.insert(submission.clone(), s);
        scored.extend(rows::scored_as(
            &s.metadata,
            (submission, revision),
            &s.scores,
            &cohort,
        ));
    }
    let view = BoardView {
        track: *track,
        release: release.clone(),
        releases: vec![release.clone()],
        subset: subset.clone(),
        subsets: Vec::new(),
        slice: String::new(),
        slices: Vec::new(),
        n_cases: u32::try_from(cases.len()).unwrap_or(u32::MAX),
        columns: rows::columns(*track),
        rows: rows::rank(*track, scored),
        // The same attempts make the same bytes, whenever they are made.
        computed: Timestamp(0),
        inputs: String::new(),
        scorer_version: scorer_version(*track),
        statistics: None,
        reported: Vec::new(),
    };
    let borrowed: Vec<&Case> = cases.iter().collect();
    let within: BTreeSet<&CaseId> = cohort.keys().collect();
    let scores_of = |submission: &SubmissionId| by_id.get(submission).map(|s| &s.scores);
    let own: Vec<(String, String, RowStatistics)> = view
        .rows
        .iter()
        .filter_map(|r| {
            let found = row::compute(*track, scores_of(&r.submission)?, &borrowed);
            Some((r.configuration.clone(), r.submission.to_string(), found))
        })
        .collect();
    let top: Vec<SubmissionId> = view
        .rows
        .iter()
        .take(panel::PANEL_ROWS)
        .map(|r| r.submission.clone())
        .collect();
    let profiles: Vec<_> = top
        .iter()
        .map(|s| {
            scores_of(s)
                .map(|s| profile::profile(*track, s, |c| within.contains(c)))
                .unwrap_or_default()
        })
        .collect();
    let mut pairs = BTreeMap::new();
    for a in 0..top.len() {
        for b in a + 1..top.len() {
            pairs.insert(
                (a, b),
                statistics::pair::compute(*track, &profiles[a], &profiles[b]),
            );
        }
    }
    let mut whole = panel::empty(*track, String::new(), Timestamp(0));
    whole.panel_rows = top;
    whole.panel = panel::panel(whole.measure, &whole.panel_rows, &pairs);
    whole.pooled_flips = panel::pooled(own.iter().map(|o| &o.2));
    whole.mean_lift = panel::mean_lift(&view.rows);
    whole.power = statistics::board_design(&view, whole.measure, &pairs).map(panel::power);
    if *track == Track::Repair {
        let scores: Vec<&RevisionScores> = view
            .rows
            .iter()
            .filter_map(|r| scores_of(&r.submission))
            .collect();
        whole.mixed = mixed::compute(&scores, |c| within.contains(c));
    }
    Ok(Made {
        view,
        statistics: whole,
        rows: own,
        cases,
        scores: by_id
            .iter()
            .map(|(id, s)| (id.clone(), s.scores.clone()))
            .collect(),
        details: all
            .iter()
            .flat_map(|s| s.details.iter().map(|(id, d)| (id.clone(), *d)))
            .collect(),
    })
}

async fn boards(
    dir: &Path,
    settings: &Settings,
    clock: Arc<dyn Clock>,
    options: &Options,
    say: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<(Vec<Made>, Vec<Scored>, Catalog)> {
    let settings = settings.clone().absolute().map_err(PortalError::internal)?;
    let settings = crate::synthetic::adopt(settings);
    let catalog = load_catalog(&settings)?;
    let all = load(dir, &settings, &catalog, &clock, options, &say).await?;
    let mut groups: BTreeMap<(Track, ReleaseId, SubsetId), Vec<&Scored>> = BTreeMap::new();
    for s in &all {
        let m = &s.metadata;
        groups
            .entry((m.track, m.release.clone(), m.subset.clone()))
            .or_default()
            .push(s);
    }
    let made = groups
        .iter()
        .map(|(key, list)| make(&catalog, key, list))
        .collect::<Result<Vec<_>>>()?;
    Ok((made, all, catalog))
}

/// Every statistic of a folder of attempts, as the site would compute it.
pub async fn statistics(
    dir: &Path,
    settings: &Settings,
    clock: Arc<dyn Clock>,
    options: &Options,
    say: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<Value> {
    let (made, ..) = boards(dir, settings, clock, options, say).await?;
    let boards: Vec<Value> = made
        .into_iter()
        .map(|m| {
            let rows: Vec<Value> = m
                .view
                .rows
                .iter()
                .map(|r| {
                    let own = m
                        .rows
                        .iter()
                        .find(|o| o.1 == r.submission.as_str())
                        .map(|o| &o.2);
                    json!({ "row": r, "statistics": own })
                })
                .collect();
            json!({
                "track": m.view.track,
                "release": m.view.release,
                "subset": m.view.subset,
                "scorer_version": m.view.scorer_version,
                "cases": m.view.n_cases,
                "rows": rows,
                "board": m.statistics,
            })
        })
        .collect();
    Ok(json!({ "boards": boards }))
}

/// The tables and figures of one board, by file name.
fn files(m: &Made, catalog: &Catalog) -> Result<BTreeMap<String, Vec<u8>>> {
    let base = format!("{}-{}-{}", m.view.track, m.view.release, m.view.subset);
    let pretty = |v: &Value| serde_json::to_vec_pretty(v).map_err(PortalError::internal);
    let mut out = BTreeMap::from([
        (
            format!("{base}/leaderboard.csv"),
            figures::board_csv(&m.view).into_bytes(),
        ),
        (
            format!("{base}/breakdowns.csv"),
            csv::breakdowns(&m.view, &m.rows).into_bytes(),
        ),
        (
            format!("{base}/statistics.json"),
            pretty(
                &json!({ "board": m.statistics, "rows": m.rows.iter().map(|(configuration, _, own)| json!({ "configuration": configuration, "statistics": own })).collect::<Vec<_>>() }),
            )?,
        ),
    ]);
    let kind = MeasureKind::of(m.view.track)[0];
    out.insert(
        format!("{base}/pairs.csv"),
        csv::panel(kind, &m.view, &m.statistics).into_bytes(),
    );
    // Bitmaps say nothing that the drawings don't.
    let scores = |r: &BoardRow| m.scores.get(&r.submission).cloned();
    let drawn = figures::offline(
        &m.view,
        &m.cases,
        &scores,
        &m.details,
        &m.statistics,
        catalog,
    )?;
    for (name, body) in drawn {
        out.insert(format!("{base}/figures/{name}"), body);
    }
    Ok(out)
}

/// Rebuilds every table and figure, writes them and the scores where that is
/// asked for, and compares them with a reference.
pub async fn reproduce(
    dir: &Path,
    settings: &Settings,
    clock: Arc<dyn Clock>,
    options: &Options,
    say: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<Vec<Compared>> {
    let (made, all, catalog) = boards(dir, settings, clock, options, say).await?;
    let mut built = BTreeMap::new();
    for m in &made {
        built.extend(files(m, &catalog)?);
    }
    if let Some(out) = &options.out {
        for (name, bytes) in &built {
            write(&out.join(name), bytes)?;
        }
        for s in &all {
            let stored = StoredScores {
                scorer_version: scorer_version(s.metadata.track),
                metadata: s.metadata.clone(),
                scores: s.scores.clone(),
                details: s.details.clone(),
            };
            let bytes = serde_json::to_vec(&stored).map_err(PortalError::internal)?;
            write(&out.join(format!("scores/{}.scores.json", s.name)), &bytes)?;
        }
    }
    let Some(reference) = &options.reference else {
        return Ok(built
            .into_keys()
            .map(|file| Compared {
                file,
                result: "made".to_owned(),
            })
            .collect());
    };
    let mut lines = Vec::new();
    let mut expected = listed(reference, Path::new(""))?;
    for (file, bytes) in built {
        let there = expected.remove(&file);
        let result = match there {
            false => "only here",
            true => {
                let path = reference.join(&file);
                let wanted = std::fs::read(&path).map_err(|e| unusable(&path, e))?;
                if wanted == bytes { "equal" } else { "differs" }
            }
        };
        lines.push(Compared {
            file,
            result: result.to_owned(),
        });
    }
    lines.extend(expected.into_iter().map(|file| Compared {
        file,
        result: "only in the reference".to_owned(),
    }));
    lines.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(lines)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|e| unusable(parent, e))?;
    }
    std::fs::write(path, bytes).map_err(|e| unusable(path, e))
}

/// Tables and figures of a reference, by their paths; its scores are no table.
fn listed(base: &Path, below: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let folder = base.join(below);
    for entry in std::fs::read_dir(&folder).map_err(|e| unusable(&folder, e))? {
        let entry = entry.map_err(|e| unusable(&folder, e))?;
        let path = below.join(entry.file_name());
        if entry.path().is_dir() {
            if path != Path::new("scores") {
                found.extend(listed(base, &path)?);
            }
        } else {
            found.insert(path.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(found)
}
