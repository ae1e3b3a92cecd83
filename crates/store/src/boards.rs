//! The cache that pages read: boards, what configurations reached on
//! each case, and the proofs of cases. It is rebuilt whole, in one transaction.

use faultboard_domain::view::BoardView;
use faultboard_domain::{CaseId, ReleaseId, SubsetId, Timestamp, Track};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;

use crate::{Connection, Result};

/// What names one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardKey {
    /// The track.
    pub track: Track,
    /// The release.
    pub release: ReleaseId,
    /// The subset.
    pub subset: SubsetId,
    /// The slice; empty: all cases.
    pub slice: String,
}

/// Forgets every board and case board, before all are written anew.
pub async fn clear(c: &mut Connection) -> Result<()> {
    for sql in ["delete from boards", "delete from case_boards"] {
        sqlx::query(sql).execute(&mut *c).await?;
    }
    Ok(())
}

/// Writes a board.
pub async fn put_board(c: &mut Connection, key: &BoardKey, board: &BoardView) -> Result<()> {
    sqlx::query("insert into boards (track, release, subset, slice, body, inputs, computed) values (?, ?, ?, ?, ?, ?, ?)")
        .bind(key.track.as_str())
        .bind(key.release.as_str())
        .bind(key.subset.as_str())
        .bind(&key.slice)
        .bind(serde_json::to_string(board)?)
        .bind(&board.inputs)
        .bind(board.computed.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The keys of every board.
pub async fn keys(c: &mut Connection) -> Result<Vec<BoardKey>> {
    let rows = sqlx::query(
        "select track, release, subset, slice from boards order by track, release, subset, slice",
    )
    .fetch_all(c)
    .await?;
    rows.iter()
        .map(|r| {
            Ok(BoardKey {
                track: r.try_get::<String, _>("track")?.parse()?,
                release: ReleaseId::parse(r.try_get("release")?)?,
                subset: SubsetId::parse(r.try_get("subset")?)?,
                slice: r.try_get("slice")?,
            })
        })
        .collect()
}

/// Reads a board.
pub async fn board(c: &mut Connection, key: &BoardKey) -> Result<Option<BoardView>> {
    let text: Option<String> = sqlx::query_scalar(
        "select body from boards where track = ? and release = ? and subset = ? and slice = ?",
    )
    .bind(key.track.as_str())
    .bind(key.release.as_str())
    .bind(key.subset.as_str())
    .bind(&key.slice)
    .fetch_optional(c)
    .await?;
    Ok(text.map(|t| serde_json::from_str(&t)).transpose()?)
}

/// Writes what configurations reached on a case.
pub async fn put_case_board<T: Serialize>(
    c: &mut Connection,
    case: &CaseId,
    body: &T,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into case_boards (case_id, body, computed) values (?, ?, ?)")
        .bind(case.as_str())
        .bind(serde_json::to_string(body)?)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}

/// Reads what configurations reached on a case.
pub async fn case_board<T: DeserializeOwned>(
    c: &mut Connection,
    case: &CaseId,
) -> Result<Option<T>> {
    let text: Option<String> = sqlx::query_scalar("select body from case_boards where case_id = ?")
        .bind(case.as_str())
        .fetch_optional(c)
        .await?;
    Ok(text.map(|t| serde_json::from_str(&t)).transpose()?)
}

/// Keeps a proof beside the earlier ones.
pub async fn insert_proof<T: Serialize + Sync>(
    c: &mut Connection,
    case: &CaseId,
    proof: &T,
    verified: Timestamp,
) -> Result<()> {
    sqlx::query("insert into proofs (case_id, body, verified) values (?, ?, ?)")
        .bind(case.as_str())
        .bind(serde_json::to_string(proof)?)
        .bind(verified.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The newest proof of each case.
pub async fn proofs<T: DeserializeOwned>(c: &mut Connection) -> Result<Vec<(CaseId, T)>> {
    let rows = sqlx::query("select case_id, body from proofs where id in (select max(id) from proofs group by case_id) order by case_id").fetch_all(c).await?;
    rows.iter()
        .map(|r| {
            Ok((
                CaseId::parse(r.try_get("case_id")?)?,
                serde_json::from_str(r.try_get("body")?)?,
            ))
        })
        .collect()
}
