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
    /// How many are allowed; none: no limit.
    pub allowed: Option<u32>,
    /// The largest upload in bytes.
    pub max_upload_bytes: u64,
    /// The rule in words.
    pub rule: String,
}

impl QuotaView {
    /// Whether another bundle may be handed in.
    pub fn has_room(&self) -> bool {
        self.allowed.is_none_or(|most| self.used < most)
    }

    /// `2 of 10`, or `2` without a limit.
    pub fn told(&self) -> String {
        match self.allowed {
            Some(most) => format!("{} of {most}", self.used),
            None => self.used.to_string(),
        }
    }
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
