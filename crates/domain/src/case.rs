//! A case as its `case.yaml` and labels describe it. Reading files is the
//! catalog's work; nothing here knows where a case lies on disk.

use serde::{Deserialize, Serialize};

use crate::condition::Track;
use crate::ids::{CaseId, SystemId};

/// Declares a unit enum with a fixed word per variant.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in display order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word used in files, addresses and the database.
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// The value of a word.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;

words!(
    /// What goes wrong, in broad terms.
    Family {
        /// A protocol fails to get back to a working state.
        ProtocolRecovery = "protocol-recovery",
        /// Threads, tasks or processes interleave badly.
        Concurrency = "concurrency",
        /// Replicas disagree, or an acknowledged write is lost.
        ReplicationConsistency = "replication-consistency",
        /// Input or a race ends the process.
        InputCrash = "input-crash",
        /// Work, messages or resources are not delivered or not released.
        ResourceDelivery = "resource-delivery",
    }
);

words!(
    /// What the report's text names.
    TextAnchor {
        /// Nothing of the code.
        Opaque = "opaque",
        /// A file or a class.
        NamesFileOrClass = "names-file-or-class",
        /// A method.
        NamesMethod = "names-method",
    }
);

words!(
    /// How far the crash is from the cause.
    CrashDistance {
        /// No crash in the report.
        None = "none",
        /// In the faulty function.
        Local = "local",
        /// In the same component.
        Adjacent = "adjacent",
        /// In another component.
        CrossComponent = "cross-component",
    }
);

/// Where the faulty tree comes from, pinned and checksummed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// A commit of a repository.
    Git {
        /// Address of the repository.
        url: String,
        /// Full commit id.
        commit: String,
    },
    /// A source distribution.
    Pypi {
        /// Project name.
        name: String,
        /// Exact version.
        version: String,
        /// SHA-256 of the archive.
        sha256: String,
    },
    /// A crate.
    Crate {
        /// Crate name.
        name: String,
        /// Exact version.
        version: String,
        /// SHA-256 of the `.crate` file.
        sha256: String,
    },
    /// A distribution's package.
    Debian {
        /// Package name.
        package: String,
        /// `source` or `binary`.
        package_kind: String,
        /// Upstream version.
        version: String,
        /// Suite, such as `bookworm`.
        suite: String,
    },
    /// A tarball.
    Archive {
        /// Address of the archive.
        url: String,
        /// SHA-256 of the archive.
        sha256: String,
    },
    /// A folder inside the case (teaching cases).
    Directory {
        /// Path relative to the case's folder.
        path: String,
    },
}

impl Source {
    /// One line for people: kind, name and version.
    pub fn summary(&self) -> String {
        match self {
            Source::Git { url, commit } => {
                format!("git {url} @ {}", commit.get(..12).unwrap_or(commit))
            }
            Source::Pypi { name, version, .. } => format!("PyPI {name} {version}"),
            Source::Crate { name, version, .. } => format!("crate {name} {version}"),
            Source::Debian {
                package,
                version,
                suite,
                ..
            } => format!("Debian {package} {version} ({suite})"),
            Source::Archive { url, .. } => format!("archive {url}"),
            Source::Directory { path } => format!("shipped folder {path}"),
        }
    }
}

/// What a run of the case may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Memory in MiB (swap included).
    pub memory_mib: u64,
    /// CPUs.
    pub cpus: CpuShare,
    /// Processes and threads.
    pub pids: u64,
    /// Seconds for setup.
    pub setup_timeout_s: u64,
    /// Seconds for the rebuild.
    pub rebuild_timeout_s: u64,
    /// Seconds for one run of the oracle.
    pub reproduce_timeout_s: u64,
}

/// A CPU share in thousandths, so that limits compare and hash exactly;
/// written as a decimal number (`1.5`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CpuShare(pub u32);

impl Serialize for CpuShare {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

impl<'de> Deserialize<'de> for CpuShare {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let v = f64::deserialize(d)?;
        if v.is_finite() && (0.01..=1024.0).contains(&v) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "range checked above"
            )]
            let thousandths = (v * 1000.0).round() as u32;
            Ok(Self(thousandths))
        } else {
            Err(serde::de::Error::custom(
                "cpus must be between 0.01 and 1024",
            ))
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_mib: 2048,
            cpus: CpuShare(2000),
            pids: 512,
            setup_timeout_s: 1800,
            rebuild_timeout_s: 1800,
            reproduce_timeout_s: 300,
        }
    }
}

/// How the oracle is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OracleSpec {
    /// How often it must pass; at least 1.
    pub repeats: u32,
    /// Whether several runs may share a host.
    #[serde(default)]
    pub parallel_safe: bool,
    /// Whether the marker must bring back the nonce; only imported oracles opt out.
    #[serde(default = "yes")]
    pub nonce: bool,
}

const fn yes() -> bool {
    true
}

/// What the original report held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceFlags {
    /// Logs were attached.
    pub contains_logs: bool,
    /// Stack traces were attached.
    pub contains_stack_traces: bool,
    /// Somebody had analysed it.
    pub contains_analysis: bool,
}

/// How the report speaks of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportCharacter {
    /// What its text names.
    pub text_anchor: TextAnchor,
    /// How far the crash is from the cause.
    pub crash_distance: CrashDistance,
}

/// One historical bug, as `case.yaml` describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The id, equal to the folder's name.
    pub id: CaseId,
    /// One line that gives nothing away.
    pub title: String,
    /// The upstream project.
    pub system: SystemId,
    /// Main language, as people write it (`Python`, `Rust`).
    pub language: String,
    /// Kind of system (`consensus library`, `key-value store` ...).
    pub category: String,
    /// What goes wrong.
    pub family: Family,
    /// Difficulty, 1 (hardest) to 3.
    pub tier: u8,
    /// Tracks that the case serves.
    pub tracks: Vec<Track>,
    /// Whether it is in the subset `lite`.
    pub lite: bool,
    /// Licence of the upstream source (SPDX).
    pub license: String,
    /// `critical`, `major`, `minor`.
    pub severity: String,
    /// Kind of mistake, in a few words.
    pub root_cause_type: String,
    /// `low`, `medium`, `high`.
    pub complexity: String,
    /// What the original report held.
    pub evidence: EvidenceFlags,
    /// How the report speaks of the code.
    pub report: ReportCharacter,
    /// Where the faulty tree comes from.
    pub source: Source,
    /// Image that it runs in, such as `faultboard/python:1`.
    pub image: String,
    /// Capabilities that the oracle's container keeps.
    pub caps: Vec<String>,
    /// Limits.
    #[serde(default)]
    pub limits: Limits,
    /// The rebuild command; empty when there is nothing to build.
    pub rebuild: String,
    /// How the oracle runs.
    pub oracle: OracleSpec,
    /// Changed lines of the upstream fix.
    pub fix_size: u32,
}

impl Case {
    /// Whether the subset holds the case, for the subsets that metadata alone decides.
    pub fn in_standard_subset(&self, subset: &str) -> Option<bool> {
        match subset {
            "full" => Some(true),
            "lite" => Some(self.lite),
            "tier-1" => Some(self.tier == 1),
            "tier-2" => Some(self.tier == 2),
            "tier-3" => Some(self.tier == 3),
            _ => None,
        }
    }
}
