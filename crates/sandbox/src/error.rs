//! What can go wrong on the platform's side. Every variant means "try again or
//! call an operator", never "the program failed".

use std::path::PathBuf;

/// A failure of the runtime itself; the program under test is not to blame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The runtime can't be used at all.
    #[error("{runtime} is not available: {detail}")]
    Unavailable {
        /// Which runtime.
        runtime: &'static str,
        /// Why, in the engine's words.
        detail: String,
    },
    /// The image is not on this machine, and could not be fetched.
    #[error("image `{image}` is missing: {detail}")]
    ImageMissing {
        /// The reference that was asked for.
        image: String,
        /// Why.
        detail: String,
    },
    /// A call to the engine failed.
    #[error("engine call `{call}` failed: {detail}")]
    Engine {
        /// Which call.
        call: &'static str,
        /// The engine's words.
        detail: String,
    },
    /// A call to the engine did not come back.
    #[error("engine call `{call}` did not answer within {seconds} s")]
    EngineTimeout {
        /// Which call.
        call: &'static str,
        /// How long it was given.
        seconds: u64,
    },
    /// The engine made the container but could not start its program.
    #[error("the container could not be started: {detail}")]
    CannotStart {
        /// The engine's words.
        detail: String,
    },
    /// The cluster's machine on which the program ran went away with it.
    #[error("node `{node}` went away during the run: {detail}")]
    NodeLost {
        /// Its name, or its id where it has none.
        node: String,
        /// What the cluster says.
        detail: String,
    },
    /// The host has no room left; the run was stopped or not begun.
    #[error("disk full: {free} bytes free at {}, {reserve} are kept in reserve", path.display())]
    DiskFull {
        /// Where.
        path: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes that must stay free.
        reserve: u64,
    },
    /// The engine itself reports that it has no room left.
    #[error("the engine's disk is full: {detail}")]
    EngineDiskFull {
        /// The engine's words.
        detail: String,
    },
    /// A folder or file to mount is missing or may not be mounted.
    #[error("{} can't be mounted: {reason}", path.display())]
    Mount {
        /// The host's path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The run is described in a way that no runtime accepts.
    #[error("invalid run: {reason}")]
    InvalidSpec {
        /// What is wrong.
        reason: String,
    },
    /// This runtime can't do it at all.
    #[error("{runtime} can't {what}")]
    Unsupported {
        /// Which runtime.
        runtime: &'static str,
        /// What was asked of it.
        what: &'static str,
    },
    /// The host's file system or process table refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl RuntimeError {
    /// An I/O failure with what was tried.
    pub fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io {
            what: what.into(),
            source,
        }
    }

    /// Whether trying again later may help without anybody doing something.
    pub const fn is_transient(&self) -> bool {
        !matches!(
            self,
            Self::ImageMissing { .. }
                | Self::InvalidSpec { .. }
                | Self::Mount { .. }
                | Self::Unsupported { .. }
        )
    }

    /// One word for logs and metrics.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "unavailable",
            Self::ImageMissing { .. } => "image-missing",
            Self::Engine { .. } => "engine",
            Self::EngineTimeout { .. } => "engine-timeout",
            Self::CannotStart { .. } => "cannot-start",
            Self::NodeLost { .. } => "node-lost",
            Self::DiskFull { .. } | Self::EngineDiskFull { .. } => "disk-full",
            Self::Mount { .. } => "mount",
            Self::InvalidSpec { .. } => "invalid-spec",
            Self::Unsupported { .. } => "unsupported",
            Self::Io { .. } => "io",
        }
    }
}
