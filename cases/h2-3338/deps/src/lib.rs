//! The library of the tree and what programs against it need, under one roof.
//! Holds no code of its own.

pub use bytes;
pub use h2;
pub use http;
pub use log;
pub use tokio;
pub use tracing;
