//! One job with its log, which grows while it runs.

use faultboard_domain::JobId;
use faultboard_domain::job::JobState;
use faultboard_domain::view::JobDetail;
use leptos::prelude::*;

use super::queue;
use crate::components::frame::title;
use crate::components::{notice, stat, when};
use crate::data;
use crate::islands::LiveLog;

/// `/admin/jobs/:id`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(id) = super::param("id").parse().map(JobId) else {
        return data::not_found();
    };
    let admin = data::actor().is_admin();
    data::load(
        move |portal, actor| async move { portal.job(&actor, id).await },
        move |view| page(&view, admin),
    )
}

/// The page; `admin` says whether the reader may act on the job.
pub fn page(view: &JobDetail, admin: bool) -> AnyView {
    let j = &view.job;
    let working = matches!(j.state, JobState::Queued | JobState::Running);
    let follows = working.then(|| view! { <LiveLog id=j.id.0/> });
    let error = (!j.last_error.is_empty())
        .then(|| notice::remark("bad", view! { <p>{j.last_error.clone()}</p> }));
    let mut facts = vec![
        stat::fact("kind", j.kind.as_str()),
        stat::fact("tries", format!("{} of {}", j.tries, j.max_tries)),
        stat::fact("made", when::instant(j.created)),
        stat::fact("may run from", when::instant(j.run_after)),
    ];
    if let Some(w) = &j.worker {
        facts.push(stat::fact("worker", view! { <code>{w.clone()}</code> }));
    }
    if let Some(t) = j.lease_until {
        facts.push(stat::fact("lease until", when::instant(t)));
    }
    if let Some(s) = &j.submission {
        facts.push(stat::fact(
            "submission",
            view! { <a href=format!("/submissions/{s}")>{s.to_string()}</a> },
        ));
    }
    if let Some(a) = &j.attempt {
        facts.push(stat::fact(
            "attempt",
            view! { <a href=format!("/attempts/{a}")>{a.to_string()}</a> },
        ));
    }
    view! {
        {title(format!("Job {}", j.id))}
        {follows}
        <div class="page" id="job" data-settled=(!working).then_some("")>
            <p class="kicker"><a href="/admin">"Admin"</a>" \u{b7} "<a href="/admin/queue">"Queue"</a></p>
            <div class="head-row">
                <h1>{format!("Job {}", j.id)}</h1>
                {admin.then(|| queue::actions(j))}
            </div>
            <p class="state-line">{queue::pill(j.state)}<span>{j.subject.clone()}</span></p>
            {error}
            {stat::facts(facts)}
            <h2>"Log"</h2>
            <pre class="log-text" id="log" data-keep-scroll="" tabindex="0" aria-label="Log">{view.log.clone()}</pre>
        </div>
    }
    .into_any()
}
