//! One attempt: its trace step by step, its result, its patch or diagnosis.

use faultboard_domain::outcome::RepairResult;
use faultboard_domain::view::{AttemptView, FigureView, ReplayStatus, TraceQuery};
use faultboard_domain::{AttemptId, Diagnosis};
use leptos::prelude::*;

use super::submission::section;
use super::trace;
use crate::components::frame::title;
use crate::components::{diff, figure, findings, glyph, notice, pager, replay, stat, when};
use crate::islands::{LiveRegion, TraceKeys};
use crate::{data, format, query};

/// `/attempts/:id`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(id) = AttemptId::parse(&super::param("id")) else {
        return data::not_found();
    };
    let asked = query::trace(&super::query_string());
    let shown = asked.clone();
    data::load(
        move |portal, actor| async move {
            let view = portal.attempt(&actor, &id, &asked).await?;
            let map = portal.label_map(&actor, &id).await?;
            let replay = portal.replay_of(&actor, &id).await?;
            Ok((view, map, replay))
        },
        move |(view, map, replay)| page(&view, map.as_ref(), replay.as_ref(), &shown),
    )
}

/// The page.
pub fn page(
    view: &AttemptView,
    map: Option<&FigureView>,
    replay: Option<&ReplayStatus>,
    asked: &TraceQuery,
) -> AnyView {
    let what = match view.condition {
        Some(c) => format!("{} · {} · {}", view.case, c.title(), view.run),
        None => format!("{} · {}", view.case, view.run),
    };
    let beside = |a: &Option<AttemptId>, words: &str| {
        a.as_ref()
            .map(|a| (format!("/attempts/{a}"), words.to_owned()))
    };
    let patch = (view.result.is_some() || !view.diff.is_empty())
        .then(|| section("patch", "Patch", patch(view)));
    let diagnosis = view
        .diagnosis
        .as_ref()
        .map(|d| section("diagnosis", "Diagnosis", diagnosis(d, view)));
    let stages = view
        .result
        .as_ref()
        .map(|r| section("stages", "Stages of scoring", stages(r)));
    let hits = (!view.findings.is_empty()).then(|| {
        section(
            "findings",
            "Leak hits",
            findings::findings(&view.findings, view.privileged),
        )
    });
    view! {
        {title(format!("{what}, {}", view.configuration))}
        <LiveRegion of="trace".to_owned()/>
        <TraceKeys/>
        <div class="page wide-page">
            <p class="kicker">
                <a href=format!("/cases/{}", view.case)>{view.case_title.clone()}</a>
                " \u{b7} "
                <a href=format!("/submissions/{}", view.submission)>{view.configuration.clone()}</a>
            </p>
            <div class="head-row">
                <h1>{what}</h1>
                {pager::pager("Attempts of this submission", beside(&view.neighbours.0, "attempt before"), beside(&view.neighbours.1, "next attempt"))}
            </div>
            {verdict(view)}
            {trace::viewer(view, asked, facts(view))}
            {patch}
            {diagnosis}
            {map.map(figure::alone)}
            {stages}
            {hits}
            {replay.map(|status| section("replay", "Replay", replay::replay(&view.id, status)))}
        </div>
    }
    .into_any()
}

fn verdict(view: &AttemptView) -> AnyView {
    let look = glyph::look(&view.cell);
    let flags: Vec<AnyView> = view
        .cell
        .flags
        .iter()
        .map(|f| view! { <span class="tag warn">{f.clone()}</span> }.into_any())
        .collect();
    let reason =
        (!view.cell.reason.is_empty()).then(|| view! { <span>{view.cell.reason.clone()}</span> });
    let unused = (view.cell.selected == Some(false))
        .then(|| view! { <span class="tag">"not among the selected attempts"</span> });
    view! {
        <p class="verdict-line">{glyph::worded(look.glyph, look.word)}{flags}{unused}{reason}</p>
    }
    .into_any()
}

/// What stands to the right of the trace.
fn facts(view: &AttemptView) -> AnyView {
    let base = format!("/attempts/{}", view.id);
    let trace = view.summary.as_ref().map(|s| {
        let mut of = vec![
            stat::fact("format", s.format.clone()),
            stat::fact(
                "turns, steps",
                format!(
                    "{}, {}",
                    format::count(u64::from(s.turns)),
                    format::count(u64::from(s.steps))
                ),
            ),
            stat::fact(
                "first edit",
                s.first_edit
                    .map_or_else(|| "none".to_owned(), |n| format!("turn {n}")),
            ),
            stat::fact("reads, edits", format!("{}, {}", s.reads, s.edits)),
            stat::fact("ended", s.exit.as_str()),
        ];
        if let Some(t) = s.tokens {
            of.push(stat::fact(
                "tokens in, out",
                format!("{}, {}", format::tokens(t.input), format::tokens(t.output)),
            ));
        }
        of.push(stat::fact(
            "cost",
            s.cost.map_or_else(
                || format::UNKNOWN.to_owned(),
                |c| format!("{} USD", format::usd(c)),
            ),
        ));
        of.push(stat::fact(
            "time",
            s.seconds
                .map_or_else(|| format::UNKNOWN.to_owned(), format::duration),
        ));
        let notes: Vec<AnyView> = s
            .notes
            .iter()
            .map(|n| view! { <li>{n.clone()}</li> }.into_any())
            .collect();
        view! { {stat::facts(of)}<ul class="notes">{notes}</ul> }
    });
    let unread = view.summary.is_none().then(|| {
        view! { <p class="remark">"This trace could not be read as steps; its bytes can be downloaded."</p> }
    });
    let result = view.result.as_ref().map(|r| {
        let digests: Vec<AnyView> = r.image_digests.iter().map(|d| view! { <li>{stat::digest(d)}</li> }.into_any()).collect();
        let notes: Vec<AnyView> = r.notes.iter().map(|n| view! { <li>{n.clone()}</li> }.into_any()).collect();
        view! {
            <h3>"Scoring"</h3>
            {stat::facts(vec![
                stat::fact("outcome", glyph::worded(glyph::outcome(r.outcome).0, glyph::outcome(r.outcome).1)),
                stat::fact("oracle protocol", r.scorer_version.clone()),
                stat::fact("images", view! { <ul class="plain">{digests}</ul> }),
            ])}
            <ul class="notes">{notes}</ul>
            <p><a href="#stages">"Stages and logs"</a></p>
        }
    });
    let scores = view.cell.scores.map(|s| {
        let rate = |name: &'static str, v: f64| {
            stat::fact(
                name,
                view! { <span class="num">{format!("{} %", format::percent(v))}</span> },
            )
        };
        let mut of = vec![
            rate("block coverage", s.block_coverage),
            rate("block precision", s.block_precision),
            rate("strict block coverage", s.strict_block_coverage),
            rate("file coverage", s.file_coverage),
            rate("function coverage", s.function_coverage),
            rate("line coverage", s.line_coverage),
        ];
        if let Some(m) = s.mention_coverage {
            of.push(rate("mention coverage", m));
        }
        of.push(stat::fact(
            "predicted",
            format!(
                "{}, {}",
                format::counted(u64::from(s.predicted_blocks), "block", "blocks"),
                format::counted(s.predicted_lines, "line", "lines")
            ),
        ));
        view! { <h3>"Scores"</h3>{stat::facts(of)} }
    });
    let file_name = view.trace_name.rsplit('/').next().unwrap_or_default();
    let result_file = match view.track {
        faultboard_domain::Track::Diagnosis => ("diagnosis.json", "Diagnosis, JSON"),
        _ => ("patch.diff", "Patch"),
    };
    view! {
        {result}
        {scores}
        <h3>"Trace"</h3>
        {trace}
        {unread}
        <h3>"Downloads"</h3>
        <ul class="plain">
            <li><a href=format!("{base}/trace")>{file_name.to_owned()}</a><span class="remark num">{format::bytes(view.trace_bytes)}</span></li>
            <li><a href=format!("{base}/trace.jsonl")>"Steps, JSON lines"</a></li>
            <li><a href=format!("{base}/{}", result_file.0)>{result_file.1}</a></li>
        </ul>
    }
    .into_any()
}

fn patch(view: &AttemptView) -> AnyView {
    if view.diff.is_empty() {
        return notice::empty(
            "The patch is empty.",
            "The attempt changed nothing, and so counts as not passed.",
        );
    }
    diff::diff(&view.diff, view.diff_left_out)
}

fn diagnosis(d: &Diagnosis, view: &AttemptView) -> AnyView {
    let blocks: Vec<AnyView> = d
        .buggy_blocks
        .iter()
        .take(200)
        .map(|b| {
            let why = b.bug_contribution.as_ref().map(|w| view! { <p>{w.clone()}</p> });
            let patch = b.patch.as_ref().map(|p| view! { <pre class="output" tabindex="0">{p.clone()}</pre> });
            let function = (!b.function.is_empty()).then(|| view! { <code class="function">{b.function.clone()}</code> });
            view! {
                <li class="block">
                    <div class="block-head"><code class="path">{b.file.clone()}</code>{function}<span class="num">{format!("lines {} to {}", b.start_line, b.end_line - 1)}</span></div>
                    {why}
                    {patch}
                </li>
            }
            .into_any()
        })
        .collect();
    let rest = d.buggy_blocks.len().saturating_sub(200);
    let rest = (rest > 0).then(|| view! { <p class="remark">{format!("{rest} more blocks are in ")}<a href=format!("/attempts/{}/diagnosis.json", view.id)>"the download"</a>"."</p> });
    let none = d.buggy_blocks.is_empty().then(|| {
        notice::empty(
            "No block is named.",
            "An empty list is valid, and covers nothing.",
        )
    });
    view! {
        <p class="prose">{d.bug_cause_description.clone()}</p>
        <h3>"Suspected blocks"</h3>
        {none}
        <ol class="blocks">{blocks}</ol>
        {rest}
    }
    .into_any()
}

fn stages(r: &RepairResult) -> AnyView {
    let items: Vec<AnyView> = r
        .stages
        .iter()
        .map(|s| {
            #[expect(clippy::cast_precision_loss, reason = "a stage's time")]
            let seconds = s.finished.since_ms(s.started) as f64 / 1000.0;
            let name = if s.repeat > 1 { format!("{} {}", s.stage, s.repeat) } else { s.stage.to_string() };
            let exit = s.exit_code.map_or_else(|| "\u{2013}".to_owned(), |c| c.to_string());
            let image = s.image_digest.as_deref().map_or_else(|| "\u{2013}".into_any(), stat::digest);
            let memory = s.peak_memory.map_or_else(|| "\u{2013}".to_owned(), format::bytes);
            let cpu = s.cpu_seconds.map_or_else(|| "\u{2013}".to_owned(), format::duration);
            let cut = (s.log_cut > 0).then(|| view! { <p class="remark">{format!("{} were cut out of the middle.", format::bytes(s.log_cut))}</p> });
            let log = (!s.log.is_empty()).then(|| {
                view! { <details class="more log"><summary>"log"</summary>{cut}<pre class="output" tabindex="0">{s.log.clone()}</pre></details> }
            });
            view! {
                <tbody>
                    <tr>
                        <th scope="row">{name}</th>
                        <td>{s.result.clone()}</td>
                        <td class="fig num">{exit}</td>
                        <td class="fig num">{format::duration(seconds)}</td>
                        <td class="fig num wide">{cpu}</td>
                        <td class="fig num wide">{memory}</td>
                        <td class="wide">{image}</td>
                        <td class="wide">{when::instant(s.started)}</td>
                    </tr>
                    <tr class="log-row"><td colspan="8">{log}</td></tr>
                </tbody>
            }
            .into_any()
        })
        .collect();
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Stages in order">
            <table class="data stages">
                <thead>
                    <tr>
                        <th scope="col">"stage"</th><th scope="col">"result"</th>
                        <th scope="col" class="fig">"exit"</th><th scope="col" class="fig">"time"</th>
                        <th scope="col" class="fig wide">"CPU"</th><th scope="col" class="fig wide">"memory"</th>
                        <th scope="col" class="wide">"image"</th><th scope="col" class="wide">"began, UTC"</th>
                    </tr>
                </thead>
                {items}
            </table>
        </div>
    }
    .into_any()
}
