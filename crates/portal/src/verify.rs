//! Where the oracle meets the queue: verdicts for jobs (cached or run), and
//! agents' workspaces. Proofs of cases are [`crate::proofs`]'s.

use std::path::Path;
use std::sync::Arc;

use faultboard_catalog::Entry;
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::{CaseId, Clock, Condition};
use faultboard_jobs::{CancellationToken, JobContext, JobFailure, LogLine};
use faultboard_oracle::{
    Attempt, Oracle, OracleCase, OracleError, OracleSettings, Progress, ProgressSink,
};
use faultboard_sandbox::{Labels, RunControl, Runtime};
use faultboard_store::jobs::Claimed;
use faultboard_store::revisions;

use crate::machine::{failure, instance};
use crate::{Portal, PortalError, Result, Settings};

/// The oracle of these settings on a runtime.
pub(crate) fn oracle(
    settings: &Settings,
    runtime: Arc<dyn Runtime>,
    clock: Arc<dyn Clock>,
) -> Result<Oracle> {
    let data =
        std::path::absolute(settings.data_dir.join("oracle")).map_err(PortalError::internal)?;
    std::fs::create_dir_all(&data).map_err(PortalError::internal)?;
    let mut own = OracleSettings::new(data);
    own.ca_bundle.clone_from(&settings.ca_bundle);
    Ok(Oracle::new(runtime, own, clock))
}

/// One line per stage, and the output of its programs, to whoever listens.
pub(crate) fn progress(say: Arc<dyn Fn(&str) + Send + Sync>) -> ProgressSink {
    Arc::new(move |p| match p {
        Progress::Began { stage, repeat } => say(&format!("{stage} {repeat} ...\n")),
        Progress::Output { bytes, .. } => say(&String::from_utf8_lossy(bytes)),
        Progress::Ended(record) => say(&format!(
            "{} {}: {} ({:.1} s)\n",
            record.stage,
            record.repeat,
            record.result,
            seconds(record)
        )),
    })
}

fn seconds(record: &faultboard_domain::StageRecord) -> f64 {
    let ms = u32::try_from(record.finished.since_ms(record.started).max(0)).unwrap_or(u32::MAX);
    f64::from(ms) / 1000.0
}

/// Judges a patch outside any queue, for the command line.
pub(crate) async fn judge_here(
    oracle: &Oracle,
    entry: &Entry,
    library: &Path,
    patch: &[u8],
    say: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<RepairResult> {
    let case = OracleCase::from_entry(entry, library);
    let attempt = Attempt {
        case: &case,
        patch,
        labels: own_labels("command-line"),
        cancel: CancellationToken::new(),
        progress: Some(progress(say)),
    };
    oracle
        .evaluate(&attempt)
        .await
        .map_err(PortalError::internal)
}

/// Labels of work that no queue holds: an instance of its own, so that no
/// site's reaper takes it for an orphan.
pub(crate) fn own_labels(what: &str) -> Labels {
    Labels {
        instance: format!("{what}-{}", std::process::id()),
        job: what.to_owned(),
        lease: "none".to_owned(),
    }
}

impl Portal {
    /// The labels of what a job makes.
    pub(crate) fn labels_of(&self, job: &Claimed) -> Labels {
        Labels {
            instance: instance(&self.settings),
            job: job.id.to_string(),
            lease: job.token.clone(),
        }
    }

    pub(crate) fn oracle_case(&self, id: &CaseId) -> Result<OracleCase> {
        Ok(OracleCase::from_entry(
            self.entry(id)?,
            self.catalog.library(),
        ))
    }

    /// The verdict on a patch: of an equal attempt out of the cache unless a
    /// fresh one is wanted, else by the oracle.
    pub(crate) async fn judge(
        &self,
        job: &Claimed,
        case: &CaseId,
        patch: &[u8],
        fresh: bool,
        context: &JobContext,
    ) -> std::result::Result<RepairResult, JobFailure> {
        let infra = |reason: String| JobFailure::Infrastructure {
            reason,
            case: Some(case.clone()),
        };
        let case_files = self.oracle_case(case).map_err(failure)?;
        if !fresh {
            let key = self
                .oracle
                .cache_key(&case_files, patch)
                .await
                .map_err(|e| infra(e.to_string()))?;
            let cached: Option<RepairResult> = async {
                Ok::<_, PortalError>(
                    revisions::cached(&mut *self.store.reader().await?, &key).await?,
                )
            }
            .await
            .map_err(failure)?;
            if let Some(result) = cached {
                context.say("an equal attempt (same patch, case, images and oracle) was judged before; its verdict is reused");
                return Ok(result);
            }
        }
        let log = context.log.clone();
        let attempt = Attempt {
            case: &case_files,
            patch,
            labels: self.labels_of(job),
            cancel: context.cancel.clone(),
            progress: Some(progress(Arc::new(move |text: &str| {
                // After the job nobody reads its log.
                let _ = log.send(LogLine(text.to_owned()));
            }))),
        };
        match self.oracle.evaluate(&attempt).await {
            Ok(result) => Ok(result),
            Err(OracleError::Cancelled) => Err(JobFailure::Cancelled),
            Err(e) => Err(infra(e.to_string())),
        }
    }

    /// Lays the workspace that an agent gets into a folder that does not exist yet.
    pub async fn agent_workspace(
        &self,
        id: &CaseId,
        condition: Condition,
        dir: &Path,
    ) -> Result<()> {
        let case = self.oracle_case(id)?;
        self.oracle
            .prepare_workspace(
                &case,
                condition,
                dir,
                &own_labels("workspace"),
                &RunControl::default(),
            )
            .await
            .map_err(PortalError::internal)?;
        Ok(())
    }
}
