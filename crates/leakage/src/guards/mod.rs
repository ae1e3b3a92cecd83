//! The guards, one file each.

mod breadth_gaming;
mod fix_identifier;
mod future_history;
mod issue_identifier;
mod lookup;
mod oracle_access;
mod patch_identity;
mod solution_terms;
mod verdict_gaming;

use crate::guard::Guard;

/// Every guard. To add one, add its file and its line here.
pub(crate) static GUARDS: &[&dyn Guard] = &[
    &issue_identifier::IssueIdentifier,
    &fix_identifier::FixIdentifier,
    &future_history::FutureHistory,
    &lookup::Lookup,
    &oracle_access::OracleAccess,
    &solution_terms::SolutionTerms,
    &patch_identity::PatchIdentity,
    &verdict_gaming::VerdictGaming,
    &breadth_gaming::BreadthGaming,
];
