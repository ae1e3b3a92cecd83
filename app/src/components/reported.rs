//! Figures that publications report: below the board, apart from its rows, and
//! said to be unverified.

use faultboard_domain::view::{ReportedSet, ReportedValue};
use leptos::prelude::*;

use crate::{format, query};

/// Everything reported below one board.
pub fn section(sets: &[ReportedSet]) -> AnyView {
    if sets.is_empty() {
        return ().into_any();
    }
    let all: Vec<AnyView> = sets.iter().map(set).collect();
    view! {
        <section class="reported" id="reported" aria-labelledby="reported-head">
            <h2 id="reported-head">"Reported, not verified"</h2>
            <p class="remark">"What publications state. Nobody rescored these figures here; they take no rank and are compared with no row."</p>
            {all}
        </section>
    }
    .into_any()
}

fn value(v: Option<&ReportedValue>, unit: &str) -> AnyView {
    let Some(v) = v else {
        return view! { <span class="unknown">"not stated"</span> }.into_any();
    };
    let decimals = usize::from(unit == "%");
    let ends = v.low.zip(v.high).map(|(low, high)| {
        format!(
            " [{}, {}]",
            format::number(low, decimals),
            format::number(high, decimals)
        )
    });
    view! { <span class="num">{format::number(v.value, decimals)}</span><span class="num ends">{ends}</span> }.into_any()
}

fn set(s: &ReportedSet) -> AnyView {
    let heads: Vec<AnyView> = s
        .columns
        .iter()
        .map(|c| {
            let n = c.n.map(|n| format!(", n = {n}"));
            view! { <th scope="col" class="fig">{c.title.clone()}" "<span class="unit">{c.unit.clone()}{n}</span></th> }.into_any()
        })
        .collect();
    let rows: Vec<AnyView> = s
        .rows
        .iter()
        .map(|r| {
            let cells: Vec<AnyView> = s
                .columns
                .iter()
                .map(|c| {
                    view! { <td class="fig">{value(r.values.get(&c.key), &c.unit)}</td> }.into_any()
                })
                .collect();
            view! { <tr><th scope="row">{r.name.clone()}</th>{cells}</tr> }.into_any()
        })
        .collect();
    let source = match s.url.as_deref().and_then(query::web_link) {
        Some(href) => {
            view! { <a href=href rel="nofollow noopener">{s.source.clone()}</a> }.into_any()
        }
        None => s.source.clone().into_any(),
    };
    view! {
        <details class="more">
            <summary>{s.title.clone()}</summary>
            <div class="scroll" tabindex="0" role="region" aria-label=s.title.clone()>
                <table class="data">
                    <caption class="sr">{format!("{}, reported and not verified", s.title)}</caption>
                    <thead><tr><th scope="col">"reported for"</th>{heads}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            <p class="remark">"Source: "{source}". "{s.note.clone()}</p>
        </details>
    }
    .into_any()
}
