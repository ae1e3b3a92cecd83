//! Work on a case at a terminal: one workspace per case and data folder, under a
//! random name as an agent's would be, with a note of which case it belongs to.
//! For the command line of whoever runs the machine; no role is asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faultboard_domain::outcome::RepairResult;
use faultboard_domain::{CaseId, Condition, Timestamp};
use faultboard_jobs::CancellationToken;
use faultboard_oracle::Attempt;
use faultboard_sandbox::{RunControl, Terminal};
use serde::{Deserialize, Serialize};

use crate::verify::{own_labels, progress};
use crate::{Portal, PortalError, Result, random};

/// What is known of the workspace of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchWorkspace {
    /// The case.
    pub case: CaseId,
    /// What its agent may know.
    pub condition: Condition,
    /// The folder to mount at `/work`.
    pub dir: PathBuf,
    /// Id of the snapshot's one commit.
    pub commit: String,
    /// The image that it was prepared in.
    pub image: String,
    /// Digest of that image.
    pub image_digest: String,
    /// Who owns it, and must run the agent: uid and gid.
    pub owner: (u32, u32),
    /// When it was made, or reset.
    pub made: Timestamp,
}

/// A prepared tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchTree {
    /// The case.
    pub case: CaseId,
    /// Whether set-up ran just now.
    pub fresh: bool,
    /// Seconds that set-up took.
    pub seconds: f64,
    /// Digest of the tree.
    pub tree_digest: String,
    /// Digest of the image.
    pub image_digest: String,
}

impl Portal {
    fn bench_dir(&self) -> PathBuf {
        self.settings.data_dir.join("bench")
    }

    fn bench_note(&self, id: &CaseId) -> PathBuf {
        self.bench_dir().join(format!("{id}.json"))
    }

    /// The case's workspace, if there is one.
    pub fn bench_workspace(&self, id: &CaseId) -> Result<Option<BenchWorkspace>> {
        let note = match fs::read(self.bench_note(id)) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(PortalError::internal(e)),
        };
        // A note that can't be read counts as none; its folder is found by hand.
        Ok(serde_json::from_slice(&note)
            .ok()
            .filter(|w: &BenchWorkspace| w.dir.is_dir()))
    }

    /// Prepares the case's tree, by set-up if it is not there yet.
    pub async fn bench_setup(
        &self,
        id: &CaseId,
        say: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<BenchTree> {
        let case = self.oracle_case(id)?;
        let control = RunControl {
            cancel: CancellationToken::new(),
            sink: Some(Arc::new(move |_, bytes: &[u8]| {
                say(&String::from_utf8_lossy(bytes));
            })),
        };
        let prepared = self
            .oracle
            .prepare(&case, &own_labels("bench"), &control)
            .await
            .map_err(told)?;
        Ok(BenchTree {
            case: id.clone(),
            fresh: prepared.fresh,
            seconds: prepared.meta.seconds,
            tree_digest: prepared.meta.tree_digest.clone(),
            image_digest: prepared.meta.image_digest.clone(),
        })
    }

    /// The case's workspace; made, in `dir` or under a random name, if there is none.
    pub async fn bench_agent(
        &self,
        id: &CaseId,
        condition: Option<Condition>,
        dir: Option<&Path>,
    ) -> Result<BenchWorkspace> {
        if let Some(there) = self.bench_workspace(id)? {
            let same_dir = dir.is_none_or(|d| d == there.dir);
            if same_dir && condition.is_none_or(|c| c == there.condition) {
                return Ok(there);
            }
            return Err(PortalError::Conflict(format!(
                "There is a workspace of {id} ({}) in {} already. Reset it to begin anew.",
                there.condition.title(),
                there.dir.display()
            )));
        }
        let name = random::id_text('w');
        let dir = dir.map_or_else(|| self.bench_dir().join(name), Path::to_owned);
        self.bench_make(id, condition.unwrap_or(Condition::SymptomOnly), dir)
            .await
    }

    /// Throws the workspace's edits away: it is made anew, and every byte of the
    /// tree compared with what set-up left.
    pub async fn bench_reset(
        &self,
        id: &CaseId,
        condition: Option<Condition>,
    ) -> Result<BenchWorkspace> {
        let there = self.bench_needed(id)?;
        let gone = there.dir.clone();
        tokio::task::spawn_blocking(move || faultboard_oracle::tree::remove(&gone))
            .await
            .map_err(PortalError::internal)?
            .map_err(PortalError::internal)?;
        let condition = condition.unwrap_or(there.condition);
        self.bench_make(id, condition, there.dir).await
    }

    async fn bench_make(
        &self,
        id: &CaseId,
        condition: Condition,
        dir: PathBuf,
    ) -> Result<BenchWorkspace> {
        fs::create_dir_all(self.bench_dir()).map_err(PortalError::internal)?;
        let dir = std::path::absolute(dir).map_err(PortalError::internal)?;
        let case = self.oracle_case(id)?;
        let made = self
            .oracle
            .prepare_workspace(
                &case,
                condition,
                &dir,
                &own_labels("bench"),
                &RunControl::default(),
            )
            .await
            .map_err(told)?;
        let workspace = BenchWorkspace {
            case: id.clone(),
            condition,
            dir,
            commit: made.commit,
            image: case.case.image.clone(),
            image_digest: made.image_digest,
            owner: (made.owner.uid, made.owner.gid),
            made: self.now(),
        };
        let note = serde_json::to_vec_pretty(&workspace).map_err(PortalError::internal)?;
        fs::write(self.bench_note(id), note).map_err(PortalError::internal)?;
        Ok(workspace)
    }

    fn bench_needed(&self, id: &CaseId) -> Result<BenchWorkspace> {
        self.bench_workspace(id)?.ok_or_else(|| {
            PortalError::Conflict(format!(
                "There is no workspace of {id} yet. Make one with `faultboard bench agent {id}`."
            ))
        })
    }

    /// A shell in the case's workspace; its exit status.
    pub async fn bench_shell(&self, id: &CaseId, terminal: Terminal) -> Result<i32> {
        let there = self.bench_needed(id)?;
        let case = self.oracle_case(id)?;
        self.oracle
            .workspace_shell(&case, &there.dir, &own_labels("bench"), terminal)
            .await
            .map_err(told)
    }

    /// Judges the workspace as it is now, as an attempt with these changes would
    /// be: they become a patch, and the patch goes through every stage. The patch,
    /// and the verdict.
    pub async fn bench_reproduce(
        &self,
        id: &CaseId,
        repeats: Option<u32>,
        say: Arc<dyn Fn(&str) + Send + Sync>,
    ) -> Result<(Vec<u8>, RepairResult)> {
        let there = self.bench_needed(id)?;
        let mut case = self.oracle_case(id)?;
        if let Some(repeats) = repeats {
            case.case.oracle.repeats = repeats.max(1);
        }
        let labels = own_labels("bench");
        let patch = self
            .oracle
            .workspace_patch(&case, &there.dir, &labels)
            .await
            .map_err(told)?;
        let attempt = Attempt {
            case: &case,
            patch: &patch,
            labels,
            cancel: CancellationToken::new(),
            progress: Some(progress(say)),
        };
        // Without any change the faulty tree itself is judged.
        let result = if patch.is_empty() {
            self.oracle.evaluate_as_is(&attempt).await
        } else {
            self.oracle.evaluate(&attempt).await
        };
        Ok((patch, result.map_err(told)?))
    }
}

/// What the oracle says, for a person at a terminal.
fn told(e: faultboard_oracle::OracleError) -> PortalError {
    PortalError::Invalid(e.to_string())
}
