//! A job's log as it is written. The text goes into the page as text, whatever
//! it holds.

use leptos::prelude::*;

/// Adds what the stream at `from` sends to the element with the id `into`.
#[island]
pub fn LiveLog(from: String, into: String) -> impl IntoView {
    Effect::new(move |_| {
        #[cfg(feature = "hydrate")]
        follow(&from, into.clone());
        #[cfg(not(feature = "hydrate"))]
        let _ = (&from, &into);
    });
}

#[cfg(feature = "hydrate")]
fn follow(from: &str, into: String) {
    use web_sys::{EventSource, MessageEvent, Node};

    use super::dom;

    /// The most bytes of text that the page keeps; the head of a longer log goes.
    const MOST: usize = 2_000_000;

    if let Some(log) = dom::document().get_element_by_id(&into) {
        log.set_scroll_top(log.scroll_height());
    }
    let mut kept = dom::document()
        .get_element_by_id(&into)
        .and_then(|l| l.text_content())
        .map_or(0, |t| t.len());
    let Ok(source) = EventSource::new(from) else { return };
    dom::listen::<MessageEvent>(&source, "log", move |message| {
        let chunk = message
            .data()
            .as_string()
            .and_then(|t| serde_json::from_str::<String>(&t).ok());
        let (Some(chunk), Some(log)) = (chunk, dom::document().get_element_by_id(&into)) else { return };
        let at_end = log.scroll_top() + log.client_height() >= log.scroll_height() - 40;
        let piece = dom::document().create_text_node(&chunk);
        let _ = log.append_child(&piece);
        kept += chunk.len();
        while kept > MOST {
            let Some(first) = log.first_child().filter(|f| f.next_sibling().is_some()) else { break };
            kept = kept.saturating_sub(first.text_content().map_or(0, |t| t.len()));
            let _ = Node::remove_child(&log, &first);
        }
        if at_end {
            log.set_scroll_top(log.scroll_height());
        }
    });
}
