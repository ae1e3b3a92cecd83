//! Score revisions, outcomes and the verdict cache. Outcomes are only ever added.

use faultboard_domain::{
    AttemptId, Outcome, ReevaluationId, RevisionId, Scope, SubmissionId, Timestamp,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::error::known;
use crate::{Connection, Result, StoreError};

/// Where a revision is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevisionState {
    /// Its attempts are being scored.
    Building,
    /// Complete, beside the live one.
    Ready,
    /// What pages show.
    Live,
    /// Was live.
    Replaced,
    /// Dropped by an administrator.
    Discarded,
}

impl RevisionState {
    /// The word in the database and on pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Building => "building",
            Self::Ready => "ready",
            Self::Live => "live",
            Self::Replaced => "replaced",
            Self::Discarded => "discarded",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [
            Self::Building,
            Self::Ready,
            Self::Live,
            Self::Replaced,
            Self::Discarded,
        ]
        .into_iter()
        .find(|s| s.as_str() == text)
    }
}

/// A revision as stored; its three JSON parts are read on their own.
#[derive(Debug, Clone)]
pub struct Revision {
    /// Its id.
    pub id: RevisionId,
    /// Its submission.
    pub submission: SubmissionId,
    /// 1-based number.
    pub number: u32,
    /// Its state.
    pub state: RevisionState,
    /// Why it was made.
    pub reason: String,
    /// Whether cached verdicts are not to be reused.
    pub fresh: bool,
    /// The scorer's version.
    pub scorer_version: String,
    /// When it was begun.
    pub created: Timestamp,
    /// Who began it.
    pub created_by: String,
    /// The revision that was live when it was begun, and that it is compared with.
    pub base: Option<RevisionId>,
    /// The re-evaluation that it belongs to.
    pub reevaluation: Option<ReevaluationId>,
}

pub(crate) fn revision(r: &SqliteRow) -> Result<Revision> {
    let text = |name: &str| -> Result<Option<String>> { Ok(r.try_get(name)?) };
    let state: String = r.try_get("state")?;
    Ok(Revision {
        id: RevisionId::parse(r.try_get("id")?)?,
        submission: SubmissionId::parse(r.try_get("submission_id")?)?,
        number: r.try_get("number")?,
        state: known(RevisionState::parse(&state), "revision state", &state)?,
        reason: r.try_get("reason")?,
        fresh: r.try_get::<i64, _>("fresh")? != 0,
        scorer_version: r.try_get("scorer_version")?,
        created: Timestamp(r.try_get("created")?),
        created_by: r.try_get("created_by")?,
        base: text("base_id")?
            .as_deref()
            .map(RevisionId::parse)
            .transpose()?,
        reevaluation: text("reevaluation_id")?
            .as_deref()
            .map(ReevaluationId::parse)
            .transpose()?,
    })
}

/// A revision to be begun.
#[derive(Debug, Clone, Copy)]
pub struct NewRevision<'a> {
    /// Its id.
    pub id: &'a RevisionId,
    /// Its submission.
    pub submission: &'a SubmissionId,
    /// Why it is made.
    pub reason: &'a str,
    /// Whether cached verdicts are not to be reused.
    pub fresh: bool,
    /// The scorer's version.
    pub scorer_version: &'a str,
    /// Who begins it.
    pub created_by: &'a str,
    /// The revision that is live now, if one is.
    pub base: Option<&'a RevisionId>,
    /// The re-evaluation that it belongs to.
    pub reevaluation: Option<&'a ReevaluationId>,
}

/// Begins a revision and gives it the next number.
pub async fn begin(c: &mut Connection, r: &NewRevision<'_>, now: Timestamp) -> Result<()> {
    sqlx::query(
        "insert into revisions (id, submission_id, number, state, reason, fresh, scorer_version, created, created_by, base_id, reevaluation_id) \
         select ?, ?, coalesce(max(number), 0) + 1, 'building', ?, ?, ?, ?, ?, ?, ? from revisions where submission_id = ?",
    )
    .bind(r.id.as_str())
    .bind(r.submission.as_str())
    .bind(r.reason)
    .bind(r.fresh)
    .bind(r.scorer_version)
    .bind(now.0)
    .bind(r.created_by)
    .bind(r.base.map(RevisionId::as_str))
    .bind(r.reevaluation.map(ReevaluationId::as_str))
    .bind(r.submission.as_str())
    .execute(c)
    .await?;
    Ok(())
}

/// Takes outcomes of another revision over as they are, all but those that the
/// scope covers. How many.
pub async fn carry_over(
    c: &mut Connection,
    from: &RevisionId,
    to: &RevisionId,
    all_but: &Scope,
) -> Result<u64> {
    let sql = match all_but {
        Scope::Attempt(_) => {
            "insert into outcomes (revision_id, attempt_id, outcome, result, at) \
             select ?2, attempt_id, outcome, result, at from outcomes where revision_id = ?1 and attempt_id <> ?3"
        }
        Scope::Case(_) => {
            "insert into outcomes (revision_id, attempt_id, outcome, result, at) \
             select ?2, o.attempt_id, o.outcome, o.result, o.at from outcomes o join attempts a on a.id = o.attempt_id \
             where o.revision_id = ?1 and a.case_id <> ?3"
        }
        // The rest covers whole submissions: there is nothing to carry over.
        _ => return Ok(0),
    };
    let done = sqlx::query(sql)
        .bind(from.as_str())
        .bind(to.as_str())
        .bind(all_but.subject())
        .execute(c)
        .await?;
    Ok(done.rows_affected())
}

/// The revision of an id.
pub async fn get(c: &mut Connection, id: &RevisionId) -> Result<Option<Revision>> {
    sqlx::query("select * from revisions where id = ?")
        .bind(id.as_str())
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(revision)
        .transpose()
}

/// A submission's revisions, newest first.
pub async fn of_submission(c: &mut Connection, id: &SubmissionId) -> Result<Vec<Revision>> {
    let rows = sqlx::query("select * from revisions where submission_id = ? order by number desc")
        .bind(id.as_str())
        .fetch_all(c)
        .await?;
    rows.iter().map(revision).collect()
}

/// Revisions that are being built.
pub async fn building(c: &mut Connection) -> Result<Vec<Revision>> {
    let rows = sqlx::query("select * from revisions where state = 'building' order by created")
        .fetch_all(c)
        .await?;
    rows.iter().map(revision).collect()
}

/// Moves a revision from one state to the next; false if it is no longer in `from`.
pub async fn transition(
    c: &mut Connection,
    id: &RevisionId,
    from: RevisionState,
    to: RevisionState,
) -> Result<bool> {
    let done = sqlx::query("update revisions set state = ? where id = ? and state = ?")
        .bind(to.as_str())
        .bind(id.as_str())
        .bind(from.as_str())
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// Completes a revision: its scores, its selection manifest and what changed.
pub async fn complete<S: Serialize, M: Serialize, D: Serialize>(
    c: &mut Connection,
    id: &RevisionId,
    scores: &S,
    selection: &M,
    changes: &D,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query("update revisions set state = 'ready', finished = ?, scores = ?, selection = ?, changes = ? where id = ? and state = 'building'")
        .bind(now.0)
        .bind(serde_json::to_string(scores)?)
        .bind(serde_json::to_string(selection)?)
        .bind(serde_json::to_string(changes)?)
        .bind(id.as_str())
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// One of a revision's JSON parts.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// What it scored.
    Scores,
    /// The selection manifest.
    Selection,
    /// What differs from the revision that was live.
    Changes,
}

/// A revision's part, once it is complete.
pub async fn part_text(c: &mut Connection, id: &RevisionId, part: Part) -> Result<Option<String>> {
    let sql = match part {
        Part::Scores => "select scores from revisions where id = ?",
        Part::Selection => "select selection from revisions where id = ?",
        Part::Changes => "select changes from revisions where id = ?",
    };
    let text: Option<Option<String>> = sqlx::query_scalar(sql)
        .bind(id.as_str())
        .fetch_optional(c)
        .await?;
    Ok(text.flatten())
}

/// A revision's part as a value.
pub async fn part<T: DeserializeOwned>(
    c: &mut Connection,
    id: &RevisionId,
    which: Part,
) -> Result<Option<T>> {
    Ok(part_text(c, id, which)
        .await?
        .map(|t| serde_json::from_str(&t))
        .transpose()?)
}

/// An outcome as stored; the result is JSON whose shape depends on the track.
#[derive(Debug, Clone)]
pub struct StoredOutcome {
    /// The attempt.
    pub attempt: AttemptId,
    /// The word: an [`Outcome`], or `scored` for a diagnosis.
    pub outcome: String,
    /// The whole result, JSON.
    pub result: String,
    /// When it was written.
    pub at: Timestamp,
}

impl StoredOutcome {
    /// The outcome of a repair attempt.
    pub fn repair_outcome(&self) -> Option<Outcome> {
        Outcome::parse(&self.outcome)
    }

    /// The result as a value.
    pub fn result<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.result).map_err(StoreError::from)
    }
}

/// Adds an outcome; false if the attempt has one in this revision already.
pub async fn insert_outcome<T: Serialize>(
    c: &mut Connection,
    revision: &RevisionId,
    attempt: &AttemptId,
    outcome: &str,
    result: &T,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query("insert into outcomes (revision_id, attempt_id, outcome, result, at) values (?, ?, ?, ?, ?) on conflict do nothing")
        .bind(revision.as_str())
        .bind(attempt.as_str())
        .bind(outcome)
        .bind(serde_json::to_string(result)?)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(done.rows_affected() == 1)
}

/// A revision's outcomes.
pub async fn outcomes(c: &mut Connection, revision: &RevisionId) -> Result<Vec<StoredOutcome>> {
    let rows = sqlx::query("select * from outcomes where revision_id = ?")
        .bind(revision.as_str())
        .fetch_all(c)
        .await?;
    rows.iter().map(outcome).collect()
}

/// One attempt's outcome in a revision.
pub async fn outcome_of(
    c: &mut Connection,
    revision: &RevisionId,
    attempt: &AttemptId,
) -> Result<Option<StoredOutcome>> {
    sqlx::query("select * from outcomes where revision_id = ? and attempt_id = ?")
        .bind(revision.as_str())
        .bind(attempt.as_str())
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(outcome)
        .transpose()
}

fn outcome(r: &SqliteRow) -> Result<StoredOutcome> {
    Ok(StoredOutcome {
        attempt: AttemptId::parse(r.try_get("attempt_id")?)?,
        outcome: r.try_get("outcome")?,
        result: r.try_get("result")?,
        at: Timestamp(r.try_get("at")?),
    })
}

/// A cached result.
pub async fn cached<T: DeserializeOwned>(c: &mut Connection, key: &str) -> Result<Option<T>> {
    let text: Option<String> = sqlx::query_scalar("select result from verdict_cache where key = ?")
        .bind(key)
        .fetch_optional(c)
        .await?;
    Ok(text.map(|t| serde_json::from_str(&t)).transpose()?)
}

/// Keeps a result for equal attempts.
pub async fn cache<T: Serialize>(
    c: &mut Connection,
    key: &str,
    result: &T,
    now: Timestamp,
) -> Result<()> {
    sqlx::query("insert into verdict_cache (key, result, at) values (?, ?, ?) on conflict (key) do update set result = excluded.result, at = excluded.at")
        .bind(key)
        .bind(serde_json::to_string(result)?)
        .bind(now.0)
        .execute(c)
        .await?;
    Ok(())
}
