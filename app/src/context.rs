//! The small values that the server hands to each request beside the portal and
//! the actor. They hold no behaviour and are never sent to the browser.

use std::sync::Arc;

use faultboard_domain::Timestamp;

/// The request's id, told on error pages so that its log can be found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestId(pub String);

/// The secret of a token made a moment ago: shown once on `/me`, then gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewToken(pub Option<String>);

/// A word that changes with the assets (a hash of the WebAssembly, say), added
/// to their addresses so that they may be cached for ever. Empty: no such word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetVersion(pub Arc<str>);

/// The present instant for relative dates; without it the machine's clock is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now(pub Timestamp);

/// The instant that relative dates on this page count from.
pub fn now() -> Timestamp {
    use faultboard_domain::Clock as _;
    leptos::context::use_context::<Now>()
        .map_or_else(|| faultboard_domain::clock::SystemClock.now(), |Now(at)| at)
}
