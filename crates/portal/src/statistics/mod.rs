//! Statistics: computed by a job whenever the boards have been rebuilt, stored
//! under the digest of what they were computed from, and read by pages. What is
//! stored already is not computed again, so a new row costs its own pairs only.
//!
//! Never computes while a page waits: what a page lacks, it asks a job for.

pub(crate) mod mixed;
pub(crate) mod pair;
pub(crate) mod panel;
pub(crate) mod profile;
pub(crate) mod row;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::view::{
    BoardStatistics, BoardView, MeasureKind, PairStatistics, PowerNote, RowStatistics,
};
use faultboard_domain::{Case, CaseId, Digest, RevisionId, SubmissionId, Track};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_stats::power::Design;
use faultboard_store::boards::{self, BoardKey};
use faultboard_store::jobs::{Claimed, NewJob};
use faultboard_store::revisions::{self, Part};
use faultboard_store::statistics::{self as stored, Kind};
use faultboard_store::{Connection, Tx, jobs};

use crate::board::{Entry, TRACKS};
use crate::finish::RevisionScores;
use crate::machine::failure;
use crate::{Change, Portal, PortalError, Result};
use profile::Profile;

/// Part of every key: a change of any formula here is a new number, and
/// everything is computed anew beside what was.
const VERSION: u32 = 1;

/// The most rows of a board whose fold-outs hold their breakdowns; on larger
/// ones the submissions' own pages do, so that the board stays light.
const UNFOLDED_ROWS: usize = 25;

fn digest(parts: &serde_json::Value) -> Digest {
    Digest::of(format!("statistics {VERSION} {parts}").as_bytes())
}

/// The key of one row's statistics on some cases.
pub(crate) fn row_key(revision: &RevisionId, cases: &[CaseId]) -> Digest {
    digest(&serde_json::json!(["row", revision, cases]))
}

/// The key of a pair, whichever way round; true if the stored one is the second
/// minus the first.
pub(crate) fn pair_key(a: &RevisionId, b: &RevisionId, cases: &[CaseId]) -> (Digest, bool) {
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    let key = digest(&serde_json::json!(["pair", first, second, cases]));
    (key, a > b)
}

/// The key of a board's statistics.
pub(crate) fn board_key(inputs: &str) -> Digest {
    digest(&serde_json::json!(["board", inputs]))
}

/// The key of a design's power.
pub(crate) fn power_key(design: &Design) -> Digest {
    digest(&serde_json::json!(["power", design]))
}

/// Reads a pair, the first minus the second.
pub(crate) async fn read_pair(
    c: &mut Connection,
    a: &RevisionId,
    b: &RevisionId,
    cases: &[CaseId],
) -> Result<Option<(PairStatistics, faultboard_domain::Timestamp)>> {
    let (key, turned) = pair_key(a, b, cases);
    let found: Option<(PairStatistics, _)> = stored::get(c, &key).await?;
    Ok(found.map(|(mut pair, at)| {
        if turned {
            pair.measures = pair.measures.into_iter().map(|m| m.reversed()).collect();
        }
        (pair, at)
    }))
}

/// A pair that is to be computed: two revisions and their values.
pub(crate) struct Wanted {
    pub key: Digest,
    pub first: usize,
    pub second: usize,
}

/// Pieces that were computed, ready to be stored.
#[derive(Default)]
pub(crate) struct Pieces {
    pub rows: Vec<(Digest, RowStatistics)>,
    pub pairs: Vec<(Digest, PairStatistics)>,
    pub powers: Vec<(Digest, PowerNote)>,
    pub boards: Vec<(Digest, BoardStatistics)>,
}

impl Portal {
    /// Asks for what statistics the boards lack.
    pub(crate) async fn enqueue_statistics(&self, tx: &mut Tx) -> Result<()> {
        self.enqueue_computing(
            tx,
            JobKind::Statistics,
            Priority::Bulk,
            "compute what statistics the boards lack",
        )
        .await
    }

    /// Adds a job that works through everything of its kind, unless one waits.
    pub(crate) async fn enqueue_computing(
        &self,
        tx: &mut Tx,
        kind: JobKind,
        priority: Priority,
        subject: &str,
    ) -> Result<()> {
        let job = NewJob {
            kind,
            priority,
            subject: subject.to_owned(),
            submission: None,
            revision: None,
            attempt: None,
            exclusive_key: Some(kind.as_str().to_owned()),
            unique_key: Some(kind.as_str().to_owned()),
            max_tries: 5,
        };
        jobs::insert(tx, &job, self.now()).await?;
        Ok(())
    }

    pub(crate) async fn run_statistics(
        self: &Arc<Self>,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        self.statistics(job, &context).await.map_err(failure)
    }

    async fn statistics(self: &Arc<Self>, job: &Claimed, context: &JobContext) -> Result<()> {
        let seen = self.boards_generation().await?;
        let entries: BTreeMap<RevisionId, Entry> = self
            .live_entries()
            .await?
            .into_iter()
            .map(|e| (e.revision.clone(), e))
            .collect();
        let entries = Arc::new(entries);
        for release in self.releases() {
            for subset in self.subsets(&release)? {
                for track in TRACKS {
                    let key = BoardKey {
                        track,
                        release: release.clone(),
                        subset: subset.clone(),
                        slice: String::new(),
                    };
                    let view = boards::board(&mut *self.store.reader().await?, &key).await?;
                    if let Some(view) = view.filter(|v| !v.rows.is_empty()) {
                        let n = self.board_pieces(view, &entries).await?;
                        context.say(format!("{track} {release} {subset}: {n} new pieces"));
                    }
                }
            }
        }
        let mut tx = self.store.begin().await?;
        let now = self.now();
        if jobs::finish(&mut tx, job.id, &job.token, now).await? {
            // Rebuilt meanwhile: its own request was taken for this job's.
            if self.boards_generation().await? != seen {
                self.enqueue_statistics(&mut tx).await?;
            }
            self.enqueue_figures(&mut tx).await?;
            tx.commit().await?;
            self.tell(Change::Queue);
        }
        Ok(())
    }

    /// What the boards now are: changes with each rebuild.
    pub(crate) async fn boards_generation(&self) -> Result<Option<String>> {
        Ok(faultboard_store::flag(
            &mut *self.store.reader().await?,
            crate::board::GENERATION_FLAG,
        )
        .await?)
    }

    /// Computes and stores what one board lacks; how many pieces that were.
    async fn board_pieces(
        self: &Arc<Self>,
        view: BoardView,
        entries: &Arc<BTreeMap<RevisionId, Entry>>,
    ) -> Result<usize> {
        let cases = self.track_cases(view.track, &view.release, &view.subset)?;
        let ids: Vec<CaseId> = cases.iter().map(|c| c.id.clone()).collect();
        let revisions: Vec<RevisionId> = view.rows.iter().map(|r| r.revision.clone()).collect();
        let top = &revisions[..revisions.len().min(panel::PANEL_ROWS)];
        let mut lacking_rows = Vec::new();
        let mut lacking_pairs = Vec::new();
        let mut c = self.store.reader().await?;
        for (i, r) in revisions.iter().enumerate() {
            let key = row_key(r, &ids);
            if !stored::has(&mut c, &key).await? {
                lacking_rows.push((key, i));
            }
        }
        for a in 0..top.len() {
            for b in a + 1..top.len() {
                let (key, turned) = pair_key(&top[a], &top[b], &ids);
                if !stored::has(&mut c, &key).await? {
                    let (first, second) = if turned { (b, a) } else { (a, b) };
                    lacking_pairs.push(Wanted { key, first, second });
                }
            }
        }
        drop(c);
        let mut n = lacking_rows.len() + lacking_pairs.len();
        let (track, portal) = (view.track, Arc::clone(self));
        let (found, order) = (Arc::clone(entries), revisions.clone());
        let pieces = blocking(move || {
            let mut pieces = Pieces::default();
            let scores = |i: usize| order.get(i).and_then(|r| found.get(r)).map(|e| &e.scores);
            let cases = portal.borrowed(&cases);
            for (key, i) in lacking_rows {
                if let Some(s) = scores(i) {
                    pieces.rows.push((key, row::compute(track, s, &cases)));
                }
            }
            let within: BTreeSet<&CaseId> = cases.iter().map(|c| &c.id).collect();
            pieces.pairs = pairs(track, &lacking_pairs, |i| {
                scores(i).map(|s| profile::profile(track, s, |c| within.contains(c)))
            });
            pieces
        })
        .await?;
        self.store_pieces(pieces).await?;
        n += self.board_whole(&view, &ids, entries).await?;
        Ok(n)
    }

    /// The board's own statistics, and the power of its comparisons.
    async fn board_whole(
        self: &Arc<Self>,
        view: &BoardView,
        ids: &[CaseId],
        entries: &Arc<BTreeMap<RevisionId, Entry>>,
    ) -> Result<usize> {
        let key = board_key(&view.inputs);
        let mut c = self.store.reader().await?;
        let top: Vec<(SubmissionId, RevisionId)> = view
            .rows
            .iter()
            .take(panel::PANEL_ROWS)
            .map(|r| (r.submission.clone(), r.revision.clone()))
            .collect();
        let mut found = BTreeMap::new();
        for a in 0..top.len() {
            for b in a + 1..top.len() {
                if let Some((p, _)) = read_pair(&mut c, &top[a].1, &top[b].1, ids).await? {
                    found.insert((a, b), p);
                }
            }
        }
        let mut designs: BTreeMap<Digest, Design> = BTreeMap::new();
        for design in found.values().flat_map(designs_of) {
            designs.insert(power_key(&design), design);
        }
        let mut lacking = Vec::new();
        for (key, design) in designs {
            if !stored::has(&mut c, &key).await? {
                lacking.push((key, design));
            }
        }
        let has_board = stored::has(&mut c, &key).await?;
        let mut rows = Vec::new();
        if !has_board {
            for r in &view.rows {
                if let Some((s, _)) =
                    stored::get::<RowStatistics>(&mut c, &row_key(&r.revision, ids)).await?
                {
                    rows.push(s);
                }
            }
        }
        drop(c);
        let n = lacking.len() + usize::from(!has_board);
        let (view, entries) = (view.clone(), Arc::clone(entries));
        let (now, ids) = (self.now(), ids.to_vec());
        let pieces = blocking(move || {
            let mut pieces = Pieces::default();
            for (key, design) in lacking {
                pieces.powers.push((key, panel::power(design)));
            }
            if !has_board {
                let mut b = panel::empty(view.track, view.inputs.clone(), now);
                b.panel_rows = top.into_iter().map(|t| t.0).collect();
                b.panel = panel::panel(b.measure, &b.panel_rows, &found);
                b.pooled_flips = panel::pooled(rows.iter());
                b.mean_lift = panel::mean_lift(&view.rows);
                if view.track == Track::Repair {
                    let scores: Vec<&RevisionScores> = view
                        .rows
                        .iter()
                        .filter_map(|r| entries.get(&r.revision).map(|e| &e.scores))
                        .collect();
                    let within: BTreeSet<&CaseId> = ids.iter().collect();
                    b.mixed = mixed::compute(&scores, |c| within.contains(c));
                }
                b.power = board_design(&view, b.measure, &found).map(panel::power);
                pieces.boards.push((key, b));
            }
            pieces
        })
        .await?;
        self.store_pieces(pieces).await?;
        Ok(n)
    }

    /// Stores pieces, some at a time, so that other writers get their turn.
    pub(crate) async fn store_pieces(&self, pieces: Pieces) -> Result<()> {
        const AT_ONCE: usize = 200;
        let now = self.now();
        for some in pieces.rows.chunks(AT_ONCE) {
            let mut tx = self.store.begin().await?;
            for (key, body) in some {
                stored::put(&mut tx, Kind::Row, key, body, now).await?;
            }
            tx.commit().await?;
        }
        for some in pieces.pairs.chunks(AT_ONCE) {
            let mut tx = self.store.begin().await?;
            for (key, body) in some {
                stored::put(&mut tx, Kind::Pair, key, body, now).await?;
            }
            tx.commit().await?;
        }
        let mut tx = self.store.begin().await?;
        for (key, body) in &pieces.powers {
            stored::put(&mut tx, Kind::Power, key, body, now).await?;
        }
        for (key, body) in &pieces.boards {
            stored::put(&mut tx, Kind::Board, key, body, now).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// A row's stored statistics on some cases.
    pub(crate) async fn row_statistics(
        &self,
        c: &mut Connection,
        revision: &RevisionId,
        cases: &[CaseId],
    ) -> Result<Option<RowStatistics>> {
        Ok(stored::get(c, &row_key(revision, cases))
            .await?
            .map(|s| s.0))
    }

    /// A board's stored statistics.
    pub(crate) async fn board_statistics(
        &self,
        c: &mut Connection,
        inputs: &str,
    ) -> Result<Option<BoardStatistics>> {
        Ok(stored::get(c, &board_key(inputs)).await?.map(|s| s.0))
    }

    /// Adds to a board what is stored of it and, where it has few rows, of them;
    /// and what publications report.
    pub(crate) async fn add_statistics(
        &self,
        c: &mut Connection,
        view: &mut BoardView,
    ) -> Result<()> {
        view.reported = faultboard_catalog::reported::of(view.track);
        // Slices are parts of rows' breakdowns.
        if !view.slice.is_empty() || view.rows.is_empty() {
            return Ok(());
        }
        view.statistics = self.board_statistics(c, &view.inputs).await?.map(Box::new);
        if view.rows.len() <= UNFOLDED_ROWS {
            let cases = self.track_cases(view.track, &view.release, &view.subset)?;
            let ids: Vec<CaseId> = cases.into_iter().map(|c| c.id).collect();
            for row in &mut view.rows {
                row.statistics = self
                    .row_statistics(c, &row.revision, &ids)
                    .await?
                    .map(Box::new);
            }
        }
        Ok(())
    }

    /// The scores of a revision.
    pub(crate) async fn revision_scores(
        &self,
        c: &mut Connection,
        revision: &RevisionId,
    ) -> Result<RevisionScores> {
        Ok(revisions::part(c, revision, Part::Scores)
            .await?
            .unwrap_or_default())
    }

    /// Cases by reference.
    pub(crate) fn borrowed<'a>(&self, cases: &'a [Case]) -> Vec<&'a Case> {
        cases.iter().collect()
    }
}

/// Computes pairs; `profile_of` is asked once per row.
pub(crate) fn pairs(
    track: Track,
    wanted: &[Wanted],
    profile_of: impl Fn(usize) -> Option<Profile>,
) -> Vec<(Digest, PairStatistics)> {
    let mut profiles: BTreeMap<usize, Option<Profile>> = BTreeMap::new();
    for w in wanted {
        for i in [w.first, w.second] {
            profiles.entry(i).or_insert_with(|| profile_of(i));
        }
    }
    wanted
        .iter()
        .filter_map(|w| {
            let side = |i: &usize| profiles.get(i).and_then(Option::as_ref);
            let pair = pair::compute(track, side(&w.first)?, side(&w.second)?);
            Some((w.key.clone(), pair))
        })
        .collect()
}

/// The designs whose power a pair's readers want to know.
pub(crate) fn designs_of(pair: &PairStatistics) -> Vec<Design> {
    pair.measures
        .iter()
        .filter_map(|m| {
            let weaker = m.a?.mean.min(m.b?.mean);
            panel::design(m.difference?.n, m.attempts, weaker)
        })
        .collect()
}

/// The design of a typical comparison on a board: its cases, and the mean rate
/// of its rows.
pub(crate) fn board_design(
    view: &BoardView,
    measure: MeasureKind,
    pairs: &BTreeMap<(usize, usize), PairStatistics>,
) -> Option<Design> {
    let attempts = pairs
        .values()
        .filter_map(|p| p.measure(measure))
        .map(|m| m.attempts)
        .max()?;
    let rates: Vec<f64> = view
        .rows
        .iter()
        .filter_map(|r| r.value(measure.as_str()))
        .collect();
    let base = faultboard_stats::summary::mean(&rates)?;
    panel::design(view.n_cases, attempts, base)
}

/// Runs what takes a while off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(PortalError::internal)
}
