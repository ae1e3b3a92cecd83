//! Attempts of submissions and the guards' findings in them.

use faultboard_domain::finding::{Disposition, GuardSeverity};
use faultboard_domain::trace::TraceSummary;
use faultboard_domain::view::FindingView;
use faultboard_domain::{
    AttemptId, CaseId, Condition, Digest, Finding, RunNumber, SubmissionId, Timestamp,
};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::error::known;
use crate::{Connection, Result};

/// A stored file: its blob and size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The blob.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
}

/// An attempt as stored.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// Its submission.
    pub submission: SubmissionId,
    /// 0-based place within the submission: by case, condition, run.
    pub position: u32,
    /// The case.
    pub case: CaseId,
    /// The condition (repair).
    pub condition: Option<Condition>,
    /// The run.
    pub run: RunNumber,
    /// The patch (repair).
    pub patch: Option<Stored>,
    /// The diagnosis (diagnosis).
    pub diagnosis: Option<Stored>,
    /// The trace as sent.
    pub trace: Stored,
    /// The trace's path within the bundle's top folder.
    pub trace_name: String,
    /// The normalised trace, if it could be read.
    pub normalised: Option<Stored>,
    /// The index of the normalised trace, JSON.
    pub step_index: Option<String>,
    /// What the trace amounts to.
    pub summary: Option<TraceSummary>,
    /// What the submitter's statistics say, JSON.
    pub stats: Option<String>,
}

fn stored(r: &SqliteRow, digest: &str, size: &str) -> Result<Option<Stored>> {
    let Some(text) = r.try_get::<Option<String>, _>(digest)? else {
        return Ok(None);
    };
    Ok(Some(Stored {
        digest: Digest::parse(&text)?,
        size: u64::try_from(r.try_get::<i64, _>(size)?).unwrap_or(0),
    }))
}

fn attempt(r: &SqliteRow) -> Result<Attempt> {
    let condition: Option<String> = r.try_get("condition")?;
    let summary: Option<String> = r.try_get("summary")?;
    Ok(Attempt {
        id: AttemptId::parse(r.try_get("id")?)?,
        submission: SubmissionId::parse(r.try_get("submission_id")?)?,
        position: r.try_get("position")?,
        case: CaseId::parse(r.try_get("case_id")?)?,
        condition: condition.map(|c| c.parse::<Condition>()).transpose()?,
        run: RunNumber(r.try_get("run")?),
        patch: stored(r, "patch_digest", "patch_size")?,
        diagnosis: stored(r, "diagnosis_digest", "diagnosis_size")?,
        trace: stored(r, "trace_digest", "trace_size")?
            .ok_or_else(|| crate::StoreError::Corrupt("attempt without trace".to_owned()))?,
        trace_name: r.try_get("trace_name")?,
        normalised: stored(r, "normalised_digest", "normalised_size")?,
        step_index: r.try_get("step_index")?,
        summary: summary.map(|t| serde_json::from_str(&t)).transpose()?,
        stats: r.try_get("stats")?,
    })
}

fn size(s: Option<&Stored>) -> i64 {
    s.map_or(0, |s| i64::try_from(s.size).unwrap_or(i64::MAX))
}

/// Adds an attempt.
pub async fn insert(c: &mut Connection, a: &Attempt) -> Result<()> {
    sqlx::query(
        "insert into attempts (id, submission_id, position, case_id, condition, run, patch_digest, patch_size, diagnosis_digest, diagnosis_size, \
         trace_digest, trace_name, trace_size, normalised_digest, normalised_size, step_index, summary, stats) \
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(a.id.as_str())
    .bind(a.submission.as_str())
    .bind(a.position)
    .bind(a.case.as_str())
    .bind(a.condition.map(Condition::as_str))
    .bind(a.run.0)
    .bind(a.patch.as_ref().map(|s| s.digest.as_str()))
    .bind(size(a.patch.as_ref()))
    .bind(a.diagnosis.as_ref().map(|s| s.digest.as_str()))
    .bind(size(a.diagnosis.as_ref()))
    .bind(a.trace.digest.as_str())
    .bind(&a.trace_name)
    .bind(size(Some(&a.trace)))
    .bind(a.normalised.as_ref().map(|s| s.digest.as_str()))
    .bind(size(a.normalised.as_ref()))
    .bind(&a.step_index)
    .bind(a.summary.as_ref().map(serde_json::to_string).transpose()?)
    .bind(&a.stats)
    .execute(c)
    .await?;
    Ok(())
}

/// The attempt of an id.
pub async fn get(c: &mut Connection, id: &AttemptId) -> Result<Option<Attempt>> {
    sqlx::query("select * from attempts where id = ?")
        .bind(id.as_str())
        .fetch_optional(c)
        .await?
        .as_ref()
        .map(attempt)
        .transpose()
}

/// A submission's attempts, in their order.
pub async fn of_submission(c: &mut Connection, id: &SubmissionId) -> Result<Vec<Attempt>> {
    let rows = sqlx::query("select * from attempts where submission_id = ? order by position")
        .bind(id.as_str())
        .fetch_all(c)
        .await?;
    rows.iter().map(attempt).collect()
}

/// An attempt's trace: what archives of many need of it, and no more.
#[derive(Debug, Clone)]
pub struct TraceOf {
    /// The attempt.
    pub id: AttemptId,
    /// Its case.
    pub case: CaseId,
    /// Its condition (repair).
    pub condition: Option<Condition>,
    /// Its run.
    pub run: RunNumber,
    /// The trace as sent.
    pub trace: Stored,
    /// The trace's path within the bundle's top folder.
    pub trace_name: String,
    /// The normalised trace, if it could be read.
    pub normalised: Option<Stored>,
}

/// The traces of a submission's attempts, in their order.
pub async fn traces_of(c: &mut Connection, id: &SubmissionId) -> Result<Vec<TraceOf>> {
    let rows = sqlx::query("select id, case_id, condition, run, trace_digest, trace_size, trace_name, normalised_digest, normalised_size from attempts where submission_id = ? order by position")
        .bind(id.as_str())
        .fetch_all(c)
        .await?;
    rows.iter()
        .map(|r| {
            let condition: Option<String> = r.try_get("condition")?;
            Ok(TraceOf {
                id: AttemptId::parse(r.try_get("id")?)?,
                case: CaseId::parse(r.try_get("case_id")?)?,
                condition: condition.map(|c| c.parse::<Condition>()).transpose()?,
                run: RunNumber(r.try_get("run")?),
                trace: stored(r, "trace_digest", "trace_size")?.ok_or_else(|| {
                    crate::StoreError::Corrupt("attempt without trace".to_owned())
                })?,
                trace_name: r.try_get("trace_name")?,
                normalised: stored(r, "normalised_digest", "normalised_size")?,
            })
        })
        .collect()
}

/// Adds a finding.
pub async fn insert_finding(
    c: &mut Connection,
    submission: &SubmissionId,
    attempt: &AttemptId,
    f: &Finding,
) -> Result<()> {
    sqlx::query(
        "insert into findings (submission_id, attempt_id, severity, body) values (?, ?, ?, ?)",
    )
    .bind(submission.as_str())
    .bind(attempt.as_str())
    .bind(f.severity.as_str())
    .bind(serde_json::to_string(f)?)
    .execute(c)
    .await?;
    Ok(())
}

const FINDING: &str =
    "select f.*, a.case_id from findings f join attempts a on a.id = f.attempt_id ";

fn finding(r: &SqliteRow) -> Result<FindingView> {
    let disposition: String = r.try_get("disposition")?;
    Ok(FindingView {
        id: r.try_get("id")?,
        attempt: AttemptId::parse(r.try_get("attempt_id")?)?,
        case: CaseId::parse(r.try_get("case_id")?)?,
        finding: serde_json::from_str(r.try_get("body")?)?,
        disposition: known(
            Disposition::parse(&disposition),
            "disposition",
            &disposition,
        )?,
        reason: r.try_get("reason")?,
    })
}

/// A submission's findings, in their order.
pub async fn findings(c: &mut Connection, id: &SubmissionId) -> Result<Vec<FindingView>> {
    let sql = sqlx::AssertSqlSafe(format!("{FINDING} where f.submission_id = ? order by f.id"));
    sqlx::query(sql)
        .bind(id.as_str())
        .fetch_all(c)
        .await?
        .iter()
        .map(finding)
        .collect()
}

/// Open findings of all submissions, oldest first, at most 200.
pub async fn open_findings(c: &mut Connection) -> Result<Vec<FindingView>> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{FINDING} where f.disposition = 'open' order by f.id limit 200"
    ));
    sqlx::query(sql)
        .fetch_all(c)
        .await?
        .iter()
        .map(finding)
        .collect()
}

/// The submission that a finding belongs to.
pub async fn finding_owner(c: &mut Connection, id: i64) -> Result<Option<SubmissionId>> {
    let text: Option<String> =
        sqlx::query_scalar("select submission_id from findings where id = ?")
            .bind(id)
            .fetch_optional(c)
            .await?;
    Ok(text.as_deref().map(SubmissionId::parse).transpose()?)
}

/// Decides a finding; a later decision replaces an earlier one.
pub async fn decide_finding(
    c: &mut Connection,
    id: i64,
    disposition: Disposition,
    reason: &str,
    who: &str,
    now: Timestamp,
) -> Result<bool> {
    let done = sqlx::query(
        "update findings set disposition = ?, reason = ?, decided_by = ?, decided = ? where id = ?",
    )
    .bind(disposition.as_str())
    .bind(reason)
    .bind(who)
    .bind(now.0)
    .bind(id)
    .execute(c)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Whether the findings set an attempt aside: a quarantine that was not
/// cleared, or a flag that was confirmed.
pub fn is_set_aside(findings: &[FindingView], attempt: &AttemptId) -> bool {
    findings
        .iter()
        .filter(|f| f.attempt == *attempt)
        .any(|f| match f.finding.severity {
            GuardSeverity::Quarantine => f.disposition != Disposition::Cleared,
            GuardSeverity::Flag => f.disposition == Disposition::Confirmed,
        })
}
