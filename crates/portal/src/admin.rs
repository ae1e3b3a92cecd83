//! The admin area: what needs a human first, then the machine room, and the few
//! deeds there (retry, cancel, pause). It never touches a submission's state.

use faultboard_domain::Timestamp;
use faultboard_domain::view::{AdminView, JobDetail, QueueView};
use faultboard_domain::{Actor, JobId, SubmissionState};
use faultboard_store::{attempts, flag, jobs, reevaluations, set_flag, submissions, workers};

use crate::{Change, Portal, PortalError, Result, admin, maintainer};

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
        let mut alive = workers::since(&mut c, now.plus_ms(-86_400_000)).await?;
        alive.retain(|w| w.state != "stopped");
        Ok(AdminView {
            to_review,
            flagged: submissions::in_state(&mut c, SubmissionState::Flagged).await?,
            hits: attempts::open_findings(&mut c).await?,
            failed_proofs: self.failed_proofs().await?,
            parked: jobs::parked(&mut c).await?,
            stuck: jobs::stuck(&mut c, self.stuck_before()).await?,
            parked_cases: workers::parked_cases(&mut c).await?,
            blocked: self.blocked(&mut c).await?,
            outdated: reevaluations::outdated(&mut c, &crate::finish::scorer_versions()).await?,
            workers: alive,
            paused: flag(&mut c, "paused").await?.as_deref() == Some("true"),
            counts: jobs::counts(&mut c).await?,
            disk_free,
            disk_total,
            active,
        })
    }

    /// What has not moved since before then is stuck.
    fn stuck_before(&self) -> Timestamp {
        self.now()
            .plus_ms(-60_000 * i64::from(self.settings.stuck_minutes))
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
        let failed_proofs = self.failed_proofs().await?.len();
        let stuck = jobs::stuck(&mut c, self.stuck_before()).await?.len();
        let mut alive = workers::since(&mut c, now.plus_ms(-60_000)).await?;
        alive.retain(|w| w.state != "stopped");
        let parked_cases = workers::parked_cases(&mut c).await?.len();
        let due = jobs::due(&mut c, now).await?;
        out.push_str("# HELP faultboard_work_blocked What keeps waiting work from being done, by kind; absent: nothing.\n# TYPE faultboard_work_blocked gauge\n");
        for (kind, _) in self.blocked(&mut c).await? {
            // The kinds are words of ours, without quotes.
            let _ = writeln!(out, "faultboard_work_blocked{{kind=\"{kind}\"}} 1");
        }
        for (name, help, value) in [
            (
                "faultboard_stuck_jobs",
                "Jobs that run, or wait in a queue that does not move, for longer than the setting `stuck-after`.",
                stuck as u64,
            ),
            (
                "faultboard_failed_proofs",
                "Cases whose newest proof does not hold.",
                failed_proofs as u64,
            ),
            (
                "faultboard_due_jobs",
                "Jobs that could be begun now.",
                u64::from(due),
            ),
            (
                "faultboard_parked_cases",
                "Cases that failed on every worker and wait for an operator.",
                parked_cases as u64,
            ),
            (
                "faultboard_database_wait_seconds",
                "How long the longest-waiting writer has waited for the database.",
                self.store.longest_wait().as_secs(),
            ),
            (
                "faultboard_workers",
                "Workers that spoke in the last minute.",
                alive.len() as u64,
            ),
            (
                "faultboard_workers_quarantined",
                "Workers that took themselves out after failures of several cases in a row.",
                alive.iter().filter(|w| w.state == "quarantined").count() as u64,
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
        self.audited(tx, actor, "job-retried", &id.to_string(), "")
            .await?;
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
        self.audited(tx, actor, "job-cancelled", &id.to_string(), "")
            .await?;
        self.tell(Change::Job(id));
        self.tell(Change::Queue);
        Ok(())
    }

    /// Stops or resumes the claiming of work, on every worker.
    pub async fn set_paused(&self, actor: &Actor, paused: bool) -> Result<()> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        set_flag(&mut tx, "paused", if paused { "true" } else { "false" }).await?;
        let deed = if paused {
            "claiming-paused"
        } else {
            "claiming-resumed"
        };
        self.audited(tx, actor, deed, "queue", "").await?;
        self.wake();
        self.tell(Change::Queue);
        Ok(())
    }
}
