//! Accounts, sessions and API tokens. Passwords are kept as argon2id hashes;
//! a wrong address takes as long to refuse as a wrong password.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use faultboard_domain::view::{MeView, QuotaView};
use faultboard_domain::{Actor, Role, TeamId, TokenScope, UserId};
use faultboard_store::accounts::{self, NewToken, User};
use faultboard_store::submissions::{self, Payer};
use faultboard_store::{Connection, identities, teams};

use crate::{Portal, PortalError, Result, random, submitter};

const DAY_MS: i64 = 86_400_000;
/// How long a session lasts.
pub const SESSION_DAYS: i64 = 14;
const FIRST_ADMIN: &str = "first-admin";
/// What stands in place of a hash where no password opens an account.
pub(crate) const NO_PASSWORD: &str = "no password opens this account";

/// A session's secret, for its cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session(pub String);

pub(crate) fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 80 || name.chars().any(char::is_control) {
        return Err(PortalError::Invalid(
            "The name must have 1 to 80 characters, without control characters.".to_owned(),
        ));
    }
    Ok(name.to_owned())
}

pub(crate) fn checked_email(email: &str) -> Result<String> {
    let email = email.trim();
    let plausible = email.len() <= 254
        && !email.chars().any(|c| c.is_control() || c.is_whitespace())
        && email.split_once('@').is_some_and(|(local, host)| {
            !local.is_empty() && !host.is_empty() && !host.contains('@')
        });
    if !plausible {
        return Err(PortalError::Invalid(
            "That is not an e-mail address: write it as name@example.org.".to_owned(),
        ));
    }
    Ok(email.to_owned())
}

fn checked_password(password: &str) -> Result<()> {
    let length = password.chars().count();
    if length < 10 || password.len() > 1024 {
        return Err(PortalError::Invalid("The password must have at least 10 characters, and at most 1,024 bytes. A few words make a good one.".to_owned()));
    }
    Ok(())
}

async fn hash_password(password: String) -> Result<String> {
    tokio::task::spawn_blocking(move || {
        Argon2::default()
            .hash_password(password.as_bytes())
            .map(|h| h.to_string())
            .map_err(PortalError::internal)
    })
    .await
    .map_err(PortalError::internal)?
}

async fn verify_password(password: String, hash: String) -> Result<bool> {
    tokio::task::spawn_blocking(move || {
        let parsed = PasswordHash::new(&hash).map_err(PortalError::internal)?;
        Ok(Argon2::default()
            .verify_password(password.as_bytes(), &parsed)
            .is_ok())
    })
    .await
    .map_err(PortalError::internal)?
}

impl Portal {
    /// A new one-time secret for the first administrator, while there is none.
    /// Earlier ones stop working.
    pub async fn first_admin_token(&self) -> Result<Option<String>> {
        let mut tx = self.store.begin().await?;
        if accounts::has_admin(&mut tx).await? {
            return Ok(None);
        }
        let token = random::secret();
        let now = self.clock.now();
        accounts::insert_one_time(
            &mut tx,
            &random::hash(&token),
            FIRST_ADMIN,
            now,
            now.plus_ms(DAY_MS),
        )
        .await?;
        tx.commit().await?;
        Ok(Some(token))
    }

    /// Makes the first administrator and signs them in; the token works once.
    pub async fn create_first_admin(
        &self,
        token: &str,
        name: &str,
        email: &str,
        password: &str,
    ) -> Result<Session> {
        let user = self.new_user(name, email, password, Role::Admin).await?;
        let mut tx = self.store.begin().await?;
        let now = self.clock.now();
        let spent = PortalError::Conflict("This link has been used or is out of date. Restart the server to print a new one, if there is no administrator yet.".to_owned());
        if accounts::has_admin(&mut tx).await?
            || !accounts::use_one_time(&mut tx, &random::hash(token), FIRST_ADMIN, now).await?
        {
            return Err(spent);
        }
        accounts::insert_user(&mut tx, &user, now)
            .await
            .map_err(taken)?;
        let session = self.open_session(&mut tx, &user.id).await?;
        tx.commit().await?;
        Ok(session)
    }

    /// Makes an account and signs it in.
    pub async fn sign_up(&self, name: &str, email: &str, password: &str) -> Result<Session> {
        if !self.settings.allow_sign_up {
            return Err(PortalError::Conflict(
                "This site's maintainers make accounts by hand: ask them for one.".to_owned(),
            ));
        }
        let user = self
            .new_user(name, email, password, Role::Submitter)
            .await?;
        let mut tx = self.store.begin().await?;
        accounts::insert_user(&mut tx, &user, self.clock.now())
            .await
            .map_err(taken)?;
        let session = self.open_session(&mut tx, &user.id).await?;
        tx.commit().await?;
        Ok(session)
    }

    async fn new_user(&self, name: &str, email: &str, password: &str, role: Role) -> Result<User> {
        let name = checked_name(name)?;
        let email = checked_email(email)?;
        checked_password(password)?;
        let password_hash = hash_password(password.to_owned()).await?;
        Ok(User {
            id: UserId::parse(&random::id_text('u')).map_err(PortalError::internal)?,
            name,
            email,
            password_hash,
            role,
        })
    }

    pub(crate) async fn open_session(
        &self,
        tx: &mut faultboard_store::Tx,
        user: &UserId,
    ) -> Result<Session> {
        let session = random::secret();
        let now = self.clock.now();
        accounts::insert_session(
            tx,
            &random::hash(&session),
            user,
            now,
            now.plus_ms(SESSION_DAYS * DAY_MS),
        )
        .await?;
        Ok(Session(session))
    }

    /// Opens a session; a new one each time.
    pub async fn sign_in(&self, email: &str, password: &str) -> Result<Session> {
        let user = accounts::user_by_email(&mut *self.store.reader().await?, email.trim()).await?;
        let hash = match &user {
            Some(u) if u.password_hash != NO_PASSWORD => u.password_hash.clone(),
            _ => self.decoy_hash().await?,
        };
        let right = password.len() <= 1024 && verify_password(password.to_owned(), hash).await?;
        match user {
            Some(user) if right => {
                let mut tx = self.store.begin().await?;
                let session = self.open_session(&mut tx, &user.id).await?;
                tx.commit().await?;
                Ok(session)
            }
            _ => Err(PortalError::Invalid(
                "The e-mail address or the password is wrong.".to_owned(),
            )),
        }
    }

    /// A hash that no password has, so that an unknown address costs the same work.
    async fn decoy_hash(&self) -> Result<String> {
        self.decoy
            .get_or_try_init(|| hash_password(random::secret()))
            .await
            .cloned()
    }

    /// Ends a session.
    pub async fn sign_out(&self, session: &str) -> Result<()> {
        let mut tx = self.store.begin().await?;
        accounts::delete_session(&mut tx, &random::hash(session)).await?;
        Ok(tx.commit().await?)
    }

    /// Who holds a session; anonymous if it is unknown or over.
    pub async fn actor_by_session(&self, session: &str) -> Result<Actor> {
        let now = self.clock.now();
        let mut c = self.store.reader().await?;
        match accounts::user_by_session(&mut c, &random::hash(session), now).await? {
            Some(user) => actor(&mut c, user).await,
            None => Ok(Actor::Anonymous),
        }
    }

    /// Who holds an API token, with no more power than the token has.
    pub async fn actor_by_token(&self, bearer: &str) -> Result<Actor> {
        let hash = random::hash(bearer);
        let now = self.clock.now();
        let (mut user, scopes) =
            accounts::user_by_token(&mut *self.store.reader().await?, &hash, now)
                .await?
                .ok_or(PortalError::SignInNeeded)?;
        if !scopes.contains(&TokenScope::Maintain) {
            user.role = Role::Submitter;
        }
        let mut tx = self.store.begin().await?;
        accounts::touch_token(&mut tx, &hash, now).await?;
        tx.commit().await?;
        let mut actor = actor(&mut *self.store.reader().await?, user).await?;
        if let Actor::User { read_only, .. } = &mut actor {
            *read_only = !scopes.contains(&TokenScope::Submit);
        }
        Ok(actor)
    }

    /// Makes an API token that may do these things, at most what the actor may;
    /// the secret is shown this once.
    pub async fn create_token(
        &self,
        actor: &Actor,
        name: &str,
        days: u32,
        scopes: &[TokenScope],
    ) -> Result<String> {
        let user = submitter(actor)?;
        let name = checked_name(name)?;
        if !scopes.contains(&TokenScope::Read) {
            return Err(PortalError::Invalid(
                "A token must at least be allowed to read.".to_owned(),
            ));
        }
        if !(1..=365).contains(&days) {
            return Err(PortalError::Invalid(
                "A token lasts from 1 to 365 days.".to_owned(),
            ));
        }
        let token = format!("fb_{}", random::secret());
        let now = self.clock.now();
        let mut tx = self.store.begin().await?;
        if accounts::tokens(&mut tx, user, now).await?.len() >= 50 {
            return Err(PortalError::Conflict(
                "You have 50 tokens that still work: revoke one first.".to_owned(),
            ));
        }
        accounts::insert_token(
            &mut tx,
            user,
            &NewToken {
                name: &name,
                prefix: &token[..10],
                hash: &random::hash(&token),
                scopes,
            },
            now,
            now.plus_ms(i64::from(days) * DAY_MS),
        )
        .await?;
        tx.commit().await?;
        Ok(token)
    }

    /// Revokes one of the actor's tokens.
    pub async fn revoke_token(&self, actor: &Actor, id: i64) -> Result<()> {
        let user = submitter(actor)?;
        let mut tx = self.store.begin().await?;
        if !accounts::revoke_token(&mut tx, user, id, self.clock.now()).await? {
            return Err(PortalError::NotFound);
        }
        Ok(tx.commit().await?)
    }

    /// What the actor may still hand in today.
    pub async fn quota(&self, actor: &Actor) -> Result<QuotaView> {
        self.quota_of(actor, None).await
    }

    /// What may still be handed in today for oneself, or for a team that one
    /// belongs to. What is handed in for a team uses the team's quota alone.
    pub async fn quota_of(&self, actor: &Actor, team: Option<&TeamId>) -> Result<QuotaView> {
        let user = actor.user_id().ok_or(PortalError::SignInNeeded)?;
        let (payer, most, whose) = match team {
            None => (Payer::User(user), self.settings.daily_scorings, ""),
            Some(team) if actor.is_in(team) => (
                Payer::Team(team),
                self.settings.team_daily_scorings,
                " of the team",
            ),
            Some(_) => return Err(PortalError::NotFound),
        };
        let since = self.clock.now().plus_ms(-DAY_MS);
        let mut c = self.store.reader().await?;
        let used = submissions::scorings_since(&mut c, payer, since).await?;
        let waiting = submissions::unsettled(&mut c, payer).await?;
        let allowed = (!actor.is_maintainer()).then_some(most);
        let rule = match allowed {
            None => "Maintainers have no daily limit.".to_owned(),
            Some(most) => format!(
                "Up to {most} completed scorings{whose} in 24 hours. Bundles that are not accepted or withdrawn before they are scored, and failures of the platform, do not count."
            ),
        };
        Ok(QuotaView {
            used,
            waiting,
            allowed,
            max_upload_bytes: self.settings.max_upload_bytes,
            rule,
        })
    }

    /// The actor's own page.
    pub async fn me(&self, actor: &Actor) -> Result<MeView> {
        let id = actor.user_id().ok_or(PortalError::SignInNeeded)?;
        let quota = self.quota(actor).await?;
        let mut c = self.store.reader().await?;
        let user = accounts::user_by_id(&mut c, id)
            .await?
            .ok_or(PortalError::SignInNeeded)?;
        Ok(MeView {
            name: user.name,
            email: user.email,
            role: user.role,
            submissions: submissions::of_user(&mut c, id).await?,
            tokens: accounts::tokens(&mut c, id, self.clock.now()).await?,
            quota,
            teams: teams::of_user(&mut c, id).await?,
            identities: identities::issuers(&mut c, id).await?,
        })
    }
}

/// The person of an account, with the teams that they belong to now.
async fn actor(c: &mut Connection, user: User) -> Result<Actor> {
    let teams = teams::of_user(c, &user.id).await?;
    Ok(Actor::User {
        id: user.id,
        role: user.role,
        name: user.name,
        teams: teams.into_iter().map(|t| t.id).collect(),
        read_only: false,
    })
}

pub(crate) fn taken(e: faultboard_store::StoreError) -> PortalError {
    if e.is_unique_violation() {
        PortalError::Conflict(
            "There is an account with this e-mail address already: sign in instead.".to_owned(),
        )
    } else {
        e.into()
    }
}
