//! Faultboard's vocabulary as types: identifiers, cases, submissions, attempts,
//! outcomes, findings, reports, jobs, roles, traces, and the views that pages show.
//!
//! Pure: it never reads a file, a clock, the network or a database, and it never
//! decides how anything is stored or drawn. It compiles for the server and for
//! the browser alike.

pub mod actor;
pub mod case;
pub mod clock;
pub mod condition;
pub mod diagnosis;
pub mod finding;
pub mod ids;
pub mod job;
pub mod metadata;
pub mod outcome;
pub mod patch;
pub mod reevaluation;
pub mod release;
pub mod report;
pub mod rounding;
pub mod score;
pub mod submission;
pub mod trace;
pub mod view;

pub use actor::{Actor, Role, TeamRole, TokenScope};
pub use case::Case;
pub use clock::{Clock, Timestamp};
pub use condition::{Condition, Track};
pub use diagnosis::{Block, Diagnosis};
pub use finding::Finding;
pub use ids::*;
pub use outcome::{Outcome, StageKind, StageRecord};
pub use reevaluation::Scope;
pub use report::{Problem, Report, Severity};
pub use submission::SubmissionState;
