//! The plan of an attempt, as data: what runs where, with which mounts, limits
//! and users. Pure; carrying it out is [`crate::Oracle`]'s work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use faultboard_domain::StageKind;
use faultboard_domain::case::Source;
use faultboard_sandbox::{Capability, Labels, Limits, Mount, Network, RunSpec, Tmpfs, User};

use crate::case::OracleCase;
use crate::settings::OracleSettings;

const CA_TARGET: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Variables by which common tools take a CA bundle.
const CA_VARIABLES: &[&str] = &[
    "SSL_CERT_FILE",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "REQUESTS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CURL_CA_BUNDLE",
];

/// Where an attempt's files lie on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptDirs {
    /// The copy of the prepared `/work`.
    pub work: PathBuf,
    /// `reproduce.sh`, `inject_test/` and `lib/`.
    pub oracle: PathBuf,
    /// Holds `REBUILD.sh`.
    pub build: PathBuf,
}

/// One step of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Copy the prepared tree and prove it clean.
    Prepare,
    /// Apply the patch on the host.
    Apply,
    /// Build in a container; `None` when there is nothing to build.
    Rebuild(Option<Box<RunSpec>>),
    /// Run the oracle once in a fresh container.
    Verify {
        /// 1-based number of the repeat.
        repeat: u32,
        /// The secret of this run.
        nonce: String,
        /// The run.
        run: Box<RunSpec>,
    },
}

impl Stage {
    /// The kind under which it is recorded.
    pub const fn kind(&self) -> StageKind {
        match self {
            Self::Prepare => StageKind::Prepare,
            Self::Apply => StageKind::Apply,
            Self::Rebuild(_) => StageKind::Rebuild,
            Self::Verify { .. } => StageKind::Verify,
        }
    }

    /// Its 1-based number among the stages of its kind.
    pub const fn repeat(&self) -> u32 {
        match self {
            Self::Verify { repeat, .. } => *repeat,
            _ => 1,
        }
    }
}

/// All stages of an attempt, in order; one verification for each nonce.
pub fn plan(
    case: &OracleCase,
    settings: &OracleSettings,
    dirs: &AttemptDirs,
    labels: &Labels,
    nonces: &[String],
) -> Result<Vec<Stage>, UnknownCapability> {
    let rebuild = case
        .rebuild_script()
        .map(|_| Box::new(rebuild(case, settings, dirs, labels)));
    let mut stages = vec![Stage::Prepare, Stage::Apply, Stage::Rebuild(rebuild)];
    for (repeat, nonce) in (1..).zip(nonces) {
        let run = Box::new(verify(case, settings, dirs, labels, nonce)?);
        stages.push(Stage::Verify {
            repeat,
            nonce: nonce.clone(),
            run,
        });
    }
    Ok(stages)
}

/// A case asks for a capability that no container gets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the case asks for the capability `{0}`, which no container gets")]
pub struct UnknownCapability(pub String);

/// The set-up run: with network, into an empty `work`.
pub fn setup(
    case: &OracleCase,
    settings: &OracleSettings,
    work: &Path,
    labels: &Labels,
) -> RunSpec {
    let mut run = base(case, settings, labels, &["bash", "/case/setup.sh"]);
    run.env = source_env(&case.case.source, settings);
    run.env.extend(settings.setup_env.clone());
    run.env.insert("HOME".into(), "/work/.home".into());
    if let Some(bundle) = &settings.ca_bundle {
        // A bundle is often a link; the file behind it is what is mounted.
        let real = bundle.canonicalize().unwrap_or_else(|_| bundle.clone());
        run.mounts.push(Mount::read_only(real, CA_TARGET));
        run.env.extend(
            CA_VARIABLES
                .iter()
                .map(|&v| (v.to_owned(), CA_TARGET.to_owned())),
        );
    }
    run.mounts.push(Mount::read_only(&case.dir, "/case"));
    run.mounts
        .push(Mount::writable(work, "/work", settings.work_quota));
    run.workdir = "/work".into();
    run.user = settings.builder;
    run.network = Network::Setup;
    run.timeout = Duration::from_secs(case.case.limits.setup_timeout_s);
    run
}

/// A run of the platform's own script in the prepared tree, without network.
pub(crate) fn in_tree(
    case: &OracleCase,
    settings: &OracleSettings,
    work: &Path,
    labels: &Labels,
    script: &str,
) -> RunSpec {
    let mut run = base(case, settings, labels, &["bash", "-c", script]);
    run.env.insert("HOME".into(), "/tmp".into());
    run.mounts
        .push(Mount::writable(work, "/work", settings.work_quota));
    run.workdir = "/work/tree".into();
    run.user = settings.builder;
    run.timeout = Duration::from_secs(300);
    run
}

/// A shell in a workspace, as the builder and with the rebuild's home.
pub(crate) fn interactive(
    case: &OracleCase,
    settings: &OracleSettings,
    work: &Path,
    labels: &Labels,
) -> RunSpec {
    let mut run = in_tree(case, settings, work, labels, "");
    run.command = vec!["bash".into(), "-i".into()];
    run.env.insert("HOME".into(), "/work/.home".into());
    run.env.insert("TERM".into(), "xterm-256color".into());
    run
}

fn rebuild(
    case: &OracleCase,
    settings: &OracleSettings,
    dirs: &AttemptDirs,
    labels: &Labels,
) -> RunSpec {
    let mut run = base(case, settings, labels, &["bash", "/case/REBUILD.sh"]);
    run.env.insert("HOME".into(), "/work/.home".into());
    run.mounts.push(Mount::read_only(&dirs.build, "/case"));
    run.mounts
        .push(Mount::writable(&dirs.work, "/work", settings.work_quota));
    run.workdir = "/work/tree".into();
    run.user = settings.builder;
    run.timeout = Duration::from_secs(case.case.limits.rebuild_timeout_s);
    run
}

fn verify(
    case: &OracleCase,
    settings: &OracleSettings,
    dirs: &AttemptDirs,
    labels: &Labels,
    nonce: &str,
) -> Result<RunSpec, UnknownCapability> {
    let mut run = base(case, settings, labels, &["bash", "/oracle/reproduce.sh"]);
    run.env.insert("FAULTBOARD_NONCE".into(), nonce.to_owned());
    run.mounts.push(Mount::read_only(&dirs.work, "/work"));
    run.mounts.push(Mount::read_only(&dirs.oracle, "/oracle"));
    run.workdir = "/tmp".into();
    run.user = User::ROOT;
    run.caps = case
        .case
        .caps
        .iter()
        .map(|name| Capability::parse(name).ok_or_else(|| UnknownCapability(name.clone())))
        .collect::<Result<_, _>>()?;
    run.timeout = Duration::from_secs(case.case.limits.reproduce_timeout_s);
    Ok(run)
}

fn base(
    case: &OracleCase,
    settings: &OracleSettings,
    labels: &Labels,
    command: &[&str],
) -> RunSpec {
    let limits = &case.case.limits;
    let memory_bytes = limits.memory_mib.saturating_mul(1 << 20);
    let mut run = RunSpec::new(case.case.image.clone(), command, labels.clone());
    run.limits = Limits {
        memory_bytes,
        cpu_millis: limits.cpus.0,
        pids: limits.pids,
        log_bytes: settings.log_bytes,
        ..Limits::default()
    };
    run.tmpfs = vec![Tmpfs {
        target: "/tmp".into(),
        bytes: settings.tmp_bytes.min(memory_bytes / 2),
    }];
    run
}

/// The source pin as set-up reads it.
fn source_env(source: &Source, settings: &OracleSettings) -> BTreeMap<String, String> {
    let pairs: Vec<(&str, String)> = match source {
        Source::Git { url, commit } => {
            vec![
                ("KIND", "git".into()),
                ("URL", settings.mirrored(url)),
                ("COMMIT", commit.clone()),
            ]
        }
        Source::Pypi {
            name,
            version,
            sha256,
        } => vec![
            ("KIND", "pypi".into()),
            ("NAME", name.clone()),
            ("VERSION", version.clone()),
            ("SHA256", sha256.clone()),
        ],
        Source::Crate {
            name,
            version,
            sha256,
        } => vec![
            ("KIND", "crate".into()),
            ("NAME", name.clone()),
            ("VERSION", version.clone()),
            ("SHA256", sha256.clone()),
        ],
        Source::Debian {
            package,
            package_kind,
            version,
            suite,
        } => vec![
            ("KIND", "debian".into()),
            ("NAME", package.clone()),
            ("PACKAGE_KIND", package_kind.clone()),
            ("VERSION", version.clone()),
            ("SUITE", suite.clone()),
        ],
        Source::Archive { url, sha256 } => {
            vec![
                ("KIND", "archive".into()),
                ("URL", settings.mirrored(url)),
                ("SHA256", sha256.clone()),
            ]
        }
        Source::Directory { path } => vec![("KIND", "directory".into()), ("PATH", path.clone())],
    };
    pairs
        .into_iter()
        .map(|(key, value)| (format!("FAULTBOARD_SOURCE_{key}"), value))
        .collect()
}
