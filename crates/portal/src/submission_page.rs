//! A submission's page and its live progress: what its reader may see of it.

use std::collections::BTreeMap;

use faultboard_domain::finding::Disposition;
use faultboard_domain::job::{JobKind, JobState};
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::score::DiagnosisScores;
use faultboard_domain::view::{
    AttemptCell, AttemptStatus, FindingView, RevisionView, SubmissionLive, SubmissionView,
};
use faultboard_domain::{Actor, AttemptId, SubmissionId, Timestamp};
use faultboard_scoring::selection::Manifest;
use faultboard_store::attempts::{Attempt, is_set_aside};
use faultboard_store::revisions::{self, Part, Revision, RevisionState, StoredOutcome};
use faultboard_store::submissions::Submission;
use faultboard_store::{Connection, attempts, jobs, submissions};

use crate::finish::{RevisionChanges, RevisionScores};
use crate::{Portal, Result};

/// Everything that a submission's cells are made of.
pub(crate) struct Progress {
    pub attempts: Vec<Attempt>,
    pub findings: Vec<FindingView>,
    pub revisions: Vec<Revision>,
    outcomes: BTreeMap<AttemptId, StoredOutcome>,
    chosen: Option<Vec<AttemptId>>,
    jobs: BTreeMap<AttemptId, JobState>,
}

impl Progress {
    /// The revision whose outcomes are shown: the live one, else the newest
    /// that was not discarded.
    pub(crate) fn shown<'a>(s: &Submission, all: &'a [Revision]) -> Option<&'a Revision> {
        all.iter()
            .find(|r| Some(&r.id) == s.live_revision.as_ref())
            .or_else(|| all.iter().find(|r| r.state != RevisionState::Discarded))
    }

    pub(crate) async fn load(c: &mut Connection, s: &Submission) -> Result<Self> {
        let all = revisions::of_submission(c, &s.id).await?;
        let shown = Self::shown(s, &all).map(|r| r.id.clone());
        let mut outcomes = BTreeMap::new();
        let mut chosen = None;
        if let Some(id) = &shown {
            outcomes = revisions::outcomes(c, id)
                .await?
                .into_iter()
                .map(|o| (o.attempt.clone(), o))
                .collect();
            let manifest: Option<Manifest> = revisions::part(c, id, Part::Selection).await?;
            chosen = manifest.map(|m| m.chosen.into_iter().map(|e| e.attempt).collect());
        }
        let jobs = jobs::unfinished_of(c, &s.id)
            .await?
            .into_iter()
            .filter(|j| j.kind == JobKind::ScoreAttempt)
            .filter_map(|j| Some((j.attempt?, j.state)))
            .collect();
        Ok(Self {
            attempts: attempts::of_submission(c, &s.id).await?,
            findings: attempts::findings(c, &s.id).await?,
            revisions: all,
            outcomes,
            chosen,
            jobs,
        })
    }

    /// One attempt's cell; reasons and hits as far as the reader may see them.
    pub(crate) fn cell(&self, a: &Attempt, insider: bool) -> Result<AttemptCell> {
        let hits = self
            .findings
            .iter()
            .filter(|f| f.attempt == a.id && f.disposition != Disposition::Cleared)
            .count();
        let aside = is_set_aside(&self.findings, &a.id);
        let stored = self.outcomes.get(&a.id);
        let status = match (aside, stored, self.jobs.get(&a.id)) {
            (true, ..) => AttemptStatus::Quarantined,
            (_, Some(_), _) => AttemptStatus::Done,
            (_, None, Some(JobState::Running)) => AttemptStatus::Running,
            (_, None, Some(JobState::Parked)) => AttemptStatus::Parked,
            (_, None, Some(_)) => AttemptStatus::Queued,
            (_, None, None) => AttemptStatus::Waiting,
        };
        let mut cell = AttemptCell {
            id: a.id.clone(),
            case: a.case.clone(),
            condition: a.condition,
            run: a.run,
            status,
            outcome: None,
            reason: String::new(),
            flags: Vec::new(),
            scores: None,
            hits: if insider {
                u32::try_from(hits).unwrap_or(u32::MAX)
            } else {
                0
            },
            steps: a.summary.as_ref().map(|t| t.steps),
            selected: self.chosen.as_ref().map(|c| c.contains(&a.id)),
        };
        if let Some(o) = stored.filter(|_| !aside) {
            if a.condition.is_some() {
                let result: RepairResult = o.result()?;
                cell.outcome = Some(result.outcome);
                cell.reason = result.reason;
                cell.flags = result.flags;
            } else {
                cell.scores = Some(o.result::<DiagnosisScores>()?);
            }
        } else if aside {
            cell.reason = "set aside by a leakage guard".to_owned();
        } else if status == AttemptStatus::Parked {
            cell.reason = "the platform failed three times; an operator has been told, and it does not count against the submission".to_owned();
        }
        Ok(cell)
    }

    fn live(
        &self,
        s: &Submission,
        insider: bool,
        events: usize,
        now: Timestamp,
    ) -> Result<SubmissionLive> {
        let cells = self
            .attempts
            .iter()
            .map(|a| self.cell(a, insider))
            .collect::<Result<Vec<_>>>()?;
        let settled =
            |c: &&AttemptCell| matches!(c.status, AttemptStatus::Done | AttemptStatus::Quarantined);
        let done = cells.iter().filter(settled).count();
        let begun = Self::shown(s, &self.revisions).map(|r| r.created);
        let scored = self.outcomes.len();
        let left = cells
            .iter()
            .filter(|c| matches!(c.status, AttemptStatus::Queued | AttemptStatus::Running))
            .count();
        let eta_s = begun.filter(|_| scored > 0 && left > 0).map(|b| {
            let spent = u64::try_from(now.since_ms(b).max(0)).unwrap_or(0);
            spent * left as u64 / scored as u64 / 1000
        });
        Ok(SubmissionLive {
            state: s.state,
            meaning: s.state.meaning().to_owned(),
            done: u32::try_from(done).unwrap_or(u32::MAX),
            total: u32::try_from(cells.len()).unwrap_or(u32::MAX),
            eta_s,
            attempts: cells,
            events: u32::try_from(events).unwrap_or(u32::MAX),
        })
    }
}

impl Portal {
    /// A submission's page.
    pub async fn submission(&self, actor: &Actor, id: &SubmissionId) -> Result<SubmissionView> {
        let s = self.readable(actor, id).await?;
        let insider = self.is_insider(actor, &s);
        let mut c = self.store.reader().await?;
        let progress = Progress::load(&mut c, &s).await?;
        let mut events = submissions::events(&mut c, id).await?;
        if !insider {
            for e in &mut events {
                // Notes of a review are between the reviewers and the owner.
                e.note.clear();
            }
        }
        let live = progress.live(&s, insider, events.len(), self.now())?;
        let shown = Progress::shown(&s, &progress.revisions).map(|r| r.id.clone());
        let mut row = None;
        if let Some(revision) = shown {
            let scores: Option<RevisionScores> =
                revisions::part(&mut c, &revision, Part::Scores).await?;
            row = scores.and_then(|s| s.row);
            if s.state == faultboard_domain::SubmissionState::Published
                && let Some(ranked) = self.board_row(&mut c, &s).await?
            {
                row = Some(ranked);
            }
            if let (Some(row), Some(m)) = (&mut row, &s.metadata) {
                let cases = self.track_cases(m.track, &m.release, &m.subset)?;
                let ids: Vec<_> = cases.into_iter().map(|c| c.id).collect();
                row.statistics = self
                    .row_statistics(&mut c, &revision, &ids)
                    .await?
                    .map(Box::new);
            }
        }
        let mut views = Vec::new();
        for r in &progress.revisions {
            let changes: RevisionChanges = revisions::part(&mut c, &r.id, Part::Changes)
                .await?
                .unwrap_or_default();
            views.push(RevisionView {
                id: r.id.clone(),
                number: r.number,
                state: r.state.as_str().to_owned(),
                created: r.created,
                reason: r.reason.clone(),
                scorer_version: r.scorer_version.clone(),
                changes: changes.changes,
                unchanged: changes.unchanged,
                reevaluation: r.reevaluation.clone().filter(|_| actor.is_admin()),
            });
        }
        let mut metadata = s.metadata.clone();
        if !insider && let Some(m) = &mut metadata {
            m.submitter.contact.clear();
        }
        Ok(SubmissionView {
            id: s.id.clone(),
            state: s.state,
            metadata,
            file_name: s.file_name.clone(),
            size: s.size,
            sha256: Some(s.sha256.to_string()),
            report: s.report.clone().filter(|_| insider),
            events,
            live,
            row,
            revisions: views,
            findings: if insider {
                progress.findings
            } else {
                Vec::new()
            },
            is_owner: crate::downloads::owns(actor, &s),
            is_maintainer: actor.is_maintainer(),
            trace_bytes: s.trace_bytes,
        })
    }

    /// A submission's progress alone.
    pub async fn submission_live(
        &self,
        actor: &Actor,
        id: &SubmissionId,
    ) -> Result<SubmissionLive> {
        let s = self.readable(actor, id).await?;
        let mut c = self.store.reader().await?;
        let events = submissions::events(&mut c, id).await?.len();
        Progress::load(&mut c, &s)
            .await?
            .live(&s, self.is_insider(actor, &s), events, self.now())
    }
}
