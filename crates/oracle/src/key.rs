//! Keys under which prepared trees and verdicts are found again. Pure. A key
//! covers everything that could change what it stands for.

use faultboard_domain::case::Source;
use sha2::{Digest as _, Sha256};

use crate::PROTOCOL_VERSION;
use crate::case::OracleCase;

/// Changes when preparing itself does.
const SETUP_VERSION: &str = "setup-1";

/// Digest over parts, each with its length, so that no two lists collide.
fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

/// Key of a prepared tree: set-up files, source pin, image, runtime.
pub fn setup_key(case: &OracleCase, image_digest: &str, runtime: &str) -> String {
    let source = source_text(&case.case.source);
    digest(&[
        SETUP_VERSION.as_bytes(),
        case.case.id.as_str().as_bytes(),
        case.digests.setup.as_str().as_bytes(),
        source.as_bytes(),
        image_digest.as_bytes(),
        runtime.as_bytes(),
    ])
}

/// Key of a verdict: patch bytes, case, oracle, image, protocol, runtime.
pub fn verdict_key(case: &OracleCase, patch: &[u8], image_digest: &str, runtime: &str) -> String {
    scored_by(PROTOCOL_VERSION, case, patch, image_digest, runtime)
}

fn scored_by(
    scorer: &str,
    case: &OracleCase,
    patch: &[u8],
    image_digest: &str,
    runtime: &str,
) -> String {
    digest(&[
        scorer.as_bytes(),
        SETUP_VERSION.as_bytes(),
        &Sha256::digest(patch),
        case.case.id.as_str().as_bytes(),
        case.digests.content.as_str().as_bytes(),
        case.digests.oracle.as_str().as_bytes(),
        image_digest.as_bytes(),
        runtime.as_bytes(),
    ])
}

fn source_text(source: &Source) -> String {
    serde_json::to_string(source).unwrap_or_else(|_| format!("{source:?}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use faultboard_catalog::Catalog;
    use faultboard_domain::{CaseId, Digest};

    use super::*;

    const PATCH: &[u8] = b"--- a/x\n+++ b/x\n";
    const IMAGE: &str = "sha256:1";

    fn case() -> OracleCase {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (catalog, _) =
            Catalog::load(&root.join("cases"), &root.join("cases-solution")).unwrap();
        let id = CaseId::parse("relay-1").unwrap();
        OracleCase::from_entry(catalog.case(&id).unwrap(), catalog.library())
    }

    fn key(case: &OracleCase) -> String {
        verdict_key(case, PATCH, IMAGE, "docker")
    }

    #[test]
    fn the_same_attempt_has_the_same_key() {
        assert_eq!(key(&case()), key(&case()));
    }

    #[test]
    fn another_patch_has_another_key() {
        let other = verdict_key(&case(), b"--- a/x\n+++ b/x\n\n", IMAGE, "docker");
        assert_ne!(key(&case()), other, "a single byte counts");
    }

    #[test]
    fn another_case_has_another_key() {
        let mut renamed = case();
        renamed.case.id = CaseId::parse("relay-2").unwrap();
        let mut edited = case();
        edited.digests.content = Digest::of(b"an edited case");
        assert_ne!(key(&case()), key(&renamed));
        assert_ne!(key(&case()), key(&edited));
    }

    #[test]
    fn another_image_has_another_key() {
        let other = verdict_key(&case(), PATCH, "sha256:2", "docker");
        assert_ne!(key(&case()), other);
        assert_ne!(
            key(&case()),
            verdict_key(&case(), PATCH, IMAGE, "bubblewrap")
        );
    }

    #[test]
    fn another_oracle_has_another_key() {
        let mut other = case();
        other.digests.oracle = Digest::of(b"another oracle");
        assert_ne!(key(&case()), key(&other));
    }

    #[test]
    fn another_scorer_has_another_key() {
        let other = scored_by("oracle-next", &case(), PATCH, IMAGE, "docker");
        assert_ne!(key(&case()), other);
        assert_eq!(
            key(&case()),
            scored_by(PROTOCOL_VERSION, &case(), PATCH, IMAGE, "docker")
        );
    }
}
