//! Instants on pages: the date in ISO with a relative hint, the second in the title.

use faultboard_domain::Timestamp;
use leptos::prelude::*;

use crate::context;

/// Date and relative hint: `2026-11-30 (3 days ago)`.
pub fn when(at: Timestamp) -> AnyView {
    let iso = at.iso();
    view! {
        <time class="when" datetime=iso.clone() title=iso>
            {at.date()}" "<span class="ago">{at.relative_to(context::now())}</span>
        </time>
    }
    .into_any()
}

/// The date alone.
pub fn date(at: Timestamp) -> AnyView {
    let iso = at.iso();
    view! { <time class="when" datetime=iso.clone() title=iso>{at.date()}</time> }.into_any()
}

/// Date and time to the second in UTC.
pub fn instant(at: Timestamp) -> AnyView {
    let iso = at.iso();
    view! { <time class="when num" datetime=iso.clone()>{iso.clone()}</time> }.into_any()
}
