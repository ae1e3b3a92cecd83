//! Replays: a maintainer has the commands of a trace run once more, by a job, and
//! reads where output or tree depart from what was handed in. Anybody with the
//! files can do the same at a terminal. It decides nothing: no score changes.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::trace::Step;
use faultboard_domain::view::{ReplayStatus, ReplayView};
use faultboard_domain::{Actor, AttemptId, CaseId, Condition};
use faultboard_jobs::{JobContext, JobFailure, LogLine};
use faultboard_oracle::OracleError;
use faultboard_oracle::replay::{Request, Shell, Told};
use faultboard_sandbox::{LogStream, RunControl};
use faultboard_store::attempts::{self, Attempt};
use faultboard_store::jobs::{self, Claimed, NewJob};
use faultboard_store::replays;

use crate::machine::failure;
use crate::verify::own_labels;
use crate::{Change, Portal, PortalError, Result};

/// The largest normalised trace that is replayed.
const TRACE_MOST: u64 = 256 << 20;
/// The largest patch that is compared.
const PATCH_MOST: u64 = 32 << 20;

/// How a scaffold's commands share a shell: mini-swe-agent says that each has its
/// own, the others keep one.
fn shell_of(format: &str) -> Shell {
    if format.starts_with("mini-swe-agent") {
        Shell::Fresh
    } else {
        Shell::Kept
    }
}

/// The command of a step and what the trace says of it; none for a step that did
/// nothing.
fn told(step: &Step) -> Option<Told> {
    let action = step.action.as_ref()?;
    let seen = step.observation.as_ref();
    let script = match faultboard_trace::script_of_action(action) {
        Some(script) => Ok(script),
        None => Err(format!("its tool, {}, is no shell", action.tool)),
    };
    // What ends a run has no output of its own: its patch stands there.
    let submits = action.kind == faultboard_domain::trace::ActionKind::Submit;
    Some(Told {
        index: step.index,
        script,
        output: seen.filter(|_| !submits).map(|o| o.text.clone()),
        exit_code: seen.filter(|_| !submits).and_then(|o| o.exit_code),
        truncated: seen.is_some_and(|o| o.truncated),
    })
}

impl Portal {
    fn replayable(&self, a: &Attempt) -> Result<()> {
        if a.normalised.is_none() {
            return Err(PortalError::Conflict(
                "This trace could not be read as steps, so there is nothing to run again."
                    .to_owned(),
            ));
        }
        self.entry(&a.case).map(|_| ())
    }

    /// Has an attempt's commands run once more.
    pub async fn request_replay(&self, actor: &Actor, id: &AttemptId) -> Result<()> {
        if !actor.is_maintainer() {
            return Err(if *actor == Actor::Anonymous {
                PortalError::SignInNeeded
            } else {
                PortalError::Forbidden
            });
        }
        let (a, s) = self.readable_attempt(actor, id).await?;
        self.replayable(&a)?;
        let job = NewJob {
            kind: JobKind::Replay,
            priority: Priority::Bulk,
            subject: format!("replay of {} {}", a.case, a.run),
            submission: Some(s.id),
            revision: None,
            attempt: Some(id.clone()),
            exclusive_key: None,
            unique_key: Some(format!("replay:{id}")),
            max_tries: 3,
        };
        let mut tx = self.store.begin().await?;
        let added = jobs::insert(&mut tx, &job, self.now()).await?;
        tx.commit().await?;
        if !added {
            return Err(PortalError::Conflict(
                "A replay of this attempt is under way already.".to_owned(),
            ));
        }
        self.wake();
        self.tell(Change::Queue);
        Ok(())
    }

    /// An attempt's newest replay, for maintainers; nothing for others.
    pub async fn replay_of(&self, actor: &Actor, id: &AttemptId) -> Result<Option<ReplayStatus>> {
        let (_, s) = self.readable_attempt(actor, id).await?;
        if !actor.is_maintainer() {
            return Ok(None);
        }
        let mut c = self.store.reader().await?;
        let newest = replays::newest(&mut c, id).await?;
        let under_way = jobs::unfinished_of(&mut c, &s.id)
            .await?
            .iter()
            .any(|j| j.kind == JobKind::Replay && j.attempt.as_ref() == Some(id));
        Ok(Some(ReplayStatus { newest, under_way }))
    }

    /// The job: replays one attempt.
    pub(crate) async fn run_replay(
        &self,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        let id = job
            .attempt
            .clone()
            .ok_or_else(|| failure(PortalError::internal("a replay without its attempt")))?;
        let a = async {
            let mut c = self.store.reader().await?;
            attempts::get(&mut c, &id)
                .await?
                .ok_or(PortalError::NotFound)
        }
        .await
        .map_err(failure)?;
        let (steps, patch) = self.replay_input(&a).await.map_err(failure)?;
        let case = self.oracle_case(&a.case).map_err(failure)?;
        let format = a.summary.as_ref().map_or("", |s| s.format.as_str());
        let request = Request {
            condition: a.condition.unwrap_or(Condition::SymptomOnly),
            told: &steps,
            shell: shell_of(format),
            patch: patch.as_deref(),
        };
        let log = context.log.clone();
        let control = RunControl {
            cancel: context.cancel.clone(),
            sink: Some(Arc::new(move |_: LogStream, bytes: &[u8]| {
                // After the job nobody reads its log.
                let _ = log.send(LogLine(String::from_utf8_lossy(bytes).into_owned()));
            })),
        };
        let labels = self.labels_of(job);
        let view = match self.oracle.replay(&case, &request, &labels, &control).await {
            Ok(view) => view,
            Err(OracleError::Cancelled) => return Err(JobFailure::Cancelled),
            Err(e) => {
                return Err(JobFailure::Infrastructure {
                    reason: e.to_string(),
                    case: Some(a.case.clone()),
                });
            }
        };
        context.say(view.sentence());
        self.keep_replay(job, &id, &view).await.map_err(failure)
    }

    async fn keep_replay(&self, job: &Claimed, id: &AttemptId, view: &ReplayView) -> Result<()> {
        let mut tx = self.store.begin().await?;
        if jobs::finish(&mut tx, job.id, &job.token, self.now()).await? {
            replays::insert(&mut tx, id, view, self.now()).await?;
            tx.commit().await?;
            self.tell(Change::Queue);
        }
        Ok(())
    }

    /// The commands of an attempt's trace, and its patch.
    async fn replay_input(&self, a: &Attempt) -> Result<(Vec<Told>, Option<Vec<u8>>)> {
        self.replayable(a)?;
        let stored = a.normalised.as_ref().ok_or(PortalError::NotFound)?;
        let bytes = self.blobs.get(&stored.digest, TRACE_MOST).await?;
        let mut steps = Vec::new();
        for line in bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
            let step: Step = serde_json::from_slice(line).map_err(PortalError::internal)?;
            steps.extend(told(&step));
        }
        let patch = match &a.patch {
            Some(p) => Some(self.blobs.get(&p.digest, PATCH_MOST).await?.to_vec()),
            None => None,
        };
        Ok((steps, patch))
    }

    /// Replays a trace's file in a fresh container of a case, at a terminal.
    pub async fn replay_file(
        &self,
        case: &CaseId,
        condition: Condition,
        trace: &Path,
        patch: Option<&Path>,
        say: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<ReplayView> {
        let unusable =
            |path: &Path, e: String| PortalError::Invalid(format!("{}: {e}", path.display()));
        let file = std::fs::File::open(trace).map_err(|e| unusable(trace, e.to_string()))?;
        let mut steps = Vec::new();
        let read = faultboard_trace::read_trace(
            &mut BufReader::new(file),
            &faultboard_trace::Limits::default(),
            &mut |step| steps.extend(told(&step)),
        )
        .map_err(|e| unusable(trace, e.to_string()))?;
        let patch = patch
            .map(|p| std::fs::read(p).map_err(|e| unusable(p, e.to_string())))
            .transpose()?;
        let request = Request {
            condition,
            told: &steps,
            shell: shell_of(&read.summary.format),
            patch: patch.as_deref(),
        };
        let control = RunControl {
            sink: Some(Arc::new(move |_: LogStream, bytes: &[u8]| {
                say(&String::from_utf8_lossy(bytes));
            })),
            ..RunControl::default()
        };
        self.oracle
            .replay(
                &self.oracle_case(case)?,
                &request,
                &own_labels("replay"),
                &control,
            )
            .await
            .map_err(|e| PortalError::Invalid(e.to_string()))
    }
}
