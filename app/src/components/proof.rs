//! The proof of a case: its line under the title, and its facts beside it. Only
//! numbers and digests; what other fixes are is part of the solution.

use faultboard_domain::view::ProofView;
use leptos::prelude::*;

use super::{stat, when};
use crate::format;

fn images(p: &ProofView) -> Vec<AnyView> {
    if p.image_digests.is_empty() {
        return vec![stat::digest(&p.image_digest)];
    }
    p.image_digests.iter().map(|d| stat::digest(d)).collect()
}

/// The line of a case's page.
pub fn line(p: Option<&ProofView>, outdated: bool) -> AnyView {
    match p {
        None => view! {
            <p class="proof" data-good="false">"The oracle of this case has not been proven on this site yet."</p>
        }
        .into_any(),
        Some(p) => view! {
            <p class="proof" data-good=(p.holds() && !outdated).to_string()>
                {format!("{} \u{b7} {} ", p.sentence(), if p.image_digests.len() > 1 { "images" } else { "image" })}
                {images(p)}
                {format!(" \u{b7} {} \u{b7} verified ", p.runtime)}
                {when::when(p.verified)}
                {outdated.then_some(" \u{b7} of an earlier version of the case")}
            </p>
        }
        .into_any(),
    }
}

/// What the proof came to, and how long its stages take.
pub fn facts(p: &ProofView) -> AnyView {
    let mut facts = Vec::new();
    if let Some(status) = p.status {
        facts.push(stat::fact("container", status.as_str()));
    }
    if let Some(soundness) = p.soundness {
        facts.push(stat::fact("oracle", soundness.as_str()));
    }
    if p.problems > 0 {
        let told = format::counted(u64::from(p.problems), "problem", "problems");
        facts.push(stat::fact("not proven", told));
    }
    if let Some(h) = &p.hygiene {
        let found = if h.problems == 0 {
            "nothing found".to_owned()
        } else {
            format::counted(u64::from(h.problems), "problem", "problems")
        };
        facts.push(stat::fact(
            "an agent's workspace",
            format!(
                "{}, {}, {}, {} unreachable; searched for {} in {}: {found}",
                format::counted(h.commits, "commit", "commits"),
                format::counted(h.refs, "ref", "refs"),
                format::counted(h.objects, "object", "objects"),
                format::count(h.unreachable),
                format::counted(h.terms, "term", "terms"),
                format::counted(h.files, "file", "files"),
            ),
        ));
    }
    for t in &p.timings {
        let mean = format::duration(seconds(t.mean_ms));
        let value = if t.runs == 1 {
            mean
        } else {
            format!("{} \u{d7} {mean}", t.runs)
        };
        facts.push(stat::fact(t.what.clone(), value));
    }
    if p.total_ms > 0 {
        facts.push(stat::fact(
            "the whole proof",
            format::duration(seconds(p.total_ms)),
        ));
    }
    if !p.scorer_version.is_empty() {
        facts.push(stat::fact("rules", p.scorer_version.clone()));
    }
    if !p.case_digest.is_empty() {
        facts.push(stat::fact("case", stat::digest(&p.case_digest)));
    }
    stat::facts(facts)
}

#[expect(clippy::cast_precision_loss, reason = "a time, shown rounded")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}
