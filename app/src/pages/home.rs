//! The first page: what is measured, who leads, what changed.

use faultboard_domain::Track;
use faultboard_domain::view::{BoardView, ChangeView, HomeView};
use leptos::prelude::*;

use super::board::question;
use crate::components::frame::title;
use crate::components::{interval, notice, stat, when};
use crate::{data, format};

/// `/`.
#[component]
pub fn Route() -> impl IntoView {
    data::load(
        |portal, actor| async move { portal.home(&actor).await },
        |view| page(&view),
    )
}

/// The page.
pub fn page(view: &HomeView) -> AnyView {
    let boards: Vec<AnyView> = view.boards.iter().map(top).collect();
    let release = view
        .release
        .as_ref()
        .map_or_else(|| "none yet".to_owned(), ToString::to_string);
    view! {
        {title("")}
        <div class="page">
            <h1 class="claim">"LLM agents against real faults of distributed systems"</h1>
            <p class="lede">
                "Each case is a historical bug of a consensus library, a broker or a store. Agents mend it, or say where it lies; this site runs every answer again and publishes what held. "
                <a href="/docs/metrics">"How scores are made"</a>
            </p>
            {stat::stats(vec![
                stat::stat("release", release, ""),
                stat::stat("cases", format::count(u64::from(view.cases)), ""),
                stat::stat("systems", format::count(u64::from(view.systems)), ""),
                stat::stat("published submissions", format::count(u64::from(view.submissions)), ""),
                stat::stat("scored attempts", format::count(u64::from(view.attempts)), ""),
            ])}
            <div class="boards">{boards}</div>
            <section aria-labelledby="changes-head">
                <div class="head-row"><h2 id="changes-head">"Latest changes"</h2><a href="/changes">"All changes"</a></div>
                {changes(&view.changes)}
            </section>
        </div>
    }
    .into_any()
}

/// The first rows of a board.
fn top(board: &BoardView) -> AnyView {
    let track = board.track;
    let id = format!("top-{track}");
    let (first, second) = match track {
        Track::Diagnosis => ("block coverage", "block precision"),
        Track::Repair | Track::Recovery => ("symptom only", "with context"),
    };
    let rows: Vec<AnyView> = board
        .rows
        .iter()
        .map(|r| {
            let (a, b) = match (&r.repair, &r.diagnosis) {
                (Some(c), _) => (c.symptom.as_ref(), c.context.as_ref()),
                (None, Some(d)) => (Some(&d.block_coverage), Some(&d.block_precision)),
                (None, None) => (None, None),
            };
            view! {
                <tr>
                    <td class="rank num">{r.rank.as_ref().map_or_else(|| "\u{2013}".to_owned(), |k| k.label.clone())}</td>
                    <th scope="row" class="name"><a href=format!("/submissions/{}", r.submission)>{r.configuration.clone()}</a></th>
                    <td class="fig">{interval::rate(a, board.n_cases)}</td>
                    <td class="fig wide">{interval::rate(b, board.n_cases)}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    let content = if rows.is_empty() {
        notice::empty(
            "The best configurations stand here.",
            view! { "None is published yet. "<a href="/submit">"Submit a bundle"</a>"." },
        )
    } else {
        view! {
            <table class="data top">
                <thead>
                    <tr>
                        <th scope="col" class="rank">"#"</th>
                        <th scope="col" class="name">"configuration"</th>
                        <th scope="col" class="fig">{first}" "<span class="unit">"%"</span></th>
                        <th scope="col" class="fig wide">{second}" "<span class="unit">"%"</span></th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        <section aria-labelledby=id>
            <div class="head-row">
                <h2 id=id.clone()>{track.title()}</h2>
                <span class="head-facts num">{format!("n = {}", board.n_cases)}</span>
                <a href=format!("/board/{track}")>"Whole board"</a>
            </div>
            <p class="remark">{question(track)}</p>
            {content}
        </section>
    }
    .into_any()
}

/// A list of public changes.
pub fn changes(of: &[ChangeView]) -> AnyView {
    if of.is_empty() {
        return notice::empty(
            "Publications, corrections and new releases are listed here.",
            "Nothing has changed yet.",
        );
    }
    let items: Vec<AnyView> = of
        .iter()
        .map(|c| {
            view! { <li>{when::when(c.at)}<a href=c.href.clone()>{c.text.clone()}</a></li> }
                .into_any()
        })
        .collect();
    view! { <ol class="changes">{items}</ol> }.into_any()
}
