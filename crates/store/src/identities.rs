//! Accounts at identity providers, and sign-ins on their way to one and back.
//! It stores hashes of what a browser carries; the rest of a pending sign-in is
//! of use only to this server and lives for minutes.

use faultboard_domain::{Timestamp, UserId};
use sqlx::Row;

use crate::{Connection, Result};

/// A sign-in that has gone to a provider.
#[derive(Debug, Clone)]
pub struct Pending {
    /// What the identity token must repeat.
    pub nonce: String,
    /// The secret behind the code challenge.
    pub verifier: String,
    /// Where to go afterwards.
    pub next: String,
    /// Who adds the identity to their account; none: to sign in.
    pub user: Option<UserId>,
}

/// Keeps a pending sign-in, and forgets those that are over.
pub async fn begin(
    c: &mut Connection,
    state_hash: &str,
    p: &Pending,
    now: Timestamp,
    expires: Timestamp,
) -> Result<()> {
    sqlx::query("delete from pending_sign_ins where expires < ?")
        .bind(now.0)
        .execute(&mut *c)
        .await?;
    sqlx::query("insert into pending_sign_ins (state_hash, nonce, verifier, next, user_id, created, expires) values (?, ?, ?, ?, ?, ?, ?)")
        .bind(state_hash)
        .bind(&p.nonce)
        .bind(&p.verifier)
        .bind(&p.next)
        .bind(p.user.as_ref().map(UserId::as_str))
        .bind(now.0)
        .bind(expires.0)
        .execute(c)
        .await?;
    Ok(())
}

/// Takes a pending sign-in away, so that its state works once.
pub async fn take(c: &mut Connection, state_hash: &str, now: Timestamp) -> Result<Option<Pending>> {
    let row = sqlx::query("delete from pending_sign_ins where state_hash = ? and expires > ? returning nonce, verifier, next, user_id")
        .bind(state_hash)
        .bind(now.0)
        .fetch_optional(c)
        .await?;
    row.map(|r| {
        Ok(Pending {
            nonce: r.try_get("nonce")?,
            verifier: r.try_get("verifier")?,
            next: r.try_get("next")?,
            user: r
                .try_get::<Option<String>, _>("user_id")?
                .as_deref()
                .map(UserId::parse)
                .transpose()?,
        })
    })
    .transpose()
}

/// The account that an identity opens.
pub async fn user_of(c: &mut Connection, issuer: &str, subject: &str) -> Result<Option<UserId>> {
    let id: Option<String> =
        sqlx::query_scalar("select user_id from identities where issuer = ? and subject = ?")
            .bind(issuer)
            .bind(subject)
            .fetch_optional(c)
            .await?;
    Ok(id.as_deref().map(UserId::parse).transpose()?)
}

/// Adds an identity to an account; one that opens another is a unique violation.
pub async fn link(
    c: &mut Connection,
    issuer: &str,
    subject: &str,
    user: &UserId,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into identities (issuer, subject, user_id, created) values (?, ?, ?, ?)")
        .bind(issuer)
        .bind(subject)
        .bind(user.as_str())
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The issuers whose accounts open an account here.
pub async fn issuers(c: &mut Connection, user: &UserId) -> Result<Vec<String>> {
    Ok(sqlx::query_scalar(
        "select distinct issuer from identities where user_id = ? order by issuer",
    )
    .bind(user.as_str())
    .fetch_all(c)
    .await?)
}

/// Takes the password, every session and every token from an account, because
/// whoever made it had not shown that its address is theirs.
pub async fn take_over(
    c: &mut Connection,
    user: &UserId,
    no_password: &str,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("update users set password_hash = ? where id = ?")
        .bind(no_password)
        .bind(user.as_str())
        .execute(&mut *c)
        .await?;
    sqlx::query("delete from sessions where user_id = ?")
        .bind(user.as_str())
        .execute(&mut *c)
        .await?;
    sqlx::query("update api_tokens set revoked = ? where user_id = ? and revoked is null")
        .bind(now.0)
        .bind(user.as_str())
        .execute(c)
        .await?;
    Ok(())
}
