//! Figures: a job computes what every board's figures show and stores it under
//! the digest of what it was computed from; pages and downloads read that, and at
//! most draw it again with fewer rows or on other paper.
//!
//! No request computes a number.

mod behaviour;
mod board_csv;
mod diagnosis;
mod gallery;
mod label_map;
mod pooled;
mod repair;
mod reported;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use faultboard_catalog::Catalog;
use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::trace::{ExitStatus, TraceSummary};
use faultboard_domain::view::{BoardRow, BoardStatistics, BoardView};
use faultboard_domain::{AttemptId, Case, CaseId, Digest, RevisionId, Timestamp, Track};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_plot::{About, Figure, Form, Known, Theme};
use faultboard_store::boards;
use faultboard_store::figures::{self as stored, StoredFigure};
use faultboard_store::jobs::Claimed;
use faultboard_store::{Tx, attempts, flag, jobs, set_flag};
use serde::{Deserialize, Serialize};

pub(crate) use board_csv::board_csv;

use crate::board::{Entry, TRACKS};
use crate::finish::RevisionScores;
use crate::machine::failure;
use crate::{Change, Portal, PortalError, Result};

/// Part of every digest: a change of what a figure shows draws all of them anew.
const VERSION: u32 = 3;
const VERSION_FLAG: &str = "figures-version";
/// Rows of configurations that a drawing in a page has at most; files to take away
/// have all of them.
pub(super) const DRAWN_ROWS: usize = 30;
/// Boards between two entries of the job's log.
const SAY_EVERY: usize = 25;

/// What an attempt's trace tells beyond what scores keep.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Detail {
    reads: f64,
    edits: f64,
    submitted: bool,
}

impl From<&TraceSummary> for Detail {
    fn from(s: &TraceSummary) -> Self {
        Self {
            reads: f64::from(s.reads),
            edits: f64::from(s.edits),
            submitted: s.exit == ExitStatus::Submitted,
        }
    }
}

/// A case's context bundle.
pub(crate) struct Bundle {
    case: CaseId,
    tokens: f64,
    kilobytes: f64,
    files: u32,
    kinds: Vec<String>,
}

/// Everything that a board's figures are made from.
pub(crate) struct Source<'a> {
    about: About,
    view: &'a BoardView,
    /// The slice's cases.
    cases: Vec<&'a Case>,
    /// Rows in rank order, each with its live scores.
    rows: Vec<(&'a BoardRow, &'a RevisionScores)>,
    details: &'a BTreeMap<AttemptId, Detail>,
    bundles: &'a [Bundle],
    /// The whole board's statistics; none for slices.
    statistics: Option<&'a BoardStatistics>,
}

impl Source<'_> {
    fn within(&self, case: &CaseId) -> bool {
        self.cases.iter().any(|c| c.id == *case)
    }

    fn configurations(&self) -> u32 {
        count(self.rows.len())
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Figures in the making.
struct Drawing {
    inputs: String,
    computed: Timestamp,
    /// Whether pages get a drawing that is made beforehand: most readers see the
    /// whole board, and slices are many.
    with_svg: bool,
    /// Names of the rows that it has, where there are too many for a page.
    first: Option<BTreeSet<String>>,
    done: Vec<StoredFigure>,
}

impl Drawing {
    fn add<F: Figure>(&mut self, figure: &F) -> Result<()> {
        let data = serde_json::to_vec(figure).map_err(PortalError::internal)?;
        // A page says in words what it draws, and no more: a thousand rows in one
        // paragraph help nobody.
        let part = match &self.first {
            None => None,
            Some(first) => {
                let mut part: F = serde_json::from_slice(&data).map_err(PortalError::internal)?;
                part.keep(&|name| first.contains(name));
                Some(part)
            }
        };
        let shown = part.as_ref().unwrap_or(figure);
        let svg = if self.with_svg {
            shown.svg(Theme::Light).map_err(PortalError::internal)?
        } else {
            String::new()
        };
        self.done.push(StoredFigure {
            figure: F::ID.to_owned(),
            summary: shown.summary(),
            data,
            svg,
            inputs: self.inputs.clone(),
            computed: self.computed,
        });
        Ok(())
    }
}

/// Computes and draws every figure of a board.
fn draw(source: &Source<'_>, inputs: String, computed: Timestamp) -> Result<Vec<StoredFigure>> {
    let mut drawing = Drawing {
        inputs,
        computed,
        with_svg: source.view.slice.is_empty(),
        first: (source.view.rows.len() > DRAWN_ROWS).then(|| first_rows(&source.view.rows)),
        done: Vec::new(),
    };
    drawing.add(&pooled::coverage(source))?;
    match source.view.track {
        Track::Repair | Track::Recovery => repair::draw(source, &mut drawing)?,
        Track::Diagnosis => diagnosis::draw(source, &mut drawing)?,
    }
    Ok(drawing.done)
}

/// The rows that a drawing in a page has, by name.
fn first_rows(rows: &[BoardRow]) -> BTreeSet<String> {
    let first = rows.iter().take(DRAWN_ROWS);
    first.map(|r| r.configuration.clone()).collect()
}

/// What a board's figures would be made from, as one digest.
fn digest(view: &BoardView, catalog: &Digest, statistics: Option<&BoardStatistics>) -> String {
    let parts = serde_json::json!([
        "figures",
        VERSION,
        view.inputs,
        catalog.as_str(),
        statistics.map(|s| &s.inputs)
    ]);
    Digest::of(parts.to_string().as_bytes()).to_string()
}

/// From which cases and rows a figure is, in words.
fn scope(view: &BoardView) -> String {
    let subset = format!("{} subset", view.subset.as_str().replace('-', " "));
    match view.slices.iter().find(|s| s.key == view.slice) {
        Some(slice) => format!("{subset}, {}", slice.label),
        None => subset,
    }
}

impl Portal {
    /// Asks for figures where an earlier version has drawn them.
    pub(crate) async fn ensure_figures(&self) -> Result<()> {
        let version = VERSION.to_string();
        let mut tx = self.store.begin().await?;
        if flag(&mut tx, VERSION_FLAG).await?.as_deref() != Some(version.as_str()) {
            self.enqueue_figures(&mut tx).await?;
            set_flag(&mut tx, VERSION_FLAG, &version).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Asks for figures of the boards that have changed.
    pub(crate) async fn enqueue_figures(&self, tx: &mut Tx) -> Result<()> {
        self.enqueue_computing(
            tx,
            JobKind::Figures,
            Priority::Bulk,
            "draw the figures of boards that have changed",
        )
        .await
    }

    pub(crate) async fn run_figures(
        self: &Arc<Self>,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        self.figures(job, &context).await.map_err(failure)
    }

    async fn figures(self: &Arc<Self>, job: &Claimed, context: &JobContext) -> Result<()> {
        let seen = self.boards_generation().await?;
        // Statistics that come while boards are drawn are seen by the next pass.
        while self.pass(context).await? > 0 {}
        let mut tx = self.store.begin().await?;
        stored::forget_orphans(&mut tx).await?;
        if jobs::finish(&mut tx, job.id, &job.token, self.now()).await? {
            // Rebuilt meanwhile: its own request was taken for this job's.
            if self.boards_generation().await? != seen {
                self.enqueue_figures(&mut tx).await?;
            }
            tx.commit().await?;
            self.tell(Change::Queue);
        }
        Ok(())
    }

    /// Looks at every board once; how many were drawn anew.
    async fn pass(self: &Arc<Self>, context: &JobContext) -> Result<usize> {
        let keys = boards::keys(&mut *self.store.reader().await?).await?;
        let total = keys.len();
        let mut shared: Option<Arc<Shared>> = None;
        let mut drawn = 0;
        for (at, key) in keys.into_iter().enumerate() {
            if at % SAY_EVERY == 0 && at > 0 {
                context.say(format!(
                    "{at} of {total} boards looked at, {drawn} drawn anew"
                ));
            }
            if !TRACKS.contains(&key.track) {
                continue;
            }
            let mut c = self.store.reader().await?;
            let Some(view) = boards::board(&mut c, &key).await? else {
                continue;
            };
            let statistics = if key.slice.is_empty() {
                self.board_statistics(&mut c, &view.inputs).await?
            } else {
                None
            };
            if view.rows.is_empty() && !key.slice.is_empty() {
                // Nothing to show of some of the cases; what was there is withdrawn.
                if stored::inputs(&mut c, &key).await?.is_some() {
                    drop(c);
                    let mut tx = self.store.begin().await?;
                    stored::replace(&mut tx, &key, &[]).await?;
                    tx.commit().await?;
                }
                continue;
            }
            let inputs = digest(&view, &self.catalog_digest(), statistics.as_ref());
            if stored::inputs(&mut c, &key).await?.as_deref() == Some(inputs.as_str()) {
                continue;
            }
            drop(c);
            let knows = |s: &Arc<Shared>| s.knows(&view);
            let loaded = match shared.take().filter(knows) {
                Some(s) => s,
                None => Arc::new(self.shared().await?),
            };
            shared = Some(Arc::clone(&loaded));
            if !loaded.knows(&view) {
                // A row's revision is no longer live: this board is about to be rebuilt.
                continue;
            }
            let portal = Arc::clone(self);
            let now = self.now();
            // Drawing takes a while: off the async threads.
            let figures = tokio::task::spawn_blocking(move || {
                portal.draw_board(&view, &loaded, statistics.as_ref(), inputs, now)
            })
            .await
            .map_err(PortalError::internal)??;
            let mut tx = self.store.begin().await?;
            stored::replace(&mut tx, &key, &figures).await?;
            tx.commit().await?;
            drawn += 1;
        }
        context.say(format!("{drawn} of {total} boards drawn anew"));
        Ok(drawn)
    }

    /// Live scores and what traces tell, for all boards.
    async fn shared(&self) -> Result<Shared> {
        let mut entries = BTreeMap::new();
        let mut details = BTreeMap::new();
        for entry in self.live_entries().await? {
            let all =
                attempts::of_submission(&mut *self.store.reader().await?, &entry.submission.id)
                    .await?;
            for a in all {
                if let Some(s) = &a.summary {
                    details.insert(a.id, Detail::from(s));
                }
            }
            entries.insert(entry.revision.clone(), entry);
        }
        Ok(Shared {
            entries,
            details,
            bundles: bundles(&self.catalog),
        })
    }

    fn draw_board(
        &self,
        view: &BoardView,
        shared: &Shared,
        statistics: Option<&BoardStatistics>,
        inputs: String,
        now: Timestamp,
    ) -> Result<Vec<StoredFigure>> {
        let cases = self.track_cases(view.track, &view.release, &view.subset)?;
        let all: Vec<&Case> = cases.iter().collect();
        let slice = crate::board::slices(&all)
            .into_iter()
            .find(|s| s.key == view.slice);
        let source = Source {
            about: About {
                release: view.release.to_string(),
                date: view.computed.date(),
                scope: scope(view),
            },
            view,
            cases: all
                .into_iter()
                .filter(|c| slice.as_ref().is_none_or(|s| s.cases.contains(&c.id)))
                .collect(),
            rows: view
                .rows
                .iter()
                .filter_map(|r| Some((r, &shared.entries.get(&r.revision)?.scores)))
                .collect(),
            details: &shared.details,
            bundles: &shared.bundles,
            statistics,
        };
        draw(&source, inputs, now)
    }
}

/// The context bundles of all cases.
fn bundles(catalog: &Catalog) -> Vec<Bundle> {
    catalog
        .cases()
        .filter(|e| !e.texts.evidence.is_empty())
        .map(|e| Bundle {
            case: e.case.id.clone(),
            tokens: e.texts.evidence.iter().map(|p| p.tokens as f64).sum(),
            kilobytes: e
                .texts
                .evidence
                .iter()
                .map(|p| p.text.len() as f64)
                .sum::<f64>()
                / 1000.0,
            files: count(e.texts.evidence.len()),
            kinds: pooled::kinds(e.texts.evidence.iter().map(|p| p.name.as_str())),
        })
        .collect()
}

/// The figures of a board that was made without a site: each with its name, its
/// drawing, its numbers and its data.
pub(crate) fn offline(
    view: &BoardView,
    cases: &[Case],
    scores: &dyn Fn(&BoardRow) -> Option<RevisionScores>,
    details: &BTreeMap<AttemptId, Detail>,
    statistics: &BoardStatistics,
    catalog: &Catalog,
) -> Result<BTreeMap<String, Vec<u8>>> {
    let owned: Vec<(&BoardRow, RevisionScores)> = view
        .rows
        .iter()
        .filter_map(|r| Some((r, scores(r)?)))
        .collect();
    let bundles = bundles(catalog);
    let source = Source {
        about: About {
            release: view.release.to_string(),
            date: view.computed.date(),
            scope: scope(view),
        },
        view,
        cases: cases.iter().collect(),
        rows: owned.iter().map(|(r, s)| (*r, s)).collect(),
        details,
        bundles: &bundles,
        statistics: Some(statistics),
    };
    let mut files = BTreeMap::new();
    for f in draw(&source, String::new(), view.computed)? {
        let known = Known::find(&f.figure).ok_or(PortalError::NotFound)?;
        for (ending, form) in [("svg", Form::Svg(Theme::Light)), ("csv", Form::Csv)] {
            let drawn = known
                .draw(&f.data, &|_| true, form)
                .map_err(PortalError::internal)?;
            files.insert(format!("{}.{ending}", f.figure), drawn.bytes);
        }
        files.insert(format!("{}.json", f.figure), f.data);
    }
    Ok(files)
}

/// What all boards share.
struct Shared {
    entries: BTreeMap<RevisionId, Entry>,
    details: BTreeMap<AttemptId, Detail>,
    bundles: Vec<Bundle>,
}

impl Shared {
    fn knows(&self, view: &BoardView) -> bool {
        view.rows
            .iter()
            .all(|r| self.entries.contains_key(&r.revision))
    }
}
