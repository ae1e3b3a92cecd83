//! The admin area: what needs a human first, then the machine room, and the few
//! deeds there (retry, cancel, pause). It never touches a submission's state.

use faultboard_domain::view::{AdminView, JobDetail, QueueView};
use faultboard_domain::{Actor, JobId, SubmissionState};
use faultboard_store::{attempts, flag, jobs, set_flag, submissions};

use crate::{Change, Portal, PortalError, Result, admin, maintainer};

/// A job that has waited or run for this long is shown as stuck.
const STUCK_MS: i64 = 45 * 60_000;
const LOG_MOST: usize = 256 * 1024;

impl Portal {
    /// The dashboard.
    pub async fn admin(&self, actor: &Actor) -> Result<AdminView> {
        maintainer(actor)?;
        let now = self.now();
        let (disk_free, disk_total) =
            crate::machine::disk(&self.settings.data_dir).unwrap_or((0, 0));
        let mut c = self.store.reader().await?;
        let mut to_review = submissions::in_state(&mut c, SubmissionState::InReview).await?;
        to_review.extend(submissions::in_state(&mut c, SubmissionState::Scored).await?);
        let mut active = submissions::recent(&mut c, 200).await?;
        active.retain(|s| !s.state.is_settled());
        let mut workers = jobs::workers(&mut c, now.plus_ms(-86_400_000)).await?;
        workers.retain(|w| w.state != "stopped");
        Ok(AdminView {
            to_review,
            flagged: submissions::in_state(&mut c, SubmissionState::Flagged).await?,
            hits: attempts::open_findings(&mut c).await?,
            failed_proofs: self.failed_proofs().await?,
            parked: jobs::parked(&mut c).await?,
            stuck: jobs::stuck(&mut c, now.plus_ms(-STUCK_MS)).await?,
            workers,
            paused: flag(&mut c, "paused").await?.as_deref() == Some("true"),
            counts: jobs::counts(&mut c).await?,
            disk_free,
            disk_total,
            active,
        })
    }

    /// The queue.
    pub async fn queue(&self, actor: &Actor) -> Result<QueueView> {
        maintainer(actor)?;
        let mut c = self.store.reader().await?;
        Ok(QueueView {
            jobs: jobs::listing(&mut c, 200).await?,
            paused: flag(&mut c, "paused").await?.as_deref() == Some("true"),
        })
    }

    /// One job with its log. Logs of an oracle may hint at what it checks, so
    /// they are for maintainers.
    pub async fn job(&self, actor: &Actor, id: JobId) -> Result<JobDetail> {
        maintainer(actor)?;
        let mut c = self.store.reader().await?;
        let job = jobs::get(&mut c, id).await?.ok_or(PortalError::NotFound)?;
        Ok(JobDetail {
            job,
            log: jobs::log(&mut c, id, LOG_MOST).await?,
        })
    }

    /// The database and the blob store answer, and the runtime can run.
    pub async fn ready(&self) -> Result<()> {
        jobs::counts(&mut *self.store.reader().await?).await?;
        self.blobs.ready().await?;
        Ok(())
    }

    /// Figures for Prometheus.
    pub async fn metrics(&self) -> Result<String> {
        use std::fmt::Write as _;
        let now = self.now();
        let (free, total) = crate::machine::disk(&self.settings.data_dir).unwrap_or((0, 0));
        let mut c = self.store.reader().await?;
        let mut out =
            String::from("# HELP faultboard_jobs Jobs by state.\n# TYPE faultboard_jobs gauge\n");
        for (state, n) in jobs::counts(&mut c).await? {
            let _ = writeln!(out, "faultboard_jobs{{state=\"{state}\"}} {n}");
        }
        let stuck = jobs::stuck(&mut c, now.plus_ms(-STUCK_MS)).await?.len();
        let failed_proofs = self.failed_proofs().await?.len();
        let workers = jobs::workers(&mut c, now.plus_ms(-60_000)).await?.len();
        for (name, help, value) in [
            (
                "faultboard_stuck_jobs",
                "Jobs that have waited or run for more than 45 minutes.",
                stuck as u64,
            ),
            (
                "faultboard_failed_proofs",
                "Cases whose newest proof does not hold.",
                failed_proofs as u64,
            ),
            (
                "faultboard_workers",
                "Workers that spoke in the last minute.",
                workers as u64,
            ),
            (
                "faultboard_disk_free_bytes",
                "Free bytes on the data disk.",
                free,
            ),
            (
                "faultboard_disk_total_bytes",
                "All bytes of the data disk.",
                total,
            ),
        ] {
            let _ = writeln!(
                out,
                "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}"
            );
        }
        Ok(out)
    }

    /// Whether the actor administers the site, for pages that are admin only.
    pub fn require_admin(&self, actor: &Actor) -> Result<()> {
        admin(actor)
    }

    /// Puts a parked or cancelled job back into the queue.
    pub async fn retry_job(&self, actor: &Actor, id: JobId) -> Result<()> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        if !jobs::retry(&mut tx, id, self.now()).await? {
            return Err(PortalError::Conflict(
                "Only parked and cancelled jobs can be tried again.".to_owned(),
            ));
        }
        tx.commit().await?;
        self.wake();
        self.tell(Change::Job(id));
        self.tell(Change::Queue);
        Ok(())
    }

    /// Cancels a job; a running one is ended within seconds.
    pub async fn cancel_job(&self, actor: &Actor, id: JobId) -> Result<()> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        if !jobs::cancel(&mut tx, id, self.now()).await? {
            return Err(PortalError::Conflict(
                "This job is over already.".to_owned(),
            ));
        }
        tx.commit().await?;
        self.tell(Change::Job(id));
        self.tell(Change::Queue);
        Ok(())
    }

    /// Stops or resumes the claiming of work, on every worker.
    pub async fn set_paused(&self, actor: &Actor, paused: bool) -> Result<()> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        set_flag(&mut tx, "paused", if paused { "true" } else { "false" }).await?;
        tx.commit().await?;
        self.wake();
        self.tell(Change::Queue);
        Ok(())
    }
}
