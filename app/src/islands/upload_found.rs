//! What the first look into a chosen bundle found, as the upload shows it. It
//! looks into nothing itself and decides nothing: the server's report does.

use faultboard_domain::{Report, Severity};
use leptos::prelude::*;

use crate::format;

/// Counts, the first problems with their fixes, and a verdict in words.
pub(super) fn found(looking: bool, report: Option<&Report>) -> AnyView {
    if looking {
        return view! { <p>"Looking into the file\u{2026}"</p> }.into_any();
    }
    let Some(report) = report else {
        return view! { <p class="remark">"A first look at the bundle appears here as soon as it is chosen; the whole check runs when it has arrived, and its report lists every problem with its fix."</p> }.into_any();
    };
    let counts: Vec<AnyView> = report
        .counts
        .iter()
        .map(|(name, n)| {
            let value = if name.starts_with("bytes") {
                format::bytes(*n)
            } else {
                format::count(*n)
            };
            view! { <div><dt>{name.clone()}</dt><dd>{value}</dd></div> }.into_any()
        })
        .collect();
    let problems: Vec<AnyView> = report
        .problems
        .iter()
        .take(50)
        .map(|p| {
            let tone = if p.severity == Severity::Error { "bad" } else { "warn" };
            let path = if p.path.is_empty() { "the bundle".to_owned() } else { p.path.clone() };
            view! { <li data-tone=tone><code>{path}</code>" "{p.message.clone()}" "<span class="fix">{p.fix.clone()}</span></li> }.into_any()
        })
        .collect();
    let more = report.problems.len().saturating_sub(50);
    let verdict = if report.errors() > 0 {
        format!(
            "{} would reject this bundle. You may send it all the same: the server's report is the whole one.",
            format::counted(report.errors() as u64, "problem", "problems")
        )
    } else if report.counts.is_empty() {
        "This kind of archive can't be opened in the browser; the server checks it when it has arrived.".to_owned()
    } else {
        "Nothing wrong at first sight.".to_owned()
    };
    view! {
        <dl class="facts">{counts}</dl>
        <ul class="problems-short">{problems}</ul>
        {(more > 0).then(|| view! { <p class="remark">{format!("and {more} more")}</p> })}
        <p>{verdict}</p>
    }
    .into_any()
}
