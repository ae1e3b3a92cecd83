//! An attempt's replay as maintainers see it: what departs, with links to the
//! steps, and the button that asks for one. Everything in it is foreign text.

use faultboard_domain::AttemptId;
use faultboard_domain::view::{Departure, ReplayStatus, ReplayView, ReplayedStep};
use leptos::prelude::*;

use super::{notice, state, when};
use crate::format;

/// The most departures that are listed.
const MOST: usize = 200;

/// The section's content.
pub fn replay(id: &AttemptId, status: &ReplayStatus) -> AnyView {
    let newest = status.newest.as_ref().map_or_else(
        || {
            notice::empty(
                "Where the trace departs from what its commands do stands here.",
                "Its commands have not been run again yet.",
            )
        },
        |view| shown(id, view),
    );
    let ask = if status.under_way {
        view! { <p>{state::pill("under way", "info")}" Its commands are run again in a fresh container of the case."</p> }.into_any()
    } else {
        view! {
            <form method="post" action=format!("/admin/attempts/{id}/replay")>
                <button class="button quiet">"Run its commands again"</button>
            </form>
        }
        .into_any()
    };
    view! { {newest}{ask} }.into_any()
}

fn shown(id: &AttemptId, view: &ReplayView) -> AnyView {
    let departing: Vec<&ReplayedStep> = view
        .steps
        .iter()
        .filter(|s| s.departure.departs())
        .collect();
    let more = departing.len().saturating_sub(MOST);
    let items: Vec<AnyView> = departing.iter().take(MOST).map(|s| item(id, s)).collect();
    let more = (more > 0).then(|| view! { <p class="remark">{format!("{more} more depart.")}</p> });
    let not_run = view.count(Departure::NotRun);
    let not_run = (not_run > 0).then(|| {
        view! { <p class="remark">{format!("Not run again: {}, such as tools that are no shell.", format::counted(not_run as u64, "command", "commands"))}</p> }
    });
    let tree = view.tree.as_ref().map(|t| {
        let rows: Vec<AnyView> = t
            .departs
            .iter()
            .map(|(path, why)| view! { <li><code>{path.clone()}</code>" "{why.clone()}</li> }.into_any())
            .collect();
        let left = (!t.left_behind.is_empty()).then(|| {
            view! { <p class="remark">"Left behind and not handed in: "{t.left_behind.iter().take(20).cloned().collect::<Vec<_>>().join(", ")}</p> }
        });
        view! { <ul class="plain">{rows}</ul>{left} }
    });
    let (word, tone) = if view.agrees() {
        ("agrees", "good")
    } else {
        ("departs", "warn")
    };
    view! {
        <p>{state::pill(word, tone)}" "{view.sentence()}". "<span class="remark">{when::when(view.at)}{format!(", {}", format::duration(view.seconds))}</span></p>
        <ul class="findings">{items}</ul>
        {more}
        {not_run}
        {tree}
        <p class="remark">"A departure has innocent reasons too: the network that an agent had, its clock, another image."</p>
    }
    .into_any()
}

fn item(id: &AttemptId, s: &ReplayedStep) -> AnyView {
    let excerpt = |head: &'static str, text: &str| {
        (!text.is_empty()).then(|| {
            view! { <p class="remark">{head}</p><pre class="excerpt" tabindex="0">{text.to_owned()}</pre> }
        })
    };
    view! {
        <li class="finding">
            <div class="finding-head">
                {state::pill(s.departure.as_str(), "warn")}
                <a href=format!("/attempts/{id}?step={}", s.index)>{format!("step {}", s.index + 1)}</a>
                <code>{s.command.clone()}</code>
            </div>
            <p>{s.why.clone()}</p>
            {excerpt("in the trace", &s.told)}
            {excerpt("run again", &s.seen)}
        </li>
    }
    .into_any()
}
