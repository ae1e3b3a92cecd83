//! One row of a leaderboard with its fold-out: the figures that a narrow screen
//! leaves out, how it stands against other rows, and its result on every case.

use faultboard_domain::Track;
use faultboard_domain::view::{BoardRow, BoardView, CaseCell, CompareQuery, Rival, Spending};
use leptos::prelude::*;

use crate::components::{breakdown, glyph, interval, when};
use crate::{format, query};

/// The most cases whose results a fold-out lists; beyond, it links to the submission.
const MOST_CASES: u32 = 60;

/// What the cells of a column share, so that they compare at a glance.
#[derive(Debug, Clone)]
pub struct Scales {
    /// The end of the lift's scale, as a fraction.
    pub lift: f64,
    /// Decimals of the columns that hold medians: (key, decimals).
    decimals: Vec<(&'static str, usize)>,
}

impl Scales {
    /// The scales of a board.
    pub fn of(view: &BoardView) -> Self {
        let lift = view
            .rows
            .iter()
            .filter_map(|r| r.repair.as_ref()?.lift)
            .flat_map(|d| {
                let (low, high) = d.ci95.unwrap_or((d.mean, d.mean));
                [low.abs(), high.abs(), d.mean.abs()]
            })
            .fold(0.05, f64::max);
        let decimals = ["steps", "first-edit", "lines"]
            .into_iter()
            .map(|key| {
                let broken = view
                    .rows
                    .iter()
                    .filter_map(|r| r.value(key))
                    .any(|v| v.fract() != 0.0);
                (key, usize::from(broken))
            })
            .collect();
        Self { lift, decimals }
    }

    fn decimals(&self, key: &str) -> usize {
        self.decimals
            .iter()
            .find(|(k, _)| *k == key)
            .map_or(1, |(_, d)| *d)
    }
}

/// The classes of a column's cells: its alignment, and whether a narrow screen keeps it.
pub fn class_of(key: &str, track: Track) -> &'static str {
    let headline = match track {
        Track::Diagnosis => "block",
        Track::Repair | Track::Recovery => "symptom",
    };
    match key {
        k if k == headline => "fig headline",
        "context" | "block" | "symptom" => "fig est-col wide",
        "lift" => "fig est-col wide",
        _ => "fig wide",
    }
}

/// A row: a body of its own, so that it and its fold-out move together.
pub fn row(r: &BoardRow, view: &BoardView, scales: &Scales) -> AnyView {
    let fold_id = format!("fold-{}", r.submission);
    let cells: Vec<AnyView> = view
        .columns
        .iter()
        .map(|c| {
            view! { <td class=class_of(&c.key, view.track)>{cell(r, &c.key, &c.unit, view.n_cases, scales)}</td> }.into_any()
        })
        .collect();
    let listed: Vec<AnyView> = view
        .columns
        .iter()
        .map(|c| {
            let name = if c.unit.is_empty() { c.title.clone() } else { format!("{}, {}", c.title, c.unit) };
            view! { <div><dt>{name}</dt><dd>{cell(r, &c.key, &c.unit, view.n_cases, scales)}</dd></div> }.into_any()
        })
        .collect();
    let span = (view.columns.len() + 3).to_string();
    let open_weights = r
        .open_weights
        .then(|| view! { <span class="tag">"open weights"</span> });
    let flags = (r.flagged > 0).then(|| {
        view! { <span class="tag warn">{format::counted(u64::from(r.flagged), "attempt set aside", "attempts set aside")}</span> }
    });
    view! {
        <tbody data-row=r.submission.to_string()>
            <tr class="row">
                <td class="pick"><input type="checkbox" name="row" value=r.submission.to_string() aria-label=format!("Compare {}", r.configuration)/></td>
                <td class="rank">{rank(r)}</td>
                <th scope="row" class="name">
                    <a href=format!("/submissions/{}", r.submission)>
                        <span class="agent">{format!("{} {}", r.agent, r.agent_version)}</span>
                        " \u{b7} "
                        <span class="model">{r.model.clone()}</span>
                    </a>
                    {open_weights}
                    {flags}
                    <details class="opener" id=format!("open-{}", r.submission)>
                        <summary aria-controls=fold_id.clone() aria-label=format!("Details of {}", r.configuration)><span class="chevron" aria-hidden="true"></span></summary>
                    </details>
                </th>
                {cells}
            </tr>
            <tr class="fold" id=fold_id>
                <td colspan=span>
                    <div class="fold-inner">
                        <dl class="facts narrow-only">{listed}</dl>
                        {standing(r)}
                        {breakdowns(r, view)}
                        {per_case(r, view)}
                    </div>
                </td>
            </tr>
        </tbody>
    }
    .into_any()
}

fn rank(r: &BoardRow) -> AnyView {
    match &r.rank {
        Some(k) => view! { <span class="num">{k.label.clone()}</span> }.into_any(),
        None => view! { <span class="unknown" title="not ranked">"\u{2013}"</span> }.into_any(),
    }
}

fn cell(r: &BoardRow, key: &str, unit: &str, n: u32, scales: &Scales) -> AnyView {
    let repair = r.repair.as_ref();
    let diagnosis = r.diagnosis.as_ref();
    match key {
        "symptom" => interval::rate(repair.and_then(|c| c.symptom.as_ref()), n),
        "context" => interval::rate(repair.and_then(|c| c.context.as_ref()), n),
        "lift" => interval::difference(repair.and_then(|c| c.lift.as_ref()), scales.lift),
        "block" => interval::rate(diagnosis.map(|d| &d.block_coverage), n),
        "file" => interval::plain_rate(diagnosis.map(|d| &d.file_coverage)),
        "block-precision" => interval::plain_rate(diagnosis.map(|d| &d.block_precision)),
        "strict" => interval::plain_rate(diagnosis.map(|d| &d.strict_block_coverage)),
        "function" => interval::plain_rate(diagnosis.map(|d| &d.function_coverage)),
        "line" => interval::plain_rate(diagnosis.map(|d| &d.line_coverage)),
        "mention" => interval::plain_rate(diagnosis.and_then(|d| d.mention_coverage.as_ref())),
        _ => number(r.value(key), key, unit, scales),
    }
}

fn number(value: Option<f64>, key: &str, unit: &str, scales: &Scales) -> AnyView {
    let Some(v) = value else {
        return interval::unknown();
    };
    let text = match (key, unit) {
        ("cost", _) => format::usd(v),
        ("tokens", "M") => format::number(v / 1e6, 1),
        ("tokens", "k") => format::number(v / 1e3, 0),
        ("tokens" | "flagged" | "unstable", _) => format::number(v, 0),
        (_, "%") => format::percent(v),
        _ => format::number(v, scales.decimals(key)),
    };
    view! { <span class="num">{text}</span> }.into_any()
}

fn standing(r: &BoardRow) -> AnyView {
    let against = r.rank.as_ref().map(|k| {
        format!(
            "Significantly ahead of {}, behind {} (paired bootstrap over common cases, p below 0.05, unadjusted).",
            format::counted(u64::from(k.beats), "row", "rows"),
            k.beaten_by
        )
    });
    let spent = r.repair.as_ref().and_then(|c| {
        let part = |name: &str, s: &Option<Spending>| {
            let s = s.as_ref()?;
            let cost = s.cost.map(|v| format!("{} USD", format::usd(v)));
            let steps = s.steps.map(|v| format!("{} steps", format::number(v, 1)));
            let told: Vec<String> = [cost, steps].into_iter().flatten().collect();
            (!told.is_empty()).then(|| format!("{name} {}", told.join(", ")))
        };
        let told: Vec<String> = [
            part("symptom only", &c.symptom_spent),
            part("with context", &c.context_spent),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!told.is_empty()).then(|| view! { <p>"Spent per attempt: "{told.join("; ")}"."</p> })
    });
    let missing = (!r.unscored_cases.is_empty()).then(|| {
        let ids: Vec<String> = r.unscored_cases.iter().map(ToString::to_string).collect();
        view! { <p>"Not scored: "{ids.join(", ")}"."</p> }
    });
    let by = match &r.organisation {
        Some(o) => format!("{}, {o}", r.submitter),
        None => r.submitter.clone(),
    };
    view! {
        <div class="standing">
            <p>{against}</p>
            {rivals(r, &r.beats, "ahead of", r.rank.as_ref().map_or(0, |k| k.beats))}
            {rivals(r, &r.beaten_by, "behind", r.rank.as_ref().map_or(0, |k| k.beaten_by))}
            {spent}
            {missing}
            <p>
                "Handed in by "{by}", published "{when::date(r.published)}". "
                <a href=format!("/submissions/{}", r.submission)>"Submission and scores"</a>" \u{b7} "
                <a href=format!("/submissions/{}/traces.zip", r.submission)>"all traces"</a>
            </p>
        </div>
    }
    .into_any()
}

/// Names of rows with links to the comparison with this one.
fn rivals(r: &BoardRow, of: &[Rival], words: &'static str, all: u32) -> Option<AnyView> {
    if of.is_empty() {
        return None;
    }
    let links: Vec<AnyView> = of
        .iter()
        .map(|o| {
            let rows = vec![r.submission.clone(), o.submission.clone()];
            let href = query::href(
                "/compare",
                &query::compare_string(&CompareQuery { rows, slice: None }),
            );
            view! { <li><a href=href>{o.configuration.clone()}</a></li> }.into_any()
        })
        .collect();
    let more = usize::try_from(all)
        .unwrap_or(usize::MAX)
        .saturating_sub(of.len());
    let more = (more > 0).then(|| view! { <li>{format!("{more} more")}</li> });
    Some(view! { <div class="rivals"><span>{words}</span><ul class="plain inline-list">{links}{more}</ul></div> }.into_any())
}

/// The row's breakdowns, or where they are on a board of many rows.
fn breakdowns(r: &BoardRow, view: &BoardView) -> AnyView {
    let Some(s) = r.statistics.as_deref() else {
        return view! { <p><a href=format!("/submissions/{}#breakdowns", r.submission)>"By tier, family and system"</a></p> }.into_any();
    };
    let flips = s.flips.as_ref().map(breakdown::flips);
    let lines: Vec<AnyView> = s
        .stability
        .as_ref()
        .map(breakdown::stability_line)
        .into_iter()
        .chain(breakdown::leave_one_out_line(s))
        .map(|text| view! { <p class="remark">{text}</p> }.into_any())
        .collect();
    view! {
        {breakdown::groups(s, view.track, false)}
        {flips}
        {lines}
        <p class="remark"><a href=format!("/submissions/{}#breakdowns", r.submission)>"By system too"</a></p>
    }
    .into_any()
}

fn per_case(r: &BoardRow, view: &BoardView) -> AnyView {
    if r.per_case.is_empty() {
        return ().into_any();
    }
    if view.n_cases > MOST_CASES {
        return view! { <p><a href=format!("/submissions/{}", r.submission)>"Results on every case"</a></p> }.into_any();
    }
    let items: Vec<AnyView> = r
        .per_case
        .iter()
        .map(|c| {
            if view.track == Track::Diagnosis {
                coverage_item(c)
            } else {
                pair_item(c)
            }
        })
        .collect();
    view! { <ul class="per-case" aria-label="Results per case">{items}</ul> }.into_any()
}

fn pair_item(c: &CaseCell) -> AnyView {
    let (id, words) = glyph::pair(c.symptom, c.context);
    let rate =
        |v: Option<f64>| v.map_or_else(|| "\u{2013}".to_owned(), |v| format!("{:.0}", v * 100.0));
    let figures = format!("{} \u{2192} {}", rate(c.symptom), rate(c.context));
    let said = format!(
        "{}: {words}, {} % symptom only, {} % with context",
        c.case,
        rate(c.symptom),
        rate(c.context)
    );
    item(c, id, words, said, figures)
}

fn coverage_item(c: &CaseCell) -> AnyView {
    let Some(v) = c.coverage else {
        return item(
            c,
            "missing",
            "no result",
            format!("{}: no result", c.case),
            "\u{2013}".to_owned(),
        );
    };
    item(
        c,
        glyph::covered(v),
        "block coverage, %",
        format!("{}: block coverage {} %", c.case, format::percent(v)),
        format::percent(v),
    )
}

fn item(
    c: &CaseCell,
    id: &'static str,
    words: &'static str,
    said: String,
    figures: String,
) -> AnyView {
    let href = c.attempts.first().map_or_else(
        || format!("/cases/{}", c.case),
        |a| format!("/attempts/{a}"),
    );
    view! {
        <li>
            <a class="case-cell" href=href title=said>
                {glyph::glyph(id, words)}
                <span class="case-id">{c.case.to_string()}</span>
                <span class="num">{figures}</span>
            </a>
        </li>
    }
    .into_any()
}
