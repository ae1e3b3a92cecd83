//! The history of a submission as a vertical line of events, oldest first.

use faultboard_domain::view::EventView;
use leptos::prelude::*;

use super::state;

/// Draws the events; `when` writes an instant.
pub fn timeline(
    events: &[EventView],
    when: fn(faultboard_domain::Timestamp) -> AnyView,
) -> AnyView {
    let items: Vec<AnyView> = events
        .iter()
        .map(|e| {
            let tone = e.state.map_or("note", state::tone);
            let led_to = e.state.map(state::submission);
            let note = (!e.note.is_empty()).then(|| view! { <p class="event-note">{e.note.clone()}</p> });
            view! {
                <li class="event" data-tone=tone>
                    <div class="event-head">{led_to}<span class="who">{e.who.clone()}</span>{when(e.at)}</div>
                    {note}
                </li>
            }
            .into_any()
        })
        .collect();
    view! { <ol class="timeline">{items}</ol> }.into_any()
}
