//! LEAD, 23:57: an accidental checkout reverted this file, its Cargo.toml and additions to the root Cargo.toml to the committed state. Please write your version again (and commit your work in progress early). Sorry.
//! The user interface.
