//! Pages for what can't be shown: what happened, why, and what to do, with the
//! request's id. They never hold the text of an internal failure.

use faultboard_portal::PortalError;
use leptos::prelude::*;

use crate::components::frame::title;
use crate::context::RequestId;
use crate::query;

/// The page for a refusal.
pub fn refusal(e: &PortalError) -> AnyView {
    let head = match e {
        PortalError::NotFound => "Nothing here",
        PortalError::SignInNeeded => "Sign in to go on",
        PortalError::Forbidden => "Not yours to see",
        PortalError::Invalid(_) => "That request can't be understood",
        PortalError::Rejected(_) => "The bundle was not accepted",
        PortalError::Conflict(_) => "Not possible now",
        PortalError::TooMany { .. } => "Over a limit",
        PortalError::TooLarge(_) => "Too large",
        PortalError::Damaged(_) => "The bytes were damaged on their way",
        PortalError::Internal(_) => "Something failed on our side",
    };
    let next = match e {
        PortalError::SignInNeeded => {
            let here = super::path_and_query();
            let sign_in = query::href("/sign-in", &query::string([("next", here.as_str())]));
            view! { <p class="actions"><a class="button primary" href=sign_in>"Sign in"</a><a class="button" href="/sign-up">"Make an account"</a></p> }.into_any()
        }
        PortalError::NotFound => view! { <p>"Check the address, or start from the "<a href="/board/repair">"boards"</a>", the "<a href="/cases">"cases"</a>" or the "<a href="/docs">"docs"</a>". A submission is private to its owner until it is published: if it is yours, sign in first."</p> }.into_any(),
        PortalError::TooMany { retry_after_s, .. } => view! { <p>{format!("Try again in {}.", crate::format::duration(f64::from(u32::try_from(*retry_after_s).unwrap_or(u32::MAX))))}</p> }.into_any(),
        _ => view! { <p>"Go back and try again, or start from the "<a href="/">"first page"</a>"."</p> }.into_any(),
    };
    page(e.status(), head, e.public_message(), next)
}

/// An error page: its status, head, sentence and what to do next.
pub fn page(status: u16, head: &'static str, message: String, next: AnyView) -> AnyView {
    let id = use_context::<RequestId>()
        .filter(|r| !r.0.is_empty())
        .map(|r| {
            view! { <p class="remark">"Request id "<code>{r.0}</code></p> }
        });
    view! {
        {title(head)}
        <div class="page narrow error-page">
            <p class="status num">{status.to_string()}</p>
            <h1>{head}</h1>
            <p>{message}</p>
            {next}
            {id}
        </div>
    }
    .into_any()
}
