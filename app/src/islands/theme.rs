//! The toggle between light and dark. `theme.js` applies the kept choice before
//! the first paint; this island changes it.

use leptos::prelude::*;

/// A button that turns the theme round and remembers the choice.
#[island]
pub fn ThemeToggle() -> impl IntoView {
    let turn = move |_| {
        #[cfg(feature = "hydrate")]
        turn();
    };
    view! {
        <button type="button" class="icon needs-js" aria-label="Turn between light and dark" title="Turn between light and dark" on:click=turn>
            <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
                <circle cx="10" cy="10" r="7" fill="none" stroke="currentColor" stroke-width="1.5"></circle>
                <path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor"></path>
            </svg>
        </button>
    }
}

#[cfg(feature = "hydrate")]
fn turn() {
    use super::dom;
    let Some(root) = dom::document().document_element() else {
        return;
    };
    let dark = match root.get_attribute("data-theme").as_deref() {
        Some("dark") => true,
        Some("light") => false,
        _ => dom::media_matches("(prefers-color-scheme: dark)"),
    };
    let next = if dark { "light" } else { "dark" };
    let _ = root.set_attribute("data-theme", next);
    if let Some(store) = dom::storage() {
        let _ = store.set_item("fb-theme", next);
    }
}
