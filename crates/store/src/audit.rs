//! The audit log: what operators did beyond the timelines of single
//! submissions. Rows are only ever added; the schema refuses anything else.

use faultboard_domain::view::AuditLine;
use faultboard_domain::{Actor, Timestamp, UserId};
use sqlx::Row;

use crate::{Connection, Result};

/// Adds a line.
pub async fn add(
    c: &mut Connection,
    actor: &Actor,
    deed: &str,
    subject: &str,
    note: &str,
    now: Timestamp,
) -> Result<()> {
    sqlx::query(
        "insert into audit (at, who, user_id, deed, subject, note) values (?, ?, ?, ?, ?, ?)",
    )
    .bind(now.0)
    .bind(actor.label())
    .bind(actor.user_id().map(UserId::as_str))
    .bind(deed)
    .bind(subject)
    .bind(note)
    .execute(c)
    .await?;
    Ok(())
}

/// The newest lines.
pub async fn newest(c: &mut Connection, most: u32) -> Result<Vec<AuditLine>> {
    let rows = sqlx::query("select * from audit order by id desc limit ?")
        .bind(most)
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok(AuditLine {
                at: Timestamp(r.try_get("at")?),
                who: r.try_get("who")?,
                deed: r.try_get("deed")?,
                subject: r.try_get("subject")?,
                note: r.try_get("note")?,
            })
        })
        .collect()
}
