//! Prepared trees: set-up runs once for a case, source pin and image; what it
//! left is kept under its key and copied for each use. Several processes may
//! share the folder: they take turns by file locks, and a tree appears whole or
//! not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use faultboard_sandbox::{CancellationToken, Labels, RunControl, RunResult, RunSpec};
use serde::{Deserialize, Serialize};

use crate::case::OracleCase;
use crate::evaluate::{Oracle, OracleError};
use crate::scratch::Scratch;
use crate::{key, snapshot, stages, tree};

/// What is known of a prepared tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreparedMeta {
    /// The case.
    pub case: String,
    /// Digest of the image that set-up ran in.
    pub image_digest: String,
    /// Digest of the tree, its repository left out.
    pub tree_digest: String,
    /// Outline of everything else in `/work`.
    pub rest_outline: String,
    /// Id of the snapshot's one commit.
    pub commit: String,
    /// Seconds that set-up took.
    pub seconds: f64,
    /// Its log.
    pub log: String,
    /// Bytes cut out of the log's middle.
    pub log_cut: u64,
    /// What the runtime could not enforce.
    pub not_enforced: Vec<String>,
}

/// A prepared tree, locked against removal while this value lives.
#[derive(Debug)]
pub struct Prepared {
    /// The prepared `/work`. Nobody writes here.
    pub work: PathBuf,
    /// What is known of it.
    pub meta: PreparedMeta,
    /// Whether set-up ran just now.
    pub fresh: bool,
    dir: PathBuf,
    _lock: fs::File,
}

impl Prepared {
    /// Copies it to `to`, and proves the copy equal to what set-up left.
    pub(crate) fn copy_to(
        &self,
        to: &Path,
        owner: faultboard_sandbox::User,
    ) -> Result<(), OracleError> {
        let host = |e| OracleError::host("copying the prepared tree", e);
        tree::copy(&self.work, to, owner).map_err(host)?;
        let (tree_digest, rest_outline) = fingerprint(to).map_err(host)?;
        if tree_digest == self.meta.tree_digest && rest_outline == self.meta.rest_outline {
            return Ok(());
        }
        // Without its note it counts as absent, and is made anew.
        fs::remove_file(self.dir.join(META)).map_err(host)?;
        Err(OracleError::Changed {
            case: self.meta.case.clone(),
        })
    }
}

const META: &str = "meta.json";

/// Digest of the tree and outline of the rest of a `/work`.
fn fingerprint(work: &Path) -> io::Result<(String, String)> {
    let tree_digest = tree::digest(&work.join("tree"), &|p| p == Path::new(".git"))?;
    let rest = tree::outline(work, &|p| p == Path::new("tree"))?;
    Ok((tree_digest, rest))
}

impl Oracle {
    fn prepared_dir(&self) -> PathBuf {
        self.settings.data_dir.join("prepared")
    }

    pub(crate) fn scratch_dir(&self) -> PathBuf {
        self.settings.data_dir.join("scratch")
    }

    /// The case's prepared tree; runs set-up if there is none yet.
    pub async fn prepare(
        &self,
        case: &OracleCase,
        labels: &Labels,
        control: &RunControl,
    ) -> Result<Prepared, OracleError> {
        if self.settings.builder.uid == 1001 || self.settings.builder.uid == 0 {
            let uid = self.settings.builder.uid;
            return Err(OracleError::Case(format!(
                "the builder may be neither root nor uid 1001, it is {uid}"
            )));
        }
        let image = self.runtime.resolve(&case.case.image).await?.0;
        let key = key::setup_key(case, &image, self.runtime.name());
        let parent = self.prepared_dir();
        fs::create_dir_all(&parent)
            .map_err(|e| OracleError::host("making the folder of prepared trees", e))?;
        let lock_path = parent.join(format!("{key}.lock"));
        let lock = fs::File::create(&lock_path)
            .map_err(|e| OracleError::host("locking a prepared tree", e))?;
        let dir = parent.join(&key);

        take(&lock, Sharing::Shared, &control.cancel).await?;
        if let Some(meta) = read_meta(&dir) {
            // Its age says when it was last of use.
            let used = fs::File::open(dir.join(META))
                .and_then(|f| f.set_modified(std::time::SystemTime::now()));
            if let Err(e) = used {
                tracing::debug!(error = %e, "could not note the use of a prepared tree");
            }
            return Ok(Prepared {
                work: dir.join("work"),
                meta,
                fresh: false,
                dir,
                _lock: lock,
            });
        }
        lock.unlock()
            .map_err(|e| OracleError::host("unlocking a prepared tree", e))?;
        take(&lock, Sharing::Alone, &control.cancel).await?;
        let (meta, fresh) = match read_meta(&dir) {
            // Somebody else was quicker while we waited.
            Some(meta) => (meta, false),
            None => (
                self.set_up(case, &image, &dir, labels, control).await?,
                true,
            ),
        };
        // Others may use it now; the kernel turns the lock without a gap that
        // matters: whoever removes it in between makes the copy fail, and that
        // is retried.
        lock.lock_shared()
            .map_err(|e| OracleError::host("locking a prepared tree", e))?;
        Ok(Prepared {
            work: dir.join("work"),
            meta,
            fresh,
            dir,
            _lock: lock,
        })
    }

    async fn set_up(
        &self,
        case: &OracleCase,
        image: &str,
        dir: &Path,
        labels: &Labels,
        control: &RunControl,
    ) -> Result<PreparedMeta, OracleError> {
        let host = |what: &'static str| move |e| OracleError::host(what, e);
        let scratch = Scratch::create(&self.scratch_dir(), &format!("prepare-{}", (self.nonce)()))
            .map_err(host("making a working folder"))?;
        let out = scratch.path().join("out");
        let work = out.join("work");
        fs::create_dir_all(&work).map_err(host("making a working folder"))?;
        tree::give(&work, self.settings.builder).map_err(host("giving a folder to the builder"))?;

        let spec = stages::setup(case, &self.settings, &work, labels);
        let run = self.run(&spec, control.clone(), image).await?;
        if !run.succeeded() {
            return Err(setup_failed(case, &spec, &run));
        }
        let tree_dir = work.join("tree");
        if !fs::symlink_metadata(&tree_dir).is_ok_and(|m| m.is_dir()) {
            return Err(OracleError::Setup {
                case: case.case.id.to_string(),
                why: "it left no folder /work/tree".into(),
                timed_out: false,
                log: run.log.text(),
            });
        }
        let unclean = |found: Vec<String>| OracleError::Unclean {
            case: case.case.id.to_string(),
            found,
        };
        let found = blocking({
            let work = work.clone();
            move || snapshot::forbidden(&work)
        })
        .await
        .map_err(host("looking through what set-up left"))?;
        if !found.is_empty() {
            return Err(unclean(found));
        }
        let commit = self
            .make_snapshot(case, &work, image, labels, control)
            .await?;
        let (found, (tree_digest, rest_outline)) = blocking({
            let (work, git) = (work.clone(), tree_dir.join(".git"));
            move || Ok((snapshot::unclean(&git)?, fingerprint(&work)?))
        })
        .await
        .map_err(host("digesting what set-up left"))?;
        if !found.is_empty() {
            return Err(unclean(found));
        }
        let meta = PreparedMeta {
            case: case.case.id.to_string(),
            image_digest: image.to_owned(),
            tree_digest,
            rest_outline,
            commit,
            seconds: run.wall_seconds,
            log: run.log.text(),
            log_cut: run.log.cut,
            not_enforced: run.not_enforced,
        };
        let text = serde_json::to_vec_pretty(&meta)
            .map_err(|e| OracleError::host("noting a prepared tree", io::Error::other(e)))?;
        fs::write(out.join(META), text).map_err(host("noting a prepared tree"))?;
        let target = dir.to_owned();
        blocking(move || {
            // A broken one without its note may be in the way; we hold the lock.
            tree::remove(&target)?;
            fs::rename(&out, &target)
        })
        .await
        .map_err(host("keeping a prepared tree"))?;
        Ok(meta)
    }

    async fn make_snapshot(
        &self,
        case: &OracleCase,
        work: &Path,
        image: &str,
        labels: &Labels,
        control: &RunControl,
    ) -> Result<String, OracleError> {
        let mut spec = stages::in_tree(case, &self.settings, work, labels, snapshot::SCRIPT);
        spec.command.push("snapshot".into());
        spec.command.extend(snapshot::excluded());
        let control = RunControl {
            cancel: control.cancel.clone(),
            sink: None,
        };
        let run = self.run(&spec, control, image).await?;
        let failed = |why: String| OracleError::Setup {
            case: case.case.id.to_string(),
            why,
            timed_out: false,
            log: run.log.text(),
        };
        if !run.succeeded() {
            return Err(failed(format!(
                "making its snapshot failed (status {})",
                run.exit.status()
            )));
        }
        snapshot::read_counts(&String::from_utf8_lossy(&run.stdout.head)).map_err(failed)
    }

    /// Runs a spec and makes sure that it ran in the image that was resolved.
    pub(crate) async fn run(
        &self,
        spec: &RunSpec,
        control: RunControl,
        image: &str,
    ) -> Result<RunResult, OracleError> {
        let run = self.runtime.run(spec, control).await?;
        if run.cancelled() {
            return Err(OracleError::Cancelled);
        }
        if run.image_digest != image {
            return Err(OracleError::ImageMoved {
                image: spec.image.clone(),
            });
        }
        Ok(run)
    }

    /// Removes working folders of dead processes, and prepared trees that were
    /// not used for [`crate::OracleSettings::keep_prepared`]; how many of each.
    pub async fn sweep(&self) -> Result<(usize, usize), OracleError> {
        let (scratch, prepared, keep) = (
            self.scratch_dir(),
            self.prepared_dir(),
            self.settings.keep_prepared,
        );
        blocking(move || Ok((crate::scratch::sweep(&scratch)?, prune(&prepared, keep)?)))
            .await
            .map_err(|e| OracleError::host("sweeping", e))
    }
}

fn setup_failed(case: &OracleCase, spec: &RunSpec, run: &RunResult) -> OracleError {
    let why = if run.timed_out() {
        format!("no end after {} s", spec.timeout.as_secs())
    } else if run.quota_exceeded() {
        "it wrote more than its disk quota".to_owned()
    } else if run.oom {
        "it ran out of memory".to_owned()
    } else {
        format!("exit status {}", run.exit.status())
    };
    OracleError::Setup {
        case: case.case.id.to_string(),
        why,
        timed_out: run.timed_out(),
        log: run.log.text(),
    }
}

fn read_meta(dir: &Path) -> Option<PreparedMeta> {
    serde_json::from_slice(&fs::read(dir.join(META)).ok()?).ok()
}

/// Removes prepared trees that nobody holds and nobody used for `keep`.
fn prune(parent: &Path, keep: Duration) -> io::Result<usize> {
    let entries = match fs::read_dir(parent) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    let mut removed = 0;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "lock") || !path.is_dir() {
            continue;
        }
        let lock = fs::File::create(path.with_extension("lock"))?;
        let used = fs::metadata(path.join(META)).and_then(|m| m.modified());
        let stale = used.is_ok_and(|t| t.elapsed().is_ok_and(|age| age >= keep));
        if stale && lock.try_lock().is_ok() {
            tree::remove(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

#[derive(Clone, Copy)]
enum Sharing {
    Shared,
    Alone,
}

/// Takes a file lock without blocking a thread, until cancelled.
async fn take(
    lock: &fs::File,
    sharing: Sharing,
    cancel: &CancellationToken,
) -> Result<(), OracleError> {
    loop {
        let taken = match sharing {
            Sharing::Shared => lock.try_lock_shared(),
            Sharing::Alone => lock.try_lock(),
        };
        match taken {
            Ok(()) => return Ok(()),
            Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(e)) => {
                return Err(OracleError::host("locking a prepared tree", e));
            }
        }
        tokio::select! {
            () = cancel.cancelled() => return Err(OracleError::Cancelled),
            () = tokio::time::sleep(Duration::from_millis(200)) => {}
        }
    }
}

/// Moves file work off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}
