//! What a re-evaluation covers. Pure: which submissions that are today is for
//! the use case to find out.

use serde::{Deserialize, Serialize};

use crate::ids::{AttemptId, CaseId, IdError, ReleaseId, SubmissionId};

/// The set of attempts that is scored again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "scope", content = "subject", rename_all = "kebab-case")]
pub enum Scope {
    /// One attempt; the rest of its submission is carried over.
    Attempt(AttemptId),
    /// Every attempt of a submission.
    Submission(SubmissionId),
    /// Every attempt on a case; the rest of their submissions is carried over.
    Case(CaseId),
    /// Every submission of the same configuration as this one.
    Configuration(SubmissionId),
    /// Every submission for a release.
    Release(ReleaseId),
    /// Every submission whose live revision is of an older scorer.
    Outdated,
}

/// Why two words name no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The first word is none of the kinds.
    #[error(
        "there is no scope `{0}`: it is one of attempt, submission, case, configuration, release, outdated"
    )]
    Kind(String),
    /// The second word does not fit the first.
    #[error(transparent)]
    Subject(#[from] IdError),
}

impl Scope {
    /// The kinds, as forms and the command line spell them.
    pub const KINDS: [&str; 6] = [
        "attempt",
        "submission",
        "case",
        "configuration",
        "release",
        "outdated",
    ];

    /// Reads the two words of a form.
    pub fn parse(kind: &str, subject: &str) -> Result<Self, ScopeError> {
        let subject = subject.trim();
        Ok(match kind.trim() {
            "attempt" => Self::Attempt(AttemptId::parse(subject)?),
            "submission" => Self::Submission(SubmissionId::parse(subject)?),
            "case" => Self::Case(CaseId::parse(subject)?),
            "configuration" => Self::Configuration(SubmissionId::parse(subject)?),
            "release" => Self::Release(ReleaseId::parse(subject)?),
            "outdated" => Self::Outdated,
            other => return Err(ScopeError::Kind(other.chars().take(40).collect())),
        })
    }

    /// The kind's word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Attempt(_) => "attempt",
            Self::Submission(_) => "submission",
            Self::Case(_) => "case",
            Self::Configuration(_) => "configuration",
            Self::Release(_) => "release",
            Self::Outdated => "outdated",
        }
    }

    /// What of that kind; empty for those that need no name.
    pub fn subject(&self) -> &str {
        match self {
            Self::Attempt(id) => id.as_str(),
            Self::Submission(id) | Self::Configuration(id) => id.as_str(),
            Self::Case(id) => id.as_str(),
            Self::Release(id) => id.as_str(),
            Self::Outdated => "",
        }
    }

    /// The scope in words.
    pub fn words(&self) -> String {
        match self {
            Self::Outdated => "everything scored by an older scorer".to_owned(),
            Self::Configuration(id) => format!("the configuration of submission {id}"),
            other => format!("{} {}", other.kind(), other.subject()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_survive_their_words() {
        for (kind, subject) in [
            ("attempt", "a00000001"),
            ("submission", "s00000001"),
            ("case", "relay-1"),
            ("configuration", "s00000001"),
            ("release", "2026.1"),
            ("outdated", ""),
        ] {
            assert!(Scope::KINDS.contains(&kind));
            let scope = Scope::parse(kind, subject).unwrap();
            assert_eq!((scope.kind(), scope.subject()), (kind, subject));
        }
        for (kind, subject) in [
            ("attempt", "s00000001"),
            ("case", "../x-1"),
            ("configuration", " "),
            ("everything", ""),
        ] {
            assert!(Scope::parse(kind, subject).is_err(), "{kind} {subject}");
        }
    }
}
