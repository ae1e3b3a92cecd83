//! The sweeper: recomputes from the database what should be under way and is
//! not, and removes what dead processes left behind. Everything it does may be
//! done twice, by several processes at once, or not at all until the next time.

use std::collections::HashSet;
use std::time::Duration;

use faultboard_domain::JobId;
use faultboard_domain::job::JobState;
use faultboard_jobs::Life;
use faultboard_sandbox::ReapPolicy;
use faultboard_store::{jobs, workers};

use crate::machine::instance;
use crate::{Change, Portal, PortalError, Result};

/// Containers younger than this are spared by the reaper: their lease may be
/// newer than the list that it compares with.
const REAP_MIN_AGE: Duration = Duration::from_secs(30);
/// Workers that were silent for so long are forgotten.
const FORGET_MS: i64 = 7 * 86_400_000;

impl Portal {
    /// Leases that ran out or whose worker is dead, revisions whose last outcome
    /// is in, stale uploads, scratch folders; and containers that no live lease
    /// owns.
    pub async fn sweep(&self) -> Result<()> {
        self.sweep_dead_workers().await?;
        let now = self.now();
        let mut tx = self.store.begin().await?;
        let expired = jobs::expire(&mut tx, now).await?;
        let finished = self.enqueue_missing_finishes(&mut tx).await?;
        workers::park_waiting(&mut tx, now).await?;
        workers::forget(&mut tx, now.plus_ms(-FORGET_MS)).await?;
        tx.commit().await?;
        if !expired.is_empty() || finished > 0 {
            tracing::info!(expired = expired.len(), finished, "the sweep put work back");
            self.wake();
            self.tell(Change::Queue);
        }
        self.sweep_uploads().await?;
        self.sweep_scratch().await?;
        if self.enqueue_due_proof().await? {
            self.wake();
            self.tell(Change::Queue);
        }
        if let Err(e) = self.oracle.sweep().await {
            tracing::warn!(error = %e, "left-over trees and scratch folders could not be swept");
        }
        self.reap().await
    }

    /// Takes back at once what workers hold whose process is gone.
    async fn sweep_dead_workers(&self) -> Result<()> {
        let folder = self.life_dir();
        let names = workers::not_stopped(&mut *self.store.reader().await?).await?;
        for name in names.iter().filter(|n| Life::has_ended(&folder, n)) {
            let mut tx = self.store.begin().await?;
            let jobs = jobs::expire_of(&mut tx, name, self.now()).await?;
            workers::gone(&mut tx, name).await?;
            tx.commit().await?;
            Life::bury(&folder, name);
            tracing::warn!(worker = %name, jobs = jobs.len(), "a worker's process is gone; what it held waits again");
            self.wake();
            self.tell(Change::Queue);
        }
        Ok(())
    }

    /// Removes the folders of checks whose job is no longer at work on them.
    async fn sweep_scratch(&self) -> Result<()> {
        let tmp = self.settings.data_dir.join("tmp");
        let mut found = Vec::new();
        let mut entries = tokio::fs::read_dir(&tmp)
            .await
            .map_err(PortalError::internal)?;
        while let Some(entry) = entries.next_entry().await.map_err(PortalError::internal)? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let job = name
                .strip_prefix("validate-")
                .and_then(|rest| rest.split_once('-'))
                .and_then(|(id, tries)| Some((JobId(id.parse().ok()?), tries.parse().ok()?)));
            if let Some((id, tries)) = job {
                found.push((entry.path(), id, tries));
            }
        }
        // The jobs are read after the folders: one that was begun in between has
        // no folder in the list.
        for (path, id, tries) in found {
            let at_work: Option<(JobState, u32)> = jobs::get(&mut *self.store.reader().await?, id)
                .await?
                .map(|j| (j.state, j.tries));
            if at_work != Some((JobState::Running, tries)) {
                // It may be going away by itself just now.
                let _ = tokio::fs::remove_dir_all(&path).await;
            }
        }
        Ok(())
    }

    async fn reap(&self) -> Result<()> {
        let live: HashSet<(String, String)> = jobs::live_leases(&mut *self.store.reader().await?)
            .await?
            .into_iter()
            .map(|(id, token)| (id.to_string(), token))
            .collect();
        let policy = ReapPolicy {
            instance: instance(&self.settings),
            live,
            min_age: REAP_MIN_AGE,
        };
        match self.runtime.reap(&policy).await {
            Ok(gone) => {
                for r in gone {
                    tracing::info!(container = %r.id, job = %r.labels.job, "removed what no live lease owns");
                }
                Ok(())
            }
            // An engine that is down now is found by the work that needs it.
            Err(e) => {
                tracing::warn!(error = %e, "the reaper could not look for orphans");
                Ok(())
            }
        }
    }
}
