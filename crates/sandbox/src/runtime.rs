//! The trait that every backend implements, and what goes in and out of it
//! besides the run itself.

use std::collections::HashSet;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::RuntimeError;
use crate::log::LogSink;
use crate::result::RunResult;
use crate::spec::{Labels, RunSpec};
use crate::terminal::Terminal;

pub use futures::future::BoxFuture;

/// What an image reference stood for when it was looked up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageDigest(pub String);

impl std::fmt::Display for ImageDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a run is watched from outside.
#[derive(Clone, Default)]
pub struct RunControl {
    /// Cancelling it ends the run within five seconds.
    pub cancel: CancellationToken,
    /// Gets the output as it comes.
    pub sink: Option<LogSink>,
}

/// What the reaper spares.
#[derive(Debug, Clone)]
pub struct ReapPolicy {
    /// Only this instance's things are looked at.
    pub instance: String,
    /// Live leases, as (job, lease).
    pub live: HashSet<(String, String)>,
    /// Younger things are spared: their lease may be newer than `live`.
    pub min_age: Duration,
}

impl ReapPolicy {
    /// Whether something with these labels and this age is to be removed.
    pub fn condemns(&self, labels: &Labels, age: Duration) -> bool {
        labels.instance == self.instance
            && age >= self.min_age
            && !self
                .live
                .contains(&(labels.job.clone(), labels.lease.clone()))
    }
}

/// Something that the reaper removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaped {
    /// The runtime's name for it.
    pub id: String,
    /// Whose it was.
    pub labels: Labels,
}

/// A machine of a cluster, as the cluster's manager sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its host name.
    pub name: String,
    /// Whether it answers: `ready`, `down` ...
    pub state: String,
    /// Whether it is given work: `active`, `pause`, `drain`.
    pub availability: String,
    /// Whether runs may be placed on it by its label.
    pub eligible: bool,
    /// Whose runs are on it now.
    pub running: Vec<Labels>,
}

/// A way to run programs apart from the host.
///
/// Dropping the future of [`Runtime::run`] also ends the program: backends
/// remove what they made, in the background if they must.
pub trait Runtime: Send + Sync {
    /// One word: `docker`, `bubblewrap`, `swarm`, `fake`.
    fn name(&self) -> &'static str;

    /// Whether runs can be made now; the error says why not.
    fn check(&self) -> BoxFuture<'_, Result<(), RuntimeError>>;

    /// What this runtime can't enforce on this machine, one sentence each.
    fn not_enforced(&self) -> Vec<String>;

    /// The digest that the image reference stands for at this moment.
    fn resolve<'a>(&'a self, image: &'a str) -> BoxFuture<'a, Result<ImageDigest, RuntimeError>>;

    /// Runs a program to its end. The image is resolved to a digest first, and
    /// nothing of the run is left behind.
    fn run<'a>(
        &'a self,
        spec: &'a RunSpec,
        control: RunControl,
    ) -> BoxFuture<'a, Result<RunResult, RuntimeError>>;

    /// Runs a program at a person's terminal until it ends, under the same
    /// contract but without a time-out; its exit status.
    fn shell<'a>(
        &'a self,
        _spec: &'a RunSpec,
        _terminal: Terminal,
    ) -> BoxFuture<'a, Result<i32, RuntimeError>> {
        let error = RuntimeError::Unsupported {
            runtime: self.name(),
            what: "give a container a terminal; use a Docker engine",
        };
        Box::pin(async move { Err(error) })
    }

    /// The machines that runs are placed on; none where there is no cluster.
    /// `instance` says whose runs are named.
    fn nodes<'a>(&'a self, _instance: &'a str) -> BoxFuture<'a, Result<Vec<Node>, RuntimeError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Removes what no live lease owns. Removing what is already gone is no error.
    fn reap<'a>(
        &'a self,
        policy: &'a ReapPolicy,
    ) -> BoxFuture<'a, Result<Vec<Reaped>, RuntimeError>>;
}
