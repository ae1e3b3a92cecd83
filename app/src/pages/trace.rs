//! The trace viewer: the steps to the left, the selected step in the middle, the
//! facts to the right. Every move is a link; keys press those links. All of a
//! trace is foreign text and is escaped.

use faultboard_domain::trace::Step;
use faultboard_domain::view::{AttemptView, StepLine, TraceQuery};
use leptos::prelude::*;

use crate::components::{diff, notice};
use crate::{format, query};

/// The three columns.
pub fn viewer(view: &AttemptView, asked: &TraceQuery, facts: AnyView) -> AnyView {
    let steps = if view.total_steps == 0 {
        notice::empty(
            "This trace has no steps.",
            "Its bytes can be downloaded as they were handed in.",
        )
    } else {
        view! { {bar(view, asked)}<div class="trace-columns">{list(view, asked)}{selected(view)}</div> }.into_any()
    };
    view! {
        <div class="viewer">
            <div class="trace-part" id="trace">{steps}</div>
            <aside class="trace-facts" aria-label="Facts of this attempt">{facts}</aside>
        </div>
    }
    .into_any()
}

fn address(view: &AttemptView, step: u32, q: Option<&str>) -> String {
    query::href(
        &format!("/attempts/{}", view.id),
        &query::trace_string(step, q),
    )
}

/// The moves and the search.
fn bar(view: &AttemptView, asked: &TraceQuery) -> AnyView {
    let q = asked.q.as_deref();
    let at = view.selected.as_ref().map(|s| s.index);
    let last = view.total_steps.saturating_sub(1);
    let link = |key: &'static str, words: &'static str, to: Option<u32>| {
        match to {
        Some(step) => view! { <a class="key-link" href=address(view, step, q) data-swap="trace" data-key=key>{words}<kbd>{key}</kbd></a> }.into_any(),
        None => view! { <span class="key-link off">{words}<kbd>{key}</kbd></span> }.into_any(),
    }
    };
    let hit = view
        .privileged
        .then(|| link("h", "next hit", view.next_hit));
    let has_diff = !view.diff.is_empty();
    let found = q.map(|_| {
        let words = match (view.found.len(), at.and_then(|a| view.found.iter().position(|f| *f == a))) {
            (0, _) => "in no step".to_owned(),
            (n, Some(i)) => format!("{} of {n}", i + 1),
            (n, None) => format::counted(n as u64, "step", "steps"),
        };
        let before = at.and_then(|a| view.found.iter().rev().find(|f| **f < a)).copied();
        let after = match at {
            Some(a) => view.found.iter().find(|f| **f > a).copied(),
            None => view.found.first().copied(),
        };
        let arrow = |to: Option<u32>, words: &'static str, sign: &'static str| {
            to.map(|s| view! { <a class="key-link" href=address(view, s, q) data-swap="trace" aria-label=words>{sign}</a> })
        };
        view! {
            <span class="found num" role="status">{words}</span>
            {arrow(before, "found before", "\u{2191}")}
            {arrow(after, "found after", "\u{2193}")}
            <a class="clear" href=address(view, at.unwrap_or(0), None) data-swap="trace">"Clear"</a>
        }
    });
    view! {
        <div class="trace-bar">
            <nav class="moves" aria-label="Steps">
                {link("k", "back", at.and_then(|a| a.checked_sub(1)))}
                {link("j", "next", at.map(|a| a + 1).filter(|a| *a <= last))}
                {link("e", "first edit", view.first_edit)}
                {link("x", "next error", view.next_error)}
                {hit}
                {has_diff.then(|| view! { <a class="key-link" href="#patch" data-key="d">"diff"<kbd>"d"</kbd></a> })}
            </nav>
            <form method="get" action=format!("/attempts/{}", view.id) class="search" role="search" data-auto="trace">
                <label class="sr" for="q">"Search in this trace"</label>
                <input type="search" id="q" name="q" placeholder="search" value=q.unwrap_or("").to_owned() maxlength="200" data-key="/"/>
                <button class="button small">"Search"</button>
                <kbd aria-hidden="true">"/"</kbd>
                {found}
            </form>
        </div>
    }
    .into_any()
}

fn list(view: &AttemptView, asked: &TraceQuery) -> AnyView {
    let dearest = view.steps.iter().filter_map(|s| s.cost).fold(0.0, f64::max);
    let at = view.selected.as_ref().map(|s| s.index);
    let first = view.steps.first().map_or(0, |s| s.index);
    let last = view.steps.last().map_or(0, |s| s.index);
    let q = asked.q.as_deref();
    let items: Vec<AnyView> = view
        .steps
        .iter()
        .map(|s| line(s, view, q, at == Some(s.index), dearest))
        .collect();
    let more = |to: u32, words: String| view! { <li class="more-steps"><a href=address(view, to, q) data-swap="trace">{words}</a></li> };
    let above = (first > 0).then(|| more(first - 1, format!("{first} steps above")));
    let below = (last + 1 < view.total_steps).then(|| {
        more(
            last + 1,
            format!("{} steps below", view.total_steps - last - 1),
        )
    });
    view! {
        <ol class="steps-list" id="steps-list" data-keep-scroll="" tabindex="0" aria-label="Steps">{above}{items}{below}</ol>
    }
    .into_any()
}

fn line(s: &StepLine, view: &AttemptView, q: Option<&str>, current: bool, dearest: f64) -> AnyView {
    let kind = if s.kind.is_empty() {
        s.role.clone()
    } else {
        s.kind.clone()
    };
    let cost = s.cost.filter(|_| dearest > 0.0).map(|c| {
        let width = format!("{:.1}", (c / dearest * 40.0).clamp(0.5, 40.0));
        view! {
            <svg class="cost" viewBox="0 0 40 4" width="40" height="4" aria-hidden="true" focusable="false">
                <rect x="0" y="0" width=width height="4"></rect>
            </svg>
        }
    });
    let failed = s.failed.then(|| view! { <span class="step-mark bad" title="failed">"\u{2717}"<span class="sr">"failed"</span></span> });
    let hits = (s.hits > 0).then(|| view! { <span class="step-mark warn" title="leak hit">"!"<span class="sr">"leak hit"</span></span> });
    let found = view.found.binary_search(&s.index).is_ok();
    view! {
        <li>
            <a
                class="step-line"
                href=address(view, s.index, q)
                data-swap="trace"
                data-kind=kind
                data-found=found.then_some("")
                data-follow=current.then_some("")
                aria-current=current.then_some("step")
            >
                <span class="step-no num">{(s.index + 1).to_string()}</span>
                <span class="step-kind">{kind.clone()}</span>
                <span class="step-text">{s.line.clone()}</span>
                {failed}
                {hits}
                {cost}
            </a>
        </li>
    }
    .into_any()
}

fn selected(view: &AttemptView) -> AnyView {
    let Some(s) = &view.selected else {
        return view! { <div class="step-full"><p class="remark">"Choose a step."</p></div> }
            .into_any();
    };
    view! {
        <article class="step-full" aria-label=format!("Step {}", s.index + 1)>
            {step_head(s, view.total_steps)}
            {step_body(s, view)}
        </article>
    }
    .into_any()
}

fn step_head(s: &Step, total: u32) -> AnyView {
    let kind = s.action.as_ref().map(|a| {
        let tool = (!a.tool.is_empty()).then(|| format!(" by {}", a.tool));
        view! { <span class="step-kind" data-kind=a.kind.as_str()>{a.kind.as_str()}</span><span class="remark">{tool}</span> }
    });
    let parts: Vec<String> = [
        s.tokens.map(|t| {
            format!(
                "{} in, {} out",
                format::tokens(t.input),
                format::tokens(t.output)
            )
        }),
        s.cost.map(|c| format!("{} USD", format::number(c, 4))),
        s.seconds.map(format::duration),
    ]
    .into_iter()
    .flatten()
    .collect();
    view! {
        <header class="step-head">
            <h2 class="num">{format!("Step {} of {total}", s.index + 1)}</h2>
            <span>{s.role.as_str()}</span>
            {kind}
            <span class="remark num">{parts.join(" · ")}</span>
        </header>
    }
    .into_any()
}

fn step_body(s: &Step, view: &AttemptView) -> AnyView {
    let thought =
        (!s.thought.is_empty()).then(|| view! { <div class="thought">{s.thought.clone()}</div> });
    let action = s.action.as_ref().map(
        |a| view! { <h3>"Action"</h3><pre class="command" tabindex="0">{a.command.clone()}</pre> },
    );
    let output = s.observation.as_ref().map(|o| {
        let exit = o.exit_code.map(|c| {
            let class = if c == 0 { "exit num" } else { "exit num bad" };
            view! { <span class=class>{format!("exit {c}")}</span> }
        });
        let cut = o.truncated.then(|| view! { <span class="remark">"cut by the scaffold"</span> });
        let text = if view.selected_output.is_empty() {
            view! { <pre class="output" tabindex="0">{o.text.clone()}</pre> }.into_any()
        } else {
            diff::ansi(&view.selected_output)
        };
        // A long output starts folded; what an agent printed is rarely read whole.
        if o.text.len() > 20_000 {
            view! { <h3>"Output "{exit}" "{cut}</h3><details class="more"><summary>{format!("{} of text", format::bytes(o.text.len() as u64))}</summary>{text}</details> }.into_any()
        } else {
            view! { <h3>"Output "{exit}" "{cut}</h3>{text} }.into_any()
        }
    });
    let nothing = (thought.is_none() && action.is_none() && output.is_none())
        .then(|| view! { <p class="remark">"This step holds no text."</p> });
    view! { {thought}{action}{output}{nothing} }.into_any()
}
