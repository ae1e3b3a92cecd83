//! Files that people take away: traces as sent or normalised, patches,
//! diagnoses, reports, selection manifests. Each is served by its digest.

use std::ops::Range;

use bytes::Bytes;
use faultboard_domain::{Actor, AttemptId, Digest, SubmissionId};
use faultboard_store::attempts::{self, Attempt, Stored};
use faultboard_store::revisions::{self, Part, RevisionState};
use faultboard_store::submissions::{self, Submission};
use futures::stream::BoxStream;

use crate::{Portal, PortalError, Result};

/// A small file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBody {
    /// Its bytes.
    pub bytes: Bytes,
    /// Its media type.
    pub content_type: &'static str,
    /// The name to save it under.
    pub file_name: String,
    /// Its entity tag, without quotes.
    pub etag: String,
}

impl FileBody {
    /// A file; its entity tag is the digest of its bytes.
    pub(crate) fn new(bytes: Bytes, content_type: &'static str, file_name: String) -> Self {
        Self {
            etag: Digest::of(&bytes).short().to_owned(),
            bytes,
            content_type,
            file_name,
        }
    }
}

/// A file in the blob store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobFile {
    /// Its name: in an archive its path.
    pub name: String,
    /// The blob.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: u64,
    /// Its media type.
    pub content_type: &'static str,
}

/// Which file of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptFile {
    /// The trace as sent.
    Trace,
    /// The trace as normalised JSON lines.
    Normalised,
    /// The patch.
    Patch,
    /// The diagnosis.
    Diagnosis,
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("json") => "application/json",
        Some("jsonl") => "application/x-ndjson",
        Some("diff" | "patch") => "text/x-diff; charset=utf-8",
        _ => "application/octet-stream",
    }
}

pub(crate) fn file(stored: &Stored, name: String) -> BlobFile {
    BlobFile {
        content_type: media_type(&name),
        digest: stored.digest.clone(),
        size: stored.size,
        name,
    }
}

/// Whether the actor handed a submission in, or belongs to the team that did.
pub(crate) fn owns(actor: &Actor, s: &Submission) -> bool {
    actor.user_id() == Some(&s.user) || s.team.as_ref().is_some_and(|t| actor.is_in(t))
}

impl Portal {
    /// A submission that the actor may read: a public one, or their own or
    /// their team's, or any
    /// for a maintainer.
    pub(crate) async fn readable(&self, actor: &Actor, id: &SubmissionId) -> Result<Submission> {
        let s = submissions::get(&mut *self.store.reader().await?, id)
            .await?
            .ok_or(PortalError::NotFound)?;
        if s.state.is_public() || self.is_insider(actor, &s) {
            Ok(s)
        } else {
            Err(PortalError::NotFound)
        }
    }

    /// Whether the actor may see what is not public of a submission.
    pub(crate) fn is_insider(&self, actor: &Actor, s: &Submission) -> bool {
        actor.is_maintainer() || owns(actor, s)
    }

    /// An attempt that the actor may read, with its submission.
    pub(crate) async fn readable_attempt(
        &self,
        actor: &Actor,
        id: &AttemptId,
    ) -> Result<(Attempt, Submission)> {
        let a = attempts::get(&mut *self.store.reader().await?, id)
            .await?
            .ok_or(PortalError::NotFound)?;
        let s = self.readable(actor, &a.submission).await?;
        Ok((a, s))
    }

    /// The validator's report, for its owner and maintainers.
    pub async fn report_file(&self, actor: &Actor, id: &SubmissionId) -> Result<FileBody> {
        let s = self.readable(actor, id).await?;
        let report = s
            .report
            .as_ref()
            .filter(|_| self.is_insider(actor, &s))
            .ok_or(PortalError::NotFound)?;
        let bytes = serde_json::to_vec_pretty(report).map_err(PortalError::internal)?;
        Ok(FileBody::new(
            bytes.into(),
            "application/json",
            format!("{id}-report.json"),
        ))
    }

    /// The selection manifest of the live (else the newest complete) revision.
    pub async fn selection_file(&self, actor: &Actor, id: &SubmissionId) -> Result<FileBody> {
        let s = self.readable(actor, id).await?;
        let mut c = self.store.reader().await?;
        let newest = revisions::of_submission(&mut c, id)
            .await?
            .into_iter()
            .find(|r| matches!(r.state, RevisionState::Ready | RevisionState::Live))
            .map(|r| r.id);
        let revision = s.live_revision.or(newest).ok_or(PortalError::NotFound)?;
        let text = revisions::part_text(&mut c, &revision, Part::Selection)
            .await?
            .ok_or(PortalError::NotFound)?;
        Ok(FileBody::new(
            text.into_bytes().into(),
            "application/json",
            format!("{id}-selection.json"),
        ))
    }

    /// One file of an attempt.
    pub async fn attempt_file(
        &self,
        actor: &Actor,
        id: &AttemptId,
        what: AttemptFile,
    ) -> Result<BlobFile> {
        let (a, _) = self.readable_attempt(actor, id).await?;
        let condition = a.condition.map(|c| format!("-{c}")).unwrap_or_default();
        let stem = format!("{}{condition}-{}", a.case, a.run);
        let found = match what {
            AttemptFile::Trace => Some(file(
                &a.trace,
                format!(
                    "{stem}-{}",
                    a.trace_name.rsplit('/').next().unwrap_or("trace")
                ),
            )),
            AttemptFile::Normalised => a
                .normalised
                .as_ref()
                .map(|f| file(f, format!("{stem}.jsonl"))),
            AttemptFile::Patch => a.patch.as_ref().map(|f| file(f, format!("{stem}.diff"))),
            AttemptFile::Diagnosis => a
                .diagnosis
                .as_ref()
                .map(|f| file(f, format!("{stem}-diagnosis.json"))),
        };
        found.ok_or(PortalError::NotFound)
    }

    /// A file's bytes, or a half-open range of them that lies within the file.
    pub async fn blob_stream(
        &self,
        file: &BlobFile,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, std::io::Result<Bytes>>> {
        Ok(self.blobs.stream(&file.digest, range).await?)
    }
}
