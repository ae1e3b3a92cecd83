//! The check of a received bundle: one streaming pass that reports every
//! problem and sets the attempts' files aside; only an accepted bundle's files
//! become blobs and attempts, in one transaction.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use faultboard_blob::HashingFile;
use faultboard_bundle::{Answer, AttemptEntry, AttemptSink, Checked, check_archive};
use faultboard_domain::job::{JobKind, Priority};
use faultboard_domain::report::Severity;
use faultboard_domain::trace::TraceSummary;
use faultboard_domain::{Actor, AttemptId, Digest, Problem, SubmissionState};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_store::attempts::{Attempt, Stored};
use faultboard_store::jobs::{Claimed, NewJob};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{attempts, jobs};
use faultboard_trace::NormalisedWriter;

use crate::machine::failure;
use crate::{Change, Portal, PortalError, Result, random};

/// Writes attempts' files into a scratch folder while the bundle streams by.
struct Scratch {
    folder: PathBuf,
    files: BTreeMap<String, (PathBuf, Digest, u64)>,
}

impl AttemptSink for Scratch {
    fn file(&mut self, path: &str, body: &mut dyn Read) -> std::io::Result<()> {
        let place = self.folder.join(format!("{:06}", self.files.len()));
        let mut out = HashingFile::create(&place)?;
        std::io::copy(body, &mut out)?;
        let (digest, size) = out.finish()?;
        self.files.insert(path.to_owned(), (place, digest, size));
        Ok(())
    }
}

/// A trace after reading: its normalised form as a file, and what it amounts to.
struct ReadTrace {
    file: PathBuf,
    digest: Digest,
    size: u64,
    index: String,
    summary: TraceSummary,
}

/// Reads a trace into its normalised form beside it; the error says why it
/// can't be shown as steps.
fn read_trace(
    source: &Path,
    target: &Path,
) -> std::io::Result<std::result::Result<ReadTrace, String>> {
    let mut input = std::io::BufReader::with_capacity(1 << 17, std::fs::File::open(source)?);
    let mut writer = NormalisedWriter::new(HashingFile::create(target)?);
    let mut failed: Option<std::io::Error> = None;
    let read = faultboard_trace::read_trace(
        &mut input,
        &faultboard_trace::Limits::default(),
        &mut |step| {
            if failed.is_none() {
                failed = writer.push(&step).err();
            }
        },
    );
    if let Some(e) = failed {
        return Err(e);
    }
    let (index, out) = writer.finish()?;
    let (digest, size) = out.finish()?;
    Ok(match read {
        Ok(trace) => Ok(ReadTrace {
            file: target.to_owned(),
            digest,
            size,
            index: serde_json::to_string(&index)?,
            summary: trace.summary,
        }),
        Err(e) => {
            std::fs::remove_file(target)?;
            Err(e.to_string())
        }
    })
}

impl Portal {
    pub(crate) async fn run_validate(
        &self,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        let folder = self
            .settings
            .data_dir
            .join("tmp")
            .join(format!("validate-{}-{}", job.id, job.tries));
        let result = self.validate(job, &context, &folder).await;
        // The scratch folder may be gone already; nothing depends on it.
        let _ = tokio::fs::remove_dir_all(&folder).await;
        result.map_err(failure)
    }

    async fn validate(&self, job: &Claimed, context: &JobContext, folder: &Path) -> Result<()> {
        let id = job
            .submission
            .as_ref()
            .ok_or_else(|| PortalError::internal("a check without a submission"))?;
        let mut tx = self.store.begin().await?;
        submissions::transition(
            &mut tx,
            id,
            SubmissionState::Received,
            SubmissionState::Validating,
            &Actor::System,
            "",
            self.now(),
        )
        .await?;
        let s = submissions::get(&mut tx, id)
            .await?
            .ok_or(PortalError::NotFound)?;
        tx.commit().await?;
        self.tell(Change::Submission(id.clone()));
        if s.state != SubmissionState::Validating {
            // Withdrawn meanwhile, or checked by an earlier try.
            return self.just_finish(job).await;
        }
        context.say(format!("checking {} ({} bytes)", s.file_name, s.size));
        let (checked, scratch) = self.check_upload(&s, folder).await?;
        context.say(format!(
            "{} error(s), {} warning(s), {} attempts",
            checked.report.errors(),
            checked.report.warnings(),
            checked.attempts.len()
        ));
        for p in checked
            .report
            .problems
            .iter()
            .filter(|p| p.severity == Severity::Error)
            .take(50)
        {
            context.say(format!("{}: {} ({})", p.path, p.message, p.rule));
        }
        if checked.report.is_ok() {
            self.accept(job, context, &s, checked, scratch).await
        } else {
            self.refuse(job, &s, &checked).await
        }
    }

    /// Ends a job that has nothing left to do.
    pub(crate) async fn just_finish(&self, job: &Claimed) -> Result<()> {
        let mut tx = self.store.begin().await?;
        if jobs::finish(&mut tx, job.id, &job.token, self.now()).await? {
            tx.commit().await?;
        }
        Ok(())
    }

    async fn check_upload(&self, s: &Submission, folder: &Path) -> Result<(Checked, Scratch)> {
        tokio::fs::create_dir_all(folder)
            .await
            .map_err(PortalError::internal)?;
        let file = self.blobs.local_file(&s.sha256, folder).await?;
        let limits = self.bundle_limits();
        let knowledge = self.bundle_knowledge();
        let mut scratch = Scratch {
            folder: folder.to_owned(),
            files: BTreeMap::new(),
        };
        tokio::task::spawn_blocking(move || {
            let input = std::io::BufReader::with_capacity(
                1 << 17,
                std::fs::File::open(file.path()).map_err(PortalError::internal)?,
            );
            let checked = check_archive(input, &limits, &knowledge, &mut scratch)
                .map_err(PortalError::internal)?;
            Ok((checked, scratch))
        })
        .await
        .map_err(PortalError::internal)?
    }

    async fn refuse(&self, job: &Claimed, s: &Submission, checked: &Checked) -> Result<()> {
        let mut tx = self.store.begin().await?;
        let now = self.now();
        let count = checked.report.errors() as u64 + checked.report.left_out;
        let note = format!(
            "{count} problem(s); the report lists each with its fix. The uploaded file is kept."
        );
        submissions::set_checked(
            &mut tx,
            &s.id,
            &checked.report,
            checked.metadata.as_ref(),
            0,
        )
        .await?;
        submissions::transition(
            &mut tx,
            &s.id,
            SubmissionState::Validating,
            SubmissionState::Invalid,
            &Actor::System,
            &note,
            now,
        )
        .await?;
        if jobs::finish(&mut tx, job.id, &job.token, now).await? {
            tx.commit().await?;
            self.tell(Change::Submission(s.id.clone()));
        }
        Ok(())
    }

    async fn accept(
        &self,
        job: &Claimed,
        context: &JobContext,
        s: &Submission,
        checked: Checked,
        mut scratch: Scratch,
    ) -> Result<()> {
        let Checked {
            mut report,
            metadata,
            attempts: entries,
            ..
        } = checked;
        let mut rows = Vec::with_capacity(entries.len());
        for (position, entry) in entries.iter().enumerate() {
            rows.push(
                self.store_attempt(s, position, entry, &mut scratch, &mut report)
                    .await?,
            );
        }
        report.sort();
        context.say(format!("{} attempts stored", rows.len()));
        let bytes = rows.iter().map(|a| a.trace.size).sum();
        let mut tx = self.store.begin().await?;
        let now = self.now();
        submissions::set_checked(&mut tx, &s.id, &report, metadata.as_ref(), bytes).await?;
        for row in &rows {
            attempts::insert(&mut tx, row).await?;
        }
        let resubmitted = match &metadata {
            Some(m) => crate::resubmission::compared(&mut tx, s, m, &rows).await?,
            None => None,
        };
        if let Some(words) = resubmitted {
            submissions::event(&mut tx, &s.id, &Actor::System, None, &words, now).await?;
        }
        let note = format!(
            "{} attempts accepted, {} warning(s)",
            rows.len(),
            report.warnings()
        );
        let moved = submissions::transition(
            &mut tx,
            &s.id,
            SubmissionState::Validating,
            SubmissionState::Scanning,
            &Actor::System,
            &note,
            now,
        )
        .await?;
        let scan = NewJob {
            kind: JobKind::Scan,
            priority: Priority::Interactive,
            subject: format!(
                "scan {}",
                metadata
                    .as_ref()
                    .map_or_else(|| s.file_name.clone(), |m| m.configuration())
            ),
            submission: Some(s.id.clone()),
            revision: None,
            attempt: None,
            exclusive_key: None,
            unique_key: Some(format!("scan:{}", s.id)),
            max_tries: 3,
        };
        if moved {
            jobs::insert(&mut tx, &scan, now).await?;
        }
        if jobs::finish(&mut tx, job.id, &job.token, now).await? {
            tx.commit().await?;
            self.wake();
            self.tell(Change::Submission(s.id.clone()));
        }
        Ok(())
    }

    /// Takes an attempt's files in as blobs; its row.
    async fn store_attempt(
        &self,
        s: &Submission,
        position: usize,
        entry: &AttemptEntry,
        scratch: &mut Scratch,
        report: &mut faultboard_domain::Report,
    ) -> Result<Attempt> {
        let answer = Stored {
            digest: self
                .blobs
                .put(Bytes::copy_from_slice(entry.answer.bytes()))
                .await?,
            size: entry.answer.file().size,
        };
        let (patch, diagnosis) = match entry.answer {
            Answer::Patch(..) => (Some(answer), None),
            Answer::Diagnosis(..) => (None, Some(answer)),
        };
        let (place, digest, size) = scratch.files.remove(&entry.trace.path).ok_or_else(|| {
            PortalError::Internal(format!("the trace {} was not set aside", entry.trace.path))
        })?;
        let target = place.with_extension("jsonl");
        let source = place.clone();
        let read = tokio::task::spawn_blocking(move || read_trace(&source, &target))
            .await
            .map_err(PortalError::internal)?
            .map_err(PortalError::internal)?;
        let (normalised, step_index, summary) = match read {
            Ok(t) => {
                self.blobs.import_file(&t.file, &t.digest).await?;
                (
                    Some(Stored {
                        digest: t.digest,
                        size: t.size,
                    }),
                    Some(t.index),
                    Some(t.summary),
                )
            }
            Err(why) => {
                report.push(Problem::warning(
                    entry.trace.path.clone(),
                    "trace-unreadable",
                    format!("The trace can't be shown as steps: {why}."),
                    "It is kept and can be downloaded as it is; hand in a format that the documentation lists to have it shown.",
                ));
                (None, None, None)
            }
        };
        self.blobs.import_file(&place, &digest).await?;
        Ok(Attempt {
            id: AttemptId::parse(&random::id_text('a')).map_err(PortalError::internal)?,
            submission: s.id.clone(),
            position: u32::try_from(position).unwrap_or(u32::MAX),
            case: entry.case.clone(),
            condition: entry.condition,
            run: entry.run,
            patch,
            diagnosis,
            trace: Stored { digest, size },
            trace_name: entry.trace.path.clone(),
            normalised,
            step_index,
            summary,
            stats: entry
                .stats
                .as_ref()
                .and_then(|s| serde_json::to_string(s).ok()),
        })
    }
}
