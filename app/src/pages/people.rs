//! People and their roles, for administrators.

use faultboard_domain::Role;
use faultboard_domain::view::PersonLine;
use leptos::prelude::*;

use crate::components::frame::title;
use crate::components::when;
use crate::data;

/// `/admin/people`.
#[component]
pub fn Route() -> impl IntoView {
    data::load(
        |portal, actor| async move { portal.people(&actor).await },
        |people| page(&people),
    )
}

/// The page.
pub fn page(people: &[PersonLine]) -> AnyView {
    let rows: Vec<AnyView> = people.iter().map(person).collect();
    view! {
        {title("People")}
        <div class="page">
            <p class="kicker"><a href="/admin">"Admin"</a></p>
            <h1>"People"</h1>
            <p class="lede">"Submitters hand in. Reviewers see every submission, decide on leak hits and publish. Administrators do everything. Curators and annotators hand in, and work on cases."</p>
            <table class="data list">
                <thead><tr><th scope="col">"name"</th><th scope="col" class="wide">"address"</th><th scope="col" class="wide">"since"</th><th scope="col">"role"</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn person(p: &PersonLine) -> AnyView {
    let id = format!("role-{}", p.id);
    let roles: Vec<AnyView> = Role::ALL
        .iter()
        .map(|r| {
            view! { <option value=r.as_str() selected=*r == p.role>{r.as_str()}</option> }
                .into_any()
        })
        .collect();
    view! {
        <tr>
            <th scope="row">{p.name.clone()}</th>
            <td class="wide">{p.email.clone()}</td>
            <td class="wide">{when::date(p.created)}</td>
            <td>
                <form method="post" action=format!("/admin/people/{}/role", p.id) class="actions">
                    <label class="sr" for=id.clone()>{format!("Role of {}", p.name)}</label>
                    <select id=id name="role">{roles}</select>
                    <button class="button">"Give"</button>
                </form>
            </td>
        </tr>
    }
    .into_any()
}
