//! The islands: the parts of pages that come alive in the browser. Everything
//! they do is also reachable without them, by plain links and forms; each only
//! makes it quicker or live.

#![expect(
    missing_docs,
    reason = "the island macro makes public items that take no documentation"
)]

pub mod live_log;
pub mod live_queue;
pub mod live_submission;
#[cfg(any(feature = "hydrate", test))]
mod precheck;
pub mod region;
pub mod theme;
pub mod trace_keys;
pub mod upload;
mod upload_found;

#[cfg(feature = "hydrate")]
mod dom;
#[cfg(feature = "hydrate")]
mod tus;

pub use live_log::LiveLog;
pub use live_queue::LiveQueue;
pub use live_submission::LiveSubmission;
pub use region::LiveRegion;
pub use theme::ThemeToggle;
pub use trace_keys::TraceKeys;
pub use upload::Upload;
