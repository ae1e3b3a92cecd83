//! One case as its agents saw it, with its proof and everybody's outcomes. Never
//! the solution.

use std::collections::BTreeSet;

use faultboard_domain::view::{CaseOutcomes, CaseView, EvidenceView};
use faultboard_domain::{CaseId, Condition};
use leptos::prelude::*;

use super::submission::section;
use crate::components::frame::title;
use crate::components::{glyph, notice, pager, proof, stat};
use crate::{data, format};

/// `/cases/:id`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(id) = CaseId::parse(&super::param("id")) else {
        return data::not_found();
    };
    data::load(
        move |portal, actor| async move { portal.case(&actor, &id).await },
        |view| page(&view),
    )
}

/// The page.
pub fn page(view: &CaseView) -> AnyView {
    let c = &view.case;
    let beside = |id: &Option<CaseId>| {
        id.as_ref()
            .map(|id| (format!("/cases/{id}"), id.to_string()))
    };
    let evidence: Vec<AnyView> = view.evidence.iter().map(piece).collect();
    let evidence = if evidence.is_empty() {
        notice::empty("Debug context stands here.", "This case ships none.")
    } else {
        view! { <p class="remark">"The default context bundle, given to attempts with context beside the symptom."</p>{evidence} }.into_any()
    };
    let repair = (!view.repair.is_empty())
        .then(|| section("repair", "Repair outcomes", repair(&view.repair)));
    let diagnosis = (!view.diagnosis.is_empty())
        .then(|| section("coverage", "Diagnosis coverage", diagnosis(&view.diagnosis)));
    let attempted = !(view.repair.is_empty() && view.diagnosis.is_empty());
    let nobody = (!attempted).then(|| {
        section(
            "outcomes",
            "Outcomes",
            notice::empty(
                "Every published configuration's outcomes stand here.",
                "None has attempted this case yet.",
            ),
        )
    });
    view! {
        {title(format!("{}: {}", c.id, c.title))}
        <div class="page">
            <div class="head-row">
                <p class="kicker">"Case "<code>{c.id.to_string()}</code></p>
                {pager::pager("Cases", beside(&view.neighbours.0), beside(&view.neighbours.1))}
            </div>
            <h1>{c.title.clone()}</h1>
            {proof::line(view.proof.as_ref(), view.proof_outdated)}
            <div class="columns">
                <div class="main-column">
                    // These texts were rendered from the case's own files by the
                    // use case, which drops every tag and address it doesn't know.
                    {section("symptom", "Symptom", view! { <div class="prose case-text" inner_html=view.symptom_html.clone()></div> }.into_any())}
                    {section("evidence", "Debug context", evidence)}
                    {repair}
                    {diagnosis}
                    {nobody}
                    {section("reproduce", "How to reproduce it", view! { <div class="prose case-text" inner_html=view.reproduce_html.clone()></div> }.into_any())}
                    {section("verification", "What counts as PASS and FAIL", view! { <div class="prose case-text" inner_html=view.verification_html.clone()></div> }.into_any())}
                </div>
                <aside class="side-column">
                    {section("facts", "Facts", facts(view))}
                    {attempted.then(|| section("downloads", "Downloads", downloads(&c.id)))}
                    {view.proof.as_ref().map(|p| section("proof", "Proof", proof::facts(p)))}
                </aside>
            </div>
        </div>
    }
    .into_any()
}

fn piece(e: &EvidenceView) -> AnyView {
    view! {
        <details class="more evidence" open=true>
            <summary><code>{e.name.clone()}</code>" "<span class="remark num">{format!("about {} tokens", format::count(u64::from(e.tokens)))}</span></summary>
            <div class="prose case-text" inner_html=e.html.clone()></div>
        </details>
    }
    .into_any()
}

fn facts(view: &CaseView) -> AnyView {
    let c = &view.case;
    let tracks: Vec<&str> = c.tracks.iter().map(|t| t.as_str()).collect();
    let releases: Vec<String> = view.releases.iter().map(ToString::to_string).collect();
    let yes = |b: bool| if b { "yes" } else { "no" };
    let limits = format!(
        "{}, {} CPU, rebuild {}, oracle {}",
        format::bytes(c.limits.memory_mib << 20),
        format::number(f64::from(c.limits.cpus.0) / 1000.0, 1),
        format::duration(seconds(c.limits.rebuild_timeout_s)),
        format::duration(seconds(c.limits.reproduce_timeout_s))
    );
    stat::facts(vec![
        stat::fact("system", c.system.to_string()),
        stat::fact("language", c.language.clone()),
        stat::fact("category", c.category.clone()),
        stat::fact("family", c.family.as_str()),
        stat::fact("tier", format!("{} of 3, 1 is hardest", c.tier)),
        stat::fact("severity", c.severity.clone()),
        stat::fact("tracks", tracks.join(", ")),
        stat::fact("in lite", yes(c.lite)),
        stat::fact("releases", releases.join(", ")),
        stat::fact("report had logs", yes(c.evidence.contains_logs)),
        stat::fact("stack traces", yes(c.evidence.contains_stack_traces)),
        stat::fact("analysis", yes(c.evidence.contains_analysis)),
        stat::fact("text anchor", c.report.text_anchor.as_str()),
        stat::fact("crash distance", c.report.crash_distance.as_str()),
        stat::fact("source", c.source.summary()),
        stat::fact("licence", c.license.clone()),
        stat::fact("image", view! { <code>{c.image.clone()}</code> }),
        stat::fact("oracle repeats", c.oracle.repeats.to_string()),
        stat::fact("limits", limits),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "a limit in seconds")]
fn seconds(s: u64) -> f64 {
    s as f64
}

/// The traces of published attempts at the case.
fn downloads(id: &CaseId) -> AnyView {
    let form = |form: &str| format!("/traces.zip?case={id}&form={form}");
    view! {
        <ul class="plain">
            <li><a href=form("original")>"Traces of its published attempts, zip"</a></li>
            <li><a href=form("normalised")>"The same as normalised steps, zip"</a></li>
        </ul>
    }
    .into_any()
}

/// The most configurations that a case lists.
const MOST_ROWS: usize = 25;

/// One strip per configuration: its attempts under both conditions.
fn repair(of: &[CaseOutcomes]) -> AnyView {
    let present: BTreeSet<&str> = of
        .iter()
        .flat_map(|o| &o.attempts)
        .filter_map(|a| a.outcome)
        .map(|o| glyph::outcome(o).0)
        .collect();
    let legend: Vec<(&'static str, &'static str)> = faultboard_domain::Outcome::ALL
        .iter()
        .map(|o| glyph::outcome(*o))
        .filter(|(id, _)| present.contains(id))
        .collect();
    let rows: Vec<AnyView> = of
        .iter()
        .take(MOST_ROWS)
        .map(|o| {
            let strip = |condition: Condition| -> Vec<AnyView> {
                o.attempts
                    .iter()
                    .filter(|a| a.condition == Some(condition))
                    .map(|a| {
                        let (id, words) = a.outcome.map_or(("missing", "no result"), glyph::outcome);
                        view! { <a class="strip-cell" href=format!("/attempts/{}", a.id) title=words>{glyph::glyph(id, words)}</a> }.into_any()
                    })
                    .collect()
            };
            view! {
                <tr>
                    <th scope="row" class="name"><a href=format!("/submissions/{}", o.submission)>{o.configuration.clone()}</a></th>
                    <td>{strip(Condition::SymptomOnly)}</td>
                    <td>{strip(Condition::ContextAugmented)}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    view! {
        <table class="data strips">
            <thead><tr><th scope="col" class="name">"configuration"</th><th scope="col">"symptom only"</th><th scope="col">"with context"</th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
        {more(of.len(), "repair")}
        {glyph::legend(&legend)}
    }
    .into_any()
}

/// Where the configurations are that the page leaves out.
fn more(all: usize, track: &'static str) -> Option<AnyView> {
    (all > MOST_ROWS).then(|| {
        let text = format!(
            "{} more stand on the ",
            format::count((all - MOST_ROWS) as u64)
        );
        view! { <p class="remark">{text}<a href=format!("/board/{track}")>"board"</a>"."</p> }
            .into_any()
    })
}

fn diagnosis(of: &[CaseOutcomes]) -> AnyView {
    let rows: Vec<AnyView> = of
        .iter()
        .take(MOST_ROWS)
        .map(|o| {
            let cells: Vec<AnyView> = o
                .attempts
                .iter()
                .map(|a| {
                    let v = a.coverage.map_or_else(|| "\u{2013}".to_owned(), format::percent);
                    let id = a.coverage.map_or("missing", glyph::covered);
                    view! { <a class="strip-cell" href=format!("/attempts/{}", a.id)>{glyph::glyph(id, "block coverage ")}<span class="num">{v}</span></a> }.into_any()
                })
                .collect();
            view! {
                <tr>
                    <th scope="row" class="name"><a href=format!("/submissions/{}", o.submission)>{o.configuration.clone()}</a></th>
                    <td>{cells}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    view! {
        <table class="data strips">
            <thead><tr><th scope="col" class="name">"configuration"</th><th scope="col">"block coverage per attempt "<span class="unit">"%"</span></th></tr></thead>
            <tbody>{rows}</tbody>
        </table>
        {more(of.len(), "diagnosis")}
    }
    .into_any()
}
