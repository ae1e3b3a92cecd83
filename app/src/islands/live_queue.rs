//! Follows the queue: the page takes its table over anew when something moved.

use leptos::prelude::*;

/// Follows the queue's stream. Draws nothing itself.
#[island]
pub fn LiveQueue() -> impl IntoView {
    Effect::new(move |_| {
        #[cfg(feature = "hydrate")]
        follow();
    });
}

#[cfg(feature = "hydrate")]
fn follow() {
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
            spawn_local(async move {
                let _ = region::swap("queue", "/admin/queue", false).await;
            });
        }
        last = now;
    });
}
