//! Re-evaluations: the list with the form that begins one, and one with its
//! matrix of old against new verdicts, the attempts behind every cell, and the
//! two decisions.

use faultboard_domain::view::{
    AttemptRef, HitChange, MatrixCell, ReevaluatedSubmission, ReevaluationLine, ReevaluationView,
    ReevaluationsView,
};
use faultboard_domain::{ReevaluationId, Scope};
use leptos::prelude::*;

use super::submission::section;
use crate::components::frame::title;
use crate::components::{field, notice, stat, state, when};
use crate::context::typed;
use crate::islands::LiveQueue;
use crate::{data, format, query};

/// `/admin/reevaluations`.
#[component]
pub fn List() -> impl IntoView {
    let asked = query::pairs(&super::query_string());
    let value = |name: &str| {
        asked
            .iter()
            .find(|(k, _)| k == name)
            .map(|(_, v)| v.chars().take(80).collect::<String>())
            .unwrap_or_default()
    };
    let (scope, subject) = (value("scope"), value("subject"));
    data::load(
        |portal, actor| async move { portal.reevaluations(&actor).await },
        move |view| list(&view, &scope, &subject),
    )
}

/// `/admin/reevaluations/:id`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(id) = ReevaluationId::parse(&super::param("id")) else {
        return data::not_found();
    };
    data::load(
        move |portal, actor| async move { portal.reevaluation(&actor, &id).await },
        |view| page(&view),
    )
}

/// The list; `scope` and `subject` fill the form in.
pub fn list(view: &ReevaluationsView, scope: &str, subject: &str) -> AnyView {
    let rows: Vec<AnyView> = view.lines.iter().map(line).collect();
    let lines = if rows.is_empty() {
        notice::empty(
            "Re-evaluations stand here.",
            "None was begun yet: choose below what is to be scored again.",
        )
    } else {
        view! {
            <table class="data">
                <thead><tr><th scope="col">"what"</th><th scope="col">"reason"</th><th scope="col">"revisions"</th><th scope="col" class="wide">"begun"</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        {title("Re-evaluations")}
        <div class="page">
            <p class="kicker"><a href="/admin">"Admin"</a></p>
            <h1>"Re-evaluations"</h1>
            {section("begin", "Score again", form(view, scope, subject))}
            {section("all", "All re-evaluations", lines)}
        </div>
    }
    .into_any()
}

fn line(l: &ReevaluationLine) -> AnyView {
    view! {
        <tr>
            <th scope="row"><a href=format!("/admin/reevaluations/{}", l.id)>{l.scope.words()}</a></th>
            <td>{l.reason.clone()}</td>
            <td>{states(&l.states)}</td>
            <td class="wide">{when::when(l.created)}" "<span class="remark">{l.created_by.clone()}</span></td>
        </tr>
    }
    .into_any()
}

fn states(of: &[(String, u32)]) -> AnyView {
    let pills: Vec<AnyView> = of
        .iter()
        .map(|(word, n)| view! { {state::pill(format!("{n} {word}"), tone(word))}" " }.into_any())
        .collect();
    pills.into_any()
}

fn tone(state: &str) -> &'static str {
    match state {
        "live" => "good",
        "ready" => "ready",
        "building" => "work",
        _ => "off",
    }
}

fn form(view: &ReevaluationsView, scope: &str, subject: &str) -> AnyView {
    // What was typed before the form was refused wins over what the address asks for.
    let kept = |name: &str, asked: &str| {
        let typed = typed("/admin/reevaluations", name);
        if typed.is_empty() {
            asked.to_owned()
        } else {
            typed
        }
    };
    let (scope, subject) = (kept("scope", scope), kept("subject", subject));
    let kinds: Vec<AnyView> = Scope::KINDS
        .into_iter()
        .map(|kind| {
            let words = match kind {
                "attempt" => "one attempt (its id)",
                "submission" => "one submission (its id)",
                "case" => "one case in every submission",
                "configuration" => "a configuration (the id of one of its submissions)",
                "release" => "a release",
                _ => "everything that an older scorer scored",
            };
            view! { <option value=kind selected={kind == scope}>{words}</option> }.into_any()
        })
        .collect();
    let known: Vec<AnyView> = view
        .configurations
        .iter()
        .map(|(id, title)| (id.to_string(), title.clone()))
        .chain(
            view.releases
                .iter()
                .map(|r| (r.clone(), "release".to_owned())),
        )
        .chain(view.cases.iter().map(|c| (c.clone(), "case".to_owned())))
        .map(|(value, words)| view! { <option value=value>{words}</option> }.into_any())
        .collect();
    view! {
        <form method="post" action="/admin/reevaluations" class="reasoned">
            <label for="scope">"What"</label>
            <select id="scope" name="scope">{kinds}</select>
            <label for="subject">"Which"</label>
            <input id="subject" name="subject" list="known" maxlength="80" value=subject autocomplete="off"/>
            <datalist id="known">{known}</datalist>
            <label for="reason">"Reason, shown with the revision on the public page"</label>
            <textarea id="reason" name="reason" rows="2" maxlength="2000" required=true>{kept("reason", "")}</textarea>
            <label class="check"><input type="checkbox" name="fresh" value="on"/>"run everything anew, reuse no verdict"</label>
            <button class="button" data-tone="primary">"Begin"</button>
            <p class="remark">"New revisions are built beside the live ones. You see what would change before anything goes live."</p>
        </form>
    }
    .into_any()
}

/// One re-evaluation.
pub fn page(view: &ReevaluationView) -> AnyView {
    let l = &view.line;
    let count = |state: &str| {
        l.states
            .iter()
            .find(|(s, _)| s == state)
            .map_or(0, |(_, n)| *n)
    };
    let (building, ready) = (count("building"), count("ready"));
    let follows = (building > 0).then(|| {
        view! { <LiveQueue page=format!("/admin/reevaluations/{}", l.id)/> }
    });
    let apply = (ready > 0).then(|| {
        let label = if building > 0 {
            format!("Apply the {ready} that are complete")
        } else {
            "Apply all".to_owned()
        };
        field::post_button(
            format!("/admin/reevaluations/{}/apply", l.id),
            label,
            "primary",
        )
    });
    let discard = (ready + building > 0).then(|| {
        field::post_button(
            format!("/admin/reevaluations/{}/discard", l.id),
            "Discard all",
            "bad",
        )
    });
    let progress = (building > 0).then(|| {
        view! {
            <div class="progress">
                <progress aria-label="Attempts with a verdict" max=view.total.max(1).to_string() value=view.done.to_string()></progress>
                <p class="num" role="status">{format::progress(view.done, view.total, None)}</p>
            </div>
        }
    });
    let hits = (!view.hits.is_empty()).then(|| {
        let items: Vec<AnyView> = view.hits.iter().map(hit).collect();
        section(
            "hits",
            "Changed guard hits",
            view! { <ul class="plain">{items}</ul> }.into_any(),
        )
    });
    let facts = stat::facts(vec![
        stat::fact("reason", l.reason.clone()),
        stat::fact(
            "begun",
            view! { {when::instant(l.created)}" by "{l.created_by.clone()} },
        ),
        stat::fact(
            "verdicts",
            if view.fresh {
                "all made anew"
            } else {
                "reused where nothing that they depend on has changed"
            },
        ),
        stat::fact(
            "attempts",
            format!("{} of {} have a verdict", view.done, view.total),
        ),
    ]);
    let rows: Vec<AnyView> = view.submissions.iter().map(submission).collect();
    view! {
        {title("Re-evaluation")}
        {follows}
        <div class="page" id="queue">
            <p class="kicker"><a href="/admin">"Admin"</a>" \u{b7} "<a href="/admin/reevaluations">"Re-evaluations"</a></p>
            <div class="head-row">
                <h1>{format!("Re-evaluation: {}", l.scope.words())}</h1>
                <div class="actions">{apply}{discard}</div>
            </div>
            <p class="state-line">{states(&l.states)}</p>
            {progress}
            {facts}
            {section("matrix", "Old against new", matrix(&view.matrix))}
            {hits}
            {section("submissions", "Submissions", view! {
                <table class="data">
                    <thead><tr><th scope="col">"submission"</th><th scope="col">"revision"</th><th scope="col" class="fig">"verdicts"</th><th scope="col" class="fig">"changed"</th><th scope="col" class="fig">"parked"</th></tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            }.into_any())}
        </div>
    }
    .into_any()
}

fn submission(s: &ReevaluatedSubmission) -> AnyView {
    let parked = if s.parked > 0 {
        view! { <a href="/admin#parked">{s.parked.to_string()}</a> }.into_any()
    } else {
        "0".into_any()
    };
    view! {
        <tr>
            <th scope="row"><a href=format!("/submissions/{}", s.submission)>{s.title.clone()}</a></th>
            <td>{format!("revision {} ", s.number)}{state::pill(s.state.clone(), tone(&s.state))}</td>
            <td class="fig num">{format!("{} of {}", s.done, s.total)}</td>
            <td class="fig num">{s.changed.to_string()}</td>
            <td class="fig num">{parked}</td>
        </tr>
    }
    .into_any()
}

fn hit(h: &HitChange) -> AnyView {
    let (word, tone) = if h.new {
        ("new", "warn")
    } else {
        ("gone", "off")
    };
    let step = h.step.map_or_else(String::new, |n| format!(", step {n}"));
    view! {
        <li>{state::pill(word, tone)}" "<a href=format!("/attempts/{}", h.attempt.id)>{h.attempt.words.clone()}</a>
        {format!(": {}{step}: {}", h.guard, h.why)}</li>
    }
    .into_any()
}

/// The attempts behind a count, unfolded on demand.
fn behind(count: u32, attempts: &[AttemptRef]) -> AnyView {
    let links: Vec<AnyView> = attempts
        .iter()
        .map(|a| {
            view! { <li><a href=format!("/attempts/{}", a.id)>{a.words.clone()}</a></li> }
                .into_any()
        })
        .collect();
    let left = u64::from(count).saturating_sub(attempts.len() as u64);
    let more = (left > 0)
        .then(|| view! { <li class="remark">{format!("and {} more", format::count(left))}</li> });
    view! { <details class="behind"><summary>{format::count(u64::from(count))}</summary><ul class="plain">{links}{more}</ul></details> }
        .into_any()
}

/// The matrix: a row per verdict that is live, a column per new one.
fn matrix(cells: &[MatrixCell]) -> AnyView {
    if cells.is_empty() {
        return notice::empty(
            "Old verdicts against new ones stand here.",
            "No attempt has a verdict yet.",
        );
    }
    let mut olds: Vec<&str> = cells.iter().map(|c| c.old.as_str()).collect();
    let mut news: Vec<&str> = cells.iter().map(|c| c.new.as_str()).collect();
    for words in [&mut olds, &mut news] {
        words.sort_unstable();
        words.dedup();
    }
    let heads: Vec<AnyView> = news
        .iter()
        .map(|new| view! { <th scope="col">{new.to_string()}</th> }.into_any())
        .collect();
    let rows: Vec<AnyView> = olds
        .iter()
        .map(|old| {
            let found: Vec<AnyView> = news
                .iter()
                .map(|new| {
                    let cell = cells.iter().find(|c| c.old == *old && c.new == *new);
                    let same = (old == new).then_some("");
                    view! { <td data-same=same>{cell.map(|c| behind(c.count, &c.attempts))}</td> }
                        .into_any()
                })
                .collect();
            view! { <tr><th scope="row">{old.to_string()}</th>{found}</tr> }.into_any()
        })
        .collect();
    view! {
        <div class="scroll">
            <table class="data verdicts">
                <caption class="sr">"Attempts by old verdict (rows) and new verdict (columns)"</caption>
                <thead><tr><th scope="col">"was \u{2193} \u{b7} would be \u{2192}"</th>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
