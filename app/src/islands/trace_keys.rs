//! Keys of the trace viewer: each presses the link that bears it (`data-key`),
//! so the keys do nothing that a click could not.

use leptos::prelude::*;

/// Listens for `j`, `k`, `e`, `x`, `h`, `d` and `/`. Draws nothing itself.
#[island]
pub fn TraceKeys() -> impl IntoView {
    Effect::new(move |_| {
        #[cfg(feature = "hydrate")]
        listen();
    });
}

#[cfg(feature = "hydrate")]
fn listen() {
    use wasm_bindgen::JsCast;
    use web_sys::{Element, HtmlElement, KeyboardEvent};

    use super::dom;

    if let Some(current) = dom::document()
        .query_selector("[data-follow]")
        .ok()
        .flatten()
    {
        super::region::show_within_list(&current);
    }
    dom::listen::<KeyboardEvent>(&dom::document(), "keydown", move |e| {
        if e.ctrl_key() || e.meta_key() || e.alt_key() || e.default_prevented() {
            return;
        }
        let typing = e
            .target()
            .and_then(|t| t.dyn_into::<Element>().ok())
            .is_some_and(|t| {
                t.closest("input, textarea, select")
                    .ok()
                    .flatten()
                    .is_some()
            });
        if typing {
            return;
        }
        let key = e.key();
        if !matches!(key.as_str(), "j" | "k" | "e" | "x" | "h" | "d" | "/") {
            return;
        }
        let found = dom::document()
            .query_selector(&format!("[data-key=\"{key}\"]"))
            .ok()
            .flatten()
            .and_then(|l| l.dyn_into::<HtmlElement>().ok());
        if let Some(found) = found {
            e.prevent_default();
            if key == "/" {
                let _ = found.focus();
            } else {
                found.click();
            }
        }
    });
}
