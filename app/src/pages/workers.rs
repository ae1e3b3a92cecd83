//! Workers: each with its machine, what it runs and how it is, and what an
//! administrator may wish of it; and the machines of the cluster, if there is
//! one. Nothing here changes a machine.

use faultboard_domain::view::{NodeView, WorkerDetail, WorkerView, WorkersView};
use leptos::prelude::*;

use super::admin::pause;
use crate::components::frame::title;
use crate::components::{field, notice, state, when};
use crate::data;
use crate::islands::LiveQueue;

/// `/admin/workers`.
#[component]
pub fn Route() -> impl IntoView {
    let admin = data::actor().is_admin();
    data::load(
        |portal, actor| async move { portal.workers(&actor).await },
        move |view| page(&view, admin),
    )
}

/// The page; `admin` says whether the reader may act on workers.
pub fn page(view: &WorkersView, admin: bool) -> AnyView {
    let rows: Vec<AnyView> = view.workers.iter().map(|w| detail(w, admin)).collect();
    let content = if rows.is_empty() {
        none_yet()
    } else {
        view! {
            <table class="data workers">
                <thead><tr>
                    <th scope="col">"worker"</th>
                    <th scope="col">"state"</th>
                    <th scope="col">"works on"</th>
                    <th scope="col" class="wide">"machine"</th>
                    <th scope="col" class="wide">"runtime"</th>
                    <th scope="col">"last spoke"</th>
                    <th scope="col"><span class="sr">"actions"</span></th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        {title("Workers")}
        <LiveQueue page="/admin/workers".to_owned()/>
        <div class="page" id="queue">
            <p class="kicker"><a href="/admin">"Admin"</a></p>
            <h1>"Workers"</h1>
            {blocked(&view.blocked)}
            {pause(view.paused, admin)}
            {content}
            {nodes(view)}
        </div>
    }
    .into_any()
}

/// Why work waits, if something keeps it from being done.
pub fn blocked(of: &[(String, String)]) -> Option<AnyView> {
    (!of.is_empty()).then(|| {
        let items: Vec<AnyView> = of
            .iter()
            .map(|(kind, why)| view! { <li data-kind=kind.clone()><b>{kind.clone()}</b>": "{why.clone()}</li> }.into_any())
            .collect();
        notice::remark(
            "warn",
            view! { <p>"Work waits, and goes on by itself as soon as this is over:"</p><ul class="blocked">{items}</ul> },
        )
    })
}

/// The machines of the cluster; nothing where there is none.
fn nodes(of: &WorkersView) -> Option<AnyView> {
    let unknown = of
        .nodes_unknown
        .clone()
        .map(|why| notice::remark("warn", view! { <p>"The nodes can't be shown: "{why}</p> }));
    if of.nodes.is_empty() && unknown.is_none() {
        return None;
    }
    let table = (!of.nodes.is_empty()).then(|| {
        let rows: Vec<AnyView> = of.nodes.iter().map(node).collect();
        view! {
            <table class="data nodes">
                <thead><tr>
                    <th scope="col">"node"</th>
                    <th scope="col">"state"</th>
                    <th scope="col">"availability"</th>
                    <th scope="col">"runs there"</th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        }
    });
    let section = view! {
        <section aria-labelledby="nodes">
            <h2 id="nodes">"Nodes of the cluster"</h2>
            {unknown}
            {table}
        </section>
    };
    Some(section.into_any())
}

fn node(n: &NodeView) -> AnyView {
    let tone = match n.state.as_str() {
        "ready" => "good",
        "down" => "bad",
        _ => "warn",
    };
    let elsewhere = (!n.eligible)
        .then(|| view! { " "<span class="remark">"takes no runs: it lacks the label"</span> });
    let jobs: Vec<AnyView> = n
        .jobs
        .iter()
        .map(|id| {
            view! { <li><a href=format!("/admin/jobs/{id}")>{id.clone()}</a></li> }.into_any()
        })
        .collect();
    let jobs = if jobs.is_empty() {
        view! { <span class="remark">"nothing"</span> }.into_any()
    } else {
        view! { <ul class="plain">{jobs}</ul> }.into_any()
    };
    view! {
        <tr data-node=n.name.clone() data-state=n.state.clone()>
            <th scope="row"><code>{n.name.clone()}</code></th>
            <td>{state::pill(n.state.clone(), tone)}</td>
            <td>{n.availability.clone()}{elsewhere}</td>
            <td>{jobs}</td>
        </tr>
    }
    .into_any()
}

/// Workers in short.
pub fn table(of: &[WorkerView]) -> AnyView {
    if of.is_empty() {
        return none_yet();
    }
    let rows: Vec<AnyView> = of
        .iter()
        .map(|w| {
            view! {
                <tr>
                    <th scope="row"><code>{w.name.clone()}</code></th>
                    <td>{condition(w)}</td>
                    <td class="fig num">{w.running.to_string()}</td>
                    <td class="wide">{w.runtime.clone()}</td>
                    <td class="wide">{when::when(w.seen)}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    view! {
        <table class="data workers">
            <thead><tr><th scope="col">"worker"</th><th scope="col">"state"</th><th scope="col" class="fig">"holds"</th><th scope="col" class="wide">"runtime"</th><th scope="col" class="wide">"last spoke"</th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

fn none_yet() -> AnyView {
    notice::empty(
        "Workers stand here.",
        "None has spoken yet: start one with faultboard worker, or serve with workers.",
    )
}

fn condition(w: &WorkerView) -> AnyView {
    let tone = match w.state.as_str() {
        "claiming" => "good",
        "working" => "work",
        "quarantined" => "bad",
        "stopped" => "off",
        _ => "warn",
    };
    let wish = w
        .wish
        .as_deref()
        .filter(|_| w.state != "stopped")
        .map(|wish| {
            let words = if wish == "drain" {
                "is being drained: it ends what it holds first"
            } else {
                "is being released"
            };
            view! { " "<span class="remark">{words}</span> }
        });
    view! { {state::pill(w.state.clone(), tone)}" "<span class="remark">{w.why.clone()}</span>{wish} }
        .into_any()
}

fn detail(d: &WorkerDetail, admin: bool) -> AnyView {
    let w = &d.worker;
    let jobs: Vec<AnyView> = d
        .jobs
        .iter()
        .map(|j| {
            view! { <li><a href=format!("/admin/jobs/{}", j.id)>{format!("{} {}", j.kind, j.subject)}</a></li> }.into_any()
        })
        .collect();
    let jobs = if jobs.is_empty() {
        view! { <span class="remark">"nothing"</span> }.into_any()
    } else {
        view! { <ul class="plain">{jobs}</ul> }.into_any()
    };
    let silent = d.silent.then(|| view! { " "<span class="remark">"silent: what it holds is given to others when its leases run out"</span> });
    let alive = w.state != "stopped" && !d.silent;
    let at = |deed: &str| format!("/admin/workers/{}/{deed}", w.name);
    let drain = (admin && alive && w.wish.as_deref() != Some("drain"))
        .then(|| field::post_button(at("drain"), "Drain", "plain"));
    let release = (admin && alive && w.state == "quarantined")
        .then(|| field::post_button(at("release"), "Release", "primary"));
    view! {
        <tr data-worker=w.name.clone() data-state=w.state.clone()>
            <th scope="row"><code>{w.name.clone()}</code></th>
            <td>{condition(w)}{silent}</td>
            <td>{jobs}</td>
            <td class="wide">{w.node.clone()}</td>
            <td class="wide">{w.runtime.clone()}</td>
            <td>{when::when(w.seen)}</td>
            <td><div class="actions tight">{release}{drain}</div></td>
        </tr>
    }
    .into_any()
}
