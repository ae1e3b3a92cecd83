//! Parts of a submission's page that the review desk shows too: its card, its
//! scores, the report of its check, its revisions.

use faultboard_domain::metadata::Network;
use faultboard_domain::view::{AttemptCell, BoardRow, RevisionView, RowStatistics, SubmissionView};
use faultboard_domain::{AttemptId, Report, Severity, SubmissionId, Track};
use leptos::prelude::*;

use crate::components::{breakdown, field, interval, stat, state, when};
use crate::{format, query};

/// The most problems that a page lists; the download holds all of them.
const MOST_PROBLEMS: usize = 500;

/// What the bundle says of itself.
pub fn card(view: &SubmissionView) -> AnyView {
    let Some(m) = &view.metadata else {
        return view! { <p class="remark">"metadata.yaml is read during the check."</p> }
            .into_any();
    };
    let link = |words: String, url: Option<&String>| match url.and_then(|u| query::web_link(u)) {
        Some(href) => view! { <a href=href rel="nofollow noopener ugc">{words}</a> }.into_any(),
        None => words.into_any(),
    };
    let yes = |b: bool| if b { "yes" } else { "no" };
    let model = match &m.model.version {
        Some(v) => format!("{} ({v})", m.model.name),
        None => m.model.name.clone(),
    };
    let mut facts = vec![
        stat::fact(
            "agent",
            link(
                format!("{} {}", m.agent.name, m.agent.version),
                m.agent.url.as_ref(),
            ),
        ),
        stat::fact("open source", yes(m.agent.open_source)),
        stat::fact("model", model),
        stat::fact(
            "provider",
            m.model
                .provider
                .clone()
                .unwrap_or_else(|| "not told".to_owned()),
        ),
        stat::fact("open weights", yes(m.model.open_weights)),
    ];
    facts.extend(
        m.model
            .settings
            .iter()
            .map(|(k, v)| stat::fact(k.clone(), v.to_string())),
    );
    facts.push(stat::fact(
        "attempts per case",
        m.attempts_wanted().to_string(),
    ));
    if let Some(b) = &m.budget {
        let parts: Vec<String> = [
            b.max_steps.map(|n| format!("{} steps", format::count(n))),
            b.max_cost_usd.map(|c| format!("{} USD", format::usd(c))),
            b.max_minutes
                .map(|t| format!("{} min", format::number(t, 0))),
        ]
        .into_iter()
        .flatten()
        .collect();
        facts.push(stat::fact("budget per attempt", parts.join(", ")));
    }
    facts.push(stat::fact(
        "network",
        match m.network {
            Network::None => "none",
            Network::DocsOnly => "documentation only",
            Network::Open => "open",
        },
    ));
    let by = match &m.submitter.organisation {
        Some(o) => format!("{}, {o}", m.submitter.name),
        None => m.submitter.name.clone(),
    };
    facts.push(stat::fact("handed in by", by));
    if (view.is_owner || view.is_maintainer) && !m.submitter.contact.is_empty() {
        facts.push(stat::fact(
            "contact, not public",
            m.submitter.contact.clone(),
        ));
    }
    if let Some(url) = &m.report_url {
        facts.push(stat::fact("report", link(url.clone(), Some(url))));
    }
    stat::facts(facts)
}

/// The scores of the shown revision.
pub fn scores(r: &BoardRow) -> AnyView {
    let mut lines: Vec<(&'static str, AnyView)> = Vec::new();
    if let Some(c) = &r.repair {
        let n = [c.symptom, c.context]
            .iter()
            .flatten()
            .map(|e| e.n)
            .max()
            .unwrap_or(0);
        lines.push((
            "pass rate, symptom only, %",
            interval::rate(c.symptom.as_ref(), n),
        ));
        lines.push((
            "pass rate, with context, %",
            interval::rate(c.context.as_ref(), n),
        ));
        let reach = c.lift.map_or(0.05, |d| {
            let (low, high) = d.ci95.unwrap_or((d.mean, d.mean));
            low.abs().max(high.abs()).max(0.05)
        });
        lines.push(("lift, points", interval::difference(c.lift.as_ref(), reach)));
    }
    if let Some(d) = &r.diagnosis {
        let n = d.block_coverage.n;
        for (name, e) in [
            ("block coverage, %", &d.block_coverage),
            ("block precision, %", &d.block_precision),
            ("strict block coverage, %", &d.strict_block_coverage),
            ("file coverage, %", &d.file_coverage),
            ("function coverage, %", &d.function_coverage),
            ("line coverage, %", &d.line_coverage),
        ] {
            lines.push((name, interval::rate(Some(e), n)));
        }
        if let Some(m) = &d.mention_coverage {
            lines.push(("mention coverage, %", interval::rate(Some(m), n)));
        }
    }
    let rows: Vec<AnyView> = lines
        .into_iter()
        .map(|(name, v)| {
            view! { <tr><th scope="row">{name}</th><td class="fig">{v}</td></tr> }.into_any()
        })
        .collect();
    let opt =
        |v: Option<f64>, f: fn(f64) -> String| v.map_or_else(|| format::UNKNOWN.to_owned(), f);
    let rank = r
        .rank
        .as_ref()
        .map_or_else(|| "not ranked".to_owned(), |k| k.label.clone());
    let mut stats = vec![
        stat::stat("rank", rank, ""),
        stat::stat(
            "cost per attempt",
            opt(r.cost_per_attempt, format::usd),
            if r.cost_per_attempt.is_some() {
                "USD, mean"
            } else {
                ""
            },
        ),
        stat::stat("tokens per attempt", opt(r.tokens_per_attempt, tokens), ""),
        stat::stat("steps", opt(r.steps, |v| format::number(v, 1)), "median"),
    ];
    if let Some(c) = &r.repair {
        stats.push(stat::stat(
            "first edit",
            opt(c.first_edit, |v| format::number(v, 1)),
            "step, median",
        ));
    }
    if let Some(d) = &r.diagnosis {
        stats.push(stat::stat(
            "predicted lines",
            opt(d.predicted_lines, |v| format::number(v, 0)),
            "median",
        ));
        stats.push(stat::stat(
            "unstable cases",
            d.unstable_cases.to_string(),
            "",
        ));
    }
    let missing = (!r.unscored_cases.is_empty()).then(|| {
        let ids: Vec<String> = r.unscored_cases.iter().map(ToString::to_string).collect();
        view! { <p class="remark">{format!("Without a score: {}.", ids.join(", "))}</p> }
    });
    view! {
        <table class="data scores"><tbody>{rows}</tbody></table>
        {stat::stats(stats)}
        {missing}
    }
    .into_any()
}

/// What is computed of the row alone.
pub fn breakdowns(s: &RowStatistics, track: Track) -> AnyView {
    let flips = s.flips.as_ref().map(breakdown::flips);
    let exact = |name: &str, ends: Option<(f64, f64)>| {
        ends.map(|(low, high)| {
            format!(
                "{name}: exact (Clopper-Pearson) 95 % interval {} to {} %.",
                format::percent(low),
                format::percent(high)
            )
        })
    };
    let exact: Vec<AnyView> = [
        exact("Symptom only", s.exact_symptom),
        exact("With context", s.exact_context),
    ]
    .into_iter()
    .flatten()
    .map(|text| view! { <p class="remark">{text}</p> }.into_any())
    .collect();
    let stability = s.stability.as_ref().map(|found| {
        view! {
            <h3 id="stability">"Stability"</h3>
            <p>{breakdown::stability_line(found)}</p>
            {breakdown::unstable(found)}
        }
    });
    let left_out = (s.leave_one_out.len() > 1).then(|| {
        view! {
            <h3 id="leave-one-out">"Each system left out"</h3>
            <p>{breakdown::leave_one_out_line(s)}</p>
            {breakdown::leave_one_out(s)}
        }
    });
    view! {
        {breakdown::groups(s, track, true)}
        {flips}
        {exact}
        {stability}
        {left_out}
    }
    .into_any()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of counts"
)]
fn tokens(v: f64) -> String {
    format::tokens(v.round().max(0.0) as u64)
}

/// The report of the check: what was counted, and each problem with its fix.
pub fn report(r: &Report, id: &SubmissionId) -> AnyView {
    let (errors, warnings) = (r.errors(), r.warnings());
    let verdict = match (r.is_ok(), warnings) {
        (true, 0) => "Accepted: nothing was wrong.".to_owned(),
        (true, _) => format!(
            "Accepted, with {}.",
            format::counted(warnings as u64, "warning", "warnings")
        ),
        (false, 0) => format!(
            "Not accepted: {}.",
            format::counted(errors as u64 + r.left_out, "problem", "problems")
        ),
        (false, _) => format!(
            "Not accepted: {}, and {}.",
            format::counted(errors as u64 + r.left_out, "problem", "problems"),
            format::counted(warnings as u64, "warning", "warnings")
        ),
    };
    let counts: Vec<AnyView> = r
        .counts
        .iter()
        .map(|(name, n)| {
            let value = if name.starts_with("bytes") {
                format::bytes(*n)
            } else {
                format::count(*n)
            };
            stat::fact(name.clone(), value)
        })
        .collect();
    let rows: Vec<AnyView> = r
        .problems
        .iter()
        .take(MOST_PROBLEMS)
        .map(|p| {
            let label = match p.severity {
                Severity::Error => state::pill("problem", "bad"),
                Severity::Warning => state::pill("warning", "warn"),
            };
            let path = if p.path.is_empty() { "whole bundle".to_owned() } else { p.path.clone() };
            view! {
                <li class="problem">
                    <div class="problem-head">{label}<code class="path">{path}</code><span class="rule">{p.rule.clone()}</span></div>
                    <p>{p.message.clone()}</p>
                    <p class="fix">{p.fix.clone()}</p>
                </li>
            }
            .into_any()
        })
        .collect();
    let left = r.problems.len().saturating_sub(MOST_PROBLEMS) as u64 + r.left_out;
    let more = (left > 0).then(|| {
        view! { <p class="remark">{format!("{} more are ", format::count(left))}<a href=format!("/submissions/{id}/report.json")>"in the JSON report"</a>"."</p> }
    });
    let again = (!r.is_ok()).then(|| {
        view! {
            <p>"Mend these and "<a href="/submit">"submit again"</a>"; a rejected bundle does not count against your quota. "
            "To check before uploading: "<code>"faultboard submit check FOLDER"</code>"."</p>
        }
    });
    view! {
        <p class="verdict" data-tone=if r.is_ok() { "good" } else { "bad" }>{verdict}</p>
        {stat::facts(counts)}
        <ul class="problems">{rows}</ul>
        {more}
        {again}
    }
    .into_any()
}

/// The revisions, newest first, each with what it changed; with `decide`, a
/// complete one beside the live one has the forms that apply or discard it.
pub fn revisions(of: &[RevisionView], attempts: &[AttemptCell], decide: bool) -> AnyView {
    let beside_live = decide && of.iter().any(|r| r.state == "live");
    let items: Vec<AnyView> = of
        .iter()
        .map(|r| revision(r, attempts, beside_live))
        .collect();
    view! { <ol class="revisions">{items}</ol> }.into_any()
}

/// An attempt's case, condition and run, as far as they are known.
fn attempt_words(id: &AttemptId, attempts: &[AttemptCell]) -> String {
    attempts.iter().find(|a| a.id == *id).map_or_else(
        || id.to_string(),
        |a| match a.condition {
            Some(c) => format!("{} {} {}", a.case, c.title(), a.run),
            None => format!("{} {}", a.case, a.run),
        },
    )
}

fn revision(r: &RevisionView, cells: &[AttemptCell], decide: bool) -> AnyView {
    let tone = match r.state.as_str() {
        "live" => "good",
        "ready" => "ready",
        "building" => "work",
        _ => "off",
    };
    let changed: usize = r.changes.iter().map(|(_, _, a)| a.len()).sum();
    let matrix = (!r.changes.is_empty()).then(|| {
        let rows: Vec<AnyView> = r
            .changes
            .iter()
            .map(|(old, new, attempts)| {
                let links: Vec<AnyView> = attempts
                    .iter()
                    .map(|a| view! { <a href=format!("/attempts/{a}")>{attempt_words(a, cells)}</a>" " }.into_any())
                    .collect();
                view! { <tr><td>{old.clone()}</td><td>{new.clone()}</td><td class="fig num">{attempts.len().to_string()}</td><td class="links">{links}</td></tr> }.into_any()
            })
            .collect();
        view! {
            <table class="data matrix">
                <thead><tr><th scope="col">"was"</th><th scope="col">"is"</th><th scope="col" class="fig">"attempts"</th><th scope="col">"which"</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
        }
    });
    let difference = match (r.state.as_str(), changed) {
        ("building", _) => "(being made)".to_owned(),
        (_, 0) if r.unchanged == 0 => String::new(),
        (_, 0) => format!("(no verdict changed, {} stayed)", r.unchanged),
        (_, n) => format!(
            "({} changed, {} stayed)",
            format::counted(n as u64, "verdict", "verdicts"),
            r.unchanged
        ),
    };
    let forms = (decide && r.state == "ready").then(|| {
        view! {
            <div class="actions">
                {field::post_button(format!("/admin/revisions/{}/apply", r.id), "Apply", "primary")}
                {field::post_button(format!("/admin/revisions/{}/discard", r.id), "Discard", "plain")}
            </div>
        }
    });
    view! {
        <li class="revision">
            <div class="revision-head">
                <b>{format!("Revision {}", r.number)}</b>
                {state::pill(r.state.clone(), tone)}
                {when::when(r.created)}
                <span class="remark">"scorer "<code>{r.scorer_version.clone()}</code></span>
                {decide.then(|| r.reevaluation.clone().map(|e| view! { <a href=format!("/admin/reevaluations/{e}")>"its re-evaluation"</a> }))}
            </div>
            <p>{r.reason.clone()}" "<span class="remark">{difference}</span></p>
            {matrix}
            {forms}
        </li>
    }
    .into_any()
}
