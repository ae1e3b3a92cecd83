//! Following a running container: when it ends, how it ended, what it used.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error;
use bollard::query_parameters as query;
use futures::StreamExt as _;

use super::calls::{SHORT, call};
use crate::error::RuntimeError;

/// How a container ended.
pub(crate) struct Ended {
    /// Exit status; 128 + n for a signal.
    pub(crate) status: i32,
    /// Whether the memory limit killed something in it.
    pub(crate) oom: bool,
}

/// Comes back when the container no longer runs. A connection that breaks while
/// waiting is made up for by asking now and then; the engine has to fail five
/// times in a row before it counts.
pub(super) async fn wait(client: &Docker, id: &str) -> Result<(), RuntimeError> {
    let options = query::WaitContainerOptionsBuilder::default()
        .condition("not-running")
        .build();
    let mut waiting = Box::pin(client.wait_container(id, Some(options)));
    match waiting.next().await {
        // A program that failed is reported as an error of the call.
        Some(Ok(_) | Err(Error::DockerContainerWaitError { .. })) => return Ok(()),
        Some(Err(e)) => tracing::warn!(container = %id, error = %e, "waiting was interrupted"),
        None => {}
    }
    let mut failures = 0;
    loop {
        match call(
            "inspect container",
            SHORT,
            client.inspect_container(id, None),
        )
        .await
        {
            Ok(found) if found.state.as_ref().and_then(|s| s.running) == Some(true) => failures = 0,
            Ok(_) => return Ok(()),
            Err(e) if failures >= 4 => return Err(e),
            Err(_) => failures += 1,
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// How it ended, from the engine's record.
pub(crate) async fn ended(client: &Docker, id: &str) -> Result<Ended, RuntimeError> {
    let found = call(
        "inspect container",
        SHORT,
        client.inspect_container(id, None),
    )
    .await?;
    let state = found.state.unwrap_or_default();
    let status = state.exit_code.and_then(|c| i32::try_from(c).ok());
    let Some(status) = status.filter(|_| state.running != Some(true)) else {
        return Err(RuntimeError::Engine {
            call: "inspect container",
            detail: "the engine has no exit code for a container that ended".to_owned(),
        });
    };
    Ok(Ended {
        status,
        oom: state.oom_killed == Some(true),
    })
}

/// What a container used, as far as it was seen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) peak_memory: Option<u64>,
    pub(crate) cpu_seconds: Option<f64>,
}

/// Samples a container's use of memory and CPU until it is finished. The engine
/// forgets the numbers with the container, so the last sample is what counts;
/// a container that ends within the first moments may have none.
pub(crate) struct UsageMeter {
    seen: Arc<Mutex<Usage>>,
    task: tokio::task::JoinHandle<()>,
}

impl UsageMeter {
    pub(crate) fn start(client: Docker, id: String) -> Self {
        let seen = Arc::new(Mutex::new(Usage::default()));
        let shared = seen.clone();
        let task = tokio::spawn(async move {
            let mut pause = Duration::from_millis(50);
            loop {
                let options = query::StatsOptionsBuilder::default()
                    .stream(false)
                    .one_shot(true)
                    .build();
                let mut stats = Box::pin(client.stats(&id, Some(options)));
                if let Ok(Some(Ok(now))) = tokio::time::timeout(SHORT, stats.next()).await {
                    let memory = now.memory_stats.unwrap_or_default();
                    // cgroup v2 engines give no maximum: then the highest sample.
                    let memory = memory.max_usage.or(memory.usage).filter(|&m| m > 0);
                    let cpu = now
                        .cpu_stats
                        .and_then(|c| c.cpu_usage)
                        .and_then(|c| c.total_usage)
                        .filter(|&c| c > 0);
                    let mut seen = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.peak_memory = seen.peak_memory.max(memory);
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "nanoseconds to seconds for people"
                    )]
                    let seconds = cpu.map(|c| c as f64 / 1e9);
                    seen.cpu_seconds = seconds.or(seen.cpu_seconds);
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        });
        Self { seen, task }
    }

    pub(crate) fn finish(self) -> Usage {
        self.task.abort();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UsageMeter {
    fn drop(&mut self) {
        self.task.abort();
    }
}
