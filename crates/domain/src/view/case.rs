//! Cases as the public sees them: never the solution.

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::condition::Condition;
use crate::ids::{AttemptId, CaseId, ReleaseId, SubmissionId};
use crate::outcome::Outcome;
use crate::view::ProofView;

/// One line of the list of cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseLine {
    /// The case.
    pub case: Case,
    /// The newest proof, if one was made on this site.
    pub proof: Option<ProofView>,
    /// Published configurations that have an outcome here.
    pub configurations: u32,
    /// Mean of their pass rates symptom only (repair).
    pub symptom: Option<f64>,
    /// Mean of their pass rates with context.
    pub context: Option<f64>,
    /// Mean of their block coverages (diagnosis).
    pub coverage: Option<f64>,
}

/// The list of cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CasesView {
    /// The newest release.
    pub release: Option<ReleaseId>,
    /// The cases, sorted by id.
    pub cases: Vec<CaseLine>,
}

/// One piece of the default debug-context bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceView {
    /// File name.
    pub name: String,
    /// Rendered, safe HTML.
    pub html: String,
    /// Tokens (1.3 x words).
    pub tokens: u32,
}

/// One configuration's outcomes on a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcomes {
    /// The submission.
    pub submission: SubmissionId,
    /// Configuration in words.
    pub configuration: String,
    /// Its scored attempts.
    pub attempts: Vec<CaseAttempt>,
}

/// One attempt on a case page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseAttempt {
    /// The attempt.
    pub id: AttemptId,
    /// Its condition (repair).
    pub condition: Option<Condition>,
    /// Its outcome (repair).
    pub outcome: Option<Outcome>,
    /// Its block coverage (diagnosis).
    pub coverage: Option<f64>,
}

/// A case's page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseView {
    /// Its metadata.
    pub case: Case,
    /// Releases that hold it.
    pub releases: Vec<ReleaseId>,
    /// The symptom, rendered, safe HTML.
    pub symptom_html: String,
    /// How a person reproduces it, rendered.
    pub reproduce_html: String,
    /// What counts as PASS and FAIL, rendered.
    pub verification_html: String,
    /// The default context.
    pub evidence: Vec<EvidenceView>,
    /// The newest proof.
    pub proof: Option<ProofView>,
    /// Whether it was made of an earlier version of the case.
    pub proof_outdated: bool,
    /// Repair outcomes per configuration.
    pub repair: Vec<CaseOutcomes>,
    /// Diagnosis outcomes per configuration.
    pub diagnosis: Vec<CaseOutcomes>,
    /// The cases before and after this one, by id.
    pub neighbours: (Option<CaseId>, Option<CaseId>),
}
