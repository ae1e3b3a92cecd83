//! How much of a trace is read before it is refused. Traces come from strangers.

/// Limits on one trace. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The whole trace; for a compressed one, also what it unpacks to.
    pub total: u64,
    /// One line of a line-by-line format, or one message or step of any other:
    /// what is held in memory at once.
    pub element: u64,
    /// Normalised steps.
    pub steps: u32,
}

impl Default for Limits {
    /// 512 MiB in all, 32 MiB at once, 200,000 steps.
    fn default() -> Self {
        Self {
            total: 512 << 20,
            element: 32 << 20,
            steps: 200_000,
        }
    }
}
