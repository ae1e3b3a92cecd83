//! The head of a sortable column: a plain link that names the order in the
//! address. The present order is told to readers of the screen too.

use leptos::prelude::*;

/// A column's head.
#[derive(Debug, Clone)]
pub struct SortHead {
    /// What it shows.
    pub title: String,
    /// Its unit, may be empty.
    pub unit: String,
    /// One sentence on what it means.
    pub help: String,
    /// The address that sorts by it.
    pub href: String,
    /// The present order by this column: `ascending`, `descending` or none.
    pub order: Option<&'static str>,
    /// Extra classes of the cell.
    pub class: &'static str,
}

/// Draws the head.
pub fn sort_head(head: SortHead) -> AnyView {
    let unit = (!head.unit.is_empty()).then(|| view! { <span class="unit">{head.unit}</span> });
    view! {
        <th scope="col" class=head.class aria-sort=head.order>
            <a class="sort" href=head.href title=head.help data-swap="board">
                <span class="sort-title">{head.title}</span>
                {unit}
                <svg class="arrow" viewBox="0 0 8 12" width="8" height="12" aria-hidden="true" focusable="false">
                    <path class="up" d="M4 0 7.5 5H.5z"></path>
                    <path class="down" d="M4 12 .5 7h7z"></path>
                </svg>
            </a>
        </th>
    }
    .into_any()
}
