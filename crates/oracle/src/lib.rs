//! The oracle protocol: prepare a clean faulty tree, apply a patch, rebuild,
//! verify in fresh containers, judge. Also what leans on the same preparation:
//! an agent's workspace, and the proof that a case fails as shipped and passes
//! with its solution.
//!
//! Stages are data ([`stages`]), the verdict is a pure function ([`judge`]);
//! only [`Oracle`] touches disks and containers. It never reads a queue or a
//! database, never stores a result, and never lets what the program under test
//! prints decide anything.

pub mod case;
pub mod evaluate;
pub mod hygiene;
pub mod judge;
pub mod key;
mod layout;
mod listing;
pub mod patching;
pub mod prepare;
pub mod proof;
mod record;
pub mod replay;
pub mod scratch;
pub mod settings;
mod snapshot;
mod soundness;
pub mod stages;
pub mod tree;
pub mod workspace;

pub use case::OracleCase;
pub use evaluate::{Attempt, Oracle, OracleError, Progress, ProgressSink};
pub use hygiene::{Hidden, HygieneReport};
pub use proof::{CaseProof, ProofRequest, ProofRun};
pub use settings::{OracleSettings, default_nonce};
pub use workspace::Workspace;

/// Names the rules by which an attempt is prepared, applied and judged. Any
/// change that could change a verdict changes it.
pub const PROTOCOL_VERSION: &str = "oracle-1";

/// Paths of an agent's tree that a patch may not touch; hunks on them are
/// dropped. A path, or a folder ending in `/`.
pub const PROTECTED_PATHS: &[&str] = &[
    "SYMPTOM.md",
    "REBUILD.sh",
    "evidence/",
    "reproduce.sh",
    "inject_test/",
    "case.yaml",
    ".git/",
];
