//! Carrying out an attempt's plan, stage by stage, and recording each. Whatever
//! goes wrong on the platform's side becomes `infra-error`; only a cancelled
//! attempt has no result.

use std::io;
use std::sync::Arc;

use faultboard_domain::case::Source;
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::{Clock, StageKind, StageRecord};
use faultboard_sandbox::{CancellationToken, Labels, LogStream, Runtime, RuntimeError};

use crate::case::OracleCase;
use crate::judge::{self, Verdict};
use crate::layout::lay_out;
use crate::prepare::blocking;
use crate::record::Record;
use crate::scratch::Scratch;
use crate::settings::{OracleSettings, default_nonce};
use crate::stages::{self, AttemptDirs, Stage};
use crate::{key, patching};

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
        /// Whether it ran out of time.
        timed_out: bool,
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

    pub(crate) fn log(&self) -> &str {
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

    /// Judges the faulty tree as it is, with the case's repeats.
    pub async fn evaluate_as_is(&self, attempt: &Attempt<'_>) -> Result<RepairResult, OracleError> {
        let repeats = attempt.case.case.oracle.repeats.max(1);
        self.judge_tree(attempt, None, repeats).await
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
        if let Some(scratch) = record.scratch.take() {
            // A failure is logged, and the next sweep tries again.
            blocking(move || {
                drop(scratch);
                Ok(())
            })
            .await
            .map_err(|e| OracleError::host("removing a working folder", e))?;
        }
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
        record.scratch = Some(scratch);
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
        Ok(())
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
