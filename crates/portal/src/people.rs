//! People and their roles, for administrators. It changes what somebody may do
//! and never takes an account away.

use faultboard_domain::view::PersonLine;
use faultboard_domain::{Actor, Role, UserId};
use faultboard_store::accounts;

use crate::{Portal, PortalError, Result, admin};

/// The most people that are listed.
const MOST: u32 = 2_000;

impl Portal {
    /// Everybody with an account.
    pub async fn people(&self, actor: &Actor) -> Result<Vec<PersonLine>> {
        admin(actor)?;
        Ok(accounts::people(&mut *self.store.reader().await?, MOST).await?)
    }

    /// Gives somebody a role. There is always an administrator left.
    pub async fn set_role(&self, actor: &Actor, id: &UserId, role: Role) -> Result<()> {
        admin(actor)?;
        let mut tx = self.store.begin().await?;
        if !accounts::set_role(&mut tx, id, role).await? {
            return Err(PortalError::NotFound);
        }
        if !accounts::has_admin(&mut tx).await? {
            return Err(PortalError::Conflict(
                "The site keeps at least one administrator: give somebody else the role first."
                    .to_owned(),
            ));
        }
        self.audited(tx, actor, "role-given", id.as_str(), role.as_str())
            .await
    }
}
