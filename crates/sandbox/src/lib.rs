//! Running untrusted programs in containers: a run is data ([`RunSpec`]), a
//! [`Runtime`] carries it out, and what comes back is data again ([`RunResult`]).
//!
//! Backends: [`docker`] (any engine that `DOCKER_HOST` names), [`bubblewrap`]
//! where no engine runs, [`swarm`] for more than one machine, and [`fake`] for tests. All answer to one contract,
//! which `tests/conformance.rs` checks on each. A backend that can't enforce a
//! part of it says so on every result.
//!
//! This crate never knows what a case, a patch or a score is, and never decides
//! what an exit code means. An `Err` is always the platform's fault
//! ([`RuntimeError`]); whatever the program did is a result.

pub mod bubblewrap;
pub mod disk;
pub mod docker;
pub mod error;
pub mod fake;
pub mod log;
pub mod result;
pub mod runtime;
pub mod spec;
pub mod swarm;
pub mod terminal;

pub use bubblewrap::{Bubblewrap, BubblewrapConfig};
pub use docker::{DockerConfig, DockerRuntime};
pub use error::RuntimeError;
pub use fake::{FakeRun, FakeRuntime};
pub use log::{Captured, LogSink, LogStream};
pub use result::{Exit, RunResult, Stopped};
pub use runtime::{BoxFuture, ImageDigest, Node, ReapPolicy, Reaped, RunControl, Runtime};
pub use spec::{Capability, Labels, Limits, Mount, Network, Quota, RunSpec, Tmpfs, User};
pub use swarm::{SwarmConfig, SwarmRuntime};
pub use terminal::{Terminal, TerminalSize};
pub use tokio_util::sync::CancellationToken;
