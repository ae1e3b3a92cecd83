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

/// What a form that was refused a moment ago held: shown once on the page that
/// the browser was sent back to.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Refused {
    /// The path of that page.
    pub page: String,
    /// The address that the form was sent to.
    pub form: String,
    /// Why it was refused, and what to do.
    pub error: String,
    /// What was typed, by field; never a password.
    pub fields: Vec<(String, String)>,
}

/// What was typed into a field of the form with this address before it was
/// refused; else nothing.
pub fn typed(form: &str, field: &str) -> String {
    leptos::context::use_context::<Refused>()
        .filter(|r| r.form == form)
        .and_then(|r| r.fields.into_iter().find(|(name, _)| name == field))
        .map_or_else(String::new, |(_, text)| text)
}

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
