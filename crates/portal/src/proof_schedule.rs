//! Proofs that are made again by themselves: when one is older than the setting
//! says, or its case has changed. One at a time, after everything else; a proof
//! that was never made on this site is not begun here.

use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::view::FailedProof;
use faultboard_domain::{Actor, CaseId};
use faultboard_jobs::{JobContext, JobFailure, LogLine};
use faultboard_store::Tx;
use faultboard_store::jobs::{self, Claimed, NewJob};
use std::sync::Arc;

use crate::machine::failure;
use crate::proofs::{ProofTimes, StoredProof};
use crate::{Change, Portal, PortalError, Result, admin};

/// What a proof is made of when nobody says otherwise.
const TIMES: ProofTimes = ProofTimes {
    directions: 10,
    variants: 1,
};
const UNIQUE: &str = "prove:";
const DAY_MS: i64 = 86_400_000;

impl Portal {
    /// Enqueues the proof that is due the longest, unless other work waits.
    pub(crate) async fn enqueue_due_proof(&self) -> Result<bool> {
        if self.settings.proof_days == 0 {
            return Ok(false);
        }
        let Some(case) = self.due_proof().await? else {
            return Ok(false);
        };
        let mut tx = self.store.begin().await?;
        if jobs::unfinished(&mut tx).await? > 0 {
            return Ok(false);
        }
        let added = self
            .enqueue_proof(&mut tx, &case, Priority::Background)
            .await?;
        tx.commit().await?;
        Ok(added)
    }

    /// The case whose proof is due the longest.
    async fn due_proof(&self) -> Result<Option<CaseId>> {
        let now = self.now();
        let age = i64::from(self.settings.proof_days) * DAY_MS;
        let mut due = Vec::new();
        for (id, stored) in self.stored_proofs().await? {
            // A case that is gone needs no proof.
            let Ok(subject) = self.proof_subject(&id) else {
                continue;
            };
            let old = now.since_ms(stored.view.verified) >= age;
            if old || stored.subject != subject {
                due.push((stored.view.verified, id));
            }
        }
        Ok(due.into_iter().min().map(|(_, id)| id))
    }

    async fn enqueue_proof(&self, tx: &mut Tx, case: &CaseId, priority: Priority) -> Result<bool> {
        let job = NewJob {
            kind: JobKind::ProveCase,
            priority,
            subject: format!("proof of {case}"),
            submission: None,
            revision: None,
            attempt: None,
            exclusive_key: Some(format!("case:{case}")),
            unique_key: Some(format!("{UNIQUE}{case}")),
            max_tries: 3,
        };
        Ok(jobs::insert(tx, &job, self.now()).await?)
    }

    /// Asks for a proof of the case now.
    pub async fn prove_now(&self, actor: &Actor, case: &CaseId) -> Result<()> {
        admin(actor)?;
        self.entry(case)?;
        let mut tx = self.store.begin().await?;
        let added = self.enqueue_proof(&mut tx, case, Priority::Bulk).await?;
        tx.commit().await?;
        if !added {
            return Err(PortalError::Conflict(
                "A proof of this case is under way already.".to_owned(),
            ));
        }
        self.wake();
        self.tell(Change::Queue);
        Ok(())
    }

    /// The job: proves one case.
    pub(crate) async fn run_prove_case(
        &self,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        let case = job
            .unique_key
            .as_deref()
            .and_then(|k| k.strip_prefix(UNIQUE))
            .and_then(|id| CaseId::parse(id).ok())
            .ok_or_else(|| failure(PortalError::internal("a job for a proof without its case")))?;
        let labels = self.labels_of(job);
        let log = context.log.clone();
        let say = Arc::new(move |text: &str| {
            // After the job nobody reads its log.
            let _ = log.send(LogLine(text.to_owned()));
        });
        let made = match self
            .prove(&case, TIMES, labels, context.cancel.clone(), say)
            .await
        {
            Ok(Some(made)) => made,
            Ok(None) => return Err(JobFailure::Cancelled),
            // A case that was taken out meanwhile needs no proof.
            Err(PortalError::NotFound) => return self.end_proof(job).await.map_err(failure),
            Err(e) => return Err(failure(e)),
        };
        if made.proof.status == faultboard_domain::view::ProofStatus::InfraError {
            return Err(JobFailure::Infrastructure {
                reason: made.proof.problems.join("; "),
                case: Some(case),
            });
        }
        for problem in &made.proof.problems {
            context.say(problem.clone());
        }
        context.say(made.view.sentence());
        if !made.view.holds() {
            tracing::error!(case = %case, problems = made.proof.problems.len(), "the proof of a case no longer holds");
        }
        self.end_proof(job).await.map_err(failure)
    }

    async fn end_proof(&self, job: &Claimed) -> Result<()> {
        let mut tx = self.store.begin().await?;
        if jobs::finish(&mut tx, job.id, &job.token, self.now()).await? {
            tx.commit().await?;
        }
        Ok(())
    }

    /// Proofs that do not hold, for those who keep the cases.
    pub(crate) async fn failed_proofs(&self) -> Result<Vec<FailedProof>> {
        let stored = self.stored_proofs().await?;
        let failed = stored
            .into_iter()
            .filter(|(id, s)| !s.view.holds() && self.catalog.case(id).is_some());
        Ok(failed.map(|(case, s)| told(case, s)).collect())
    }
}

fn told(case: CaseId, stored: StoredProof) -> FailedProof {
    FailedProof {
        case,
        verified: stored.view.verified,
        sentence: stored.view.sentence(),
        wrong: stored.problem_texts,
    }
}
