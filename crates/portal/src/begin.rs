//! Score revisions begun: which attempts get a job, and which verdicts are
//! carried over. It never looks at what a verdict says.

use std::collections::BTreeSet;

use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::{Actor, AttemptId, Condition, ReevaluationId, RevisionId, Scope, Track};
use faultboard_store::jobs::NewJob;
use faultboard_store::revisions::{self, NewRevision};
use faultboard_store::submissions::Submission;
use faultboard_store::{Tx, jobs};

use crate::finish::{finish_job, scorer_version};
use crate::{Portal, PortalError, Result, random};

/// What a new revision is made of.
pub(crate) struct Rerun<'a> {
    /// Why it is made.
    pub reason: &'a str,
    /// Whether cached verdicts are not reused.
    pub fresh: bool,
    /// The re-evaluation that it belongs to, and what that covers; none for a
    /// submission's first scoring.
    pub reevaluation: Option<(&'a ReevaluationId, &'a Scope)>,
}

/// A submission's first scoring.
pub(crate) const FIRST_SCORING: Rerun<'static> = Rerun {
    reason: "first scoring",
    fresh: false,
    reevaluation: None,
};

impl Portal {
    /// Begins a revision with one job per repair attempt that counts; other
    /// tracks are scored while they are aggregated. What a re-evaluation does not
    /// cover is carried over from the live revision, if the same scorer made it:
    /// a revision is of one scorer.
    pub(crate) async fn begin_revision(
        &self,
        tx: &mut Tx,
        s: &Submission,
        rerun: &Rerun<'_>,
        actor: &Actor,
    ) -> Result<RevisionId> {
        let track = s.metadata.as_ref().map_or(Track::Repair, |m| m.track);
        let id = RevisionId::parse(&random::id_text('r')).map_err(PortalError::internal)?;
        let now = self.now();
        revisions::begin(
            tx,
            &NewRevision {
                id: &id,
                submission: &s.id,
                reason: rerun.reason,
                fresh: rerun.fresh,
                scorer_version: &scorer_version(track),
                created_by: &actor.label(),
                base: s.live_revision.as_ref(),
                reevaluation: rerun.reevaluation.map(|(id, _)| id),
            },
            now,
        )
        .await?;
        if let (Some(live), Some((_, scope))) = (&s.live_revision, rerun.reevaluation)
            && revisions::get(tx, live)
                .await?
                .is_some_and(|r| r.scorer_version == scorer_version(track))
        {
            revisions::carry_over(tx, live, &id, scope).await?;
        }
        let carried: BTreeSet<AttemptId> = revisions::outcomes(tx, &id)
            .await?
            .into_iter()
            .map(|o| o.attempt)
            .collect();
        let mut wanted = self.attempts_to_score(tx, s).await?;
        wanted.retain(|a| !carried.contains(&a.id));
        if track == Track::Diagnosis || wanted.is_empty() {
            jobs::insert(tx, &finish_job(&id, s), now).await?;
            return Ok(id);
        }
        for a in &wanted {
            let case = self.case_of(&a.case)?;
            let condition = a.condition.map_or("", Condition::title);
            let job = NewJob {
                kind: JobKind::ScoreAttempt,
                priority: Priority::Bulk,
                subject: format!("{} {condition} {}", a.case, a.run),
                submission: Some(s.id.clone()),
                revision: Some(id.clone()),
                attempt: Some(a.id.clone()),
                exclusive_key: (!case.oracle.parallel_safe).then(|| format!("case:{}", a.case)),
                unique_key: Some(format!("score:{id}:{}", a.id)),
                max_tries: 3,
            };
            jobs::insert(tx, &job, now).await?;
        }
        Ok(id)
    }
}
