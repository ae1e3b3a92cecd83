//! The binary's library half.
