//! Two to six rows compared: differences with intervals, p values, flips, and
//! every case side by side. Works as plain forms and links.

use faultboard_domain::view::{CompareQuery, CompareState, CompareView, ComparedPair, MeasureKind};
use leptos::prelude::*;
use leptos_meta::Meta;

use super::compare_cases;
use crate::components::frame::title;
use crate::components::{board_statistics, interval, notice, when};
use crate::{data, format, query};

/// Below this, a difference is called significant.
const LEVEL: f64 = 0.05;
/// Seconds until a page that waits looks again.
const AGAIN_S: &str = "2";

/// `/compare`.
#[component]
pub fn Route() -> impl IntoView {
    let asked = query::compare(&super::query_string());
    let shown = asked.clone();
    if asked.rows.is_empty() {
        return choose();
    }
    data::load(
        move |portal, actor| async move { portal.compare(&actor, &asked).await },
        move |view| page(&view, &shown),
    )
}

/// What stands here while no rows are chosen.
pub fn choose() -> AnyView {
    view! {
        {title("Compare")}
        <div class="page">
            <h1>"Compare"</h1>
            {notice::empty(
                "Two to six rows of a board stand here side by side: paired differences with intervals and p values, what flipped, and every case.",
                view! {
                    "Tick rows on the "<a href="/board/repair">"repair board"</a>" or the "<a href="/board/diagnosis">"diagnosis board"</a>", then press Compare below the table."
                },
            )}
        </div>
    }
    .into_any()
}

/// The page.
pub fn page(view: &CompareView, asked: &CompareQuery) -> AnyView {
    let names: Vec<&str> = view.rows.iter().map(|r| r.configuration.as_str()).collect();
    let link =
        |format: &str| query::href(&format!("/compare.{format}"), &query::compare_string(asked));
    let waiting = match view.state {
        CompareState::Ready => ().into_any(),
        CompareState::Computing => view! {
            <Meta http_equiv="refresh" content=AGAIN_S/>
            <div class="notice" data-tone="info" role="status" id="computing">
                <p>"This comparison was not computed before. A job does it now; the page looks again every two seconds and may be closed meanwhile."</p>
            </div>
        }
        .into_any(),
        CompareState::Busy => view! {
            <div class="notice" data-tone="warn" role="status">
                <p>"Many comparisons wait to be computed, so this one was not taken up. What is known already stands below; load the page again in a minute."</p>
            </div>
        }
        .into_any(),
    };
    let measures: Vec<AnyView> = view.measures.iter().map(|m| pairs(view, *m)).collect();
    view! {
        {title(format!("Compare {}", names.join(", ")))}
        <div class="page wide-page" id="compare">
            <div class="head-row">
                <h1>"Compare"</h1>
                <p class="head-facts num">{format!("{} board · release {} · {}", view.track.title(), view.release, format::counted(u64::from(view.n_cases), "case", "cases"))}</p>
            </div>
            {waiting}
            <div class="toolbar">
                {filter(view, asked)}
                <p class="downloads">
                    <a href=link("csv")>"CSV"</a>
                    <a href=link("json")>"JSON"</a>
                    <a href=query::href("/compare", &query::compare_string(asked))>"Permalink"</a>
                </p>
            </div>
            {rows(view, asked)}
            {measures}
            {compare_cases::section(view)}
            {under(view)}
        </div>
    }
    .into_any()
}

fn filter(view: &CompareView, asked: &CompareQuery) -> AnyView {
    let option = |key: &str, words: String| {
        view! { <option value=key.to_owned() selected=key == view.slice>{words}</option> }
            .into_any()
    };
    let mut options = vec![option("", "all cases".to_owned())];
    options.extend(
        view.slices
            .iter()
            .map(|s| option(&s.key, format!("{} ({})", s.label, s.cases))),
    );
    let rows: Vec<&str> = asked.rows.iter().map(|r| r.as_str()).collect();
    view! {
        <form method="get" action="/compare" class="filters" aria-label="Cases">
            <input type="hidden" name="rows" value=rows.join(",")/>
            <label class="inline"><span>"cases"</span><select name="slice" id="f-slice">{options}</select></label>
            <button class="button small">"Apply"</button>
        </form>
    }
    .into_any()
}

/// A row's letter: short names for the tables below.
pub fn letter(i: usize) -> char {
    char::from(b'A' + u8::try_from(i).unwrap_or(25).min(25))
}

fn rows(view: &CompareView, asked: &CompareQuery) -> AnyView {
    let heads: Vec<AnyView> = view
        .measures
        .iter()
        .map(|m| {
            view! { <th scope="col" class="fig">{m.title()}" "<span class="unit">"%"</span></th> }
                .into_any()
        })
        .collect();
    let lines: Vec<AnyView> = view
        .rows
        .iter()
        .enumerate()
        .map(|(i, r)| {
            let cells: Vec<AnyView> = r
                .estimates
                .iter()
                .map(|e| view! { <td class="fig">{interval::rate(e.as_ref(), view.n_cases)}</td> }.into_any())
                .collect();
            let rest: Vec<_> = asked
                .rows
                .iter()
                .filter(|id| **id != r.submission)
                .cloned()
                .collect();
            let without = (rest.len() > 1).then(|| {
                let href = query::href(
                    "/compare",
                    &query::compare_string(&CompareQuery { rows: rest, slice: asked.slice.clone() }),
                );
                view! { <a class="link" href=href aria-label=format!("Leave out {}", r.configuration)>"leave out"</a> }
            });
            view! {
                <tr>
                    <td class="rank"><b>{letter(i).to_string()}</b></td>
                    <th scope="row"><a href=format!("/submissions/{}", r.submission)>{r.configuration.clone()}</a>" "<span class="remark">{format!("subset {}", r.subset)}</span></th>
                    {cells}
                    <td>{without}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    let back = format!("/board/{}", view.track);
    view! {
        <section id="rows" aria-label="Rows">
            <div class="scroll" tabindex="0" role="region" aria-label="Rows">
                <table class="data compare-rows">
                    <caption class="sr">"The rows"</caption>
                    <thead><tr><th scope="col"><span class="sr">"letter"</span></th><th scope="col">"configuration"</th>{heads}<th scope="col"><span class="sr">"leave out"</span></th></tr></thead>
                    <tbody>{lines}</tbody>
                </table>
            </div>
            <p class="remark"><a href=back>"Choose other rows on the board"</a></p>
        </section>
    }
    .into_any()
}

fn pairs(view: &CompareView, measure: MeasureKind) -> AnyView {
    let of: Vec<&ComparedPair> = view.pairs.iter().filter(|p| p.measure == measure).collect();
    if of.is_empty() {
        return ().into_any();
    }
    let reach = of
        .iter()
        .filter_map(|p| p.difference)
        .flat_map(|d| {
            let (low, high) = d.ci95.unwrap_or((d.mean, d.mean));
            [low.abs(), high.abs(), d.mean.abs()]
        })
        .fold(0.05, f64::max);
    let has_flips = of.iter().any(|p| p.flips.is_some());
    let lines: Vec<AnyView> = of.iter().map(|p| pair(view, p, reach, has_flips)).collect();
    let flips = has_flips.then(|| {
        view! {
            <th scope="col" class="fig">"only first passes"</th>
            <th scope="col" class="fig">"only second"</th>
            <th scope="col" class="fig">"both"</th>
            <th scope="col" class="fig">"neither"</th>
            <th scope="col" class="fig">"McNemar p"</th>
        }
    });
    let id = format!("pairs-{measure}");
    let head = format!("pairs-{measure}-head");
    view! {
        <section id=id aria-labelledby=head>
            <h2 id=format!("pairs-{measure}-head")>{format!("Difference in {}", measure.title())}</h2>
            <div class="scroll" tabindex="0" role="region" aria-label="Paired differences">
                <table class="data pairs">
                    <caption class="sr">{format!("Paired differences in {}", measure.title())}</caption>
                    <thead><tr>
                        <th scope="col">"pair"</th>
                        <th scope="col" class="fig">"difference "<span class="unit">"points"</span></th>
                        <th scope="col" class="fig">"95 % interval"</th>
                        <th scope="col" class="fig">"p"</th>
                        <th scope="col" class="fig">"p, Holm"</th>
                        <th scope="col">"reading"</th>
                        <th scope="col" class="fig">"n"</th>
                        {flips}
                    </tr></thead>
                    <tbody>{lines}</tbody>
                </table>
            </div>
            {left_out(view, &of)}
            {powers(&of)}
        </section>
    }
    .into_any()
}

fn pair(view: &CompareView, p: &ComparedPair, reach: f64, has_flips: bool) -> AnyView {
    let name = format!("{} \u{2212} {}", letter(p.a), letter(p.b));
    let long = |i: usize| {
        view.rows
            .get(i)
            .map_or("", |r| r.configuration.as_str())
            .to_owned()
    };
    let Some(d) = p.difference else {
        return view! { <tr><th scope="row">{name}</th><td colspan="11">"no case in common"</td></tr> }
            .into_any();
    };
    let ends = d.ci95.map_or_else(
        || "fewer than two cases".to_owned(),
        |(low, high)| format!("{} to {}", format::points(low), format::points(high)),
    );
    let p_text = |p: Option<f64>| p.map_or_else(|| "\u{2013}".to_owned(), format::p_value);
    let ahead = if d.mean > 0.0 {
        letter(p.a)
    } else {
        letter(p.b)
    };
    let reading = match (d.p, p.p_holm) {
        (Some(_), Some(h)) if h < LEVEL => format!("{ahead} ahead"),
        (Some(u), _) if u < LEVEL => format!("{ahead} ahead, unadjusted only"),
        (Some(_), _) => "no significant difference".to_owned(),
        (None, _) => "no test".to_owned(),
    };
    let flips = has_flips.then(|| match p.flips {
        Some(f) => view! {
            <td class="fig num">{f.gained.to_string()}</td>
            <td class="fig num">{f.lost.to_string()}</td>
            <td class="fig num">{f.both_pass.to_string()}</td>
            <td class="fig num">{f.both_fail.to_string()}</td>
            <td class="fig num">{format::p_value(f.p_exact)}</td>
        }
        .into_any(),
        None => {
            view! { <td colspan="5" class="unknown">"several attempts per case"</td> }.into_any()
        }
    });
    view! {
        <tr>
            <th scope="row" title=format!("{} minus {}", long(p.a), long(p.b))>{name}</th>
            <td class="fig">{interval::difference(Some(&d), reach)}</td>
            <td class="fig num">{ends}</td>
            <td class="fig num">{p_text(d.p)}</td>
            <td class="fig num">{p_text(p.p_holm)}</td>
            <td>{reading}</td>
            <td class="fig num">{d.n.to_string()}</td>
            {flips}
        </tr>
    }
    .into_any()
}

/// Cases that only one side of a pair has: named, never dropped in silence.
fn left_out(view: &CompareView, of: &[&ComparedPair]) -> AnyView {
    let items: Vec<AnyView> = of
        .iter()
        .flat_map(|p| {
            [(p.a, p.b, &p.only_a), (p.b, p.a, &p.only_b)]
                .into_iter()
                .filter(|(_, _, cases)| !cases.is_empty())
                .map(|(has, lacks, cases)| {
                    let ids: Vec<String> = cases.iter().map(ToString::to_string).collect();
                    let text = format!(
                        "{} has a result and {} has none on {}: {}.",
                        letter(has),
                        letter(lacks),
                        format::counted(ids.len() as u64, "case", "cases"),
                        ids.join(", ")
                    );
                    view! { <li>{text}</li> }.into_any()
                })
        })
        .collect();
    if items.is_empty() {
        let text = if view.rows.len() > 2 {
            "Every pair is compared on the same cases."
        } else {
            "Both rows have a result on every case compared."
        };
        return view! { <p class="remark">{text}</p> }.into_any();
    }
    view! { <div class="remark"><p>"Not in these differences:"</p><ul>{items}</ul></div> }
        .into_any()
}

fn powers(of: &[&ComparedPair]) -> AnyView {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for p in of {
        let Some(note) = &p.power else { continue };
        let text = board_statistics::power(note);
        let pair = format!("{} \u{2212} {}", letter(p.a), letter(p.b));
        match said.iter_mut().find(|(t, _)| *t == text) {
            Some((_, list)) => list.push(pair),
            None => said.push((text, vec![pair])),
        }
    }
    let one = said.len() == 1;
    let items: Vec<AnyView> = said
        .into_iter()
        .map(|(text, list)| {
            let which = (!one).then(|| format!("{}: ", list.join(", ")));
            view! { <p class="remark power">{which}{text}</p> }.into_any()
        })
        .collect();
    view! { {items} }.into_any()
}

fn under(view: &CompareView) -> AnyView {
    let computed = view
        .computed
        .map(|at| view! { "Computed "{when::when(at)}" by scorer "<code>{view.scorer_version.clone()}</code>". " });
    view! {
        <p class="remark">
            {computed}
            "Differences are paired by case, attempts averaged first: 10,000 bootstrap replicates over the common cases, the same ones for both sides. p is two-sided; Holm's adjustment is over the pairs of one table. "
            <a href="/docs/metrics">"How it is computed"</a>
        </p>
    }
    .into_any()
}
