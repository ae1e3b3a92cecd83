//! A signed-in person's own page.

use serde::{Deserialize, Serialize};

use crate::actor::{Role, TeamRole, TokenScope};
use crate::clock::Timestamp;
use crate::ids::{TeamId, UserId};

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
    /// What it may do.
    pub scopes: Vec<TokenScope>,
}

/// A team that somebody belongs to, in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamLine {
    /// Its id.
    pub id: TeamId,
    /// Its name.
    pub name: String,
    /// The reader's part in it.
    pub role: TeamRole,
    /// How many belong to it.
    pub members: u32,
}

/// Somebody in a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberView {
    /// Their account.
    pub user: UserId,
    /// Their name.
    pub name: String,
    /// Their part.
    pub role: TeamRole,
    /// Since when.
    pub joined: Timestamp,
}

/// An invitation that nobody has used yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteView {
    /// Row number.
    pub id: i64,
    /// Whom it is for.
    pub email: String,
    /// When it ends.
    pub expires: Timestamp,
}

/// A team's page, for those who belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamView {
    /// Its id.
    pub id: TeamId,
    /// Its name.
    pub name: String,
    /// The reader's part in it.
    pub role: TeamRole,
    /// Who reads.
    pub reader: UserId,
    /// Everybody in it, owners first.
    pub members: Vec<MemberView>,
    /// Open invitations, for owners.
    pub invites: Vec<InviteView>,
    /// What it handed in, newest first.
    pub submissions: Vec<SubmissionLine>,
    /// Its quota.
    pub quota: QuotaView,
}

/// What an account may still hand in today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaView {
    /// Completed scorings in the last 24 hours.
    pub used: u32,
    /// Submissions that may yet become one.
    pub waiting: u32,
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
        self.allowed
            .is_none_or(|most| self.used.saturating_add(self.waiting) < most)
    }

    /// How many may still be handed in now; none: no limit.
    pub fn left(&self) -> Option<u32> {
        self.allowed
            .map(|most| most.saturating_sub(self.used.saturating_add(self.waiting)))
    }

    /// `2 of 10`, or `2` without a limit.
    pub fn told(&self) -> String {
        match self.allowed {
            Some(most) => format!("{} of {most}", self.used),
            None => self.used.to_string(),
        }
    }
}

/// Somebody with an account, for administrators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonLine {
    /// The account.
    pub id: UserId,
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// The role.
    pub role: Role,
    /// Since when.
    pub created: Timestamp,
}

/// `/submit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitView {
    /// The reader's own quota.
    pub quota: QuotaView,
    /// Their teams, each with its quota.
    pub teams: Vec<(TeamLine, QuotaView)>,
}

impl SubmitView {
    /// Whether another bundle may be handed in, for oneself or some team.
    pub fn has_room(&self) -> bool {
        self.quota.has_room() || self.teams.iter().any(|(_, q)| q.has_room())
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
    /// Teams, by name.
    pub teams: Vec<TeamLine>,
    /// Providers whose accounts open this one.
    pub identities: Vec<String>,
}
