//! Why a trace could not be read. Every error names the byte where reading
//! stopped; none carries the trace's own text, which nobody has escaped.

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The text breaks the rules of its format.
    #[error("the trace breaks the {format} format at byte {offset}: {reason}")]
    Malformed {
        /// Id of the reader that gave up.
        format: &'static str,
        /// 0-based offset in bytes, exact to within one byte.
        offset: u64,
        /// What was wrong, in words.
        reason: String,
    },
    /// Something is larger than the limits allow.
    #[error("the trace holds {what} of more than {limit} at byte {offset}")]
    TooLarge {
        /// What is too large, such as `a line`.
        what: &'static str,
        /// The limit, in bytes or in steps.
        limit: u64,
        /// 0-based offset in bytes where the limit was passed.
        offset: u64,
    },
    /// The source of the bytes failed.
    #[error("the trace could not be read on from byte {offset}")]
    Io {
        /// 0-based offset in bytes where reading stopped.
        offset: u64,
        /// What the source said.
        #[source]
        source: std::io::Error,
    },
}

impl TraceError {
    /// The same, at most at `end`: an archive's own directory, or a place in
    /// what was unpacked, may lie beyond the bytes that were read.
    #[must_use]
    pub(crate) fn capped(mut self, end: u64) -> Self {
        match &mut self {
            TraceError::Malformed { offset, .. }
            | TraceError::TooLarge { offset, .. }
            | TraceError::Io { offset, .. } => {
                *offset = (*offset).min(end);
            }
        }
        self
    }

    /// The 0-based offset in bytes where reading stopped.
    pub fn offset(&self) -> u64 {
        match self {
            TraceError::Malformed { offset, .. }
            | TraceError::TooLarge { offset, .. }
            | TraceError::Io { offset, .. } => *offset,
        }
    }
}
