//! Any bytes as a `case.yaml`: a case, or at least one problem that says what to do.

use faultboard_catalog::parse_case;

/// Reads one input.
pub(crate) fn run(data: &[u8]) {
    let (case, problems) = parse_case("case.yaml", data);
    assert!(case.is_some() || !problems.is_empty());
    for problem in &problems {
        assert!(!problem.message.is_empty());
    }
}
