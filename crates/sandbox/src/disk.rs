//! Watching what writable mounts grow to. Few engines can bound a bind mount,
//! so the size is measured while the program runs and the program is stopped
//! when it goes over. Also keeps a reserve of the host's disk free. It only
//! measures; stopping is the caller's work.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::RuntimeError;
use crate::spec::{Mount, Quota};

/// How often free space is looked at.
const TICK: Duration = Duration::from_millis(250);
/// A folder is measured at least this often.
const MEASURE_EVERY: Duration = Duration::from_secs(5);

/// What a folder takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes on disk.
    pub bytes: u64,
    /// Files, folders and links.
    pub files: u64,
}

impl Usage {
    fn over(self, quota: Quota) -> bool {
        // At the quota is over it: no single file may grow past it, so a
        // program that runs into it stops exactly there.
        self.bytes >= quota.bytes || self.files > quota.files
    }
}

/// Measures a folder without following links. What vanishes meanwhile is not
/// counted. Stops early once it is over `stop_at`.
pub fn measure(root: &Path, stop_at: Option<Quota>) -> Usage {
    let mut usage = Usage::default();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // Nested deeper than any path can say: nothing below could be
            // measured, so it counts as too much.
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::NAMETOOLONG.raw_os_error()) => {
                return Usage {
                    bytes: usage.bytes,
                    files: u64::MAX,
                };
            }
            Err(_) => continue,
        };
        for entry in entries.flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            usage.files += 1;
            usage.bytes = usage
                .bytes
                .saturating_add(meta.blocks().saturating_mul(512));
            if meta.is_dir() {
                folders.push(entry.path());
            }
            if stop_at.is_some_and(|quota| usage.over(quota)) {
                return usage;
            }
        }
    }
    usage
}

/// Bytes free for ordinary users on the file system that holds `path`.
pub fn free_bytes(path: &Path) -> Result<u64, RuntimeError> {
    let stat = rustix::fs::statvfs(path)
        .map_err(|e| RuntimeError::io(format!("free space at {}", path.display()), e.into()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The writable mounts of a run.
#[derive(Debug)]
pub(crate) struct DiskWatch {
    mounts: Vec<Watched>,
    reserve: u64,
}

#[derive(Debug, Clone)]
struct Watched {
    path: PathBuf,
    quota: Quota,
    before: Usage,
    free: u64,
    measured: Instant,
}

impl DiskWatch {
    /// Measures the mounts before the run; refuses when the host is too full.
    pub(crate) async fn begin(mounts: &[Mount], reserve: u64) -> Result<Self, RuntimeError> {
        let wanted: Vec<(PathBuf, Quota)> = mounts
            .iter()
            .filter_map(|m| m.writable.map(|q| (m.source.clone(), q)))
            .collect();
        blocking(move || {
            let mut mounts = Vec::new();
            for (path, quota) in wanted {
                let free = checked_free(&path, reserve)?;
                let before = measure(&path, None);
                mounts.push(Watched {
                    path,
                    quota,
                    before,
                    free,
                    measured: Instant::now(),
                });
            }
            Ok(Self { mounts, reserve })
        })
        .await
    }

    /// The largest file that the run could need to write, if it writes to disk at all.
    pub(crate) fn largest_file(&self) -> Option<u64> {
        self.mounts.iter().map(|m| m.quota.bytes).max()
    }

    /// Comes back when a quota is exceeded (`Ok`) or the host is full (`Err`);
    /// never, while all is well.
    pub(crate) async fn exceeded(&mut self) -> Result<(), RuntimeError> {
        if self.mounts.is_empty() {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(TICK).await;
            let reserve = self.reserve;
            let mut mounts = self.mounts.clone();
            let (mounts, over) = blocking(move || {
                let mut over = false;
                for m in &mut mounts {
                    let free = checked_free(&m.path, reserve)?;
                    // Measuring a large tree is slow: only when enough was
                    // written on that disk to matter, or now and then.
                    let written = m.free.saturating_sub(free);
                    if written > m.quota.bytes / 8 || m.measured.elapsed() >= MEASURE_EVERY {
                        over |= measure(&m.path, Some(m.quota)).over(m.quota);
                        m.free = free;
                        m.measured = Instant::now();
                    }
                }
                Ok((mounts, over))
            })
            .await?;
            self.mounts = mounts;
            if over {
                return Ok(());
            }
        }
    }

    /// Growth in bytes since the beginning, and whether a quota is exceeded.
    pub(crate) async fn finish(self) -> (u64, bool) {
        let measured = blocking(move || {
            let mut grown = 0u64;
            let mut over = false;
            for m in &self.mounts {
                let now = measure(&m.path, None);
                grown = grown.saturating_add(now.bytes.saturating_sub(m.before.bytes));
                over |= now.over(m.quota);
            }
            Ok((grown, over))
        })
        .await;
        measured.unwrap_or((0, false))
    }
}

fn checked_free(path: &Path, reserve: u64) -> Result<u64, RuntimeError> {
    let free = free_bytes(path)?;
    if free < reserve {
        return Err(RuntimeError::DiskFull {
            path: path.to_owned(),
            free,
            reserve,
        });
    }
    Ok(free)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RuntimeError> + Send + 'static,
) -> Result<T, RuntimeError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|e| RuntimeError::io("measuring the disk", std::io::Error::other(e)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_files_but_follows_no_link() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/a"), vec![1u8; 100_000]).unwrap();
        std::os::unix::fs::symlink("/usr", dir.path().join("link")).unwrap();
        let usage = measure(dir.path(), None);
        assert_eq!(usage.files, 3);
        assert!((100_000..400_000).contains(&usage.bytes), "{usage:?}");
        let early = measure(
            dir.path(),
            Some(Quota {
                bytes: 1 << 30,
                files: 0,
            }),
        );
        assert_eq!(early.files, 1);
    }

    #[tokio::test]
    async fn a_host_without_reserve_refuses_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let mount = Mount::writable(dir.path(), "/work", Quota { bytes: 1, files: 1 });
        let error = DiskWatch::begin(&[mount], u64::MAX).await.unwrap_err();
        assert_eq!(error.kind(), "disk-full");
    }

    #[tokio::test]
    async fn notices_what_goes_over_and_counts_the_growth() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("before"), vec![1u8; 50_000]).unwrap();
        let mount = Mount::writable(
            dir.path(),
            "/work",
            Quota {
                bytes: 1 << 20,
                files: 3,
            },
        );
        let mut watch = DiskWatch::begin(&[mount], 0).await.unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(dir.path().join(name), vec![1u8; 10_000]).unwrap();
        }
        tokio::time::timeout(Duration::from_secs(20), watch.exceeded())
            .await
            .unwrap()
            .unwrap();
        let (grown, over) = watch.finish().await;
        assert!(over && (30_000..200_000).contains(&grown), "{grown}");
    }
}
