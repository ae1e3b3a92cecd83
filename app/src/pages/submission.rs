//! A submission: where it stands, its attempts as they are scored, its scores,
//! what was wrong with it, its history and its downloads.

use std::collections::BTreeSet;

use faultboard_domain::view::SubmissionView;
use faultboard_domain::{SubmissionId, SubmissionState, Track};
use leptos::prelude::*;

use super::submission_parts as parts;
use crate::components::frame::title;
use crate::components::{attempts, field, findings, glyph, notice, stat, state, timeline, when};
use crate::islands::LiveSubmission;
use crate::{data, format};

/// `/submissions/:id`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(id) = SubmissionId::parse(&super::param("id")) else {
        return data::not_found();
    };
    data::load(
        move |portal, actor| async move { portal.submission(&actor, &id).await },
        |view| page(&view),
    )
}

/// The configuration's name, or the file's until the metadata is read.
pub fn name(view: &SubmissionView) -> String {
    view.metadata
        .as_ref()
        .map_or_else(|| view.file_name.clone(), |m| m.configuration())
}

/// The page.
pub fn page(view: &SubmissionView) -> AnyView {
    let review = view.is_maintainer.then(|| {
        view! { <a class="button" href=format!("/admin/review/{}", view.id)>"Review desk"</a> }
    });
    let withdraw = (view.is_owner && view.state.is_withdrawable()).then(|| {
        view! {
            <details class="more danger">
                <summary>"Withdraw this submission"</summary>
                <p class="remark">"It will not be scored further and never be published. This can't be undone; you may submit again."</p>
                {field::reasoned(format!("/submissions/{}/withdraw", view.id), "reason", "Reason, kept in the timeline", "Withdraw", "bad", true)}
            </details>
        }
    });
    let comment = (view.is_owner || view.is_maintainer).then(|| {
        view! {
            <details class="more">
                <summary>"Comment in the timeline"</summary>
                <p class="remark">"Read by its owners and the maintainers, never by others."</p>
                {field::reasoned(format!("/submissions/{}/comment", view.id), "note", "Comment", "Add the comment", "plain", true)}
            </details>
        }
    });
    view! {
        {title(name(view))}
        {live(view)}
        <div class="page" id="submission">
            {head(view, review.into_any())}
            {progress(view)}
            {body(view)}
            {comment}
            {withdraw}
        </div>
    }
    .into_any()
}

/// The island that follows a submission on which work still goes on, or may
/// begin again.
pub fn live(view: &SubmissionView) -> Option<AnyView> {
    let ended = matches!(
        view.state,
        SubmissionState::Invalid
            | SubmissionState::Rejected
            | SubmissionState::Withdrawn
            | SubmissionState::Superseded
    );
    let building = view.revisions.iter().any(|r| r.state == "building");
    (!ended && (!view.state.is_settled() || building || view.state != SubmissionState::Published)).then(|| {
        view! { <LiveSubmission id=view.id.to_string() state=view.state.as_str().to_owned() events=view.live.events/> }.into_any()
    })
}

/// Name, state and what it means.
pub fn head(view: &SubmissionView, actions: AnyView) -> AnyView {
    let known = view.metadata.as_ref().map(|m| {
        format!(
            "{} · release {} · subset {}",
            m.track.title(),
            m.release,
            m.subset
        )
    });
    view! {
        <div class="head-row">
            <div>
                <p class="kicker">"Submission "<code>{view.id.to_string()}</code></p>
                <h1>{name(view)}</h1>
                <p class="head-facts">{known}</p>
            </div>
            <div class="head-actions">{actions}</div>
        </div>
        <p class="state-line">{state::submission(view.state)}<span>{view.live.meaning.clone()}</span></p>
    }
    .into_any()
}

/// Counts and estimate while attempts are scored.
pub fn progress(view: &SubmissionView) -> Option<AnyView> {
    let l = &view.live;
    let working = matches!(
        view.state,
        SubmissionState::Queued | SubmissionState::Scoring
    ) || view.revisions.iter().any(|r| r.state == "building");
    (working && l.total > 0).then(|| {
        view! {
            <div class="progress">
                <progress id="live-bar" aria-label="Attempts with a result" max=l.total.max(1).to_string() value=l.done.to_string()></progress>
                <p id="live-count" class="num" role="status">{format::progress(l.done, l.total, l.eta_s)}</p>
            </div>
        }
        .into_any()
    })
}

/// Everything below the head: two columns on a wide screen.
pub fn body(view: &SubmissionView) -> AnyView {
    let repair = view
        .metadata
        .as_ref()
        .is_none_or(|m| m.track == Track::Repair);
    let scores = view
        .row
        .as_ref()
        .map(|r| section("scores", "Scores", parts::scores(r)));
    let track = view.metadata.as_ref().map_or(Track::Repair, |m| m.track);
    let breakdowns = view
        .row
        .as_ref()
        .and_then(|r| r.statistics.as_deref())
        .map(|s| section("breakdowns", "Breakdowns", parts::breakdowns(s, track)));
    let report = view
        .report
        .as_ref()
        .map(|r| section("report", "Check of the bundle", parts::report(r, &view.id)));
    // A rejected bundle has a report and will never have attempts.
    let no_attempts = view.state == SubmissionState::Invalid && view.live.attempts.is_empty();
    let grid = if view.live.attempts.is_empty() {
        notice::empty(
            "The attempts appear here, one cell each.",
            "They are known as soon as the bundle has passed its check.",
        )
    } else {
        let legend = repair.then(|| glyph::legend(&attempts::REPAIR_LEGEND));
        let failed = attempts::failures(&view.live.attempts).map(|list| {
            view! { <h3>"What did not pass, and why"</h3>{list} }
        });
        view! { {attempts::grid(&view.live.attempts)}{legend}{failed} }.into_any()
    };
    let attempts = (!no_attempts).then(|| section("attempts", "Attempts", grid));
    let hits = (!view.findings.is_empty()).then(|| {
        let intro = if view.is_maintainer {
            "Decide them on the review desk."
        } else {
            "A reviewer confirms or clears each of them."
        };
        section(
            "findings",
            "Leak hits",
            view! { <p class="remark">{intro}</p>{findings::findings(&view.findings, false)} }
                .into_any(),
        )
    });
    let revisions = (!view.revisions.is_empty()).then(|| {
        section(
            "revisions",
            "Score revisions",
            parts::revisions(&view.revisions, &view.live.attempts, false),
        )
    });
    view! {
        <div class="columns">
            <div class="main-column">
                {scores}
                {breakdowns}
                {attempts}
                {report}
                {hits}
                {revisions}
            </div>
            <aside class="side-column" aria-label="About this submission">
                {section("downloads", "Downloads", downloads(view))}
                {section("card", "Card", parts::card(view))}
                {section("timeline", "Timeline", timeline::timeline(&view.events, when::when))}
            </aside>
        </div>
    }
    .into_any()
}

/// A part of the page with its head.
pub fn section(id: &'static str, head: &'static str, content: AnyView) -> AnyView {
    view! {
        <section id=id aria-labelledby=format!("{id}-head")>
            <h2 id=format!("{id}-head")>{head}</h2>
            {content}
        </section>
    }
    .into_any()
}

/// A form for a part of the traces; the answer is the archive.
fn some_traces(view: &SubmissionView, base: &str) -> AnyView {
    let attempts = &view.live.attempts;
    let choice = |name: &'static str, label: &'static str, words: Vec<String>| {
        // What has one value only needs no filter.
        (words.len() > 1).then(|| {
            let options: Vec<AnyView> = words
                .into_iter()
                .map(|w| view! { <option value=w.clone()>{w.clone()}</option> }.into_any())
                .collect();
            view! {
                <div class="field">
                    <label for=format!("traces-{name}")>{label}</label>
                    <select id=format!("traces-{name}") name=name><option value="">"all"</option>{options}</select>
                </div>
            }
        })
    };
    let cases: BTreeSet<String> = attempts.iter().map(|a| a.case.to_string()).collect();
    let conditions: BTreeSet<String> = attempts
        .iter()
        .filter_map(|a| a.condition)
        .map(|c| c.to_string())
        .collect();
    let outcomes: BTreeSet<String> = attempts
        .iter()
        .filter_map(|a| a.outcome)
        .map(|o| o.to_string())
        .collect();
    view! {
        <details class="more">
            <summary>"Some of the traces"</summary>
            <form method="get" action=format!("{base}/traces.zip")>
                {choice("case", "Case", cases.into_iter().collect())}
                {choice("condition", "Condition", conditions.into_iter().collect())}
                {choice("outcome", "Outcome", outcomes.into_iter().collect())}
                <div class="field">
                    <label for="traces-form">"Form"</label>
                    <select id="traces-form" name="form">
                        <option value="original">"as handed in"</option>
                        <option value="normalised">"normalised steps"</option>
                    </select>
                </div>
                <button class="button">"Download, zip"</button>
            </form>
        </details>
    }
    .into_any()
}

fn downloads(view: &SubmissionView) -> AnyView {
    let base = format!("/submissions/{}", view.id);
    let traces = (view.trace_bytes > 0).then(|| {
        view! {
            <li><a href=format!("{base}/traces.zip")>"All traces, zip"</a><span class="remark num">{format::bytes(view.trace_bytes)}</span></li>
            <li><a href=format!("{base}/traces.tar.zst")>"All traces, tar.zst"</a></li>
            <li>{some_traces(view, &base)}</li>
        }
    });
    let report = view.report.is_some().then(
        || view! { <li><a href=format!("{base}/report.json")>"Report of the check, JSON"</a></li> },
    );
    let selection = (!view.revisions.is_empty()).then(|| view! { <li><a href=format!("{base}/selection.json")>"Selection manifest, JSON"</a></li> });
    let nothing = (traces.is_none() && report.is_none() && selection.is_none()).then(
        || view! { <li class="remark">"Traces and reports appear here after the check."</li> },
    );
    let facts = stat::facts(vec![
        stat::fact("file", view.file_name.clone()),
        stat::fact("size", format::bytes(view.size)),
        stat::fact(
            "SHA-256",
            view.sha256
                .as_deref()
                .map_or_else(|| "not computed yet".into_any(), stat::digest),
        ),
    ]);
    view! { <ul class="plain">{traces}{report}{selection}{nothing}</ul>{facts} }.into_any()
}
