//! Case files: reading and checking `cases/` and `cases-solution/`, release
//! lists, content digests, lints, and the scan of oracles for fragile tricks.
//!
//! It reads files through one loader and otherwise works on bytes in memory. It
//! never starts a container, never runs a script of a case, and never writes.

mod case_file;
mod catalog;
pub mod digest;
pub mod folder;
mod form;
pub mod lints;
pub mod loader;
pub mod markdown;
mod release_file;
pub mod reported;
pub mod solution;
pub mod specificity;
pub mod variants;
pub mod yaml;

pub use case_file::{CAPABILITIES, CATEGORIES, LANGUAGES, parse as parse_case};
pub use catalog::{CaseTexts, Catalog, CatalogError, Entry, Evidence};
pub use digest::CaseDigests;
pub use release_file::{STANDARD_SUBSETS, parse as parse_release};
pub use solution::{Solution, Upstream};
pub use specificity::Finding;
pub use variants::{Expect, Variant};
