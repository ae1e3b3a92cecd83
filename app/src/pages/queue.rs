//! The queue: running and waiting jobs, then the newest that ended.

use faultboard_domain::job::JobState;
use faultboard_domain::view::{JobView, QueueView};
use leptos::prelude::*;

use super::admin::pause;
use crate::components::frame::title;
use crate::components::{field, notice, state, when};
use crate::data;
use crate::islands::LiveQueue;

/// `/admin/queue`.
#[component]
pub fn Route() -> impl IntoView {
    let admin = data::actor().is_admin();
    data::load(
        |portal, actor| async move { portal.queue(&actor).await },
        move |view| page(&view, admin),
    )
}

/// The page; `admin` says whether the reader may act on it.
pub fn page(view: &QueueView, admin: bool) -> AnyView {
    let content = if view.jobs.is_empty() {
        notice::empty(
            "Jobs stand here, running ones first.",
            "None has been made yet: a submission makes them.",
        )
    } else {
        table(&view.jobs, admin)
    };
    view! {
        {title("Queue")}
        <LiveQueue page="/admin/queue".to_owned()/>
        <div class="page" id="queue">
            <p class="kicker"><a href="/admin">"Admin"</a></p>
            <h1>"Queue"</h1>
            {pause(view.paused, admin)}
            {content}
        </div>
    }
    .into_any()
}

/// A job's state.
pub fn pill(s: JobState) -> AnyView {
    state::pill(
        s.as_str(),
        match s {
            JobState::Queued => "wait",
            JobState::Running => "work",
            JobState::Done => "good",
            JobState::Parked => "bad",
            JobState::Cancelled => "off",
        },
    )
}

/// Jobs as a table; with `act`, what may be done with each.
pub fn table(jobs: &[JobView], act: bool) -> AnyView {
    let rows: Vec<AnyView> = jobs.iter().map(|j| line(j, act)).collect();
    view! {
        <table class="data jobs">
            <thead>
                <tr>
                    <th scope="col" class="fig">"job"</th>
                    <th scope="col">"what"</th>
                    <th scope="col" class="wide">"kind"</th>
                    <th scope="col">"state"</th>
                    <th scope="col" class="fig wide">"tries"</th>
                    <th scope="col" class="wide">"made"</th>
                    <th scope="col" class="wide">"worker"</th>
                    <th scope="col" class="wide"><span class="sr">"actions"</span></th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

fn line(j: &JobView, act: bool) -> AnyView {
    let subject = match (&j.attempt, &j.submission) {
        (Some(a), _) => {
            view! { <a href=format!("/attempts/{a}")>{j.subject.clone()}</a> }.into_any()
        }
        (None, Some(s)) => {
            view! { <a href=format!("/submissions/{s}")>{j.subject.clone()}</a> }.into_any()
        }
        (None, None) => j.subject.clone().into_any(),
    };
    let error = (!j.last_error.is_empty())
        .then(|| view! { <p class="job-error">{j.last_error.clone()}</p> });
    view! {
        <tr data-row=j.id.to_string()>
            <td class="fig num"><a href=format!("/admin/jobs/{}", j.id)>{j.id.to_string()}</a></td>
            <th scope="row">{subject}{error}</th>
            <td class="wide job-kind">{j.kind.as_str()}</td>
            <td>{pill(j.state)}</td>
            <td class="fig num wide">{format!("{} of {}", j.tries, j.max_tries)}</td>
            <td class="wide">{when::when(j.created)}</td>
            <td class="wide">{j.worker.clone().map(|w| view! { <code>{w}</code> })}</td>
            <td class="wide">{act.then(|| actions(j))}</td>
        </tr>
    }
    .into_any()
}

/// What may be done with a job.
pub fn actions(j: &JobView) -> AnyView {
    let retry = matches!(j.state, JobState::Parked | JobState::Cancelled)
        .then(|| field::post_button(format!("/admin/jobs/{}/retry", j.id), "Retry", "plain"));
    let cancel = matches!(
        j.state,
        JobState::Queued | JobState::Running | JobState::Parked
    )
    .then(|| field::post_button(format!("/admin/jobs/{}/cancel", j.id), "Cancel", "bad"));
    view! { <div class="actions tight">{retry}{cancel}</div> }.into_any()
}
