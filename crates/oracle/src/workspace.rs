//! What an agent is given: the prepared tree with its one-commit repository, the
//! symptom, the rebuild script, and the debug context where the condition says
//! so. Never the oracle, the case file, or anything of the solution.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use faultboard_domain::Condition;
use faultboard_sandbox::{Labels, RunControl, Terminal, User};

use crate::case::OracleCase;
use crate::evaluate::{Oracle, OracleError};
use crate::{snapshot, stages, tree};

/// The largest patch that is read out of a workspace.
const MAX_PATCH: usize = 32 << 20;

/// An agent's workspace on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// To mount at `/work`.
    pub work: PathBuf,
    /// The tree inside it, to mount nothing else for.
    pub tree: PathBuf,
    /// Id of the snapshot's one commit; `git diff` against it is the patch.
    pub commit: String,
    /// Digest of the image that it was prepared in.
    pub image_digest: String,
    /// Who owns it, and must run the agent.
    pub owner: User,
}

impl Oracle {
    /// Makes a workspace at `to`, which must not exist yet. On an error nothing
    /// is left there.
    pub async fn prepare_workspace(
        &self,
        case: &OracleCase,
        condition: Condition,
        to: &Path,
        labels: &Labels,
        control: &RunControl,
    ) -> Result<Workspace, OracleError> {
        let prepared = self.prepare(case, labels, control).await?;
        let (to, owner, case) = (to.to_owned(), self.settings.builder, case.clone());
        tokio::task::spawn_blocking(move || {
            let made = prepared.copy_to(&to, owner).and_then(|()| furnish(&case, condition, &to, owner));
            if let Err(e) = made {
                if let Err(left) = tree::remove(&to) {
                    tracing::warn!(path = %to.display(), error = %left, "could not remove a half-made workspace");
                }
                return Err(e);
            }
            Ok(Workspace {
                tree: to.join("tree"),
                work: to,
                commit: prepared.meta.commit.clone(),
                image_digest: prepared.meta.image_digest.clone(),
                owner,
            })
        })
        .await
        .map_err(|e| OracleError::host("making a workspace", io::Error::other(e)))?
    }
}

/// Prints what a workspace's tree has become since the snapshot. Index and new
/// objects lie elsewhere, so that nothing in the workspace changes; new files
/// count, ignored ones don't.
const DIFF: &str = r#"
set -euo pipefail
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_INDEX_FILE=/tmp/index
export GIT_OBJECT_DIRECTORY=/tmp/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=/work/tree/.git/objects
mkdir -p /tmp/objects
git read-tree HEAD
git add -A
git diff --cached --no-color --no-ext-diff --no-textconv HEAD
"#;

impl Oracle {
    /// The patch that a workspace amounts to.
    pub async fn workspace_patch(
        &self,
        case: &OracleCase,
        work: &Path,
        labels: &Labels,
    ) -> Result<Vec<u8>, OracleError> {
        let mut spec = stages::in_tree(case, &self.settings, work, labels, DIFF);
        spec.limits.log_bytes = MAX_PATCH;
        let image = self.runtime.resolve(&case.case.image).await?.0;
        let run = self.run(&spec, RunControl::default(), &image).await?;
        if !run.succeeded() {
            return Err(OracleError::Case(format!(
                "the workspace's changes can't be told (status {}): {}",
                run.exit.status(),
                run.log.text().trim()
            )));
        }
        if run.stdout.cut > 0 {
            return Err(OracleError::Case(format!(
                "the workspace's changes are larger than {MAX_PATCH} bytes"
            )));
        }
        Ok([run.stdout.head, run.stdout.tail].concat())
    }

    /// A shell at a person's terminal in a workspace: the container that an agent
    /// would get, without a network. Its exit status.
    pub async fn workspace_shell(
        &self,
        case: &OracleCase,
        work: &Path,
        labels: &Labels,
        terminal: Terminal,
    ) -> Result<i32, OracleError> {
        let spec = stages::interactive(case, &self.settings, work, labels);
        Ok(self.runtime.shell(&spec, terminal).await?)
    }
}

fn furnish(
    case: &OracleCase,
    condition: Condition,
    work: &Path,
    owner: User,
) -> Result<(), OracleError> {
    let host = |e| OracleError::host("making a workspace", e);
    let root = work.join("tree");
    put(
        &root.join("SYMPTOM.md"),
        case.symptom.as_bytes(),
        0o644,
        owner,
    )
    .map_err(host)?;
    let script = case
        .rebuild_script()
        .unwrap_or_else(|| "#!/usr/bin/env bash\n# There is nothing to build.\n".to_owned());
    put(&root.join("REBUILD.sh"), script.as_bytes(), 0o755, owner).map_err(host)?;
    if condition == Condition::ContextAugmented {
        let folder = root.join("evidence");
        fs::create_dir(&folder)
            .and_then(|()| tree::give(&folder, owner))
            .map_err(host)?;
        for (name, text) in &case.evidence {
            // The catalog gives plain names; anything else would leave the folder.
            if name.contains('/') || name.starts_with('.') || name.is_empty() {
                return Err(OracleError::Case(format!(
                    "`{name}` is no name of an evidence file"
                )));
            }
            put(&folder.join(name), text.as_bytes(), 0o644, owner).map_err(host)?;
        }
    }
    let found = snapshot::unclean(&root.join(".git")).map_err(host)?;
    if !found.is_empty() {
        return Err(OracleError::Unclean {
            case: case.case.id.to_string(),
            found,
        });
    }
    Ok(())
}

fn put(path: &Path, bytes: &[u8], mode: u32, owner: User) -> io::Result<()> {
    // Never over something that the tree brought along, never through a link.
    let mut file = fs::File::options()
        .write(true)
        .create_new(true)
        .open(path)?;
    io::Write::write_all(&mut file, bytes)?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    tree::give(path, owner)
}
