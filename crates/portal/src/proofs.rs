//! Proofs of cases: made here, kept for the case pages, and told in full to
//! those who keep the cases. What is kept for pages are numbers and digests;
//! what an oracle said of other fixes goes to whoever made the proof alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use faultboard_domain::view::{ProofStatus, ProofView};
use faultboard_domain::{CaseId, Digest};
use faultboard_jobs::CancellationToken;
use faultboard_oracle::{CaseProof, ProofRequest};
use faultboard_sandbox::Labels;
use faultboard_store::boards;
use serde::{Deserialize, Serialize};

use crate::verify::{own_labels, progress};
use crate::{Change, Portal, PortalError, Result};

/// How often things are run for a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProofTimes {
    /// The faulty tree and the reference fix, each.
    pub directions: u32,
    /// Each variant; 0 leaves them out.
    pub variants: u32,
}

/// A proof as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredProof {
    /// What everybody may see.
    #[serde(flatten)]
    pub view: ProofView,
    /// What is wrong in words, for those who keep the cases.
    #[serde(default)]
    pub problem_texts: Vec<String>,
    /// Digest of everything that it is a proof of, but for time.
    #[serde(default)]
    pub subject: String,
}

/// A proof that was made just now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MadeProof {
    /// What pages show.
    pub view: ProofView,
    /// Everything, with what an oracle said of each fix.
    pub proof: CaseProof,
}

impl Portal {
    /// The newest proof of every case. One that can't be read counts as none: it
    /// is made again, and keeps no page from being shown.
    pub(crate) async fn stored_proofs(&self) -> Result<BTreeMap<CaseId, StoredProof>> {
        let rows: Vec<(CaseId, serde_json::Value)> =
            boards::proofs(&mut *self.store.reader().await?).await?;
        let read = rows.into_iter().filter_map(|(id, body)| {
            serde_json::from_value(body)
                .inspect_err(
                    |e| tracing::warn!(case = %id, error = %e, "a stored proof can't be read"),
                )
                .ok()
                .map(|proof| (id, proof))
        });
        Ok(read.collect())
    }

    /// Proves a case on this machine, keeps the proof for its page unless the
    /// platform failed, and returns it with everything that was seen.
    pub async fn case_verify(
        &self,
        id: &CaseId,
        times: ProofTimes,
        say: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<MadeProof> {
        let labels = own_labels("case-verify");
        self.prove(id, times, labels, CancellationToken::new(), say)
            .await?
            .ok_or_else(|| PortalError::Conflict("The proof was cancelled.".to_owned()))
    }

    /// The same for a job; nothing when it was cancelled.
    pub(crate) async fn prove(
        &self,
        id: &CaseId,
        times: ProofTimes,
        labels: Labels,
        cancel: CancellationToken,
        say: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Option<MadeProof>> {
        let case = self.oracle_case(id)?;
        let began = self.now();
        let mut request = ProofRequest::of(self.entry(id)?, times.directions.max(1), labels);
        request.variant_times = times.variants;
        request.cancel = cancel;
        request.progress = Some(progress(say));
        let proof = match self.oracle.verify_case(&case, &request).await {
            Ok(proof) => proof,
            Err(faultboard_oracle::OracleError::Cancelled) => return Ok(None),
            Err(e) => return Err(PortalError::internal(e)),
        };
        let now = self.now();
        let view = view_of(&proof, self.runtime.name(), now, now.since_ms(began));
        if proof.status != ProofStatus::InfraError {
            let stored = StoredProof {
                view: view.clone(),
                problem_texts: proof.problems.clone(),
                subject: self.proof_subject(id)?,
            };
            let mut tx = self.store.begin().await?;
            boards::insert_proof(&mut tx, id, &stored, now).await?;
            tx.commit().await?;
            self.tell(Change::Queue);
        }
        Ok(Some(MadeProof { view, proof }))
    }

    /// What a proof of this case is a proof of: case, oracle, solution, rules.
    /// Images may move; that is what the age of a proof is for.
    pub(crate) fn proof_subject(&self, id: &CaseId) -> Result<String> {
        let e = self.entry(id)?;
        let text = format!(
            "{} {} {} {}",
            e.digests.content,
            e.digests.oracle,
            e.solution.digest,
            faultboard_oracle::PROTOCOL_VERSION
        );
        Ok(Digest::of(text.as_bytes()).to_string())
    }
}

fn view_of(
    proof: &CaseProof,
    runtime: &str,
    now: faultboard_domain::Timestamp,
    ms: i64,
) -> ProofView {
    let counts = |run: &Option<faultboard_oracle::ProofRun>| {
        run.as_ref()
            .map_or((0, proof.times), |r| (r.agreed, r.runs))
    };
    let (reference_passed, reference_runs) = counts(&proof.solved);
    let (faulty_failed, faulty_runs) = counts(&proof.faulty);
    let (alternatives_passed, alternatives) = proof.told_right(true);
    let (wrong_caught, wrong) = proof.told_right(false);
    ProofView {
        reference_passed,
        reference_runs,
        faulty_failed,
        faulty_runs,
        image_digest: proof.image_digests.first().cloned().unwrap_or_default(),
        verified: now,
        runtime: runtime.to_owned(),
        status: Some(proof.status),
        soundness: proof.soundness,
        alternatives_passed,
        alternatives,
        wrong_caught,
        wrong,
        problems: u32::try_from(proof.problems.len()).unwrap_or(u32::MAX),
        hygiene: proof.hygiene.as_ref().map(|h| h.counts.clone()),
        timings: proof.timings.clone(),
        total_ms: u64::try_from(ms).unwrap_or(0),
        image_digests: proof.image_digests.clone(),
        scorer_version: proof.scorer_version.clone(),
        case_digest: proof.case_digest.clone(),
    }
}
