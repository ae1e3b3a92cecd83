//! A run as data, and the rules that every run keeps whatever the backend.
//! What a spec can't say, no program can get: there is no way to ask for
//! privileges, the engine's socket, a device or a terminal.

use std::collections::BTreeMap;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::RuntimeError;

/// Sockets through which an engine could be told to do anything.
const ENGINE_SOCKETS: &[&str] = &[
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
];

/// A Linux capability that a case may ask for. Those that reach out of a
/// container (`SYS_ADMIN`, `SYS_MODULE`, `MKNOD` ...) have no variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(
    missing_docs,
    reason = "each is explained in capabilities(7) under its own name"
)]
pub enum Capability {
    Chown,
    DacOverride,
    Fowner,
    IpcLock,
    Kill,
    NetAdmin,
    NetBindService,
    NetRaw,
    Setgid,
    Setuid,
    SysNice,
    SysPtrace,
}

impl Capability {
    /// Every capability that may be asked for.
    pub const ALL: &'static [Self] = &[
        Self::Chown,
        Self::DacOverride,
        Self::Fowner,
        Self::IpcLock,
        Self::Kill,
        Self::NetAdmin,
        Self::NetBindService,
        Self::NetRaw,
        Self::Setgid,
        Self::Setuid,
        Self::SysNice,
        Self::SysPtrace,
    ];

    /// The kernel's name without `CAP_`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chown => "CHOWN",
            Self::DacOverride => "DAC_OVERRIDE",
            Self::Fowner => "FOWNER",
            Self::IpcLock => "IPC_LOCK",
            Self::Kill => "KILL",
            Self::NetAdmin => "NET_ADMIN",
            Self::NetBindService => "NET_BIND_SERVICE",
            Self::NetRaw => "NET_RAW",
            Self::Setgid => "SETGID",
            Self::Setuid => "SETUID",
            Self::SysNice => "SYS_NICE",
            Self::SysPtrace => "SYS_PTRACE",
        }
    }

    /// By its name, with or without `CAP_`; `None` if it may not be asked for.
    pub fn parse(name: &str) -> Option<Self> {
        let name = name.strip_prefix("CAP_").unwrap_or(name);
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }
}

/// Bounds on what a writable mount may grow to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes on disk; reaching them stops the run.
    pub bytes: u64,
    /// Files and folders.
    pub files: u64,
}

/// A folder or file of the host inside the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The host's path; it must exist and may not be a link.
    pub source: PathBuf,
    /// Absolute path inside.
    pub target: String,
    /// `None` mounts it read-only; else it is writable up to the quota.
    pub writable: Option<Quota>,
}

impl Mount {
    /// A read-only mount.
    pub fn read_only(source: impl Into<PathBuf>, target: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            target: target.into(),
            writable: None,
        }
    }

    /// A writable mount with a quota.
    pub fn writable(source: impl Into<PathBuf>, target: impl Into<String>, quota: Quota) -> Self {
        Self {
            source: source.into(),
            target: target.into(),
            writable: Some(quota),
        }
    }
}

/// A folder in memory, gone after the run. Programs may be executed from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tmpfs {
    /// Absolute path inside.
    pub target: String,
    /// Size in bytes; counts against the memory limit.
    pub bytes: u64,
}

/// Who the program runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id; there are no further groups.
    pub gid: u32,
}

impl User {
    /// Root inside, without capabilities but those that the run declares.
    pub const ROOT: Self = Self { uid: 0, gid: 0 };
}

/// Upper bounds of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Memory in bytes; swap is not added to it.
    pub memory_bytes: u64,
    /// CPUs in thousandths; cut to what the machine has.
    pub cpu_millis: u32,
    /// Processes and threads.
    pub pids: u64,
    /// Open files per process.
    pub nofile: u64,
    /// Bytes of output that are kept, half from each end.
    pub log_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 2 << 30,
            cpu_millis: 2000,
            pids: 512,
            nofile: 4096,
            log_bytes: 1 << 20,
        }
    }
}

/// What a run can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Network {
    /// Nothing but its own loopback.
    #[default]
    None,
    /// The network that the site gives to set-up.
    Setup,
}

/// Whose a container is; the reaper goes by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Labels {
    /// The installation.
    pub instance: String,
    /// The job.
    pub job: String,
    /// The job's lease.
    pub lease: String,
}

/// One run of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSpec {
    /// Image reference; resolved to a digest before use.
    pub image: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Environment; `TZ`, `LANG` and `PATH` are the runtime's.
    pub env: BTreeMap<String, String>,
    /// Absolute path of the working folder.
    pub workdir: String,
    /// Host folders inside.
    pub mounts: Vec<Mount>,
    /// Folders in memory.
    pub tmpfs: Vec<Tmpfs>,
    /// Who runs it.
    pub user: User,
    /// Capabilities kept; all others are dropped.
    pub caps: Vec<Capability>,
    /// Upper bounds.
    pub limits: Limits,
    /// When the whole tree is killed.
    pub timeout: Duration,
    /// What it can reach.
    pub network: Network,
    /// Host name inside.
    pub hostname: String,
    /// Whose it is.
    pub labels: Labels,
}

impl RunSpec {
    /// A run of `command` in `image` with default limits, ten minutes, no
    /// network, no mounts, a small `/tmp`, as root without capabilities.
    pub fn new(image: impl Into<String>, command: &[&str], labels: Labels) -> Self {
        Self {
            image: image.into(),
            command: command.iter().map(|&s| s.to_owned()).collect(),
            env: BTreeMap::new(),
            workdir: "/".to_owned(),
            mounts: Vec::new(),
            tmpfs: vec![Tmpfs {
                target: "/tmp".to_owned(),
                bytes: 256 << 20,
            }],
            user: User::ROOT,
            caps: Vec::new(),
            limits: Limits::default(),
            timeout: Duration::from_secs(600),
            network: Network::None,
            hostname: "faultboard".to_owned(),
            labels,
        }
    }

    /// The environment as every backend sets it.
    pub fn full_env(&self) -> BTreeMap<String, String> {
        let mut env = self.env.clone();
        env.insert("TZ".into(), "UTC".into());
        env.insert("LANG".into(), "C.UTF-8".into());
        env.insert(
            "PATH".into(),
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into(),
        );
        env.entry("HOME".into()).or_insert_with(|| "/tmp".into());
        env
    }

    /// Checks the rules that hold on every backend; looks at the host's files.
    pub fn check(&self) -> Result<(), RuntimeError> {
        let invalid = |reason: String| Err(RuntimeError::InvalidSpec { reason });
        if self.command.is_empty() || self.command[0].is_empty() {
            return invalid("there is no command".into());
        }
        if self.image.is_empty()
            || self.image.starts_with('-')
            || self.image.chars().any(char::is_whitespace)
        {
            return invalid(format!("`{}` is no image reference", self.image));
        }
        let texts = self
            .command
            .iter()
            .chain(self.env.values())
            .chain([&self.workdir, &self.hostname]);
        if texts.into_iter().any(|t| t.contains('\0')) {
            return invalid("a text holds a NUL byte".into());
        }
        if let Some(key) = self
            .env
            .keys()
            .find(|k| k.is_empty() || k.contains(['=', '\0']))
        {
            return invalid(format!("`{key}` is no name of a variable"));
        }
        let host_ok = self
            .hostname
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if self.hostname.is_empty() || self.hostname.len() > 63 || !host_ok {
            return invalid(format!("`{}` is no host name", self.hostname));
        }
        if !plain_absolute(&self.workdir) {
            return invalid(format!(
                "working folder `{}` is not absolute and plain",
                self.workdir
            ));
        }
        for target in self
            .mounts
            .iter()
            .map(|m| &m.target)
            .chain(self.tmpfs.iter().map(|t| &t.target))
        {
            if !plain_absolute(target)
                || target == "/"
                || target.contains(',')
                || target.contains(':')
            {
                return invalid(format!("`{target}` is no place to mount at"));
            }
        }
        let limits = &self.limits;
        if limits.memory_bytes < 6 << 20
            || limits.cpu_millis < 10
            || limits.pids == 0
            || limits.nofile == 0
        {
            return invalid(
                "a limit is too small for any program (6 MiB, 0.01 CPU, one process, one file)"
                    .into(),
            );
        }
        if self.timeout.is_zero() {
            return invalid("the time-out is zero".into());
        }
        self.mounts.iter().try_for_each(check_source)
    }
}

/// Absolute, without `.`, `..` or control characters.
fn plain_absolute(path: &str) -> bool {
    let path_ok = Path::new(path)
        .components()
        .all(|c| matches!(c, Component::RootDir | Component::Normal(_)));
    path.starts_with('/') && path_ok && !path.chars().any(char::is_control)
}

/// A mount's source is a real file or folder and gives no way to an engine.
fn check_source(mount: &Mount) -> Result<(), RuntimeError> {
    let refuse = |reason: &str| {
        Err(RuntimeError::Mount {
            path: mount.source.clone(),
            reason: reason.to_owned(),
        })
    };
    if !mount.source.is_absolute() {
        return refuse("its path is not absolute");
    }
    let kind = match std::fs::symlink_metadata(&mount.source) {
        Ok(meta) => meta.file_type(),
        Err(e) => return refuse(&e.to_string()),
    };
    if kind.is_symlink() {
        return refuse("it is a link");
    }
    if kind.is_socket() || kind.is_fifo() || kind.is_block_device() || kind.is_char_device() {
        return refuse("it is no folder and no regular file");
    }
    let real = match mount.source.canonicalize() {
        Ok(real) => real,
        Err(e) => return refuse(&e.to_string()),
    };
    let from_env = std::env::var("DOCKER_HOST").ok();
    let from_env = from_env.as_deref().and_then(|h| h.strip_prefix("unix://"));
    let sockets = ENGINE_SOCKETS.iter().copied().chain(from_env);
    for socket in sockets {
        let socket = Path::new(socket);
        let real_socket = socket.canonicalize().unwrap_or_else(|_| socket.to_owned());
        if real_socket.starts_with(&real) || socket.starts_with(&real) {
            return refuse("it holds an engine's socket");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> RunSpec {
        let labels = Labels {
            instance: "i".into(),
            job: "j".into(),
            lease: "l".into(),
        };
        RunSpec::new("faultboard/base:1", &["true"], labels)
    }

    #[test]
    fn the_plain_run_is_valid() {
        spec().check().unwrap();
    }

    #[test]
    fn the_environment_is_fixed_where_results_depend_on_it() {
        let mut s = spec();
        s.env.insert("TZ".into(), "Asia/Tokyo".into());
        assert_eq!(s.full_env()["TZ"], "UTC");
        assert_eq!(s.full_env()["LANG"], "C.UTF-8");
    }

    #[test]
    fn what_no_run_may_say_is_refused() {
        type Spoil = fn(&mut RunSpec);
        let spoil: &[(&str, Spoil)] = &[
            ("no command", |s| s.command.clear()),
            ("no image reference", |s| s.image = "--privileged".into()),
            ("NUL", |s| s.command.push("a\0b".into())),
            ("name of a variable", |s| {
                drop(s.env.insert("A=B".into(), String::new()))
            }),
            ("host name", |s| s.hostname = "a b".into()),
            ("working folder", |s| s.workdir = "/a/../b".into()),
            ("place to mount", |s| {
                s.mounts.push(Mount::read_only("/usr", "/"))
            }),
            ("place to mount", |s| {
                s.mounts.push(Mount::read_only("/usr", "/a:rw"))
            }),
            ("too small", |s| s.limits.pids = 0),
            ("time-out", |s| s.timeout = Duration::ZERO),
            ("engine's socket", |s| {
                s.mounts.push(Mount::read_only("/", "/host"))
            }),
            ("engine's socket", |s| {
                s.mounts.push(Mount::read_only("/run", "/host"))
            }),
            ("no regular file", |s| {
                s.mounts.push(Mount::read_only("/dev/null", "/null"))
            }),
            ("not absolute", |s| {
                s.mounts.push(Mount::read_only("x", "/x"))
            }),
            ("No such file", |s| {
                s.mounts.push(Mount::read_only("/nowhere/at/all", "/x"))
            }),
        ];
        for (expected, change) in spoil {
            let mut s = spec();
            change(&mut s);
            let error = s.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn a_link_is_no_mount_source() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/usr", &link).unwrap();
        let mut s = spec();
        s.mounts.push(Mount::read_only(&link, "/x"));
        assert!(s.check().unwrap_err().to_string().contains("is a link"));
    }

    #[test]
    fn capabilities_that_reach_out_have_no_name() {
        assert_eq!(Capability::parse("CAP_KILL"), Some(Capability::Kill));
        assert_eq!(Capability::parse("SETUID"), Some(Capability::Setuid));
        for name in ["SYS_ADMIN", "SYS_MODULE", "MKNOD", "SYS_RAWIO", "ALL", ""] {
            assert_eq!(Capability::parse(name), None, "{name}");
        }
    }
}
