//! The audit log: what operators did, newest first.

use faultboard_domain::view::AuditLine;
use leptos::prelude::*;

use crate::components::frame::title;
use crate::components::{notice, when};
use crate::data;

/// `/admin/audit`.
#[component]
pub fn Route() -> impl IntoView {
    data::load(
        |portal, actor| async move { portal.audit_log(&actor).await },
        |lines| page(&lines),
    )
}

/// The page.
pub fn page(lines: &[AuditLine]) -> AnyView {
    let rows: Vec<AnyView> = lines
        .iter()
        .map(|l| {
            view! {
                <tr>
                    <td>{when::instant(l.at)}</td>
                    <td>{l.who.clone()}</td>
                    <th scope="row">{l.deed.clone()}</th>
                    <td><code>{l.subject.clone()}</code></td>
                    <td>{l.note.clone()}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    let content = if rows.is_empty() {
        notice::empty(
            "What operators do stands here.",
            "Nothing was done yet: pausing, draining, retrying and re-evaluating leave a line each.",
        )
    } else {
        view! {
            <table class="data audit">
                <thead><tr><th scope="col">"when"</th><th scope="col">"who"</th><th scope="col">"deed"</th><th scope="col">"of what"</th><th scope="col">"note"</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        {title("Audit log")}
        <div class="page">
            <p class="kicker"><a href="/admin">"Admin"</a></p>
            <h1>"Audit log"</h1>
            {content}
        </div>
    }
    .into_any()
}
