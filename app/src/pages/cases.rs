//! The list of cases with their proofs and how configurations fare on them.

use faultboard_domain::Track;
use faultboard_domain::view::{CaseLine, CasesView};
use leptos::prelude::*;

use crate::components::frame::title;
use crate::components::{interval, notice};
use crate::{data, format};

/// `/cases`.
#[component]
pub fn Route() -> impl IntoView {
    data::load(
        |portal, actor| async move { portal.cases(&actor).await },
        |view| page(&view),
    )
}

/// The page.
pub fn page(view: &CasesView) -> AnyView {
    let rows: Vec<AnyView> = view.cases.iter().map(line).collect();
    let facts = view.release.as_ref().map(|r| {
        format!(
            "release {r} · {}",
            format::counted(view.cases.len() as u64, "case", "cases")
        )
    });
    let content = if rows.is_empty() {
        notice::empty(
            "The cases of the newest release stand here.",
            "This site has no release yet; an operator imports one.",
        )
    } else {
        view! {
            <table class="data cases">
                <thead>
                    <tr>
                        <th scope="col" class="name">"case"</th>
                        <th scope="col" class="wide">"system"</th>
                        <th scope="col" class="wide">"family"</th>
                        <th scope="col" class="fig wide">"tier"</th>
                        <th scope="col">"proof"</th>
                        <th scope="col" class="fig wide">"rows"</th>
                        <th scope="col" class="fig">"symptom only "<span class="unit">"%"</span></th>
                        <th scope="col" class="fig wide">"with context "<span class="unit">"%"</span></th>
                        <th scope="col" class="fig wide">"block coverage "<span class="unit">"%"</span></th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        {title("Cases")}
        <div class="page">
            <div class="head-row"><h1>"Cases"</h1><p class="head-facts num">{facts}</p></div>
            <p class="lede">"Each is one historical bug, rebuilt so that an oracle can tell a faulty tree from a mended one. The proof says that it does. Tier 1 is the hardest; rates are means over published configurations."</p>
            {content}
        </div>
    }
    .into_any()
}

fn line(l: &CaseLine) -> AnyView {
    let c = &l.case;
    let rate = |v: Option<f64>, track: Track| match v {
        Some(v) => view! { <span class="num">{format::percent(v)}</span> }.into_any(),
        None if c.tracks.contains(&track) => interval::unknown(),
        None => {
            view! { <span class="unknown" title="not in this track">"\u{2013}"</span> }.into_any()
        }
    };
    let proof = match &l.proof {
        Some(p) => view! { <span class="proof-short" data-good=p.holds().to_string() title=p.sentence()>{format!("{} of {}", p.reference_passed, p.reference_runs)}</span> }.into_any(),
        None => view! { <span class="unknown">"not run here"</span> }.into_any(),
    };
    view! {
        <tr>
            <th scope="row" class="name">
                <a href=format!("/cases/{}", c.id)>{c.id.to_string()}</a>
                <span class="case-title">{c.title.clone()}</span>
            </th>
            <td class="wide">{c.system.to_string()}<span class="remark">{format!(" {}", c.language)}</span></td>
            <td class="wide">{c.family.as_str()}</td>
            <td class="fig num wide">{c.tier.to_string()}</td>
            <td>{proof}</td>
            <td class="fig num wide">{l.configurations.to_string()}</td>
            <td class="fig">{rate(l.symptom, Track::Repair)}</td>
            <td class="fig wide">{rate(l.context, Track::Repair)}</td>
            <td class="fig wide">{rate(l.coverage, Track::Diagnosis)}</td>
        </tr>
    }
    .into_any()
}
