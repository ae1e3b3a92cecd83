//! The original issue: by tracker key, by number with repository, by address,
//! or by title.

use faultboard_domain::finding::GuardSeverity;

use crate::guard::{Confirmed, Guard, Hit, Pattern, Terms};
use crate::reference;

pub(crate) struct IssueIdentifier;

impl Guard for IssueIdentifier {
    fn id(&self) -> &'static str {
        "issue-identifier"
    }

    fn version(&self) -> u32 {
        1
    }

    fn severity(&self) -> GuardSeverity {
        GuardSeverity::Quarantine
    }

    fn describe(&self) -> &'static str {
        "The original issue, by tracker key, number with repository, address or title."
    }

    fn patterns(&self, terms: &Terms<'_>) -> Vec<Pattern> {
        let issues = terms.case.issues.iter().enumerate();
        issues
            .flat_map(|(i, issue)| reference::patterns(issue, i))
            .collect()
    }

    fn confirm(&self, hit: &Hit<'_>) -> Option<Confirmed> {
        let issue = hit.terms.case.issues.get(hit.pattern.index)?;
        reference::confirm(hit, issue, "the original issue")
    }
}
