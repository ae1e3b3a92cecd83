//! A signed-in person's own page.

use serde::{Deserialize, Serialize};

use crate::actor::Role;
use crate::clock::Timestamp;

use super::submission::SubmissionLine;

/// An API token, never its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    /// Row number.
    pub id: i64,
    /// The name that its owner gave it.
    pub name: String,
    /// Its first characters, to tell tokens apart.
    pub prefix: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Timestamp,
    /// When it was last used.
    pub last_used: Option<Timestamp>,
}

/// What an account may still hand in today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaView {
    /// Completed scorings in the last 24 hours.
    pub used: u32,
    /// How many are allowed.
    pub allowed: u32,
    /// The largest upload in bytes.
    pub max_upload_bytes: u64,
    /// The rule in words.
    pub rule: String,
}

/// `/me`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeView {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// The role.
    pub role: Role,
    /// Own submissions, newest first.
    pub submissions: Vec<SubmissionLine>,
    /// Own tokens, newest first.
    pub tokens: Vec<TokenView>,
    /// The quota.
    pub quota: QuotaView,
}
