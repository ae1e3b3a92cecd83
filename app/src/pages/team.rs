//! A team's page, and the page of an invitation.

use faultboard_domain::view::{MemberView, TeamView};
use faultboard_domain::{Actor, TeamId, TeamRole};
use leptos::prelude::*;

use super::account;
use crate::components::frame::title;
use crate::components::{field, notice, stat, submissions, when};
use crate::context::{NewToken, typed};
use crate::{data, query};

/// `/teams/:id`.
#[component]
pub fn Route() -> impl IntoView {
    let Ok(id) = TeamId::parse(&super::param("id")) else {
        return data::not_found();
    };
    let secret = use_context::<NewToken>().and_then(|t| t.0);
    let base = data::base_url();
    data::load(
        move |portal, actor| async move { portal.team(&actor, &id).await },
        move |view| {
            let link = secret.map(|s| format!("{base}/teams/join?token={s}"));
            page(&view, link.as_deref())
        },
    )
}

/// The page; `link` is an invitation made a moment ago, shown this once.
pub fn page(view: &TeamView, link: Option<&str>) -> AnyView {
    let owner = view.role == TeamRole::Owner;
    let base = format!("/teams/{}", view.id);
    let list = if view.submissions.is_empty() {
        notice::empty(
            "What is handed in for the team appears here with its state.",
            view! { <a href="/submit">"Submit a bundle"</a>", and choose the team." },
        )
    } else {
        submissions::table(&view.submissions, "/submissions", true, when::when)
    };
    let members: Vec<AnyView> = view
        .members
        .iter()
        .map(|m| member(view, &base, m, owner))
        .collect();
    let shown = link.map(|l| {
        notice::remark("good", view! {
            <p>"Send this link to the one whom you invited. It is shown this once, works once, and for fourteen days."</p>
            <pre class="snippet secret" tabindex="0" id="new-invite">{l.to_owned()}</pre>
        })
    });
    let invites: Vec<AnyView> = view
        .invites
        .iter()
        .map(|i| {
            let revoke = format!("{base}/invites/{}/revoke", i.id);
            view! { <li>{i.email.clone()}<span class="remark">" until "{when::date(i.expires)}</span>" "{field::post_button(revoke, "Revoke", "bad")}</li> }.into_any()
        })
        .collect();
    let invite = format!("{base}/invite");
    let inviting = owner.then(|| {
        view! {
            <section aria-labelledby="invites">
                <h2 id="invites">"Invitations"</h2>
                {shown}
                <ul class="plain">{invites}</ul>
                <form method="post" action=invite.clone() class="form">
                    <div class="field"><label for="email">"E-mail address of whom to invite"</label><input id="email" name="email" type="email" value=typed(&invite, "email") required=true maxlength="254" autocomplete="off"/></div>
                    <button class="button">"Invite"</button>
                </form>
                <p class="remark">"This site sends no mail: you get a link, and send it yourself. It works for the account with that address."</p>
            </section>
        }
    });
    let ending = owner.then(|| {
        view! {
            <section>
                <h2>"End the team"</h2>
                <p class="remark">"What it handed in stays, with those who handed it in."</p>
                {field::post_button(format!("{base}/end"), "End the team", "bad")}
            </section>
        }
    });
    view! {
        {title(view.name.clone())}
        <div class="page">
            <p class="kicker"><a href="/me">"My page"</a>" \u{b7} team \u{b7} "<code>{view.id.to_string()}</code></p>
            <h1>{view.name.clone()}</h1>
            <div class="columns">
                <div class="main-column">
                    <section aria-labelledby="theirs"><h2 id="theirs">"Submissions"</h2>{list}</section>
                    <section aria-labelledby="members">
                        <h2 id="members">"Members"</h2>
                        <table class="data list">
                            <thead><tr><th scope="col">"name"</th><th scope="col">"part"</th><th scope="col" class="wide">"since"</th><th scope="col"><span class="sr">"change"</span></th></tr></thead>
                            <tbody>{members}</tbody>
                        </table>
                    </section>
                </div>
                <aside class="side-column">
                    <section>
                        <h2>"Quota"</h2>
                        {stat::facts(vec![
                            stat::fact("used in 24 h", view.quota.told()),
                            stat::fact("waiting", view.quota.waiting.to_string()),
                        ])}
                        <p class="remark">{view.quota.rule.clone()}</p>
                    </section>
                    {inviting}
                    {ending}
                </aside>
            </div>
        </div>
    }
    .into_any()
}

fn member(view: &TeamView, base: &str, m: &MemberView, owner: bool) -> AnyView {
    let deed = |what: &str| format!("{base}/members/{}/{what}", m.user);
    let own = m.user == view.reader;
    let other = match m.role {
        TeamRole::Owner => ("member", "Make a member"),
        TeamRole::Member => ("owner", "Make an owner"),
    };
    let change = owner.then(|| field::post_button(deed(other.0), other.1, "plain"));
    let remove = (owner || own)
        .then(|| field::post_button(deed("remove"), if own { "Leave" } else { "Remove" }, "bad"));
    view! {
        <tr>
            <th scope="row">{m.name.clone()}</th>
            <td>{m.role.as_str()}</td>
            <td class="wide">{when::date(m.joined)}</td>
            <td><div class="actions">{change}{remove}</div></td>
        </tr>
    }
    .into_any()
}

/// `/teams/join`.
#[component]
pub fn Join() -> impl IntoView {
    let pairs = query::pairs(&super::query_string());
    let token = query::get(&pairs, "token").unwrap_or_default().to_owned();
    if data::actor() == Actor::Anonymous {
        let next = query::href("/teams/join", &query::string([("token", &*token)]));
        return account::sign_in(Some(&next));
    }
    let asked = token.clone();
    data::load(
        move |portal, _| async move { portal.invitation(&asked).await },
        move |team| join(&team, &token),
    )
}

/// The page of an invitation that still works.
pub fn join(team: &str, token: &str) -> AnyView {
    view! {
        {title("Join a team")}
        <div class="page narrow">
            <h1>{format!("Join {team}")}</h1>
            <p>"Everybody in a team sees and manages what is handed in for it. You can leave at any time; what you handed in stays yours."</p>
            <form method="post" action="/teams/join" class="form">
                <input type="hidden" name="token" value=token.to_owned()/>
                <button class="button primary">"Join the team"</button>
            </form>
        </div>
    }
    .into_any()
}
