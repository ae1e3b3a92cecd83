//! The errors that use cases give: what a person may be told, apart from what
//! an operator must know. It never carries a secret or an internal text to a page.

use faultboard_domain::Report;

/// Why a use case did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum PortalError {
    /// There is no such thing, or the actor may not know of it.
    #[error("not found")]
    NotFound,
    /// Nobody is signed in.
    #[error("sign in first")]
    SignInNeeded,
    /// The actor's role does not allow it.
    #[error("your role does not allow this")]
    Forbidden,
    /// What was sent is wrong; the text says what and how to mend it.
    #[error("{0}")]
    Invalid(String),
    /// A bundle with problems.
    #[error("the bundle has {} problem(s)", .0.errors())]
    Rejected(Box<Report>),
    /// It can't be done now, because of the state that things are in.
    #[error("{0}")]
    Conflict(String),
    /// Over a limit; seconds until it may be tried again.
    #[error("{message}")]
    TooMany {
        /// What limit was met.
        message: String,
        /// Seconds to wait.
        retry_after_s: u64,
    },
    /// Larger than allowed.
    #[error("{0}")]
    TooLarge(String),
    /// The bytes are not those that were sent; none of them was kept.
    #[error("{0}")]
    Damaged(String),
    /// Something of ours failed; the text is for the log only.
    #[error("internal: {0}")]
    Internal(String),
}

impl PortalError {
    /// An internal failure, from any error.
    pub fn internal(e: impl std::fmt::Display) -> Self {
        Self::Internal(e.to_string())
    }

    /// The sentence for a page: never the text of an internal failure.
    pub fn public_message(&self) -> String {
        match self {
            Self::Internal(_) => "Something failed on our side. Nothing that you sent was lost; try again, and tell the maintainers the request id if it happens again.".to_owned(),
            Self::NotFound => "There is nothing at this address, or it is not public.".to_owned(),
            Self::SignInNeeded => "Sign in to see this.".to_owned(),
            Self::Forbidden => "Your role does not allow this. Ask an administrator if you need it.".to_owned(),
            other => other.to_string(),
        }
    }

    /// The HTTP status that fits.
    pub const fn status(&self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::SignInNeeded => 401,
            Self::Forbidden => 403,
            Self::Invalid(_) => 400,
            Self::Rejected(_) => 422,
            Self::Conflict(_) => 409,
            Self::TooMany { .. } => 429,
            Self::TooLarge(_) => 413,
            // The number that tus gives it.
            Self::Damaged(_) => 460,
            Self::Internal(_) => 500,
        }
    }
}
