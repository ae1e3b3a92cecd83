//! Workers as they last spoke, what is wished of them, and cases that fail on
//! them. It never decides what a worker does about it.

use faultboard_domain::view::{ParkedCase, WorkerView};
use faultboard_domain::{AttemptId, CaseId, Timestamp};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::{Connection, Result, StoreError};

/// What an administrator wishes of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Finish what it holds, claim nothing more, and end.
    Drain,
    /// Leave quarantine and claim again.
    Release,
}

impl Wish {
    /// The word in the database and in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Release => "release",
        }
    }

    /// The wish of a word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Drain, Self::Release]
            .into_iter()
            .find(|w| w.as_str() == text)
    }
}

/// Says that a worker lives; what is wished of it, if anything. A wish to be
/// released is taken by being read, one to drain stays until the worker ends.
pub async fn seen(c: &mut Connection, w: &WorkerView) -> Result<Option<Wish>> {
    let wish: Option<String> = sqlx::query_scalar(
        "insert into workers (name, node, runtime, seen, state, why, running) values (?, ?, ?, ?, ?, ?, ?) \
         on conflict (name) do update set node = excluded.node, runtime = excluded.runtime, seen = excluded.seen, \
         state = excluded.state, why = excluded.why, running = excluded.running returning wish",
    )
    .bind(&w.name)
    .bind(&w.node)
    .bind(&w.runtime)
    .bind(w.seen.0)
    .bind(&w.state)
    .bind(&w.why)
    .bind(w.running)
    .fetch_one(&mut *c)
    .await?;
    let wish = wish.as_deref().and_then(Wish::parse);
    if wish == Some(Wish::Release) {
        sqlx::query("update workers set wish = null where name = ?")
            .bind(&w.name)
            .execute(c)
            .await?;
    }
    Ok(wish)
}

/// Wishes something of a worker; false if there is none of that name alive.
pub async fn wish(c: &mut Connection, name: &str, wish: Wish) -> Result<bool> {
    let done = sqlx::query("update workers set wish = ? where name = ? and state <> 'stopped'")
        .bind(wish.as_str())
        .bind(name)
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Notes that a worker's process is gone.
pub async fn gone(c: &mut Connection, name: &str) -> Result<()> {
    sqlx::query(
        "update workers set state = 'stopped', why = 'its process is gone', running = 0 where name = ?",
    )
    .bind(name)
    .execute(c)
    .await?;
    Ok(())
}

fn worker(r: &SqliteRow) -> Result<WorkerView> {
    Ok(WorkerView {
        name: r.try_get("name")?,
        node: r.try_get("node")?,
        runtime: r.try_get("runtime")?,
        seen: Timestamp(r.try_get("seen")?),
        state: r.try_get("state")?,
        why: r.try_get("why")?,
        running: r.try_get("running")?,
        wish: r.try_get("wish")?,
    })
}

/// Workers that spoke since then, those that ended last.
pub async fn since(c: &mut Connection, since: Timestamp) -> Result<Vec<WorkerView>> {
    let rows =
        sqlx::query("select * from workers where seen >= ? order by state = 'stopped', name")
            .bind(since.0)
            .fetch_all(c)
            .await?;
    rows.iter().map(worker).collect()
}

/// Names of workers that did not say that they ended.
pub async fn not_stopped(c: &mut Connection) -> Result<Vec<String>> {
    Ok(
        sqlx::query_scalar("select name from workers where state <> 'stopped'")
            .fetch_all(c)
            .await?,
    )
}

/// Forgets workers that were silent since before then.
pub async fn forget(c: &mut Connection, before: Timestamp) -> Result<()> {
    sqlx::query("delete from workers where seen < ?")
        .bind(before.0)
        .execute(c)
        .await?;
    Ok(())
}

/// Notes that a case failed on a worker for reasons of infrastructure. If it has
/// failed `least` times by now, and on every worker that spoke since
/// `alive_since` and takes work, the case is parked: true.
pub async fn case_failed(
    c: &mut Connection,
    case: &CaseId,
    on: &str,
    reason: &str,
    (least, alive_since): (u32, Timestamp),
    now: Timestamp,
) -> Result<bool> {
    sqlx::query(
        "insert into case_faults (case_id, worker, times, at, reason) values (?, ?, 1, ?, ?) \
         on conflict (case_id, worker) do update set times = times + 1, at = excluded.at, reason = excluded.reason",
    )
    .bind(case.as_str())
    .bind(on)
    .bind(now.0)
    .bind(reason.chars().take(500).collect::<String>())
    .execute(&mut *c)
    .await?;
    let times: i64 =
        sqlx::query_scalar("select coalesce(sum(times), 0) from case_faults where case_id = ?")
            .bind(case.as_str())
            .fetch_one(&mut *c)
            .await?;
    // A worker that takes no containers now can't tell whether the case would
    // work on it, and one that is gone doesn't matter any more.
    let untried: i64 = sqlx::query_scalar(
        "select count(*) from workers w where w.seen >= ?1 and w.state in ('claiming', 'working') \
         and not exists (select 1 from case_faults f where f.case_id = ?2 and f.worker = w.name)",
    )
    .bind(alive_since.0)
    .bind(case.as_str())
    .fetch_one(&mut *c)
    .await?;
    if times < i64::from(least) || untried > 0 {
        return Ok(false);
    }
    let faults: Vec<(String, i64, String)> = sqlx::query_as(
        "select worker, times, reason from case_faults where case_id = ? order by worker",
    )
    .bind(case.as_str())
    .fetch_all(&mut *c)
    .await?;
    let told: Vec<String> = faults
        .iter()
        .map(|(worker, times, reason)| format!("{worker} ({times}x): {reason}"))
        .collect();
    let done = sqlx::query(
        "insert into parked_cases (case_id, at, reason) values (?, ?, ?) on conflict do nothing",
    )
    .bind(case.as_str())
    .bind(now.0)
    .bind(told.join("; "))
    .execute(&mut *c)
    .await?;
    park_waiting(c, now).await?;
    Ok(done.rows_affected() == 1)
}

/// Parks the waiting jobs of parked cases, so that nobody takes them for work
/// that will go on by itself.
pub async fn park_waiting(c: &mut Connection, now: Timestamp) -> Result<()> {
    sqlx::query(
        "update jobs set state = 'parked', finished = ?, last_error = 'the case fails on every worker; it waits for an operator' \
         where state = 'queued' and attempt_id in (select a.id from attempts a join parked_cases p on p.case_id = a.case_id)",
    )
    .bind(now.0)
    .execute(c)
    .await?;
    Ok(())
}

/// Whether the attempt's case is known to have failed somewhere.
pub async fn is_suspected(c: &mut Connection, attempt: &AttemptId) -> Result<bool> {
    Ok(sqlx::query_scalar(
        "select exists (select 1 from case_faults f join attempts a on a.case_id = f.case_id where a.id = ?)",
    )
    .bind(attempt.as_str())
    .fetch_one(c)
    .await?)
}

/// Notes that the attempt's case worked: what went wrong before is forgotten.
pub async fn case_worked(c: &mut Connection, attempt: &AttemptId) -> Result<()> {
    sqlx::query(
        "delete from case_faults where case_id = (select case_id from attempts where id = ?)",
    )
    .bind(attempt.as_str())
    .execute(c)
    .await?;
    Ok(())
}

/// Lets a parked case go on: its parked jobs wait again with their tries
/// forgiven. False if it is not parked.
pub async fn release_case(c: &mut Connection, case: &CaseId, now: Timestamp) -> Result<bool> {
    let done = sqlx::query("delete from parked_cases where case_id = ?")
        .bind(case.as_str())
        .execute(&mut *c)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query("delete from case_faults where case_id = ?")
        .bind(case.as_str())
        .execute(&mut *c)
        .await?;
    sqlx::query(
        "update jobs set state = 'queued', tries = 0, spared = 0, run_after = ?, finished = null \
         where state = 'parked' and attempt_id in (select id from attempts where case_id = ?)",
    )
    .bind(now.0)
    .bind(case.as_str())
    .execute(c)
    .await?;
    Ok(true)
}

/// Parked cases, oldest first.
pub async fn parked_cases(c: &mut Connection) -> Result<Vec<ParkedCase>> {
    let rows = sqlx::query(
        "select p.*, (select count(*) from jobs j join attempts a on a.id = j.attempt_id where a.case_id = p.case_id and j.state in ('queued', 'parked')) as jobs \
         from parked_cases p order by p.at",
    )
    .fetch_all(c)
    .await?;
    rows.iter()
        .map(|r| {
            Ok(ParkedCase {
                case: CaseId::parse(r.try_get("case_id")?).map_err(StoreError::from)?,
                at: Timestamp(r.try_get("at")?),
                reason: r.try_get("reason")?,
                jobs: r.try_get("jobs")?,
            })
        })
        .collect()
}
