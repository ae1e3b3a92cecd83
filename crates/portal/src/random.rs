//! Random ids and secrets, and the hashes under which secrets are kept.

use faultboard_domain::ids::random_id_text;
use sha2::Digest as _;

/// Random text of an id: the prefix and 16 characters (80 bits).
pub(crate) fn id_text(prefix: char) -> String {
    random_id_text(prefix, &rand::random::<[u8; 16]>())
}

/// A random secret of 256 bits, in hexadecimal.
pub(crate) fn secret() -> String {
    hex::encode(rand::random::<[u8; 32]>())
}

/// The hash of a secret, as it is stored. Secrets are random and long, so a
/// plain SHA-256 can't be searched.
pub(crate) fn hash(secret: &str) -> String {
    hex::encode(sha2::Sha256::digest(secret.as_bytes()))
}
