//! Uploads in progress. How many bytes have arrived is asked of the file, which
//! is the truth after a crash; the table says what was promised.

use faultboard_domain::{Digest, SubmissionId, TeamId, Timestamp, UploadId, UserId};
use sqlx::Row;

use crate::{Connection, Result};

/// One upload.
#[derive(Debug, Clone)]
pub struct Upload {
    /// Its id.
    pub id: UploadId,
    /// Whose it is.
    pub user: UserId,
    /// The team that it is for.
    pub team: Option<TeamId>,
    /// The file's name as sent.
    pub file_name: String,
    /// How many bytes it will have.
    pub length: u64,
    /// The digest that the sender promised.
    pub sha256: Option<Digest>,
    /// The submission that it became.
    pub submission: Option<SubmissionId>,
}

/// Adds an upload.
pub async fn insert(c: &mut Connection, u: &Upload, now: Timestamp) -> Result<()> {
    sqlx::query("insert into uploads (id, user_id, team_id, file_name, length, sha256, created, changed) values (?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(u.id.as_str())
        .bind(u.user.as_str())
        .bind(u.team.as_ref().map(TeamId::as_str))
        .bind(&u.file_name)
        .bind(i64::try_from(u.length).unwrap_or(i64::MAX))
        .bind(u.sha256.as_ref().map(Digest::as_str))
        .bind(now.0)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The upload of an id.
pub async fn get(c: &mut Connection, id: &UploadId) -> Result<Option<Upload>> {
    let Some(r) = sqlx::query("select * from uploads where id = ?")
        .bind(id.as_str())
        .fetch_optional(c)
        .await?
    else {
        return Ok(None);
    };
    Ok(Some(Upload {
        id: UploadId::parse(r.try_get("id")?)?,
        user: UserId::parse(r.try_get("user_id")?)?,
        team: r
            .try_get::<Option<String>, _>("team_id")?
            .as_deref()
            .map(TeamId::parse)
            .transpose()?,
        file_name: r.try_get("file_name")?,
        length: u64::try_from(r.try_get::<i64, _>("length")?).unwrap_or(0),
        sha256: r
            .try_get::<Option<String>, _>("sha256")?
            .as_deref()
            .map(Digest::parse)
            .transpose()?,
        submission: r
            .try_get::<Option<String>, _>("submission_id")?
            .as_deref()
            .map(SubmissionId::parse)
            .transpose()?,
    }))
}

/// Binds an upload to the submission that it became; false if it has one already.
pub async fn finish(
    c: &mut Connection,
    id: &UploadId,
    submission: &SubmissionId,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query(
        "update uploads set submission_id = ?, changed = ? where id = ? and submission_id is null",
    )
    .bind(submission.as_str())
    .bind(now.0)
    .bind(id.as_str())
    .execute(c)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Forgets an upload that never became a submission.
pub async fn delete_open(c: &mut Connection, id: &UploadId) -> Result<bool> {
    let done = sqlx::query("delete from uploads where id = ? and submission_id is null")
        .bind(id.as_str())
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Bytes promised by a person's open uploads.
pub async fn open_bytes(c: &mut Connection, user: &UserId) -> Result<u64> {
    let n: i64 = sqlx::query_scalar(
        "select coalesce(sum(length), 0) from uploads where user_id = ? and submission_id is null",
    )
    .bind(user.as_str())
    .fetch_one(c)
    .await?;
    Ok(u64::try_from(n).unwrap_or(0))
}

/// Open uploads that nobody has touched since `before`.
pub async fn stale(c: &mut Connection, before: Timestamp) -> Result<Vec<UploadId>> {
    let ids: Vec<String> =
        sqlx::query_scalar("select id from uploads where submission_id is null and changed < ?")
            .bind(before.0)
            .fetch_all(c)
            .await?;
    ids.iter().map(|id| Ok(UploadId::parse(id)?)).collect()
}
