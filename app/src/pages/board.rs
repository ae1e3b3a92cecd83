//! A leaderboard: filters, the table, its downloads and its figures.

use faultboard_domain::Track;
use faultboard_domain::view::{BoardQuery, BoardView, Choice, Column, FigureView};
use leptos::prelude::*;

use super::board_row::{self, Scales};
use crate::components::frame::title;
use crate::components::sort_head::{SortHead, sort_head};
use crate::components::{board_statistics, figure, glyph, notice, pager, reported, when};
use crate::islands::LiveRegion;
use crate::{data, format, query};

/// The most rows that a board shows in one piece.
const MOST_ROWS: usize = 100;
/// Rows of a page where a board has more than that: a page is as quick to make and
/// to read however far the board grows.
const PART_ROWS: usize = 25;

/// Rows of a page of a board of this many.
const fn rows_of_part(all: usize) -> usize {
    if all > MOST_ROWS {
        PART_ROWS
    } else {
        MOST_ROWS
    }
}

/// `/board/:track`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(track) = super::param("track").parse::<Track>() else {
        return data::not_found();
    };
    let text = super::query_string();
    let asked = query::board(track, &text);
    let shown = asked.clone();
    let part = query::get(&query::pairs(&text), "page")
        .and_then(|p| p.parse::<usize>().ok())
        .unwrap_or(1);
    data::load(
        move |portal, actor| async move {
            let view = portal.board(&actor, &asked).await?;
            let figures = portal.board_figures(&actor, &asked).await?;
            Ok((view, figures))
        },
        move |(view, figures)| page_part(&view, &figures, &shown, part),
    )
}

/// What a track measures, in one sentence.
pub const fn question(track: Track) -> &'static str {
    match track {
        Track::Repair => {
            "Which agents mend bugs that span processes. Pass rate by hidden oracle, from the symptom only and with a debug context."
        }
        Track::Diagnosis => {
            "Which agents find the code that causes a failure. Share of the labelled root-cause blocks that a diagnosis covers, mean over its attempts."
        }
        Track::Recovery => {
            "Which agents mend at the second try what they missed at the first, given a diagnosis of that failure."
        }
    }
}

/// The page with its first rows.
pub fn page(view: &BoardView, figures: &[FigureView], asked: &BoardQuery) -> AnyView {
    page_part(view, figures, asked, 1)
}

/// The page with one part of its rows; `part` counts from 1.
pub fn page_part(
    view: &BoardView,
    figures: &[FigureView],
    asked: &BoardQuery,
    part: usize,
) -> AnyView {
    let track = view.track;
    let tabs: Vec<AnyView> = [Track::Repair, Track::Diagnosis]
        .into_iter()
        .map(|t| {
            let current = (t == track).then_some("page");
            view! { <li><a href=format!("/board/{t}") aria-current=current>{t.title()}</a></li> }
                .into_any()
        })
        .collect();
    let all_figures = (!figures.is_empty()).then(|| {
        let href = query::href(
            "/figures",
            &query::string([
                ("track", track.as_str()),
                ("release", view.release.as_str()),
                ("subset", view.subset.as_str()),
                ("slice", view.slice.as_str()),
            ]),
        );
        view! { <p class="more"><a href=href>"All figures of this board"</a></p> }
    });
    let figures: Vec<AnyView> = figures.iter().map(figure::figure).collect();
    view! {
        {title(format!("{} board", track.title()))}
        <LiveRegion of="board".to_owned()/>
        <div class="page wide-page">
            <nav class="tabs" aria-label="Boards"><ul>{tabs}</ul></nav>
            <div class="head-row">
                <h1>{track.title()}</h1>
                <p class="head-facts num">{format!("release {} · {} · n = {}", view.release, format::counted(u64::from(view.n_cases), "case", "cases"), view.n_cases)}</p>
            </div>
            <p class="lede">{question(track)}</p>
            <div id="board">
                {filters(view, asked)}
                {table(view, asked, part)}
                {board_statistics::section(view)}
                <div class="figures">{figures}</div>
                {all_figures}
                {reported::section(&view.reported)}
            </div>
        </div>
    }
    .into_any()
}

fn filters(view: &BoardView, asked: &BoardQuery) -> AnyView {
    let track = view.track;
    let releases: Vec<Choice> = view
        .releases
        .iter()
        .map(|r| Choice {
            key: r.to_string(),
            label: r.to_string(),
            cases: 0,
        })
        .collect();
    let all = Choice {
        key: String::new(),
        label: "all cases".to_owned(),
        cases: 0,
    };
    let slices: Vec<Choice> = std::iter::once(all)
        .chain(view.slices.iter().cloned())
        .collect();
    let filtered = asked.slice.is_some()
        || asked.agent.is_some()
        || asked.model.is_some()
        || asked.open_weights;
    let clear = filtered.then(
        || view! { <a class="clear" href=format!("/board/{track}") data-swap="board">"Clear"</a> },
    );
    let downloads = query::board_string(asked);
    let link = |format: &str| query::href(&format!("/board/{track}.{format}"), &downloads);
    // The permalink names release and subset even where the address leaves them
    // to the newest, so that it shows the same next year.
    let pinned = BoardQuery {
        release: Some(view.release.clone()),
        subset: Some(view.subset.clone()),
        ..asked.clone()
    };
    let permalink = query::href(&format!("/board/{track}"), &query::board_string(&pinned));
    view! {
        <div class="toolbar">
            <form method="get" action=format!("/board/{track}") class="filters" data-auto="board" aria-label="Filters">
                {select("release", "release", &releases, view.release.as_str())}
                {select("subset", "subset", &view.subsets, view.subset.as_str())}
                {select("slice", "cases", &slices, &view.slice)}
                {text("agent", asked.agent.as_deref())}
                {text("model", asked.model.as_deref())}
                <label class="check"><input type="checkbox" name="open_weights" id="f-open" value="1" checked=asked.open_weights/>"open weights"</label>
                {asked.sort.clone().map(|s| view! { <input type="hidden" name="sort" value=s/> })}
                {asked.reverse.then(|| view! { <input type="hidden" name="reverse" value="1"/> })}
                <button class="button small no-js-only">"Apply"</button>
                {clear}
            </form>
            <p class="downloads">
                <a href=link("csv")>"CSV"</a>
                <a href=link("json")>"JSON"</a>
                <a href=query::href(&format!("/breakdowns/{track}.csv"), &downloads)>"Breakdowns"</a>
                <a href=permalink>"Permalink"</a>
            </p>
        </div>
    }
    .into_any()
}

pub(super) fn select(
    name: &'static str,
    label: &'static str,
    of: &[Choice],
    chosen: &str,
) -> AnyView {
    let options: Vec<AnyView> = of
        .iter()
        .map(|c| {
            let words = if c.cases > 0 {
                format!("{} ({})", c.label, c.cases)
            } else {
                c.label.clone()
            };
            view! { <option value=c.key.clone() selected=c.key == chosen>{words}</option> }
                .into_any()
        })
        .collect();
    view! {
        <label class="inline"><span>{label}</span><select name=name id=format!("f-{name}")>{options}</select></label>
    }
    .into_any()
}

pub(super) fn text(name: &'static str, value: Option<&str>) -> AnyView {
    view! {
        <label class="inline"><span>{name}</span><input type="search" name=name id=format!("f-{name}") value=value.unwrap_or("").to_owned() size="10" maxlength="100"/></label>
    }
    .into_any()
}

/// The table, or what stands in its place while there are no rows.
pub fn table(view: &BoardView, asked: &BoardQuery, part: usize) -> AnyView {
    if view.rows.is_empty() {
        let filtered = asked.agent.is_some() || asked.model.is_some() || asked.open_weights;
        return if filtered {
            notice::empty(
                "No configuration fits these filters.",
                view! { <a href=format!("/board/{}", view.track) data-swap="board">"Show all of them"</a> },
            )
        } else {
            notice::empty(
                "Published configurations stand here, best first.",
                view! { "None is published in this release and subset yet. "<a href="/submit">"Submit a bundle"</a>", or read "<a href="/docs/submit">"how to"</a>"." },
            )
        };
    }
    let scales = Scales::of(view);
    let path = format!("/board/{}", view.track);
    let rank = {
        let order = asked.sort.is_none().then_some(if asked.reverse {
            "descending"
        } else {
            "ascending"
        });
        let next = BoardQuery {
            sort: None,
            reverse: order == Some("ascending"),
            ..asked.clone()
        };
        sort_head(SortHead {
            title: "#".to_owned(),
            unit: String::new(),
            help: "Rank; equal values share one".to_owned(),
            href: query::href(&path, &query::board_string(&next)),
            order,
            class: "rank",
        })
    };
    let heads: Vec<AnyView> = view
        .columns
        .iter()
        .map(|c| head(c, view, asked, &path))
        .collect();
    let most = rows_of_part(view.rows.len());
    let parts = view.rows.len().div_ceil(most);
    let part = part.clamp(1, parts);
    let rows: Vec<AnyView> = view
        .rows
        .iter()
        .skip((part - 1) * most)
        .take(most)
        .map(|r| board_row::row(r, view, &scales))
        .collect();
    let n_rows = format::counted(view.rows.len() as u64, "configuration", "configurations");
    view! {
        <form method="get" action="/compare" class="pick-rows" aria-label="Compare rows">
        <input type="hidden" name="slice" value=view.slice.clone()/>
        <div class="board-scroll">
            <table class="data board" data-track=view.track.as_str()>
                <caption class="sr">{format!("{} board, {n_rows}", view.track.title())}</caption>
                <thead>
                    <tr>
                        <th scope="col" class="pick"><span class="sr">"compare"</span></th>
                        {rank}
                        <th scope="col" class="name">"configuration"</th>
                        {heads}
                    </tr>
                </thead>
                {rows}
            </table>
        </div>
        {(view.rows.len() > 1).then(|| view! {
            <p class="pick-go"><button class="button small">"Compare"</button><span class="remark">"the rows ticked, two to six of them"</span></p>
        })}
        </form>
        {pager(view, asked, &path, part, parts)}
        {under(view, &n_rows)}
    }
    .into_any()
}

/// Where the other rows are, on a board of many.
fn pager(view: &BoardView, asked: &BoardQuery, path: &str, part: usize, parts: usize) -> AnyView {
    if parts < 2 {
        return ().into_any();
    }
    let link = |to: usize, words: &str| {
        (1..=parts).contains(&to).then(|| {
            let rest = query::board_string(asked);
            let sign = if rest.is_empty() { "" } else { "&" };
            (format!("{path}?{rest}{sign}page={to}"), words.to_owned())
        })
    };
    let most = rows_of_part(view.rows.len());
    let said = format!(
        "Rows {} to {} of {}",
        (part - 1) * most + 1,
        (part * most).min(view.rows.len()),
        format::count(view.rows.len() as u64)
    );
    view! {
        <div class="pick-go"><span class="num">{said}</span>{pager::pager("Rows of this board", link(part - 1, "rows before"), link(part + 1, "next rows"))}</div>
    }
    .into_any()
}

fn head(c: &Column, view: &BoardView, asked: &BoardQuery, path: &str) -> AnyView {
    let sorted = asked.sort.as_deref() == Some(c.key.as_str());
    let next = BoardQuery {
        sort: Some(c.key.clone()),
        reverse: sorted && !asked.reverse,
        ..asked.clone()
    };
    let order = sorted.then_some(if c.descending == asked.reverse {
        "ascending"
    } else {
        "descending"
    });
    sort_head(SortHead {
        title: c.title.clone(),
        unit: c.unit.clone(),
        help: c.help.clone(),
        href: query::href(path, &query::board_string(&next)),
        order,
        class: board_row::class_of(&c.key, view.track),
    })
}

/// What stands under the table: how to read it, and where it comes from.
fn under(view: &BoardView, n_rows: &str) -> AnyView {
    let helps: Vec<AnyView> = view
        .columns
        .iter()
        .map(|c| {
            let name = if c.unit.is_empty() {
                c.title.clone()
            } else {
                format!("{}, {}", c.title, c.unit)
            };
            view! { <div><dt>{name}</dt><dd>{c.help.clone()}</dd></div> }.into_any()
        })
        .collect();
    let legend = (view.track == Track::Repair).then(|| {
        glyph::legend(&[
            ("pass", "passes both ways"),
            ("gain", "gained with context"),
            ("loss", "lost with context"),
            ("fail", "fails both ways"),
            ("missing", "no pair"),
        ])
    });
    view! {
        <div class="under">
            <p class="remark">
                {n_rows.to_owned()}", computed "{when::when(view.computed)}" by scorer "
                <code>{view.scorer_version.clone()}</code>", inputs "
                <code class="digest" title=view.inputs.clone()>{format::short_digest(&view.inputs)}</code>
                ". Bars are 95 % bootstrap intervals over cases, on one scale per column."
            </p>
            {legend}
            <details class="more" id="columns">
                <summary>"What the columns mean"</summary>
                <dl class="defs">{helps}</dl>
            </details>
        </div>
    }
    .into_any()
}
