//! The user interface.
