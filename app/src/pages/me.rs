//! A person's own page: submissions, tokens, quota.

use faultboard_domain::view::{MeView, TokenView};
use faultboard_domain::{Role, TokenScope};
use leptos::prelude::*;

use crate::components::frame::title;
use crate::components::{field, notice, stat, submissions, when};
use crate::context::NewToken;
use crate::context::typed;
use crate::{data, format};

/// `/me`.
#[component]
pub fn Route() -> impl IntoView {
    let secret = use_context::<NewToken>().and_then(|t| t.0);
    data::load(
        |portal, actor| async move { portal.me(&actor).await },
        move |view| page(&view, secret.as_deref()),
    )
}

/// The page; `secret` is a token made a moment ago, shown this once.
pub fn page(view: &MeView, secret: Option<&str>) -> AnyView {
    let list = if view.submissions.is_empty() {
        notice::empty(
            "Your submissions appear here with their state.",
            view! { <a href="/submit">"Submit a bundle"</a>", or read "<a href="/docs/submit">"how to"</a>" first." },
        )
    } else {
        submissions::table(&view.submissions, "/submissions", false, when::when)
    };
    let days = Some(typed("/me/tokens", "days"))
        .filter(|d| !d.is_empty())
        .unwrap_or_else(|| "90".to_owned());
    let shown = secret.map(|s| {
        notice::remark("good", view! {
            <p>"Your new token. Copy it now: it is shown this once, and only its digest is kept."</p>
            <pre class="snippet secret" tabindex="0" id="new-token">{s.to_owned()}</pre>
        })
    });
    let tokens: Vec<AnyView> = view.tokens.iter().map(token).collect();
    let tokens = if tokens.is_empty() {
        notice::empty(
            "Your tokens appear here.",
            "A token lets the command line upload and ask for you.",
        )
    } else {
        view! {
            <table class="data tokens">
                <thead><tr><th scope="col">"token"</th><th scope="col" class="wide">"made"</th><th scope="col">"ends"</th><th scope="col" class="wide">"last used"</th><th scope="col"><span class="sr">"revoke"</span></th></tr></thead>
                <tbody>{tokens}</tbody>
            </table>
        }
        .into_any()
    };
    let may: Vec<AnyView> = TokenScope::ALL
        .iter()
        .filter(|s| **s != TokenScope::Maintain || view.role >= Role::Reviewer)
        .map(|s| {
            let usual = *s == TokenScope::Submit;
            view! { <option value=s.as_str() selected=usual>{scope_words(*s)}</option> }.into_any()
        })
        .collect();
    let teams: Vec<AnyView> = view
        .teams
        .iter()
        .map(|t| {
            view! { <li><a href=format!("/teams/{}", t.id)>{t.name.clone()}</a><span class="remark">{format!(" {}, {} in it", t.role, t.members)}</span></li> }.into_any()
        })
        .collect();
    let opened = data::provider().map(|name| {
        if view.identities.is_empty() {
            view! { <section><h2>"Sign-in"</h2><p class="remark">{format!("You may also sign in with {name}.")}</p><p><a class="button" rel="external" href="/sign-in/provider?next=/me">{format!("Add {name}")}</a></p></section> }.into_any()
        } else {
            view! { <section><h2>"Sign-in"</h2><p class="remark">{format!("An account of {name} opens this one.")}</p></section> }.into_any()
        }
    });
    view! {
        {title("My page")}
        <div class="page">
            <div class="head-row">
                <div><p class="kicker">{format!("{} \u{b7} {}", view.email, view.role.as_str())}</p><h1>{view.name.clone()}</h1></div>
                <div class="actions">
                    <a class="button primary" href="/submit">"Submit a bundle"</a>
                    {field::post_button("/sign-out".to_owned(), "Sign out", "plain")}
                </div>
            </div>
            <div class="columns">
                <div class="main-column">
                    <section aria-labelledby="mine"><h2 id="mine">"Submissions"</h2>{list}</section>
                    <section aria-labelledby="tokens">
                        <h2 id="tokens">"Tokens for the command line"</h2>
                        {shown}
                        {tokens}
                        <form method="post" action="/me/tokens" class="form row-form">
                            <div class="field"><label for="token-name">"Name"</label><input id="token-name" name="name" type="text" value=typed("/me/tokens", "name") required=true maxlength="60" autocomplete="off"/></div>
                            <div class="field"><label for="token-days">"Valid for days"</label><input id="token-days" name="days" type="number" min="1" max="365" value=days required=true/></div>
                            <div class="field"><label for="token-may">"It may"</label><select id="token-may" name="may">{may}</select></div>
                            <button class="button">"Make a token"</button>
                        </form>
                    </section>
                </div>
                <aside class="side-column">
                    <section>
                        <h2>"Quota"</h2>
                        {stat::facts(vec![
                            stat::fact("used in 24 h", view.quota.told()),
                            stat::fact("waiting", view.quota.waiting.to_string()),
                            stat::fact("largest file", format::bytes(view.quota.max_upload_bytes)),
                        ])}
                        <p class="remark">{view.quota.rule.clone()}</p>
                    </section>
                    <section aria-labelledby="teams">
                        <h2 id="teams">"Teams"</h2>
                        <ul class="plain">{teams}</ul>
                        <p class="remark">"What is handed in for a team is seen and managed by everybody in it."</p>
                        <form method="post" action="/teams" class="form">
                            <div class="field"><label for="team">"Name of a new team"</label><input id="team" name="team" type="text" value=typed("/teams", "team") required=true maxlength="80" autocomplete="off"/></div>
                            <button class="button">"Make a team"</button>
                        </form>
                    </section>
                    {opened}
                </aside>
            </div>
        </div>
    }
    .into_any()
}

fn scope_words(scope: TokenScope) -> &'static str {
    match scope {
        TokenScope::Read => "read",
        TokenScope::Submit => "read and submit",
        TokenScope::Maintain => "all that I may",
    }
}

fn token(t: &TokenView) -> AnyView {
    let most = t.scopes.iter().max().copied().unwrap_or(TokenScope::Read);
    let used = t.last_used.map_or_else(|| "never".into_any(), when::when);
    view! {
        <tr>
            <th scope="row">{t.name.clone()}" "<code class="remark">{format!("{}\u{2026}", t.prefix)}</code><span class="remark">{format!(" may {}", scope_words(most))}</span></th>
            <td class="wide">{when::date(t.created)}</td>
            <td>{when::date(t.expires)}</td>
            <td class="wide">{used}</td>
            <td class="fig">{field::post_button(format!("/me/tokens/{}/revoke", t.id), "Revoke", "bad")}</td>
        </tr>
    }
    .into_any()
}
