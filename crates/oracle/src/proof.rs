//! The proof of a case: the faulty tree FAILs and the solution's diff PASSes,
//! every time. Shown on the case's page, and the condition for shipping it.

use faultboard_domain::Outcome;
use faultboard_domain::outcome::RepairResult;
use faultboard_sandbox::{CancellationToken, Labels};
use serde::Serialize;

use crate::case::OracleCase;
use crate::evaluate::{Attempt, Oracle, OracleError, ProgressSink};

/// One direction of a proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProofRun {
    /// How many runs said what this direction wants.
    pub agreed: u32,
    /// How many runs there were.
    pub runs: u32,
    /// Everything about them.
    pub result: RepairResult,
}

/// Both directions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseProof {
    /// The case.
    pub case: String,
    /// How many runs each direction was to have.
    pub times: u32,
    /// The tree as shipped; must FAIL.
    pub faulty: ProofRun,
    /// The tree with the solution; must PASS.
    pub solved: ProofRun,
    /// What is wrong, one sentence each; empty: proven.
    pub problems: Vec<String>,
}

impl CaseProof {
    /// Whether the case is proven.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

/// What a proof needs besides the case.
#[derive(Clone)]
pub struct ProofRequest<'a> {
    /// The solution's diff.
    pub solution: &'a str,
    /// Runs for each direction; at least 1.
    pub times: u32,
    /// Whose containers they will be.
    pub labels: Labels,
    /// Ends it within seconds.
    pub cancel: CancellationToken,
    /// Told of progress.
    pub progress: Option<ProgressSink>,
}

impl Oracle {
    /// Proves a case in both directions.
    pub async fn verify_case(
        &self,
        case: &OracleCase,
        request: &ProofRequest<'_>,
    ) -> Result<CaseProof, OracleError> {
        let times = request.times.max(1);
        let attempt = Attempt {
            case,
            patch: request.solution.as_bytes(),
            labels: request.labels.clone(),
            cancel: request.cancel.clone(),
            progress: request.progress.clone(),
        };
        let faulty = direction(self.judge_tree(&attempt, None, times).await?, times, "FAIL");
        let solved = direction(
            self.judge_tree(&attempt, Some(attempt.patch), times)
                .await?,
            times,
            "PASS",
        );
        let mut problems = Vec::new();
        let mut want = |run: &ProofRun, outcome: Outcome, what: &str| {
            if run.result.outcome != outcome || run.agreed != times {
                let r = &run.result;
                problems.push(format!(
                    "{what}: {} of {times} as wanted; outcome {}: {}",
                    run.agreed, r.outcome, r.reason
                ));
            }
        };
        want(&faulty, Outcome::Fail, "the faulty tree must FAIL");
        want(&solved, Outcome::Pass, "the solution must PASS");
        for run in [&faulty, &solved] {
            if run.result.flags.iter().any(|f| f == crate::judge::FORGED) {
                problems.push("a verdict line without the nonce was printed: something other than the oracle's `pass` and `fail` prints them".to_owned());
            }
        }
        if solved
            .result
            .flags
            .iter()
            .any(|f| f == crate::evaluate::PROTECTED_DROPPED)
        {
            problems.push("the solution's diff touches protected paths".to_owned());
        }
        Ok(CaseProof {
            case: case.case.id.to_string(),
            times,
            faulty,
            solved,
            problems,
        })
    }
}

fn direction(result: RepairResult, times: u32, word: &str) -> ProofRun {
    let agreed = result.stages.iter().filter(|s| {
        s.stage == faultboard_domain::StageKind::Verify
            && s.result
                .strip_prefix(word)
                .is_some_and(|r| r.starts_with(':'))
    });
    let agreed = u32::try_from(agreed.count()).unwrap_or(u32::MAX).min(times);
    ProofRun {
        agreed,
        runs: times,
        result,
    }
}
