//! The result of an attempt as it grows: each stage is begun, told of, and ended
//! with its facts. Decides what a patch and a rebuild come to; verdicts of
//! oracles are [`crate::judge`]'s.

use std::collections::BTreeSet;
use std::sync::Arc;

use faultboard_domain::outcome::RepairResult;
use faultboard_domain::patch::Patch;
use faultboard_domain::{Outcome, StageKind, StageRecord, Timestamp};
use faultboard_sandbox::{RunControl, RunResult};

use crate::evaluate::{Attempt, Oracle, OracleError, PROTECTED_DROPPED, Progress};
use crate::judge::{Judged, Verdict};
use crate::patching::Applied;
use crate::scratch::Scratch;
use crate::{PROTECTED_PATHS, PROTOCOL_VERSION};

/// The result as it grows.
pub(crate) struct Record<'a> {
    oracle: &'a Oracle,
    attempt: &'a Attempt<'a>,
    pub(crate) result: RepairResult,
    /// The attempt's working folder, so that it can be removed off the async threads.
    pub(crate) scratch: Option<Scratch>,
    open: Option<(StageKind, u32, Timestamp)>,
    gaps: BTreeSet<String>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(oracle: &'a Oracle, attempt: &'a Attempt<'a>) -> Self {
        let result = RepairResult {
            outcome: Outcome::InfraError,
            reason: "the attempt was not carried out".to_owned(),
            flags: Vec::new(),
            stages: Vec::new(),
            image_digests: Vec::new(),
            scorer_version: PROTOCOL_VERSION.to_owned(),
            cache_key: String::new(),
            notes: Vec::new(),
        };
        Self {
            oracle,
            attempt,
            result,
            scratch: None,
            open: None,
            gaps: BTreeSet::new(),
        }
    }

    pub(crate) fn begin(&mut self, stage: StageKind, repeat: u32) {
        self.open = Some((stage, repeat, self.oracle.clock.now()));
        if let Some(progress) = &self.attempt.progress {
            progress(Progress::Began { stage, repeat });
        }
    }

    /// Cancellation and live output for a run of the open stage.
    pub(crate) fn control(&self, nonce: Option<&str>) -> RunControl {
        let cancel = self.attempt.cancel.clone();
        let (Some(progress), Some((stage, repeat, _))) = (self.attempt.progress.clone(), self.open)
        else {
            return RunControl { cancel, sink: None };
        };
        let nonce = nonce.map(str::to_owned);
        let sink = Arc::new(move |stream, bytes: &[u8]| {
            let clean = nonce.as_deref().and_then(|n| blot(bytes, n.as_bytes()));
            progress(Progress::Output {
                stage,
                repeat,
                stream,
                bytes: clean.as_deref().unwrap_or(bytes),
            });
        });
        RunControl {
            cancel,
            sink: Some(sink),
        }
    }

    fn push(
        &mut self,
        result: &str,
        exit_code: Option<i32>,
        image: Option<&str>,
        run: Option<&RunResult>,
        log: (String, u64),
    ) {
        let now = self.oracle.clock.now();
        let (stage, repeat, started) = self.open.take().unwrap_or((StageKind::Prepare, 1, now));
        let record = StageRecord {
            stage,
            repeat,
            started,
            finished: now,
            exit_code,
            image_digest: image.map(str::to_owned),
            result: result.to_owned(),
            log: log.0,
            log_cut: log.1,
            peak_memory: run.and_then(|r| r.peak_memory),
            cpu_seconds: run.and_then(|r| r.cpu_seconds),
        };
        if let Some(progress) = &self.attempt.progress {
            progress(Progress::Ended(&record));
        }
        self.result.stages.push(record);
    }

    pub(crate) fn end(&mut self, result: &str, exit_code: Option<i32>, image: Option<&str>) {
        self.push(result, exit_code, image, None, (String::new(), 0));
    }

    pub(crate) fn end_with_log(
        &mut self,
        result: &str,
        exit_code: Option<i32>,
        image: Option<&str>,
        log: String,
        cut: u64,
    ) {
        self.push(result, exit_code, image, None, (log, cut));
    }

    fn end_run(&mut self, result: &str, run: &RunResult, log: String) {
        self.note_gaps(&run.not_enforced);
        let exit_code = run.stopped.is_none().then(|| run.exit.status());
        self.push(
            result,
            exit_code,
            Some(&run.image_digest),
            Some(run),
            (log, run.log.cut),
        );
    }

    pub(crate) fn note_gaps(&mut self, gaps: &[String]) {
        self.gaps.extend(gaps.iter().cloned());
        self.result.notes = self.gaps.iter().cloned().collect();
    }

    pub(crate) fn conclude(&mut self, outcome: Outcome, reason: String) {
        self.result.outcome = outcome;
        self.result.reason = reason;
    }

    pub(crate) fn infra(&mut self, error: &OracleError) {
        if self.open.is_some() {
            self.end_with_log(
                &format!("infra-error: {error}"),
                None,
                None,
                error.log().to_owned(),
                0,
            );
        }
        self.conclude(Outcome::InfraError, error.to_string());
    }

    /// An empty or unreadable patch needs no tree to be judged.
    pub(crate) fn settled_by_patch_alone(&mut self, bytes: &[u8]) -> bool {
        let mut report = Applied::default();
        match Patch::parse(bytes) {
            Ok(mut patch) => {
                let protected: Vec<String> =
                    PROTECTED_PATHS.iter().map(|p| (*p).to_owned()).collect();
                report.dropped = patch.drop_protected(&protected);
                report.empty = patch.is_empty();
            }
            Err(e) => report.failures.push(e.to_string()),
        }
        if !report.empty && report.failures.is_empty() {
            return false;
        }
        self.open = self.open.map(|(_, _, at)| (StageKind::Apply, 1, at));
        self.applied(&report);
        true
    }

    /// Records what became of the patch; whether to go on.
    pub(crate) fn applied(&mut self, report: &Applied) -> bool {
        if !report.dropped.is_empty() && !self.result.flags.iter().any(|f| f == PROTECTED_DROPPED) {
            self.result.flags.push(PROTECTED_DROPPED.to_owned());
        }
        let log = report.log();
        if let Some(first) = report.failures.first() {
            self.end_with_log("does not apply", None, None, log, 0);
            let more = match report.failures.len() - 1 {
                0 => String::new(),
                n => format!(" (and {n} more)"),
            };
            self.conclude(Outcome::ApplyFailed, format!("{first}{more}"));
            return false;
        }
        if report.empty {
            self.end_with_log("no edit", None, None, log, 0);
            let reason = match report.dropped.is_empty() {
                true => "the patch is empty".to_owned(),
                false => format!(
                    "the patch only touches protected paths: {}",
                    report.dropped.join(", ")
                ),
            };
            self.conclude(Outcome::NoEdit, reason);
            return false;
        }
        let files = if report.changed == 1 {
            "1 file".to_owned()
        } else {
            format!("{} files", report.changed)
        };
        self.end_with_log(&format!("applied to {files}"), None, None, log, 0);
        true
    }

    /// Records the rebuild; whether to go on.
    pub(crate) fn rebuilt(&mut self, run: &RunResult) -> bool {
        let failed = |why: String| (Outcome::BuildFailed, why);
        let ended = if run.succeeded() {
            None
        } else if run.timed_out() {
            Some((
                Outcome::Timeout,
                format!("the rebuild did not end within {:.0} s", run.wall_seconds),
            ))
        } else if run.quota_exceeded() {
            Some(failed("the rebuild wrote more than its disk quota".into()))
        } else if run.oom {
            Some(failed("the rebuild ran out of memory".into()))
        } else {
            Some(failed(format!(
                "the rebuild ended with status {}",
                run.exit.status()
            )))
        };
        let word = ended
            .as_ref()
            .map_or("built".to_owned(), |(_, why)| why.clone());
        self.end_run(&word, run, run.log.text());
        match ended {
            None => true,
            Some((outcome, why)) => {
                self.conclude(outcome, why);
                false
            }
        }
    }

    pub(crate) fn verified(&mut self, judged: &Judged, run: &RunResult, nonce: &str) {
        let word = match judged.verdict {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::Timeout => "time-out",
            Verdict::Error => "error",
        };
        let log = run.log.text().replace(nonce, "nonce");
        self.end_run(&format!("{word}: {}", judged.message), run, log);
    }
}

/// A copy with every occurrence of `what` replaced; `None` if there is none.
fn blot(bytes: &[u8], what: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(what.len().max(1)).position(|w| w == what) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(b"nonce");
        rest = &rest[at + what.len()..];
    }
    (rest.len() < bytes.len()).then(|| {
        out.extend_from_slice(rest);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nonce_is_blotted_out_of_live_output() {
        assert_eq!(
            blot(b"PASS: x [abc]\nabc", b"abc").unwrap(),
            b"PASS: x [nonce]\nnonce"
        );
        assert_eq!(blot(b"nothing here", b"abc"), None);
    }
}
