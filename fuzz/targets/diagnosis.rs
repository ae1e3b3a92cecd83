//! Any bytes as a diagnosis: one that is taken can be written and read again, and has
//! the same blocks then; one that is not is told by at least one mistake.

use faultboard_bundle::check_diagnosis;
use faultboard_domain::Diagnosis;

/// Reads one input.
pub(crate) fn run(data: &[u8]) {
    match check_diagnosis(data) {
        Ok(diagnosis) => {
            let text = serde_json::to_vec(&diagnosis).expect("a diagnosis can be written");
            let again = Diagnosis::parse(&text).expect("what was written can be read");
            assert_eq!(again, diagnosis);
        }
        Err(mistakes) => assert!(!mistakes.is_empty()),
    }
    let _ = Diagnosis::parse(data);
}
