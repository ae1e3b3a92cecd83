//! Taking away what a run left in the cluster: its service with its task, and
//! its network. Idempotent: what is already gone is no error.

use std::time::{Duration, Instant, SystemTime};

use bollard::Docker;
use bollard::errors::Error;
use bollard::query_parameters as query;

use super::{SwarmRuntime, body, task};
use crate::docker::body::{LABEL_INSTANCE, labels_back};
use crate::docker::calls::{LONG, SHORT, call, engine_error};
use crate::error::RuntimeError;
use crate::runtime::{ReapPolicy, Reaped};

/// How long a node may take to end a task, two seconds of which the engine
/// waits for its own reasons.
const END_PATIENCE: Duration = Duration::from_secs(20);
const NETWORK_PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(150);

/// Removes a run's things when its future is dropped half-way.
pub(super) struct RemoveOnDrop {
    client: Docker,
    own_node: String,
    name: Option<String>,
}

impl RemoveOnDrop {
    pub(super) fn new(client: &Docker, own_node: &str, name: &str) -> Self {
        Self {
            client: client.clone(),
            own_node: own_node.to_owned(),
            name: Some(name.to_owned()),
        }
    }

    /// Removes them now. What can't be removed is left to the reaper.
    pub(super) async fn now(mut self) {
        if let Some(name) = self.name.take() {
            report(&name, remove(&self.client, &self.own_node, &name).await);
        }
    }
}

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        let (Some(name), Ok(handle)) = (self.name.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let (client, own_node) = (self.client.clone(), std::mem::take(&mut self.own_node));
        handle.spawn(async move { report(&name, remove(&client, &own_node, &name).await) });
    }
}

fn report(name: &str, removed: Result<(), RuntimeError>) {
    if let Err(e) = removed {
        tracing::warn!(service = %name, error = %e, "could not remove a run's service; the reaper will");
    }
}

/// Ends a task at once where its engine is the one that we talk to. Elsewhere
/// only its service's removal ends it.
pub(super) async fn kill_here(client: &Docker, container: &str) -> Result<(), RuntimeError> {
    let options = query::KillContainerOptionsBuilder::default()
        .signal("SIGKILL")
        .build();
    match tokio::time::timeout(SHORT, client.kill_container(container, Some(options))).await {
        // Gone, or it ended by itself in this very moment.
        Ok(
            Ok(())
            | Err(Error::DockerResponseServerError {
                status_code: 404 | 409,
                ..
            }),
        ) => Ok(()),
        Ok(Err(e)) => Err(engine_error("kill", e)),
        Err(_) => Err(RuntimeError::EngineTimeout {
            call: "kill",
            seconds: SHORT.as_secs(),
        }),
    }
}

/// Removes a run's service and network, and waits until its program is dead.
pub(super) async fn remove(
    client: &Docker,
    own_node: &str,
    name: &str,
) -> Result<(), RuntimeError> {
    let mut alive = Vec::new();
    for t in task::of_service(client, name).await? {
        if !matches!(task::stage(&t), task::Stage::Running | task::Stage::Waiting) {
            continue;
        }
        let node = t.node_id.clone().filter(|n| !n.is_empty());
        if let (Some(node), Some(container)) = (&node, task::container(&t))
            && node == own_node
        {
            kill_here(client, container).await?;
        }
        if let (Some(id), Some(node)) = (t.id, node) {
            alive.push((id, node));
        }
    }
    gone(call_removal(client.delete_service(name)).await)?;
    for (id, node) in alive {
        wait_dead(client, &id, &node).await?;
    }
    remove_network(client, name, NETWORK_PATIENCE).await
}

async fn wait_dead(client: &Docker, id: &str, node: &str) -> Result<(), RuntimeError> {
    let begun = Instant::now();
    while let Some(t) = task::find(client, id).await? {
        if !matches!(task::stage(&t), task::Stage::Running | task::Stage::Waiting) {
            break;
        }
        // A node that is down ends nothing, and says so to nobody.
        if task::lost_node(client, node).await?.is_some() {
            break;
        }
        if begun.elapsed() > END_PATIENCE {
            return Err(RuntimeError::EngineTimeout {
                call: "end of a task",
                seconds: END_PATIENCE.as_secs(),
            });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// The cluster keeps a network while a task of it is being taken down.
async fn remove_network(
    client: &Docker,
    name: &str,
    patience: Duration,
) -> Result<(), RuntimeError> {
    let begun = Instant::now();
    loop {
        let removed = gone(call_removal(client.remove_network(name)).await);
        match removed {
            Err(_) if begun.elapsed() < patience => tokio::time::sleep(PAUSE).await,
            other => return other,
        }
    }
}

async fn call_removal(
    work: impl Future<Output = Result<(), Error>>,
) -> Result<Result<(), Error>, RuntimeError> {
    tokio::time::timeout(LONG, work)
        .await
        .map_err(|_| RuntimeError::EngineTimeout {
            call: "remove",
            seconds: LONG.as_secs(),
        })
}

fn gone(removed: Result<Result<(), Error>, RuntimeError>) -> Result<(), RuntimeError> {
    match removed? {
        Ok(())
        | Err(Error::DockerResponseServerError {
            status_code: 404, ..
        }) => Ok(()),
        Err(e) => Err(engine_error("remove", e)),
    }
}

impl SwarmRuntime {
    pub(super) async fn reap_inner(
        &self,
        policy: &ReapPolicy,
    ) -> Result<Vec<Reaped>, RuntimeError> {
        let mine = format!("{LABEL_INSTANCE}={}", policy.instance);
        let filters = std::collections::HashMap::from([("label".to_owned(), vec![mine])]);
        let now = SystemTime::now();
        let options = query::ListServicesOptionsBuilder::default()
            .filters(&filters)
            .build();
        let services = call(
            "list services",
            LONG,
            self.client.list_services(Some(options)),
        )
        .await?;
        let mut reaped: Vec<Reaped> = Vec::new();
        for spec in services.into_iter().filter_map(|s| s.spec) {
            let (Some(name), Some(raw)) = (spec.name, spec.labels) else {
                continue;
            };
            let labels = labels_back(&raw);
            if policy.condemns(&labels, body::age(&raw, now)) {
                report(&name, remove(&self.client, &self.own_node, &name).await);
                tracing::info!(service = %name, job = %labels.job, lease = %labels.lease, "reaped a service that no live lease owns");
                reaped.push(Reaped { id: name, labels });
            }
        }
        let options = query::ListNetworksOptionsBuilder::default()
            .filters(&filters)
            .build();
        let networks = call(
            "list networks",
            LONG,
            self.client.list_networks(Some(options)),
        )
        .await?;
        for network in networks {
            let (Some(name), Some(raw)) = (network.name, network.labels) else {
                continue;
            };
            let labels = labels_back(&raw);
            if !policy.condemns(&labels, body::age(&raw, now))
                || reaped.iter().any(|r| r.id == name)
            {
                continue;
            }
            // In use until the last node that had a task of it is back or out.
            match remove_network(&self.client, &name, Duration::ZERO).await {
                Ok(()) => reaped.push(Reaped { id: name, labels }),
                Err(e) => tracing::debug!(network = %name, error = %e, "a network is still in use"),
            }
        }
        // Engines before 27 leave an empty volume behind each folder in memory.
        let options = query::PruneVolumesOptionsBuilder::default()
            .filters(&filters)
            .build();
        call(
            "prune volumes",
            LONG,
            self.client.prune_volumes(Some(options)),
        )
        .await?;
        Ok(reaped)
    }
}
