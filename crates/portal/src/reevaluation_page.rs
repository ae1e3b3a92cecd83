//! What administrators see of re-evaluations: the list, and one with its matrix
//! of old against new verdicts. It only reads.

use std::collections::BTreeMap;

use faultboard_domain::score::DiagnosisScores;
use faultboard_domain::view::{
    AttemptRef, HitChange, MATRIX_MOST, MatrixCell, ReevaluatedSubmission, ReevaluationView,
    ReevaluationsView,
};
use faultboard_domain::{Actor, AttemptId, Finding, ReevaluationId, SubmissionState};
use faultboard_store::attempts::Attempt;
use faultboard_store::revisions::{self, Part, Revision, RevisionState, StoredOutcome};
use faultboard_store::{Connection, attempts, reevaluations, submissions};

use crate::finish::{RevisionChanges, is_quarantined, scorer_versions};
use crate::reevaluation::{OTHER_FIGURES, SET_ASIDE};
use crate::{Portal, PortalError, Result, admin, deeds};

const LIST_MOST: u32 = 200;

/// The word for a verdict that is not there yet.
const OPEN: &str = "being scored";

impl Portal {
    /// Re-evaluations, and what can be scored again.
    pub async fn reevaluations(&self, actor: &Actor) -> Result<ReevaluationsView> {
        admin(actor)?;
        let mut c = self.store.reader().await?;
        let mut configurations: BTreeMap<String, _> = BTreeMap::new();
        for s in submissions::recent(&mut c, 2_000).await? {
            let scored = matches!(
                s.state,
                SubmissionState::Scored | SubmissionState::InReview | SubmissionState::Published
            );
            if scored {
                let of = [
                    s.track.map(|t| t.title().to_owned()),
                    s.release.map(|r| r.to_string()),
                    s.subset.map(|s| s.to_string()),
                ];
                let of: Vec<String> = of.into_iter().flatten().collect();
                configurations.insert(format!("{} ({})", s.title, of.join(", ")), s.id);
            }
        }
        Ok(ReevaluationsView {
            lines: reevaluations::newest(&mut c, LIST_MOST).await?,
            outdated: reevaluations::outdated(&mut c, &scorer_versions()).await?,
            configurations: configurations
                .into_iter()
                .map(|(title, id)| (id, title))
                .collect(),
            releases: self.releases().iter().map(ToString::to_string).collect(),
            cases: self
                .catalog
                .cases()
                .map(|e| e.case.id.to_string())
                .collect(),
        })
    }

    /// One re-evaluation: how far it is and what it would change.
    pub async fn reevaluation(
        &self,
        actor: &Actor,
        id: &ReevaluationId,
    ) -> Result<ReevaluationView> {
        admin(actor)?;
        let mut c = self.store.reader().await?;
        let (line, fresh) = reevaluations::get(&mut c, id)
            .await?
            .ok_or(PortalError::NotFound)?;
        let mut matrix = Matrix::default();
        let mut hits = Vec::new();
        let mut of = Vec::new();
        for r in reevaluations::revisions_of(&mut c, id).await? {
            of.push(self.one(&mut c, &r, &mut matrix, &mut hits).await?);
        }
        Ok(ReevaluationView {
            line,
            fresh,
            done: of.iter().map(|s| s.done).sum(),
            total: of.iter().map(|s| s.total).sum(),
            matrix: matrix.cells(),
            hits,
            submissions: of,
        })
    }

    async fn one(
        &self,
        c: &mut Connection,
        r: &Revision,
        matrix: &mut Matrix,
        hits: &mut Vec<HitChange>,
    ) -> Result<ReevaluatedSubmission> {
        let s = submissions::get(c, &r.submission)
            .await?
            .ok_or(PortalError::NotFound)?;
        let all = attempts::of_submission(c, &s.id).await?;
        let new = by_attempt(revisions::outcomes(c, &r.id).await?);
        let old = match &r.base {
            Some(base) => by_attempt(revisions::outcomes(c, base).await?),
            None => BTreeMap::new(),
        };
        let complete = r.state != RevisionState::Building;
        let changes: RevisionChanges = revisions::part(c, &r.id, Part::Changes)
            .await?
            .unwrap_or_default();
        let mut changed = 0;
        for a in &all {
            let word = |o: Option<&StoredOutcome>, missing: &str| {
                o.map_or_else(|| missing.to_owned(), |o| o.outcome.clone())
            };
            let (before, after) = (old.get(&a.id), new.get(&a.id));
            if before.is_none() && after.is_none() {
                continue;
            }
            let was = word(before, SET_ASIDE);
            let mut is = word(after, if complete { SET_ASIDE } else { OPEN });
            if is_quarantined(&changes.hits_new, &a.id) {
                is = SET_ASIDE.to_owned();
            } else if let (Some(x), Some(y), None) = (before, after, a.condition)
                && x.result::<DiagnosisScores>()? != y.result::<DiagnosisScores>()?
            {
                is = OTHER_FIGURES.to_owned();
            }
            changed += u32::from(was != is && is != OPEN);
            matrix.add(was, is, a);
        }
        for (new, found) in [(true, &changes.hits_new), (false, &changes.hits_gone)] {
            hits.extend(found.iter().filter_map(|hit| hit_change(new, hit, &all)));
        }
        let (open, parked) = reevaluations::open_jobs(c, &r.id).await?;
        let done = u32::try_from(new.len()).unwrap_or(u32::MAX);
        Ok(ReevaluatedSubmission {
            submission: s.id.clone(),
            title: deeds::title(&s),
            revision: r.id.clone(),
            number: r.number,
            state: r.state.as_str().to_owned(),
            done,
            total: if complete { done } else { done + open },
            parked,
            changed,
        })
    }
}

fn by_attempt(all: Vec<StoredOutcome>) -> BTreeMap<AttemptId, StoredOutcome> {
    all.into_iter().map(|o| (o.attempt.clone(), o)).collect()
}

fn attempt_ref(a: &Attempt) -> AttemptRef {
    let condition = a.condition.map_or("", |c| c.as_str());
    let words: Vec<String> = [a.case.to_string(), condition.to_owned(), a.run.to_string()]
        .into_iter()
        .filter(|w| !w.is_empty())
        .collect();
    AttemptRef {
        id: a.id.clone(),
        submission: a.submission.clone(),
        words: words.join(" "),
    }
}

fn hit_change(new: bool, hit: &(AttemptId, Finding), all: &[Attempt]) -> Option<HitChange> {
    let (attempt, f) = hit;
    Some(HitChange {
        new,
        attempt: attempt_ref(all.iter().find(|a| a.id == *attempt)?),
        guard: format!("{} {}", f.guard, f.guard_version),
        step: f.step,
        why: f.why.clone(),
    })
}

/// Counts attempts by old and new verdict.
#[derive(Default)]
struct Matrix(BTreeMap<(String, String), MatrixCell>);

impl Matrix {
    fn add(&mut self, old: String, new: String, a: &Attempt) {
        let cell = self
            .0
            .entry((old.clone(), new.clone()))
            .or_insert_with(|| MatrixCell {
                old,
                new,
                count: 0,
                attempts: Vec::new(),
            });
        cell.count += 1;
        if cell.attempts.len() < MATRIX_MOST {
            cell.attempts.push(attempt_ref(a));
        }
    }

    /// Those that differ first.
    fn cells(self) -> Vec<MatrixCell> {
        let mut cells: Vec<MatrixCell> = self.0.into_values().collect();
        cells.sort_by_key(|c| (c.old == c.new, c.new == OPEN));
        cells
    }
}
