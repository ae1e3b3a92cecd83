//! Outcome glyphs: each outcome has a shape of its own beside its colour, and a
//! word for those who see neither.

use faultboard_domain::Outcome;
use faultboard_domain::view::{AttemptCell, AttemptStatus};
use leptos::prelude::*;

use crate::format;

/// What a cell looks like: its glyph (also its CSS class) and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The symbol in `glyphs.svg`.
    pub glyph: &'static str,
    /// The words that say the same.
    pub word: String,
    /// A short number shown beside the glyph, if there is one.
    pub value: Option<String>,
}

/// The symbol and the words of an outcome.
pub const fn outcome(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Pass => ("pass", "pass"),
        Outcome::Fail => ("fail", "fail"),
        Outcome::NoEdit => ("no-edit", "no edit"),
        Outcome::ApplyFailed => ("apply-failed", "patch does not apply"),
        Outcome::BuildFailed => ("build-failed", "build failed"),
        Outcome::Timeout => ("timeout", "out of time"),
        Outcome::OracleError => ("oracle-error", "oracle error"),
        Outcome::InfraError => ("infra-error", "infrastructure failure"),
    }
}

/// What an attempt's cell looks like: its result once it has one, else where it is.
pub fn look(cell: &AttemptCell) -> Look {
    let plain = |glyph, word: &str| Look {
        glyph,
        word: word.to_owned(),
        value: None,
    };
    match cell.status {
        AttemptStatus::Waiting => plain("waiting", "waits"),
        AttemptStatus::Queued => plain("queued", "queued"),
        AttemptStatus::Running => plain("running", "being scored"),
        AttemptStatus::Quarantined => plain("quarantined", "set aside by a guard"),
        AttemptStatus::Parked => plain("parked", "parked for an operator"),
        AttemptStatus::Done => match (cell.outcome, &cell.scores) {
            (Some(o), _) => {
                let (glyph, word) = outcome(o);
                plain(glyph, word)
            }
            (None, Some(scores)) => {
                let value = format::percent(scores.block_coverage);
                Look {
                    glyph: covered(scores.block_coverage),
                    word: format!("block coverage {value} %"),
                    value: Some(value),
                }
            }
            (None, None) => plain("missing", "no result"),
        },
    }
}

/// The symbol of a coverage: full, none, or some.
pub fn covered(fraction: f64) -> &'static str {
    if fraction >= 0.9995 {
        "pass"
    } else if fraction <= 0.0005 {
        "fail"
    } else {
        "partial"
    }
}

/// The symbol and words of a pair of pass rates, symptom only and with context.
pub fn pair(symptom: Option<f64>, context: Option<f64>) -> (&'static str, &'static str) {
    match (symptom, context) {
        (Some(s), Some(c)) if c > s => ("gain", "gained with context"),
        (Some(s), Some(c)) if c < s => ("loss", "lost with context"),
        (Some(s), Some(_)) if s > 0.0 => ("pass", "passes both ways"),
        (Some(_), Some(_)) => ("fail", "fails both ways"),
        _ => ("missing", "no pair"),
    }
}

/// A glyph with its words for readers of the screen.
pub fn glyph(id: &'static str, words: impl Into<String>) -> AnyView {
    let words: String = words.into();
    view! {
        <span class=format!("glyph g-{id}")>
            {mark(id)}
            <span class="sr">{words}</span>
        </span>
    }
    .into_any()
}

/// A glyph followed by its words.
pub fn worded(id: &'static str, words: impl Into<String>) -> AnyView {
    let words: String = words.into();
    view! {
        <span class=format!("glyph worded g-{id}")>
            {mark(id)}
            <span>{words}</span>
        </span>
    }
    .into_any()
}

/// The bare drawing of a glyph, hidden from readers of the screen.
pub fn mark(id: &'static str) -> AnyView {
    view! {
        <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
            <use href=format!("/static/glyphs.svg#{id}")></use>
        </svg>
    }
    .into_any()
}

/// The legend of some glyphs.
pub fn legend(of: &[(&'static str, &'static str)]) -> AnyView {
    let items: Vec<AnyView> = of
        .iter()
        .map(|(id, words)| view! { <li>{worded(id, *words)}</li> }.into_any())
        .collect();
    view! { <ul class="legend">{items}</ul> }.into_any()
}
