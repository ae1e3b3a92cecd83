//! From attempts to the figures of a board row: diagnosis metrics, the
//! choice of attempts, aggregation over cases, pass rates and lift.
//!
//! Pure functions of stored attempts. This crate never runs an oracle, never
//! knows where results are kept, and never takes a figure that a submitter
//! claims.
//!
//! | module | subject |
//! | --- | --- |
//! | [`diagnosis`] | the metrics of one diagnosis (rules P1 to Z2) |
//! | [`selection`] | which attempts count, with a manifest |
//! | [`aggregate`] | the diagnosis track's figures of one configuration |
//! | [`repair`] | pass rates, lift and flips of the repair track |
//! | [`verdict`] | what an outcome counts as |
//! | [`usage`] | tokens, cost, steps and first edits |
//! | [`agreement`] | agreement of annotators under the scorer's rules |

pub mod aggregate;
pub mod agreement;
pub mod diagnosis;
pub mod repair;
pub mod selection;
pub mod usage;
pub mod verdict;

mod estimate;

/// Names the rule set of the diagnosis scorer: rules P1 to P4, F1, N1 to
/// N12, L1 to L4, B1 to B5, M1 to M6, Z1 and Z2 with the main expectation of
/// each. Any change of a rule is a new version, and scores of different
/// versions never stand on one board.
pub const SCORER_VERSION: &str = "diagnosis-rules-1";
