//! Carrying out an attempt's plan, stage by stage, and recording each. Whatever
//! goes wrong on the platform's side becomes `infra-error`; only a cancelled
//! attempt has no result.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use faultboard_domain::case::Source;
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::patch::Patch;
use faultboard_domain::{Clock, Outcome, StageKind, StageRecord, Timestamp};
use faultboard_sandbox::{
    CancellationToken, Labels, LogStream, RunControl, RunResult, Runtime, RuntimeError,
};

use crate::case::OracleCase;
use crate::judge::{self, Judged, Verdict};
use crate::patching::{self, Applied};
use crate::prepare::blocking;
use crate::scratch::Scratch;
use crate::settings::{OracleSettings, default_nonce};
use crate::stages::{self, AttemptDirs, Stage};
use crate::{PROTECTED_PATHS, PROTOCOL_VERSION, key, tree};

/// Flag of an attempt whose patch touched protected paths.
pub const PROTECTED_DROPPED: &str = "protected-paths-dropped";

/// Carries out the protocol on a runtime.
#[derive(Clone)]
pub struct Oracle {
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) settings: OracleSettings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) nonce: Arc<dyn Fn() -> String + Send + Sync>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// Somebody cancelled it.
    #[error("the attempt was cancelled")]
    Cancelled,
    /// The runtime failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// Set-up did not leave what it should.
    #[error("set-up of {case} failed: {why}")]
    Setup {
        /// The case.
        case: String,
        /// What happened.
        why: String,
        /// Its log.
        log: String,
    },
    /// Set-up left what no agent may see.
    #[error("set-up of {case} left {}", found.join("; "))]
    Unclean {
        /// The case.
        case: String,
        /// What was found.
        found: Vec<String>,
    },
    /// A prepared tree is no longer what set-up left; it will be made anew.
    #[error("the prepared tree of {case} was changed on disk; it will be prepared again")]
    Changed {
        /// The case.
        case: String,
    },
    /// An image was rebuilt under a running attempt.
    #[error("image `{image}` changed while the attempt ran")]
    ImageMoved {
        /// The reference.
        image: String,
    },
    /// The case asks for what can't be given.
    #[error("{0}")]
    Case(String),
    /// The host's disk refused something.
    #[error("{what}: {source}")]
    Host {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl OracleError {
    pub(crate) fn host(what: &'static str, source: io::Error) -> Self {
        Self::Host { what, source }
    }

    /// Whether trying again later may help without anybody doing something.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Runtime(e) => e.is_transient(),
            Self::Cancelled | Self::Case(_) | Self::Unclean { .. } => false,
            Self::Setup { .. }
            | Self::Changed { .. }
            | Self::ImageMoved { .. }
            | Self::Host { .. } => true,
        }
    }

    fn log(&self) -> &str {
        match self {
            Self::Setup { log, .. } => log,
            _ => "",
        }
    }
}

/// What an observer is told while an attempt runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A stage begins.
    Began {
        /// Which.
        stage: StageKind,
        /// Its repeat.
        repeat: u32,
    },
    /// Its program printed something; the nonce is blotted out.
    Output {
        /// Which stage.
        stage: StageKind,
        /// Its repeat.
        repeat: u32,
        /// Where it was printed.
        stream: LogStream,
        /// What was printed.
        bytes: &'a [u8],
    },
    /// A stage ended.
    Ended(&'a StageRecord),
}

/// Told of progress; called from many tasks, so it must be quick.
pub type ProgressSink = Arc<dyn for<'a> Fn(Progress<'a>) + Send + Sync>;

/// One attempt to judge.
#[derive(Clone)]
pub struct Attempt<'a> {
    /// The case.
    pub case: &'a OracleCase,
    /// The patch, as it was handed in.
    pub patch: &'a [u8],
    /// Whose containers they will be.
    pub labels: Labels,
    /// Ends it within seconds.
    pub cancel: CancellationToken,
    /// Told of progress.
    pub progress: Option<ProgressSink>,
}

impl Oracle {
    /// With random nonces.
    pub fn new(runtime: Arc<dyn Runtime>, settings: OracleSettings, clock: Arc<dyn Clock>) -> Self {
        Self {
            runtime,
            settings,
            clock,
            nonce: Arc::new(default_nonce),
        }
    }

    /// With nonces from elsewhere. They must be new each time and hard to guess.
    #[must_use]
    pub fn with_nonces(mut self, nonce: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.nonce = Arc::new(nonce);
        self
    }

    /// The runtime that carries out the runs.
    pub fn runtime(&self) -> &Arc<dyn Runtime> {
        &self.runtime
    }

    /// Key under which an equal attempt may reuse a verdict. Only `pass`, `fail`,
    /// `no-edit`, `apply-failed` and `build-failed` are worth keeping.
    pub async fn cache_key(&self, case: &OracleCase, patch: &[u8]) -> Result<String, RuntimeError> {
        let image = self.runtime.resolve(&case.case.image).await?;
        Ok(key::verdict_key(case, patch, &image.0, self.runtime.name()))
    }

    /// Judges an attempt. The platform's own failures come back as the outcome
    /// `infra-error`; the only error is [`OracleError::Cancelled`].
    pub async fn evaluate(&self, attempt: &Attempt<'_>) -> Result<RepairResult, OracleError> {
        self.judge_tree(
            attempt,
            Some(attempt.patch),
            attempt.case.case.oracle.repeats.max(1),
        )
        .await
    }

    /// Judges the tree with the patch, or as it is.
    pub(crate) async fn judge_tree(
        &self,
        attempt: &Attempt<'_>,
        patch: Option<&[u8]>,
        repeats: u32,
    ) -> Result<RepairResult, OracleError> {
        let mut record = Record::new(self, attempt);
        let ended = self.stages(attempt, patch, repeats, &mut record).await;
        match ended {
            Ok(()) => Ok(record.result),
            Err(OracleError::Cancelled) => Err(OracleError::Cancelled),
            Err(e) => {
                record.infra(&e);
                Ok(record.result)
            }
        }
    }

    async fn stages(
        &self,
        attempt: &Attempt<'_>,
        patch: Option<&[u8]>,
        repeats: u32,
        record: &mut Record<'_>,
    ) -> Result<(), OracleError> {
        let case = attempt.case;
        record.begin(StageKind::Prepare, 1);
        let image = self.runtime.resolve(&case.case.image).await?.0;
        record.result.cache_key =
            key::verdict_key(case, patch.unwrap_or_default(), &image, self.runtime.name());
        record.result.image_digests = vec![image.clone()];
        if let Some(bytes) = patch
            && record.settled_by_patch_alone(bytes)
        {
            return Ok(());
        }

        let host = |what: &'static str| move |e| OracleError::host(what, e);
        let scratch = Scratch::create(&self.scratch_dir(), &format!("attempt-{}", (self.nonce)()))
            .map_err(host("making a working folder"))?;
        let dirs = AttemptDirs {
            work: scratch.path().join("work"),
            oracle: scratch.path().join("oracle"),
            build: scratch.path().join("build"),
        };
        lay_out(case, &dirs).map_err(host("laying out the oracle"))?;
        let nonces: Vec<String> = (0..repeats).map(|_| (self.nonce)()).collect();
        let plan = stages::plan(case, &self.settings, &dirs, &attempt.labels, &nonces)
            .map_err(|e| OracleError::Case(e.to_string()))?;

        let mut judged = Vec::new();
        for stage in &plan {
            if attempt.cancel.is_cancelled() {
                return Err(OracleError::Cancelled);
            }
            if stage.kind() != StageKind::Prepare {
                record.begin(stage.kind(), stage.repeat());
            }
            let go_on = match stage {
                Stage::Prepare => self
                    .do_prepare(attempt, &dirs, record)
                    .await
                    .map(|()| true)?,
                Stage::Apply => self.do_apply(patch, &dirs, record).await?,
                Stage::Rebuild(None) => {
                    record.end("nothing to build", None, None);
                    true
                }
                Stage::Rebuild(Some(run)) => {
                    let run = self.run(run, record.control(None), &image).await?;
                    record.rebuilt(&run)
                }
                Stage::Verify { nonce, run, .. } => {
                    let run = self.run(run, record.control(Some(nonce)), &image).await?;
                    let wanted = case.case.oracle.nonce.then_some(nonce.as_str());
                    let one = judge::judge(&(&run).into(), wanted);
                    record.verified(&one, &run, nonce);
                    let go_on = matches!(one.verdict, Verdict::Pass | Verdict::Fail);
                    judged.push(one);
                    // What could not be judged once won't be by asking again.
                    go_on
                }
            };
            if !go_on {
                break;
            }
        }
        if !judged.is_empty() {
            let combined = judge::combine(&judged);
            record.conclude(combined.outcome, combined.reason);
            record.result.flags.extend(combined.flags);
        }
        blocking(move || {
            drop(scratch);
            Ok(())
        })
        .await
        .map_err(host("removing a working folder"))
    }

    async fn do_prepare(
        &self,
        attempt: &Attempt<'_>,
        dirs: &AttemptDirs,
        record: &mut Record<'_>,
    ) -> Result<(), OracleError> {
        let prepared = self
            .prepare(attempt.case, &attempt.labels, &record.control(None))
            .await?;
        record.note_gaps(&prepared.meta.not_enforced);
        let (meta, fresh) = (prepared.meta.clone(), prepared.fresh);
        let (work, owner) = (dirs.work.clone(), self.settings.builder);
        tokio::task::spawn_blocking(move || prepared.copy_to(&work, owner))
            .await
            .map_err(|e| OracleError::host("copying the prepared tree", io::Error::other(e)))??;
        let source = source_word(&attempt.case.case.source);
        let result = match fresh {
            true => format!("clean {source} tree, set up in {:.1} s", meta.seconds),
            false => format!("clean {source} tree, from the prepared one"),
        };
        record.end_with_log(
            &result,
            fresh.then_some(0),
            Some(&meta.image_digest),
            meta.log,
            meta.log_cut,
        );
        Ok(())
    }

    async fn do_apply(
        &self,
        patch: Option<&[u8]>,
        dirs: &AttemptDirs,
        record: &mut Record<'_>,
    ) -> Result<bool, OracleError> {
        let Some(bytes) = patch.map(<[u8]>::to_vec) else {
            record.end("no patch: the tree as it is", None, None);
            return Ok(true);
        };
        let (root, owner) = (dirs.work.join("tree"), self.settings.builder);
        let applied = blocking(move || patching::apply(&root, &bytes, owner))
            .await
            .map_err(|e| OracleError::host("applying the patch", e))?;
        Ok(record.applied(&applied))
    }
}

/// Puts `reproduce.sh`, `inject_test/`, `lib/` and `REBUILD.sh` where containers
/// will see them, readable for every user.
fn lay_out(case: &OracleCase, dirs: &AttemptDirs) -> io::Result<()> {
    fs::create_dir(&dirs.oracle)?;
    fs::create_dir(&dirs.build)?;
    copy_readable(
        &case.dir.join("reproduce.sh"),
        &dirs.oracle.join("reproduce.sh"),
    )?;
    copy_readable(
        &case.dir.join("inject_test"),
        &dirs.oracle.join("inject_test"),
    )?;
    copy_readable(&case.library, &dirs.oracle.join("lib"))?;
    if let Some(script) = case.rebuild_script() {
        fs::write(dirs.build.join("REBUILD.sh"), script)?;
    }
    for dir in [&dirs.oracle, &dirs.build] {
        for entry in tree::walk(dir, &|_| false)? {
            let mode = if entry.kind == tree::Kind::Folder {
                0o755
            } else {
                0o644 | entry.meta.permissions().mode() & 0o111
            };
            fs::set_permissions(dir.join(&entry.relative), fs::Permissions::from_mode(mode))?;
        }
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Copies a file or a folder of plain files; what is not there stays away.
fn copy_readable(from: &Path, to: &Path) -> io::Result<()> {
    let meta = match fs::symlink_metadata(from) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    if meta.is_file() {
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in tree::walk(from, &|_| false)? {
        let (source, target) = (from.join(&entry.relative), to.join(&entry.relative));
        match entry.kind {
            tree::Kind::Folder => fs::create_dir(&target)?,
            tree::Kind::File => drop(fs::copy(&source, &target)?),
            tree::Kind::Link => {
                return Err(io::Error::other(format!("{} is a link", source.display())));
            }
        }
    }
    Ok(())
}

fn source_word(source: &Source) -> &'static str {
    match source {
        Source::Git { .. } => "git",
        Source::Pypi { .. } => "PyPI",
        Source::Crate { .. } => "crate",
        Source::Debian { .. } => "Debian",
        Source::Archive { .. } => "archive",
        Source::Directory { .. } => "shipped",
    }
}

/// The result as it grows.
struct Record<'a> {
    oracle: &'a Oracle,
    attempt: &'a Attempt<'a>,
    result: RepairResult,
    open: Option<(StageKind, u32, Timestamp)>,
    gaps: BTreeSet<String>,
}

impl<'a> Record<'a> {
    fn new(oracle: &'a Oracle, attempt: &'a Attempt<'a>) -> Self {
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
            open: None,
            gaps: BTreeSet::new(),
        }
    }

    fn begin(&mut self, stage: StageKind, repeat: u32) {
        self.open = Some((stage, repeat, self.oracle.clock.now()));
        if let Some(progress) = &self.attempt.progress {
            progress(Progress::Began { stage, repeat });
        }
    }

    /// Cancellation and live output for a run of the open stage.
    fn control(&self, nonce: Option<&str>) -> RunControl {
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

    fn end(&mut self, result: &str, exit_code: Option<i32>, image: Option<&str>) {
        self.push(result, exit_code, image, None, (String::new(), 0));
    }

    fn end_with_log(
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

    fn note_gaps(&mut self, gaps: &[String]) {
        self.gaps.extend(gaps.iter().cloned());
        self.result.notes = self.gaps.iter().cloned().collect();
    }

    fn conclude(&mut self, outcome: Outcome, reason: String) {
        self.result.outcome = outcome;
        self.result.reason = reason;
    }

    fn infra(&mut self, error: &OracleError) {
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
    fn settled_by_patch_alone(&mut self, bytes: &[u8]) -> bool {
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
    fn applied(&mut self, report: &Applied) -> bool {
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
    fn rebuilt(&mut self, run: &RunResult) -> bool {
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

    fn verified(&mut self, judged: &Judged, run: &RunResult, nonce: &str) {
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
