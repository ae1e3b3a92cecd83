//! The checksum that a sender may give with one piece of an upload (tus's
//! extension `checksum`). It tells damage on the way from the bytes that were
//! sent; it protects from nobody who means harm, which the SHA-256 of the whole
//! upload does.

use sha2::Digest as _;

/// What the bytes of one piece must add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checksum {
    /// SHA-1, which every tus server must know.
    Sha1([u8; 20]),
    /// SHA-256.
    Sha256([u8; 32]),
}

impl Checksum {
    /// The algorithms that are known, as the protocol spells them.
    pub const ALGORITHMS: &str = "sha1,sha256";

    /// A checksum of an algorithm; none if it is unknown or the length is wrong.
    pub fn new(algorithm: &str, value: &[u8]) -> Option<Self> {
        match algorithm {
            "sha1" => value.try_into().ok().map(Self::Sha1),
            "sha256" => value.try_into().ok().map(Self::Sha256),
            _ => None,
        }
    }

    /// Begins to add up.
    pub(crate) fn begin(self) -> Sum {
        match self {
            Self::Sha1(wanted) => Sum::Sha1(sha1::Sha1::new(), wanted),
            Self::Sha256(wanted) => Sum::Sha256(sha2::Sha256::new(), wanted),
        }
    }
}

/// A sum over the bytes of a piece as they come.
pub(crate) enum Sum {
    Sha1(sha1::Sha1, [u8; 20]),
    Sha256(sha2::Sha256, [u8; 32]),
}

impl Sum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(sum, _) => sum.update(bytes),
            Self::Sha256(sum, _) => sum.update(bytes),
        }
    }

    /// Whether the bytes add up to what was told.
    pub(crate) fn holds(self) -> bool {
        match self {
            Self::Sha1(sum, wanted) => sum.finalize().as_slice() == wanted,
            Self::Sha256(sum, wanted) => sum.finalize().as_slice() == wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_holds_for_its_bytes_alone() {
        // `printf abc | sha1sum`, FIPS 180-4's example.
        let value = hex::decode("a9993e364706816aba3e25717850c26c9cd0d89d").unwrap();
        let checksum = Checksum::new("sha1", &value).unwrap();
        for (pieces, holds) in [
            (["a", "bc"], true),
            (["ab", "c"], true),
            (["ab", ""], false),
        ] {
            let mut sum = checksum.begin();
            pieces.iter().for_each(|p| sum.add(p.as_bytes()));
            assert_eq!(sum.holds(), holds, "{pieces:?}");
        }
        let whole = sha2::Sha256::digest(b"abc");
        let mut sum = Checksum::new("sha256", &whole).unwrap().begin();
        sum.add(b"abc");
        assert!(sum.holds());
        assert_eq!(Checksum::new("sha1", &whole), None);
        assert_eq!(Checksum::new("md5", &[0; 16]), None);
    }
}
