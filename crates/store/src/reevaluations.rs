//! Re-evaluations of sets of submissions: the set as it was asked for, and the
//! revisions that belong to it. It never decides which submissions those are.

use faultboard_domain::view::ReevaluationLine;
use faultboard_domain::{ReevaluationId, Scope, SubmissionId, Timestamp, Track};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::revisions::{self, Revision};
use crate::{Connection, Result, StoreError};

/// Submissions that have a score which can be scored again.
const SCORED: &str =
    "s.live_revision is not null and s.state in ('scored', 'in-review', 'published')";

/// Adds a re-evaluation.
pub async fn insert(
    c: &mut Connection,
    id: &ReevaluationId,
    scope: &Scope,
    (reason, fresh): (&str, bool),
    created_by: &str,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into reevaluations (id, scope, subject, reason, fresh, created, created_by) values (?, ?, ?, ?, ?, ?, ?)")
        .bind(id.as_str())
        .bind(scope.kind())
        .bind(scope.subject())
        .bind(reason)
        .bind(fresh)
        .bind(now.0)
        .bind(created_by)
        .execute(c)
        .await?;
    Ok(())
}

/// The scored submissions that a scope covers today, oldest first. `current`
/// tells the scorer's version of each track.
pub async fn covered(
    c: &mut Connection,
    scope: &Scope,
    current: &[(Track, String)],
) -> Result<Vec<SubmissionId>> {
    let condition = match scope {
        Scope::Attempt(_) => "s.id = (select submission_id from attempts where id = ?1)",
        Scope::Submission(_) => "s.id = ?1",
        Scope::Case(_) => "s.id in (select submission_id from attempts where case_id = ?1)",
        Scope::Configuration(_) => {
            "s.configuration_key = (select configuration_key from submissions where id = ?1)"
        }
        Scope::Release(_) => "s.release = ?1",
        Scope::Outdated => {
            return Ok(outdated_rows(c, current)
                .await?
                .into_iter()
                .map(|(id, _)| id)
                .collect());
        }
    };
    let sql = sqlx::AssertSqlSafe(format!(
        "select s.id from submissions s where {SCORED} and {condition} order by s.created, s.id"
    ));
    let ids: Vec<String> = sqlx::query_scalar(sql)
        .bind(scope.subject())
        .fetch_all(c)
        .await?;
    ids.iter().map(|id| Ok(SubmissionId::parse(id)?)).collect()
}

/// Scored submissions whose live revision is not of the current scorer, with
/// that revision's version.
async fn outdated_rows(
    c: &mut Connection,
    current: &[(Track, String)],
) -> Result<Vec<(SubmissionId, String)>> {
    let mut found = Vec::new();
    let sql = format!(
        "select s.id, r.scorer_version from submissions s join revisions r on r.id = s.live_revision \
         where {SCORED} and s.track = ? and r.scorer_version <> ? order by s.created, s.id"
    );
    for (track, version) in current {
        let rows: Vec<(String, String)> = sqlx::query_as(sqlx::AssertSqlSafe(sql.clone()))
            .bind(track.as_str())
            .bind(version)
            .fetch_all(&mut *c)
            .await?;
        for (id, version) in rows {
            found.push((SubmissionId::parse(&id)?, version));
        }
    }
    Ok(found)
}

/// How many submissions each older scorer's version stands behind.
pub async fn outdated(
    c: &mut Connection,
    current: &[(Track, String)],
) -> Result<Vec<(String, u32)>> {
    let mut counts = std::collections::BTreeMap::new();
    for (_, version) in outdated_rows(c, current).await? {
        *counts.entry(version).or_insert(0) += 1;
    }
    Ok(counts.into_iter().collect())
}

fn line(r: &SqliteRow) -> Result<ReevaluationLine> {
    let (kind, subject): (String, String) = (r.try_get("scope")?, r.try_get("subject")?);
    Ok(ReevaluationLine {
        id: ReevaluationId::parse(r.try_get("id")?)?,
        scope: Scope::parse(&kind, &subject).map_err(|e| StoreError::Corrupt(e.to_string()))?,
        reason: r.try_get("reason")?,
        created: Timestamp(r.try_get("created")?),
        created_by: r.try_get("created_by")?,
        states: Vec::new(),
    })
}

async fn states(c: &mut Connection, id: &ReevaluationId) -> Result<Vec<(String, u32)>> {
    Ok(sqlx::query_as("select state, count(*) from revisions where reevaluation_id = ? group by state order by state")
        .bind(id.as_str())
        .fetch_all(c)
        .await?)
}

/// The newest re-evaluations.
pub async fn newest(c: &mut Connection, most: u32) -> Result<Vec<ReevaluationLine>> {
    let rows = sqlx::query("select * from reevaluations order by created desc, id limit ?")
        .bind(most)
        .fetch_all(&mut *c)
        .await?;
    let mut lines = Vec::with_capacity(rows.len());
    for r in &rows {
        let mut one = line(r)?;
        one.states = states(c, &one.id).await?;
        lines.push(one);
    }
    Ok(lines)
}

/// One re-evaluation, and whether it reuses no verdict.
pub async fn get(
    c: &mut Connection,
    id: &ReevaluationId,
) -> Result<Option<(ReevaluationLine, bool)>> {
    let row = sqlx::query("select * from reevaluations where id = ?")
        .bind(id.as_str())
        .fetch_optional(&mut *c)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let mut one = line(&row)?;
    one.states = states(c, id).await?;
    Ok(Some((one, row.try_get::<i64, _>("fresh")? != 0)))
}

/// Its revisions, in the order in which they were begun.
pub async fn revisions_of(c: &mut Connection, id: &ReevaluationId) -> Result<Vec<Revision>> {
    let rows =
        sqlx::query("select * from revisions where reevaluation_id = ? order by created, rowid")
            .bind(id.as_str())
            .fetch_all(c)
            .await?;
    rows.iter().map(revisions::revision).collect()
}

/// Unfinished and parked scoring jobs of a revision: (unfinished, parked).
pub async fn open_jobs(
    c: &mut Connection,
    revision: &faultboard_domain::RevisionId,
) -> Result<(u32, u32)> {
    let (open, parked): (i64, i64) = sqlx::query_as(
        "select count(*), coalesce(sum(state = 'parked'), 0) from jobs \
         where revision_id = ? and kind = 'score-attempt' and state in ('queued', 'running', 'parked')",
    )
    .bind(revision.as_str())
    .fetch_one(c)
    .await?;
    let n = |v: i64| u32::try_from(v).unwrap_or(u32::MAX);
    Ok((n(open), n(parked)))
}
