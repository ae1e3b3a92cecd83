//! The cluster's machines: which of them may be given runs, how large the
//! largest is, and what runs where. It changes nothing about a node.

use std::collections::HashMap;

use bollard::models::{Node as EngineNode, NodeSpecAvailabilityEnum, NodeState};
use bollard::query_parameters as query;

use super::{SwarmRuntime, runs, unavailable};
use crate::docker::body::{LABEL_INSTANCE, labels_back};
use crate::docker::calls::{SHORT, call};
use crate::error::RuntimeError;
use crate::runtime::Node;
use crate::spec::Labels;

impl SwarmRuntime {
    /// CPUs (in thousandths) and memory of the largest node that takes runs now.
    pub(super) async fn largest(&self) -> Result<(u32, u64), RuntimeError> {
        let label = self.config.label.as_deref();
        let nodes = self.list().await?;
        let largest = nodes
            .iter()
            .filter(|n| takes_runs(n, label))
            .map(size)
            .reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
        largest.ok_or_else(|| {
            unavailable(&match label {
                Some(label) => format!(
                    "no node with the label `{label}` is ready for work (docker node update --label-add {label} NODE)"
                ),
                None => "no node is ready for work".to_owned(),
            })
        })
    }

    pub(super) async fn nodes_inner(&self, instance: &str) -> Result<Vec<Node>, RuntimeError> {
        let filter = format!("{LABEL_INSTANCE}={instance}");
        let filters = HashMap::from([("label".to_owned(), vec![filter])]);
        let options = query::ListServicesOptionsBuilder::default()
            .filters(&filters)
            .build();
        let services = call(
            "list services",
            SHORT,
            self.client.list_services(Some(options)),
        );
        let tasks = call(
            "list tasks",
            SHORT,
            self.client.list_tasks(None::<query::ListTasksOptions>),
        );
        let (nodes, services, tasks) = tokio::try_join!(self.list(), services, tasks)?;
        let owners: HashMap<String, Labels> = services
            .into_iter()
            .filter_map(|s| Some((s.id?, labels_back(&s.spec?.labels?))))
            .collect();
        let mut nodes: Vec<Node> = nodes
            .iter()
            .map(|node| {
                let mut running: Vec<Labels> = tasks
                    .iter()
                    .filter(|t| t.node_id.is_some() && t.node_id == node.id && runs(t))
                    .filter_map(|t| owners.get(t.service_id.as_deref()?).cloned())
                    .collect();
                running.sort();
                seen(node, self.config.label.as_deref(), running)
            })
            .collect();
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(nodes)
    }

    async fn list(&self) -> Result<Vec<EngineNode>, RuntimeError> {
        call(
            "list nodes",
            SHORT,
            self.client.list_nodes(None::<query::ListNodesOptions>),
        )
        .await
    }
}

fn seen(node: &EngineNode, label: Option<&str>, running: Vec<Labels>) -> Node {
    let name = node
        .description
        .as_ref()
        .and_then(|d| d.hostname.clone())
        .or_else(|| node.id.clone());
    let state = node.status.as_ref().and_then(|s| s.state);
    let availability = node.spec.as_ref().and_then(|s| s.availability);
    Node {
        name: name.unwrap_or_default(),
        state: state.map_or_else(|| "unknown".to_owned(), |s| s.to_string()),
        availability: availability.map_or_else(|| "unknown".to_owned(), |a| a.to_string()),
        eligible: labelled(node, label),
        running,
    }
}

fn labelled(node: &EngineNode, label: Option<&str>) -> bool {
    let Some(label) = label else { return true };
    let (name, value) = label.split_once('=').unwrap_or((label, "true"));
    node.spec
        .as_ref()
        .and_then(|s| s.labels.as_ref())
        .and_then(|l| l.get(name))
        .is_some_and(|v| v == value)
}

fn takes_runs(node: &EngineNode, label: Option<&str>) -> bool {
    let ready = node.status.as_ref().and_then(|s| s.state) == Some(NodeState::READY);
    let active =
        node.spec.as_ref().and_then(|s| s.availability) == Some(NodeSpecAvailabilityEnum::ACTIVE);
    ready && active && labelled(node, label)
}

fn size(node: &EngineNode) -> (u32, u64) {
    let resources = node
        .description
        .as_ref()
        .and_then(|d| d.resources.clone())
        .unwrap_or_default();
    let cpus = resources.nano_cpus.unwrap_or(0) / 1_000_000;
    (
        u32::try_from(cpus).unwrap_or(u32::MAX),
        u64::try_from(resources.memory_bytes.unwrap_or(0)).unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bollard::models::{NodeDescription, NodeSpec, NodeStatus, ResourceObject};

    fn node(state: NodeState, availability: NodeSpecAvailabilityEnum, label: &str) -> EngineNode {
        EngineNode {
            id: Some("n1".into()),
            spec: Some(NodeSpec {
                labels: Some(HashMap::from([("faultboard".to_owned(), label.to_owned())])),
                availability: Some(availability),
                ..Default::default()
            }),
            description: Some(NodeDescription {
                hostname: Some("host".into()),
                resources: Some(ResourceObject {
                    nano_cpus: Some(2_000_000_000),
                    memory_bytes: Some(1 << 30),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            status: Some(NodeStatus {
                state: Some(state),
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn work_goes_to_nodes_that_are_ready_active_and_labelled() {
        use NodeSpecAvailabilityEnum::{ACTIVE, DRAIN};
        let label = Some("faultboard=true");
        assert!(takes_runs(&node(NodeState::READY, ACTIVE, "true"), label));
        assert!(!takes_runs(&node(NodeState::READY, ACTIVE, "no"), label));
        assert!(takes_runs(&node(NodeState::READY, ACTIVE, "no"), None));
        assert!(!takes_runs(&node(NodeState::DOWN, ACTIVE, "true"), label));
        assert!(!takes_runs(&node(NodeState::READY, DRAIN, "true"), label));
    }

    #[test]
    fn a_node_is_shown_as_the_manager_sees_it() {
        let node = node(NodeState::DOWN, NodeSpecAvailabilityEnum::PAUSE, "true");
        let shown = seen(&node, Some("faultboard"), Vec::new());
        assert_eq!(
            (
                shown.name.as_str(),
                shown.state.as_str(),
                shown.availability.as_str()
            ),
            ("host", "down", "pause")
        );
        assert!(shown.eligible);
        assert_eq!(size(&node), (2000, 1 << 30));
    }
}
