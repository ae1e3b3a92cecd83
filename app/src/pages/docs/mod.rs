//! The documentation: how to submit, the formats, how scores are made, the rules.

pub mod api;
pub mod formats;
pub mod metrics;
pub mod rules;
pub mod submit;

use leptos::prelude::*;

use crate::components::frame::title;
use crate::data;

/// The pages: (last part of the address, head, what it tells).
const PAGES: [(&str, &str, &str); 5] = [
    (
        "submit",
        "How to submit",
        "From a folder of attempts to a row on the board, step by step.",
    ),
    (
        "formats",
        "Formats",
        "The layout of a bundle, metadata.yaml, diagnosis.json, patches and traces, with a complete example.",
    ),
    (
        "metrics",
        "Metrics",
        "How a pass and a coverage are decided, averaged and compared, with formulas.",
    ),
    (
        "rules",
        "Rules",
        "What an agent may use, what the guards look for, and how review and corrections work.",
    ),
    (
        "api",
        "API",
        "Everything that the pages show as JSON, submissions by token, and an OpenAPI document.",
    ),
];

/// `/docs`.
#[component]
pub fn Index() -> impl IntoView {
    index()
}

/// `/docs/:page`.
#[component]
pub fn Route() -> impl IntoView {
    page(&super::param("page")).unwrap_or_else(data::not_found)
}

/// The list of pages.
pub fn index() -> AnyView {
    let items: Vec<AnyView> = PAGES
        .iter()
        .map(|(key, head, about)| {
            view! { <li><a href=format!("/docs/{key}")>{*head}</a><p>{*about}</p></li> }.into_any()
        })
        .collect();
    view! {
        {title("Docs")}
        <div class="page narrow">
            <h1>"Docs"</h1>
            <ul class="doc-list">{items}</ul>
        </div>
    }
    .into_any()
}

/// One page, by the last part of its address.
pub fn page(key: &str) -> Option<AnyView> {
    let content = match key {
        "submit" => submit::content(),
        "formats" => formats::content(),
        "metrics" => metrics::content(),
        "rules" => rules::content(),
        "api" => api::content(),
        _ => return None,
    };
    let (_, head, _) = PAGES.iter().find(|(k, _, _)| *k == key)?;
    let links: Vec<AnyView> = PAGES
        .iter()
        .map(|(k, words, _)| {
            let current = (*k == key).then_some("page");
            view! { <li><a href=format!("/docs/{k}") aria-current=current>{*words}</a></li> }
                .into_any()
        })
        .collect();
    Some(
        view! {
            {title(*head)}
            <div class="page doc-page">
                <nav class="doc-nav" aria-label="Docs"><ul>{links}</ul></nav>
                <article class="prose doc"><h1>{*head}</h1>{content}</article>
            </div>
        }
        .into_any(),
    )
}

/// A listing.
fn code(text: &'static str) -> AnyView {
    view! { <pre class="snippet" tabindex="0"><code>{text}</code></pre> }.into_any()
}
