//! Working folders that vanish: with the value that owns them, or, after a kill
//! of the whole process, with the next [`sweep`]. A lock file that the kernel
//! releases by itself tells the living from the dead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::tree;

const LOCK: &str = "lock";

/// A folder of its own under a parent, removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Held for as long as the folder is in use.
    _lock: fs::File,
}

impl Scratch {
    /// Makes one; `name` must be new.
    pub fn create(parent: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let path = parent.join(name);
        fs::create_dir(&path)?;
        let lock = fs::File::create(path.join(LOCK))?;
        lock.try_lock().map_err(io::Error::other)?;
        Ok(Self { path, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(e) = tree::remove(&self.path) {
            tracing::warn!(path = %self.path.display(), error = %e, "could not remove a working folder; the next sweep will try");
        }
    }
}

/// Removes the folders under `parent` that no living process holds, and returns
/// how many. Folders without a lock file yet are spared unless they are old.
pub fn sweep(parent: &Path) -> io::Result<usize> {
    let entries = match fs::read_dir(parent) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    let mut removed = 0;
    for entry in entries {
        let path = entry?.path();
        let dead = match fs::File::open(path.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(_) => fs::symlink_metadata(&path)
                .and_then(|m| m.modified())
                .is_ok_and(|t| t.elapsed().is_ok_and(|age| age.as_secs() > 600)),
        };
        if dead {
            tree::remove(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_are_spared_and_the_dead_removed() {
        let dir = tempfile::tempdir().unwrap();
        let living = Scratch::create(dir.path(), "living").unwrap();
        fs::create_dir(dir.path().join("dead")).unwrap();
        fs::write(dir.path().join("dead/lock"), "").unwrap();
        fs::create_dir(dir.path().join("young")).unwrap();
        assert_eq!(sweep(dir.path()).unwrap(), 1);
        assert!(living.path().exists() && dir.path().join("young").exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
        assert_eq!(sweep(&dir.path().join("nowhere")).unwrap(), 0);
    }
}
