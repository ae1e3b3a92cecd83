//! How pages get their data: one call of a use case per page, made on the
//! server while the page waits for it. A refusal or a failure becomes a
//! designed page with the right status; its inner text stays on the server.

use std::sync::Arc;

use faultboard_domain::Actor;
use faultboard_portal::{Portal, PortalError};
use leptos::prelude::*;
use leptos_axum::ResponseOptions;

use crate::pages::error;

/// Whoever asks for this page.
pub(crate) fn actor() -> Actor {
    use_context::<Actor>().unwrap_or(Actor::Anonymous)
}

/// Whether the site shows generated boards.
pub(crate) fn is_synthetic() -> bool {
    use_context::<Arc<Portal>>().is_some_and(|p| p.is_synthetic())
}

/// How the identity provider is called that readers may sign in at.
pub(crate) fn provider() -> Option<String> {
    use_context::<Arc<Portal>>().and_then(|p| p.settings().provider.clone())
}

/// What a bundle's template can be had for, as `release/subset`.
pub(crate) fn template_choices() -> Vec<String> {
    use_context::<Arc<Portal>>().map_or_else(Vec::new, |p| p.template_choices())
}

/// The site's address.
pub(crate) fn base_url() -> String {
    use_context::<Arc<Portal>>().map_or_else(String::new, |p| p.settings().base_url.clone())
}

/// Asks a use case and shows its answer.
pub(crate) fn load<T, Fut>(
    call: impl FnOnce(Arc<Portal>, Actor) -> Fut,
    show: impl FnOnce(T) -> AnyView + Send + 'static,
) -> AnyView
where
    T: Send + 'static,
    Fut: Future<Output = Result<T, PortalError>> + Send + 'static,
{
    let Some(portal) = use_context::<Arc<Portal>>() else {
        // Only while the server lists the routes is there no portal.
        return ().into_any();
    };
    let answer = call(portal, actor());
    Suspend::new(async move {
        match answer.await {
            Ok(view) => show(view),
            Err(refusal) => failed(&refusal),
        }
    })
    .into_any()
}

/// The page for an error, with its status.
pub(crate) fn failed(refusal: &PortalError) -> AnyView {
    if let Some(response) = use_context::<ResponseOptions>() {
        if let Ok(status) = http::StatusCode::from_u16(refusal.status()) {
            response.set_status(status);
        }
        if let PortalError::TooMany { retry_after_s, .. } = refusal {
            response.insert_header(
                http::header::RETRY_AFTER,
                http::HeaderValue::from(*retry_after_s),
            );
        }
    }
    error::refusal(refusal)
}

/// The page for an address that names nothing.
pub(crate) fn not_found() -> AnyView {
    failed(&PortalError::NotFound)
}
