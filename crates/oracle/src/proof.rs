//! The proof of a case: set-up works, the faulty tree FAILs and the solution's
//! diff PASSes every time, other right fixes PASS, wrong ones FAIL, and the
//! workspace that agents get gives nothing away. Shown on the case's page, and
//! the condition for shipping it. What it all comes to is [`crate::soundness`]'s.

use faultboard_catalog::{Entry, Expect, Finding, Variant};
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::view::{ProofStatus, ProofTiming, Soundness};
use faultboard_domain::{StageKind, StageRecord};
use faultboard_sandbox::{CancellationToken, Labels, RunControl};
use serde::Serialize;

use crate::case::OracleCase;
use crate::evaluate::{Attempt, Oracle, OracleError, Progress, ProgressSink};
use crate::hygiene::{Hidden, HygieneReport};
use crate::soundness;

/// How many lines of a log are kept where something went wrong.
pub const TAIL: usize = 20;

/// One tree that was judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProofRun {
    /// How many runs said what is wanted of this tree.
    pub agreed: u32,
    /// How many runs there were to be.
    pub runs: u32,
    /// Everything about them.
    pub result: RepairResult,
}

/// One variant that was judged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariantRun {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// Whether it must PASS; else it must FAIL.
    pub must_pass: bool,
    /// What came of it.
    pub run: ProofRun,
}

/// How set-up went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SetUp {
    /// Whether it ran just now; else its tree was there already.
    pub fresh: bool,
    /// Seconds that it took, whenever it ran.
    pub seconds: f64,
    /// Digest of the image that it ran in.
    pub image_digest: String,
}

/// Everything that was found out about a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseProof {
    /// The case.
    pub case: String,
    /// Digest of its files.
    pub case_digest: String,
    /// How many runs each direction was to have.
    pub times: u32,
    /// What the faulty tree showed.
    pub status: ProofStatus,
    /// Whether the oracle is sound; none where it could not be found out.
    pub soundness: Option<Soundness>,
    /// How set-up went; none where it failed.
    pub setup: Option<SetUp>,
    /// The tree as shipped; must FAIL.
    pub faulty: Option<ProofRun>,
    /// The tree with the solution; must PASS.
    pub solved: Option<ProofRun>,
    /// The other fixes.
    pub variants: Vec<VariantRun>,
    /// What was looked for in an agent's workspace.
    pub hygiene: Option<HygieneReport>,
    /// Tricks in the oracle.
    pub findings: Vec<Finding>,
    /// What is wrong, one sentence each; empty: proven.
    pub problems: Vec<String>,
    /// The last lines of the log that tells most.
    pub tail: Vec<String>,
    /// What to do next.
    pub next_step: String,
    /// How long things took.
    pub timings: Vec<ProofTiming>,
    /// Digests of every image that took part.
    pub image_digests: Vec<String>,
    /// The rules by which it was judged.
    pub scorer_version: String,
}

impl CaseProof {
    /// Whether the case is proven.
    pub fn holds(&self) -> bool {
        self.problems.is_empty() && self.status == ProofStatus::Verified
    }

    /// The variants of one kind, and how many of them were told right.
    pub fn told_right(&self, must_pass: bool) -> (u32, u32) {
        let of_kind = self.variants.iter().filter(|v| v.must_pass == must_pass);
        of_kind.fold((0, 0), |(right, all), v| {
            (right + u32::from(v.run.agreed == v.run.runs), all + 1)
        })
    }
}

/// What a proof needs besides the case.
#[derive(Clone)]
pub struct ProofRequest<'a> {
    /// The solution's diff.
    pub solution: &'a str,
    /// Other fixes.
    pub variants: &'a [Variant],
    /// What no workspace may hold.
    pub hidden: Hidden<'a>,
    /// Tricks that were found in the oracle.
    pub findings: &'a [Finding],
    /// Runs of the faulty tree and of the solution; at least 1.
    pub times: u32,
    /// Runs of each variant; 0 leaves them out.
    pub variant_times: u32,
    /// Whose containers they will be.
    pub labels: Labels,
    /// Ends it within seconds.
    pub cancel: CancellationToken,
    /// Told of progress.
    pub progress: Option<ProgressSink>,
}

impl<'a> ProofRequest<'a> {
    /// The proof of both directions alone.
    pub fn new(solution: &'a str, times: u32, labels: Labels) -> Self {
        Self {
            solution,
            variants: &[],
            hidden: Hidden::default(),
            findings: &[],
            times,
            variant_times: 1,
            labels,
            cancel: CancellationToken::new(),
            progress: None,
        }
    }

    /// The whole proof of an entry of the catalog.
    pub fn of(entry: &'a Entry, times: u32, labels: Labels) -> Self {
        Self {
            variants: &entry.solution.variants,
            hidden: Hidden::from(&entry.solution),
            findings: &entry.findings,
            ..Self::new(&entry.solution.diff, times, labels)
        }
    }

    fn attempt(&'a self, case: &'a OracleCase, patch: &'a str) -> Attempt<'a> {
        Attempt {
            case,
            patch: patch.as_bytes(),
            labels: self.labels.clone(),
            cancel: self.cancel.clone(),
            progress: self.progress.clone(),
        }
    }
}

impl Oracle {
    /// Proves a case. A case that does not hold is no error; the only one is
    /// [`OracleError::Cancelled`].
    pub async fn verify_case(
        &self,
        case: &OracleCase,
        request: &ProofRequest<'_>,
    ) -> Result<CaseProof, OracleError> {
        let mut proof = CaseProof {
            case: case.case.id.to_string(),
            case_digest: case.digests.content.to_string(),
            times: request.times.max(1),
            status: ProofStatus::InfraError,
            soundness: None,
            setup: None,
            faulty: None,
            solved: None,
            variants: Vec::new(),
            hygiene: None,
            findings: request.findings.to_vec(),
            problems: Vec::new(),
            tail: Vec::new(),
            next_step: String::new(),
            timings: Vec::new(),
            image_digests: Vec::new(),
            scorer_version: crate::PROTOCOL_VERSION.to_owned(),
        };
        match self.every_tree(case, request, &mut proof).await {
            Ok(()) => {}
            Err(OracleError::Cancelled) => return Err(OracleError::Cancelled),
            Err(e) => soundness::failed(&mut proof, &e),
        }
        soundness::conclude(&mut proof);
        proof.timings = timings(&proof);
        Ok(proof)
    }

    async fn every_tree(
        &self,
        case: &OracleCase,
        request: &ProofRequest<'_>,
        proof: &mut CaseProof,
    ) -> Result<(), OracleError> {
        let control = self.proof_control(request);
        if let Some(progress) = &request.progress {
            progress(Progress::Began {
                stage: StageKind::Prepare,
                repeat: 1,
            });
        }
        let prepared = self.prepare(case, &request.labels, &control).await?;
        proof.setup = Some(SetUp {
            fresh: prepared.fresh,
            seconds: prepared.meta.seconds,
            image_digest: prepared.meta.image_digest.clone(),
        });
        proof.image_digests = vec![prepared.meta.image_digest.clone()];
        drop(prepared);
        proof.hygiene = Some(
            self.hygiene(case, &request.hidden, &request.labels, &control)
                .await?,
        );

        let times = proof.times;
        let as_it_is = request.attempt(case, "");
        proof.faulty = Some(run_of(
            self.judge_tree(&as_it_is, None, times).await?,
            times,
            "FAIL",
        ));
        let solution = request.attempt(case, request.solution);
        proof.solved = Some(run_of(
            self.judge_tree(&solution, Some(solution.patch), times)
                .await?,
            times,
            "PASS",
        ));
        if request.variant_times == 0 {
            return Ok(());
        }
        for variant in request.variants {
            let attempt = request.attempt(case, &variant.diff);
            let result = self
                .judge_tree(&attempt, Some(attempt.patch), request.variant_times)
                .await?;
            let (must_pass, word) = match variant.expect {
                Expect::Pass => (true, "PASS"),
                Expect::Fail => (false, "FAIL"),
            };
            proof.variants.push(VariantRun {
                name: variant.name.clone(),
                about: variant.about.clone(),
                must_pass,
                run: run_of(result, request.variant_times, word),
            });
        }
        for run in runs(proof)
            .map(|r| r.result.image_digests.clone())
            .collect::<Vec<_>>()
        {
            for digest in run {
                if !proof.image_digests.contains(&digest) {
                    proof.image_digests.push(digest);
                }
            }
        }
        Ok(())
    }

    /// Cancellation, and the live output of set-up.
    fn proof_control(&self, request: &ProofRequest<'_>) -> RunControl {
        let sink = request.progress.clone().map(|progress| {
            let sink: faultboard_sandbox::LogSink =
                std::sync::Arc::new(move |stream, bytes: &[u8]| {
                    progress(Progress::Output {
                        stage: StageKind::Prepare,
                        repeat: 1,
                        stream,
                        bytes,
                    });
                });
            sink
        });
        RunControl {
            cancel: request.cancel.clone(),
            sink,
        }
    }
}

fn run_of(result: RepairResult, times: u32, word: &str) -> ProofRun {
    let agreed = verdicts(&result)
        .filter(|s| {
            s.result
                .strip_prefix(word)
                .is_some_and(|r| r.starts_with(':'))
        })
        .count();
    ProofRun {
        agreed: u32::try_from(agreed).unwrap_or(u32::MAX).min(times),
        runs: times,
        result,
    }
}

fn verdicts(result: &RepairResult) -> impl Iterator<Item = &StageRecord> {
    result
        .stages
        .iter()
        .filter(|s| s.stage == StageKind::Verify)
}

/// Everything that was judged, in order.
pub(crate) fn runs(proof: &CaseProof) -> impl Iterator<Item = &ProofRun> {
    proof
        .faulty
        .iter()
        .chain(&proof.solved)
        .chain(proof.variants.iter().map(|v| &v.run))
}

/// Times by kind of stage. Variants are not told apart: their names say too much.
fn timings(proof: &CaseProof) -> Vec<ProofTiming> {
    fn of(what: &str, ms: impl Iterator<Item = u64>, out: &mut Vec<ProofTiming>) {
        let all: Vec<u64> = ms.collect();
        if all.is_empty() {
            return;
        }
        out.push(ProofTiming {
            what: what.to_owned(),
            runs: u32::try_from(all.len()).unwrap_or(u32::MAX),
            mean_ms: all.iter().sum::<u64>() / all.len() as u64,
            max_ms: all.iter().copied().max().unwrap_or(0),
        });
    }
    fn took(s: &StageRecord) -> u64 {
        u64::try_from(s.finished.since_ms(s.started)).unwrap_or(0)
    }
    let mut out = Vec::new();
    let setup = proof.setup.iter().filter_map(|s| {
        u64::try_from(
            std::time::Duration::try_from_secs_f64(s.seconds)
                .ok()?
                .as_millis(),
        )
        .ok()
    });
    of("set-up", setup, &mut out);
    let rebuilds = runs(proof)
        .flat_map(|r| &r.result.stages)
        .filter(|s| s.stage == StageKind::Rebuild && s.image_digest.is_some());
    of("rebuild", rebuilds.map(took), &mut out);
    let of_run = |r: Option<&ProofRun>| -> Vec<u64> {
        r.into_iter()
            .flat_map(|r| verdicts(&r.result))
            .map(took)
            .collect()
    };
    of(
        "oracle, faulty tree",
        of_run(proof.faulty.as_ref()).into_iter(),
        &mut out,
    );
    of(
        "oracle, reference fix",
        of_run(proof.solved.as_ref()).into_iter(),
        &mut out,
    );
    let others = proof
        .variants
        .iter()
        .flat_map(|v| verdicts(&v.run.result))
        .map(took);
    of("oracle, other fixes", others, &mut out);
    out
}
