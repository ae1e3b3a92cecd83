//! Cases as the public sees them. What a page shows comes from the case's own
//! folder, the cache of boards and the proofs; never from its solution.

use std::collections::BTreeMap;

use faultboard_domain::view::{
    CaseLine, CaseOutcomes, CaseView, CasesView, EvidenceView, ProofView,
};
use faultboard_domain::{Actor, CaseId, Condition, Outcome};
use faultboard_store::boards;

use crate::board::CaseBoard;
use crate::{Portal, PortalError, Result, markdown};

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0_u32), |(s, n), v| (s + v, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

fn pass_rate(rows: &[CaseOutcomes], condition: Condition) -> Option<f64> {
    mean(rows.iter().filter_map(|r| {
        mean(
            r.attempts
                .iter()
                .filter(|a| a.condition == Some(condition))
                .filter_map(|a| a.outcome.and_then(Outcome::passed))
                .map(|p| if p { 1.0 } else { 0.0 }),
        )
    }))
}

impl Portal {
    async fn proofs(&self) -> Result<BTreeMap<CaseId, ProofView>> {
        let stored = self.stored_proofs().await?;
        Ok(stored.into_iter().map(|(id, s)| (id, s.view)).collect())
    }

    /// Every case.
    pub async fn cases(&self, _actor: &Actor) -> Result<CasesView> {
        let proofs = self.proofs().await?;
        let mut cases = Vec::new();
        let mut c = self.store.reader().await?;
        for e in self.catalog.cases() {
            // All of them at once are too many to hold.
            let board: CaseBoard = boards::case_board(&mut c, &e.case.id)
                .await?
                .unwrap_or_default();
            cases.push(CaseLine {
                case: e.case.clone(),
                proof: proofs.get(&e.case.id).cloned(),
                configurations: u32::try_from(board.repair.len() + board.diagnosis.len())
                    .unwrap_or(u32::MAX),
                symptom: pass_rate(&board.repair, Condition::SymptomOnly),
                context: pass_rate(&board.repair, Condition::ContextAugmented),
                coverage: mean(
                    board
                        .diagnosis
                        .iter()
                        .filter_map(|r| mean(r.attempts.iter().filter_map(|a| a.coverage))),
                ),
            });
        }
        Ok(CasesView {
            release: self.newest_release(),
            cases,
        })
    }

    /// One case.
    pub async fn case(&self, _actor: &Actor, id: &CaseId) -> Result<CaseView> {
        let e = self.catalog.case(id).ok_or(PortalError::NotFound)?;
        let board = self
            .stored_case_board(&mut *self.store.reader().await?, id)
            .await?;
        let ids: Vec<&CaseId> = self.catalog.cases().map(|e| &e.case.id).collect();
        let proof = self.proofs().await?.remove(id);
        let at = ids.iter().position(|other| *other == id).unwrap_or(0);
        Ok(CaseView {
            case: e.case.clone(),
            releases: self.releases_of(id),
            symptom_html: markdown::html(&e.texts.symptom),
            reproduce_html: markdown::html(&e.texts.reproduce),
            verification_html: markdown::html(&e.texts.verification),
            evidence: e
                .texts
                .evidence
                .iter()
                .map(|f| EvidenceView {
                    name: f.name.clone(),
                    html: markdown::html(&f.text),
                    tokens: u32::try_from(f.tokens).unwrap_or(u32::MAX),
                })
                .collect(),
            proof_outdated: proof.as_ref().is_some_and(|p| {
                !p.case_digest.is_empty() && p.case_digest != e.digests.content.to_string()
            }),
            proof,
            repair: board.repair.clone(),
            diagnosis: board.diagnosis.clone(),
            neighbours: (
                at.checked_sub(1)
                    .and_then(|i| ids.get(i))
                    .map(|i| (*i).clone()),
                ids.get(at + 1).map(|i| (*i).clone()),
            ),
        })
    }
}
