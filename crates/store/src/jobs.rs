//! The queue's statements. A claim is one statement: it takes the best waiting
//! job, raises its try counter and gives it a lease with a fencing token; every
//! later write of that job names the token and changes nothing once the lease
//! has passed to somebody else.

use faultboard_domain::job::{JobKind, JobState, Priority};
use faultboard_domain::view::JobView;
use faultboard_domain::{AttemptId, JobId, RevisionId, SubmissionId, Timestamp};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::error::known;
use crate::{Connection, Result};

/// A job to be added.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// What it does.
    pub kind: JobKind,
    /// How soon.
    pub priority: Priority,
    /// What it concerns, in words.
    pub subject: String,
    /// The submission.
    pub submission: Option<SubmissionId>,
    /// The revision.
    pub revision: Option<RevisionId>,
    /// The attempt.
    pub attempt: Option<AttemptId>,
    /// No two running jobs share it.
    pub exclusive_key: Option<String>,
    /// No two unfinished jobs share it.
    pub unique_key: Option<String>,
    /// The most tries.
    pub max_tries: u32,
}

/// A job under a lease.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Its number.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// The submission.
    pub submission: Option<SubmissionId>,
    /// The revision.
    pub revision: Option<RevisionId>,
    /// The attempt.
    pub attempt: Option<AttemptId>,
    /// What it excludes while it runs.
    pub exclusive_key: Option<String>,
    /// What it is the only unfinished job for.
    pub unique_key: Option<String>,
    /// Its fencing token.
    pub token: String,
    /// How often it was claimed, this time included.
    pub tries: u32,
    /// The most tries.
    pub max_tries: u32,
}

/// How many jobs wait or run.
pub async fn unfinished(c: &mut Connection) -> Result<u32> {
    let n: i64 =
        sqlx::query_scalar("select count(*) from jobs where state in ('queued', 'running')")
            .fetch_one(c)
            .await?;
    Ok(u32::try_from(n).unwrap_or(u32::MAX))
}

/// Adds a job that may run at once; a second one with the same unique key is
/// left out. True if it was added.
pub async fn insert(c: &mut Connection, j: &NewJob, now: Timestamp) -> Result<bool> {
    let done = sqlx::query(
        "insert into jobs (kind, state, priority, submission_id, revision_id, attempt_id, exclusive_key, unique_key, subject, max_tries, created, run_after) \
         values (?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
    )
    .bind(j.kind.as_str())
    .bind(j.priority.rank())
    .bind(j.submission.as_ref().map(SubmissionId::as_str))
    .bind(j.revision.as_ref().map(RevisionId::as_str))
    .bind(j.attempt.as_ref().map(AttemptId::as_str))
    .bind(&j.exclusive_key)
    .bind(&j.unique_key)
    .bind(&j.subject)
    .bind(j.max_tries)
    .bind(now.0)
    .bind(now.0)
    .execute(c)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Claims the best waiting job: by priority, then cases that have not failed on
/// this worker, then the submission with the fewest running jobs, then age. None
/// while claiming is paused or nothing fits; nothing of a parked case is given out.
/// Without `containers`, jobs that need the container runtime are left alone.
pub async fn claim(
    c: &mut Connection,
    worker: &str,
    token: &str,
    containers: bool,
    lease_ms: i64,
    now: Timestamp,
) -> Result<Option<Claimed>> {
    let row = sqlx::query(
        "update jobs set state = 'running', worker = ?1, lease_token = ?2, lease_until = ?3, tries = tries + 1, started = ?4 \
         where id = ( \
           select j.id from jobs j \
           where j.state = 'queued' and j.run_after <= ?4 and j.cancel = 0 \
             and (?5 or j.kind not in ('score-attempt', 'prove-case')) \
             and (j.exclusive_key is null or not exists (select 1 from jobs r where r.state = 'running' and r.exclusive_key = j.exclusive_key)) \
             and not exists (select 1 from flags where name = 'paused' and value = 'true') \
             and not exists (select 1 from parked_cases p join attempts a on a.case_id = p.case_id where a.id = j.attempt_id) \
           order by j.priority, \
             exists (select 1 from case_faults f join attempts a on a.case_id = f.case_id where a.id = j.attempt_id and f.worker = ?1), \
             (select count(*) from jobs r where r.state = 'running' and r.submission_id = j.submission_id), \
             j.run_after, j.id \
           limit 1) \
         returning *",
    )
    .bind(worker)
    .bind(token)
    .bind(now.0 + lease_ms)
    .bind(now.0)
    .bind(containers)
    .fetch_optional(c)
    .await?;
    row.as_ref().map(claimed).transpose()
}

fn claimed(r: &SqliteRow) -> Result<Claimed> {
    let kind: String = r.try_get("kind")?;
    let text = |name: &str| -> Result<Option<String>> { Ok(r.try_get(name)?) };
    Ok(Claimed {
        id: JobId(r.try_get("id")?),
        kind: known(JobKind::parse(&kind), "job kind", &kind)?,
        submission: text("submission_id")?
            .as_deref()
            .map(SubmissionId::parse)
            .transpose()?,
        revision: text("revision_id")?
            .as_deref()
            .map(RevisionId::parse)
            .transpose()?,
        attempt: text("attempt_id")?
            .as_deref()
            .map(AttemptId::parse)
            .transpose()?,
        exclusive_key: text("exclusive_key")?,
        unique_key: text("unique_key")?,
        token: r.try_get("lease_token")?,
        tries: r.try_get("tries")?,
        max_tries: r.try_get("max_tries")?,
    })
}

/// What a heartbeat learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heartbeat {
    /// The lease goes on.
    Held,
    /// Somebody asked for the job to end.
    CancelWanted,
    /// The lease is somebody else's, or the job is over.
    Lost,
}

/// Prolongs a lease.
pub async fn heartbeat(
    c: &mut Connection,
    id: JobId,
    token: &str,
    lease_ms: i64,
    now: Timestamp,
) -> Result<Heartbeat> {
    let cancel: Option<i64> = sqlx::query_scalar("update jobs set lease_until = ? where id = ? and state = 'running' and lease_token = ? returning cancel")
        .bind(now.0 + lease_ms)
        .bind(id.0)
        .bind(token)
        .fetch_optional(c)
        .await?;
    Ok(match cancel {
        None => Heartbeat::Lost,
        Some(0) => Heartbeat::Held,
        Some(_) => Heartbeat::CancelWanted,
    })
}

/// Ends a job well; false if the lease was lost, and then the caller's
/// transaction must not commit.
pub async fn finish(c: &mut Connection, id: JobId, token: &str, now: Timestamp) -> Result<bool> {
    end(c, id, token, JobState::Done, "", None, now).await
}

/// Ends this try: back into the queue at `run_after`, or for good.
pub async fn end(
    c: &mut Connection,
    id: JobId,
    token: &str,
    state: JobState,
    error: &str,
    run_after: Option<Timestamp>,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query(
        "update jobs set state = ?, last_error = ?, run_after = coalesce(?, run_after), finished = case when ? = 'queued' then null else ? end, \
         worker = null, lease_token = null, lease_until = null where id = ? and state = 'running' and lease_token = ?",
    )
    .bind(state.as_str())
    .bind(error.chars().take(2000).collect::<String>())
    .bind(run_after.map(|t| t.0))
    .bind(state.as_str())
    .bind(now.0)
    .bind(id.0)
    .bind(token)
    .execute(c)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Takes back jobs whose lease is over: queued again, or parked after the last
/// try. Their numbers.
pub async fn expire(c: &mut Connection, now: Timestamp) -> Result<Vec<JobId>> {
    take_back(c, None, now).await
}

/// Takes back what a worker holds of which it is known that it lives no more,
/// however long its leases would still hold. The jobs' numbers.
pub async fn expire_of(c: &mut Connection, worker: &str, now: Timestamp) -> Result<Vec<JobId>> {
    take_back(c, Some(worker), now).await
}

async fn take_back(c: &mut Connection, worker: Option<&str>, now: Timestamp) -> Result<Vec<JobId>> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "update jobs set state = case when cancel = 1 then 'cancelled' when tries >= max_tries then 'parked' else 'queued' end, \
         last_error = case when ?2 is null then 'the worker stopped without finishing (its lease ran out)' else 'the worker ended without finishing (its process is gone)' end, \
         finished = case when tries >= max_tries or cancel = 1 then ?1 else null end, \
         worker = null, lease_token = null, lease_until = null, run_after = ?1 \
         where state = 'running' and case when ?2 is null then lease_until < ?1 else worker = ?2 end returning id",
    )
    .bind(now.0)
    .bind(worker)
    .fetch_all(c)
    .await?;
    Ok(ids.into_iter().map(JobId).collect())
}

/// Gives a failed try back, because the platform itself was out of order: the
/// job waits again and its try does not count. False if the lease was lost, or
/// if `most` tries were given back already: a job that breaks the platform each
/// time must come to an end.
pub async fn spare(
    c: &mut Connection,
    id: JobId,
    token: &str,
    error: &str,
    run_after: Timestamp,
    most: u32,
) -> Result<bool> {
    let done = sqlx::query(
        "update jobs set state = 'queued', tries = tries - 1, spared = spared + 1, last_error = ?, run_after = ?, \
         worker = null, lease_token = null, lease_until = null where id = ? and state = 'running' and lease_token = ? and spared < ? and cancel = 0",
    )
    .bind(error.chars().take(2000).collect::<String>())
    .bind(run_after.0)
    .bind(id.0)
    .bind(token)
    .bind(most)
    .execute(c)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Every live lease, as job and fencing token.
pub async fn live_leases(c: &mut Connection) -> Result<Vec<(JobId, String)>> {
    let rows: Vec<(i64, String)> = sqlx::query_as(
        "select id, lease_token from jobs where state = 'running' and lease_token is not null",
    )
    .fetch_all(c)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(id, token)| (JobId(id), token))
        .collect())
}

/// Puts a parked job back into the queue with its tries forgiven.
pub async fn retry(c: &mut Connection, id: JobId, now: Timestamp) -> Result<bool> {
    let done = sqlx::query("update jobs set state = 'queued', tries = 0, spared = 0, run_after = ?, finished = null, cancel = 0 where id = ? and state in ('parked', 'cancelled')")
        .bind(now.0)
        .bind(id.0)
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Cancels a job: at once if it waits, by its worker if it runs.
pub async fn cancel(c: &mut Connection, id: JobId, now: Timestamp) -> Result<bool> {
    let done = sqlx::query(
        "update jobs set cancel = 1, state = case when state = 'running' then 'running' else 'cancelled' end, \
         finished = case when state = 'running' then null else ? end where id = ? and state in ('queued', 'running', 'parked')",
    )
    .bind(now.0)
    .bind(id.0)
    .execute(c)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Cancels every unfinished job of a submission. Their numbers.
pub async fn cancel_of(
    c: &mut Connection,
    submission: &SubmissionId,
    now: Timestamp,
) -> Result<Vec<JobId>> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "select id from jobs where submission_id = ? and state in ('queued', 'running', 'parked')",
    )
    .bind(submission.as_str())
    .fetch_all(&mut *c)
    .await?;
    for id in &ids {
        cancel(c, JobId(*id), now).await?;
    }
    Ok(ids.into_iter().map(JobId).collect())
}

/// Cancels every unfinished job of a revision. How many.
pub async fn cancel_of_revision(
    c: &mut Connection,
    revision: &RevisionId,
    now: Timestamp,
) -> Result<usize> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "select id from jobs where revision_id = ? and state in ('queued', 'running', 'parked')",
    )
    .bind(revision.as_str())
    .fetch_all(&mut *c)
    .await?;
    for id in &ids {
        cancel(c, JobId(*id), now).await?;
    }
    Ok(ids.len())
}

/// Appends to a job's log.
pub async fn append_log(c: &mut Connection, id: JobId, chunk: &str) -> Result<()> {
    sqlx::query("insert into job_logs (job_id, seq, chunk) select ?1, coalesce(max(seq), 0) + 1, ?2 from job_logs where job_id = ?1")
        .bind(id.0)
        .bind(chunk)
        .execute(c)
        .await?;
    Ok(())
}

/// A job's log, at most its last `most` bytes (cut at a character).
pub async fn log(c: &mut Connection, id: JobId, most: usize) -> Result<String> {
    let rows: Vec<String> = sqlx::query_scalar(
        "select chunk from job_logs where job_id = ? order by seq desc limit 4000",
    )
    .bind(id.0)
    .fetch_all(c)
    .await?;
    let mut parts = Vec::new();
    let mut size = 0;
    for chunk in rows {
        size += chunk.len();
        parts.push(chunk);
        if size >= most {
            break;
        }
    }
    parts.reverse();
    let text = parts.concat();
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    Ok(text[from..].to_owned())
}

fn view(r: &SqliteRow) -> Result<JobView> {
    let text = |name: &str| -> Result<Option<String>> { Ok(r.try_get(name)?) };
    let kind: String = r.try_get("kind")?;
    let state: String = r.try_get("state")?;
    Ok(JobView {
        id: JobId(r.try_get("id")?),
        kind: known(JobKind::parse(&kind), "job kind", &kind)?,
        state: known(JobState::parse(&state), "job state", &state)?,
        subject: r.try_get("subject")?,
        submission: text("submission_id")?
            .as_deref()
            .map(SubmissionId::parse)
            .transpose()?,
        attempt: text("attempt_id")?
            .as_deref()
            .map(AttemptId::parse)
            .transpose()?,
        tries: r.try_get("tries")?,
        max_tries: r.try_get("max_tries")?,
        created: Timestamp(r.try_get("created")?),
        run_after: Timestamp(r.try_get("run_after")?),
        worker: text("worker")?,
        lease_until: r.try_get::<Option<i64>, _>("lease_until")?.map(Timestamp),
        last_error: r.try_get("last_error")?,
    })
}

/// The job of a number.
pub async fn get(c: &mut Connection, id: JobId) -> Result<Option<JobView>> {
    sqlx::query("select * from jobs where id = ?")
        .bind(id.0)
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(view)
        .transpose()
}

/// Running and waiting jobs, parked ones, then the newest finished ones.
pub async fn listing(c: &mut Connection, most: u32) -> Result<Vec<JobView>> {
    let rows = sqlx::query(
        "select * from jobs order by case state when 'running' then 0 when 'parked' then 1 when 'queued' then 2 else 3 end, \
         case when state in ('done', 'cancelled') then -finished else priority end, run_after, id limit ?",
    )
    .bind(most)
    .fetch_all(c)
    .await?;
    rows.iter().map(view).collect()
}

/// A submission's jobs that score attempts and are not done.
pub async fn unfinished_of(c: &mut Connection, submission: &SubmissionId) -> Result<Vec<JobView>> {
    let rows = sqlx::query("select * from jobs where submission_id = ? and state in ('queued', 'running', 'parked') order by id")
        .bind(submission.as_str())
        .fetch_all(c)
        .await?;
    rows.iter().map(view).collect()
}

/// Parked jobs.
pub async fn parked(c: &mut Connection) -> Result<Vec<JobView>> {
    let rows = sqlx::query("select * from jobs where state = 'parked' order by id limit 200")
        .fetch_all(c)
        .await?;
    rows.iter().map(view).collect()
}

/// Jobs that run since before `before`, and jobs that are due since before then
/// while none of their kind was begun after: a long queue that moves is not stuck.
/// While claiming is paused waiting jobs are meant to wait.
pub async fn stuck(c: &mut Connection, before: Timestamp) -> Result<Vec<JobView>> {
    let rows = sqlx::query(
        "select * from jobs j where (state = 'running' and started < ?1) or (state = 'queued' and run_after < ?1 \
         and not exists (select 1 from jobs d where d.kind = j.kind and d.started >= ?1) \
         and not exists (select 1 from flags where name = 'paused' and value = 'true')) order by id limit 200",
    )
    .bind(before.0)
    .fetch_all(c)
    .await?;
    rows.iter().map(view).collect()
}

/// Jobs that are due and wait.
pub async fn due(c: &mut Connection, now: Timestamp) -> Result<u32> {
    Ok(
        sqlx::query_scalar("select count(*) from jobs where state = 'queued' and run_after <= ?")
            .bind(now.0)
            .fetch_one(c)
            .await?,
    )
}

/// The jobs that a worker holds.
pub async fn held_by(c: &mut Connection, worker: &str) -> Result<Vec<JobView>> {
    let rows = sqlx::query("select * from jobs where state = 'running' and worker = ? order by id")
        .bind(worker)
        .fetch_all(c)
        .await?;
    rows.iter().map(view).collect()
}

/// Jobs by state.
pub async fn counts(c: &mut Connection) -> Result<Vec<(JobState, u32)>> {
    let rows = sqlx::query("select state, count(*) as n from jobs group by state")
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            let state: String = r.try_get("state")?;
            Ok((
                known(JobState::parse(&state), "job state", &state)?,
                r.try_get("n")?,
            ))
        })
        .collect()
}
