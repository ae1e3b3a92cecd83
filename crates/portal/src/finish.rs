//! Score revisions: begun with their jobs, completed when the last outcome is
//! in. Completion is decided from the database alone, by whoever looks: the
//! handler that wrote the last outcome, or the sweeper.

use std::collections::BTreeMap;

use faultboard_domain::finding::GuardSeverity;
use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::score::DiagnosisScores;
use faultboard_domain::view::BoardRow;
use faultboard_domain::{
    Actor, AttemptId, CaseId, Condition, Diagnosis, Finding, Outcome, RevisionId, SubmissionState,
    Track,
};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_scoring::aggregate::DiagnosisAttempt;
use faultboard_scoring::diagnosis::{PreparedBlocks, compare};
use faultboard_scoring::repair::RepairAttempt;
use faultboard_scoring::selection::{Candidate, Manifest, Plan, SkipReason, select};
use faultboard_scoring::usage::Usage;
use faultboard_store::attempts::{Attempt, is_set_aside};
use faultboard_store::jobs::{Claimed, NewJob};
use faultboard_store::revisions::{self, Revision, RevisionState};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Tx, attempts, jobs, statistics as stored};
use serde::{Deserialize, Serialize};

use crate::machine::failure;
use crate::{Change, Portal, PortalError, Result, statistics};

/// The most bytes of a diagnosis that are read.
pub(crate) const DIAGNOSIS_MOST: u64 = 16 << 20;

/// What a revision scored: the selected attempts, from which every figure of
/// every slice is recomputed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RevisionScores {
    /// Selected repair attempts.
    pub repair: Vec<RepairAttempt>,
    /// Selected diagnosis attempts.
    pub diagnosis: Vec<DiagnosisAttempt>,
    /// Attempts set aside by a guard.
    pub set_aside: u32,
    /// The row over the whole subset, for the submission's own page.
    pub row: Option<BoardRow>,
}

/// What a revision changes against the one that was live when it was begun.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RevisionChanges {
    /// Old verdict, new verdict, and the attempts behind the change.
    pub changes: Vec<(String, String, Vec<AttemptId>)>,
    /// Attempts whose verdict stayed.
    pub unchanged: u32,
    /// Hits of the guards that are there now and were not before.
    #[serde(default)]
    pub hits_new: Vec<(AttemptId, Finding)>,
    /// Hits that were there and are not found any more.
    #[serde(default)]
    pub hits_gone: Vec<(AttemptId, Finding)>,
}

/// The version under which a track is scored.
pub(crate) fn scorer_version(track: Track) -> String {
    match track {
        Track::Diagnosis => faultboard_scoring::SCORER_VERSION.to_owned(),
        Track::Repair | Track::Recovery => faultboard_oracle::PROTOCOL_VERSION.to_owned(),
    }
}

/// The same for every track.
pub(crate) fn scorer_versions() -> Vec<(Track, String)> {
    Track::ALL
        .iter()
        .map(|t| (*t, scorer_version(*t)))
        .collect()
}

pub(crate) fn finish_job(revision: &RevisionId, s: &Submission) -> NewJob {
    NewJob {
        kind: JobKind::Finish,
        priority: Priority::Interactive,
        subject: format!(
            "aggregate {}",
            s.metadata
                .as_ref()
                .map_or_else(|| s.file_name.clone(), |m| m.configuration())
        ),
        submission: Some(s.id.clone()),
        revision: Some(revision.clone()),
        attempt: None,
        exclusive_key: None,
        unique_key: Some(format!("finish:{revision}")),
        max_tries: 3,
    }
}

impl Portal {
    /// The attempts that no guard has set aside.
    pub(crate) async fn attempts_to_score(
        &self,
        tx: &mut Tx,
        s: &Submission,
    ) -> Result<Vec<Attempt>> {
        let findings = attempts::findings(tx, &s.id).await?;
        let all = attempts::of_submission(tx, &s.id).await?;
        Ok(all
            .into_iter()
            .filter(|a| !is_set_aside(&findings, &a.id))
            .collect())
    }

    /// Enqueues the completion of a revision if its last outcome is in.
    pub(crate) async fn enqueue_finish_if_complete(
        &self,
        tx: &mut Tx,
        r: &Revision,
    ) -> Result<bool> {
        let Some(s) = submissions::get(tx, &r.submission).await? else {
            return Ok(false);
        };
        if r.state != RevisionState::Building
            || matches!(
                s.state,
                SubmissionState::Withdrawn | SubmissionState::Rejected
            )
        {
            return Ok(false);
        }
        let wanted = self.attempts_to_score(tx, &s).await?;
        if s.metadata
            .as_ref()
            .is_some_and(|m| m.track != Track::Diagnosis)
        {
            let done: Vec<AttemptId> = revisions::outcomes(tx, &r.id)
                .await?
                .into_iter()
                .map(|o| o.attempt)
                .collect();
            if wanted.iter().any(|a| !done.contains(&a.id)) {
                return Ok(false);
            }
        }
        Ok(jobs::insert(tx, &finish_job(&r.id, &s), self.now()).await?)
    }

    /// What the sweeper does: completions that a lost event left out.
    pub(crate) async fn enqueue_missing_finishes(&self, tx: &mut Tx) -> Result<usize> {
        let mut added = 0;
        for r in revisions::building(tx).await? {
            added += usize::from(self.enqueue_finish_if_complete(tx, &r).await?);
        }
        Ok(added)
    }

    /// The job: select, score what is scored here, aggregate, compare with the
    /// live revision, and complete.
    pub(crate) async fn run_finish(
        &self,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        self.finish(job, &context).await.map_err(failure)
    }

    async fn finish(&self, job: &Claimed, context: &JobContext) -> Result<()> {
        let revision = job
            .revision
            .as_ref()
            .ok_or_else(|| PortalError::internal("a finish job without a revision"))?;
        let mut c = self.store.reader().await?;
        let r = revisions::get(&mut c, revision)
            .await?
            .ok_or(PortalError::NotFound)?;
        let s = submissions::get(&mut c, &r.submission)
            .await?
            .ok_or(PortalError::NotFound)?;
        let all = attempts::of_submission(&mut c, &s.id).await?;
        let findings = attempts::findings(&mut c, &s.id).await?;
        let stored = revisions::outcomes(&mut c, revision).await?;
        drop(c);
        let mut outcomes: BTreeMap<AttemptId, String> = stored
            .iter()
            .map(|o| (o.attempt.clone(), o.outcome.clone()))
            .collect();
        let metadata = s
            .metadata
            .clone()
            .ok_or_else(|| PortalError::internal("a scored submission without metadata"))?;
        let (hits_new, hits_gone) = self
            .guard_changes((job, context), &r, &all, &findings)
            .await?;
        let set_aside: Vec<&AttemptId> = all
            .iter()
            .map(|a| &a.id)
            .filter(|id| is_set_aside(&findings, id) || is_quarantined(&hits_new, id))
            .collect();

        let mut diagnosis: BTreeMap<AttemptId, DiagnosisScores> = BTreeMap::new();
        let mut invalid: BTreeMap<AttemptId, String> = BTreeMap::new();
        if metadata.track == Track::Diagnosis {
            for o in &stored {
                // Carried over from the live revision.
                diagnosis.insert(o.attempt.clone(), o.result()?);
            }
            for a in all.iter().filter(|a| !set_aside.contains(&&a.id)) {
                if diagnosis.contains_key(&a.id) {
                    continue;
                }
                match self.score_diagnosis(a).await? {
                    Ok(scores) => {
                        context.say(format!(
                            "{} {}: block coverage {:.1} %",
                            a.case,
                            a.run,
                            scores.block_coverage * 100.0
                        ));
                        outcomes.insert(a.id.clone(), "scored".to_owned());
                        diagnosis.insert(a.id.clone(), scores);
                    }
                    Err(problem) => {
                        invalid.insert(a.id.clone(), problem);
                    }
                }
            }
        }

        let candidates: Vec<Candidate> = all
            .iter()
            .map(|a| self.candidate(a, &set_aside, &outcomes, &invalid))
            .collect();
        let conditions: Vec<Condition> = Condition::ALL
            .into_iter()
            .filter(|c| all.iter().any(|a| a.condition == Some(*c)))
            .collect();
        let plan = Plan {
            track: metadata.track,
            cohort: self
                .subset_cases(&metadata.release, &metadata.subset)?
                .into_iter()
                .collect(),
            conditions,
            slots: metadata.attempts_wanted().max(1),
            scorer_version: r.scorer_version.clone(),
        };
        let manifest = select(&plan, &candidates);
        let mut scores = collect(
            &manifest,
            &all,
            &outcomes,
            &diagnosis,
            u32::try_from(set_aside.len()).unwrap_or(u32::MAX),
        );
        scores.row = self.own_row(&s, revision, &scores)?;
        let cases = self.track_cases(metadata.track, &metadata.release, &metadata.subset)?;
        let ids: Vec<CaseId> = cases.iter().map(|c| c.id.clone()).collect();
        let (track, own) = (metadata.track, scores.clone());
        let own = statistics::blocking(move || {
            statistics::row::compute(track, &own, &cases.iter().collect::<Vec<_>>())
        })
        .await?;
        let mut changes = self
            .changes_against_base(&r, &outcomes, &diagnosis, &set_aside)
            .await?;
        (changes.hits_new, changes.hits_gone) = (hits_new, hits_gone);
        context.say(format!(
            "{} attempts selected, {} passed over, {} unused",
            manifest.chosen.len(),
            manifest.skipped.len(),
            manifest.unused.len()
        ));

        let mut tx = self.store.begin().await?;
        let now = self.now();
        for (attempt, result) in &diagnosis {
            revisions::insert_outcome(&mut tx, revision, attempt, "scored", result, now).await?;
        }
        if !revisions::complete(&mut tx, revision, &scores, &manifest, &changes, now).await? {
            // Discarded meanwhile: nobody wants it any more.
            drop(tx);
            return self.just_finish(job).await;
        }
        let key = statistics::row_key(revision, &ids);
        stored::put(&mut tx, stored::Kind::Row, &key, &own, now).await?;
        if s.live_revision.is_none()
            && revisions::transition(&mut tx, revision, RevisionState::Ready, RevisionState::Live)
                .await?
        {
            // A first scoring replaces nothing; what comes after it must be applied.
            submissions::set_live_revision(&mut tx, &s.id, revision).await?;
        }
        let actor = Actor::System;
        submissions::transition(
            &mut tx,
            &s.id,
            SubmissionState::Queued,
            SubmissionState::Scoring,
            &actor,
            "",
            now,
        )
        .await?;
        let note = format!(
            "revision {} is complete: {} attempts selected",
            r.number,
            manifest.chosen.len()
        );
        if !submissions::transition(
            &mut tx,
            &s.id,
            SubmissionState::Scoring,
            SubmissionState::Scored,
            &actor,
            &note,
            now,
        )
        .await?
        {
            submissions::event(&mut tx, &s.id, &actor, None, &note, now).await?;
        }
        if jobs::finish(&mut tx, job.id, &job.token, now).await? {
            tx.commit().await?;
            self.tell(Change::Submission(s.id));
        }
        Ok(())
    }

    pub(crate) fn own_row(
        &self,
        s: &Submission,
        revision: &RevisionId,
        scores: &RevisionScores,
    ) -> Result<Option<BoardRow>> {
        let Some(m) = &s.metadata else {
            return Ok(None);
        };
        let cohort = self
            .subset_cases(&m.release, &m.subset)?
            .into_iter()
            .map(|id| Ok((id.clone(), self.case_of(&id)?.system.clone())))
            .collect::<Result<BTreeMap<_, _>>>()?;
        Ok(crate::rows::scored(s, revision, scores, &cohort).map(|r| r.row))
    }

    /// Scores a diagnosis against the labels; the inner error is a diagnosis
    /// that can't be read.
    async fn score_diagnosis(
        &self,
        a: &Attempt,
    ) -> Result<std::result::Result<DiagnosisScores, String>> {
        let Some(file) = &a.diagnosis else {
            return Ok(Err("there is no diagnosis".to_owned()));
        };
        let bytes = self.blobs.get(&file.digest, DIAGNOSIS_MOST).await?;
        let labels = PreparedBlocks::new(self.labels(&a.case)?);
        Ok(match Diagnosis::parse(&bytes) {
            Ok(d) => Ok(compare(
                &labels,
                &d.buggy_blocks,
                Some(&String::from_utf8_lossy(&bytes)),
            )
            .scores()),
            Err(e) => Err(e.to_string()),
        })
    }

    fn candidate(
        &self,
        a: &Attempt,
        set_aside: &[&AttemptId],
        outcomes: &BTreeMap<AttemptId, String>,
        invalid: &BTreeMap<AttemptId, String>,
    ) -> Candidate {
        let obstacle = if set_aside.contains(&&a.id) {
            Some(SkipReason::SetAside {
                note: "a leakage guard's hit".to_owned(),
            })
        } else if let Some(problem) = invalid.get(&a.id) {
            Some(SkipReason::Invalid {
                problem: problem.clone(),
            })
        } else {
            match outcomes.get(&a.id).map(String::as_str) {
                None => Some(SkipReason::NotScored),
                Some(o) if Outcome::parse(o) == Some(Outcome::InfraError) => {
                    Some(SkipReason::InfraError)
                }
                Some(_) => None,
            }
        };
        Candidate {
            attempt: a.id.clone(),
            case: a.case.clone(),
            condition: a.condition,
            run: a.run,
            source: a
                .patch
                .as_ref()
                .or(a.diagnosis.as_ref())
                .map(|f| f.digest.clone()),
            obstacle,
        }
    }
}

/// Whether a hit that nobody has decided about sets the attempt aside.
pub(crate) fn is_quarantined(hits: &[(AttemptId, Finding)], attempt: &AttemptId) -> bool {
    hits.iter()
        .any(|(a, f)| a == attempt && f.severity == GuardSeverity::Quarantine)
}

/// The selected attempts with their results and what they spent.
fn collect(
    manifest: &Manifest,
    all: &[Attempt],
    outcomes: &BTreeMap<AttemptId, String>,
    diagnosis: &BTreeMap<AttemptId, DiagnosisScores>,
    set_aside: u32,
) -> RevisionScores {
    let mut scores = RevisionScores {
        set_aside,
        ..RevisionScores::default()
    };
    for entry in &manifest.chosen {
        let usage = all
            .iter()
            .find(|a| a.id == entry.attempt)
            .and_then(|a| a.summary.as_ref())
            .map(Usage::from)
            .unwrap_or_default();
        if let Some(result) = diagnosis.get(&entry.attempt) {
            scores.diagnosis.push(DiagnosisAttempt {
                attempt: entry.attempt.clone(),
                case: entry.case.clone(),
                scores: *result,
                usage,
            });
        } else if let (Some(condition), Some(outcome)) = (
            entry.condition,
            outcomes.get(&entry.attempt).and_then(|o| Outcome::parse(o)),
        ) {
            scores.repair.push(RepairAttempt {
                attempt: entry.attempt.clone(),
                case: entry.case.clone(),
                condition,
                outcome,
                usage,
            });
        }
    }
    scores
}
