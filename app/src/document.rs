//! The document around every page: head, header, main, footer. It holds no
//! inline script and no inline style, so that the content security policy can
//! forbid both.

use leptos::config::LeptosOptions;
use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::context::AssetVersion;
use crate::routes::App;

/// The policy for every HTML page. The two digests are those of the constant
/// scripts that the renderer appends to each document (they hold empty lists,
/// because no page hands resources to the browser); nothing else runs inline.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
script-src 'self' 'wasm-unsafe-eval' \
'sha256-2e+rGxtst+bbxdLf6Dp32aL0uyPdikvr0awq53hVU58=' \
'sha256-PEoA+SZ6ZbFCusLsUEMftpXvTp6Abhw9kvgQnCC8l3U='; \
style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; \
form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The whole document with the site's router in it.
pub fn shell(options: LeptosOptions) -> impl IntoView {
    document(&options, view! { <App/> }.into_any())
}

/// A whole document around a body.
pub fn document(options: &LeptosOptions, body: AnyView) -> AnyView {
    // Pages are not hydrated, only their islands: nothing of what they loaded
    // needs to reach the browser a second time.
    if let Some(shared) = Owner::current_shared_context() {
        shared.set_is_hydrating(false);
    }
    // No script carries a nonce, so that equal pages have equal bytes.
    provide_context(leptos::nonce::Nonce::from_value(""));
    let version = use_context::<AssetVersion>()
        .filter(|v| !v.0.is_empty())
        .map(|v| format!("?v={}", crate::query::encode(&v.0)))
        .unwrap_or_default();
    let asset = |name: &str| format!("/static/{name}{version}");
    let package = format!("/{}/{}", options.site_pkg_dir, options.output_name);
    view! {
        <!DOCTYPE html>
        <html lang="en" data-js=format!("{package}.js{version}") data-wasm=format!("{package}.wasm{version}")>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <script src=asset("theme.js")></script>
                <link rel="stylesheet" href=asset("faultboard.css")/>
                <link rel="icon" href="/static/favicon.svg" type="image/svg+xml"/>
                <script type="module" src=asset("boot.js")></script>
                <MetaTags/>
            </head>
            <body>{body}</body>
        </html>
    }
    .into_any()
}
