//! Uploads that survive a broken connection and a killed server: bytes go
//! straight into a file, whose length is the truth about what has arrived.
//! A complete upload becomes a submission, once.

use std::io::SeekFrom;
use std::path::PathBuf;

use bytes::Bytes;
use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::{Actor, Digest, SubmissionId, SubmissionState, TeamId, UploadId};
use faultboard_store::jobs;
use faultboard_store::jobs::NewJob;
use faultboard_store::submissions::{self, Submission};
use faultboard_store::uploads::{self, Upload};
use futures::{Stream, StreamExt};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::{Change, Checksum, Portal, PortalError, Result, random, submitter};

const DAY_MS: i64 = 86_400_000;
/// Bytes that one account may have in open uploads, as a multiple of one upload.
const OPEN_UPLOADS: u64 = 4;

/// How far an upload is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadStatus {
    /// Bytes that have arrived.
    pub offset: u64,
    /// Bytes in all.
    pub length: u64,
    /// The submission, once it is complete.
    pub submission: Option<SubmissionId>,
}

/// The last part of what a browser calls a file's name, without oddities.
fn safe_file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
    if clean.trim().is_empty() {
        "bundle".to_owned()
    } else {
        clean.trim().to_owned()
    }
}

impl Portal {
    fn upload_path(&self, id: &UploadId) -> PathBuf {
        self.settings.data_dir.join("uploads").join(id.as_str())
    }

    /// Begins an upload of a known length, for oneself.
    pub async fn create_upload(
        &self,
        actor: &Actor,
        length: u64,
        file_name: &str,
        sha256: Option<Digest>,
    ) -> Result<UploadId> {
        self.create_upload_for(actor, None, length, file_name, sha256)
            .await
    }

    /// Begins an upload of a known length, for oneself or for a team that one
    /// belongs to.
    pub async fn create_upload_for(
        &self,
        actor: &Actor,
        team: Option<&TeamId>,
        length: u64,
        file_name: &str,
        sha256: Option<Digest>,
    ) -> Result<UploadId> {
        let user = submitter(actor)?;
        if length == 0 {
            return Err(PortalError::Invalid("The file is empty.".to_owned()));
        }
        let most = self.settings.max_upload_bytes;
        if length > most {
            return Err(PortalError::TooLarge(format!(
                "The file has {length} bytes; this site takes at most {most}. Compress the traces with zstd, or hand in a smaller subset."
            )));
        }
        let quota = self.quota_of(actor, team).await?;
        if !quota.has_room() {
            return Err(PortalError::TooMany {
                message: format!(
                    "{} {} scorings are done and {} wait.",
                    quota.rule, quota.used, quota.waiting
                ),
                retry_after_s: 3600,
            });
        }
        let mut tx = self.store.begin().await?;
        if uploads::open_bytes(&mut tx, user)
            .await?
            .saturating_add(length)
            > most.saturating_mul(OPEN_UPLOADS)
        {
            return Err(PortalError::TooMany {
                message: "Your unfinished uploads take all the room that one account has: finish or end one of them first.".to_owned(),
                retry_after_s: 3600,
            });
        }
        let id = UploadId::parse(&random::id_text('p')).map_err(PortalError::internal)?;
        let upload = Upload {
            id: id.clone(),
            user: user.clone(),
            team: team.cloned(),
            file_name: safe_file_name(file_name),
            length,
            sha256,
            submission: None,
        };
        uploads::insert(&mut tx, &upload, self.clock.now()).await?;
        tokio::fs::File::create(self.upload_path(&id))
            .await
            .map_err(PortalError::internal)?;
        tx.commit().await?;
        Ok(id)
    }

    async fn own_upload(&self, actor: &Actor, id: &UploadId) -> Result<Upload> {
        let user = submitter(actor)?;
        let upload = uploads::get(&mut *self.store.reader().await?, id).await?;
        upload
            .filter(|u| u.user == *user)
            .ok_or(PortalError::NotFound)
    }

    async fn status_of(&self, upload: &Upload) -> Result<UploadStatus> {
        let offset = if upload.submission.is_some() {
            upload.length
        } else {
            match tokio::fs::metadata(self.upload_path(&upload.id)).await {
                Ok(m) => m.len(),
                // Made, but the machine stopped before the file was.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => 0,
                Err(e) => return Err(PortalError::internal(e)),
            }
        };
        Ok(UploadStatus {
            offset,
            length: upload.length,
            submission: upload.submission.clone(),
        })
    }

    /// How far an upload is. One whose last byte arrived just before the server
    /// was killed becomes a submission now.
    pub async fn upload_status(&self, actor: &Actor, id: &UploadId) -> Result<UploadStatus> {
        let upload = self.own_upload(actor, id).await?;
        let status = self.status_of(&upload).await?;
        if status.submission.is_none() && status.offset == status.length {
            let _turn = self.upload_turn(id)?;
            return self.complete_upload(actor, id).await;
        }
        Ok(status)
    }

    /// One writer at a time per upload; a second one is told so.
    fn upload_turn(&self, id: &UploadId) -> Result<UploadTurn<'_>> {
        let mut busy = self
            .busy_uploads
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if !busy.insert(id.clone()) {
            return Err(PortalError::Conflict("Another request is sending this upload just now: wait for it, then ask for the offset again.".to_owned()));
        }
        Ok(UploadTurn {
            portal: self,
            id: id.clone(),
        })
    }

    /// Appends bytes at the offset. What arrived before a break is kept.
    pub async fn append_upload<S, E>(
        &self,
        actor: &Actor,
        id: &UploadId,
        offset: u64,
        body: S,
    ) -> Result<UploadStatus>
    where
        S: Stream<Item = std::result::Result<Bytes, E>> + Send + Unpin,
        E: std::fmt::Display,
    {
        self.append_piece(actor, id, offset, None, body).await
    }

    /// Appends one piece at the offset. Without a checksum, what arrived before
    /// a break is kept. With one, a piece that is damaged or broken off leaves the
    /// upload as it was: bytes that nobody could check are not what the sender
    /// asked for. Only a server that dies within a piece keeps its beginning
    /// unchecked; then the digest of the whole upload tells damage.
    pub async fn append_piece<S, E>(
        &self,
        actor: &Actor,
        id: &UploadId,
        offset: u64,
        checksum: Option<Checksum>,
        mut body: S,
    ) -> Result<UploadStatus>
    where
        S: Stream<Item = std::result::Result<Bytes, E>> + Send + Unpin,
        E: std::fmt::Display,
    {
        let _turn = self.upload_turn(id)?;
        let upload = self.own_upload(actor, id).await?;
        let status = self.status_of(&upload).await?;
        if status.submission.is_some() {
            return Ok(status);
        }
        if offset != status.offset {
            return Err(PortalError::Conflict(format!(
                "The upload stands at byte {}, not at {offset}: ask for its offset and go on from there.",
                status.offset
            )));
        }
        let path = self.upload_path(id);
        let mut file = tokio::fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .await
            .map_err(PortalError::internal)?;
        file.seek(SeekFrom::Start(offset))
            .await
            .map_err(PortalError::internal)?;
        let mut at = offset;
        let mut broken = None;
        let mut sum = checksum.map(Checksum::begin);
        while let Some(chunk) = body.next().await {
            match chunk {
                Ok(bytes) => {
                    let left = usize::try_from(upload.length - at).unwrap_or(usize::MAX);
                    if bytes.len() > left {
                        broken = Some(PortalError::TooLarge(format!(
                            "More bytes came than the {} that were announced.",
                            upload.length
                        )));
                        break;
                    }
                    if let Err(e) = file.write_all(&bytes).await {
                        broken = Some(disk_error(&e));
                        break;
                    }
                    at += bytes.len() as u64;
                    if let Some(sum) = &mut sum {
                        sum.add(&bytes);
                    }
                }
                Err(e) => {
                    broken = Some(PortalError::Invalid(format!(
                        "The connection broke off at byte {at}: {e}. Ask for the offset and go on from there."
                    )));
                    break;
                }
            }
        }
        let flushed = file.flush().await;
        if let Some(sum) = sum {
            let whole = broken.is_none() && flushed.is_ok();
            let right = sum.holds();
            if !whole || !right {
                file.set_len(offset).await.map_err(|e| disk_error(&e))?;
            }
            if whole && !right {
                broken = Some(PortalError::Damaged(format!(
                    "The bytes from {offset} on do not add up to their checksum: they were damaged on the way, and none of them was kept. Send them again."
                )));
            }
        }
        flushed.map_err(|e| disk_error(&e))?;
        file.sync_data().await.map_err(|e| disk_error(&e))?;
        if let Some(e) = broken {
            return Err(e);
        }
        if at == upload.length {
            return self.complete_upload(actor, id).await;
        }
        Ok(UploadStatus {
            offset: at,
            length: upload.length,
            submission: None,
        })
    }

    /// Checks the promised digest, stores the bytes as a blob, and makes the
    /// submission, its first event and its first job in one transaction.
    async fn complete_upload(&self, actor: &Actor, id: &UploadId) -> Result<UploadStatus> {
        let upload = self.own_upload(actor, id).await?;
        let done = |submission| UploadStatus {
            offset: upload.length,
            length: upload.length,
            submission: Some(submission),
        };
        if let Some(submission) = upload.submission {
            return Ok(done(submission));
        }
        let path = self.upload_path(id);
        let digest = hash_file(&path).await.map_err(PortalError::internal)?;
        if let Some(promised) = &upload.sha256
            && *promised != digest
        {
            // Nothing of it can be used; the sender starts again.
            let mut tx = self.store.begin().await?;
            uploads::delete_open(&mut tx, id).await?;
            tx.commit().await?;
            let _ = tokio::fs::remove_file(&path).await;
            return Err(PortalError::Invalid(format!(
                "The bytes that arrived have the SHA-256 {digest}, but {promised} was promised: they were damaged on the way, or the file changed. Upload it again."
            )));
        }
        self.blobs.import_file(&path, &digest).await?;
        let now = self.clock.now();
        let submission = Submission {
            id: SubmissionId::parse(&random::id_text('s')).map_err(PortalError::internal)?,
            user: upload.user.clone(),
            team: upload.team.clone(),
            state: SubmissionState::Received,
            file_name: upload.file_name.clone(),
            size: upload.length,
            sha256: digest,
            metadata: None,
            report: None,
            trace_bytes: 0,
            live_revision: None,
            created: now,
            changed: now,
            published: None,
        };
        let mut tx = self.store.begin().await?;
        submissions::insert(&mut tx, &submission, actor).await?;
        if !uploads::finish(&mut tx, id, &submission.id, now).await? {
            return Err(PortalError::Conflict(
                "This upload has become a submission already.".to_owned(),
            ));
        }
        let job = NewJob {
            kind: JobKind::Validate,
            priority: Priority::Interactive,
            subject: format!("check {}", submission.file_name),
            submission: Some(submission.id.clone()),
            revision: None,
            attempt: None,
            exclusive_key: None,
            unique_key: Some(format!("validate:{}", submission.id)),
            max_tries: 3,
        };
        jobs::insert(&mut tx, &job, now).await?;
        tx.commit().await?;
        self.wake();
        self.tell(Change::Submission(submission.id.clone()));
        Ok(done(submission.id))
    }

    /// Ends an upload that never became a submission, and frees its room.
    pub async fn abort_upload(&self, actor: &Actor, id: &UploadId) -> Result<()> {
        let _turn = self.upload_turn(id)?;
        self.own_upload(actor, id).await?;
        let mut tx = self.store.begin().await?;
        if !uploads::delete_open(&mut tx, id).await? {
            return Err(PortalError::Conflict(
                "This upload has become a submission: withdraw that instead.".to_owned(),
            ));
        }
        tx.commit().await?;
        let _ = tokio::fs::remove_file(self.upload_path(id)).await;
        Ok(())
    }

    /// Forgets uploads that nobody has gone on with for a week.
    pub(crate) async fn sweep_uploads(&self) -> Result<()> {
        let before = self.clock.now().plus_ms(-7 * DAY_MS);
        let mut tx = self.store.begin().await?;
        let stale = uploads::stale(&mut tx, before).await?;
        for id in &stale {
            uploads::delete_open(&mut tx, id).await?;
        }
        tx.commit().await?;
        for id in &stale {
            let _ = tokio::fs::remove_file(self.upload_path(id)).await;
        }
        Ok(())
    }
}

/// The right to write to one upload; given back when dropped.
struct UploadTurn<'a> {
    portal: &'a Portal,
    id: UploadId,
}

impl Drop for UploadTurn<'_> {
    fn drop(&mut self) {
        self.portal
            .busy_uploads
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .remove(&self.id);
    }
}

fn disk_error(e: &std::io::Error) -> PortalError {
    if e.kind() == std::io::ErrorKind::StorageFull {
        PortalError::Conflict("The server's disk is full. What arrived is kept; go on from the offset once the maintainers have made room.".to_owned())
    } else {
        PortalError::internal(e)
    }
}

async fn hash_file(path: &std::path::Path) -> std::io::Result<Digest> {
    use sha2::Digest as _;
    let mut file = tokio::fs::File::open(path).await?;
    let mut hash = sha2::Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = file.read(&mut buffer).await?;
        if n == 0 {
            return Ok(Digest::from_bytes(hash.finalize().into()));
        }
        hash.update(&buffer[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::safe_file_name;

    #[test]
    fn file_names_lose_their_folders_and_controls() {
        assert_eq!(
            safe_file_name("C:\\fakepath\\my bundle.zip"),
            "my bundle.zip"
        );
        assert_eq!(safe_file_name("../../etc/passwd"), "passwd");
        assert_eq!(safe_file_name("a\r\nb"), "ab");
        assert_eq!(safe_file_name("///"), "bundle");
    }
}
