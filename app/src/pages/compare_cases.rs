//! The cases of a comparison: what each row reached on each, its attempts, and
//! the two conditions of one case side by side.

use faultboard_domain::view::{
    CompareView, ComparedAttempt, ComparedCase, ComparedCell, MeasureKind,
};
use leptos::prelude::*;

use super::compare::letter;
use crate::components::glyph;
use crate::{format, query};

/// The table.
pub fn section(view: &CompareView) -> AnyView {
    if view.cases.is_empty() {
        return ().into_any();
    }
    let repair = view.measures.contains(&MeasureKind::Symptom);
    let heads: Vec<AnyView> = view
        .rows
        .iter()
        .enumerate()
        .map(|(i, r)| {
            view! { <th scope="col" class="fig" title=r.configuration.clone()>{letter(i).to_string()}</th> }
                .into_any()
        })
        .collect();
    let lines: Vec<AnyView> = view.cases.iter().map(|c| line(c, view, repair)).collect();
    let legend = if repair {
        glyph::legend(&[
            ("pass", "passes both ways"),
            ("gain", "gained with context"),
            ("loss", "lost with context"),
            ("fail", "fails both ways"),
            ("missing", "no pair"),
        ])
    } else {
        glyph::legend(&[
            ("pass", "every labelled block"),
            ("partial", "some"),
            ("fail", "none"),
            ("missing", "no result"),
        ])
    };
    let what = if repair {
        "Pass rate, symptom only \u{2192} with context, %. A mark in the margin: the rows differ on this case."
    } else {
        "Block coverage, mean over attempts, %. A mark in the margin: the rows differ on this case."
    };
    view! {
        <section id="cases" aria-labelledby="cases-head">
            <h2 id="cases-head">"Case by case"</h2>
            <p class="remark">{what}</p>
            <div class="scroll" tabindex="0" role="region" aria-label="Case by case">
                <table class="data compare-cases">
                    <caption class="sr">"Results on every case"</caption>
                    <thead><tr><th scope="col">"case"</th>{heads}<th scope="col">"attempts side by side"</th></tr></thead>
                    <tbody>{lines}</tbody>
                </table>
            </div>
            {legend}
        </section>
    }
    .into_any()
}

/// Whether two rows have different values on a case.
fn differs(c: &ComparedCase) -> bool {
    let mut values = c.cells.iter().map(|cell| &cell.values);
    let first = values.next();
    values.any(|v| Some(v) != first)
}

fn line(c: &ComparedCase, view: &CompareView, repair: bool) -> AnyView {
    let cells: Vec<AnyView> = c
        .cells
        .iter()
        .enumerate()
        .map(|(i, cell)| {
            let name = view.rows.get(i).map_or("", |r| r.configuration.as_str());
            view! { <td class="fig">{one(cell, name, repair)}</td> }.into_any()
        })
        .collect();
    let class = if differs(c) { "differs" } else { "" };
    view! {
        <tr class=class>
            <th scope="row"><a href=format!("/cases/{}", c.case) title=c.title.clone()>{c.case.to_string()}</a></th>
            {cells}
            <td class="beside-links">{beside(c, view)}</td>
        </tr>
    }
    .into_any()
}

fn one(cell: &ComparedCell, name: &str, repair: bool) -> AnyView {
    let value = |i: usize| cell.values.get(i).copied().flatten();
    let text =
        |v: Option<f64>| v.map_or_else(|| "\u{2013}".to_owned(), |v| format::number(v * 100.0, 0));
    let (id, words, figures) = if repair {
        let (id, words) = glyph::pair(value(0), value(1));
        (
            id,
            words,
            format!("{} \u{2192} {}", text(value(0)), text(value(1))),
        )
    } else {
        match value(0) {
            Some(v) => (glyph::covered(v), "block coverage", format::percent(v)),
            None => ("missing", "no result", "\u{2013}".to_owned()),
        }
    };
    let shown = view! { {glyph::glyph(id, format!("{name}: {words}"))}" "<span class="num">{figures}</span> };
    match cell.attempts.first() {
        Some(a) => {
            view! { <a class="compared" href=format!("/attempts/{}", a.id)>{shown}</a> }.into_any()
        }
        None => view! { <span class="compared">{shown}</span> }.into_any(),
    }
}

/// Links that open attempts of the first rows beside each other, under the same
/// condition.
fn beside(c: &ComparedCase, view: &CompareView) -> AnyView {
    let first = |cell: &ComparedCell, m: MeasureKind| -> Option<ComparedAttempt> {
        cell.attempts.iter().find(|a| a.measure == m).cloned()
    };
    let links: Vec<AnyView> = view
        .measures
        .iter()
        .filter(|m| **m != MeasureKind::File)
        .filter_map(|m| {
            let found: Vec<(usize, ComparedAttempt)> = c
                .cells
                .iter()
                .enumerate()
                .filter_map(|(i, cell)| Some((i, first(cell, *m)?)))
                .take(2)
                .collect();
            let [(i, a), (j, b)] = found.as_slice() else {
                return None;
            };
            let words = match m {
                MeasureKind::Symptom => "symptom only",
                MeasureKind::Context => "with context",
                MeasureKind::Block | MeasureKind::File => "diagnoses",
            };
            let href = query::href(
                "/compare/attempts",
                &query::string([("a", a.id.as_str()), ("b", b.id.as_str())]),
            );
            let label = format!("{} and {} on {}, {words}", letter(*i), letter(*j), c.case);
            Some(view! { <a href=href aria-label=label>{format!("{}|{} {words}", letter(*i), letter(*j))}</a>" " }.into_any())
        })
        .collect();
    view! { {links} }.into_any()
}
