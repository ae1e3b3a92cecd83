//! A region that changes without a reload: links marked `data-swap` and forms
//! marked `data-auto` inside it fetch the very page that they name, and the
//! region is taken over from it. The order of rows is the server's, so the page
//! with and without scripts can't differ; rows with a `data-row` glide to their
//! new place, which shows what the sort did.

use leptos::prelude::*;

/// Makes the element with the id `of` such a region. Draws nothing itself.
#[island]
pub fn LiveRegion(of: String) -> impl IntoView {
    Effect::new(move |_| {
        #[cfg(feature = "hydrate")]
        imp::attach(&of);
        #[cfg(not(feature = "hydrate"))]
        let _ = &of;
    });
}

#[cfg(feature = "hydrate")]
pub(crate) use imp::{show_within_list, swap};

#[cfg(feature = "hydrate")]
mod imp {
    use std::cell::Cell;
    use std::collections::HashMap;

    use leptos::task::spawn_local;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{Element, Event, HtmlFormElement, HtmlInputElement, MouseEvent, SubmitEvent};

    use super::super::dom;

    thread_local! {
        /// The newest navigation; an older answer that comes late is dropped.
        static NEWEST: Cell<u32> = const { Cell::new(0) };
    }

    pub(super) fn attach(id: &str) {
        let document = dom::document();
        let of = id.to_owned();
        dom::listen::<MouseEvent>(&document, "click", move |e| {
            if e.default_prevented()
                || e.button() != 0
                || e.meta_key()
                || e.ctrl_key()
                || e.shift_key()
                || e.alt_key()
            {
                return;
            }
            let link = e
                .target()
                .and_then(|t| t.dyn_into::<Element>().ok())
                .and_then(|t| t.closest(&format!("a[data-swap=\"{of}\"]")).ok().flatten());
            if let Some(href) = link.and_then(|l| l.get_attribute("href")) {
                e.prevent_default();
                go(&of, href, true);
            }
        });
        let of = id.to_owned();
        let auto = move |e: &Event| {
            e.target()
                .and_then(|t| t.dyn_into::<Element>().ok())
                .and_then(|t| t.closest("form[data-auto]").ok().flatten())
                .filter(|f| f.get_attribute("data-auto").as_deref() == Some(&of))
                .and_then(|f| f.dyn_into::<HtmlFormElement>().ok())
        };
        let of = id.to_owned();
        let changed = auto.clone();
        dom::listen::<Event>(&document, "change", move |e| {
            if let Some(form) = changed(&e) {
                go(&of, address(&form), true);
            }
        });
        let of = id.to_owned();
        dom::listen::<SubmitEvent>(&document, "submit", move |e| {
            if let Some(form) = auto(&e) {
                e.prevent_default();
                go(&of, address(&form), true);
            }
        });
        let of = id.to_owned();
        dom::listen::<Event>(&dom::window(), "popstate", move |_| {
            if let Ok(href) = dom::window().location().href() {
                go(&of, href, false);
            }
        });
    }

    /// The address that a GET form leads to, without its blank fields.
    fn address(form: &HtmlFormElement) -> String {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for field in dom::all(form, "input[name], select[name]") {
            let value = if let Some(input) = field.dyn_ref::<HtmlInputElement>() {
                if matches!(input.type_().as_str(), "checkbox" | "radio") && !input.checked() {
                    continue;
                }
                input.value()
            } else {
                js_sys::Reflect::get(&field, &JsValue::from_str("value"))
                    .ok()
                    .and_then(|v| v.as_string())
                    .unwrap_or_default()
            };
            pairs.push((field.get_attribute("name").unwrap_or_default(), value));
        }
        let query = crate::query::string(pairs.iter().map(|(k, v)| (k.as_str(), v.trim())));
        let action = form
            .get_attribute("action")
            .filter(|a| !a.is_empty())
            .or_else(|| dom::window().location().pathname().ok())
            .unwrap_or_default();
        crate::query::href(&action, &query)
    }

    /// Goes to an address within the region; where that fails, the ordinary way.
    fn go(id: &str, href: String, push: bool) {
        let id = id.to_owned();
        spawn_local(async move {
            if swap(&id, &href, push).await.is_err() {
                let _ = dom::window().location().assign(&href);
            }
        });
    }

    /// Fetches a page and takes the region over from it.
    pub(crate) async fn swap(id: &str, href: &str, push: bool) -> Result<(), JsValue> {
        let ours = NEWEST.with(|n| {
            n.set(n.get().wrapping_add(1));
            n.get()
        });
        let window = dom::window();
        let document = dom::document();
        let old = document.get_element_by_id(id).ok_or(JsValue::NULL)?;
        old.set_attribute("aria-busy", "true")?;
        let response: web_sys::Response = JsFuture::from(window.fetch_with_str(href))
            .await?
            .dyn_into()?;
        if !response.ok() {
            return Err(JsValue::from_f64(f64::from(response.status())));
        }
        let text = JsFuture::from(response.text()?)
            .await?
            .as_string()
            .unwrap_or_default();
        if NEWEST.with(Cell::get) != ours {
            return Ok(());
        }
        let next = web_sys::DomParser::new()?
            .parse_from_string(&text, web_sys::SupportedType::TextHtml)?;
        let new = next.get_element_by_id(id).ok_or(JsValue::NULL)?;
        if push {
            window
                .history()?
                .push_state_with_url(&JsValue::NULL, "", Some(href))?;
        }
        document.set_title(&next.title());
        replace(&old, &new)?;
        Ok(())
    }

    /// Puts the new region into the old one's place, keeping what the reader
    /// did to it: the focus, which rows are open, how far lists are scrolled.
    fn replace(old: &Element, new: &Element) -> Result<(), JsValue> {
        let document = dom::document();
        let focus = document.active_element().filter(|e| old.contains(Some(e)));
        let focus_id = focus.as_ref().map(|e| (e.id(), mark_of(e)));
        let open: Vec<String> = dom::all(old, "details[open]")
            .iter()
            .map(Element::id)
            .filter(|i| !i.is_empty())
            .collect();
        let scrolled: Vec<(String, i32)> = dom::all(old, "[data-keep-scroll]")
            .iter()
            .map(|e| (e.id(), e.scroll_top()))
            .collect();
        let before: HashMap<String, f64> = rows(old)
            .into_iter()
            .map(|(k, e)| (k, e.get_bounding_client_rect().top()))
            .collect();

        let adopted = document.adopt_node(new)?;
        let fresh: Element = adopted.dyn_into()?;
        old.replace_with_with_node_1(&fresh)?;

        for id in open {
            if let Some(d) = document.get_element_by_id(&id) {
                let _ = d.set_attribute("open", "");
            }
        }
        for (id, top) in scrolled {
            if let Some(e) = document.get_element_by_id(&id) {
                e.set_scroll_top(top);
            }
        }
        if let Some((id, (tag, href))) = focus_id {
            let again = (!id.is_empty())
                .then(|| document.get_element_by_id(&id))
                .flatten()
                .or_else(|| {
                    dom::all(&fresh, &tag)
                        .into_iter()
                        .find(|e| mark_of(e).1 == href)
                });
            if let Some(e) = again.and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok()) {
                let options = web_sys::FocusOptions::new();
                options.set_prevent_scroll(true);
                let _ = e.focus_with_options(&options);
            }
        }
        if let Some(current) = fresh.query_selector("[data-follow]").ok().flatten() {
            show_within_list(&current);
        }
        glide(&fresh, &before);
        Ok(())
    }

    /// What tells an element without an id apart: its tag and its words.
    fn mark_of(e: &Element) -> (String, String) {
        (
            e.tag_name().to_lowercase(),
            e.text_content().unwrap_or_default(),
        )
    }

    fn rows(of: &Element) -> Vec<(String, Element)> {
        dom::all(of, "[data-row]")
            .into_iter()
            .filter_map(|e| e.get_attribute("data-row").map(|k| (k, e)))
            .collect()
    }

    /// Scrolls an element's own list, never the page, until it can be seen.
    pub(crate) fn show_within_list(e: &Element) {
        let Some(list) = e.closest("[data-keep-scroll]").ok().flatten() else {
            return;
        };
        let (inner, outer) = (
            e.get_bounding_client_rect(),
            list.get_bounding_client_rect(),
        );
        let (above, below) = (inner.top() - outer.top(), inner.bottom() - outer.bottom());
        #[expect(clippy::cast_possible_truncation, reason = "pixels")]
        if above < 0.0 {
            list.set_scroll_top(list.scroll_top() + above as i32 - 40);
        } else if below > 0.0 {
            list.set_scroll_top(list.scroll_top() + below as i32 + 40);
        }
    }

    /// Lets rows glide from where they were.
    fn glide(fresh: &Element, before: &HashMap<String, f64>) {
        if dom::still() {
            return;
        }
        for (key, row) in rows(fresh) {
            let Some(was) = before.get(&key) else {
                continue;
            };
            let moved = was - row.get_bounding_client_rect().top();
            if moved.abs() < 1.0 {
                continue;
            }
            let frame = |y: f64| dom::object(&[("transform", format!("translateY({y}px)").into())]);
            let frames = js_sys::Array::of2(&frame(moved), &frame(0.0));
            let options = dom::object(&[
                ("duration", 260.into()),
                ("easing", "cubic-bezier(.2,.7,.2,1)".into()),
            ]);
            let _ = dom::call(&row, "animate", &js_sys::Array::of2(&frames, &options));
        }
    }
}
