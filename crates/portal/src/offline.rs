//! What the command line does without a server: check, pack and score a
//! results folder, and scan it for leaks, by the very code that the server runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use faultboard_bundle::foreign;
use faultboard_bundle::package::{Compression, package as pack};
use faultboard_bundle::{Answer, AttemptEntry, AttemptSink, Checked, check_archive, check_folder};
use faultboard_catalog::Catalog;
use faultboard_domain::finding::GuardSeverity;
use faultboard_domain::metadata::Metadata;
use faultboard_domain::trace::TraceSummary;
use faultboard_domain::view::BoardRow;
use faultboard_domain::{
    AttemptId, CaseId, Clock, Condition, Diagnosis, Digest, Report, SystemId, Track,
};
use faultboard_leakage::Source;
use faultboard_sandbox::Runtime;
use faultboard_scoring::aggregate::DiagnosisAttempt;
use faultboard_scoring::diagnosis::{PreparedBlocks, compare};
use faultboard_scoring::repair::RepairAttempt;
use faultboard_scoring::usage::Usage;
use serde_json::{Value, json};

use crate::figures::Detail;
use crate::finish::RevisionScores;
use crate::knowledge::{bundle_knowledge, bundle_limits, load_catalog};
use crate::{PortalError, Result, Settings, machine, rows, scan, verify};

/// Keeps what traces amount to while a bundle streams by.
#[derive(Default)]
struct Summaries(BTreeMap<String, TraceSummary>);

impl AttemptSink for Summaries {
    fn file(&mut self, path: &str, body: &mut dyn Read) -> std::io::Result<()> {
        if path.ends_with("patch.diff")
            || path.ends_with("diagnosis.json")
            || path.ends_with("session_stats.json")
        {
            return Ok(());
        }
        let mut input = BufReader::new(body);
        // A trace that can't be read amounts to nothing; the check says so elsewhere.
        if let Ok(trace) = faultboard_trace::read_trace(
            &mut input,
            &faultboard_trace::Limits::default(),
            &mut |_| {},
        ) {
            self.0.insert(path.to_owned(), trace.summary);
        }
        Ok(())
    }
}

fn checked(
    path: &Path,
    settings: &Settings,
    catalog: &Catalog,
    sink: &mut dyn AttemptSink,
) -> Result<Checked> {
    let knowledge = bundle_knowledge(catalog);
    let limits = bundle_limits(settings);
    if path.is_dir() {
        return check_folder(path, &limits, &knowledge, sink).map_err(unreadable);
    }
    let file = File::open(path)
        .map_err(|e| PortalError::Invalid(format!("{} can't be opened: {e}.", path.display())))?;
    check_archive(BufReader::new(file), &limits, &knowledge, sink).map_err(unreadable)
}

fn unreadable(e: impl std::fmt::Display) -> PortalError {
    PortalError::Invalid(e.to_string())
}

/// Checks a bundle, packed or as a folder.
pub fn check(path: &Path, settings: &Settings) -> Result<Report> {
    let catalog = load_catalog(settings)?;
    Ok(checked(path, settings, &catalog, &mut faultboard_bundle::Discard)?.report)
}

/// Checks a folder and packs it; writes only when nothing rejects it. The
/// compression follows the target's name.
pub fn package(dir: &Path, out: &Path, settings: &Settings) -> Result<Report> {
    let report = check(dir, settings)?;
    if !report.is_ok() {
        return Ok(report);
    }
    let name = out.to_string_lossy();
    let compression = if name.ends_with(".tar.gz") || name.ends_with(".tgz") {
        Compression::Gzip
    } else if name.ends_with(".tar.zst") {
        Compression::Zstd
    } else {
        return Err(PortalError::Invalid(
            "The target's name must end in .tar.zst or .tar.gz.".to_owned(),
        ));
    };
    let folder = dir.canonicalize().map_err(unreadable)?;
    let top = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    // A half-written archive never stands under the wanted name.
    let part = PathBuf::from(format!("{name}.part"));
    let file = File::create(&part)
        .map_err(|e| PortalError::Invalid(format!("{} can't be written: {e}.", part.display())))?;
    pack(&folder, &top, compression, file).map_err(unreadable)?;
    std::fs::rename(&part, out).map_err(unreadable)?;
    Ok(report)
}

/// Turns a folder of another benchmark's or harness's results into a bundle's
/// folder at `to`, and checks that. Trajectories may lie in a folder of their own.
/// Gives the layout's name, its remarks and the report; nothing is written where
/// the folder can't be used.
pub fn convert(
    from: &[&Path],
    to: &Path,
    condition: Condition,
    (release, subset): (&str, &str),
    settings: &Settings,
) -> Result<(&'static str, Vec<String>, Report)> {
    let tree = foreign::tree::Folders::open(from).map_err(unreadable)?;
    let Some(found) = foreign::read(&tree, condition) else {
        let known: Vec<&str> = foreign::LAYOUTS.iter().map(|l| l.describe()).collect();
        return Err(PortalError::Invalid(format!(
            "The folder has none of the layouts that are known: {}.",
            known.join("; ")
        )));
    };
    if !found.report.is_ok() {
        return Ok((found.layout, found.notes, found.report));
    }
    foreign::tree::write(&found, &tree, to, release, subset).map_err(unreadable)?;
    Ok((found.layout, found.notes, check(to, settings)?))
}

/// Scores a results folder or bundle on this machine: diagnoses against the
/// labels, patches by the oracles. `say` gets a line per step.
pub async fn score(
    dir: &Path,
    settings: &Settings,
    clock: Arc<dyn Clock>,
    say: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<Value> {
    let settings = &settings.clone().absolute().map_err(unreadable)?;
    let catalog = load_catalog(settings)?;
    let ScoredBundle {
        metadata,
        scores,
        attempts,
        ..
    } = scored(dir, settings, &catalog, None, clock, say).await?;
    let release = catalog
        .release(&metadata.release)
        .ok_or(PortalError::NotFound)?;
    let cohort: BTreeMap<CaseId, SystemId> = catalog
        .subset(release, &metadata.subset)
        .iter()
        .filter_map(|id| catalog.case(id))
        .map(|e| (e.case.id.clone(), e.case.system.clone()))
        .collect();
    let row: Option<BoardRow> = rows::scored_offline(&metadata, &scores, &cohort);
    Ok(json!({
        "track": metadata.track,
        "release": metadata.release,
        "subset": metadata.subset,
        "configuration": metadata.configuration(),
        "scorer_version": crate::finish::scorer_version(metadata.track),
        "attempts": attempts,
        "row": row,
    }))
}

/// A bundle that was scored on this machine.
pub(crate) struct ScoredBundle {
    pub(crate) metadata: Metadata,
    /// Its selected attempts with their scores.
    pub(crate) scores: RevisionScores,
    /// What the traces of the selected attempts tell beyond scores.
    pub(crate) details: BTreeMap<AttemptId, Detail>,
    /// A line about each selected attempt.
    attempts: Vec<Value>,
}

/// Scores a bundle; patches on this runtime, or on the one that the settings name.
pub(crate) async fn scored(
    dir: &Path,
    settings: &Settings,
    catalog: &Catalog,
    runtime: Option<Arc<dyn Runtime>>,
    clock: Arc<dyn Clock>,
    say: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<ScoredBundle> {
    let mut summaries = Summaries::default();
    let bundle = checked(dir, settings, catalog, &mut summaries)?;
    if !bundle.report.is_ok() {
        return Err(PortalError::Rejected(Box::new(bundle.report)));
    }
    let metadata = bundle
        .metadata
        .ok_or_else(|| PortalError::internal("an accepted bundle without metadata"))?;
    let mut scores = RevisionScores::default();
    let mut attempts = Vec::new();
    let mut details = BTreeMap::new();
    let oracle = if metadata.track == Track::Repair {
        let runtime = match runtime {
            Some(given) => given,
            None => machine::find_runtime(settings).await?,
        };
        Some(verify::oracle(settings, runtime, clock)?)
    } else {
        None
    };
    let slots = metadata.attempts_wanted().max(1) as usize;
    for group in grouped(&bundle.attempts) {
        // The first ones in the order of their runs, whatever they score.
        for entry in group.into_iter().take(slots) {
            let case = catalog.case(&entry.case).ok_or(PortalError::NotFound)?;
            let attempt = attempt_id(&metadata, entry)?;
            let summary = summaries.0.get(&entry.trace.path);
            let usage = summary.map(Usage::from).unwrap_or_default();
            details.extend(summary.map(|s| (attempt.clone(), Detail::from(s))));
            let mut line = json!({"case": entry.case, "condition": entry.condition, "run": entry.run.folder()});
            match &entry.answer {
                Answer::Diagnosis(_, bytes) => {
                    let d = Diagnosis::parse(bytes).map_err(unreadable)?;
                    let labels = PreparedBlocks::new(&case.solution.blocks);
                    let result = compare(
                        &labels,
                        &d.buggy_blocks,
                        Some(&String::from_utf8_lossy(bytes)),
                    )
                    .scores();
                    line["scores"] = serde_json::to_value(result).map_err(PortalError::internal)?;
                    scores.diagnosis.push(DiagnosisAttempt {
                        attempt,
                        case: entry.case.clone(),
                        scores: result,
                        usage,
                    });
                }
                Answer::Patch(_, bytes) => {
                    let Some(oracle) = &oracle else { continue };
                    say(&format!(
                        "{} {} {}",
                        entry.case,
                        entry.condition.map_or("", Condition::as_str),
                        entry.run
                    ));
                    let result = verify::judge_here(
                        oracle,
                        case,
                        catalog.library(),
                        bytes,
                        Arc::clone(&say),
                    )
                    .await?;
                    line["outcome"] = json!(result.outcome);
                    line["reason"] = json!(result.reason);
                    line["image_digests"] = json!(result.image_digests);
                    let condition = entry.condition.unwrap_or(Condition::SymptomOnly);
                    scores.repair.push(RepairAttempt {
                        attempt,
                        case: entry.case.clone(),
                        condition,
                        outcome: result.outcome,
                        usage,
                    });
                }
            }
            attempts.push(line);
        }
    }
    Ok(ScoredBundle {
        metadata,
        scores,
        details,
        attempts,
    })
}

/// An attempt's id outside of a site: the same for the same attempt of the same
/// configuration.
fn attempt_id(metadata: &Metadata, entry: &AttemptEntry) -> Result<AttemptId> {
    let bytes = match &entry.answer {
        Answer::Patch(_, bytes) | Answer::Diagnosis(_, bytes) => bytes,
    };
    let condition = entry.condition.map_or("", Condition::as_str);
    let key = format!(
        "{} {} {condition} {} {}",
        metadata.configuration(),
        entry.case,
        entry.run,
        Digest::of(bytes)
    );
    let text = format!("a{}", &Digest::of(key.as_bytes()).as_str()[..16]);
    AttemptId::parse(&text).map_err(PortalError::internal)
}

/// Keeps traces as normalised steps in scratch files while a bundle streams by.
struct Traces {
    folder: tempfile::TempDir,
    files: BTreeMap<String, (PathBuf, bool)>,
}

impl AttemptSink for Traces {
    fn file(&mut self, path: &str, body: &mut dyn Read) -> std::io::Result<()> {
        if path.ends_with("patch.diff")
            || path.ends_with("diagnosis.json")
            || path.ends_with("session_stats.json")
        {
            return Ok(());
        }
        let raw = self.folder.path().join(format!("{}.raw", self.files.len()));
        std::io::copy(body, &mut File::create(&raw)?)?;
        let steps = raw.with_extension("jsonl");
        let mut writer =
            faultboard_trace::NormalisedWriter::new(std::io::BufWriter::new(File::create(&steps)?));
        let mut failed = None;
        let mut input = BufReader::new(File::open(&raw)?);
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
        writer.finish()?;
        // What no reader understands is scanned as it is.
        let kept = if read.is_ok() {
            (steps, true)
        } else {
            (raw, false)
        };
        self.files.insert(path.to_owned(), kept);
        Ok(())
    }
}

/// Scans a results folder or bundle with every guard. With `quarantine`, the run
/// folders of attempts that a quarantining guard hit are set aside: renamed to
/// `quarantined-run-NN`, which no check takes for an attempt.
pub fn leakage(dir: &Path, settings: &Settings, quarantine: bool) -> Result<Value> {
    let catalog = load_catalog(settings)?;
    if quarantine && !dir.is_dir() {
        return Err(PortalError::Invalid(
            "--quarantine renames folders, so it needs a folder, not an archive.".to_owned(),
        ));
    }
    let mut traces = Traces {
        folder: tempfile::tempdir().map_err(PortalError::internal)?,
        files: BTreeMap::new(),
    };
    let bundle = checked(dir, settings, &catalog, &mut traces)?;
    let never = std::sync::atomic::AtomicBool::new(false);
    let mut lines = Vec::new();
    let mut set_aside = Vec::new();
    for entry in &bundle.attempts {
        let case = catalog.case(&entry.case).ok_or(PortalError::NotFound)?;
        let scanner = scan::scanner(case, None, settings)?;
        let (source, bytes) = match &entry.answer {
            Answer::Patch(_, bytes) => (Source::Patch, bytes.as_slice()),
            Answer::Diagnosis(_, bytes) => (Source::Diagnosis, bytes.as_slice()),
        };
        let kept = traces.files.get(&entry.trace.path);
        let mut input = kept
            .filter(|k| k.1)
            .map(|k| File::open(&k.0))
            .transpose()
            .map_err(unreadable)?
            .map(BufReader::new);
        let raw = kept
            .filter(|k| !k.1)
            .map(|k| std::fs::read(&k.0))
            .transpose()
            .map_err(unreadable)?;
        let which = faultboard_leakage::Attempt {
            run: Some(entry.run.0),
            started: None,
        };
        let reader = input.as_mut().map(|i| i as &mut dyn BufRead);
        let (findings, left_out) = scan::scan_attempt(
            &scanner,
            which,
            reader,
            raw.as_deref(),
            Some((source, bytes)),
            &never,
        )
        .map_err(unreadable)?;
        if findings.is_empty() {
            continue;
        }
        let aside = quarantine
            && findings
                .iter()
                .any(|f| f.severity == GuardSeverity::Quarantine);
        if aside {
            set_aside.push(set_run_aside(dir, entry)?);
        }
        lines.push(json!({"case": entry.case, "condition": entry.condition, "run": entry.run.folder(), "findings": findings, "left_out": left_out}));
    }
    Ok(json!({
        "guard_set": faultboard_leakage::guard_set_version(),
        "attempts": bundle.attempts.len(),
        "problems": bundle.report.errors(),
        "hits": lines,
        "set_aside": set_aside,
    }))
}

fn set_run_aside(dir: &Path, entry: &AttemptEntry) -> Result<String> {
    let mut folder = dir.join(entry.case.as_str());
    if let Some(c) = entry.condition {
        folder.push(c.as_str());
    }
    let target = folder.join(format!("quarantined-{}", entry.run.folder()));
    std::fs::rename(folder.join(entry.run.folder()), &target).map_err(|e| {
        PortalError::Invalid(format!("{} can't be renamed: {e}.", target.display()))
    })?;
    Ok(target.display().to_string())
}

/// Attempts by case and condition, each group in the order of its runs.
fn grouped(attempts: &[AttemptEntry]) -> Vec<Vec<&AttemptEntry>> {
    let mut groups: BTreeMap<(&CaseId, Option<Condition>), Vec<&AttemptEntry>> = BTreeMap::new();
    for a in attempts {
        groups.entry((&a.case, a.condition)).or_default().push(a);
    }
    groups
        .into_values()
        .map(|mut g| {
            g.sort_by_key(|a| a.run);
            g
        })
        .collect()
}
