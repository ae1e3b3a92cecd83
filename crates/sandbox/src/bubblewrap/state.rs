//! A note on disk about each running program, so that another process can find
//! what a killed worker left behind. Holds no result and no output.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::error::RuntimeError;
use crate::spec::Labels;

const LABELS: &str = "labels.json";
const PROCESS: &str = "process.json";
const STATUS: &str = "status.json";

/// A process that can't be mistaken for a later one with the same number.
#[derive(Debug, Serialize, Deserialize)]
struct ProcessNote {
    pid: i32,
    /// Clock ticks after boot.
    started: u64,
}

/// The folder of one run; removed when dropped.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    name: String,
}

impl RunFolder {
    pub(super) fn create(state_dir: &Path, labels: &Labels) -> Result<Self, RuntimeError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let nanos = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |d| d.as_nanos());
        let name = format!(
            "run-{}-{nanos:x}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = state_dir.join(&name);
        std::fs::create_dir(&path)
            .map_err(|e| RuntimeError::io(format!("making {}", path.display()), e))?;
        let folder = Self { path, name };
        let text = serde_json::to_vec(labels)
            .map_err(|e| RuntimeError::io("writing labels", std::io::Error::other(e)))?;
        folder.write(LABELS, &text)?;
        Ok(folder)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn status_file(&self) -> PathBuf {
        self.path.join(STATUS)
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, RuntimeError> {
        let path = self.path.join(name);
        std::fs::write(&path, bytes)
            .map_err(|e| RuntimeError::io(format!("writing {}", path.display()), e))?;
        Ok(path)
    }

    /// Notes the process of the run; one that is gone already needs no note.
    pub(super) fn note_process(&self, pid: Option<u32>) -> Result<(), RuntimeError> {
        let Some(pid) = pid.and_then(|p| i32::try_from(p).ok()) else {
            return Ok(());
        };
        let Some(started) = start_time(pid) else {
            return Ok(());
        };
        let text = serde_json::to_vec(&ProcessNote { pid, started });
        let text =
            text.map_err(|e| RuntimeError::io("noting a process", std::io::Error::other(e)))?;
        self.write(PROCESS, &text).map(drop)
    }

    /// Whether `bwrap` got as far as the program's own end. If not, the program
    /// never ran, or nobody knows how it ended.
    pub(super) fn program_ended(&self) -> bool {
        std::fs::read(self.status_file())
            .is_ok_and(|bytes| bytes.windows(11).any(|w| w == b"\"exit-code\""))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Err(e) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(path = %self.path.display(), error = %e, "could not remove the note of a run");
        }
    }
}

/// A run that somebody noted.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) labels: Labels,
    pub(super) age: Duration,
    path: PathBuf,
}

/// Every noted run. Folders that hold no readable labels yet are left alone.
pub(super) fn list(state_dir: &Path) -> Result<Vec<Found>, RuntimeError> {
    let entries = std::fs::read_dir(state_dir)
        .map_err(|e| RuntimeError::io(format!("reading {}", state_dir.display()), e))?;
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let Some(name) = path
            .file_name()
            .and_then(|n| n.to_str())
            .filter(|n| n.starts_with("run-"))
        else {
            continue;
        };
        let Some(labels) = read_json::<Labels>(&path.join(LABELS)) else {
            continue;
        };
        let made = std::fs::metadata(path.join(LABELS)).and_then(|m| m.modified());
        let age = made.ok().and_then(|t| t.elapsed().ok()).unwrap_or_default();
        found.push(Found {
            name: name.to_owned(),
            labels,
            age,
            path: path.clone(),
        });
    }
    Ok(found)
}

impl Found {
    /// Kills the noted process if it is still the same one; everything inside
    /// dies with it.
    pub(super) fn kill_process(&self) {
        let Some(note) = read_json::<ProcessNote>(&self.path.join(PROCESS)) else {
            return;
        };
        if start_time(note.pid) == Some(note.started)
            && let Some(pid) = rustix::process::Pid::from_raw(note.pid)
        {
            // It may end in this very moment.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    pub(super) fn remove(&self) -> Result<(), RuntimeError> {
        match std::fs::remove_dir_all(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(RuntimeError::io(
                format!("removing {}", self.path.display()),
                e,
            )),
            _ => Ok(()),
        }
    }
}

fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// When a process began, in ticks after boot: field 22 of its `stat`.
fn start_time(pid: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold spaces; fields are counted after it.
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Labels {
        Labels {
            instance: "i".into(),
            job: "j".into(),
            lease: "l".into(),
        }
    }

    #[test]
    fn a_run_is_noted_while_it_lives() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(dir.path(), &labels()).unwrap();
        assert_eq!(list(dir.path()).unwrap()[0].labels, labels());
        drop(folder);
        assert!(list(dir.path()).unwrap().is_empty());
    }

    #[test]
    fn another_process_with_the_same_number_is_spared() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(dir.path(), &labels()).unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let note = ProcessNote {
            pid: i32::try_from(child.id()).unwrap(),
            started: 1,
        };
        folder
            .write(PROCESS, &serde_json::to_vec(&note).unwrap())
            .unwrap();
        list(dir.path()).unwrap()[0].kill_process();
        std::thread::sleep(Duration::from_millis(50));
        assert!(child.try_wait().unwrap().is_none());
        folder.note_process(Some(child.id())).unwrap();
        list(dir.path()).unwrap()[0].kill_process();
        assert!(!child.wait().unwrap().success());
    }
}
