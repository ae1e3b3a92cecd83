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
    digest(&[
        PROTOCOL_VERSION.as_bytes(),
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
