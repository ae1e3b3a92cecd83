//! Stored statistics, by the digest of what they were computed from, and the
//! comparisons that wait for theirs. Rows are added and read, never changed.

use faultboard_domain::{Digest, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;

use crate::{Connection, Result};

/// What a stored piece is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One row alone.
    Row,
    /// Two rows.
    Pair,
    /// A board as a whole.
    Board,
    /// The power of a design.
    Power,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Kind::Row => "row",
            Kind::Pair => "pair",
            Kind::Board => "board",
            Kind::Power => "power",
        }
    }
}

/// Adds a piece; one that is there already stays as it is.
pub async fn put<T: Serialize>(
    c: &mut Connection,
    kind: Kind,
    inputs: &Digest,
    body: &T,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into statistics (inputs, kind, body, computed) values (?, ?, ?, ?) on conflict do nothing")
        .bind(inputs.as_str())
        .bind(kind.as_str())
        .bind(serde_json::to_string(body)?)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}

/// Reads a piece and when it was computed.
pub async fn get<T: DeserializeOwned>(
    c: &mut Connection,
    inputs: &Digest,
) -> Result<Option<(T, Timestamp)>> {
    let row = sqlx::query("select body, computed from statistics where inputs = ?")
        .bind(inputs.as_str())
        .fetch_optional(c)
        .await?;
    row.map(|r| {
        let body: String = r.try_get("body")?;
        Ok((
            serde_json::from_str(&body)?,
            Timestamp(r.try_get("computed")?),
        ))
    })
    .transpose()
}

/// Whether a piece is there.
pub async fn has(c: &mut Connection, inputs: &Digest) -> Result<bool> {
    Ok(
        sqlx::query_scalar("select exists (select 1 from statistics where inputs = ?)")
            .bind(inputs.as_str())
            .fetch_one(c)
            .await?,
    )
}

/// Notes a comparison that somebody wants, unless it is noted already or `most`
/// wait; false if it was not taken up.
pub async fn want<T: Serialize>(
    c: &mut Connection,
    asked: &T,
    most: i64,
    now: Timestamp,
) -> Result<bool> {
    let body = serde_json::to_string(asked)?;
    let done = sqlx::query(
        "insert into wanted_comparisons (body, created) select ?1, ?2 \
         where (select count(*) from wanted_comparisons) < ?3 on conflict do nothing",
    )
    .bind(&body)
    .bind(now.0)
    .bind(most)
    .execute(&mut *c)
    .await?;
    if done.rows_affected() == 1 {
        return Ok(true);
    }
    Ok(
        sqlx::query_scalar("select exists (select 1 from wanted_comparisons where body = ?)")
            .bind(body)
            .fetch_one(c)
            .await?,
    )
}

/// Whether a comparison is noted.
pub async fn is_wanted<T: Serialize>(c: &mut Connection, asked: &T) -> Result<bool> {
    Ok(
        sqlx::query_scalar("select exists (select 1 from wanted_comparisons where body = ?)")
            .bind(serde_json::to_string(asked)?)
            .fetch_one(c)
            .await?,
    )
}

/// The comparisons that wait, oldest first. One that can't be read (any more)
/// comes back as none, so that it can be dropped.
pub async fn wanted<T: DeserializeOwned>(c: &mut Connection) -> Result<Vec<(i64, Option<T>)>> {
    let rows = sqlx::query("select id, body from wanted_comparisons order by id")
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            let body: String = r.try_get("body")?;
            Ok((r.try_get("id")?, serde_json::from_str(&body).ok()))
        })
        .collect()
}

/// Forgets a comparison that was wanted.
pub async fn unwant(c: &mut Connection, id: i64) -> Result<()> {
    sqlx::query("delete from wanted_comparisons where id = ?")
        .bind(id)
        .execute(c)
        .await?;
    Ok(())
}
