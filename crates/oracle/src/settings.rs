//! What a site sets for set-up and judging.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use faultboard_sandbox::{Quota, User};

/// Site settings of the protocol. None of them may change a verdict.
#[derive(Debug, Clone)]
pub struct OracleSettings {
    /// Holds prepared trees and the folders of running attempts.
    pub data_dir: PathBuf,
    /// CA bundle that set-up containers trust; none: the image's own.
    pub ca_bundle: Option<PathBuf>,
    /// Upstream locations and what stands in for them: (prefix, replacement).
    pub mirrors: Vec<(String, String)>,
    /// Further variables for set-up, such as a package index.
    pub setup_env: BTreeMap<String, String>,
    /// Who builds. The program under test is always uid 1001.
    pub builder: User,
    /// What set-up and a rebuild may put on disk.
    pub work_quota: Quota,
    /// Size of `/tmp` in a container, at most half of its memory.
    pub tmp_bytes: u64,
    /// Bytes of log kept for each stage.
    pub log_bytes: usize,
    /// Prepared trees that nobody used for so long may be removed.
    pub keep_prepared: Duration,
}

impl OracleSettings {
    /// Defaults under a data folder.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            ca_bundle: None,
            mirrors: Vec::new(),
            setup_env: BTreeMap::new(),
            builder: default_builder(),
            work_quota: Quota {
                bytes: 16 << 30,
                files: 500_000,
            },
            tmp_bytes: 1 << 30,
            log_bytes: 256 << 10,
            keep_prepared: Duration::from_secs(30 * 86_400),
        }
    }

    /// An upstream address, or what the site has instead of it.
    pub fn mirrored(&self, url: &str) -> String {
        self.mirrors
            .iter()
            .find_map(|(from, to)| {
                url.strip_prefix(from.as_str())
                    .map(|rest| format!("{to}{rest}"))
            })
            .unwrap_or_else(|| url.to_owned())
    }
}

/// uid 1000 where this process may give files away; else its own, so that it
/// can remove what a container wrote.
fn default_builder() -> User {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    if uid.is_root() {
        return User {
            uid: 1000,
            gid: 1000,
        };
    }
    User {
        uid: uid.as_raw(),
        gid: gid.as_raw(),
    }
}

/// A fresh secret for one run of an oracle: 128 random bits in hexadecimal.
pub fn default_nonce() -> String {
    hex::encode(rand::random::<[u8; 16]>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_stand_in_by_prefix() {
        let mut settings = OracleSettings::new("/data");
        settings
            .mirrors
            .push(("https://up.example/".into(), "http://mirror/".into()));
        assert_eq!(
            settings.mirrored("https://up.example/a.tar.gz"),
            "http://mirror/a.tar.gz"
        );
        assert_eq!(
            settings.mirrored("https://other.example/a"),
            "https://other.example/a"
        );
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(default_nonce(), default_nonce());
        assert_eq!(default_nonce().len(), 32);
    }
}
