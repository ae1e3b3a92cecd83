//! Turns a run into what the engine's API wants, and labels back. Pure.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount as EngineMount, MountType,
    ResourcesUlimits,
};

use super::DockerRuntime;
use crate::spec::{Labels, Network, RunSpec};

/// Label that names the installation.
pub(crate) const LABEL_INSTANCE: &str = "org.faultboard.instance";
const LABEL_JOB: &str = "org.faultboard.job";
const LABEL_LEASE: &str = "org.faultboard.lease";

/// The body of a create call for an image that is already resolved.
pub(super) fn container(
    spec: &RunSpec,
    image_id: &str,
    runtime: &DockerRuntime,
    largest_file: Option<u64>,
) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(image_id.to_owned()),
        cmd: Some(spec.command.clone()),
        // An image's own entry point would run instead of the command.
        entrypoint: Some(Vec::new()),
        env: Some(
            spec.full_env()
                .iter()
                .map(|(k, v)| format!("{k}={v}"))
                .collect(),
        ),
        working_dir: Some(spec.workdir.clone()),
        user: Some(format!("{}:{}", spec.user.uid, spec.user.gid)),
        hostname: Some(spec.hostname.clone()),
        tty: Some(false),
        open_stdin: Some(false),
        attach_stdin: Some(false),
        labels: Some(labels_there(&spec.labels)),
        host_config: Some(host_config(spec, runtime, largest_file)),
        ..Default::default()
    }
}

fn host_config(spec: &RunSpec, runtime: &DockerRuntime, largest_file: Option<u64>) -> HostConfig {
    let memory = signed(spec.limits.memory_bytes);
    let mut ulimits = vec![ulimit("nofile", spec.limits.nofile), ulimit("core", 0)];
    if let Some(bytes) = largest_file {
        // A single write can't outrun the watch by more than this.
        ulimits.push(ulimit("fsize", bytes));
    }
    HostConfig {
        network_mode: Some(match spec.network {
            Network::None => "none".to_owned(),
            Network::Setup => runtime.config.setup_network.clone(),
        }),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(spec.caps.iter().map(|c| c.name().to_owned()).collect()),
        security_opt: Some(vec!["no-new-privileges:true".to_owned()]),
        privileged: Some(false),
        readonly_rootfs: Some(true),
        memory: Some(memory),
        memory_swap: Some(memory),
        nano_cpus: Some(i64::from(spec.limits.cpu_millis.min(runtime.cpu_millis)) * 1_000_000),
        pids_limit: Some(signed(spec.limits.pids)),
        ulimits: Some(ulimits),
        mounts: Some(
            spec.mounts
                .iter()
                .map(|m| EngineMount {
                    typ: Some(MountType::BIND),
                    source: Some(
                        engine_path(&m.source, &runtime.config.path_map)
                            .to_string_lossy()
                            .into_owned(),
                    ),
                    target: Some(m.target.clone()),
                    read_only: Some(m.writable.is_none()),
                    ..Default::default()
                })
                .collect(),
        ),
        tmpfs: Some(
            spec.tmpfs
                .iter()
                .map(|t| {
                    (
                        t.target.clone(),
                        format!("rw,exec,nosuid,nodev,mode=1777,size={}", t.bytes),
                    )
                })
                .collect(),
        ),
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        auto_remove: Some(false),
        ..Default::default()
    }
}

/// Labels as the engine keeps them.
pub(crate) fn labels_there(labels: &Labels) -> HashMap<String, String> {
    HashMap::from([
        (LABEL_INSTANCE.to_owned(), labels.instance.clone()),
        (LABEL_JOB.to_owned(), labels.job.clone()),
        (LABEL_LEASE.to_owned(), labels.lease.clone()),
    ])
}

/// Whose a container is, by its labels.
pub(crate) fn labels_back(labels: &HashMap<String, String>) -> Labels {
    let get = |key: &str| labels.get(key).cloned().unwrap_or_default();
    Labels {
        instance: get(LABEL_INSTANCE),
        job: get(LABEL_JOB),
        lease: get(LABEL_LEASE),
    }
}

/// Where the engine sees a path of ours.
pub(crate) fn engine_path(path: &Path, map: &[(PathBuf, PathBuf)]) -> PathBuf {
    map.iter()
        .find_map(|(ours, theirs)| path.strip_prefix(ours).ok().map(|rest| theirs.join(rest)))
        .unwrap_or_else(|| path.to_owned())
}

pub(crate) fn ulimit(name: &str, value: u64) -> ResourcesUlimits {
    let value = Some(signed(value));
    ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: value,
        hard: value,
    }
}

pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_mapped_to_where_the_engine_sees_them() {
        let map = [(PathBuf::from("/data"), PathBuf::from("/srv/volume"))];
        assert_eq!(
            engine_path(Path::new("/data/a/b"), &map),
            Path::new("/srv/volume/a/b")
        );
        assert_eq!(
            engine_path(Path::new("/database"), &map),
            Path::new("/database")
        );
    }

    #[test]
    fn labels_survive_the_way_there_and_back() {
        let raw = HashMap::from([
            (LABEL_INSTANCE.to_owned(), "i".to_owned()),
            (LABEL_LEASE.to_owned(), "7".to_owned()),
        ]);
        assert_eq!(
            labels_back(&raw),
            Labels {
                instance: "i".into(),
                job: String::new(),
                lease: "7".into()
            }
        );
    }
}
