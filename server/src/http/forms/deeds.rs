//! Deeds of owners, reviewers and administrators. Whether the one who asks may
//! do it is decided by the use case.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use faultboard_domain::{CaseId, RevisionId, SubmissionId};
use serde::Deserialize;

use super::{Typed, done, refused, sender};
use crate::http::actor::Asker;
use crate::http::fault::Fault;
use crate::http::live::job_id;
use crate::http::state::Site;

pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/submissions/{id}/withdraw", post(withdraw))
        .route("/admin/submissions/{id}/{deed}", post(submission))
        .route("/admin/revisions/{id}/{deed}", post(revision))
        .route("/admin/findings/{id}/{deed}", post(finding))
        .route("/admin/jobs/{id}/{deed}", post(job))
        .route("/admin/queue/{deed}", post(queue))
        .route("/admin/cases/{id}/prove", post(prove))
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Words {
    note: String,
    reason: String,
    fresh: String,
}

async fn withdraw(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    Typed(words): Typed<Words>,
) -> Result<Response, Fault> {
    let id = SubmissionId::parse(&id)?;
    let page = format!("/submissions/{id}");
    Ok(
        match site.portal.withdraw(&actor, &id, &words.reason).await {
            Ok(()) => done(&page, "withdrawn"),
            Err(e) => refused(e, &page, &[("reason", &words.reason)]),
        },
    )
}

async fn submission(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, deed)): Path<(String, String)>,
    Typed(words): Typed<Words>,
) -> Result<Response, Fault> {
    let id = SubmissionId::parse(&id)?;
    let desk = format!("/admin/review/{id}");
    let portal = &site.portal;
    let (outcome, notice) = match deed.as_str() {
        "review" => (
            portal.start_review(&actor, &id, &words.note).await,
            "review-started",
        ),
        "publish" => (portal.publish(&actor, &id, &words.note).await, "published"),
        "reject" => (portal.reject(&actor, &id, &words.note).await, "rejected"),
        "resume" => (portal.resume_flagged(&actor, &id).await, "scoring-resumed"),
        "re-evaluate" => {
            let fresh = matches!(words.fresh.as_str(), "on" | "1" | "true");
            let begun = portal.reevaluate(&actor, &id, &words.reason, fresh).await;
            (begun.map(|_| ()), "re-evaluation-started")
        }
        _ => return Err(Fault::missing()),
    };
    Ok(match outcome {
        Ok(()) => done(&desk, notice),
        Err(e) => refused(
            e,
            &desk,
            &[("note", &words.note), ("reason", &words.reason)],
        ),
    })
}

async fn revision(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, deed)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let id = RevisionId::parse(&id)?;
    let (outcome, notice) = match deed.as_str() {
        "apply" => (
            site.portal.apply_revision(&actor, &id).await,
            "revision-applied",
        ),
        "discard" => (
            site.portal.discard_revision(&actor, &id).await,
            "revision-discarded",
        ),
        _ => return Err(Fault::missing()),
    };
    Ok(match outcome {
        Ok(submission) => done(&format!("/admin/review/{submission}"), notice),
        Err(e) => refused(e, &sender(&headers, "/admin"), &[]),
    })
}

async fn finding(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, deed)): Path<(String, String)>,
    headers: HeaderMap,
    Typed(words): Typed<Words>,
) -> Result<Response, Fault> {
    let id: i64 = id.parse().map_err(|_| Fault::missing())?;
    let (confirm, notice) = match deed.as_str() {
        "confirm" => (true, "finding-confirmed"),
        "clear" => (false, "finding-cleared"),
        _ => return Err(Fault::missing()),
    };
    Ok(
        match site
            .portal
            .decide_finding(&actor, id, confirm, &words.reason)
            .await
        {
            Ok(submission) => done(
                &sender(&headers, &format!("/admin/review/{submission}")),
                notice,
            ),
            Err(e) => refused(e, &sender(&headers, "/admin"), &[("reason", &words.reason)]),
        },
    )
}

async fn job(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, deed)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let id = job_id(&id)?;
    let (outcome, notice) = match deed.as_str() {
        "retry" => (site.portal.retry_job(&actor, id).await, "job-retried"),
        "cancel" => (site.portal.cancel_job(&actor, id).await, "job-cancelled"),
        _ => return Err(Fault::missing()),
    };
    let back = sender(&headers, &format!("/admin/jobs/{id}"));
    Ok(match outcome {
        Ok(()) => done(&back, notice),
        Err(e) => refused(e, &back, &[]),
    })
}

async fn prove(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let id = CaseId::parse(&id)?;
    let back = sender(&headers, &format!("/cases/{id}"));
    Ok(match site.portal.prove_now(&actor, &id).await {
        Ok(()) => done(&back, "proof-asked-for"),
        Err(e) => refused(e, &back, &[]),
    })
}

async fn queue(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(deed): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let (paused, notice) = match deed.as_str() {
        "pause" => (true, "queue-paused"),
        "resume" => (false, "queue-resumed"),
        _ => return Err(Fault::missing()),
    };
    let back = sender(&headers, "/admin/queue");
    Ok(match site.portal.set_paused(&actor, paused).await {
        Ok(()) => done(&back, notice),
        Err(e) => refused(e, &back, &[]),
    })
}
