//! People, sessions, one-time links and API tokens. It stores hashes of secrets
//! and never a secret.

use faultboard_domain::view::{PersonLine, TokenView};
use faultboard_domain::{Role, Timestamp, TokenScope, UserId};
use sqlx::Row;

use crate::error::known;
use crate::{Connection, Result};

/// An account.
#[derive(Debug, Clone)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Its name.
    pub name: String,
    /// Its e-mail address.
    pub email: String,
    /// Its argon2id hash in PHC form.
    pub password_hash: String,
    /// Its role.
    pub role: Role,
}

fn user(row: &sqlx::sqlite::SqliteRow) -> Result<User> {
    let role: String = row.try_get("role")?;
    Ok(User {
        id: UserId::parse(row.try_get("id")?)?,
        name: row.try_get("name")?,
        email: row.try_get("email")?,
        password_hash: row.try_get("password_hash")?,
        role: known(Role::parse(&role), "role", &role)?,
    })
}

/// Adds an account; a taken address is a unique violation.
pub async fn insert_user(c: &mut Connection, u: &User, now: Timestamp) -> Result<()> {
    sqlx::query("insert into users (id, name, email, password_hash, role, created) values (?, ?, ?, ?, ?, ?)")
        .bind(u.id.as_str())
        .bind(&u.name)
        .bind(&u.email)
        .bind(&u.password_hash)
        .bind(u.role.as_str())
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The account of an address.
pub async fn user_by_email(c: &mut Connection, email: &str) -> Result<Option<User>> {
    sqlx::query("select * from users where email = ?")
        .bind(email)
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(user)
        .transpose()
}

/// The account of an id.
pub async fn user_by_id(c: &mut Connection, id: &UserId) -> Result<Option<User>> {
    sqlx::query("select * from users where id = ?")
        .bind(id.as_str())
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(user)
        .transpose()
}

/// Everybody, by name, at most so many.
pub async fn people(c: &mut Connection, most: u32) -> Result<Vec<PersonLine>> {
    let rows = sqlx::query("select * from users order by name collate nocase, id limit ?")
        .bind(most)
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            let u = user(r)?;
            Ok(PersonLine {
                id: u.id,
                name: u.name,
                email: u.email,
                role: u.role,
                created: Timestamp(r.try_get("created")?),
            })
        })
        .collect()
}

/// Gives an account a role; false if there is no such account.
pub async fn set_role(c: &mut Connection, id: &UserId, role: Role) -> Result<bool> {
    let done = sqlx::query("update users set role = ? where id = ?")
        .bind(role.as_str())
        .bind(id.as_str())
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Whether anybody administers the site.
pub async fn has_admin(c: &mut Connection) -> Result<bool> {
    let n: i64 = sqlx::query_scalar("select count(*) from users where role = 'admin'")
        .fetch_one(c)
        .await?;
    Ok(n > 0)
}

/// Keeps a session.
pub async fn insert_session(
    c: &mut Connection,
    hash: &str,
    user: &UserId,
    now: Timestamp,
    expires: Timestamp,
) -> Result<()> {
    sqlx::query("delete from sessions where expires < ?")
        .bind(now.0)
        .execute(&mut *c)
        .await?;
    sqlx::query("insert into sessions (token_hash, user_id, created, expires) values (?, ?, ?, ?)")
        .bind(hash)
        .bind(user.as_str())
        .bind(now.0)
        .bind(expires.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The person behind a session that has not ended.
pub async fn user_by_session(
    c: &mut Connection,
    hash: &str,
    now: Timestamp,
) -> Result<Option<User>> {
    sqlx::query("select u.* from users u join sessions s on s.user_id = u.id where s.token_hash = ? and s.expires > ?")
        .bind(hash)
        .bind(now.0)
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(user)
        .transpose()
}

/// Ends a session.
pub async fn delete_session(c: &mut Connection, hash: &str) -> Result<()> {
    sqlx::query("delete from sessions where token_hash = ?")
        .bind(hash)
        .execute(c)
        .await?;
    Ok(())
}

/// Keeps a one-time secret for a purpose, and forgets earlier unused ones.
pub async fn insert_one_time(
    c: &mut Connection,
    hash: &str,
    purpose: &str,
    now: Timestamp,
    expires: Timestamp,
) -> Result<()> {
    sqlx::query("delete from one_time_tokens where purpose = ? and used is null")
        .bind(purpose)
        .execute(&mut *c)
        .await?;
    sqlx::query(
        "insert into one_time_tokens (token_hash, purpose, created, expires) values (?, ?, ?, ?)",
    )
    .bind(hash)
    .bind(purpose)
    .bind(now.0)
    .bind(expires.0)
    .execute(c)
    .await?;
    Ok(())
}

/// Uses a one-time secret up; false if it is unknown, used or over.
pub async fn use_one_time(
    c: &mut Connection,
    hash: &str,
    purpose: &str,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query("update one_time_tokens set used = ? where token_hash = ? and purpose = ? and used is null and expires > ?")
        .bind(now.0)
        .bind(hash)
        .bind(purpose)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// An API token to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// The name that its owner gave it.
    pub name: &'a str,
    /// Its first characters.
    pub prefix: &'a str,
    /// Its hash.
    pub hash: &'a str,
    /// What it may do.
    pub scopes: &'a [TokenScope],
}

fn words(scopes: &[TokenScope]) -> String {
    let words: Vec<&str> = scopes.iter().map(|s| s.as_str()).collect();
    words.join(" ")
}

fn scopes(text: &str) -> Result<Vec<TokenScope>> {
    text.split_whitespace()
        .map(|w| known(TokenScope::parse(w), "token scope", w))
        .collect()
}

/// Keeps an API token's hash.
pub async fn insert_token(
    c: &mut Connection,
    user: &UserId,
    t: &NewToken<'_>,
    now: Timestamp,
    expires: Timestamp,
) -> Result<()> {
    sqlx::query("insert into api_tokens (user_id, name, prefix, token_hash, scopes, created, expires) values (?, ?, ?, ?, ?, ?, ?)")
        .bind(user.as_str())
        .bind(t.name)
        .bind(t.prefix)
        .bind(t.hash)
        .bind(words(t.scopes))
        .bind(now.0)
        .bind(expires.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The person behind a token that is neither over nor revoked, and what it may do.
pub async fn user_by_token(
    c: &mut Connection,
    hash: &str,
    now: Timestamp,
) -> Result<Option<(User, Vec<TokenScope>)>> {
    sqlx::query("select u.*, t.scopes from users u join api_tokens t on t.user_id = u.id where t.token_hash = ? and t.expires > ? and t.revoked is null")
        .bind(hash)
        .bind(now.0)
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(|r| Ok((user(r)?, scopes(r.try_get("scopes")?)?)))
        .transpose()
}

/// Notes that a token was used, at most once a minute.
pub async fn touch_token(c: &mut Connection, hash: &str, now: Timestamp) -> Result<()> {
    sqlx::query("update api_tokens set last_used = ? where token_hash = ? and (last_used is null or last_used < ?)")
        .bind(now.0)
        .bind(hash)
        .bind(now.0 - 60_000)
        .execute(c)
        .await?;
    Ok(())
}

/// Revokes a person's token; false if they have no such one.
pub async fn revoke_token(
    c: &mut Connection,
    user: &UserId,
    id: i64,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query(
        "update api_tokens set revoked = ? where id = ? and user_id = ? and revoked is null",
    )
    .bind(now.0)
    .bind(id)
    .bind(user.as_str())
    .execute(c)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// A person's tokens that still work, newest first.
pub async fn tokens(c: &mut Connection, user: &UserId, now: Timestamp) -> Result<Vec<TokenView>> {
    let rows = sqlx::query("select * from api_tokens where user_id = ? and revoked is null and expires > ? order by id desc")
        .bind(user.as_str())
        .bind(now.0)
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok(TokenView {
                id: r.try_get("id")?,
                name: r.try_get("name")?,
                prefix: r.try_get("prefix")?,
                created: Timestamp(r.try_get("created")?),
                expires: Timestamp(r.try_get("expires")?),
                last_used: r.try_get::<Option<i64>, _>("last_used")?.map(Timestamp),
                scopes: scopes(r.try_get("scopes")?)?,
            })
        })
        .collect()
}
