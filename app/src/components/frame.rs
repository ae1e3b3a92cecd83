//! The frame of every page: skip link, header with navigation, notices, footer.
//! It knows who is signed in and where the reader is, nothing else.

use faultboard_domain::Actor;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::{use_location, use_query_map};

use super::notice;
use crate::context::Refused;
use crate::islands::ThemeToggle;
use crate::{data, query};

/// The sections of the site: (address, words).
const SECTIONS: [(&str, &str); 6] = [
    ("/board/repair", "Boards"),
    ("/cases", "Cases"),
    ("/figures", "Figures"),
    ("/compare", "Compare"),
    ("/changes", "Changes"),
    ("/docs", "Docs"),
];

/// The header for the present request.
pub(crate) fn header_of_request() -> AnyView {
    let location = use_location();
    let path = location.pathname.get_untracked();
    // Nobody must take a generated board for a measured one.
    let synthetic = data::is_synthetic().then(|| {
        view! { <p class="synthetic-banner" role="note">"Synthetic data: everything on this site was made by a generator. Nothing was run or measured."</p> }
    });
    view! { {header(&data::actor(), &path)}{synthetic} }.into_any()
}

/// The notices of the present request.
pub(crate) fn notices_of_request() -> AnyView {
    let q = use_query_map().get_untracked();
    let refused = use_context::<Refused>().unwrap_or_default();
    let error = Some(refused.error).filter(|e| !e.is_empty());
    notice::notices(q.get("notice").as_deref(), error.as_deref())
}

/// The header.
pub fn header(actor: &Actor, path: &str) -> AnyView {
    let here = |href: &str| {
        let section = if href.starts_with("/board") {
            "/board"
        } else {
            href
        };
        let within = path == href
            || path
                .strip_prefix(section)
                .is_some_and(|rest| rest.starts_with('/') || rest.is_empty());
        within.then_some("page")
    };
    let sections: Vec<AnyView> = SECTIONS
        .iter()
        .map(|(href, words)| {
            view! { <li><a href=*href aria-current=here(href)>{*words}</a></li> }.into_any()
        })
        .collect();
    let admin = actor
        .is_maintainer()
        .then(|| view! { <li><a href="/admin" aria-current=here("/admin")>"Admin"</a></li> });
    let account = match actor {
        Actor::User { name, .. } => view! {
            <li><a class="me" href="/me" aria-current=here("/me")>{name.clone()}</a></li>
            <li class="sign-out">
                <form method="post" action="/sign-out"><button class="link">"Sign out"</button></form>
            </li>
        }
        .into_any(),
        _ => {
            let next = if matches!(path, "/" | "/sign-in" | "/sign-up") { "" } else { path };
            let href = query::href("/sign-in", &query::string([("next", next)]));
            view! { <li><a href=href aria-current=here("/sign-in")>"Sign in"</a></li> }.into_any()
        }
    };
    view! {
        <a class="skip" href="#main">"Skip to the content"</a>
        <header class="site">
            <div class="site-inner">
                <a class="brand" href="/">
                    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
                        <use href="/static/glyphs.svg#brand"></use>
                    </svg>
                    "Faultboard"
                </a>
                <nav class="sections" aria-label="Sections">
                    <ul>{sections}{admin}</ul>
                </nav>
                <nav class="account" aria-label="Account">
                    <ul>
                        <li><a href="/submit" aria-current=here("/submit")>"Submit"</a></li>
                        <li class="theme"><ThemeToggle/></li>
                        {account}
                    </ul>
                </nav>
            </div>
        </header>
    }
    .into_any()
}

/// The footer.
pub fn footer() -> AnyView {
    view! {
        <footer class="site-foot">
            <p>
                "Every score here was recomputed on this site from what was handed in. "
                <a href="/docs/metrics">"How scores are made"</a>" · "
                <a href="/docs/rules">"Rules"</a>" · "
                <a href="/changes">"Changes"</a>
            </p>
        </footer>
    }
    .into_any()
}

/// The title of a document: the page's own words, then the site's name.
pub fn title(words: impl Into<String>) -> AnyView {
    let words: String = words.into();
    let text = if words.is_empty() {
        "Faultboard".to_owned()
    } else {
        format!("{words} · Faultboard")
    };
    // The title is written into the head as it stands.
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    view! { <Title text=text/> }.into_any()
}
