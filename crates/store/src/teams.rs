//! Teams, who belongs to them, and invitations. Leaving and ending are marks
//! and removed memberships; no statement here takes away a person or a
//! submission.

use faultboard_domain::view::{InviteView, MemberView, TeamLine};
use faultboard_domain::{TeamId, TeamRole, Timestamp, UserId};
use sqlx::Row;

use crate::error::known;
use crate::{Connection, Result};

fn role(text: &str) -> Result<TeamRole> {
    known(TeamRole::parse(text), "team role", text)
}

/// Adds a team with its first owner; a taken name is a unique violation.
pub async fn insert(
    c: &mut Connection,
    id: &TeamId,
    name: &str,
    owner: &UserId,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into teams (id, name, created, created_by) values (?, ?, ?, ?)")
        .bind(id.as_str())
        .bind(name)
        .bind(now.0)
        .bind(owner.as_str())
        .execute(&mut *c)
        .await?;
    join(c, id, owner, TeamRole::Owner, now).await
}

/// Adds somebody; who is in already stays as they are.
pub async fn join(
    c: &mut Connection,
    id: &TeamId,
    user: &UserId,
    role: TeamRole,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into team_members (team_id, user_id, role, joined) values (?, ?, ?, ?) on conflict do nothing")
        .bind(id.as_str())
        .bind(user.as_str())
        .bind(role.as_str())
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}

/// The name of a team that has not ended.
pub async fn name(c: &mut Connection, id: &TeamId) -> Result<Option<String>> {
    Ok(
        sqlx::query_scalar("select name from teams where id = ? and ended is null")
            .bind(id.as_str())
            .fetch_optional(c)
            .await?,
    )
}

/// Somebody's part in a team that has not ended.
pub async fn role_of(c: &mut Connection, id: &TeamId, user: &UserId) -> Result<Option<TeamRole>> {
    let found: Option<String> = sqlx::query_scalar("select m.role from team_members m join teams t on t.id = m.team_id where m.team_id = ? and m.user_id = ? and t.ended is null")
        .bind(id.as_str())
        .bind(user.as_str())
        .fetch_optional(c)
        .await?;
    found.as_deref().map(role).transpose()
}

/// Changes somebody's part.
pub async fn set_role(
    c: &mut Connection,
    id: &TeamId,
    user: &UserId,
    role: TeamRole,
) -> Result<bool> {
    let done = sqlx::query("update team_members set role = ? where team_id = ? and user_id = ?")
        .bind(role.as_str())
        .bind(id.as_str())
        .bind(user.as_str())
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Ends somebody's membership.
pub async fn leave(c: &mut Connection, id: &TeamId, user: &UserId) -> Result<bool> {
    let done = sqlx::query("delete from team_members where team_id = ? and user_id = ?")
        .bind(id.as_str())
        .bind(user.as_str())
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// How many owners a team has.
pub async fn owners(c: &mut Connection, id: &TeamId) -> Result<u32> {
    let n: i64 = sqlx::query_scalar(
        "select count(*) from team_members where team_id = ? and role = 'owner'",
    )
    .bind(id.as_str())
    .fetch_one(c)
    .await?;
    Ok(u32::try_from(n).unwrap_or(u32::MAX))
}

/// Ends a team: nobody belongs to it, nobody can join, and its name is free
/// again. What it handed in stays with those who handed it in.
pub async fn end(c: &mut Connection, id: &TeamId, now: Timestamp) -> Result<()> {
    sqlx::query("update teams set ended = ?, name = name || ' (ended ' || id || ')' where id = ? and ended is null")
        .bind(now.0)
        .bind(id.as_str())
        .execute(&mut *c)
        .await?;
    sqlx::query(
        "update team_invites set revoked = ? where team_id = ? and used is null and revoked is null",
    )
    .bind(now.0)
    .bind(id.as_str())
    .execute(&mut *c)
    .await?;
    sqlx::query("delete from team_members where team_id = ?")
        .bind(id.as_str())
        .execute(c)
        .await?;
    Ok(())
}

/// The teams of a person, by name.
pub async fn of_user(c: &mut Connection, user: &UserId) -> Result<Vec<TeamLine>> {
    let rows = sqlx::query("select t.id, t.name, m.role, (select count(*) from team_members o where o.team_id = t.id) as members from teams t join team_members m on m.team_id = t.id where m.user_id = ? and t.ended is null order by t.name, t.id")
        .bind(user.as_str())
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok(TeamLine {
                id: TeamId::parse(r.try_get("id")?)?,
                name: r.try_get("name")?,
                role: role(r.try_get("role")?)?,
                members: u32::try_from(r.try_get::<i64, _>("members")?).unwrap_or(u32::MAX),
            })
        })
        .collect()
}

/// Everybody in a team, owners first.
pub async fn members(c: &mut Connection, id: &TeamId) -> Result<Vec<MemberView>> {
    let rows = sqlx::query("select u.id, u.name, m.role, m.joined from team_members m join users u on u.id = m.user_id where m.team_id = ? order by m.role <> 'owner', m.joined, u.id")
        .bind(id.as_str())
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok(MemberView {
                user: UserId::parse(r.try_get("id")?)?,
                name: r.try_get("name")?,
                role: role(r.try_get("role")?)?,
                joined: Timestamp(r.try_get("joined")?),
            })
        })
        .collect()
}

/// Keeps an invitation; an earlier open one for the same address ends.
pub async fn invite(
    c: &mut Connection,
    id: &TeamId,
    email: &str,
    hash: &str,
    by: &UserId,
    now: Timestamp,
    expires: Timestamp,
) -> Result<()> {
    sqlx::query("update team_invites set revoked = ? where team_id = ? and email = ? and used is null and revoked is null")
        .bind(now.0)
        .bind(id.as_str())
        .bind(email)
        .execute(&mut *c)
        .await?;
    sqlx::query("insert into team_invites (team_id, email, token_hash, created, created_by, expires) values (?, ?, ?, ?, ?, ?)")
        .bind(id.as_str())
        .bind(email)
        .bind(hash)
        .bind(now.0)
        .bind(by.as_str())
        .bind(expires.0)
        .execute(c)
        .await?;
    Ok(())
}

/// Open invitations of a team, newest first.
pub async fn invites(c: &mut Connection, id: &TeamId, now: Timestamp) -> Result<Vec<InviteView>> {
    let rows = sqlx::query("select id, email, expires from team_invites where team_id = ? and used is null and revoked is null and expires > ? order by id desc")
        .bind(id.as_str())
        .bind(now.0)
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok(InviteView {
                id: r.try_get("id")?,
                email: r.try_get("email")?,
                expires: Timestamp(r.try_get("expires")?),
            })
        })
        .collect()
}

/// The team and the address of an invitation that still works.
pub async fn open_invite(
    c: &mut Connection,
    hash: &str,
    now: Timestamp,
) -> Result<Option<(TeamId, String)>> {
    let row = sqlx::query("select i.team_id, i.email from team_invites i join teams t on t.id = i.team_id where i.token_hash = ? and i.used is null and i.revoked is null and i.expires > ? and t.ended is null")
        .bind(hash)
        .bind(now.0)
        .fetch_optional(c)
        .await?;
    row.map(|r| Ok((TeamId::parse(r.try_get("team_id")?)?, r.try_get("email")?)))
        .transpose()
}

/// Uses an invitation up; false if it was used, revoked or over.
pub async fn use_invite(c: &mut Connection, hash: &str, now: Timestamp) -> Result<bool> {
    let done = sqlx::query("update team_invites set used = ? where token_hash = ? and used is null and revoked is null and expires > ?")
        .bind(now.0)
        .bind(hash)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Revokes an open invitation of a team.
pub async fn revoke_invite(
    c: &mut Connection,
    team: &TeamId,
    id: i64,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query("update team_invites set revoked = ? where id = ? and team_id = ? and used is null and revoked is null")
        .bind(now.0)
        .bind(id)
        .bind(team.as_str())
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}
