//! Signs of life: a locked file per worker, which the kernel unlocks when the
//! process ends, however it ends. Whoever shares the folder can tell the dead
//! from the living at once, without waiting for a lease to run out; whoever does
//! not share it can tell nothing, and waits.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A worker's sign of life; gone with the value.
#[derive(Debug)]
pub struct Life {
    path: PathBuf,
    /// Held for as long as the worker lives.
    _lock: File,
}

fn path(folder: &Path, worker: &str) -> PathBuf {
    folder.join(format!("{worker}.lock"))
}

impl Life {
    /// Gives the sign of a worker, whose name must be new.
    pub fn begin(folder: &Path, worker: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = path(folder, worker);
        let lock = File::create_new(&path)?;
        lock.try_lock().map_err(io::Error::other)?;
        Ok(Self { path, _lock: lock })
    }

    /// Whether the worker once gave its sign here and lives no more. False where
    /// that can't be told.
    pub fn has_ended(folder: &Path, worker: &str) -> bool {
        File::open(path(folder, worker)).is_ok_and(|lock| lock.try_lock().is_ok())
    }

    /// Takes a dead worker's sign away, once its end is known to the others.
    pub fn bury(folder: &Path, worker: &str) {
        // Gone already is as good.
        let _ = fs::remove_file(path(folder, worker));
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sign_without_a_process_tells_of_death() {
        let folder = tempfile::tempdir().unwrap();
        let life = Life::begin(folder.path(), "w1").unwrap();
        assert!(!Life::has_ended(folder.path(), "w1"), "it lives");
        assert!(!Life::has_ended(folder.path(), "w2"), "nothing is known");
        // As a killed process leaves it: the file is there, nobody locks it.
        fs::write(folder.path().join("w3.lock"), "").unwrap();
        assert!(Life::has_ended(folder.path(), "w3"));
        Life::bury(folder.path(), "w3");
        assert!(!Life::has_ended(folder.path(), "w3"));
        drop(life);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
