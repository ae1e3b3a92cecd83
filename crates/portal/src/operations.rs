//! What operators see and do about workers and parked cases, why work waits,
//! and the audit log. It never touches a submission's state.

use std::collections::BTreeMap;
use std::time::Duration;

use faultboard_domain::view::{AuditLine, NodeView, WorkerDetail, WorkersView};
use faultboard_domain::{Actor, CaseId};
use faultboard_store::workers::{self, Wish};
use faultboard_store::{Connection, Tx, audit, flag, jobs};

use crate::{Change, Portal, PortalError, Result, admin, maintainer};

/// A worker that was silent for longer is taken for dead.
const SILENT_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;
/// A writer that waits longer is worth telling an operator.
const LONG_WAIT: Duration = Duration::from_secs(3);
/// A cluster that does not answer must not keep the page waiting.
const NODES_PATIENCE: Duration = Duration::from_secs(3);
const AUDIT_MOST: u32 = 500;

fn node_view(node: faultboard_sandbox::Node) -> NodeView {
    NodeView {
        name: node.name,
        state: node.state,
        availability: node.availability,
        eligible: node.eligible,
        jobs: node.running.into_iter().map(|labels| labels.job).collect(),
    }
}

impl Portal {
    /// Why work waits that could be done: (kind, sentence); empty if nothing
    /// stands in its way.
    pub(crate) async fn blocked(&self, c: &mut Connection) -> Result<Vec<(String, String)>> {
        let now = self.now();
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        if flag(c, "paused").await?.as_deref() == Some("true") {
            found.insert(
                "paused".to_owned(),
                "an administrator paused claiming; resume it to go on".to_owned(),
            );
        }
        // Looked at from here: a worker that is busy looks only before its next job.
        if let Some(o) = self.permit(false).await.obstacle()
            && (o.kind != "engine" || self.settings.workers > 0)
        {
            found.insert(o.kind.to_owned(), o.text.clone());
        }
        let waited = self.store.longest_wait();
        if waited >= LONG_WAIT {
            let why = format!(
                "the database has been locked by another program for {} s; writes wait for it and go on by themselves when it lets go",
                waited.as_secs()
            );
            found.insert("database".to_owned(), why);
        }
        let alive: Vec<_> = workers::since(c, now.plus_ms(-SILENT_MS))
            .await?
            .into_iter()
            .filter(|w| w.state != "stopped")
            .collect();
        for w in &alive {
            match (w.state.as_str(), w.why.split_once(": ")) {
                ("waiting" | "working", Some((kind, why))) => {
                    found
                        .entry(kind.to_owned())
                        .or_insert_with(|| why.to_owned());
                }
                ("quarantined", _) => {
                    found.insert(
                        "quarantine".to_owned(),
                        format!("worker {} {}; look at it, then release it", w.name, w.why),
                    );
                }
                _ => {}
            }
        }
        let due = jobs::due(c, now).await?;
        // A locked database keeps workers from saying that they live.
        if alive.is_empty() && due > 0 && !found.contains_key("database") {
            let why = format!(
                "no worker has spoken for a minute, and {due} job(s) wait: start one with `faultboard worker`, or serve with workers"
            );
            found.insert("no-worker".to_owned(), why);
        }
        Ok(found.into_iter().collect())
    }

    /// The workers, with what each of them works on.
    pub async fn workers(&self, actor: &Actor) -> Result<WorkersView> {
        maintainer(actor)?;
        // Asked before the database, which must not wait for a cluster.
        let (nodes, nodes_unknown) = self.cluster_nodes().await;
        let now = self.now();
        let mut c = self.store.reader().await?;
        let mut details = Vec::new();
        for worker in workers::since(&mut c, now.plus_ms(-DAY_MS)).await? {
            let jobs = jobs::held_by(&mut c, &worker.name).await?;
            details.push(WorkerDetail {
                silent: worker.state != "stopped" && now.since_ms(worker.seen) > SILENT_MS,
                worker,
                jobs,
            });
        }
        details.sort_by_key(|d| (d.worker.state == "stopped", d.silent));
        Ok(WorkersView {
            workers: details,
            paused: flag(&mut c, "paused").await?.as_deref() == Some("true"),
            blocked: self.blocked(&mut c).await?,
            nodes,
            nodes_unknown,
        })
    }

    /// The machines that runs are placed on, or why they can't be told.
    async fn cluster_nodes(&self) -> (Vec<NodeView>, Option<String>) {
        let instance = crate::machine::instance(&self.settings);
        let asked = tokio::time::timeout(NODES_PATIENCE, self.runtime.nodes(&instance)).await;
        match asked {
            Ok(Ok(nodes)) => (nodes.into_iter().map(node_view).collect(), None),
            Ok(Err(e)) => (Vec::new(), Some(e.to_string())),
            Err(_) => (
                Vec::new(),
                Some("the cluster's manager does not answer".to_owned()),
            ),
        }
    }

    /// Lets a worker finish what it holds and end.
    pub async fn drain_worker(&self, actor: &Actor, name: &str) -> Result<()> {
        self.wish(actor, name, Wish::Drain, "worker-drained").await
    }

    /// Lets a worker out of its quarantine.
    pub async fn release_worker(&self, actor: &Actor, name: &str) -> Result<()> {
        self.wish(actor, name, Wish::Release, "worker-released")
            .await
    }

    async fn wish(&self, actor: &Actor, name: &str, wish: Wish, deed: &str) -> Result<()> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        if !workers::wish(&mut tx, name, wish).await? {
            return Err(PortalError::Conflict(
                "There is no worker of this name any more, or it has stopped. Reload the page to see who is there.".to_owned(),
            ));
        }
        self.audited(tx, actor, deed, name, "").await?;
        self.wake();
        self.tell(Change::Queue);
        Ok(())
    }

    /// Lets a parked case go on, with the jobs that wait for it.
    pub async fn release_case(&self, actor: &Actor, case: &CaseId) -> Result<()> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        if !workers::release_case(&mut tx, case, self.now()).await? {
            return Err(PortalError::Conflict(format!("{case} is not parked.")));
        }
        self.audited(tx, actor, "case-released", case.as_str(), "")
            .await?;
        self.wake();
        self.tell(Change::Queue);
        Ok(())
    }

    /// Commits a deed together with its line in the audit log.
    pub(crate) async fn audited(
        &self,
        mut tx: Tx,
        actor: &Actor,
        deed: &str,
        subject: &str,
        note: &str,
    ) -> Result<()> {
        audit::add(&mut tx, actor, deed, subject, note, self.now()).await?;
        Ok(tx.commit().await?)
    }

    /// The audit log, newest first.
    pub async fn audit_log(&self, actor: &Actor) -> Result<Vec<AuditLine>> {
        admin(actor)?;
        Ok(audit::newest(&mut *self.store.reader().await?, AUDIT_MOST).await?)
    }
}
