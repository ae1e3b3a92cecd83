//! What the use cases can be told to do otherwise. Plain data: reading flags,
//! files and the environment is the binary's work.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Which container runtime executes runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeChoice {
    /// Docker where an engine answers, else bubblewrap.
    Auto,
    /// Docker.
    Docker,
    /// Bubblewrap.
    Bubblewrap,
    /// Docker's cluster engine.
    Swarm,
}

/// Every setting of the use cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Folder of the database, uploads, blobs and prepared trees.
    pub data_dir: PathBuf,
    /// Folder of the cases.
    pub cases_dir: PathBuf,
    /// Folder of their solutions.
    pub solutions_dir: PathBuf,
    /// Address under which readers reach the site, without a slash at its end.
    pub base_url: String,
    /// The most bytes of one upload.
    pub max_upload_bytes: u64,
    /// The most bytes that a bundle may unpack to.
    pub max_unpacked_bytes: u64,
    /// Completed scorings per account in 24 hours.
    pub daily_scorings: u32,
    /// Completed scorings per team in 24 hours.
    pub team_daily_scorings: u32,
    /// The container runtime.
    pub runtime: RuntimeChoice,
    /// Worker tasks in this process.
    pub workers: u32,
    /// Certificate bundle that set-up containers are given, where the network needs it.
    pub ca_bundle: Option<PathBuf>,
    /// Folder of root file systems for bubblewrap.
    pub rootfs_dir: Option<PathBuf>,
    /// Registry of the cluster's images, as host and port.
    pub swarm_registry: Option<String>,
    /// Label (`name=value`) of the cluster's nodes that take runs; none: all do.
    pub swarm_label: Option<String>,
    /// Below this many free bytes on the data disk no work is claimed.
    pub min_free_bytes: u64,
    /// Proofs of cases that are this many days old are made again; 0: never.
    pub proof_days: u32,
    /// After how many minutes work that does not move is called stuck.
    pub stuck_minutes: u32,
    /// How the identity provider is called that people may sign in at; none: there is none.
    pub provider: Option<String>,
    /// Whether anybody may make an account.
    pub allow_sign_up: bool,
    /// Whether cookies are for HTTPS only.
    pub secure_cookies: bool,
}

impl Default for Settings {
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            data_dir: PathBuf::from("data"),
            cases_dir: PathBuf::from("cases"),
            solutions_dir: PathBuf::from("cases-solution"),
            base_url: "http://127.0.0.1:3000".to_owned(),
            max_upload_bytes: 2 * GIB,
            max_unpacked_bytes: 20 * GIB,
            daily_scorings: 10,
            team_daily_scorings: 20,
            runtime: RuntimeChoice::Auto,
            workers: 1,
            ca_bundle: None,
            rootfs_dir: None,
            swarm_registry: None,
            swarm_label: None,
            min_free_bytes: 2 * GIB,
            proof_days: 30,
            stuck_minutes: 45,
            provider: None,
            allow_sign_up: true,
            secure_cookies: false,
        }
    }
}

impl Settings {
    /// The same with absolute paths: container engines take no others.
    ///
    /// # Errors
    /// When the current folder can't be told.
    pub(crate) fn absolute(mut self) -> std::io::Result<Self> {
        let paths = [
            Some(&mut self.data_dir),
            Some(&mut self.cases_dir),
            Some(&mut self.solutions_dir),
            self.ca_bundle.as_mut(),
            self.rootfs_dir.as_mut(),
        ];
        for path in paths.into_iter().flatten() {
            *path = std::path::absolute(&*path)?;
        }
        Ok(self)
    }
}
