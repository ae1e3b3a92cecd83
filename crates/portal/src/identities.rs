//! Signing in with an account from elsewhere. The web half talks to the
//! provider and checks what it says; here it is decided which account that
//! opens. An identity opens the account that it was added to; else the one
//! with its address, only if the provider vouches for the address; else a new
//! one. An address that nobody vouches for opens nothing.

use faultboard_domain::{Actor, Role, UserId};
use faultboard_store::accounts::{self, User};
use faultboard_store::identities::{self, Pending};
use faultboard_store::{Tx, audit};

use crate::accounts::{NO_PASSWORD, Session, checked_email, checked_name, taken};
use crate::{Portal, PortalError, Result, random, submitter};

/// How long a browser may take to come back.
const MINUTES: i64 = 10;

/// The secrets of a sign-in that leaves for a provider.
#[derive(Debug, Clone)]
pub struct Leaving {
    /// Comes back in the address; also in a cookie, so that only the browser
    /// that left can come back with it.
    pub state: String,
    /// Comes back in the identity token.
    pub nonce: String,
}

/// A sign-in that came back, taken out so that it works once.
#[derive(Debug, Clone)]
pub struct Returned {
    /// What the identity token must repeat.
    pub nonce: String,
    /// The secret behind the code challenge.
    pub verifier: String,
    /// Where to go afterwards.
    pub next: String,
    linking: Option<UserId>,
}

/// What a provider's token said, after every check.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The provider.
    pub issuer: String,
    /// The account there.
    pub subject: String,
    /// Its address, if told.
    pub email: Option<String>,
    /// Whether the provider vouches for the address.
    pub email_verified: bool,
    /// A name to show, if told.
    pub name: Option<String>,
}

impl Portal {
    /// Begins a sign-in at a provider. Whoever is signed in adds the identity to
    /// their account; `verifier` is the secret behind the code challenge.
    pub async fn leave_for_provider(
        &self,
        actor: &Actor,
        verifier: &str,
        next: &str,
    ) -> Result<Leaving> {
        let user = match actor {
            Actor::Anonymous => None,
            _ => Some(submitter(actor)?.clone()),
        };
        let leaving = Leaving {
            state: random::secret(),
            nonce: random::secret(),
        };
        let now = self.clock.now();
        let mut tx = self.store.begin().await?;
        identities::begin(
            &mut tx,
            &random::hash(&leaving.state),
            &Pending {
                nonce: leaving.nonce.clone(),
                verifier: verifier.to_owned(),
                next: next.to_owned(),
                user,
            },
            now,
            now.plus_ms(MINUTES * 60_000),
        )
        .await?;
        tx.commit().await?;
        Ok(leaving)
    }

    /// Takes a sign-in that came back; a state works once, for minutes, and for
    /// the account that it was begun with.
    pub async fn return_from_provider(&self, actor: &Actor, state: &str) -> Result<Returned> {
        let mut tx = self.store.begin().await?;
        let pending = identities::take(&mut tx, &random::hash(state), self.clock.now()).await?;
        tx.commit().await?;
        let over = || {
            PortalError::Invalid(
                "This sign-in was used already, took too long, or began in another browser. Begin it again."
                    .to_owned(),
            )
        };
        let pending = pending.ok_or_else(over)?;
        if pending.user.is_some() && pending.user.as_ref() != actor.user_id() {
            return Err(over());
        }
        Ok(Returned {
            nonce: pending.nonce,
            verifier: pending.verifier,
            next: pending.next,
            linking: pending.user,
        })
    }

    /// Signs in whom a provider vouches for.
    pub async fn sign_in_with(&self, returned: &Returned, who: &Identity) -> Result<Session> {
        let mut tx = self.store.begin().await?;
        let known = identities::user_of(&mut tx, &who.issuer, &who.subject).await?;
        let user = match (known, &returned.linking) {
            (Some(user), None) => user,
            (Some(user), Some(linking)) if user == *linking => user,
            (Some(_), Some(_)) => {
                return Err(PortalError::Conflict(
                    "That account opens another account of this site already. Sign out, and sign in with it."
                        .to_owned(),
                ));
            }
            (None, Some(linking)) => {
                self.add_identity(&mut tx, who, linking, "added by its owner")
                    .await?;
                linking.clone()
            }
            (None, None) => self.account_for(&mut tx, who).await?,
        };
        let session = self.open_session(&mut tx, &user).await?;
        tx.commit().await?;
        Ok(session)
    }

    async fn add_identity(
        &self,
        tx: &mut Tx,
        who: &Identity,
        user: &UserId,
        how: &str,
    ) -> Result<()> {
        let now = self.clock.now();
        identities::link(tx, &who.issuer, &who.subject, user, now).await?;
        audit::add(
            tx,
            &Actor::System,
            "identity-added",
            user.as_str(),
            &format!("{} ({how})", who.issuer),
            now,
        )
        .await?;
        Ok(())
    }

    /// The account that an identity opens for the first time.
    async fn account_for(&self, tx: &mut Tx, who: &Identity) -> Result<UserId> {
        let email = checked_email(who.email.as_deref().unwrap_or_default()).map_err(|_| {
            PortalError::Invalid(
                "The provider did not tell an e-mail address, which an account here needs. Allow it to, or make an account with a password."
                    .to_owned(),
            )
        })?;
        if let Some(user) = accounts::user_by_email(tx, &email).await? {
            if !who.email_verified {
                return Err(PortalError::Conflict(
                    "There is an account with this e-mail address, and the provider does not vouch that it is yours. Sign in with your password, then add the provider on your page."
                        .to_owned(),
                ));
            }
            // Whoever made the account never had to show that the address is
            // theirs: who can, gets it alone.
            identities::take_over(tx, &user.id, NO_PASSWORD, self.clock.now()).await?;
            self.add_identity(
                tx,
                who,
                &user.id,
                "by verified address; password, sessions and tokens ended",
            )
            .await?;
            return Ok(user.id);
        }
        if !self.settings.allow_sign_up {
            return Err(PortalError::Conflict(
                "This site's maintainers make accounts by hand: ask them for one.".to_owned(),
            ));
        }
        let name = who
            .name
            .as_deref()
            .and_then(|n| checked_name(n).ok())
            .or_else(|| email.split('@').next().and_then(|n| checked_name(n).ok()))
            .unwrap_or_else(|| "Submitter".to_owned());
        let user = User {
            id: UserId::parse(&random::id_text('u')).map_err(PortalError::internal)?,
            name,
            email,
            password_hash: NO_PASSWORD.to_owned(),
            role: Role::Submitter,
        };
        accounts::insert_user(tx, &user, self.clock.now())
            .await
            .map_err(taken)?;
        self.add_identity(tx, who, &user.id, "with a new account")
            .await?;
        Ok(user.id)
    }
}
