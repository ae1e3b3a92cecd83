//! Every public change of the site, newest first.

use faultboard_domain::view::ChangeView;
use leptos::prelude::*;

use crate::components::frame::title;
use crate::data;

/// `/changes`.
#[component]
pub fn Route() -> impl IntoView {
    data::load(
        |portal, actor| async move { portal.changes(&actor).await },
        |view| page(&view),
    )
}

/// The page.
pub fn page(of: &[ChangeView]) -> AnyView {
    view! {
        {title("Changes")}
        <div class="page">
            <h1>"Changes"</h1>
            <p class="lede">"What was published, corrected, re-evaluated or released. A score never changes silently: a re-evaluation adds a revision and is listed here when it goes live."</p>
            {super::home::changes(of)}
        </div>
    }
    .into_any()
}
