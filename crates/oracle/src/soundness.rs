//! What the runs of a proof come to: the faulty tree's status, whether the oracle
//! is sound, what is wrong in words, and what to do next. Pure.

use faultboard_catalog::specificity::Weight;
use faultboard_domain::view::{ProofStatus, Soundness};
use faultboard_domain::{Outcome, StageRecord};

use crate::evaluate::{OracleError, PROTECTED_DROPPED};
use crate::judge::FORGED;
use crate::proof::{CaseProof, ProofRun, TAIL, runs};

/// Notes an error that ended the proof before its end.
pub(crate) fn failed(proof: &mut CaseProof, error: &OracleError) {
    proof.status = match error {
        OracleError::Setup {
            timed_out: true, ..
        } => ProofStatus::Timeout,
        OracleError::Setup { .. } | OracleError::Unclean { .. } | OracleError::Case(_) => {
            ProofStatus::SetupFail
        }
        _ => ProofStatus::InfraError,
    };
    proof.problems.push(match proof.status {
        ProofStatus::InfraError => format!("infra-error: {error}"),
        _ => error.to_string(),
    });
    proof.tail = last_lines(error.log());
}

/// Fills in everything that follows from the runs.
pub(crate) fn conclude(proof: &mut CaseProof) {
    if let Some(faulty) = &proof.faulty {
        proof.status = status(faulty);
    }
    let infra: Vec<String> = runs(proof)
        .filter(|r| r.result.outcome == Outcome::InfraError)
        .map(|r| format!("infra-error: {}", r.result.reason))
        .collect();
    if let Some(first) = infra.first() {
        proof.status = ProofStatus::InfraError;
        proof.problems.push(first.clone());
    } else {
        let mut problems = Vec::new();
        let wrong = judge(proof, &mut problems);
        proof.soundness = match (&proof.faulty, &proof.solved) {
            (Some(_), Some(_)) if wrong => Some(Soundness::Unsound),
            (Some(_), Some(_)) if proof.findings.iter().any(|f| f.weight == Weight::High) => {
                Some(Soundness::Fragile)
            }
            (Some(_), Some(_)) => Some(Soundness::Sound),
            _ => None,
        };
        proof.problems.append(&mut problems);
    }
    if let Some(hygiene) = &proof.hygiene {
        let found = hygiene.problems.iter().map(|p| format!("hygiene: {p}"));
        proof.problems.extend(found);
    }
    if proof.tail.is_empty()
        && let Some(stage) = telling_stage(proof)
    {
        proof.tail = last_lines(&stage.log);
    }
    proof.next_step = next_step(proof).to_owned();
}

/// What a run of the faulty tree showed.
fn status(faulty: &ProofRun) -> ProofStatus {
    match faulty.result.outcome {
        Outcome::Fail if faulty.agreed == faulty.runs => ProofStatus::Verified,
        Outcome::Fail | Outcome::Pass => ProofStatus::Fixed,
        Outcome::Timeout => ProofStatus::Timeout,
        Outcome::OracleError => ProofStatus::ReproError,
        Outcome::BuildFailed | Outcome::NoEdit | Outcome::ApplyFailed => ProofStatus::SetupFail,
        Outcome::InfraError => ProofStatus::InfraError,
    }
}

/// Whether the oracle told a tree wrong; everything that is wrong goes to `out`.
fn judge(proof: &CaseProof, out: &mut Vec<String>) -> bool {
    let high = proof.findings.iter().any(|f| f.weight == Weight::High);
    let mut wrong = false;
    if let Some(faulty) = &proof.faulty {
        wrong |= tree(out, "the faulty tree", faulty, false, high);
    }
    if let Some(solved) = &proof.solved {
        wrong |= tree(out, "the solution", solved, true, high);
        if solved.result.flags.iter().any(|f| f == PROTECTED_DROPPED) {
            out.push("the solution's diff touches protected paths".to_owned());
        }
    }
    for v in &proof.variants {
        wrong |= tree(out, &format!("`{}`", v.name), &v.run, v.must_pass, high);
    }
    let forged = [&proof.faulty, &proof.solved]
        .into_iter()
        .flatten()
        .any(|r| r.result.flags.iter().any(|f| f == FORGED));
    if forged {
        out.push("a verdict line without the nonce was printed: something other than the oracle's `pass` and `fail` prints them".to_owned());
    }
    wrong
}

/// Looks at one tree; whether it was told wrong.
fn tree(out: &mut Vec<String>, what: &str, run: &ProofRun, must_pass: bool, high: bool) -> bool {
    if run.agreed == run.runs {
        return false;
    }
    let (agreed, runs, r) = (run.agreed, run.runs, &run.result);
    let judged = matches!(r.outcome, Outcome::Pass | Outcome::Fail);
    let word = if must_pass { "PASS" } else { "FAIL" };
    if !judged {
        let cause = match r.outcome {
            Outcome::ApplyFailed => "the diff does not fit the faulty tree exactly",
            Outcome::BuildFailed => "the tree does not build",
            Outcome::Timeout => {
                "a wait in the oracle or the rebuild has no end; what hangs must become a FAIL"
            }
            Outcome::NoEdit => "the diff changes nothing that may be changed",
            _ => "the oracle ended without `pass` or `fail`",
        };
        out.push(format!(
            "{what} must {word}, but ended as {}: {} (likely cause: {cause})",
            r.outcome, r.reason
        ));
        return true;
    }
    let missed = runs - agreed;
    let (name, cause) = match (must_pass, agreed == 0) {
        (false, true) if what == "the faulty tree" => (
            "false positive",
            "the bug is not provoked, or the pinned tree is not faulty",
        ),
        (false, true) => (
            "false positive",
            "the oracle checks too little: this fix leaves something broken that it never looks at",
        ),
        (false, false) => (
            "false positive",
            "the bug shows now and then only; provoke it in every run (more trials, a seam in the schedule)",
        ),
        (true, true) if high => (
            "false negative",
            "the oracle leans on one particular fix (see the findings)",
        ),
        (true, true) => (
            "false negative",
            "the oracle asks for more than the symptom's end, or the rebuild does not take the change over",
        ),
        (true, false) => (
            "false negative",
            "a time-out that is too short, or a race of the oracle's own",
        ),
    };
    let said = if must_pass { "FAIL" } else { "PASS" };
    out.push(format!(
        "{name}: {what} must {word}, but {missed} of {runs} runs said {said}: {} (likely cause: {cause})",
        r.reason
    ));
    true
}

/// The stage whose log tells most: where it went wrong, else the faulty tree's
/// first verdict.
fn telling_stage(proof: &CaseProof) -> Option<&StageRecord> {
    let odd = runs(proof).find(|r| r.agreed != r.runs);
    match odd {
        Some(run) => run.result.stages.iter().rev().find(|s| !s.log.is_empty()),
        None => proof.faulty.as_ref()?.result.stages.last(),
    }
}

fn last_lines(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().collect();
    let from = lines.len().saturating_sub(TAIL);
    lines[from..].iter().map(|l| (*l).to_owned()).collect()
}

fn next_step(proof: &CaseProof) -> &'static str {
    match (proof.status, proof.soundness) {
        (ProofStatus::InfraError, _) => {
            "The platform failed, so nothing is known of the case. `faultboard doctor` tells what is in the way; a missing image is built or pulled under the name that the case gives. Then verify again."
        }
        (ProofStatus::SetupFail, _) => {
            "Read the log's end. Check the pin, its checksum, mirrors and certificates; `faultboard bench setup` runs set-up by itself."
        }
        (ProofStatus::Timeout, _) => {
            "Give every wait in the scripts an end, and make what hangs a FAIL; raise the limit in case.yaml only if the work really takes longer."
        }
        (ProofStatus::ReproError, _) => {
            "The oracle must end by `pass`, `fail` or, where nothing can be said, `oracle_error`. `faultboard bench reproduce` runs it once; read the log's end."
        }
        (ProofStatus::Fixed, _) => {
            "The oracle passes the faulty tree. Check that the pin lies before the fix, and provoke the bug in every run."
        }
        (ProofStatus::Verified, Some(Soundness::Unsound)) => {
            "Mend the oracle where it told a tree wrong (or the diff, if that is what is wrong), then verify again."
        }
        (ProofStatus::Verified, Some(Soundness::Fragile)) => {
            "The oracle tells every tree right, but leans on a trick; follow the hints of the HIGH findings."
        }
        (ProofStatus::Verified, _) if !proof.problems.is_empty() => {
            "Mend what is listed, then verify again."
        }
        (ProofStatus::Verified, _) => "Nothing: the case is proven.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultboard_domain::outcome::RepairResult;

    fn run(agreed: u32, outcome: Outcome) -> ProofRun {
        ProofRun {
            agreed,
            runs: 10,
            result: RepairResult {
                outcome,
                reason: "said".into(),
                flags: Vec::new(),
                stages: Vec::new(),
                image_digests: Vec::new(),
                scorer_version: String::new(),
                cache_key: String::new(),
                notes: Vec::new(),
            },
        }
    }

    #[test]
    fn every_way_the_faulty_tree_may_end_has_a_status() {
        use Outcome as O;
        use ProofStatus as S;
        for (agreed, outcome, wanted) in [
            (10, O::Fail, S::Verified),
            (7, O::Fail, S::Fixed),
            (0, O::Pass, S::Fixed),
            (3, O::Timeout, S::Timeout),
            (3, O::OracleError, S::ReproError),
            (0, O::BuildFailed, S::SetupFail),
            (0, O::InfraError, S::InfraError),
        ] {
            assert_eq!(status(&run(agreed, outcome)), wanted, "{outcome}");
        }
    }

    #[test]
    fn what_is_told_wrong_is_named_with_its_cause() {
        let told = |what: &str, run: &ProofRun, must_pass| {
            let mut out = Vec::new();
            let wrong = tree(&mut out, what, run, must_pass, false);
            assert_eq!(wrong, out.len() == 1);
            out.pop().unwrap_or_default()
        };
        assert_eq!(told("the solution", &run(10, Outcome::Pass), true), "");
        let text = told("the faulty tree", &run(7, Outcome::Fail), false);
        assert!(
            text.starts_with("false positive: the faulty tree") && text.contains("3 of 10"),
            "{text}"
        );
        let text = told("`wrong-x`", &run(0, Outcome::Pass), false);
        assert!(
            text.contains("false positive") && text.contains("checks too little"),
            "{text}"
        );
        let text = told("the solution", &run(0, Outcome::Fail), true);
        assert!(text.starts_with("false negative"), "{text}");
        let text = told("`wrong-x`", &run(0, Outcome::ApplyFailed), false);
        assert!(text.contains("apply-failed"), "{text}");
    }

    #[test]
    fn only_the_end_of_a_log_is_kept() {
        let log: String = (0..50).map(|i| format!("line {i}\n")).collect();
        let tail = last_lines(&log);
        assert_eq!((tail.len(), tail[0].as_str()), (TAIL, "line 30"));
        assert_eq!(last_lines("one"), ["one"]);
    }
}
