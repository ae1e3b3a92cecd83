//! Scoring one repair attempt: the oracle protocol on the container runtime,
//! or the verdict of an equal attempt out of the cache. The outcome is written
//! only while the lease is still this worker's.

use bytes::Bytes;
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::{Actor, Outcome, SubmissionState};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_store::jobs::Claimed;
use faultboard_store::revisions::{self, RevisionState};
use faultboard_store::{attempts, jobs, submissions};

use crate::machine::failure;
use crate::{Change, Portal, PortalError, Result};

/// The most bytes of a patch that are read.
const PATCH_MOST: u64 = faultboard_domain::patch::MAX_BYTES as u64;

impl Portal {
    pub(crate) async fn run_score_attempt(
        &self,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        let missing = || failure(PortalError::internal("a scoring job without its attempt"));
        let (attempt_id, revision_id) = (
            job.attempt.as_ref().ok_or_else(missing)?,
            job.revision.as_ref().ok_or_else(missing)?,
        );
        let prepared = async {
            let mut tx = self.store.begin().await?;
            let a = attempts::get(&mut tx, attempt_id)
                .await?
                .ok_or(PortalError::NotFound)?;
            let r = revisions::get(&mut tx, revision_id)
                .await?
                .ok_or(PortalError::NotFound)?;
            submissions::transition(
                &mut tx,
                &r.submission,
                SubmissionState::Queued,
                SubmissionState::Scoring,
                &Actor::System,
                "",
                self.now(),
            )
            .await?;
            tx.commit().await?;
            self.tell(Change::Submission(r.submission.clone()));
            let patch = match &a.patch {
                Some(p) => self.blobs.get(&p.digest, PATCH_MOST).await?,
                None => Bytes::new(),
            };
            Ok::<_, PortalError>((a, r, patch))
        };
        let (attempt, revision, patch) = prepared.await.map_err(failure)?;
        if revision.state != RevisionState::Building {
            return self.just_finish(job).await.map_err(failure);
        }
        let result = self
            .judge(job, &attempt.case, &patch, revision.fresh, &context)
            .await?;
        context.say(format!("{}: {}", result.outcome, result.reason));
        if result.outcome == Outcome::InfraError {
            return Err(JobFailure::Infrastructure {
                reason: result.reason,
                case: Some(attempt.case),
            });
        }
        self.record(job, &attempt.id, &revision, &result)
            .await
            .map_err(failure)
    }

    /// Writes the outcome, ends the job, and asks for the completion of the
    /// revision if this was its last one; all or nothing.
    async fn record(
        &self,
        job: &Claimed,
        attempt: &faultboard_domain::AttemptId,
        revision: &revisions::Revision,
        result: &RepairResult,
    ) -> Result<()> {
        let mut tx = self.store.begin().await?;
        let now = self.now();
        revisions::insert_outcome(
            &mut tx,
            &revision.id,
            attempt,
            result.outcome.as_str(),
            result,
            now,
        )
        .await?;
        if is_lasting(result.outcome) {
            revisions::cache(&mut tx, &result.cache_key, result, now).await?;
        }
        if !jobs::finish(&mut tx, job.id, &job.token, now).await? {
            // The lease has passed on; so has the right to write.
            return Ok(());
        }
        self.enqueue_finish_if_complete(&mut tx, revision).await?;
        tx.commit().await?;
        self.wake();
        Ok(())
    }
}

/// Whether the same attempt would end so again: an oracle that ran out of time
/// or said nothing may do better on a quieter machine.
const fn is_lasting(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Pass
            | Outcome::Fail
            | Outcome::NoEdit
            | Outcome::ApplyFailed
            | Outcome::BuildFailed
    )
}
