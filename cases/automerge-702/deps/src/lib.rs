//! The library of the tree under one roof, for programs that are compiled
//! against what the rebuild left. Holds no code of its own.

pub use automerge;
