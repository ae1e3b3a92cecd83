//! Teams: making one, inviting, joining, leaving, ending. What is handed in for
//! a team is seen and managed by everybody in it. Nothing here takes away a
//! person or a submission: who handed in keeps what they handed in.

use faultboard_domain::view::{SubmitView, TeamView};
use faultboard_domain::{Actor, TeamId, TeamRole, UserId};
use faultboard_store::{Tx, accounts, submissions, teams};

use crate::accounts::{checked_email, checked_name};
use crate::{Portal, PortalError, Result, random, submitter};

const DAY_MS: i64 = 86_400_000;
/// How long an invitation works.
const INVITE_DAYS: i64 = 14;
/// The most teams that one account may belong to.
const MOST_TEAMS: usize = 20;
/// The most people in a team, and the most open invitations.
const MOST_MEMBERS: usize = 100;

impl Portal {
    /// The actor's part in a team; without one there is no such team for them.
    async fn part(&self, tx: &mut Tx, actor: &Actor, id: &TeamId) -> Result<TeamRole> {
        let user = submitter(actor)?;
        teams::role_of(tx, id, user)
            .await?
            .ok_or(PortalError::NotFound)
    }

    async fn owner_of(&self, tx: &mut Tx, actor: &Actor, id: &TeamId) -> Result<()> {
        match self.part(tx, actor, id).await? {
            TeamRole::Owner => Ok(()),
            TeamRole::Member => Err(PortalError::Forbidden),
        }
    }

    /// What may be handed in today, for oneself and for one's teams.
    pub async fn submit_page(&self, actor: &Actor) -> Result<SubmitView> {
        let user = actor.user_id().ok_or(PortalError::SignInNeeded)?;
        let lines = teams::of_user(&mut *self.store.reader().await?, user).await?;
        let mut with_quota = Vec::with_capacity(lines.len());
        for team in lines {
            let quota = self.quota_of(actor, Some(&team.id)).await?;
            with_quota.push((team, quota));
        }
        Ok(SubmitView {
            quota: self.quota(actor).await?,
            teams: with_quota,
        })
    }

    /// Makes a team; whoever makes it owns it.
    pub async fn create_team(&self, actor: &Actor, name: &str) -> Result<TeamId> {
        let user = submitter(actor)?;
        let name = checked_name(name)?;
        let id = TeamId::parse(&random::id_text('t')).map_err(PortalError::internal)?;
        let mut tx = self.store.begin().await?;
        if teams::of_user(&mut tx, user).await?.len() >= MOST_TEAMS {
            return Err(PortalError::Conflict(format!(
                "You belong to {MOST_TEAMS} teams, which is the most: leave one first."
            )));
        }
        teams::insert(&mut tx, &id, &name, user, self.clock.now())
            .await
            .map_err(|e| {
                if e.is_unique_violation() {
                    PortalError::Conflict(
                        "There is a team with this name already: choose another, or ask its owner for an invitation."
                            .to_owned(),
                    )
                } else {
                    e.into()
                }
            })?;
        tx.commit().await?;
        Ok(id)
    }

    /// A team's page, for those who belong to it.
    pub async fn team(&self, actor: &Actor, id: &TeamId) -> Result<TeamView> {
        let user = actor.user_id().ok_or(PortalError::SignInNeeded)?;
        let now = self.clock.now();
        let mut c = self.store.reader().await?;
        let role = teams::role_of(&mut c, id, user)
            .await?
            .ok_or(PortalError::NotFound)?;
        let name = teams::name(&mut c, id)
            .await?
            .ok_or(PortalError::NotFound)?;
        Ok(TeamView {
            id: id.clone(),
            name,
            role,
            reader: user.clone(),
            members: teams::members(&mut c, id).await?,
            invites: match role {
                TeamRole::Owner => teams::invites(&mut c, id, now).await?,
                TeamRole::Member => Vec::new(),
            },
            submissions: submissions::of_team(&mut c, id).await?,
            quota: self.quota_of(actor, Some(id)).await?,
        })
    }

    /// Invites an address, by an owner: the secret of the invitation, told this
    /// once. It works once, for the account with this address.
    pub async fn invite(&self, actor: &Actor, id: &TeamId, email: &str) -> Result<String> {
        let email = checked_email(email)?;
        let mut tx = self.store.begin().await?;
        self.owner_of(&mut tx, actor, id).await?;
        let user = submitter(actor)?;
        let now = self.clock.now();
        let people = teams::members(&mut tx, id).await?.len()
            + teams::invites(&mut tx, id, now).await?.len();
        if people >= MOST_MEMBERS {
            return Err(PortalError::Conflict(format!(
                "A team has at most {MOST_MEMBERS} members and open invitations."
            )));
        }
        let secret = random::secret();
        teams::invite(
            &mut tx,
            id,
            &email,
            &random::hash(&secret),
            user,
            now,
            now.plus_ms(INVITE_DAYS * DAY_MS),
        )
        .await?;
        tx.commit().await?;
        Ok(secret)
    }

    /// The name of the team that an invitation is for.
    pub async fn invitation(&self, secret: &str) -> Result<String> {
        let mut c = self.store.reader().await?;
        let (team, _) = teams::open_invite(&mut c, &random::hash(secret), self.clock.now())
            .await?
            .ok_or_else(spent)?;
        teams::name(&mut c, &team).await?.ok_or_else(spent)
    }

    /// Joins the team of an invitation that was made for the actor's address.
    pub async fn join_team(&self, actor: &Actor, secret: &str) -> Result<TeamId> {
        let user = submitter(actor)?;
        let hash = random::hash(secret);
        let now = self.clock.now();
        let mut tx = self.store.begin().await?;
        let (team, email) = teams::open_invite(&mut tx, &hash, now)
            .await?
            .ok_or_else(spent)?;
        let account = accounts::user_by_id(&mut tx, user)
            .await?
            .ok_or(PortalError::SignInNeeded)?;
        if !account.email.eq_ignore_ascii_case(&email) {
            return Err(PortalError::Conflict(
                "This invitation is for another e-mail address than your account's: sign in with that account, or ask for an invitation for yours."
                    .to_owned(),
            ));
        }
        if !teams::use_invite(&mut tx, &hash, now).await? {
            return Err(spent());
        }
        teams::join(&mut tx, &team, user, TeamRole::Member, now).await?;
        tx.commit().await?;
        Ok(team)
    }

    /// Revokes an open invitation, by an owner.
    pub async fn revoke_invite(&self, actor: &Actor, id: &TeamId, invite: i64) -> Result<()> {
        let mut tx = self.store.begin().await?;
        self.owner_of(&mut tx, actor, id).await?;
        if !teams::revoke_invite(&mut tx, id, invite, self.clock.now()).await? {
            return Err(PortalError::NotFound);
        }
        Ok(tx.commit().await?)
    }

    /// Makes a member an owner or the other way round, by an owner.
    pub async fn set_team_role(
        &self,
        actor: &Actor,
        id: &TeamId,
        member: &UserId,
        role: TeamRole,
    ) -> Result<()> {
        let mut tx = self.store.begin().await?;
        self.owner_of(&mut tx, actor, id).await?;
        if !teams::set_role(&mut tx, id, member, role).await? {
            return Err(PortalError::NotFound);
        }
        self.still_owned(&mut tx, id).await?;
        Ok(tx.commit().await?)
    }

    /// Removes somebody, by an owner, or oneself.
    pub async fn leave_team(&self, actor: &Actor, id: &TeamId, member: &UserId) -> Result<()> {
        let mut tx = self.store.begin().await?;
        if submitter(actor)? == member {
            self.part(&mut tx, actor, id).await?;
        } else {
            self.owner_of(&mut tx, actor, id).await?;
        }
        if !teams::leave(&mut tx, id, member).await? {
            return Err(PortalError::NotFound);
        }
        self.still_owned(&mut tx, id).await?;
        Ok(tx.commit().await?)
    }

    async fn still_owned(&self, tx: &mut Tx, id: &TeamId) -> Result<()> {
        if teams::owners(tx, id).await? == 0 {
            return Err(PortalError::Conflict(
                "A team keeps at least one owner: make somebody else an owner first, or end the team."
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Ends a team, by an owner. What it handed in stays with those who handed
    /// it in.
    pub async fn end_team(&self, actor: &Actor, id: &TeamId) -> Result<()> {
        let mut tx = self.store.begin().await?;
        self.owner_of(&mut tx, actor, id).await?;
        teams::end(&mut tx, id, self.clock.now()).await?;
        Ok(tx.commit().await?)
    }
}

fn spent() -> PortalError {
    PortalError::Conflict(
        "This invitation was used, revoked, or is out of date. Ask the team's owner for another."
            .to_owned(),
    )
}
