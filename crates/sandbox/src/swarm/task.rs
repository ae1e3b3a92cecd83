//! Following the one task of a run's service: when it starts, how it ends,
//! whether its node is still there. It only looks; ending a task is removal's
//! work.

use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::errors::Error;
use bollard::models::{NodeState, Task, TaskState};
use bollard::query_parameters as query;

use crate::docker::calls::{SHORT, call};
use crate::error::RuntimeError;

const WHILE_STARTING: Duration = Duration::from_millis(150);
const WHILE_RUNNING: Duration = Duration::from_millis(250);
const NODE_EVERY: Duration = Duration::from_secs(2);

/// Where a task stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The cluster looks for a node, or the node prepares.
    Waiting,
    /// It runs.
    Running,
    /// It ended with this status.
    Ended(i32),
    /// The node could not start it.
    NotStarted(String),
    /// Somebody took it away.
    Gone,
}

/// A task's stage.
pub(super) fn stage(task: &Task) -> Stage {
    let status = task.status.clone().unwrap_or_default();
    let code = status
        .container_status
        .as_ref()
        .and_then(|c| c.exit_code)
        .and_then(|c| i32::try_from(c).ok());
    let why = status.err.filter(|e| !e.is_empty());
    match status.state {
        Some(TaskState::RUNNING) => Stage::Running,
        Some(TaskState::COMPLETE) => Stage::Ended(code.unwrap_or(0)),
        Some(TaskState::FAILED) => match (code, why) {
            (Some(code), Some(why)) if why.contains("non-zero exit") => Stage::Ended(code),
            (_, why) => Stage::NotStarted(why.or(status.message).unwrap_or_default()),
        },
        Some(TaskState::REJECTED) => Stage::NotStarted(why.or(status.message).unwrap_or_default()),
        Some(TaskState::SHUTDOWN | TaskState::REMOVE | TaskState::ORPHANED) => Stage::Gone,
        _ => Stage::Waiting,
    }
}

/// A task's container, once it has one.
pub(super) fn container(task: &Task) -> Option<&str> {
    let status = task.status.as_ref()?.container_status.as_ref()?;
    status.container_id.as_deref().filter(|id| !id.is_empty())
}

/// The tasks of a service, oldest first; none when there is no such service.
pub(super) async fn of_service(client: &Docker, service: &str) -> Result<Vec<Task>, RuntimeError> {
    let filters = [("service".to_owned(), vec![service.to_owned()])].into();
    let options = query::ListTasksOptionsBuilder::default()
        .filters(&filters)
        .build();
    match tokio::time::timeout(SHORT, client.list_tasks(Some(options))).await {
        Ok(Err(Error::DockerResponseServerError {
            status_code: 404, ..
        })) => Ok(Vec::new()),
        Ok(answer) => {
            let mut tasks = call("list tasks", SHORT, async { answer }).await?;
            tasks.sort_by(|a, b| a.created_at.cmp(&b.created_at));
            Ok(tasks)
        }
        Err(_) => Err(RuntimeError::EngineTimeout {
            call: "list tasks",
            seconds: SHORT.as_secs(),
        }),
    }
}

/// A task by its id; `None` when the cluster has forgotten it.
pub(super) async fn find(client: &Docker, id: &str) -> Result<Option<Task>, RuntimeError> {
    match tokio::time::timeout(SHORT, client.inspect_task(id)).await {
        Ok(Err(Error::DockerResponseServerError {
            status_code: 404, ..
        })) => Ok(None),
        Ok(answer) => call("inspect task", SHORT, async { answer })
            .await
            .map(Some),
        Err(_) => Err(RuntimeError::EngineTimeout {
            call: "inspect task",
            seconds: SHORT.as_secs(),
        }),
    }
}

/// Whether the service is still there.
async fn exists(client: &Docker, service: &str) -> Result<bool, RuntimeError> {
    match tokio::time::timeout(SHORT, client.inspect_service(service, None)).await {
        Ok(Err(Error::DockerResponseServerError {
            status_code: 404, ..
        })) => Ok(false),
        Ok(answer) => call("inspect service", SHORT, async { answer })
            .await
            .map(|_| true),
        Err(_) => Err(RuntimeError::EngineTimeout {
            call: "inspect service",
            seconds: SHORT.as_secs(),
        }),
    }
}

/// Whether a node is known to be down, and what it is called.
pub(super) async fn lost_node(
    client: &Docker,
    id: &str,
) -> Result<Option<(String, String)>, RuntimeError> {
    let node = match tokio::time::timeout(SHORT, client.inspect_node(id)).await {
        Ok(Err(Error::DockerResponseServerError {
            status_code: 404, ..
        })) => return Ok(Some((id.to_owned(), "it left the cluster".to_owned()))),
        Ok(answer) => call("inspect node", SHORT, async { answer }).await?,
        Err(_) => {
            return Err(RuntimeError::EngineTimeout {
                call: "inspect node",
                seconds: SHORT.as_secs(),
            });
        }
    };
    let status = node.status.unwrap_or_default();
    if status.state != Some(NodeState::DOWN) {
        return Ok(None);
    }
    let name = node.description.and_then(|d| d.hostname);
    Ok(Some((
        name.unwrap_or_else(|| id.to_owned()),
        status
            .message
            .filter(|m| !m.is_empty())
            .unwrap_or_else(|| "it is down".to_owned()),
    )))
}

/// Waits until the service's task runs or has ended.
pub(super) async fn started(
    client: &Docker,
    service: &str,
    patience: Duration,
) -> Result<Task, RuntimeError> {
    let begun = Instant::now();
    let mut why = String::new();
    loop {
        let tasks = of_service(client, service).await?;
        if tasks.is_empty() && !exists(client, service).await? {
            return Err(taken_away());
        }
        if let Some(task) = tasks.into_iter().next() {
            match stage(&task) {
                Stage::Running | Stage::Ended(_) => return Ok(task),
                Stage::NotStarted(detail) => return Err(RuntimeError::CannotStart { detail }),
                Stage::Gone => return Err(taken_away()),
                Stage::Waiting => {}
            }
            if let Some(node) = task.node_id.as_deref().filter(|n| !n.is_empty())
                && begun.elapsed() > NODE_EVERY
                && let Some((node, detail)) = lost_node(client, node).await?
            {
                return Err(RuntimeError::NodeLost { node, detail });
            }
            let status = task.status.unwrap_or_default();
            why = status.err.or(status.message).unwrap_or_default();
        }
        if begun.elapsed() > patience {
            return Err(RuntimeError::Unavailable {
                runtime: super::NAME,
                detail: format!(
                    "no node took the run within {} s: {why}",
                    patience.as_secs()
                ),
            });
        }
        tokio::time::sleep(WHILE_STARTING).await;
    }
}

/// Waits until a running task has ended; its exit status. Managers that don't
/// answer have to fail five times in a row before it counts.
pub(super) async fn ended(client: &Docker, id: &str, node: &str) -> Result<i32, RuntimeError> {
    let mut failures = 0;
    let mut looked = Instant::now();
    loop {
        let found = async {
            if looked.elapsed() > NODE_EVERY {
                looked = Instant::now();
                if let Some((node, detail)) = lost_node(client, node).await? {
                    return Ok(Err(RuntimeError::NodeLost { node, detail }));
                }
            }
            find(client, id).await.map(Ok)
        };
        match found.await {
            Ok(Err(lost)) => return Err(lost),
            Ok(Ok(None)) => return Err(taken_away()),
            Ok(Ok(Some(task))) => {
                failures = 0;
                match stage(&task) {
                    Stage::Ended(code) => return Ok(code),
                    Stage::NotStarted(detail) => {
                        return Err(RuntimeError::Engine {
                            call: "inspect task",
                            detail,
                        });
                    }
                    Stage::Gone => return Err(taken_away()),
                    Stage::Running | Stage::Waiting => {}
                }
            }
            Err(e) if failures >= 4 => return Err(e),
            Err(_) => failures += 1,
        }
        tokio::time::sleep(WHILE_RUNNING).await;
    }
}

fn taken_away() -> RuntimeError {
    RuntimeError::Engine {
        call: "inspect task",
        detail: "the run's task was taken away before it ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bollard::models::{ContainerStatus, TaskStatus};

    fn task(state: TaskState, err: &str, code: Option<i64>) -> Task {
        Task {
            status: Some(TaskStatus {
                state: Some(state),
                err: Some(err.to_owned()),
                container_status: code.map(|code| ContainerStatus {
                    container_id: Some("c".into()),
                    exit_code: Some(code),
                    pid: None,
                }),
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn a_program_that_failed_is_told_from_one_that_never_ran() {
        let exit = "task: non-zero exit (7)";
        assert_eq!(
            stage(&task(TaskState::FAILED, exit, Some(7))),
            Stage::Ended(7)
        );
        let start = "starting container failed: no such file";
        assert_eq!(
            stage(&task(TaskState::FAILED, start, Some(127))),
            Stage::NotStarted(start.into())
        );
        assert_eq!(
            stage(&task(TaskState::REJECTED, "No such image", None)),
            Stage::NotStarted("No such image".into())
        );
    }

    #[test]
    fn every_other_state_is_one_of_three() {
        assert_eq!(stage(&task(TaskState::PENDING, "", None)), Stage::Waiting);
        assert_eq!(
            stage(&task(TaskState::RUNNING, "", Some(0))),
            Stage::Running
        );
        assert_eq!(
            stage(&task(TaskState::COMPLETE, "", Some(0))),
            Stage::Ended(0)
        );
        assert_eq!(
            stage(&task(TaskState::SHUTDOWN, "", Some(137))),
            Stage::Gone
        );
        assert_eq!(container(&task(TaskState::RUNNING, "", Some(0))), Some("c"));
    }
}
