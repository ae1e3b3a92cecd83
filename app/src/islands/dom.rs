//! Small helpers over the browser's interfaces. A missing interface (storage
//! turned off, say) is `None`, never a panic.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Document, Element, Storage, Window};

/// The window.
pub(crate) fn window() -> Window {
    leptos::prelude::window()
}

/// The document.
pub(crate) fn document() -> Document {
    leptos::prelude::document()
}

/// Local storage, if the browser grants it.
pub(crate) fn storage() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// Whether a media query holds.
pub(crate) fn media_matches(query: &str) -> bool {
    window()
        .match_media(query)
        .ok()
        .flatten()
        .is_some_and(|m| m.matches())
}

/// Whether the reader wants no motion.
pub(crate) fn still() -> bool {
    media_matches("(prefers-reduced-motion: reduce)")
}

/// Every element that matches.
pub(crate) fn all(root: &Element, selector: &str) -> Vec<Element> {
    let Ok(list) = root.query_selector_all(selector) else { return Vec::new() };
    (0..list.length())
        .filter_map(|i| list.item(i))
        .filter_map(|n| n.dyn_into().ok())
        .collect()
}

/// Listens for as long as the page lives.
pub(crate) fn listen<E: JsCast + 'static>(
    target: &web_sys::EventTarget,
    event: &str,
    handler: impl FnMut(E) + 'static,
) {
    let mut handler = handler;
    let closure = Closure::<dyn FnMut(web_sys::Event)>::new(move |e: web_sys::Event| {
        if let Ok(e) = e.dyn_into::<E>() {
            handler(e);
        }
    });
    let _ = target.add_event_listener_with_callback(event, closure.as_ref().unchecked_ref());
    closure.forget();
}

/// Waits for some milliseconds.
pub(crate) async fn sleep(ms: i32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms);
    });
    let _ = wasm_bindgen_futures::JsFuture::from(promise).await;
}
