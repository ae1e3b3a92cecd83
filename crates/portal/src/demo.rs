//! The demo board: sample bundles handed in, scored by this machine's own
//! executor, and published, with no number shipped. Does nothing twice.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use faultboard_bundle::package::{Compression, package};
use faultboard_domain::{Actor, Digest, Role, SubmissionId, SubmissionState, UserId};
use faultboard_store::accounts::{self, User};
use faultboard_store::{flag, set_flag, submissions};
use futures::stream;

use crate::{Portal, PortalError, Result, random};

const OWNER_FLAG: &str = "demo-owner";
const DEMO_EMAIL: &str = "demo@faultboard.invalid";

/// One sample that was handed in.
fn handed_in_flag(digest: &Digest) -> String {
    format!("demo-bundle-{digest}")
}

impl Portal {
    /// The account that owns the samples; nobody can sign in to it.
    async fn demo_owner(&self) -> Result<Actor> {
        let mut tx = self.store.begin().await?;
        let id = match flag(&mut tx, OWNER_FLAG).await? {
            Some(text) => UserId::parse(&text).map_err(PortalError::internal)?,
            None => {
                let id = UserId::parse(&random::id_text('u')).map_err(PortalError::internal)?;
                let user = User {
                    id: id.clone(),
                    name: "Faultboard samples".to_owned(),
                    email: DEMO_EMAIL.to_owned(),
                    password_hash: crate::accounts::NO_PASSWORD.to_owned(),
                    role: Role::Submitter,
                };
                accounts::insert_user(&mut tx, &user, self.now()).await?;
                set_flag(&mut tx, OWNER_FLAG, id.as_str()).await?;
                id
            }
        };
        tx.commit().await?;
        Ok(Actor::User {
            id,
            role: Role::Admin,
            name: "Faultboard samples".to_owned(),
            teams: Vec::new(),
            read_only: false,
        })
    }

    /// Hands in every sample bundle (a folder with `metadata.yaml`) below
    /// `samples` that was not handed in before. They are published by
    /// [`Portal::publish_demo`] once they are scored.
    pub async fn load_demo(&self, samples: &Path) -> Result<Vec<SubmissionId>> {
        let owner = self.demo_owner().await?;
        let mut ids = Vec::new();
        for folder in bundles(samples)? {
            let packed = pack(folder.clone()).await?;
            let digest = Digest::of(&packed);
            let name = handed_in_flag(&digest);
            if flag(&mut *self.store.reader().await?, &name)
                .await?
                .is_some()
            {
                continue;
            }
            let file_name = format!(
                "{}.tar.zst",
                folder.file_name().unwrap_or_default().to_string_lossy()
            );
            let upload = self
                .create_upload(&owner, packed.len() as u64, &file_name, Some(digest))
                .await?;
            let done = self
                .append_upload(
                    &owner,
                    &upload,
                    0,
                    stream::iter([Ok::<_, std::io::Error>(packed)]),
                )
                .await?;
            let Some(id) = done.submission else { continue };
            let mut tx = self.store.begin().await?;
            set_flag(&mut tx, &name, id.as_str()).await?;
            tx.commit().await?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// Publishes the samples that are scored by now; how many of them are still
    /// on their way.
    pub async fn publish_demo(&self) -> Result<usize> {
        let Some(owner) = flag(&mut *self.store.reader().await?, OWNER_FLAG).await? else {
            return Ok(0);
        };
        let owner = UserId::parse(&owner).map_err(PortalError::internal)?;
        let lines = submissions::of_user(&mut *self.store.reader().await?, &owner).await?;
        let mut waiting = 0;
        for line in lines {
            match line.state {
                SubmissionState::Scored | SubmissionState::InReview => {
                    self.publish(
                        &Actor::System,
                        &line.id,
                        "a sample bundle of this repository",
                    )
                    .await?;
                }
                s if !s.is_settled() => waiting += 1,
                _ => {}
            }
        }
        Ok(waiting)
    }
}

/// Folders with a `metadata.yaml`, at most two levels down, sorted by path.
fn bundles(samples: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![(samples.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|e| {
            PortalError::Invalid(format!(
                "The folder {} can't be read: {e}.",
                folder.display()
            ))
        })?;
        for path in entries
            .filter_map(std::result::Result::ok)
            .map(|e| e.path())
            .filter(|p| p.is_dir())
        {
            if path.join("metadata.yaml").is_file() {
                found.push(path);
            } else if depth < 1 {
                waiting.push((path, depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Packs a folder under its own name; the same folder always makes the same bytes.
async fn pack(folder: PathBuf) -> Result<Bytes> {
    tokio::task::spawn_blocking(move || {
        let top = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut bytes = Vec::new();
        package(&folder, &top, Compression::Zstd, &mut bytes).map_err(PortalError::internal)?;
        Ok(Bytes::from(bytes))
    })
    .await
    .map_err(PortalError::internal)?
}
