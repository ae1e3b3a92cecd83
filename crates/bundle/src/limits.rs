//! The limits that a bundle must keep. Data only: nothing here reads anything.

use serde::{Deserialize, Serialize};

/// Upper bounds on a bundle, each checked while it streams. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Size of the archive itself.
    pub compressed_bytes: u64,
    /// Size of everything in it, unpacked.
    pub unpacked_bytes: u64,
    /// Number of entries, folders included.
    pub entries: u64,
    /// Unpacked bytes per byte of archive.
    pub ratio: u64,
    /// Unpacked bytes up to which the ratio is not looked at: a small file of
    /// blanks is no bomb.
    pub ratio_floor_bytes: u64,
    /// Size of one file, unpacked.
    pub file_bytes: u64,
    /// Folders and file name of one path, counted.
    pub nesting: usize,
    /// Size of one patch, diagnosis, `session_stats.json` or `metadata.yaml`.
    pub answer_bytes: u64,
    /// Size of all of those together: they are held in memory during a check.
    pub answers_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            compressed_bytes: 2 << 30,
            unpacked_bytes: 20 << 30,
            entries: 200_000,
            ratio: 200,
            ratio_floor_bytes: 16 << 20,
            file_bytes: 256 << 20,
            nesting: 16,
            answer_bytes: 4 << 20,
            answers_bytes: 64 << 20,
        }
    }
}

/// A size for people: `2 GiB`, `256 MiB`, `17 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        let one = 1u64 << shift;
        if bytes >= one {
            let tenths = bytes / (one / 10).max(1);
            return if bytes.is_multiple_of(one) {
                format!("{} {unit}", bytes >> shift)
            } else {
                format!("{}.{} {unit}", tenths / 10, tenths % 10)
            };
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(2 << 30), "2 GiB");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(17), "17 bytes");
    }

    #[test]
    fn some_limits_may_be_set_alone() {
        let limits: Limits = serde_json::from_str(r#"{"entries": 5}"#).unwrap();
        assert_eq!(
            limits,
            Limits {
                entries: 5,
                ..Limits::default()
            }
        );
        assert!(serde_json::from_str::<Limits>(r#"{"entires": 5}"#).is_err());
    }
}
