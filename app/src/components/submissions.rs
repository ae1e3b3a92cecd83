//! A list of submissions as a table.

use faultboard_domain::view::SubmissionLine;
use leptos::prelude::*;

use super::state;

/// The table; `base` is the address that a line's id is added to, `when` writes
/// an instant, `owner` says whether to name who handed it in.
pub fn table(
    lines: &[SubmissionLine],
    base: &'static str,
    owner: bool,
    when: fn(faultboard_domain::Timestamp) -> AnyView,
) -> AnyView {
    let rows: Vec<AnyView> = lines
        .iter()
        .map(|l| {
            let known = [
                l.track.map(|t| t.as_str().to_owned()),
                l.release.as_ref().map(ToString::to_string),
                l.subset.as_ref().map(ToString::to_string),
            ]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" · ");
            let who = owner.then(|| view! { <td class="wide">{l.owner.clone()}</td> });
            view! {
                <tr>
                    <th scope="row"><a href=format!("{base}/{}", l.id)>{l.title.clone()}</a></th>
                    <td class="wide">{known}</td>
                    {who}
                    <td>{state::submission(l.state)}</td>
                    <td class="wide">{when(l.changed)}</td>
                </tr>
            }
            .into_any()
        })
        .collect();
    let who = owner.then(|| view! { <th scope="col" class="wide">"handed in by"</th> });
    view! {
        <table class="data list">
            <thead>
                <tr>
                    <th scope="col">"submission"</th>
                    <th scope="col" class="wide">"track · release · subset"</th>
                    {who}
                    <th scope="col">"state"</th>
                    <th scope="col" class="wide">"changed"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}
