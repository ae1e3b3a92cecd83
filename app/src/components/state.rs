//! The state of a submission, a job or a revision as a small label. The word is
//! always there; colour only repeats it.

use faultboard_domain::SubmissionState;
use leptos::prelude::*;

/// A submission's state.
pub fn submission(state: SubmissionState) -> AnyView {
    view! {
        <span class="pill" data-tone=tone(state) title=state.meaning()>{state.as_str()}</span>
    }
    .into_any()
}

/// Any other state: its word and its tone (`wait`, `work`, `good`, `bad`, `warn`, `off`).
pub fn pill(word: impl Into<String>, tone: &'static str) -> AnyView {
    let word: String = word.into();
    view! { <span class="pill" data-tone=tone>{word}</span> }.into_any()
}

/// The tone of a submission's state.
pub const fn tone(state: SubmissionState) -> &'static str {
    use SubmissionState as S;
    match state {
        S::Uploading | S::Received | S::Queued => "wait",
        S::Validating | S::Scanning | S::Scoring => "work",
        S::Scored | S::InReview => "ready",
        S::Published => "good",
        S::Flagged => "warn",
        S::Invalid | S::Rejected => "bad",
        S::Withdrawn | S::Superseded => "off",
    }
}
