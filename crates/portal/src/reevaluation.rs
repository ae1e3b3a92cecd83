//! Scoring whole sets again: begun by an administrator with a reason, built
//! beside what is live, compared with it, and only then applied or discarded,
//! submission by submission. It never changes a live score by itself.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::score::DiagnosisScores;
use faultboard_domain::view::FindingView;
use faultboard_domain::{
    Actor, AttemptId, Finding, ReevaluationId, RevisionId, Scope, SubmissionId,
};
use faultboard_jobs::JobContext;
use faultboard_store::attempts::{self, Attempt};
use faultboard_store::jobs::Claimed;
use faultboard_store::revisions::{self, Part, Revision, RevisionState};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Tx, audit, jobs, reevaluations};

use crate::begin::Rerun;
use crate::finish::{RevisionChanges, scorer_versions};
use crate::{Change, Portal, PortalError, Result, admin, deeds, random};

/// The most submissions that one re-evaluation covers.
const MOST: usize = 5_000;

/// What a decision about a whole re-evaluation came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Decided {
    /// Submissions whose revision was applied or discarded.
    pub done: u32,
    /// Submissions that are left: still being scored, or changed meanwhile.
    pub left: u32,
}

impl Portal {
    /// Begins to score a set again. Submissions that wait for a decision about
    /// an earlier re-evaluation are left out; the set must not be empty then.
    pub async fn begin_reevaluation(
        &self,
        actor: &Actor,
        scope: &Scope,
        why: &str,
        fresh: bool,
    ) -> Result<ReevaluationId> {
        admin(actor)?;
        let why = deeds::reason(why, "it stands with the revision on the public page")?;
        let mut tx = self.store.begin().await?;
        let covered = reevaluations::covered(&mut tx, scope, &scorer_versions()).await?;
        if covered.is_empty() {
            return Err(PortalError::Invalid(format!(
                "Nothing is covered by {}: only scored, reviewed and published submissions can be scored again. Check the name.",
                scope.words()
            )));
        }
        if covered.len() > MOST {
            return Err(PortalError::TooLarge(format!(
                "{} covers {} submissions, more than {MOST}: take it in parts, such as case by case.",
                scope.words(),
                covered.len()
            )));
        }
        let id = ReevaluationId::parse(&random::id_text('e')).map_err(PortalError::internal)?;
        let now = self.now();
        reevaluations::insert(&mut tx, &id, scope, (&why, fresh), &actor.label(), now).await?;
        let rerun = Rerun {
            reason: &why,
            fresh,
            reevaluation: Some((&id, scope)),
        };
        let (mut begun, mut left_out) = (Vec::new(), 0_u32);
        for submission in covered {
            let undecided = revisions::of_submission(&mut tx, &submission)
                .await?
                .iter()
                .any(|r| matches!(r.state, RevisionState::Building | RevisionState::Ready));
            let Some(s) = submissions::get(&mut tx, &submission).await? else {
                continue;
            };
            if undecided {
                left_out += 1;
                continue;
            }
            self.begin_revision(&mut tx, &s, &rerun, actor).await?;
            let note = format!("re-evaluation begun ({}): {why}", scope.words());
            submissions::event(&mut tx, &submission, actor, None, &note, now).await?;
            begun.push(submission);
        }
        if begun.is_empty() {
            return Err(PortalError::Conflict(
                "Everything that this covers is being scored again already, or waits for a decision about it: apply or discard that first.".to_owned(),
            ));
        }
        let note = format!(
            "{}: {} submission(s), {left_out} left out; {why}",
            scope.words(),
            begun.len()
        );
        self.audited(tx, actor, "re-evaluation-begun", id.as_str(), &note)
            .await?;
        self.wake();
        self.tell(Change::Queue);
        for submission in begun {
            self.tell(Change::Submission(submission));
        }
        Ok(id)
    }

    /// Scores one submission anew beside its live revision.
    pub async fn reevaluate(
        &self,
        actor: &Actor,
        id: &SubmissionId,
        why: &str,
        fresh: bool,
    ) -> Result<RevisionId> {
        let scope = Scope::Submission(id.clone());
        let begun = self.begin_reevaluation(actor, &scope, why, fresh).await?;
        let of = reevaluations::revisions_of(&mut *self.store.reader().await?, &begun).await?;
        of.into_iter()
            .next()
            .map(|r| r.id)
            .ok_or(PortalError::NotFound)
    }

    /// Makes every complete revision of a re-evaluation live, each with its
    /// submission's event in one transaction.
    pub async fn apply_reevaluation(&self, actor: &Actor, id: &ReevaluationId) -> Result<Decided> {
        self.decide_all(actor, id, true).await
    }

    /// Drops every revision of a re-evaluation that is not live, whether it is
    /// complete or still being made.
    pub async fn discard_reevaluation(
        &self,
        actor: &Actor,
        id: &ReevaluationId,
    ) -> Result<Decided> {
        self.decide_all(actor, id, false).await
    }

    async fn decide_all(&self, actor: &Actor, id: &ReevaluationId, apply: bool) -> Result<Decided> {
        admin(actor)?;
        let mut c = self.store.reader().await?;
        if reevaluations::get(&mut c, id).await?.is_none() {
            return Err(PortalError::NotFound);
        }
        let of = reevaluations::revisions_of(&mut c, id).await?;
        drop(c);
        let mut decided = Decided { done: 0, left: 0 };
        for r in of {
            let open = match r.state {
                RevisionState::Ready => true,
                RevisionState::Building => !apply,
                _ => continue,
            };
            if !open && r.state == RevisionState::Building {
                decided.left += 1;
                continue;
            }
            let ended = if apply {
                self.apply_revision(actor, &r.id).await
            } else {
                self.discard_revision(actor, &r.id).await
            };
            match ended {
                Ok(_) => decided.done += 1,
                // Somebody was quicker, or the live revision is another by now.
                Err(PortalError::Conflict(why)) => {
                    tracing::warn!(revision = %r.id, reason = %why, "a revision is left as it is");
                    decided.left += 1;
                }
                Err(e) => return Err(e),
            }
        }
        if decided.done == 0 {
            return Err(PortalError::Conflict(
                "No revision of this re-evaluation is waiting for that: what is complete was decided already, the rest is still being scored.".to_owned(),
            ));
        }
        let deed = if apply {
            "re-evaluation-applied"
        } else {
            "re-evaluation-discarded"
        };
        let note = format!("{} submission(s), {} left", decided.done, decided.left);
        self.audited(self.store.begin().await?, actor, deed, id.as_str(), &note)
            .await?;
        Ok(decided)
    }

    /// Makes a complete revision the live one.
    pub async fn apply_revision(&self, actor: &Actor, id: &RevisionId) -> Result<SubmissionId> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        let (r, s) = self.revision_and_submission(&mut tx, id).await?;
        if r.state != RevisionState::Ready || s.live_revision.is_none() {
            return Err(PortalError::Conflict(format!(
                "Revision {} is `{}`: only a complete one beside a live one can be applied.",
                r.number,
                r.state.as_str()
            )));
        }
        if r.base.is_some() && r.base != s.live_revision {
            return Err(PortalError::Conflict(format!(
                "Revision {} was compared with one that is no longer live: discard it and score again.",
                r.number
            )));
        }
        let now = self.now();
        self.go_live(&mut tx, &s, id).await?;
        let changed: RevisionChanges = revisions::part(&mut tx, id, Part::Changes)
            .await?
            .unwrap_or_default();
        for (attempt, finding) in &changed.hits_new {
            attempts::insert_finding(&mut tx, &s.id, attempt, finding).await?;
        }
        let hits = match changed.hits_new.len() {
            0 => String::new(),
            n => format!("; {n} new guard hit(s) wait for a decision"),
        };
        let note = format!("revision {} applied: {}{hits}", r.number, r.reason);
        submissions::event(&mut tx, &s.id, actor, None, &note, now).await?;
        audit::add(&mut tx, actor, "revision-applied", id.as_str(), &note, now).await?;
        let verdicts: usize = changed.changes.iter().map(|c| c.2.len()).sum();
        if s.state.is_public() {
            let title = deeds::title(&s);
            submissions::add_change(
                &mut tx,
                &format!(
                    "{title} was re-evaluated ({}); {verdicts} verdict(s) changed.",
                    r.reason
                ),
                &format!("/submissions/{}", s.id),
                now,
            )
            .await?;
            self.enqueue_rebuild(&mut tx).await?;
        }
        self.done(tx, &r.submission).await?;
        Ok(r.submission)
    }

    /// Drops a revision that is being built or complete, beside the live one.
    pub async fn discard_revision(&self, actor: &Actor, id: &RevisionId) -> Result<SubmissionId> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        let (r, s) = self.revision_and_submission(&mut tx, id).await?;
        let droppable = matches!(r.state, RevisionState::Building | RevisionState::Ready);
        if !droppable || s.live_revision.is_none() {
            return Err(PortalError::Conflict(format!(
                "Revision {} is `{}`: only one beside a live one can be discarded.",
                r.number,
                r.state.as_str()
            )));
        }
        let now = self.now();
        revisions::transition(&mut tx, id, r.state, RevisionState::Discarded).await?;
        jobs::cancel_of_revision(&mut tx, id, now).await?;
        let note = format!("revision {} discarded", r.number);
        submissions::event(&mut tx, &s.id, actor, None, &note, now).await?;
        audit::add(
            &mut tx,
            actor,
            "revision-discarded",
            id.as_str(),
            &note,
            now,
        )
        .await?;
        self.done(tx, &r.submission).await?;
        Ok(r.submission)
    }

    async fn revision_and_submission(
        &self,
        tx: &mut Tx,
        id: &RevisionId,
    ) -> Result<(Revision, Submission)> {
        let r = revisions::get(tx, id).await?.ok_or(PortalError::NotFound)?;
        let s = submissions::get(tx, &r.submission)
            .await?
            .ok_or(PortalError::NotFound)?;
        Ok((r, s))
    }

    /// What the guards find otherwise than before in what is scored again: hits
    /// that are new, and hits that are gone. Nothing for a first scoring.
    pub(crate) async fn guard_changes(
        &self,
        (job, context): (&Claimed, &JobContext),
        r: &Revision,
        all: &[Attempt],
        findings: &[FindingView],
    ) -> Result<(Vec<Hit>, Vec<Hit>)> {
        if r.base.is_none() {
            return Ok((Vec::new(), Vec::new()));
        }
        let carried: BTreeSet<AttemptId> =
            revisions::outcomes(&mut *self.store.reader().await?, &r.id)
                .await?
                .into_iter()
                .filter(|o| o.at < r.created)
                .map(|o| o.attempt)
                .collect();
        let again: Vec<&Attempt> = all.iter().filter(|a| !carried.contains(&a.id)).collect();
        let (found, _) = self.find_hits(job, &again, context).await?;
        let known: Vec<Hit> = findings
            .iter()
            .filter(|f| again.iter().any(|a| a.id == f.attempt))
            .map(|f| (f.attempt.clone(), f.finding.clone()))
            .collect();
        Ok((without(&found, &known), without(&known, &found)))
    }

    /// What a revision changes against its base.
    pub(crate) async fn changes_against_base(
        &self,
        r: &Revision,
        new: &BTreeMap<AttemptId, String>,
        diagnosis: &BTreeMap<AttemptId, DiagnosisScores>,
        set_aside: &[&AttemptId],
    ) -> Result<RevisionChanges> {
        let mut result = RevisionChanges::default();
        let Some(base) = &r.base else {
            return Ok(result);
        };
        let old = revisions::outcomes(&mut *self.store.reader().await?, base).await?;
        let mut groups: BTreeMap<(String, String), Vec<AttemptId>> = BTreeMap::new();
        for o in &old {
            let now = match new.get(&o.attempt) {
                Some(word) if !set_aside.contains(&&o.attempt) => match diagnosis.get(&o.attempt) {
                    Some(scores) if o.result::<DiagnosisScores>()? != *scores => {
                        OTHER_FIGURES.to_owned()
                    }
                    _ => word.clone(),
                },
                _ => SET_ASIDE.to_owned(),
            };
            if now == o.outcome {
                result.unchanged += 1;
            } else {
                let key = (o.outcome.clone(), now);
                groups.entry(key).or_default().push(o.attempt.clone());
            }
        }
        let before: BTreeSet<&AttemptId> = old.iter().map(|o| &o.attempt).collect();
        for (attempt, word) in new.iter().filter(|(a, _)| !before.contains(a)) {
            let key = (SET_ASIDE.to_owned(), word.clone());
            groups.entry(key).or_default().push(attempt.clone());
        }
        result.changes = groups
            .into_iter()
            .map(|((old, new), ids)| (old, new, ids))
            .collect();
        Ok(result)
    }
}

/// What stands in a matrix for an attempt that a guard keeps from counting.
pub(crate) const SET_ASIDE: &str = "set aside";
/// What stands there for a diagnosis that is scored, but otherwise.
pub(crate) const OTHER_FIGURES: &str = "scored, other figures";

/// A guard's hit in an attempt.
pub(crate) type Hit = (AttemptId, Finding);

/// Where a hit is, whatever the guard says about it.
fn place(hit: &Hit) -> (&AttemptId, &str, Option<u32>, &str, u64, u64) {
    let (attempt, f) = hit;
    (attempt, &f.guard, f.step, &f.source, f.start, f.end)
}

fn without(these: &[Hit], those: &[Hit]) -> Vec<Hit> {
    let there: BTreeSet<_> = those.iter().map(place).collect();
    these
        .iter()
        .filter(|hit| !there.contains(&place(hit)))
        .cloned()
        .collect()
}
