//! Turns a run into what the cluster's API wants: a service of one task that is
//! never restarted, and a network of its own. Pure; it never talks to an engine.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bollard::models::{
    EndpointSpec, EndpointSpecModeEnum, Limit, Mount, MountType, MountVolumeOptions,
    MountVolumeOptionsDriverConfig, NetworkAttachmentConfig, NetworkCreateRequest, ResourceObject,
    ServiceSpec, ServiceSpecMode, ServiceSpecModeReplicated, TaskSpec, TaskSpecContainerSpec,
    TaskSpecContainerSpecDnsConfig, TaskSpecLogDriver, TaskSpecPlacement, TaskSpecResources,
    TaskSpecRestartPolicy, TaskSpecRestartPolicyConditionEnum,
};

use crate::docker::body::{LABEL_INSTANCE, engine_path, labels_there, signed, ulimit};
use crate::spec::{Labels, RunSpec};

/// When something was made, in seconds since 1970 by the portal's clock.
const LABEL_MADE: &str = "org.faultboard.made";
/// A node keeps this much of a task's output twice: less than the ten million
/// bytes after which an engine hands out logs by the byte.
const LOG_FILE: &str = "4m";

/// What the run of a spec is on this cluster.
pub(super) struct Placed<'a> {
    pub(super) spec: &'a RunSpec,
    /// Name of the service.
    pub(super) name: &'a str,
    /// The image with registry and digest.
    pub(super) image: &'a str,
    /// The run's own network; none for set-up, which gets the node's.
    pub(super) network: Option<&'a str>,
    /// `name=value` that a node's labels must hold.
    pub(super) label: Option<&'a str>,
    /// CPUs of the largest node, in thousandths.
    pub(super) cpu_millis: u32,
    /// Memory of the largest node, in bytes.
    pub(super) memory: u64,
    /// The largest file that may be written to disk.
    pub(super) largest_file: Option<u64>,
    /// Where nodes see our folders.
    pub(super) path_map: &'a [(PathBuf, PathBuf)],
}

/// The labels of a run's service and network.
pub(super) fn labels(of: &Labels, now: SystemTime) -> HashMap<String, String> {
    let mut labels = labels_there(of);
    let made = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    labels.insert(LABEL_MADE.to_owned(), made.as_secs().to_string());
    labels
}

/// How long ago something with these labels was made.
pub(super) fn age(labels: &HashMap<String, String>, now: SystemTime) -> Duration {
    let made = labels.get(LABEL_MADE).and_then(|m| m.parse().ok());
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(Duration::from_secs(made.unwrap_or(0)))
}

/// A network without a way out, and without anybody else on it.
pub(super) fn network(name: &str, labels: HashMap<String, String>) -> NetworkCreateRequest {
    NetworkCreateRequest {
        name: name.to_owned(),
        // An internal bridge would do on one machine, but leads to the machine itself.
        driver: Some("overlay".to_owned()),
        internal: Some(true),
        attachable: Some(false),
        labels: Some(labels),
        ..Default::default()
    }
}

/// The constraint that a placement label stands for.
pub(super) fn constraint(label: &str) -> String {
    let (name, value) = label.split_once('=').unwrap_or((label, "true"));
    format!("node.labels.{name}=={value}")
}

/// The body of a create call.
pub(super) fn service(of: &Placed<'_>, labels: HashMap<String, String>) -> ServiceSpec {
    let limits = &of.spec.limits;
    let nano_cpus = i64::from(limits.cpu_millis.min(of.cpu_millis)) * 1_000_000;
    ServiceSpec {
        name: Some(of.name.to_owned()),
        labels: Some(labels),
        mode: Some(ServiceSpecMode {
            replicated: Some(ServiceSpecModeReplicated { replicas: Some(1) }),
            ..Default::default()
        }),
        endpoint_spec: Some(EndpointSpec {
            mode: Some(EndpointSpecModeEnum::DNSRR),
            ports: None,
        }),
        task_template: Some(TaskSpec {
            container_spec: Some(container(of)),
            resources: Some(TaskSpecResources {
                limits: Some(Limit {
                    nano_cpus: Some(nano_cpus),
                    memory_bytes: Some(signed(limits.memory_bytes)),
                    pids: Some(signed(limits.pids)),
                }),
                // By what is reserved the cluster knows which node has room.
                reservations: Some(ResourceObject {
                    nano_cpus: Some(nano_cpus),
                    memory_bytes: Some(signed(limits.memory_bytes.min(of.memory))),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            restart_policy: Some(TaskSpecRestartPolicy {
                condition: Some(TaskSpecRestartPolicyConditionEnum::NONE),
                ..Default::default()
            }),
            placement: of.label.map(|label| TaskSpecPlacement {
                constraints: Some(vec![constraint(label)]),
                ..Default::default()
            }),
            networks: of.network.map(|network| {
                vec![NetworkAttachmentConfig {
                    target: Some(network.to_owned()),
                    ..Default::default()
                }]
            }),
            // Keeps bytes as they are; the usual driver makes text of them.
            log_driver: Some(TaskSpecLogDriver {
                name: Some("local".to_owned()),
                options: Some(HashMap::from([
                    ("max-size".to_owned(), LOG_FILE.to_owned()),
                    ("max-file".to_owned(), "2".to_owned()),
                    ("compress".to_owned(), "false".to_owned()),
                ])),
            }),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn container(of: &Placed<'_>) -> TaskSpecContainerSpec {
    let spec = of.spec;
    let mut ulimits = vec![ulimit("nofile", spec.limits.nofile), ulimit("core", 0)];
    if let Some(bytes) = of.largest_file {
        ulimits.push(ulimit("fsize", bytes));
    }
    TaskSpecContainerSpec {
        image: Some(of.image.to_owned()),
        // Services have no such flag before engine 25; the kernel's own is as
        // good, set by the last program that is ours.
        command: Some(vec![
            "/usr/bin/setpriv".to_owned(),
            "--no-new-privs".to_owned(),
            "--".to_owned(),
        ]),
        args: Some(spec.command.clone()),
        env: Some(
            spec.full_env()
                .iter()
                .map(|(k, v)| plain(&format!("{k}={v}")))
                .collect(),
        ),
        dir: Some(spec.workdir.clone()),
        user: Some(format!("{}:{}", spec.user.uid, spec.user.gid)),
        hostname: Some(spec.hostname.clone()),
        tty: Some(false),
        open_stdin: Some(false),
        read_only: Some(true),
        capability_drop: Some(vec!["ALL".to_owned()]),
        capability_add: Some(
            spec.caps
                .iter()
                .map(|c| format!("CAP_{}", c.name()))
                .collect(),
        ),
        ulimits: Some(ulimits),
        stop_signal: Some("SIGKILL".to_owned()),
        stop_grace_period: Some(0),
        // The engine's resolver would ask the node's for names from outside.
        dns_config: of.network.map(|_| TaskSpecContainerSpecDnsConfig {
            nameservers: Some(vec!["127.0.0.1".to_owned()]),
            ..Default::default()
        }),
        mounts: Some(mounts(of)),
        ..Default::default()
    }
}

fn mounts(of: &Placed<'_>) -> Vec<Mount> {
    let folders = of.spec.mounts.iter().map(|m| Mount {
        typ: Some(MountType::BIND),
        source: Some(plain(
            &engine_path(&m.source, of.path_map).to_string_lossy(),
        )),
        target: Some(plain(&m.target)),
        read_only: Some(m.writable.is_none()),
        ..Default::default()
    });
    // A service's own tmpfs can't be told to let programs be executed before
    // engine 27: a volume of the local driver can.
    let memory = of.spec.tmpfs.iter().map(|t| Mount {
        typ: Some(MountType::VOLUME),
        target: Some(plain(&t.target)),
        volume_options: Some(MountVolumeOptions {
            no_copy: Some(true),
            labels: Some(HashMap::from([(
                LABEL_INSTANCE.to_owned(),
                of.spec.labels.instance.clone(),
            )])),
            driver_config: Some(MountVolumeOptionsDriverConfig {
                name: Some("local".to_owned()),
                options: Some(HashMap::from([
                    ("type".to_owned(), "tmpfs".to_owned()),
                    ("device".to_owned(), "tmpfs".to_owned()),
                    (
                        "o".to_owned(),
                        format!("size={},mode=1777,nosuid,nodev", t.bytes),
                    ),
                ])),
            }),
            ..Default::default()
        }),
        ..Default::default()
    });
    folders.chain(memory).collect()
}

/// A text that the cluster's templates leave as it is.
fn plain(text: &str) -> String {
    text.replace("{{", "{{\"{{\"}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed<'a>(spec: &'a RunSpec, network: Option<&'a str>) -> Placed<'a> {
        Placed {
            spec,
            name: "fb-1",
            image: "r:5000/a@sha256:1",
            network,
            label: Some("faultboard=yes"),
            cpu_millis: 1500,
            memory: 1 << 30,
            largest_file: None,
            path_map: &[],
        }
    }

    fn spec() -> RunSpec {
        let labels = Labels {
            instance: "i".into(),
            job: "j".into(),
            lease: "7".into(),
        };
        RunSpec::new("a", &["true"], labels)
    }

    #[test]
    fn placement_is_by_label() {
        assert_eq!(constraint("pool=big"), "node.labels.pool==big");
        assert_eq!(constraint("faultboard"), "node.labels.faultboard==true");
        let spec = spec();
        let task = service(&placed(&spec, None), HashMap::new())
            .task_template
            .unwrap();
        assert_eq!(
            task.placement.unwrap().constraints.unwrap(),
            ["node.labels.faultboard==yes"]
        );
    }

    #[test]
    fn nothing_larger_than_the_largest_node_is_reserved() {
        let spec = spec();
        let task = service(&placed(&spec, None), HashMap::new())
            .task_template
            .unwrap();
        let resources = task.resources.unwrap();
        let reserved = resources.reservations.unwrap();
        assert_eq!(
            (reserved.nano_cpus, reserved.memory_bytes),
            (Some(1_500_000_000), Some(1 << 30))
        );
        assert_eq!(resources.limits.unwrap().memory_bytes, Some(2 << 30));
    }

    #[test]
    fn a_run_without_network_has_no_resolver_either() {
        let spec = spec();
        let of = |network| {
            let task = service(&placed(&spec, network), HashMap::new())
                .task_template
                .unwrap();
            (
                task.networks.is_some(),
                task.container_spec.unwrap().dns_config.is_some(),
            )
        };
        assert_eq!(of(Some("n")), (true, true));
        assert_eq!(of(None), (false, false));
        assert_eq!(network("n", HashMap::new()).internal, Some(true));
    }

    #[test]
    fn templates_are_texts_like_others() {
        assert_eq!(plain("a {{.Node.ID}}"), "a {{\"{{\"}}.Node.ID}}");
        assert_eq!(plain("a {b}"), "a {b}");
    }

    #[test]
    fn age_is_by_our_own_clock() {
        let then = UNIX_EPOCH + Duration::from_secs(1_000);
        let labels = labels(&spec().labels, then);
        assert_eq!(
            age(&labels, then + Duration::from_secs(30)),
            Duration::from_secs(30)
        );
        assert_eq!(age(&labels, UNIX_EPOCH), Duration::ZERO);
        assert!(age(&HashMap::new(), then) >= Duration::from_secs(1_000));
    }
}
