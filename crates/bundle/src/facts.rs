//! A bundle as the rules see it: what one walk brought in, put in order and
//! read, without a judgement. Rules look at this and at nothing else.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::ids::RunNumber;
use faultboard_domain::metadata::Metadata;
use faultboard_domain::patch::Patch;
use faultboard_domain::{CaseId, Condition, Track};

use crate::fault::Fault;
use crate::intake::{Entry, Intake};
use crate::knowledge::Knowledge;
use crate::layout::{Place, Role, Slot};
use crate::limits::Limits;
use crate::metadata::{self, FormError, Scope};
use crate::schema::{SchemaError, check_diagnosis};
use crate::source::EntryKind;
use crate::stats::SessionStats;

/// The facts of one bundle.
pub(crate) struct Bundle {
    pub entries: Vec<Entry>,
    pub kept: BTreeMap<usize, Vec<u8>>,
    pub faults: Vec<Fault>,
    /// Whether the source was read to its end; if not, what is missing is not known.
    pub complete: bool,
    pub limits: Limits,
    /// Every first part of a path that is a folder, sorted.
    pub tops: Vec<String>,
    /// The one that the rest of the facts speaks of.
    pub top: Option<String>,
    /// Entry of `metadata.yaml`.
    pub metadata_entry: Option<usize>,
    /// What it holds; `None` when there is none.
    pub metadata: Option<Result<Metadata, Vec<FormError>>>,
    /// What it says that the bundle covers, if that much of it can be read.
    pub scope: Option<Scope>,
    /// The attempts, by their folders' names.
    pub attempts: Vec<Attempt>,
}

/// One attempt's folder.
pub(crate) struct Attempt {
    pub slot: Slot,
    /// Path of its folder, the top folder included.
    pub folder: String,
    pub case: Option<CaseId>,
    /// The condition that its path names, if it names one that there is.
    pub condition: Option<Condition>,
    pub run: Option<RunNumber>,
    /// Whether an earlier folder has the same number (`run-1`, `run-01`).
    pub repeats_run: bool,
    pub patch: Option<PatchFile>,
    pub diagnosis: Option<DiagnosisFile>,
    /// Entries of its traces, the preferred first.
    pub traces: Vec<usize>,
    pub stats: Option<StatsFile>,
}

/// What was seen in a patch.
pub(crate) struct PatchFile {
    pub entry: usize,
    /// Why it can't be read, in words.
    pub unreadable: Option<String>,
    pub empty: bool,
    /// Lines that end in CRLF.
    pub crlf: usize,
    /// Protected paths that it touches.
    pub protected: Vec<String>,
}

/// What was seen in a diagnosis.
pub(crate) struct DiagnosisFile {
    pub entry: usize,
    pub errors: Vec<SchemaError>,
}

/// What was seen in a stats file.
pub(crate) struct StatsFile {
    pub entry: usize,
    pub stats: Result<SessionStats, Vec<SchemaError>>,
}

impl Bundle {
    pub(crate) fn new(
        intake: Intake,
        complete: bool,
        limits: &Limits,
        knowledge: &Knowledge,
    ) -> Self {
        let Intake {
            entries,
            kept,
            faults,
        } = intake;
        let tops = tops(&entries);
        let holds_metadata = entries
            .iter()
            .filter(|e| e.place == Place::Metadata)
            .filter_map(|e| e.path.split_once('/'))
            .map(|(top, _)| top.to_owned())
            .min();
        let only = (tops.len() == 1).then(|| tops[0].clone());
        let top = holds_metadata.or(only);
        let mut bundle = Self {
            entries,
            kept,
            faults,
            complete,
            limits: limits.clone(),
            tops,
            top,
            metadata_entry: None,
            metadata: None,
            scope: None,
            attempts: Vec::new(),
        };
        bundle.read_metadata();
        bundle.gather_attempts(knowledge);
        bundle
    }

    /// The metadata, if it could be read.
    pub(crate) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_ref()?.as_ref().ok()
    }

    fn read_metadata(&mut self) {
        let Some(top) = &self.top else { return };
        let path = format!("{top}/metadata.yaml");
        let entry = self
            .entries
            .iter()
            .position(|e| e.place == Place::Metadata && e.path == path);
        self.metadata_entry = entry;
        let bytes = entry.and_then(|i| self.kept.get(&i));
        self.metadata = bytes.map(|bytes| metadata::read(bytes));
        self.scope = bytes.and_then(|bytes| metadata::scope(bytes));
    }

    /// Below which path the attempts lie, and the entries that belong to them.
    fn gather_attempts(&mut self, knowledge: &Knowledge) {
        let Some(top) = self.top.clone() else { return };
        let mut folders: BTreeMap<Slot, Vec<(Role, usize)>> = BTreeMap::new();
        for (i, entry) in self.entries.iter().enumerate() {
            if let Place::Attempt(slot, role) = &entry.place
                && entry.path.starts_with(&top)
                && entry.path.as_bytes().get(top.len()) == Some(&b'/')
            {
                folders.entry(slot.clone()).or_default().push((*role, i));
            }
        }
        let mut seen = BTreeSet::new();
        for (slot, mut files) in folders {
            // By role, and in the order of the archive: of two equal names the first counts.
            files.sort_unstable();
            let first = |role: Role| files.iter().find(|(r, _)| *r == role).map(|(_, i)| *i);
            let case = CaseId::parse(&slot.case).ok();
            let protected = case
                .as_ref()
                .and_then(|c| knowledge.cases.get(c))
                .map_or(&[][..], |k| &k.protected_paths);
            let run = RunNumber::parse_folder(&slot.run).ok();
            let bytes = |entry: usize| self.kept.get(&entry).map(Vec::as_slice);
            let attempt = Attempt {
                folder: format!("{top}/{}", slot.path()),
                condition: slot.condition.as_deref().and_then(|c| c.parse().ok()),
                repeats_run: run.is_some_and(|run| {
                    !seen.insert((slot.case.clone(), slot.condition.clone(), run))
                }),
                run,
                patch: first(Role::Patch).and_then(|i| Some(read_patch(i, bytes(i)?, protected))),
                diagnosis: first(Role::Diagnosis).and_then(|entry| {
                    let errors = check_diagnosis(bytes(entry)?).err().unwrap_or_default();
                    Some(DiagnosisFile { entry, errors })
                }),
                stats: first(Role::Stats).and_then(|entry| {
                    let stats = SessionStats::parse(bytes(entry)?);
                    Some(StatsFile { entry, stats })
                }),
                traces: files
                    .iter()
                    .filter(|(role, _)| matches!(role, Role::Trace(_)))
                    .map(|(_, i)| *i)
                    .collect(),
                case,
                slot,
            };
            self.attempts.push(attempt);
        }
    }

    /// The entry of the file that an attempt of the track hands in.
    pub(crate) fn answer(&self, attempt: &Attempt, track: Track) -> Option<usize> {
        match track {
            Track::Diagnosis => attempt.diagnosis.as_ref().map(|d| d.entry),
            Track::Repair | Track::Recovery => attempt.patch.as_ref().map(|p| p.entry),
        }
    }

    /// Why an attempt does not count, in a few words; `None` when it does.
    pub(crate) fn flaw(&self, attempt: &Attempt, track: Track) -> Option<&'static str> {
        let sound = |i: usize| self.entries[i].is_sound();
        if attempt.case.is_none() {
            return Some("its case is not known");
        }
        if attempt.run.is_none() || attempt.repeats_run {
            return Some("its run folder has no number of its own");
        }
        let wants_condition = track != Track::Diagnosis;
        if wants_condition != attempt.slot.condition.is_some()
            || wants_condition != attempt.condition.is_some()
        {
            return Some("its condition is not one of the track");
        }
        match self.answer(attempt, track) {
            None if wants_condition => return Some("it has no patch.diff"),
            None => return Some("it has no diagnosis.json"),
            Some(i) if !sound(i) => return Some("what it hands in can't be read"),
            Some(_) => {}
        }
        if !wants_condition
            && attempt
                .diagnosis
                .as_ref()
                .is_some_and(|d| !d.errors.is_empty())
        {
            return Some("its diagnosis.json has errors");
        }
        match attempt.traces.first() {
            None => Some("it has no trace"),
            Some(i) if !sound(*i) || self.entries[*i].size == 0 => Some("its trace can't be read"),
            Some(_) => None,
        }
    }
}

fn tops(entries: &[Entry]) -> Vec<String> {
    let tops: BTreeSet<&str> = entries
        .iter()
        .filter(|e| e.name_faults.is_empty() && e.place != Place::Dropping)
        .filter_map(|e| match e.path.split_once('/') {
            Some((top, _)) => Some(top),
            None if e.kind == EntryKind::Folder => Some(e.path.as_str()),
            None => None,
        })
        .filter(|top| *top != "__MACOSX")
        .collect();
    tops.into_iter().map(str::to_owned).collect()
}

fn read_patch(entry: usize, bytes: &[u8], protected: &[String]) -> PatchFile {
    let crlf = bytes.windows(2).filter(|w| *w == b"\r\n").count();
    match Patch::parse(bytes) {
        Ok(mut patch) => PatchFile {
            entry,
            unreadable: None,
            empty: patch.is_empty(),
            crlf,
            protected: patch.drop_protected(protected),
        },
        Err(e) => PatchFile {
            entry,
            unreadable: Some(crate::path::display(&e.to_string())),
            empty: false,
            crlf,
            protected: Vec::new(),
        },
    }
}
