//! Who acts, and what a role may do. Deciding whether a particular deed is
//! allowed is the use cases' work; this only orders the roles.

use serde::{Deserialize, Serialize};

use crate::case::words;
use crate::ids::{TeamId, UserId};

/// A person's role. Each account has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May hand in submissions and see their own.
    Submitter,
    /// May draft cases.
    Curator,
    /// May label root-cause blocks.
    Annotator,
    /// May review submissions and sign off cases.
    Reviewer,
    /// May do everything, people and releases included.
    Admin,
}

impl Role {
    /// Every role, weakest first.
    pub const ALL: [Role; 5] = [
        Role::Submitter,
        Role::Curator,
        Role::Annotator,
        Role::Reviewer,
        Role::Admin,
    ];

    /// The word used in the database and the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Submitter => "submitter",
            Role::Curator => "curator",
            Role::Annotator => "annotator",
            Role::Reviewer => "reviewer",
            Role::Admin => "admin",
        }
    }

    /// The role of a database word.
    pub fn parse(text: &str) -> Option<Self> {
        Role::ALL.into_iter().find(|r| r.as_str() == text)
    }

    /// Whether the role may see every submission and review it.
    pub const fn is_maintainer(self) -> bool {
        matches!(self, Role::Reviewer | Role::Admin)
    }
}

words!(
    /// What a token may do, at most what its owner may.
    TokenScope {
        /// Read what its owner may read.
        Read = "read",
        /// Hand in, and take back what was handed in.
        Submit = "submit",
        /// Use its owner's role as a maintainer.
        Maintain = "maintain",
    }
);

words!(
    /// A person's part in a team.
    TeamRole {
        /// Invites, removes and ends.
        Owner = "owner",
        /// Hands in for the team, and sees and manages what it handed in.
        Member = "member",
    }
);

/// Whoever asks for something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Actor {
    /// Nobody signed in.
    Anonymous,
    /// A signed-in person.
    User {
        /// Their account.
        id: UserId,
        /// Their role at the time of asking.
        role: Role,
        /// The name shown beside what they did.
        name: String,
        /// The teams that they belong to.
        teams: Vec<TeamId>,
        /// Whether they came with a token that may only read.
        read_only: bool,
    },
    /// The platform itself: a job or the sweeper.
    System,
}

impl Actor {
    /// The account, if a person is signed in.
    pub fn user_id(&self) -> Option<&UserId> {
        match self {
            Actor::User { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Whether the actor belongs to a team.
    pub fn is_in(&self, team: &TeamId) -> bool {
        matches!(self, Actor::User { teams, .. } if teams.contains(team))
    }

    /// Whether the actor came with a token that may only read.
    pub const fn is_read_only(&self) -> bool {
        matches!(
            self,
            Actor::User {
                read_only: true,
                ..
            }
        )
    }

    /// Whether the actor may see and review every submission.
    pub fn is_maintainer(&self) -> bool {
        match self {
            Actor::User { role, .. } => role.is_maintainer(),
            Actor::System => true,
            Actor::Anonymous => false,
        }
    }

    /// Whether the actor administers the site.
    pub fn is_admin(&self) -> bool {
        matches!(
            self,
            Actor::System
                | Actor::User {
                    role: Role::Admin,
                    ..
                }
        )
    }

    /// The name written into event logs.
    pub fn label(&self) -> String {
        match self {
            Actor::Anonymous => "anonymous".to_owned(),
            Actor::System => "faultboard".to_owned(),
            Actor::User { name, .. } => name.clone(),
        }
    }
}
