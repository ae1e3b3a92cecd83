//! Links to what comes before and after.

use leptos::prelude::*;

/// A pair of links; a missing side is drawn as plain text.
pub fn pager(
    name: &'static str,
    before: Option<(String, String)>,
    after: Option<(String, String)>,
) -> AnyView {
    let side = |link: Option<(String, String)>, arrow_first: bool, rel: &'static str| match link {
        Some((href, label)) if arrow_first => {
            view! { <a href=href rel=rel>"\u{2190} "{label}</a> }.into_any()
        }
        Some((href, label)) => view! { <a href=href rel=rel>{label}" \u{2192}"</a> }.into_any(),
        None => view! { <span></span> }.into_any(),
    };
    view! {
        <nav class="pager" aria-label=name>{side(before, true, "prev")}{side(after, false, "next")}</nav>
    }
    .into_any()
}
