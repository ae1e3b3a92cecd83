//! Deeds of owners, reviewers and administrators. Whether the one who asks may
//! do it is decided by the use case.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use faultboard_domain::{
    AttemptId, CaseId, ReevaluationId, RevisionId, Role, Scope, SubmissionId, UserId,
};
use faultboard_portal::PortalError;
use serde::Deserialize;

use super::{Typed, done, refused, sender};
use crate::http::actor::Asker;
use crate::http::fault::Fault;
use crate::http::live::job_id;
use crate::http::state::Site;

pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/submissions/{id}/withdraw", post(withdraw))
        .route("/submissions/{id}/comment", post(comment))
        .route("/admin/submissions/{id}/{deed}", post(submission))
        .route("/admin/revisions/{id}/{deed}", post(revision))
        .route("/admin/findings/{id}/{deed}", post(finding))
        .route("/admin/jobs/{id}/{deed}", post(job))
        .route("/admin/queue/{deed}", post(queue))
        .route("/admin/cases/{id}/prove", post(prove))
        .route("/admin/attempts/{id}/replay", post(replay))
        .route("/admin/workers/{name}/{deed}", post(worker))
        .route("/admin/parked-cases/{id}/release", post(parked_case))
        .route("/admin/people/{id}/role", post(role))
        .route("/admin/reevaluations", post(begin_set))
        .route("/admin/reevaluations/{id}/{deed}", post(decide_set))
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Words {
    note: String,
    reason: String,
    fresh: String,
    scope: String,
    subject: String,
    role: String,
}

impl Words {
    fn fresh(&self) -> bool {
        matches!(self.fresh.as_str(), "on" | "1" | "true")
    }
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

async fn comment(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
    Typed(words): Typed<Words>,
) -> Result<Response, Fault> {
    let id = SubmissionId::parse(&id)?;
    let back = sender(&headers, &format!("/submissions/{id}"));
    Ok(match site.portal.comment(&actor, &id, &words.note).await {
        Ok(()) => done(&back, "commented"),
        Err(e) => refused(e, &back, &[("note", &words.note)]),
    })
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
        "return" => (
            portal.return_with_comments(&actor, &id, &words.note).await,
            "returned",
        ),
        "reject" => (portal.reject(&actor, &id, &words.note).await, "rejected"),
        "resume" => (portal.resume_flagged(&actor, &id).await, "scoring-resumed"),
        "re-evaluate" => {
            let begun = portal
                .reevaluate(&actor, &id, &words.reason, words.fresh())
                .await;
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

async fn worker(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((name, deed)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let (outcome, notice) = match deed.as_str() {
        "drain" => (
            site.portal.drain_worker(&actor, &name).await,
            "worker-draining",
        ),
        "release" => (
            site.portal.release_worker(&actor, &name).await,
            "worker-released",
        ),
        _ => return Err(Fault::missing()),
    };
    let back = sender(&headers, "/admin/workers");
    Ok(match outcome {
        Ok(()) => done(&back, notice),
        Err(e) => refused(e, &back, &[]),
    })
}

async fn parked_case(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let id = CaseId::parse(&id)?;
    let back = sender(&headers, "/admin");
    Ok(match site.portal.release_case(&actor, &id).await {
        Ok(()) => done(&back, "case-released"),
        Err(e) => refused(e, &back, &[]),
    })
}

async fn role(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
    Typed(words): Typed<Words>,
) -> Result<Response, Fault> {
    let id = UserId::parse(&id)?;
    let given = match Role::parse(&words.role) {
        Some(role) => site.portal.set_role(&actor, &id, role).await,
        None => site
            .portal
            .require_admin(&actor)
            .and(Err(PortalError::Invalid("There is no such role.".into()))),
    };
    Ok(match given {
        Ok(()) => done("/admin/people", "saved"),
        Err(e) => refused(e, "/admin/people", &[]),
    })
}

async fn begin_set(
    State(site): State<Site>,
    Asker(actor): Asker,
    Typed(words): Typed<Words>,
) -> Result<Response, Fault> {
    let begun = match Scope::parse(&words.scope, &words.subject) {
        Ok(scope) => {
            site.portal
                .begin_reevaluation(&actor, &scope, &words.reason, words.fresh())
                .await
        }
        Err(e) => site
            .portal
            .require_admin(&actor)
            .and(Err(PortalError::Invalid(format!("{e}.")))),
    };
    Ok(match begun {
        Ok(id) => done(&format!("/admin/reevaluations/{id}"), "set-begun"),
        Err(e) => refused(
            e,
            "/admin/reevaluations",
            &[
                ("scope", &words.scope),
                ("subject", &words.subject),
                ("reason", &words.reason),
            ],
        ),
    })
}

async fn replay(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = AttemptId::parse(&id)?;
    let page = format!("/attempts/{id}");
    Ok(match site.portal.request_replay(&actor, &id).await {
        Ok(()) => done(&page, "replay-asked-for"),
        Err(e) => refused(e, &page, &[]),
    })
}

async fn decide_set(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path((id, deed)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let id = ReevaluationId::parse(&id)?;
    let (outcome, notice) = match deed.as_str() {
        "apply" => (
            site.portal.apply_reevaluation(&actor, &id).await,
            "set-applied",
        ),
        "discard" => (
            site.portal.discard_reevaluation(&actor, &id).await,
            "set-discarded",
        ),
        _ => return Err(Fault::missing()),
    };
    let page = format!("/admin/reevaluations/{id}");
    Ok(match outcome {
        Ok(_) => done(&page, notice),
        Err(e) => refused(e, &page, &[]),
    })
}
