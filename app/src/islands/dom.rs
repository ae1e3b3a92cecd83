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

/// What is chosen in a list of the page; none: nothing, or no such list.
pub(crate) fn chosen(id: &str) -> Option<String> {
    let list = document().get_element_by_id(id)?;
    let value = js_sys::Reflect::get(&list, &"value".into()).ok()?;
    value.as_string().filter(|v| !v.is_empty())
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
    let Ok(list) = root.query_selector_all(selector) else {
        return Vec::new();
    };
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

/// Calls a method for which the bindings have no stable form.
pub(crate) fn call(
    of: &JsValue,
    method: &str,
    arguments: &js_sys::Array,
) -> Result<JsValue, JsValue> {
    let function: js_sys::Function = js_sys::Reflect::get(of, &method.into())?.dyn_into()?;
    function.apply(of, arguments)
}

/// Makes an object of a class for which the bindings have no stable form; an
/// error where the browser has no such class.
pub(crate) fn construct(class: &str, argument: &str) -> Result<JsValue, JsValue> {
    let constructor: js_sys::Function =
        js_sys::Reflect::get(&window(), &class.into())?.dyn_into()?;
    js_sys::Reflect::construct(&constructor, &js_sys::Array::of1(&argument.into()))
}

/// A plain object of these properties.
pub(crate) fn object(properties: &[(&str, JsValue)]) -> js_sys::Object {
    let object = js_sys::Object::new();
    for (name, value) in properties {
        let _ = js_sys::Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object
}
