//! Two attempts side by side: how each ended, what it spent, and what it handed
//! in. Each side links to its own page with the trace.

use faultboard_domain::AttemptId;
use faultboard_domain::view::{AttemptView, TraceQuery};
use leptos::prelude::*;

use crate::components::frame::title;
use crate::components::{diff, glyph, stat};
use crate::{data, format, query};

/// `/compare/attempts?a=…&b=…`.
#[component]
pub fn Route() -> impl IntoView {
    let pairs = query::pairs(&super::query_string());
    let id = |key: &str| query::get(&pairs, key).and_then(|t| AttemptId::parse(t).ok());
    let (Some(a), Some(b)) = (id("a"), id("b")) else {
        return data::not_found();
    };
    data::load(
        move |portal, actor| async move {
            let none = TraceQuery::default();
            let left = portal.attempt(&actor, &a, &none).await?;
            let right = portal.attempt(&actor, &b, &none).await?;
            Ok((left, right))
        },
        |(left, right)| page(&left, &right),
    )
}

/// The page.
pub fn page(left: &AttemptView, right: &AttemptView) -> AnyView {
    let what = if left.case == right.case {
        left.case.to_string()
    } else {
        format!("{} and {}", left.case, right.case)
    };
    view! {
        {title(format!("{what}, two attempts"))}
        <div class="page wide-page">
            <p class="kicker"><a href=format!("/cases/{}", left.case)>{left.case_title.clone()}</a></p>
            <h1>{format!("{what}, side by side")}</h1>
            <div class="beside">{side(left)}{side(right)}</div>
        </div>
    }
    .into_any()
}

fn side(view: &AttemptView) -> AnyView {
    let look = glyph::look(&view.cell);
    let condition = view.condition.map(|c| format!("{} · ", c.title()));
    let reason =
        (!view.cell.reason.is_empty()).then(|| view! { <p>{view.cell.reason.clone()}</p> });
    let unknown = || format::UNKNOWN.to_owned();
    let s = view.summary.as_ref();
    let facts = stat::facts(vec![
        stat::fact(
            "turns",
            s.map_or_else(unknown, |s| format::count(u64::from(s.turns))),
        ),
        stat::fact(
            "first edit",
            s.and_then(|s| s.first_edit)
                .map_or_else(|| "none".to_owned(), |n| format!("turn {n}")),
        ),
        stat::fact(
            "reads, edits",
            s.map_or_else(unknown, |s| format!("{}, {}", s.reads, s.edits)),
        ),
        stat::fact(
            "tokens in, out",
            s.and_then(|s| s.tokens).map_or_else(unknown, |t| {
                format!("{}, {}", format::tokens(t.input), format::tokens(t.output))
            }),
        ),
        stat::fact(
            "cost",
            s.and_then(|s| s.cost)
                .map_or_else(unknown, |c| format!("{} USD", format::usd(c))),
        ),
        stat::fact(
            "time",
            s.and_then(|s| s.seconds)
                .map_or_else(unknown, format::duration),
        ),
    ]);
    let handed = if let Some(d) = &view.diagnosis {
        let blocks: Vec<AnyView> = d
            .buggy_blocks
            .iter()
            .map(|b| {
                let lines = format!("lines {} to {}", b.start_line, b.end_line.saturating_sub(1));
                view! { <li><code class="path">{b.file.clone()}</code>" "<code>{b.function.clone()}</code>" "<span class="num">{lines}</span></li> }.into_any()
            })
            .collect();
        view! { <h3>"Suspected blocks"</h3><ul class="plain">{blocks}</ul> }.into_any()
    } else if view.diff.is_empty() {
        view! { <p class="remark">"No patch was handed in."</p> }.into_any()
    } else {
        view! { <h3>"Patch"</h3>{diff::diff(&view.diff, view.diff_left_out)} }.into_any()
    };
    view! {
        <section aria-label=view.configuration.clone()>
            <h2><a href=format!("/submissions/{}", view.submission)>{view.configuration.clone()}</a></h2>
            <p class="verdict-line">{glyph::worded(look.glyph, look.word)}</p>
            {reason}
            <p class="remark">{condition}{view.run.to_string()}" \u{b7} "<a href=format!("/attempts/{}", view.id)>"trace and stages"</a></p>
            {facts}
            {handed}
        </section>
    }
    .into_any()
}
