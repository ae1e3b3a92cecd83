//! What a worker may claim at a moment, and what stands in its way. Pure: the
//! caller looks at disks and engines.

/// What may be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permit {
    /// Everything.
    All,
    /// Everything that needs no container.
    WithoutContainers(Obstacle),
    /// Nothing.
    Nothing(Obstacle),
}

/// What keeps work from being claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// One word: `disk`, `engine`, `blobs`.
    pub kind: &'static str,
    /// What happened, for the operator.
    pub text: String,
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind, self.text)
    }
}

impl Permit {
    /// Whether a worker may claim work that needs containers.
    pub const fn containers(&self) -> bool {
        matches!(self, Self::All)
    }

    /// Whether it may claim anything at all.
    pub const fn anything(&self) -> bool {
        !matches!(self, Self::Nothing(_))
    }

    /// What stands in the way of some or all work.
    pub const fn obstacle(&self) -> Option<&Obstacle> {
        match self {
            Self::All => None,
            Self::WithoutContainers(o) | Self::Nothing(o) => Some(o),
        }
    }
}
