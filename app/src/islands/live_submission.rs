//! Follows a submission: cells fill in as attempts are scored, counters and the
//! estimate move, and the page takes itself over anew when its state or its
//! timeline changed.

use leptos::prelude::*;

/// Follows the submission `id`, which stood at `state` with `events` events
/// when the page was made. Draws nothing itself.
#[island]
pub fn LiveSubmission(id: String, state: String, events: u32) -> impl IntoView {
    Effect::new(move |_| {
        #[cfg(feature = "hydrate")]
        imp::follow(&id, state.clone(), events);
        #[cfg(not(feature = "hydrate"))]
        let _ = (&id, &state, events);
    });
}

#[cfg(feature = "hydrate")]
mod imp {
    use std::cell::RefCell;
    use std::rc::Rc;

    use faultboard_domain::view::{AttemptCell, SubmissionLive};
    use leptos::task::spawn_local;
    use web_sys::{EventSource, MessageEvent};

    use super::super::{dom, region};
    use crate::components::{attempts, glyph};
    use crate::format;

    pub(super) fn follow(id: &str, state: String, events: u32) {
        let Ok(source) = EventSource::new(&format!("/submissions/{id}/events")) else {
            return;
        };
        let seen = Rc::new(RefCell::new((state, events)));
        let kept = source.clone();
        dom::listen::<MessageEvent>(&source, "live", move |message| {
            let Some(text) = message.data().as_string() else {
                return;
            };
            let Ok(live) = serde_json::from_str::<SubmissionLive>(&text) else {
                return;
            };
            let now = (live.state.as_str().to_owned(), live.events);
            let turned = *seen.borrow() != now;
            seen.replace(now);
            for cell in &live.attempts {
                fill(cell);
            }
            count(&live);
            if turned {
                let settled = live.state.is_settled();
                let kept = kept.clone();
                spawn_local(async move {
                    if let Ok(href) = dom::window().location().href() {
                        let _ = region::swap("submission", &href, false).await;
                    }
                    if settled {
                        kept.close();
                    }
                });
            }
        });
    }

    /// Brings one cell up to date, if it is on the page and differs.
    fn fill(cell: &AttemptCell) {
        let document = dom::document();
        let Some(shown) = document.get_element_by_id(&format!("cell-{}", cell.id)) else {
            return;
        };
        let look = glyph::look(cell);
        let words = attempts::words(cell, &look);
        if shown.get_attribute("title").as_deref() == Some(&words) {
            return;
        }
        let _ = shown.set_attribute("data-look", look.glyph);
        let _ = shown.set_attribute("title", &words);
        let _ = shown.class_list().add_1("filled");
        let part = |selector: &str| shown.query_selector(selector).ok().flatten();
        if let Some(mark) = part("use") {
            let _ = mark.set_attribute("href", &format!("/static/glyphs.svg#{}", look.glyph));
        }
        if let Some(value) = part(".val") {
            value.set_text_content(look.value.as_deref());
        }
        if let Some(said) = part(".sr") {
            said.set_text_content(Some(&words));
        }
    }

    fn count(live: &SubmissionLive) {
        let document = dom::document();
        if let Some(text) = document.get_element_by_id("live-count") {
            text.set_text_content(Some(&format::progress(live.done, live.total, live.eta_s)));
        }
        if let Some(bar) = document.get_element_by_id("live-bar") {
            let _ = bar.set_attribute("max", &live.total.max(1).to_string());
            let _ = bar.set_attribute("value", &live.done.to_string());
        }
    }
}
