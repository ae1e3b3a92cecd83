//! The grid of a submission's attempts: one line per case, one cell per
//! condition and run. Cells carry their attempt's id, so that the live island
//! can fill them in.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::view::{AttemptCell, AttemptStatus};
use faultboard_domain::{CaseId, Condition, RunNumber};
use leptos::prelude::*;

use super::glyph::{self, Look};

/// The glyphs that a grid of repair attempts can show.
pub const REPAIR_LEGEND: [(&str, &str); 7] = [
    ("pass", "pass"),
    ("fail", "fail"),
    ("no-edit", "no edit"),
    ("apply-failed", "patch does not apply"),
    ("build-failed", "build failed"),
    ("timeout", "out of time"),
    ("infra-error", "infrastructure failure, not scored"),
];

/// The grid.
pub fn grid(cells: &[AttemptCell]) -> AnyView {
    let columns: BTreeSet<(Option<Condition>, RunNumber)> =
        cells.iter().map(|c| (c.condition, c.run)).collect();
    let mut lines: BTreeMap<&CaseId, BTreeMap<(Option<Condition>, RunNumber), &AttemptCell>> =
        BTreeMap::new();
    for c in cells {
        lines
            .entry(&c.case)
            .or_default()
            .insert((c.condition, c.run), c);
    }
    let conditions: Vec<Option<Condition>> = columns
        .iter()
        .map(|(c, _)| *c)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let several_runs = columns
        .iter()
        .map(|(_, r)| *r)
        .collect::<BTreeSet<_>>()
        .len()
        > 1;
    let group_heads: Vec<AnyView> = conditions
        .iter()
        .map(|c| {
            let span = columns.iter().filter(|(of, _)| of == c).count();
            let words = c.map_or("attempts", Condition::title);
            view! { <th scope="colgroup" colspan=span.to_string()>{words}</th> }.into_any()
        })
        .collect();
    let run_heads = several_runs.then(|| {
        let heads: Vec<AnyView> = columns
            .iter()
            .map(|(_, run)| view! { <th scope="col" class="run">{run.to_string()}</th> }.into_any())
            .collect();
        view! { <tr><th scope="col"><span class="sr">"case"</span></th>{heads}</tr> }
    });
    let body: Vec<AnyView> = lines
        .iter()
        .map(|(case, of)| {
            let cells: Vec<AnyView> = columns
                .iter()
                .map(|key| match of.get(key) {
                    Some(c) => view! { <td>{cell(c)}</td> }.into_any(),
                    None => view! { <td><span class="cell none"></span></td> }.into_any(),
                })
                .collect();
            let case = case.to_string();
            view! {
                <tr>
                    <th scope="row"><a href=format!("/cases/{case}")>{case.clone()}</a></th>
                    {cells}
                </tr>
            }
            .into_any()
        })
        .collect();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Attempts by case">
            <table class="attempts">
                <thead>
                    <tr><th scope="col">"case"</th>{group_heads}</tr>
                    {run_heads}
                </thead>
                <tbody>{body}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The words of a cell for its title and for readers of the screen.
pub fn words(cell: &AttemptCell, look: &Look) -> String {
    let condition = cell
        .condition
        .map(|c| format!(", {}", c.title()))
        .unwrap_or_default();
    let why = if cell.reason.is_empty() {
        String::new()
    } else {
        format!(": {}", cell.reason)
    };
    let hits = match cell.hits {
        0 => String::new(),
        1 => ", 1 leak hit".to_owned(),
        n => format!(", {n} leak hits"),
    };
    let unused = if cell.selected == Some(false) {
        ", not selected"
    } else {
        ""
    };
    let flags = if cell.flags.is_empty() {
        String::new()
    } else {
        format!(" ({})", cell.flags.join(", "))
    };
    format!(
        "{}{condition}, {}: {}{flags}{hits}{unused}{why}",
        cell.case, cell.run, look.word
    )
}

fn cell(c: &AttemptCell) -> AnyView {
    let look = glyph::look(c);
    let said = words(c, &look);
    let mark = (c.hits > 0).then(|| view! { <span class="hit-mark" aria-hidden="true">"!"</span> });
    view! {
        <a
            class="cell"
            id=format!("cell-{}", c.id)
            href=format!("/attempts/{}", c.id)
            data-look=look.glyph
            data-unused=(c.selected == Some(false)).then_some("")
            title=said
        >
            {glyph::mark(look.glyph)}
            <span class="val">{look.value}</span>
            {mark}
            <span class="sr">{said.clone()}</span>
        </a>
    }
    .into_any()
}

/// The attempts that didn't pass, each as a sentence with a link to its log.
pub fn failures(cells: &[AttemptCell]) -> Option<AnyView> {
    let told: Vec<AnyView> = cells
        .iter()
        .filter(|c| {
            matches!(c.status, AttemptStatus::Parked | AttemptStatus::Quarantined)
                || (c.status == AttemptStatus::Done
                    && c.outcome.is_some_and(|o| o.passed() != Some(true)))
        })
        .map(|c| {
            let look = glyph::look(c);
            let condition = c.condition.map(|k| format!(" {}", k.title())).unwrap_or_default();
            let reason = if c.reason.is_empty() { look.word.clone() } else { c.reason.clone() };
            view! {
                <li>
                    {glyph::glyph(look.glyph, look.word)}
                    <span><a href=format!("/attempts/{}", c.id)>{format!("{}{condition} {}", c.case, c.run)}</a>": "{reason}</span>
                </li>
            }
            .into_any()
        })
        .collect();
    (!told.is_empty()).then(|| view! { <ul class="failures">{told}</ul> }.into_any())
}
