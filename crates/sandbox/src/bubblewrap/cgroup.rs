//! Control groups for a run, version 1 or 2, where this process may make them.
//! What can't be made is left out; the backend says so on the result.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::RuntimeError;
use crate::spec::Limits;

const MOUNT: &str = "/sys/fs/cgroup";
const PARENT: &str = "faultboard";
const PERIOD_US: u64 = 100_000;

/// The hierarchies that can be used here.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    cpu: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
    unified: Option<PathBuf>,
}

impl Cgroups {
    /// Tries each by making our parent group in it.
    pub(super) fn probe() -> Self {
        let mount = Path::new(MOUNT);
        if mount.join("cgroup.controllers").exists() {
            return Self {
                unified: probe_unified(mount),
                ..Self::default()
            };
        }
        let usable = |name: &str| {
            let parent = mount.join(name).join(PARENT);
            std::fs::create_dir_all(&parent).ok()?;
            can_make_groups(&parent).then_some(parent)
        };
        Self {
            memory: usable("memory"),
            pids: usable("pids"),
            cpu: usable("cpu"),
            cpuacct: usable("cpuacct"),
            unified: None,
        }
    }

    pub(super) fn memory(&self) -> bool {
        self.memory.is_some() || self.unified.is_some()
    }

    pub(super) fn pids(&self) -> bool {
        self.pids.is_some() || self.unified.is_some()
    }

    pub(super) fn cpu(&self) -> bool {
        self.cpu.is_some() || self.unified.is_some()
    }

    /// The group of a run by its name, whether it exists or not.
    pub(super) fn adopt(&self, name: &str) -> Group {
        let at = |parent: &Option<PathBuf>| parent.as_ref().map(|p| p.join(name));
        Group {
            memory: at(&self.memory),
            pids: at(&self.pids),
            cpu: at(&self.cpu),
            cpuacct: at(&self.cpuacct),
            unified: at(&self.unified),
        }
    }

    /// Makes the group of a run and sets its limits.
    pub(super) fn create(&self, name: &str, limits: &Limits) -> Result<Group, RuntimeError> {
        let group = self.adopt(name);
        for folder in group.folders() {
            std::fs::create_dir(folder)
                .map_err(|e| RuntimeError::io(format!("making {}", folder.display()), e))?;
        }
        let quota = u64::from(limits.cpu_millis) * PERIOD_US / 1000;
        let memory = limits.memory_bytes.to_string();
        if let Some(folder) = &group.memory {
            set(folder, "memory.limit_in_bytes", &memory)?;
            // Not there where the kernel doesn't account swap; then there is no such limit to set.
            if folder.join("memory.memsw.limit_in_bytes").exists() {
                set(folder, "memory.memsw.limit_in_bytes", &memory)?;
            }
        }
        if let Some(folder) = &group.pids {
            set(folder, "pids.max", &limits.pids.to_string())?;
        }
        if let Some(folder) = &group.cpu {
            set(folder, "cpu.cfs_period_us", &PERIOD_US.to_string())?;
            set(folder, "cpu.cfs_quota_us", &quota.to_string())?;
        }
        if let Some(folder) = &group.unified {
            set(folder, "memory.max", &memory)?;
            if folder.join("memory.swap.max").exists() {
                set(folder, "memory.swap.max", "0")?;
            }
            set(folder, "pids.max", &limits.pids.to_string())?;
            set(folder, "cpu.max", &format!("{quota} {PERIOD_US}"))?;
        }
        Ok(group)
    }
}

/// Tries it: the parent may be there and belong to somebody else, and a folder
/// without the kernel's files is a controller that the host switched off.
fn can_make_groups(parent: &Path) -> bool {
    let probe = parent.join(format!("probe-{}", std::process::id()));
    let made = std::fs::create_dir(&probe).is_ok();
    let real = made
        && std::fs::File::options()
            .write(true)
            .open(probe.join("cgroup.procs"))
            .is_ok();
    if made && let Err(e) = std::fs::remove_dir(&probe) {
        tracing::warn!(path = %probe.display(), error = %e, "could not remove a control group");
    }
    real
}

fn probe_unified(mount: &Path) -> Option<PathBuf> {
    let parent = mount.join(PARENT);
    std::fs::create_dir_all(&parent).ok()?;
    for folder in [mount, &parent] {
        // May be on already; the check below decides.
        std::fs::write(folder.join("cgroup.subtree_control"), "+memory +pids +cpu").ok();
    }
    let on = std::fs::read_to_string(parent.join("cgroup.subtree_control")).ok()?;
    ["memory", "pids", "cpu"]
        .iter()
        .all(|c| on.split_whitespace().any(|w| w == *c))
        .then_some(parent)
        .filter(|parent| can_make_groups(parent))
}

fn set(folder: &Path, file: &str, value: &str) -> Result<(), RuntimeError> {
    let path = folder.join(file);
    std::fs::write(&path, value)
        .map_err(|e| RuntimeError::io(format!("setting {}", path.display()), e))
}

/// The group of one run; removed when dropped.
#[derive(Debug)]
pub(super) struct Group {
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
    cpu: Option<PathBuf>,
    cpuacct: Option<PathBuf>,
    unified: Option<PathBuf>,
}

/// What a run used.
#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) peak_memory: Option<u64>,
    pub(super) cpu_seconds: Option<f64>,
    pub(super) oom: bool,
}

impl Group {
    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        [
            &self.memory,
            &self.pids,
            &self.cpu,
            &self.cpuacct,
            &self.unified,
        ]
        .into_iter()
        .flatten()
    }

    /// Files that a process writes its number to, to join.
    pub(super) fn join_files(&self) -> Vec<String> {
        self.folders()
            .map(|f| f.join("cgroup.procs").to_string_lossy().into_owned())
            .collect()
    }

    /// Kills everything in the group, for at most a few seconds.
    pub(super) async fn kill_all(&self) {
        for _ in 0..200 {
            let mut any = false;
            for folder in self.folders() {
                let listed =
                    std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
                for pid in listed
                    .lines()
                    .filter_map(|l| l.trim().parse().ok())
                    .filter_map(rustix::process::Pid::from_raw)
                {
                    any = true;
                    // It may be gone by now, which is what is wanted.
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
            }
            if !any {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tracing::warn!("processes of a run do not die");
    }

    pub(super) fn usage(&self) -> Usage {
        let number = |folder: &Option<PathBuf>, file: &str| -> Option<u64> {
            std::fs::read_to_string(folder.as_ref()?.join(file))
                .ok()?
                .trim()
                .parse()
                .ok()
        };
        let field = |folder: &Option<PathBuf>, file: &str, key: &str| -> Option<u64> {
            let text = std::fs::read_to_string(folder.as_ref()?.join(file)).ok()?;
            text.lines()
                .find_map(|l| l.strip_prefix(key)?.trim().parse().ok())
        };
        let nanos = number(&self.cpuacct, "cpuacct.usage").or_else(|| {
            field(&self.unified, "cpu.stat", "usage_usec ").map(|us| us.saturating_mul(1000))
        });
        let killed = field(&self.memory, "memory.oom_control", "oom_kill ")
            .or_else(|| field(&self.unified, "memory.events", "oom_kill "));
        #[expect(
            clippy::cast_precision_loss,
            reason = "nanoseconds to seconds for people"
        )]
        let cpu_seconds = nanos.map(|n| n as f64 / 1e9);
        Usage {
            peak_memory: number(&self.memory, "memory.max_usage_in_bytes")
                .or_else(|| number(&self.unified, "memory.peak")),
            cpu_seconds,
            oom: killed.is_some_and(|n| n > 0),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in self.folders() {
            // The kernel lets go of a group a moment after its last process.
            for _ in 0..50 {
                match std::fs::remove_dir(folder) {
                    Err(e) if e.kind() == std::io::ErrorKind::ResourceBusy => {
                        std::thread::sleep(Duration::from_millis(2))
                    }
                    _ => break,
                }
            }
        }
    }
}
