//! The check itself: one pass over a source, then every rule. It decides
//! nothing about storage; what the files hold goes to the caller's sink.

use std::io::{self, Read, Seek};

use faultboard_domain::ids::RunNumber;
use faultboard_domain::metadata::Metadata;
use faultboard_domain::{CaseId, Condition, Digest, Report, Track};

use crate::facts::{Attempt, Bundle};
use crate::intake::Collector;
use crate::knowledge::Knowledge;
use crate::layout::below_top;
use crate::limits::Limits;
use crate::rules;
use crate::source::{self, EntryKind, Meter, Stop};
use crate::stats::SessionStats;

/// Why a check could not be carried out. The bundle is not to blame: what is
/// wrong with a bundle is always in the report.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The source could not be read.
    #[error("the bundle could not be read: {0}")]
    Source(#[source] io::Error),
    /// The sink failed.
    #[error("a file of the bundle could not be stored: {0}")]
    Sink(#[source] io::Error),
}

/// Takes the bytes of attempts' files while the bundle streams by, before it is
/// known whether the whole is accepted: keep them aside until the report is in.
pub trait AttemptSink {
    /// One file: its path below the top folder, and its bytes. What is left
    /// unread is still read for the check. The same path may come twice in a
    /// bundle that will be rejected, and a file over its limit ends early.
    fn file(&mut self, path: &str, body: &mut dyn Read) -> io::Result<()>;
}

/// A sink for callers that only want the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl AttemptSink for Discard {
    fn file(&mut self, _: &str, _: &mut dyn Read) -> io::Result<()> {
        Ok(())
    }
}

/// A file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path below the top folder.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// Digest of its bytes.
    pub sha256: Digest,
}

/// What an attempt hands in, with its bytes as sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// A patch; an empty one is an answer too.
    Patch(FileEntry, Vec<u8>),
    /// A diagnosis that keeps its schema.
    Diagnosis(FileEntry, Vec<u8>),
}

impl Answer {
    /// The file.
    pub const fn file(&self) -> &FileEntry {
        match self {
            Answer::Patch(file, _) | Answer::Diagnosis(file, _) => file,
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Answer::Patch(_, bytes) | Answer::Diagnosis(_, bytes) => bytes,
        }
    }
}

/// One valid attempt of the bundle's subset.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptEntry {
    /// The case.
    pub case: CaseId,
    /// The condition; none in the diagnosis track.
    pub condition: Option<Condition>,
    /// The run's number.
    pub run: RunNumber,
    /// What it hands in.
    pub answer: Answer,
    /// Its trace.
    pub trace: FileEntry,
    /// What the run cost by its own account, if told.
    pub stats: Option<SessionStats>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// Every problem, and what was counted.
    pub report: Report,
    /// The metadata, if its form is right (its meaning may still be refused).
    pub metadata: Option<Metadata>,
    /// Name of the top folder, if there is one.
    pub top_folder: Option<String>,
    /// Valid attempts of the subset, by case, condition and run; empty when the
    /// metadata can't be read.
    pub attempts: Vec<AttemptEntry>,
    /// Every file that belongs to the bundle and was read whole, by path.
    pub files: Vec<FileEntry>,
}

/// Checks an archive (`.tar.gz`, `.tar.zst` or `.zip`, told from its content).
/// One pass; memory is bounded by the limits, never by the archive.
pub fn check_archive<R: Read + Seek>(
    input: R,
    limits: &Limits,
    knowledge: &Knowledge,
    sink: &mut dyn AttemptSink,
) -> Result<Checked, CheckError> {
    let meter = Meter::new(limits, true);
    let mut collector = Collector::new(sink);
    let end = source::walk_archive(input, &meter, &mut collector);
    finish(end, collector, &meter, knowledge)
}

/// Checks a plain folder as if it had been packed under its own name.
#[cfg(not(target_arch = "wasm32"))]
pub fn check_folder(
    folder: &std::path::Path,
    limits: &Limits,
    knowledge: &Knowledge,
    sink: &mut dyn AttemptSink,
) -> Result<Checked, CheckError> {
    let absolute = folder.canonicalize().map_err(CheckError::Source)?;
    let top = absolute
        .file_name()
        .map_or_else(|| "bundle".to_owned(), |n| n.to_string_lossy().into_owned());
    let meter = Meter::new(limits, false);
    let mut collector = Collector::new(sink);
    let end = source::folder::walk(&absolute, &top, &meter, &mut collector);
    finish(end, collector, &meter, knowledge)
}

fn finish(
    end: Result<(), Stop>,
    collector: Collector<'_>,
    meter: &Meter,
    knowledge: &Knowledge,
) -> Result<Checked, CheckError> {
    let mut intake = collector.intake;
    let complete = match end {
        Ok(()) => true,
        Err(Stop::Platform(error)) => return Err(error),
        Err(Stop::Fault(fault)) => {
            intake.faults.push(fault);
            false
        }
    };
    let bundle = Bundle::new(intake, complete, meter.limits(), knowledge);
    let mut report = rules::run(&bundle, knowledge);
    let attempts = attempts(&bundle, knowledge);
    report.counts = counts(&bundle, &attempts, meter);
    let mut files: Vec<FileEntry> = (0..bundle.entries.len())
        .filter_map(|i| file_entry(&bundle, i))
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Checked {
        report,
        metadata: bundle.metadata().cloned(),
        top_folder: bundle.top.clone(),
        attempts,
        files,
    })
}

fn counts(bundle: &Bundle, attempts: &[AttemptEntry], meter: &Meter) -> Vec<(String, u64)> {
    let mut cases: Vec<&CaseId> = attempts.iter().map(|a| &a.case).collect();
    cases.dedup();
    let mut counts = vec![
        ("cases".to_owned(), cases.len() as u64),
        ("attempts found".to_owned(), bundle.attempts.len() as u64),
        ("attempts that count".to_owned(), attempts.len() as u64),
    ];
    for condition in Condition::ALL {
        let n = attempts
            .iter()
            .filter(|a| a.condition == Some(condition))
            .count();
        if n > 0 {
            counts.push((format!("attempts {}", condition.title()), n as u64));
        }
    }
    let files = bundle
        .entries
        .iter()
        .filter(|e| e.kind == EntryKind::File)
        .count();
    counts.push(("files".to_owned(), files as u64));
    if meter.compressed() > 0 {
        counts.push(("bytes packed".to_owned(), meter.compressed()));
    }
    counts.push(("bytes read".to_owned(), meter.unpacked()));
    counts
}

fn file_entry(bundle: &Bundle, entry: usize) -> Option<FileEntry> {
    let entry = &bundle.entries[entry];
    Some(FileEntry {
        path: below_top(&entry.path).to_owned(),
        size: entry.size,
        sha256: entry.sha256.clone()?,
    })
}

/// The attempts that count, in order.
fn attempts(bundle: &Bundle, knowledge: &Knowledge) -> Vec<AttemptEntry> {
    let Some(metadata) = bundle.metadata() else {
        return Vec::new();
    };
    let track = metadata.track;
    let Some(cases) = knowledge.cases_of(&metadata.release, &metadata.subset, track) else {
        return Vec::new();
    };
    let mut entries: Vec<AttemptEntry> = bundle
        .attempts
        .iter()
        .filter(|a| bundle.flaw(a, track).is_none())
        .filter_map(|a| attempt(bundle, a, track))
        .filter(|a| cases.binary_search(&&a.case).is_ok())
        .collect();
    entries.sort_by(|a, b| (&a.case, a.condition, a.run).cmp(&(&b.case, b.condition, b.run)));
    entries
}

fn attempt(bundle: &Bundle, attempt: &Attempt, track: Track) -> Option<AttemptEntry> {
    let answer = bundle.answer(attempt, track)?;
    let file = file_entry(bundle, answer)?;
    let bytes = bundle.kept.get(&answer)?.clone();
    Some(AttemptEntry {
        case: attempt.case.clone()?,
        condition: attempt.condition,
        run: attempt.run?,
        answer: match track {
            Track::Diagnosis => Answer::Diagnosis(file, bytes),
            Track::Repair | Track::Recovery => Answer::Patch(file, bytes),
        },
        trace: file_entry(bundle, *attempt.traces.first()?)?,
        stats: attempt.stats.as_ref().and_then(|s| s.stats.clone().ok()),
    })
}
