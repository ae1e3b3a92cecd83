//! A job's page as it works: its log grows line by line, and its state is asked
//! for again now and then. The text goes into the page as text, whatever it holds.

use leptos::prelude::*;

/// Follows the job `id`. Draws nothing itself.
#[island]
pub fn LiveLog(id: i64) -> impl IntoView {
    Effect::new(move |_| {
        #[cfg(feature = "hydrate")]
        imp::follow(id);
        #[cfg(not(feature = "hydrate"))]
        let _ = id;
    });
}

#[cfg(feature = "hydrate")]
mod imp {
    use std::cell::RefCell;
    use std::rc::Rc;

    use leptos::task::spawn_local;
    use web_sys::{Element, Event, EventSource, MessageEvent, Node};

    use super::super::{dom, region};

    /// The most pieces of text that the page keeps; the oldest ones go.
    const MOST: u32 = 20_000;
    /// Milliseconds between two looks at the job's state.
    const PAUSE: i32 = 15_000;

    pub(super) fn follow(id: i64) {
        if let Some(log) = log() {
            log.set_scroll_top(log.scroll_height());
        }
        let Ok(source) = EventSource::new(&format!("/admin/jobs/{id}/events")) else {
            return;
        };
        // What comes in while the page is taken over anew; the new page may hold it.
        let waiting: Rc<RefCell<Option<Vec<String>>>> = Rc::default();
        let page = format!("/admin/jobs/{id}");

        let (held, kept) = (waiting.clone(), source.clone());
        let refresh = move || {
            let (held, kept, page) = (held.clone(), kept.clone(), page.clone());
            async move {
                held.replace(Some(Vec::new()));
                let end = log().as_ref().is_none_or(at_end);
                let _ = region::swap("job", &page, false).await;
                let text = log().and_then(|l| l.text_content()).unwrap_or_default();
                for piece in held.take().unwrap_or_default() {
                    if !text.contains(&piece) {
                        add(&piece);
                    }
                }
                if let Some(log) = log().filter(|_| end) {
                    log.set_scroll_top(log.scroll_height());
                }
                let settled = dom::document()
                    .query_selector("#job[data-settled]")
                    .ok()
                    .flatten()
                    .is_some();
                if settled {
                    kept.close();
                }
                settled
            }
        };

        // Whatever was written before the stream was open, or while it was broken off.
        let opened = refresh.clone();
        dom::listen::<Event>(&source, "open", move |_| {
            let again = opened();
            spawn_local(async move {
                again.await;
            });
        });
        dom::listen::<MessageEvent>(&source, "log", move |message| {
            let piece = message
                .data()
                .as_string()
                .and_then(|t| serde_json::from_str::<String>(&t).ok());
            let Some(piece) = piece else { return };
            match waiting.borrow_mut().as_mut() {
                Some(held) => held.push(piece),
                None => add(&piece),
            }
        });
        spawn_local(async move {
            loop {
                dom::sleep(PAUSE).await;
                if refresh().await {
                    break;
                }
            }
        });
    }

    fn log() -> Option<Element> {
        dom::document().get_element_by_id("log")
    }

    fn at_end(log: &Element) -> bool {
        log.scroll_top() + log.client_height() >= log.scroll_height() - 40
    }

    fn add(piece: &str) {
        let Some(log) = log() else { return };
        let follows = at_end(&log);
        let _ = log.append_child(&dom::document().create_text_node(piece));
        while log.child_nodes().length() > MOST {
            let Some(first) = log.first_child() else {
                break;
            };
            let _ = Node::remove_child(&log, &first);
        }
        if follows {
            log.set_scroll_top(log.scroll_height());
        }
    }
}
