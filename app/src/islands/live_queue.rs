//! Follows the queue: a page that shows it takes its content over anew when
//! something moved.

use leptos::prelude::*;

/// Follows the queue's stream for the page at an address. Draws nothing itself.
#[island]
pub fn LiveQueue(
    /// The page's path.
    page: String,
) -> impl IntoView {
    Effect::new(move |_| {
        #[cfg(feature = "hydrate")]
        follow(page.clone());
        #[cfg(not(feature = "hydrate"))]
        let _ = &page;
    });
}

#[cfg(feature = "hydrate")]
fn follow(page: String) {
    use leptos::task::spawn_local;
    use web_sys::{EventSource, MessageEvent};

    use super::{dom, region};

    let Ok(source) = EventSource::new("/admin/queue/events") else {
        return;
    };
    let mut last = None;
    dom::listen::<MessageEvent>(&source, "queue", move |message| {
        let now = message.data().as_string();
        // The first message is what the page shows already.
        if last.is_some() && last != now {
            let page = page.clone();
            spawn_local(async move {
                let _ = region::swap("queue", &page, false).await;
            });
        }
        last = now;
    });
}
