//! The machine room in detail: workers, parked cases, the audit log.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::CaseId;

use super::admin::JobView;

/// One worker as it last spoke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerView {
    /// Its name.
    pub name: String,
    /// The machine that it runs on.
    pub node: String,
    /// The runtime that it uses.
    pub runtime: String,
    /// When it last spoke.
    pub seen: Timestamp,
    /// One word: `claiming`, `working`, `waiting`, `quarantined`, `draining` or `stopped`.
    pub state: String,
    /// Why it does not claim; empty if it does. Begins with the kind of
    /// obstacle and a colon where the platform is out of order.
    pub why: String,
    /// Jobs that it holds.
    pub running: u32,
    /// What an administrator wishes of it and it has not done yet: `drain`, `release`.
    pub wish: Option<String>,
}

/// A worker with what it works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerDetail {
    /// The worker.
    pub worker: WorkerView,
    /// Whether it has been silent for longer than a lease holds.
    pub silent: bool,
    /// The jobs whose lease it holds.
    pub jobs: Vec<JobView>,
}

/// `/admin/workers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkersView {
    /// Workers that spoke within a day, those alive first.
    pub workers: Vec<WorkerDetail>,
    /// Whether claiming is paused for everybody.
    pub paused: bool,
    /// Why work waits, if it does: (kind, sentence).
    pub blocked: Vec<(String, String)>,
    /// The machines of the cluster, if runs are placed on one.
    pub nodes: Vec<NodeView>,
    /// Why they can't be told, if they can't.
    pub nodes_unknown: Option<String>,
}

/// A machine of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeView {
    /// Its host name.
    pub name: String,
    /// Whether it answers: `ready`, `down` ...
    pub state: String,
    /// Whether it is given work: `active`, `pause`, `drain`.
    pub availability: String,
    /// Whether its label lets runs be placed on it.
    pub eligible: bool,
    /// The jobs that have a run there now.
    pub jobs: Vec<String>,
}

/// A case that failed on every worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedCase {
    /// The case.
    pub case: CaseId,
    /// Since when.
    pub at: Timestamp,
    /// What happened on each worker.
    pub reason: String,
    /// Jobs that wait for it.
    pub jobs: u32,
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditLine {
    /// When.
    pub at: Timestamp,
    /// Who, in words.
    pub who: String,
    /// What was done, as a short word such as `worker-drained`.
    pub deed: String,
    /// To what.
    pub subject: String,
    /// Why, or with what result.
    pub note: String,
}
