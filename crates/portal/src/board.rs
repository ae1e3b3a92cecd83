//! Boards: rebuilt whole by a job whenever a revision goes live, and read from
//! the cache by every page. No request computes a statistic.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use faultboard_domain::view::{BoardQuery, BoardRow, BoardView, CaseAttempt, CaseOutcomes, Choice};
use faultboard_domain::{
    Actor, Case, CaseId, Condition, Digest, ReleaseId, SubsetId, SystemId, Track,
};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_store::boards::{self, BoardKey};
use faultboard_store::jobs::Claimed;
use faultboard_store::revisions::Part;
use faultboard_store::submissions::Submission;
use faultboard_store::{Connection, flag, jobs, revisions, set_flag, submissions};
use serde::{Deserialize, Serialize};

use crate::downloads::FileBody;
use crate::finish::{RevisionScores, scorer_version};
use crate::machine::failure;
use crate::{Change, Portal, PortalError, Result, figures, rows};

pub(crate) const TRACKS: [Track; 2] = [Track::Repair, Track::Diagnosis];
const CATALOG_FLAG: &str = "boards-catalog";
/// Names the present boards: the job that rebuilt them.
pub(crate) const GENERATION_FLAG: &str = "boards-generation";

/// Boards of more rows are kept without what only small ones unfold.
const LARGE: usize = 100;

/// What published configurations reached on one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseBoard {
    /// Repair outcomes.
    pub repair: Vec<CaseOutcomes>,
    /// Diagnosis outcomes.
    pub diagnosis: Vec<CaseOutcomes>,
}

/// A published submission with its live scores.
pub(crate) struct Entry {
    pub submission: Submission,
    pub revision: faultboard_domain::RevisionId,
    pub scores: RevisionScores,
}

/// One board and its key.
struct Built {
    key: BoardKey,
    view: BoardView,
}

/// A slice of a board: some of its cases.
pub(crate) struct Slice {
    pub key: String,
    pub label: String,
    pub cases: BTreeSet<CaseId>,
}

/// Every slice of some cases: by tier, by family, by system.
pub(crate) fn slices(cases: &[&Case]) -> Vec<Slice> {
    let mut groups: BTreeMap<(u8, String, String), BTreeSet<CaseId>> = BTreeMap::new();
    for c in cases {
        for (order, key, label) in [
            (0, format!("tier-{}", c.tier), format!("tier {}", c.tier)),
            (
                1,
                format!("family-{}", c.family),
                c.family.as_str().replace('-', " "),
            ),
            (2, format!("system-{}", c.system), c.system.to_string()),
        ] {
            groups
                .entry((order, key, label))
                .or_default()
                .insert(c.id.clone());
        }
    }
    groups
        .into_iter()
        .map(|((_, key, label), cases)| Slice { key, label, cases })
        .collect()
}

impl Portal {
    /// Enqueues a rebuild where the cases have changed since the last one.
    pub(crate) async fn ensure_boards(&self) -> Result<()> {
        let digest = self.catalog_digest();
        let mut tx = self.store.begin().await?;
        if flag(&mut tx, CATALOG_FLAG).await?.as_deref() != Some(digest.as_str()) {
            self.enqueue_rebuild(&mut tx).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    pub(crate) async fn run_rebuild(
        self: &Arc<Self>,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        self.rebuild(job, &context).await.map_err(failure)
    }

    async fn rebuild(self: &Arc<Self>, job: &Claimed, context: &JobContext) -> Result<()> {
        let entries = self.live_entries().await?;
        let published = entries.len();
        let portal = Arc::clone(self);
        // Intervals take a while: off the async threads.
        let (built, case_boards) = tokio::task::spawn_blocking(move || portal.build_all(&entries))
            .await
            .map_err(PortalError::internal)??;
        context.say(format!(
            "{} boards from {} published submissions",
            built.len(),
            published
        ));
        let mut tx = self.store.begin().await?;
        let now = self.now();
        boards::clear(&mut tx).await?;
        for b in &built {
            boards::put_board(&mut tx, &b.key, &b.view).await?;
        }
        for (case, body) in &case_boards {
            boards::put_case_board(&mut tx, case, body, now).await?;
        }
        set_flag(&mut tx, CATALOG_FLAG, self.catalog_digest().as_str()).await?;
        set_flag(&mut tx, GENERATION_FLAG, &job.token).await?;
        self.enqueue_statistics(&mut tx).await?;
        if jobs::finish(&mut tx, job.id, &job.token, now).await? {
            tx.commit().await?;
            self.tell(Change::Queue);
        }
        Ok(())
    }

    fn build_all(&self, entries: &[Entry]) -> Result<(Vec<Built>, BTreeMap<CaseId, CaseBoard>)> {
        let mut built = Vec::new();
        for release in self.releases() {
            for subset in self.subsets(&release)? {
                for track in TRACKS {
                    built.extend(self.build(entries, track, &release, &subset)?);
                }
            }
        }
        Ok((built, case_boards(entries)))
    }

    pub(crate) async fn live_entries(&self) -> Result<Vec<Entry>> {
        let mut c = self.store.reader().await?;
        let mut entries = Vec::new();
        for submission in submissions::published(&mut c).await? {
            let Some(revision) = submission.live_revision.clone() else {
                continue;
            };
            let scores = revisions::part(&mut c, &revision, Part::Scores)
                .await?
                .unwrap_or_default();
            entries.push(Entry {
                submission,
                revision,
                scores,
            });
        }
        Ok(entries)
    }

    fn build(
        &self,
        entries: &[Entry],
        track: Track,
        release: &ReleaseId,
        subset: &SubsetId,
    ) -> Result<Vec<Built>> {
        let cases = self.track_cases(track, release, subset)?;
        let cases: Vec<&Case> = cases.iter().collect();
        // A row stands on the board of the subset that it was handed in for.
        let here: Vec<&Entry> = entries
            .iter()
            .filter(|e| {
                e.submission.metadata.as_ref().is_some_and(|m| {
                    m.track == track && m.release == *release && m.subset == *subset
                })
            })
            .collect();
        let all_slices = slices(&cases);
        let choices: Vec<Choice> = all_slices
            .iter()
            .map(|s| Choice {
                key: s.key.clone(),
                label: s.label.clone(),
                cases: u32::try_from(s.cases.len()).unwrap_or(u32::MAX),
            })
            .collect();
        let whole = Slice {
            key: String::new(),
            label: String::new(),
            cases: cases.iter().map(|c| c.id.clone()).collect(),
        };
        let mut built = Vec::new();
        for slice in std::iter::once(whole).chain(all_slices) {
            let cohort: BTreeMap<CaseId, SystemId> = cases
                .iter()
                .filter(|c| slice.cases.contains(&c.id))
                .map(|c| (c.id.clone(), c.system.clone()))
                .collect();
            let rows = rows::rank(
                track,
                here.iter()
                    .filter_map(|e| rows::scored(&e.submission, &e.revision, &e.scores, &cohort))
                    .collect(),
            );
            let key = BoardKey {
                track,
                release: release.clone(),
                subset: subset.clone(),
                slice: slice.key,
            };
            let mut view = self.empty_board(&key)?;
            view.slices = choices.clone();
            view.n_cases = u32::try_from(cohort.len()).unwrap_or(u32::MAX);
            view.inputs = inputs(&view, &here, &cohort);
            view.rows = rows;
            if view.rows.len() > LARGE {
                // Pages show parts of a large board and no row's cases: those
                // stand on the submissions' own pages.
                for row in &mut view.rows {
                    row.per_case.clear();
                    row.beats.truncate(3);
                    row.beaten_by.truncate(3);
                }
            }
            built.push(Built { key, view });
        }
        Ok(built)
    }

    /// A board without rows.
    fn empty_board(&self, key: &BoardKey) -> Result<BoardView> {
        let subsets = self
            .subsets(&key.release)?
            .into_iter()
            .map(|s| {
                let cases = self.subset_cases(&key.release, &s)?.len();
                Ok(Choice {
                    label: s.as_str().replace('-', " "),
                    key: s.to_string(),
                    cases: u32::try_from(cases).unwrap_or(u32::MAX),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(BoardView {
            track: key.track,
            release: key.release.clone(),
            releases: self.releases(),
            subset: key.subset.clone(),
            subsets,
            slice: key.slice.clone(),
            slices: Vec::new(),
            n_cases: u32::try_from(self.subset_cases(&key.release, &key.subset)?.len())
                .unwrap_or(u32::MAX),
            columns: rows::columns(key.track),
            rows: Vec::new(),
            computed: self.now(),
            inputs: String::new(),
            scorer_version: scorer_version(key.track),
            statistics: None,
            reported: Vec::new(),
        })
    }

    /// The key that a query names, with its defaults filled in.
    pub(crate) async fn key(&self, query: &BoardQuery) -> Result<BoardKey> {
        let release = match &query.release {
            Some(r) => self
                .releases()
                .into_iter()
                .find(|known| known == r)
                .ok_or(PortalError::NotFound)?,
            None => self
                .release_to_show(query.track)
                .await?
                .ok_or(PortalError::NotFound)?,
        };
        let full = SubsetId::parse("full").map_err(PortalError::internal)?;
        let subset = query.subset.clone().unwrap_or(full);
        if !self.subsets(&release)?.contains(&subset) {
            return Err(PortalError::NotFound);
        }
        Ok(BoardKey {
            track: query.track,
            release,
            subset,
            slice: query.slice.clone().unwrap_or_default(),
        })
    }

    /// A board, from the cache, filtered and ordered as the query says.
    pub async fn board(&self, _actor: &Actor, query: &BoardQuery) -> Result<BoardView> {
        let key = self.key(query).await?;
        let mut c = self.store.reader().await?;
        let mut view = match self.stored_board(&mut c, &key).await? {
            Some(v) => BoardView::clone(&v),
            // Not built yet (a new site), or a track that no release has.
            None if key.slice.is_empty() => self.empty_board(&key)?,
            None => return Err(PortalError::NotFound),
        };
        self.add_statistics(&mut c, &mut view).await?;
        view.arrange(query);
        Ok(view)
    }

    /// A published submission's row, with its rank, as its board has it.
    pub(crate) async fn board_row(
        &self,
        c: &mut Connection,
        s: &Submission,
    ) -> Result<Option<BoardRow>> {
        let Some(m) = &s.metadata else {
            return Ok(None);
        };
        let key = BoardKey {
            track: m.track,
            release: m.release.clone(),
            subset: m.subset.clone(),
            slice: String::new(),
        };
        let board = self.stored_board(c, &key).await?;
        Ok(board.and_then(|b| b.rows.iter().find(|r| r.submission == s.id).cloned()))
    }

    /// A board as data.
    pub async fn board_file(
        &self,
        actor: &Actor,
        query: &BoardQuery,
        format: &str,
    ) -> Result<FileBody> {
        let view = self.board(actor, query).await?;
        let name = format!(
            "board-{}-{}-{}.{format}",
            view.track, view.release, view.subset
        );
        match format {
            "json" => Ok(FileBody::new(
                serde_json::to_vec_pretty(&view)
                    .map_err(PortalError::internal)?
                    .into(),
                "application/json",
                name,
            )),
            "csv" => Ok(FileBody::new(
                figures::board_csv(&view).into_bytes().into(),
                "text/csv; charset=utf-8",
                name,
            )),
            _ => Err(PortalError::NotFound),
        }
    }
}

/// The hash of everything that a board is computed from.
fn inputs(view: &BoardView, entries: &[&Entry], cohort: &BTreeMap<CaseId, SystemId>) -> String {
    let rows: Vec<(&str, &str)> = entries
        .iter()
        .map(|e| (e.submission.id.as_str(), e.revision.as_str()))
        .collect();
    let cases: Vec<&str> = cohort.keys().map(CaseId::as_str).collect();
    let text = serde_json::json!([
        view.track,
        view.release,
        view.subset,
        view.slice,
        view.scorer_version,
        rows,
        cases
    ])
    .to_string();
    Digest::of(text.as_bytes()).to_string()
}

/// What published configurations reached on each case.
fn case_boards(entries: &[Entry]) -> BTreeMap<CaseId, CaseBoard> {
    let mut all: BTreeMap<CaseId, CaseBoard> = BTreeMap::new();
    for e in entries {
        let outcomes = |attempts: Vec<CaseAttempt>| CaseOutcomes {
            submission: e.submission.id.clone(),
            configuration: e
                .submission
                .metadata
                .as_ref()
                .map(|m| m.configuration())
                .unwrap_or_default(),
            attempts,
        };
        let mut repair: BTreeMap<&CaseId, Vec<CaseAttempt>> = BTreeMap::new();
        for a in &e.scores.repair {
            repair.entry(&a.case).or_default().push(CaseAttempt {
                id: a.attempt.clone(),
                condition: Some(a.condition),
                outcome: Some(a.outcome),
                coverage: None,
            });
        }
        let mut diagnosis: BTreeMap<&CaseId, Vec<CaseAttempt>> = BTreeMap::new();
        for a in &e.scores.diagnosis {
            diagnosis.entry(&a.case).or_default().push(CaseAttempt {
                id: a.attempt.clone(),
                condition: None,
                outcome: None,
                coverage: Some(a.scores.block_coverage),
            });
        }
        for (case, mut attempts) in repair {
            attempts.sort_by_key(|a| {
                a.condition
                    .map(Condition::as_str)
                    .map(|c| c != Condition::SymptomOnly.as_str())
            });
            all.entry(case.clone())
                .or_default()
                .repair
                .push(outcomes(attempts));
        }
        for (case, attempts) in diagnosis {
            all.entry(case.clone())
                .or_default()
                .diagnosis
                .push(outcomes(attempts));
        }
    }
    all
}
