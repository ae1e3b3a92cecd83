//! Figures as a job computed them: their data, their drawing, and the digest of
//! what they were made from. A board's figures are replaced together.

use faultboard_domain::Timestamp;
use sqlx::Row;

use crate::boards::BoardKey;
use crate::{Connection, Result};

/// A figure of a board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFigure {
    /// Its id.
    pub figure: String,
    /// What it shows, in words.
    pub summary: String,
    /// Its data, JSON.
    pub data: Vec<u8>,
    /// Its drawing for a page; empty where it is drawn from the data when asked for.
    pub svg: String,
    /// Digest of what it was made from.
    pub inputs: String,
    /// When.
    pub computed: Timestamp,
}

/// What a board's figures were made from; none if it has none.
pub async fn inputs(c: &mut Connection, key: &BoardKey) -> Result<Option<String>> {
    Ok(sqlx::query_scalar("select inputs from figures where track = ? and release = ? and subset = ? and slice = ? limit 1")
        .bind(key.track.as_str())
        .bind(key.release.as_str())
        .bind(key.subset.as_str())
        .bind(&key.slice)
        .fetch_optional(c)
        .await?)
}

/// Puts a board's figures in the place of those that it had.
pub async fn replace(c: &mut Connection, key: &BoardKey, figures: &[StoredFigure]) -> Result<()> {
    sqlx::query("delete from figures where track = ? and release = ? and subset = ? and slice = ?")
        .bind(key.track.as_str())
        .bind(key.release.as_str())
        .bind(key.subset.as_str())
        .bind(&key.slice)
        .execute(&mut *c)
        .await?;
    for f in figures {
        sqlx::query("insert into figures (track, release, subset, slice, figure, summary, data, svg, inputs, computed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .bind(key.track.as_str())
            .bind(key.release.as_str())
            .bind(key.subset.as_str())
            .bind(&key.slice)
            .bind(&f.figure)
            .bind(&f.summary)
            .bind(&f.data)
            .bind(&f.svg)
            .bind(&f.inputs)
            .bind(f.computed.0)
            .execute(&mut *c)
            .await?;
    }
    Ok(())
}

/// The figures that a board has: id, what it shows in words, and when it was computed.
pub async fn list(c: &mut Connection, key: &BoardKey) -> Result<Vec<(String, String, Timestamp)>> {
    let rows = sqlx::query("select figure, summary, computed from figures where track = ? and release = ? and subset = ? and slice = ? order by figure")
        .bind(key.track.as_str())
        .bind(key.release.as_str())
        .bind(key.subset.as_str())
        .bind(&key.slice)
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok((
                r.try_get("figure")?,
                r.try_get("summary")?,
                Timestamp(r.try_get("computed")?),
            ))
        })
        .collect()
}

/// One figure.
pub async fn get(c: &mut Connection, key: &BoardKey, figure: &str) -> Result<Option<StoredFigure>> {
    let row = sqlx::query("select * from figures where track = ? and release = ? and subset = ? and slice = ? and figure = ?")
        .bind(key.track.as_str())
        .bind(key.release.as_str())
        .bind(key.subset.as_str())
        .bind(&key.slice)
        .bind(figure)
        .fetch_optional(c)
        .await?;
    row.map(|r| {
        Ok(StoredFigure {
            figure: r.try_get("figure")?,
            summary: r.try_get("summary")?,
            data: r.try_get("data")?,
            svg: r.try_get("svg")?,
            inputs: r.try_get("inputs")?,
            computed: Timestamp(r.try_get("computed")?),
        })
    })
    .transpose()
}

/// Forgets the figures of boards that are no more.
pub async fn forget_orphans(c: &mut Connection) -> Result<u64> {
    let done = sqlx::query(
        "delete from figures where not exists (select 1 from boards b where b.track = figures.track \
         and b.release = figures.release and b.subset = figures.subset and b.slice = figures.slice)",
    )
    .execute(c)
    .await?;
    Ok(done.rows_affected())
}
