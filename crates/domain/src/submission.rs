//! The life of a submission: its states and which may follow which.

use serde::{Deserialize, Serialize};

use crate::case::words;

words!(
    /// Where a submission is.
    SubmissionState {
        /// Bytes are arriving.
        Uploading = "uploading",
        /// All bytes are here.
        Received = "received",
        /// The bundle is being checked.
        Validating = "validating",
        /// The bundle was rejected, with a report.
        Invalid = "invalid",
        /// The leakage guards run.
        Scanning = "scanning",
        /// A guard's hit waits for a reviewer before scoring.
        Flagged = "flagged",
        /// Its attempts wait to be scored.
        Queued = "queued",
        /// Its attempts are being scored.
        Scoring = "scoring",
        /// Every attempt has a result.
        Scored = "scored",
        /// A maintainer looks at it.
        InReview = "in-review",
        /// It stands on the board.
        Published = "published",
        /// A maintainer turned it down, with a reason.
        Rejected = "rejected",
        /// Its owner took it back before publication.
        Withdrawn = "withdrawn",
        /// A newer one of the same configuration replaced it.
        Superseded = "superseded",
    }
);

impl SubmissionState {
    /// Whether `next` may follow.
    pub fn may_become(self, next: SubmissionState) -> bool {
        use SubmissionState as S;
        match (self, next) {
            (S::Uploading, S::Received)
            | (S::Received, S::Validating)
            | (S::Validating, S::Invalid | S::Scanning)
            | (S::Scanning, S::Flagged | S::Queued)
            | (S::Flagged, S::Queued)
            | (S::Queued, S::Scoring)
            | (S::Scoring, S::Scored)
            | (S::Scored, S::InReview)
            // Published, or returned to its owner with comments.
            | (S::InReview, S::Published | S::Scored)
            | (S::Published, S::Superseded) => true,
            (S::Flagged | S::Scored | S::InReview | S::Published, S::Rejected) => true,
            (from, S::Withdrawn) => from.is_withdrawable(),
            _ => false,
        }
    }

    /// Whether its owner may still take it back.
    pub const fn is_withdrawable(self) -> bool {
        !matches!(
            self,
            Self::Published | Self::Rejected | Self::Withdrawn | Self::Superseded | Self::Invalid
        )
    }

    /// Whether everybody may see it.
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Published | Self::Superseded)
    }

    /// Whether nothing more will happen by itself.
    pub const fn is_settled(self) -> bool {
        matches!(
            self,
            Self::Invalid
                | Self::Flagged
                | Self::Scored
                | Self::InReview
                | Self::Published
                | Self::Rejected
                | Self::Withdrawn
                | Self::Superseded
        )
    }

    /// What the state means, for its owner.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Uploading => "Bytes are arriving; a broken upload can be resumed.",
            Self::Received => "The whole bundle is here and waits for its check.",
            Self::Validating => "The bundle is being checked.",
            Self::Invalid => {
                "The bundle was not accepted; the report lists every problem and its fix."
            }
            Self::Scanning => "The leakage guards read every attempt.",
            Self::Flagged => {
                "A leakage guard's hit needs a reviewer's decision before scoring goes on."
            }
            Self::Queued => "The attempts wait for a free worker.",
            Self::Scoring => "The attempts are being scored.",
            Self::Scored => "Every attempt has a result.",
            Self::InReview => "A maintainer looks at it before it is published.",
            Self::Published => "It stands on the board.",
            Self::Rejected => "A maintainer did not publish it; the reason is in the timeline.",
            Self::Withdrawn => "Its owner took it back.",
            Self::Superseded => "A newer submission of the same configuration replaced it.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SubmissionState as S;

    #[test]
    fn published_is_reached_only_through_review() {
        for s in S::ALL {
            assert_eq!(s.may_become(S::Published), *s == S::InReview, "{s}");
        }
    }

    #[test]
    fn nothing_leaves_a_final_state() {
        for last in [S::Invalid, S::Rejected, S::Withdrawn, S::Superseded] {
            assert!(S::ALL.iter().all(|next| !last.may_become(*next)), "{last}");
        }
    }

    #[test]
    fn owners_withdraw_from_anywhere_before_publication() {
        for s in S::ALL {
            let expected = !matches!(
                s,
                S::Published | S::Rejected | S::Withdrawn | S::Superseded | S::Invalid
            );
            assert_eq!(s.may_become(S::Withdrawn), expected, "{s}");
        }
    }
}
