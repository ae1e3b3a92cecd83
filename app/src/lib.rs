//! The user interface: every page as a function from a ready view to HTML, and
//! the few islands that come alive in the browser.
//!
//! Under `ssr` it renders whole documents and asks the use cases for its data;
//! under `hydrate` it holds the islands alone. It never decides who may see
//! what, never computes a statistic, and never trusts a text that came from
//! outside: all of it is escaped, save figures and case texts that the use
//! cases rendered themselves.

#![recursion_limit = "512"]

pub mod components;
pub mod format;
pub mod islands;
pub mod query;

#[cfg(feature = "ssr")]
pub mod context;
#[cfg(feature = "ssr")]
mod data;
#[cfg(feature = "ssr")]
pub mod document;
#[cfg(feature = "ssr")]
pub mod endpoints;
#[cfg(feature = "ssr")]
pub mod pages;
#[cfg(feature = "ssr")]
pub mod routes;

#[cfg(feature = "ssr")]
pub use context::{AssetVersion, NewToken, Refused, RequestId};
#[cfg(feature = "ssr")]
pub use document::{CONTENT_SECURITY_POLICY, shell};
#[cfg(feature = "ssr")]
pub use routes::App;

/// Prepares the browser for the islands, which `boot.js` then brings to life
/// one by one.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
