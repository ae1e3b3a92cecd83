//! The command line of one run. Pure but for the names of the root's entries.

use crate::error::RuntimeError;
use crate::spec::{Network, RunSpec, User};

use super::root::Root;
use super::separates_users;
use super::state::RunFolder;

/// Joins the cgroups given before `--`, opens the status file as descriptor 3
/// and becomes the rest of its arguments.
const JOIN: &str = r#"status="$1"; shift
while [ "$1" != -- ]; do echo $$ >"$1" || exit 125; shift; done
shift
exec "$@" 3>"$status""#;

/// What the command line depends on.
pub(super) struct Inputs<'a> {
    pub(super) spec: &'a RunSpec,
    pub(super) root: &'a Root,
    pub(super) folder: &'a RunFolder,
    pub(super) privileged: bool,
    pub(super) cgroup_files: Vec<String>,
    /// No cgroup bounds memory: bound each process's address space.
    pub(super) limit_memory: bool,
    /// No cgroup bounds processes: bound the user's.
    pub(super) limit_pids: bool,
    pub(super) largest_file: Option<u64>,
}

/// The whole command line.
pub(super) fn plan(inputs: &Inputs<'_>) -> Result<Vec<String>, RuntimeError> {
    let mut argv: Vec<String> = strings(&["/bin/sh", "-c", JOIN, "faultboard"]);
    argv.push(inputs.folder.status_file().to_string_lossy().into_owned());
    argv.extend(inputs.cgroup_files.iter().cloned());
    argv.push("--".into());
    argv.extend(rlimits(inputs));
    argv.push("bwrap".into());
    argv.extend(strings(&[
        "--json-status-fd",
        "3",
        "--die-with-parent",
        "--new-session",
    ]));
    argv.extend(namespaces(inputs));
    argv.extend(environment(inputs));
    argv.extend(inputs.root.mounts(inputs.folder)?);
    argv.extend(filesystem(inputs.spec));
    argv.extend(capabilities(inputs));
    argv.push("--".into());
    argv.extend(drop_user(inputs));
    argv.extend(inputs.spec.command.iter().cloned());
    Ok(argv)
}

fn rlimits(inputs: &Inputs<'_>) -> Vec<String> {
    let limits = &inputs.spec.limits;
    let mut argv = strings(&["prlimit", "--core=0:0"]);
    argv.push(format!("--nofile={0}:{0}", limits.nofile));
    if let Some(bytes) = inputs.largest_file {
        argv.push(format!("--fsize={bytes}:{bytes}"));
    }
    if inputs.limit_memory {
        argv.push(format!("--as={0}:{0}", limits.memory_bytes));
    }
    if inputs.limit_pids {
        argv.push(format!("--nproc={0}:{0}", limits.pids));
    }
    argv
}

fn namespaces(inputs: &Inputs<'_>) -> Vec<String> {
    let spec = inputs.spec;
    let mut argv = strings(&[
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]);
    if spec.network == Network::None {
        argv.push("--unshare-net".into());
    }
    if !inputs.privileged {
        argv.push("--unshare-user".into());
        argv.extend([
            "--uid".into(),
            spec.user.uid.to_string(),
            "--gid".into(),
            spec.user.gid.to_string(),
        ]);
    }
    argv.extend(["--hostname".into(), spec.hostname.clone()]);
    argv
}

fn environment(inputs: &Inputs<'_>) -> Vec<String> {
    let mut env = inputs.spec.full_env();
    if let Some(first) = inputs.root.extra_path()
        && let Some(path) = env.get_mut("PATH")
    {
        *path = format!("{first}:{path}");
    }
    if !inputs.privileged && separates_users(inputs.spec) {
        // Oracles read it: they can't become another user here.
        env.insert("FAULTBOARD_SAME_UID".into(), "1".into());
    }
    let mut argv = strings(&["--clearenv"]);
    for (key, value) in env {
        argv.extend(["--setenv".into(), key, value]);
    }
    argv
}

fn filesystem(spec: &RunSpec) -> Vec<String> {
    let mut argv = strings(&["--proc", "/proc", "--dev", "/dev"]);
    for target in spec
        .mounts
        .iter()
        .map(|m| &m.target)
        .chain(spec.tmpfs.iter().map(|t| &t.target))
    {
        argv.extend(parents(target));
    }
    for tmpfs in &spec.tmpfs {
        argv.extend([
            "--perms".into(),
            "1777".into(),
            "--size".into(),
            tmpfs.bytes.to_string(),
        ]);
        argv.extend(["--tmpfs".into(), tmpfs.target.clone()]);
    }
    for mount in &spec.mounts {
        argv.push(
            if mount.writable.is_some() {
                "--bind"
            } else {
                "--ro-bind"
            }
            .into(),
        );
        argv.extend([
            mount.source.to_string_lossy().into_owned(),
            mount.target.clone(),
        ]);
    }
    // The root is a small tmpfs that holds the mount points.
    argv.extend(strings(&["--remount-ro", "/", "--remount-ro", "/dev"]));
    argv.extend(["--chdir".into(), spec.workdir.clone()]);
    argv
}

/// Makes the folders above a mount point; left to itself, `bwrap` makes them for
/// root's eyes only.
pub(super) fn parents(target: &str) -> Vec<String> {
    let mut argv = Vec::new();
    for (end, _) in target.match_indices('/').skip(1) {
        argv.extend([
            "--perms".into(),
            "0755".into(),
            "--dir".into(),
            target[..end].to_owned(),
        ]);
    }
    argv
}

fn capabilities(inputs: &Inputs<'_>) -> Vec<String> {
    let mut argv = strings(&["--cap-drop", "ALL"]);
    if !inputs.privileged {
        return argv;
    }
    let mut keep: Vec<&str> = inputs.spec.caps.iter().map(|c| c.name()).collect();
    if inputs.spec.user != User::ROOT {
        // Only until `setpriv` has become the user.
        keep.extend(["SETUID", "SETGID", "SETPCAP"]);
    }
    keep.sort_unstable();
    keep.dedup();
    for name in keep {
        argv.extend(["--cap-add".into(), format!("CAP_{name}")]);
    }
    argv
}

/// With root, users are real: `setpriv` becomes the wanted one inside.
fn drop_user(inputs: &Inputs<'_>) -> Vec<String> {
    let User { uid, gid } = inputs.spec.user;
    if !inputs.privileged || inputs.spec.user == User::ROOT {
        return Vec::new();
    }
    let mut argv = strings(&[
        "setpriv",
        "--clear-groups",
        "--inh-caps=-all",
        "--no-new-privs",
    ]);
    let kept: Vec<String> = inputs
        .spec
        .caps
        .iter()
        .map(|c| format!(",+{}", c.name().to_lowercase()))
        .collect();
    argv.push(format!("--bounding-set=-all{}", kept.concat()));
    argv.push(format!("--reuid={uid}"));
    argv.push(format!("--regid={gid}"));
    argv.push("--".into());
    argv
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&w| w.to_owned()).collect()
}
