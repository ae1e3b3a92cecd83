//! What is computed of one row alone: by tier, family and system, flips with
//! context, stability over attempts, and leaving one system out. Draws stored
//! values; computes none.

use faultboard_domain::Track;
use faultboard_domain::view::{FlipTable, GroupLine, RowStatistics, Stability};
use leptos::prelude::*;

use super::interval;
use crate::format;

/// The table of a row's groups; `systems` says whether those are listed too.
pub fn groups(s: &RowStatistics, track: Track, systems: bool) -> AnyView {
    let lines: Vec<&GroupLine> = s
        .groups
        .iter()
        .filter(|g| systems || !g.key.starts_with("system-"))
        .collect();
    if lines.is_empty() {
        return ().into_any();
    }
    let reach = lines
        .iter()
        .filter_map(|g| g.lift)
        .flat_map(|d| {
            let (low, high) = d.ci95.unwrap_or((d.mean, d.mean));
            [low.abs(), high.abs()]
        })
        .fold(0.05, f64::max);
    let heads: &[&str] = match track {
        Track::Diagnosis => &["block coverage", "file coverage"],
        Track::Repair | Track::Recovery => &["symptom only", "with context", "lift"],
    };
    let units: &[&str] = match track {
        Track::Diagnosis => &["%", "%"],
        Track::Repair | Track::Recovery => &["%", "%", "points"],
    };
    let heads: Vec<AnyView> = heads
        .iter()
        .zip(units)
        .map(|(head, unit)| {
            view! { <th scope="col" class="fig">{*head}" "<span class="unit">{*unit}</span></th> }
                .into_any()
        })
        .collect();
    let rows: Vec<AnyView> = lines
        .into_iter()
        .map(|g| {
            let cells: Vec<AnyView> = match track {
                Track::Diagnosis => vec![
                    interval::rate(g.block.as_ref(), g.cases),
                    interval::rate(g.file.as_ref(), g.cases),
                ],
                Track::Repair | Track::Recovery => vec![
                    interval::rate(g.symptom.as_ref(), g.cases),
                    interval::rate(g.context.as_ref(), g.cases),
                    interval::difference(g.lift.as_ref(), reach),
                ],
            };
            let cells: Vec<AnyView> = cells
                .into_iter()
                .map(|c| view! { <td class="fig">{c}</td> }.into_any())
                .collect();
            view! {
                <tr>
                    <th scope="row">{g.label.clone()}</th>
                    <td class="fig num">{g.cases.to_string()}</td>
                    {cells}
                </tr>
            }
            .into_any()
        })
        .collect();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="By tier, family and system">
            <table class="data breakdown">
                <caption class="sr">"By tier, family and system"</caption>
                <thead><tr><th scope="col">"cases of"</th><th scope="col" class="fig">"n"</th>{heads}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// What flipped with context, in a sentence.
pub fn flips(f: &FlipTable) -> AnyView {
    let text = format!(
        "With context {} went from fail to pass and {} from pass to fail; {} passed and {} failed both ways (McNemar's exact test, p {}).",
        format::counted(f.gained, "case", "cases"),
        format::count(f.lost),
        format::count(f.both_pass),
        format::count(f.both_fail),
        format::p_equals(f.p_exact),
    );
    view! { <p class="remark">{text}</p> }.into_any()
}

/// How much attempts at the same case differ, in a sentence.
pub fn stability_line(s: &Stability) -> String {
    if s.repeated == 0 {
        return "One attempt per case, so nothing can be said about stability.".to_owned();
    }
    format!(
        "Attempts at the same case differ by {} points (standard deviation within a case, n \u{2212} 1, mean over {}); {} over more than 20 points.",
        format::number(s.within_case_sd * 100.0, 1),
        format::counted(u64::from(s.cases), "case", "cases"),
        format::counted(s.unstable.len() as u64, "case ranges", "cases range"),
    )
}

/// How much rests on one system, in a sentence; none without systems.
pub fn leave_one_out_line(s: &RowStatistics) -> Option<String> {
    let delta = s.max_abs_delta?;
    (s.leave_one_out.len() > 1).then(|| {
        format!(
            "Leaving out any one of {} systems moves block coverage by at most {} points.",
            s.leave_one_out.len(),
            format::number(delta * 100.0, 1)
        )
    })
}

/// The unstable cases, widest first.
pub fn unstable(s: &Stability) -> AnyView {
    if s.unstable.is_empty() {
        return ().into_any();
    }
    let items: Vec<AnyView> = s
        .unstable
        .iter()
        .map(|u| {
            let range = format!("{} to {} %", format::percent(u.low), format::percent(u.high));
            view! { <li><a href=format!("/cases/{}", u.case)>{u.case.to_string()}</a>" "<span class="num">{range}</span></li> }.into_any()
        })
        .collect();
    view! { <ul class="plain inline-list" aria-label="Unstable cases">{items}</ul> }.into_any()
}

/// Block coverage with each system left out.
pub fn leave_one_out(s: &RowStatistics) -> AnyView {
    if s.leave_one_out.len() < 2 {
        return ().into_any();
    }
    let rows: Vec<AnyView> = s
        .leave_one_out
        .iter()
        .map(|l| {
            let n = l.block.map_or(0, |b| b.n);
            let points =
                |v: Option<f64>| v.map_or_else(|| format::UNKNOWN.to_owned(), format::points);
            view! {
                <tr>
                    <th scope="row">{format!("without {}", l.system)}</th>
                    <td class="fig num">{n.to_string()}</td>
                    <td class="fig">{interval::rate(l.block.as_ref(), n)}</td>
                    <td class="fig num">{points(l.delta)}</td>
                    <td class="fig num">{points(l.gap)}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Each system left out">
            <table class="data breakdown">
                <caption class="sr">"Each system left out"</caption>
                <thead><tr>
                    <th scope="col">"cases"</th><th scope="col" class="fig">"n"</th>
                    <th scope="col" class="fig">"block coverage "<span class="unit">"%"</span></th>
                    <th scope="col" class="fig">"change "<span class="unit">"points"</span></th>
                    <th scope="col" class="fig">"file minus block "<span class="unit">"points"</span></th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
