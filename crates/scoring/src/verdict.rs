//! What the outcome of a repair attempt counts as.
//!
//! The oracle decides the outcome; this is the one place that says what it
//! does to a score. A failure of the platform is never counted, for or
//! against anybody.

use faultboard_domain::Outcome;
use serde::{Deserialize, Serialize};

/// What an attempt contributes to a pass rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Counts as 1.
    Passed,
    /// Counts as 0.
    NotPassed,
    /// Is left out of numerator and denominator.
    NotCounted,
}

/// The standing of an outcome.
#[must_use]
pub const fn standing(outcome: Outcome) -> Standing {
    match outcome.passed() {
        Some(true) => Standing::Passed,
        Some(false) => Standing::NotPassed,
        None => Standing::NotCounted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pass_passes_and_only_the_platforms_faults_do_not_count() {
        for outcome in Outcome::ALL {
            let expected = match outcome {
                Outcome::Pass => Standing::Passed,
                Outcome::InfraError => Standing::NotCounted,
                Outcome::Fail
                | Outcome::NoEdit
                | Outcome::ApplyFailed
                | Outcome::BuildFailed
                | Outcome::Timeout
                | Outcome::OracleError => Standing::NotPassed,
            };
            assert_eq!(standing(*outcome), expected, "{outcome}");
        }
    }
}
