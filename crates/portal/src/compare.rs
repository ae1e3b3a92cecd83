//! Comparing two to six rows: assembled from stored pairs. What no job has
//! computed yet is noted, a job computes it, and the page says so meanwhile.
//!
//! Which rows are compared is the reader's choice, so Holm's adjustment over the
//! at most fifteen chosen pairs is made when they are read: it is arithmetic on
//! stored p values. Nothing is resampled or simulated here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::score::Estimate;
use faultboard_domain::view::{
    BoardRow, COMPARED, Choice, CompareQuery, CompareState, CompareView, ComparedAttempt,
    ComparedCase, ComparedCell, ComparedPair, ComparedRow, MeasureKind, PairStatistics,
    RowStatistics,
};
use faultboard_domain::{
    Actor, Case, CaseId, Condition, ReleaseId, SubmissionState, SubsetId, Timestamp, Track,
};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_store::jobs::Claimed;
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Connection, jobs, statistics as stored};

use crate::board::slices;
use crate::downloads::FileBody;
use crate::finish::{RevisionScores, scorer_version};
use crate::machine::failure;
use crate::statistics::profile::{Profile, profile};
use crate::statistics::{
    Pieces, Wanted, blocking, designs_of, pair_key, pairs, panel, power_key, read_pair,
};
use crate::{Change, Portal, PortalError, Result, csv};

/// The most comparisons that may wait to be computed.
const MOST_WAITING: i64 = 50;

/// One row of a comparison that was found.
struct Side {
    submission: Submission,
    revision: faultboard_domain::RevisionId,
    subset: SubsetId,
    scores: RevisionScores,
}

/// What a query names.
struct Cut {
    track: Track,
    release: ReleaseId,
    slice: String,
    slices: Vec<Choice>,
    cases: Vec<Case>,
    sides: Vec<Side>,
}

impl Cut {
    fn ids(&self) -> Vec<CaseId> {
        self.cases.iter().map(|c| c.id.clone()).collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let n = self.sides.len();
        (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
    }
}

impl Portal {
    /// Finds the rows and the cases of a comparison.
    async fn cut(&self, c: &mut Connection, query: &CompareQuery) -> Result<Cut> {
        let distinct: BTreeSet<_> = query.rows.iter().collect();
        if !(COMPARED.0..=COMPARED.1).contains(&query.rows.len())
            || distinct.len() != query.rows.len()
        {
            return Err(PortalError::Invalid(format!(
                "Choose {} to {} different rows of one board to compare.",
                COMPARED.0, COMPARED.1
            )));
        }
        let mut sides = Vec::new();
        let mut board: Option<(Track, ReleaseId)> = None;
        for id in &query.rows {
            let found = submissions::get(c, id).await?;
            let Some(s) = found.filter(|s| s.state == SubmissionState::Published) else {
                return Err(PortalError::Invalid(format!(
                    "{id} is not a row of a board (any more): only published submissions are compared. Choose the rows on the board again."
                )));
            };
            let (Some(m), Some(revision)) = (s.metadata.clone(), s.live_revision.clone()) else {
                return Err(PortalError::internal(
                    "a published submission without scores",
                ));
            };
            let here = (m.track, m.release.clone());
            if *board.get_or_insert_with(|| here.clone()) != here {
                return Err(PortalError::Invalid(
                    "These rows stand on boards of different tracks or releases, so they have no cases in common. Choose rows of one track and release."
                        .to_owned(),
                ));
            }
            let scores = self.revision_scores(c, &revision).await?;
            sides.push(Side {
                submission: s,
                revision,
                subset: m.subset,
                scores,
            });
        }
        let (track, release) = board.ok_or(PortalError::NotFound)?;
        // Rows of different subsets share what their subsets share.
        let mut all: BTreeMap<CaseId, Case> = BTreeMap::new();
        for subset in sides.iter().map(|s| &s.subset).collect::<BTreeSet<_>>() {
            for case in self.track_cases(track, &release, subset)? {
                all.insert(case.id.clone(), case);
            }
        }
        let mut cases: Vec<Case> = all.into_values().collect();
        let known = slices(&self.borrowed(&cases));
        let slice = query.slice.clone().unwrap_or_default();
        if !slice.is_empty() {
            let chosen = known
                .iter()
                .find(|s| s.key == slice)
                .ok_or(PortalError::NotFound)?;
            cases.retain(|c| chosen.cases.contains(&c.id));
        }
        Ok(Cut {
            track,
            release,
            slice,
            slices: known
                .into_iter()
                .map(|s| Choice {
                    cases: u32::try_from(s.cases.len()).unwrap_or(u32::MAX),
                    key: s.key,
                    label: s.label,
                })
                .collect(),
            cases,
            sides,
        })
    }

    /// A comparison of published rows, as far as it is computed; what is not is
    /// asked for.
    pub async fn compare(&self, _actor: &Actor, query: &CompareQuery) -> Result<CompareView> {
        let mut c = self.store.reader().await?;
        let cut = self.cut(&mut c, query).await?;
        let ids = cut.ids();
        let measures = MeasureKind::of(cut.track).to_vec();
        let mut complete = true;
        let mut computed: Option<Timestamp> = None;
        let mut found: BTreeMap<(usize, usize), PairStatistics> = BTreeMap::new();
        for (a, b) in cut.pairs() {
            let (x, y) = (&cut.sides[a].revision, &cut.sides[b].revision);
            match read_pair(&mut c, x, y, &ids).await? {
                Some((pair, at)) => {
                    computed = computed.max(Some(at));
                    found.insert((a, b), pair);
                }
                None => complete = false,
            }
        }
        let mut shown = Vec::new();
        for kind in &measures {
            let mut of_measure = Vec::new();
            for ((a, b), pair) in &found {
                let Some(m) = pair.measure(*kind) else {
                    continue;
                };
                let mut power = None;
                if let Some(d) = m.difference
                    && let Some(design) =
                        m.a.zip(m.b)
                            .and_then(|(x, y)| panel::design(d.n, m.attempts, x.mean.min(y.mean)))
                {
                    power = stored::get(&mut c, &power_key(&design)).await?.map(|p| p.0);
                    complete &= power.is_some();
                }
                of_measure.push(ComparedPair {
                    a: *a,
                    b: *b,
                    measure: *kind,
                    difference: m.difference,
                    p_plus_one: m.p_plus_one,
                    p_holm: None,
                    only_a: m.only_a.clone(),
                    only_b: m.only_b.clone(),
                    flips: m.flips,
                    power,
                });
            }
            let p: Vec<Option<f64>> = of_measure
                .iter()
                .map(|p| p.difference.and_then(|d| d.p))
                .collect();
            for (pair, p) in of_measure.iter_mut().zip(panel::adjust(&p)) {
                pair.p_holm = p;
            }
            shown.extend(of_measure);
        }
        let rows = self.compared_rows(&mut c, &cut, &measures).await?;
        let waits = !complete && stored::is_wanted(&mut c, query).await?;
        drop(c);
        let state = if complete {
            CompareState::Ready
        } else if waits || self.want_comparison(query).await? {
            CompareState::Computing
        } else {
            CompareState::Busy
        };
        Ok(CompareView {
            n_cases: u32::try_from(cut.cases.len()).unwrap_or(u32::MAX),
            cases: compared_cases(&cut, &measures),
            track: cut.track,
            release: cut.release,
            slice: cut.slice,
            slices: cut.slices,
            measures,
            rows,
            pairs: shown,
            state,
            computed,
            scorer_version: scorer_version(cut.track),
        })
    }

    async fn compared_rows(
        &self,
        c: &mut Connection,
        cut: &Cut,
        measures: &[MeasureKind],
    ) -> Result<Vec<ComparedRow>> {
        let mut rows = Vec::new();
        for side in &cut.sides {
            let estimates: Vec<Option<Estimate>> = if cut.slice.is_empty() {
                let own = side.scores.row.as_ref();
                measures
                    .iter()
                    .map(|m| own.and_then(|r| estimate_of(r, *m)))
                    .collect()
            } else {
                let own: Vec<CaseId> = self
                    .track_cases(cut.track, &cut.release, &side.subset)?
                    .into_iter()
                    .map(|c| c.id)
                    .collect();
                let stored: Option<RowStatistics> =
                    self.row_statistics(c, &side.revision, &own).await?;
                let group = stored.and_then(|s| s.groups.into_iter().find(|g| g.key == cut.slice));
                measures
                    .iter()
                    .map(|m| {
                        let g = group.as_ref()?;
                        match m {
                            MeasureKind::Symptom => g.symptom,
                            MeasureKind::Context => g.context,
                            MeasureKind::Block => g.block,
                            MeasureKind::File => g.file,
                        }
                    })
                    .collect()
            };
            rows.push(ComparedRow {
                submission: side.submission.id.clone(),
                revision: side.revision.clone(),
                configuration: side
                    .submission
                    .metadata
                    .as_ref()
                    .map(|m| m.configuration())
                    .unwrap_or_default(),
                subset: side.subset.to_string(),
                estimates,
            });
        }
        Ok(rows)
    }

    /// Notes a comparison and asks for the job; false if too many wait.
    async fn want_comparison(&self, query: &CompareQuery) -> Result<bool> {
        let mut tx = self.store.begin().await?;
        let taken = stored::want(&mut tx, query, MOST_WAITING, self.now()).await?;
        if taken {
            self.enqueue_computing(
                &mut tx,
                JobKind::Compare,
                Priority::Interactive,
                "compute the comparisons that were asked for",
            )
            .await?;
            tx.commit().await?;
            self.wake();
        }
        Ok(taken)
    }

    pub(crate) async fn run_compare(
        self: &Arc<Self>,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        self.compute_wanted(job, &context).await.map_err(failure)
    }

    async fn compute_wanted(self: &Arc<Self>, job: &Claimed, context: &JobContext) -> Result<()> {
        let wanted: Vec<(i64, Option<CompareQuery>)> =
            stored::wanted(&mut *self.store.reader().await?).await?;
        for query in wanted.iter().filter_map(|w| w.1.as_ref()) {
            // A row may have left the board since it was asked for.
            match self.compute_comparison(query).await {
                Ok(n) => context.say(format!("{} rows: {n} new pieces", query.rows.len())),
                Err(PortalError::Invalid(why)) => context.say(why),
                Err(PortalError::NotFound) => context.say("a slice that is no more"),
                Err(e) => return Err(e),
            }
        }
        let mut tx = self.store.begin().await?;
        let now = self.now();
        for (id, _) in &wanted {
            stored::unwant(&mut tx, *id).await?;
        }
        if jobs::finish(&mut tx, job.id, &job.token, now).await? {
            let more: Vec<(i64, Option<CompareQuery>)> = stored::wanted(&mut tx).await?;
            if !more.is_empty() {
                self.enqueue_computing(
                    &mut tx,
                    JobKind::Compare,
                    Priority::Interactive,
                    "compute the comparisons that were asked for",
                )
                .await?;
            }
            tx.commit().await?;
            self.tell(Change::Queue);
        }
        Ok(())
    }

    /// Computes and stores what one comparison lacks.
    async fn compute_comparison(&self, query: &CompareQuery) -> Result<usize> {
        let mut c = self.store.reader().await?;
        let cut = self.cut(&mut c, query).await?;
        let ids = cut.ids();
        let mut lacking = Vec::new();
        for (a, b) in cut.pairs() {
            let (x, y) = (&cut.sides[a].revision, &cut.sides[b].revision);
            let (key, turned) = pair_key(x, y, &ids);
            if !stored::has(&mut c, &key).await? {
                let (first, second) = if turned { (b, a) } else { (a, b) };
                lacking.push(Wanted { key, first, second });
            }
        }
        let all: Vec<(usize, usize)> = cut.pairs().collect();
        let revisions: Vec<_> = cut.sides.iter().map(|s| s.revision.clone()).collect();
        let mut pieces = blocking(move || {
            let within: BTreeSet<&CaseId> = cut.cases.iter().map(|c| &c.id).collect();
            Pieces {
                pairs: pairs(cut.track, &lacking, |i| {
                    Some(profile(cut.track, &cut.sides.get(i)?.scores, |c| {
                        within.contains(c)
                    }))
                }),
                ..Pieces::default()
            }
        })
        .await?;
        let mut designs = BTreeMap::new();
        for (a, b) in all {
            let (key, _) = pair_key(&revisions[a], &revisions[b], &ids);
            let pair = match pieces.pairs.iter().find(|p| p.0 == key) {
                Some((_, pair)) => Some(pair.clone()),
                None => stored::get(&mut c, &key).await?.map(|p| p.0),
            };
            for design in pair.iter().flat_map(designs_of) {
                let key = power_key(&design);
                if !stored::has(&mut c, &key).await? {
                    designs.insert(key, design);
                }
            }
        }
        drop(c);
        pieces.powers = blocking(move || {
            designs
                .into_iter()
                .map(|(key, d)| (key, panel::power(d)))
                .collect()
        })
        .await?;
        let n = pieces.pairs.len() + pieces.powers.len();
        self.store_pieces(pieces).await?;
        Ok(n)
    }

    /// A comparison as data: JSON whole, CSV one line per pair and measure.
    pub async fn compare_file(
        &self,
        actor: &Actor,
        query: &CompareQuery,
        format: &str,
    ) -> Result<FileBody> {
        let view = self.compare(actor, query).await?;
        if view.state != CompareState::Ready {
            return Err(PortalError::TooMany {
                message: "This comparison is being computed. Ask again in a moment.".to_owned(),
                retry_after_s: 2,
            });
        }
        let name = format!("compare-{}-{}.{format}", view.track, view.release);
        match format {
            "json" => Ok(FileBody::new(
                serde_json::to_vec_pretty(&view)
                    .map_err(PortalError::internal)?
                    .into(),
                "application/json",
                name,
            )),
            "csv" => Ok(FileBody::new(
                csv::comparison(&view).into_bytes().into(),
                "text/csv; charset=utf-8",
                name,
            )),
            _ => Err(PortalError::NotFound),
        }
    }
}

fn estimate_of(row: &BoardRow, measure: MeasureKind) -> Option<Estimate> {
    match measure {
        MeasureKind::Symptom => row.repair.as_ref()?.symptom,
        MeasureKind::Context => row.repair.as_ref()?.context,
        MeasureKind::Block => row.diagnosis.as_ref().map(|d| d.block_coverage),
        MeasureKind::File => row.diagnosis.as_ref().map(|d| d.file_coverage),
    }
}

/// What each row reached on each case.
fn compared_cases(cut: &Cut, measures: &[MeasureKind]) -> Vec<ComparedCase> {
    let profiles: Vec<Profile> = cut
        .sides
        .iter()
        .map(|s| profile(cut.track, &s.scores, |_| true))
        .collect();
    cut.cases
        .iter()
        .map(|case| ComparedCase {
            case: case.id.clone(),
            title: case.title.clone(),
            cells: cut
                .sides
                .iter()
                .zip(&profiles)
                .map(|(side, profile)| ComparedCell {
                    values: measures
                        .iter()
                        .map(|m| profile.get(m)?.by_case.get(&case.id).copied())
                        .collect(),
                    attempts: attempts_on(&side.scores, &case.id),
                })
                .collect(),
        })
        .collect()
}

fn attempts_on(scores: &RevisionScores, case: &CaseId) -> Vec<ComparedAttempt> {
    let mut repair: Vec<_> = scores.repair.iter().filter(|a| a.case == *case).collect();
    repair.sort_by_key(|a| a.condition);
    let repair = repair.into_iter().map(|a| ComparedAttempt {
        id: a.attempt.clone(),
        measure: match a.condition {
            Condition::SymptomOnly => MeasureKind::Symptom,
            Condition::ContextAugmented => MeasureKind::Context,
        },
        outcome: Some(a.outcome),
        coverage: None,
    });
    let diagnosis = scores
        .diagnosis
        .iter()
        .filter(|a| a.case == *case)
        .map(|a| ComparedAttempt {
            id: a.attempt.clone(),
            measure: MeasureKind::Block,
            outcome: None,
            coverage: Some(a.scores.block_coverage),
        });
    repair.chain(diagnosis).collect()
}
