//! Signing in, making an account, and the one-time page that makes the first
//! administrator. The forms are plain; the server answers them.

use leptos::prelude::*;

use crate::components::field::{Field, field};
use crate::components::frame::title;
use crate::{data, query};

const EMAIL: Field = Field {
    name: "email",
    label: "E-mail address",
    kind: "email",
    autocomplete: "email",
    hint: "",
    optional: false,
};
const NAME: Field = Field {
    name: "name",
    label: "Name",
    kind: "text",
    autocomplete: "name",
    hint: "Shown in the timeline of your submissions.",
    optional: false,
};
const OLD_PASSWORD: Field = Field {
    name: "password",
    label: "Password",
    kind: "password",
    autocomplete: "current-password",
    hint: "",
    optional: false,
};
const NEW_PASSWORD: Field = Field {
    name: "password",
    label: "Password",
    kind: "password",
    autocomplete: "new-password",
    hint: "At least 10 characters; a few words in a row make a good one.",
    optional: false,
};

/// `/sign-in`.
#[component]
pub fn SignIn() -> impl IntoView {
    let pairs = query::pairs(&super::query_string());
    let next = query::get(&pairs, "next").and_then(query::local_path);
    sign_in(next.as_deref())
}

/// The page for signing in; `next` is where to go afterwards.
pub fn sign_in(next: Option<&str>) -> AnyView {
    let elsewhere = elsewhere(next);
    let next = next.map(|n| view! { <input type="hidden" name="next" value=n.to_owned()/> });
    view! {
        {title("Sign in")}
        <div class="page narrow">
            <h1>"Sign in"</h1>
            {elsewhere}
            <form method="post" action="/sign-in" class="form">
                {next}
                {field(EMAIL, "/sign-in")}
                {field(OLD_PASSWORD, "/sign-in")}
                <button class="button primary">"Sign in"</button>
            </form>
            <p>"No account yet? "<a href="/sign-up">"Make one"</a>". Reading needs none."</p>
        </div>
    }
    .into_any()
}

/// The way to the identity provider, if there is one.
fn elsewhere(next: Option<&str>) -> Option<AnyView> {
    let name = data::provider()?;
    let href = query::href(
        "/sign-in/provider",
        &query::string([("next", next.unwrap_or_default())]),
    );
    // Another site answers, so the browser's half must leave the link alone.
    Some(
        view! {
            <p><a class="button primary" id="provider" rel="external" href=href>{format!("Sign in with {name}")}</a></p>
            <p class="remark">"Or with a password:"</p>
        }
        .into_any(),
    )
}

/// `/sign-up`.
#[component]
pub fn SignUp() -> impl IntoView {
    sign_up()
}

/// The page for making an account.
pub fn sign_up() -> AnyView {
    view! {
        {title("Make an account")}
        <div class="page narrow">
            <h1>"Make an account"</h1>
            <p>"An account lets you hand in submissions and follow them. Your address is never shown."</p>
            {elsewhere(None)}
            <form method="post" action="/sign-up" class="form">
                {field(NAME, "/sign-up")}
                {field(EMAIL, "/sign-up")}
                {field(NEW_PASSWORD, "/sign-up")}
                <button class="button primary">"Make the account"</button>
            </form>
            <p>"Have one already? "<a href="/sign-in">"Sign in"</a>"."</p>
        </div>
    }
    .into_any()
}

/// `/first-admin`.
#[component]
pub fn FirstAdmin() -> impl IntoView {
    let pairs = query::pairs(&super::query_string());
    first_admin(query::get(&pairs, "token"))
}

/// The page that makes the first administrator, by the link printed at the first start.
pub fn first_admin(token: Option<&str>) -> AnyView {
    let content = match token {
        Some(token) => view! {
            <p>"This link works once. The account made here administers the site: it reviews and publishes, and runs the queue."</p>
            <form method="post" action="/first-admin" class="form">
                <input type="hidden" name="token" value=token.to_owned()/>
                {field(NAME, "/first-admin")}
                {field(EMAIL, "/first-admin")}
                {field(NEW_PASSWORD, "/first-admin")}
                <button class="button primary">"Make the administrator"</button>
            </form>
        }
        .into_any(),
        None => view! {
            <p>"This page needs the one-time link that the server printed on its console when it first started. Open that link, or start the server again to see it: it is printed until an administrator exists."</p>
        }
        .into_any(),
    };
    view! {
        {title("First administrator")}
        <div class="page narrow"><h1>"First administrator"</h1>{content}</div>
    }
    .into_any()
}
