//! The first page, and the list of changes.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::ids::ReleaseId;

use super::board::BoardView;

/// One public change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeView {
    /// When.
    pub at: Timestamp,
    /// One sentence.
    pub text: String,
    /// The page that it concerns.
    pub href: String,
}

/// The first page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HomeView {
    /// The newest release.
    pub release: Option<ReleaseId>,
    /// Its cases.
    pub cases: u32,
    /// Its systems.
    pub systems: u32,
    /// Published submissions.
    pub submissions: u32,
    /// Scored attempts behind them.
    pub attempts: u32,
    /// The boards, at most five rows each.
    pub boards: Vec<BoardView>,
    /// The newest changes, newest first.
    pub changes: Vec<ChangeView>,
}
