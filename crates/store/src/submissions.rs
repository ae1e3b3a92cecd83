//! Submissions and their append-only timelines. A state changes only by a
//! conditional update from the state that the caller saw.

use faultboard_domain::metadata::Metadata;
use faultboard_domain::view::{ChangeView, EventView, SubmissionLine};
use faultboard_domain::{
    Actor, Digest, ReleaseId, Report, RevisionId, SubmissionId, SubmissionState, SubsetId, TeamId,
    Timestamp, Track, UserId,
};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::error::known;
use crate::{Connection, Result, StoreError};

/// A submission as stored.
#[derive(Debug, Clone)]
pub struct Submission {
    /// Its id.
    pub id: SubmissionId,
    /// Who handed it in.
    pub user: UserId,
    /// The team that it was handed in for, which owns it too.
    pub team: Option<TeamId>,
    /// Its state.
    pub state: SubmissionState,
    /// The uploaded file's name.
    pub file_name: String,
    /// Its size in bytes.
    pub size: u64,
    /// The blob that holds it.
    pub sha256: Digest,
    /// Its metadata, once read.
    pub metadata: Option<Metadata>,
    /// The validator's report.
    pub report: Option<Report>,
    /// Bytes of all traces.
    pub trace_bytes: u64,
    /// The revision that the board shows.
    pub live_revision: Option<RevisionId>,
    /// When it was made.
    pub created: Timestamp,
    /// When its state last changed.
    pub changed: Timestamp,
    /// When it was published.
    pub published: Option<Timestamp>,
}

fn state(text: &str) -> Result<SubmissionState> {
    known(SubmissionState::parse(text), "submission state", text)
}

fn submission(r: &SqliteRow) -> Result<Submission> {
    let json = |name: &str| -> Result<Option<String>> { Ok(r.try_get(name)?) };
    Ok(Submission {
        id: SubmissionId::parse(r.try_get("id")?)?,
        user: UserId::parse(r.try_get("user_id")?)?,
        team: json("team_id")?.as_deref().map(TeamId::parse).transpose()?,
        state: state(r.try_get("state")?)?,
        file_name: r.try_get("file_name")?,
        size: u64::try_from(r.try_get::<i64, _>("size")?).unwrap_or(0),
        sha256: Digest::parse(r.try_get("sha256")?)?,
        metadata: json("metadata")?
            .map(|t| serde_json::from_str(&t))
            .transpose()?,
        report: json("report")?
            .map(|t| serde_json::from_str(&t))
            .transpose()?,
        trace_bytes: u64::try_from(r.try_get::<i64, _>("trace_bytes")?).unwrap_or(0),
        live_revision: json("live_revision")?
            .as_deref()
            .map(RevisionId::parse)
            .transpose()?,
        created: Timestamp(r.try_get("created")?),
        changed: Timestamp(r.try_get("changed")?),
        published: r.try_get::<Option<i64>, _>("published")?.map(Timestamp),
    })
}

/// Adds a submission in the state `received`, with its first event.
pub async fn insert(c: &mut Connection, s: &Submission, actor: &Actor) -> Result<()> {
    sqlx::query("insert into submissions (id, user_id, team_id, state, file_name, size, sha256, title, created, changed) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(s.id.as_str())
        .bind(s.user.as_str())
        .bind(s.team.as_ref().map(TeamId::as_str))
        .bind(SubmissionState::Received.as_str())
        .bind(&s.file_name)
        .bind(i64::try_from(s.size).unwrap_or(i64::MAX))
        .bind(s.sha256.as_str())
        .bind(&s.file_name)
        .bind(s.created.0)
        .bind(s.created.0)
        .execute(&mut *c)
        .await?;
    event(
        c,
        &s.id,
        actor,
        Some(SubmissionState::Received),
        &format!("{} bytes, SHA-256 {}", s.size, s.sha256),
        s.created,
    )
    .await
}

/// Appends an event.
pub async fn event(
    c: &mut Connection,
    id: &SubmissionId,
    actor: &Actor,
    state: Option<SubmissionState>,
    note: &str,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into submission_events (submission_id, at, who, user_id, state, note) values (?, ?, ?, ?, ?, ?)")
        .bind(id.as_str())
        .bind(now.0)
        .bind(actor.label())
        .bind(actor.user_id().map(UserId::as_str))
        .bind(state.map(SubmissionState::as_str))
        .bind(note)
        .execute(c)
        .await?;
    Ok(())
}

/// Moves a submission from one state to the next with its event; false, and
/// nothing changed, if it is no longer in `from`.
///
/// # Errors
/// A step that the life cycle does not have is an error of the caller.
pub async fn transition(
    c: &mut Connection,
    id: &SubmissionId,
    from: SubmissionState,
    to: SubmissionState,
    actor: &Actor,
    note: &str,
    now: Timestamp,
) -> Result<bool> {
    if !from.may_become(to) {
        return Err(StoreError::Corrupt(format!(
            "a submission can't go from {from} to {to}"
        )));
    }
    let done = sqlx::query("update submissions set state = ?, changed = ?, published = case when ? = 'published' then ? else published end where id = ? and state = ?")
        .bind(to.as_str())
        .bind(now.0)
        .bind(to.as_str())
        .bind(now.0)
        .bind(id.as_str())
        .bind(from.as_str())
        .execute(&mut *c)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    event(c, id, actor, Some(to), note, now).await?;
    Ok(true)
}

/// Keeps what validation learnt.
pub async fn set_checked(
    c: &mut Connection,
    id: &SubmissionId,
    report: &Report,
    metadata: Option<&Metadata>,
    trace_bytes: u64,
) -> Result<()> {
    let metadata_text = metadata.map(serde_json::to_string).transpose()?;
    sqlx::query("update submissions set report = ?, metadata = ?, trace_bytes = ?, title = coalesce(?, title), track = ?, release = ?, subset = ?, configuration_key = ? where id = ?")
        .bind(serde_json::to_string(report)?)
        .bind(metadata_text)
        .bind(i64::try_from(trace_bytes).unwrap_or(i64::MAX))
        .bind(metadata.map(Metadata::configuration))
        .bind(metadata.map(|m| m.track.as_str()))
        .bind(metadata.map(|m| m.release.as_str().to_owned()))
        .bind(metadata.map(|m| m.subset.as_str().to_owned()))
        .bind(metadata.map(Metadata::configuration_key))
        .bind(id.as_str())
        .execute(c)
        .await?;
    Ok(())
}

/// Names the revision that the board shows.
pub async fn set_live_revision(
    c: &mut Connection,
    id: &SubmissionId,
    revision: &RevisionId,
) -> Result<()> {
    sqlx::query("update submissions set live_revision = ? where id = ?")
        .bind(revision.as_str())
        .bind(id.as_str())
        .execute(c)
        .await?;
    Ok(())
}

/// The submission of an id.
pub async fn get(c: &mut Connection, id: &SubmissionId) -> Result<Option<Submission>> {
    sqlx::query("select * from submissions where id = ?")
        .bind(id.as_str())
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(submission)
        .transpose()
}

/// Releases for which something is published in a track.
pub async fn published_releases(c: &mut Connection, track: Track) -> Result<Vec<ReleaseId>> {
    let found: Vec<String> = sqlx::query_scalar(
        "select distinct release from submissions where state = 'published' and track = ? and release is not null",
    )
    .bind(track.as_str())
    .fetch_all(c)
    .await?;
    found.iter().map(|r| Ok(ReleaseId::parse(r)?)).collect()
}

/// Every published submission, oldest publication first.
pub async fn published(c: &mut Connection) -> Result<Vec<Submission>> {
    let rows =
        sqlx::query("select * from submissions where state = 'published' order by published, id")
            .fetch_all(c)
            .await?;
    rows.iter().map(submission).collect()
}

/// Published submissions of a configuration, other than `except`.
pub async fn published_of(
    c: &mut Connection,
    key: &str,
    except: &SubmissionId,
) -> Result<Vec<SubmissionId>> {
    let ids: Vec<String> = sqlx::query_scalar("select id from submissions where configuration_key = ? and state = 'published' and id <> ?")
        .bind(key)
        .bind(except.as_str())
        .fetch_all(c)
        .await?;
    ids.iter().map(|id| Ok(SubmissionId::parse(id)?)).collect()
}

/// The timeline, oldest first.
pub async fn events(c: &mut Connection, id: &SubmissionId) -> Result<Vec<EventView>> {
    let rows = sqlx::query("select * from submission_events where submission_id = ? order by id")
        .bind(id.as_str())
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok(EventView {
                at: Timestamp(r.try_get("at")?),
                who: r.try_get("who")?,
                state: r
                    .try_get::<Option<String>, _>("state")?
                    .map(|t| state(&t))
                    .transpose()?,
                note: r.try_get("note")?,
            })
        })
        .collect()
}

const LINE: &str =
    "select s.*, u.name as owner from submissions s join users u on u.id = s.user_id ";

fn line(r: &SqliteRow) -> Result<SubmissionLine> {
    let text = |name: &str| -> Result<Option<String>> { Ok(r.try_get(name)?) };
    Ok(SubmissionLine {
        id: SubmissionId::parse(r.try_get("id")?)?,
        title: r.try_get("title")?,
        track: text("track")?.map(|t| t.parse::<Track>()).transpose()?,
        release: text("release")?
            .as_deref()
            .map(ReleaseId::parse)
            .transpose()?,
        subset: text("subset")?
            .as_deref()
            .map(SubsetId::parse)
            .transpose()?,
        state: state(r.try_get("state")?)?,
        created: Timestamp(r.try_get("created")?),
        changed: Timestamp(r.try_get("changed")?),
        owner: r.try_get("owner")?,
    })
}

/// A person's submissions, newest first, at most 500.
pub async fn of_user(c: &mut Connection, user: &UserId) -> Result<Vec<SubmissionLine>> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{LINE} where s.user_id = ? order by s.created desc, s.id limit 500"
    ));
    let rows = sqlx::query(sql).bind(user.as_str()).fetch_all(c).await?;
    rows.iter().map(line).collect()
}

/// A team's submissions, newest first, at most 500.
pub async fn of_team(c: &mut Connection, team: &TeamId) -> Result<Vec<SubmissionLine>> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{LINE} where s.team_id = ? order by s.created desc, s.id limit 500"
    ));
    let rows = sqlx::query(sql).bind(team.as_str()).fetch_all(c).await?;
    rows.iter().map(line).collect()
}

/// The newest earlier submission of the same configuration by the same people
/// whose attempts were accepted.
pub async fn predecessor(
    c: &mut Connection,
    s: &Submission,
    key: &str,
) -> Result<Option<SubmissionId>> {
    let id: Option<String> = sqlx::query_scalar("select p.id from submissions p where p.configuration_key = ? and p.id <> ? and p.created <= ? and (p.user_id = ? or p.team_id = ?) and exists (select 1 from attempts a where a.submission_id = p.id) order by p.created desc, p.id desc limit 1")
        .bind(key)
        .bind(s.id.as_str())
        .bind(s.created.0)
        .bind(s.user.as_str())
        .bind(s.team.as_ref().map(TeamId::as_str))
        .fetch_optional(c)
        .await?;
    Ok(id.as_deref().map(SubmissionId::parse).transpose()?)
}

/// Submissions in one state, longest in it first, at most 500.
pub async fn in_state(c: &mut Connection, wanted: SubmissionState) -> Result<Vec<SubmissionLine>> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{LINE} where s.state = ? order by s.changed, s.id limit 500"
    ));
    let rows = sqlx::query(sql).bind(wanted.as_str()).fetch_all(c).await?;
    rows.iter().map(line).collect()
}

/// The most recently changed submissions, whatever their state.
pub async fn recent(c: &mut Connection, most: u32) -> Result<Vec<SubmissionLine>> {
    let sql = sqlx::AssertSqlSafe(format!("{LINE} order by s.changed desc, s.id limit ?"));
    let rows = sqlx::query(sql).bind(most).fetch_all(c).await?;
    rows.iter().map(line).collect()
}

/// Whose quota a submission uses: a person's own, or a team's.
#[derive(Debug, Clone, Copy)]
pub enum Payer<'a> {
    /// What somebody handed in for themselves.
    User(&'a UserId),
    /// What was handed in for a team.
    Team(&'a TeamId),
}

impl Payer<'_> {
    const fn condition(self) -> &'static str {
        match self {
            Self::User(_) => "s.user_id = ? and s.team_id is null",
            Self::Team(_) => "s.team_id = ?",
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::User(id) => id.as_str(),
            Self::Team(id) => id.as_str(),
        }
    }
}

/// How many of the payer's submissions had their scoring completed since then.
pub async fn scorings_since(c: &mut Connection, payer: Payer<'_>, since: Timestamp) -> Result<u32> {
    let sql = sqlx::AssertSqlSafe(format!(
        "select count(*) from (select min(e.at) as first from submission_events e join submissions s on s.id = e.submission_id where {} and e.state = 'scored' group by e.submission_id) where first >= ?",
        payer.condition()
    ));
    let n: i64 = sqlx::query_scalar(sql)
        .bind(payer.id())
        .bind(since.0)
        .fetch_one(c)
        .await?;
    Ok(u32::try_from(n).unwrap_or(u32::MAX))
}

/// The payer's submissions whose outcome is still open, so that may yet use
/// quota. What the platform's own failures hold up is not counted.
pub async fn unsettled(c: &mut Connection, payer: Payer<'_>) -> Result<u32> {
    let sql = sqlx::AssertSqlSafe(format!(
        "select count(*) from submissions s where {} and s.state in ('received','validating','scanning','queued','scoring') and not exists (select 1 from jobs j where j.submission_id = s.id and j.state = 'parked')",
        payer.condition()
    ));
    let n: i64 = sqlx::query_scalar(sql)
        .bind(payer.id())
        .fetch_one(c)
        .await?;
    Ok(u32::try_from(n).unwrap_or(u32::MAX))
}

/// Tells the public of a change.
pub async fn add_change(c: &mut Connection, text: &str, href: &str, now: Timestamp) -> Result<()> {
    sqlx::query("insert into changes (at, text, href) values (?, ?, ?)")
        .bind(now.0)
        .bind(text)
        .bind(href)
        .execute(c)
        .await?;
    Ok(())
}

/// The newest public changes.
pub async fn changes(c: &mut Connection, most: u32) -> Result<Vec<ChangeView>> {
    let rows = sqlx::query("select * from changes order by id desc limit ?")
        .bind(most)
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            Ok(ChangeView {
                at: Timestamp(r.try_get("at")?),
                text: r.try_get("text")?,
                href: r.try_get("href")?,
            })
        })
        .collect()
}

/// Published submissions, and their attempts.
pub async fn published_counts(c: &mut Connection) -> Result<(u32, u32)> {
    let counts: (u32, u32) = sqlx::query_as(
        "select count(distinct s.id), count(a.id) from submissions s left join attempts a on a.submission_id = s.id where s.state = 'published'",
    )
    .fetch_one(c)
    .await?;
    Ok(counts)
}
