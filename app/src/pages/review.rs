//! The review desk: a submission's page with what a reviewer decides about it.

use faultboard_domain::finding::Disposition;
use faultboard_domain::view::{AttemptStatus, SubmissionView};
use faultboard_domain::{SubmissionId, SubmissionState};
use leptos::prelude::*;

use super::submission::{self, section};
use super::submission_parts as parts;
use crate::components::frame::title;
use crate::components::{field, findings, notice};
use crate::data;
use faultboard_portal::PortalError;

/// `/admin/review/:id`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(id) = SubmissionId::parse(&super::param("id")) else {
        return data::not_found();
    };
    let admin = data::actor().is_admin();
    data::load(
        move |portal, actor| async move {
            let view = portal.submission(&actor, &id).await?;
            if view.is_maintainer {
                Ok(view)
            } else {
                Err(PortalError::Forbidden)
            }
        },
        move |view| page(&view, admin),
    )
}

/// The page; `admin` says whether the reader may score again and apply revisions.
pub fn page(view: &SubmissionView, admin: bool) -> AnyView {
    let public =
        view! { <a class="button" href=format!("/submissions/{}", view.id)>"Its page"</a> }
            .into_any();
    let hits = if view.findings.is_empty() {
        notice::empty(
            "Leak hits stand here in their context.",
            "The guards found none in this submission.",
        )
    } else {
        findings::findings(&view.findings, true)
    };
    let revisions = (!view.revisions.is_empty()).then(|| {
        section(
            "revisions",
            "Score revisions",
            parts::revisions(&view.revisions, &view.live.attempts, admin),
        )
    });
    view! {
        {title(format!("Review: {}", submission::name(view)))}
        {submission::live(view)}
        <div class="page" id="submission">
            <p class="kicker"><a href="/admin">"Admin"</a>" \u{b7} review desk"</p>
            {submission::head(view, public)}
            {submission::progress(view)}
            <div class="columns">
                <div class="main-column">
                    {section("checklist", "Checklist", checklist(view))}
                    {section("hits", "Leak hits", hits)}
                    {revisions}
                </div>
                <aside class="side-column" aria-label="Decisions">{section("decide", "Decide", decisions(view, admin))}</aside>
            </div>
            {submission::body(&SubmissionView { findings: Vec::new(), revisions: Vec::new(), ..view.clone() })}
        </div>
    }
    .into_any()
}

/// What a reviewer looks at, with what the platform already knows.
fn checklist(view: &SubmissionView) -> AnyView {
    let open = view
        .findings
        .iter()
        .filter(|f| f.disposition == Disposition::Open)
        .count();
    let confirmed = view
        .findings
        .iter()
        .filter(|f| f.disposition == Disposition::Confirmed)
        .count();
    let parked = view
        .live
        .attempts
        .iter()
        .filter(|a| a.status == AttemptStatus::Parked)
        .count();
    let unscored = view.row.as_ref().map_or(0, |r| r.unscored_cases.len());
    let declared = view.metadata.as_ref().is_some_and(|m| {
        m.declarations.no_original_issues
            && m.declarations.no_fixes
            && m.declarations.no_benchmark_access
    });
    let known = [
        (
            open == 0,
            format!("every leak hit is decided ({open} open, {confirmed} confirmed)"),
        ),
        (
            parked == 0,
            format!("no attempt is parked ({parked} parked)"),
        ),
        (
            view.row.is_some() && unscored == 0,
            format!("every case has a score ({unscored} without)"),
        ),
        (declared, "every declaration is made".to_owned()),
    ];
    let items: Vec<AnyView> = known
        .into_iter()
        .map(|(good, words)| {
            let said = if good { "done: " } else { "open: " };
            view! { <li data-good=good.to_string()><span class="check-mark" aria-hidden="true">{if good { "\u{2713}" } else { "\u{2013}" }}</span><span class="sr">{said}</span>{words}</li> }.into_any()
        })
        .collect();
    view! {
        <ul class="checklist">{items}</ul>
        <p class="remark">"To look at yourself: do agent, model and version name one configuration? Do two or three traces read like honest work? Does the cost look right for the steps?"</p>
    }
    .into_any()
}

fn decisions(view: &SubmissionView, admin: bool) -> AnyView {
    use SubmissionState as S;
    let base = format!("/admin/submissions/{}", view.id);
    let form = |deed: &str, label, button, tone, required| {
        field::reasoned(
            format!("{base}/{deed}"),
            "note",
            label,
            button,
            tone,
            required,
        )
    };
    let resume = (view.state == S::Flagged).then(|| {
        let open = view
            .findings
            .iter()
            .any(|f| f.disposition == Disposition::Open);
        if open {
            view! { <p class="remark">"Decide every hit first; then scoring can go on."</p> }
                .into_any()
        } else {
            field::post_button(format!("{base}/resume"), "Go on to scoring", "primary")
        }
    });
    let review = (view.state == S::Scored)
        .then(|| form("review", "Note", "Take into review", "primary", false));
    let publish = (view.state == S::InReview).then(|| {
        form(
            "publish",
            "Note, shown in the timeline",
            "Publish",
            "primary",
            false,
        )
    });
    let back = (view.state == S::InReview).then(|| {
        form(
            "return",
            "Comments, shown to the owner",
            "Return with comments",
            "plain",
            true,
        )
    });
    let reject = view.state.may_become(S::Rejected).then(|| {
        form(
            "reject",
            "Reason, shown to the owner",
            "Reject",
            "bad",
            true,
        )
    });
    let scored = matches!(view.state, S::Scored | S::InReview | S::Published);
    let again = (scored && admin).then(|| {
        view! {
            <form method="post" action=format!("{base}/re-evaluate") class="reasoned">
                <label for="re-reason">"Reason for scoring again"</label>
                <textarea id="re-reason" name="reason" rows="2" maxlength="2000" required=true></textarea>
                <label class="check"><input type="checkbox" name="fresh" value="on"/>"run everything anew, reuse no verdict"</label>
                <button class="button">"Re-evaluate"</button>
            </form>
        }
    });
    let nothing = (resume.is_none()
        && review.is_none()
        && publish.is_none()
        && reject.is_none()
        && again.is_none())
    .then(|| view! { <p class="remark">"There is nothing to decide in this state."</p> });
    view! { <div class="decisions">{resume}{review}{publish}{back}{again}{reject}{nothing}</div> }
        .into_any()
}
