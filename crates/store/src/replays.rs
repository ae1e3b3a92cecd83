//! Replays of traces. Rows are added and read, never changed.

use faultboard_domain::view::ReplayView;
use faultboard_domain::{AttemptId, Timestamp};
use sqlx::Row;

use crate::{Connection, Result};

/// Adds a replay.
pub async fn insert(
    c: &mut Connection,
    attempt: &AttemptId,
    replay: &ReplayView,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into replays (attempt_id, body, at) values (?, ?, ?)")
        .bind(attempt.as_str())
        .bind(serde_json::to_string(replay)?)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}

/// An attempt's newest replay.
pub async fn newest(c: &mut Connection, attempt: &AttemptId) -> Result<Option<ReplayView>> {
    let row = sqlx::query("select body from replays where attempt_id = ? order by id desc limit 1")
        .bind(attempt.as_str())
        .fetch_optional(c)
        .await?;
    row.map(|r| Ok(serde_json::from_str(r.try_get("body")?)?))
        .transpose()
}
