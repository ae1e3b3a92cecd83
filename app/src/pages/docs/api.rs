//! The API: what every answer has in common, and each endpoint with an address
//! to try.

use leptos::prelude::*;

use super::code;
use crate::endpoints::{ENDPOINTS, Endpoint};

pub(super) fn content() -> AnyView {
    let rows: Vec<AnyView> = ENDPOINTS.iter().map(endpoint).collect();
    view! {
        <p>"Everything that the public pages show is there as JSON, and submissions are handed in and followed with a token. The list below is also an "<a href="/api/v1/openapi.json" rel="external">"OpenAPI document"</a>", for clients that are made from one."</p>
        {code("curl https://this.site/api/v1/boards/repair\ncurl -H \"Authorization: Bearer $FAULTBOARD_TOKEN\" https://this.site/api/v1/quota")}

        <h2>"What holds everywhere"</h2>
        <ul>
            <li>"A token is made on "<a href="/me">"your page"</a>". It may read, submit too, or use your role as a maintainer, and goes into the header "<code>"Authorization: Bearer"</code>"."</li>
            <li>"Lists that grow come in pages: "<code>"limit"</code>", and "<code>"next"</code>" with the address of the next page; none on the last."</li>
            <li>"Answers to everybody carry an "<code>"ETag"</code>": ask with "<code>"If-None-Match"</code>", and what did not change costs nothing."</li>
            <li>"An error is a problem document, "<code>"application/problem+json"</code>", that says what happened and what to do, with the id of the request."</li>
            <li>"What is not public is not there for others: 404, not 403."</li>
            <li>"Uploads speak tus 1.0 at "<code>"/files"</code>"; "<code>"Upload-Metadata"</code>" may hold "<code>"filename"</code>", "<code>"sha256"</code>" and "<code>"team"</code>"."</li>
            <li>"The quota stands in the headers "<code>"RateLimit-Policy"</code>" and "<code>"RateLimit"</code>" of "<code>"/api/v1/quota"</code>" and of each upload that is begun."</li>
        </ul>

        <h2>"Endpoints"</h2>
        {rows}
    }
    .into_any()
}

fn endpoint(e: &Endpoint) -> AnyView {
    let query: Vec<AnyView> = e
        .query
        .iter()
        .map(|(name, what)| view! { <li><code>{*name}</code>": "{*what}</li> }.into_any())
        .collect();
    let body: Vec<AnyView> = e
        .body
        .iter()
        .map(|(name, must)| {
            let optional = (!must).then_some(", optional");
            view! { <li><code>{*name}</code>" in the JSON object"{optional}</li> }.into_any()
        })
        .collect();
    let example = (!e.example.is_empty())
        .then(|| view! { <p><a rel="external" href=e.example>"Try "{e.example}</a></p> });
    view! {
        <h3><code>{format!("{} {}", e.method, e.path)}</code></h3>
        <p>{e.about}<span class="remark">{format!(" Needs {}.", e.needs.words())}</span></p>
        <ul>{query}{body}</ul>
        {example}
    }
    .into_any()
}
