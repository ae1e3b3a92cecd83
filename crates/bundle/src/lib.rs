//! Bundles: what a submitter hands in. Reads archives and folders as a stream
//! under limits, applies every validation rule, and reports every problem at
//! once; packs folders; reads foreign layouts.
//!
//! One validator serves the server, the command line and the browser. It never
//! unpacks to disk, never holds an archive in memory, never stops at the first
//! problem, and knows nothing of HTTP, of the database or of the catalog: what
//! it must know of cases comes in as [`Knowledge`].
//!
//! To add a rule, add a file to `rules/` and a line to the list in `rules/mod.rs`;
//! to add a foreign layout, the same in `foreign/`.

mod check;
mod facts;
mod fault;
pub mod foreign;
#[cfg(all(feature = "testing", not(target_arch = "wasm32")))]
pub mod hostile;
mod intake;
mod knowledge;
mod layout;
mod limits;
mod metadata;
#[cfg(not(target_arch = "wasm32"))]
pub mod package;
mod path;
pub mod predictions;
mod render;
mod rules;
mod schema;
mod source;
mod stats;

#[cfg(not(target_arch = "wasm32"))]
pub use check::check_folder;
pub use check::{
    Answer, AttemptEntry, AttemptSink, CheckError, Checked, Discard, FileEntry, check_archive,
};
pub use knowledge::{CaseKnowledge, Knowledge};
pub use limits::Limits;
pub use render::render;
pub use rules::rules;
pub use schema::{SchemaError, check_diagnosis};
pub use source::EntryKind;
pub use stats::SessionStats;
