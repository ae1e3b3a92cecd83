//! The scan: every guard over every attempt's model-visible text. Hits are kept
//! with their place; any of them holds the submission until a reviewer decides.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use faultboard_catalog::Entry;
use faultboard_domain::trace::Step;
use faultboard_domain::{Actor, AttemptId, CaseId, Finding, SubmissionState};
use faultboard_jobs::{JobContext, JobFailure};
use faultboard_leakage::{
    Attempt as Scanned, CaseTerms, Scanner, Segment, SiteTerms, Source, guard_set_version,
};
use faultboard_oracle::OracleError;
use faultboard_sandbox::RunControl;
use faultboard_store::attempts::{self, Attempt};
use faultboard_store::jobs::Claimed;
use faultboard_store::{jobs, submissions};

use crate::begin::FIRST_SCORING;
use crate::machine::failure;
use crate::{Change, Portal, PortalError, Result, Settings};

/// The most bytes of an answer (patch or diagnosis) that are scanned.
const ANSWER_MOST: u64 = 64 << 20;
/// How long the scan of one attempt may take.
const SCAN_MOST: Duration = Duration::from_secs(900);

/// What the guards look for in one case.
pub(crate) fn case_terms(entry: &Entry) -> CaseTerms {
    let up = &entry.solution.upstream;
    let case = &entry.case;
    let mut names = vec![case.system.as_str().to_owned()];
    names.extend(source_name(&case.source));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut terms = CaseTerms::of_upstream(
        &names,
        &up.issues,
        &up.fixes,
        &up.fix_commits,
        up.fixed_version.as_deref(),
        &up.identifiers,
    );
    terms.functions = entry
        .solution
        .blocks
        .iter()
        .map(|b| b.function.clone())
        .collect();
    terms.sentences = up
        .terms
        .iter()
        .filter(|t| !up.identifiers.contains(t))
        .cloned()
        .collect();
    terms.diffs = vec![entry.solution.diff.clone()];
    // The case's own id is in every path that the task names.
    terms.allowed.push(case.id.to_string());
    terms
}

fn source_name(source: &faultboard_domain::case::Source) -> Option<String> {
    use faultboard_domain::case::Source as S;
    match source {
        S::Pypi { name, .. } | S::Crate { name, .. } => Some(name.clone()),
        S::Debian { package, .. } => Some(package.clone()),
        S::Git { .. } | S::Archive { .. } | S::Directory { .. } => None,
    }
}

/// The names of this site.
pub(crate) fn site_terms(settings: &Settings) -> SiteTerms {
    let host = settings
        .base_url
        .split("://")
        .nth(1)
        .and_then(|rest| rest.split(['/', ':']).next())
        .unwrap_or_default();
    // A loopback address in a trace is the agent's own cluster, not this site.
    let own = !host.is_empty() && host != "localhost" && !host.starts_with("127.") && host != "[";
    let mut site = SiteTerms::default();
    if own {
        site.hosts.push(host.to_owned());
    }
    site
}

/// The scanner of a case; `files` are those of its faulty tree, where it is at hand.
pub(crate) fn scanner(
    entry: &Entry,
    files: Option<BTreeMap<String, u32>>,
    settings: &Settings,
) -> Result<Scanner> {
    let mut terms = case_terms(entry);
    terms.files = files.unwrap_or_default();
    Scanner::new(terms, site_terms(settings)).map_err(PortalError::internal)
}

/// Scans one attempt: its normalised steps from `trace`, then its answer.
/// Setting `stop` ends it before the next step.
pub(crate) fn scan_attempt(
    scanner: &Scanner,
    which: Scanned,
    trace: Option<&mut dyn BufRead>,
    raw: Option<&[u8]>,
    answer: Option<(Source, &[u8])>,
    stop: &AtomicBool,
) -> std::io::Result<(Vec<Finding>, u64)> {
    let mut scan = scanner.scan(which);
    if let Some(trace) = trace {
        let mut line = Vec::new();
        loop {
            line.clear();
            if trace.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(std::io::Error::other("the scan was stopped"));
            }
            let step: Step = serde_json::from_slice(&line)?;
            for segment in Segment::of_step(&step) {
                scan.push(&segment);
            }
        }
    }
    if let Some(bytes) = raw {
        scan.push(&Segment::whole(Source::Output, bytes));
    }
    if let Some((source, bytes)) = answer {
        scan.push(&Segment::whole(source, bytes));
    }
    let found = scan.finish();
    Ok((found.findings, found.left_out))
}

impl Portal {
    pub(crate) async fn run_scan(
        &self,
        job: &Claimed,
        context: JobContext,
    ) -> std::result::Result<(), JobFailure> {
        self.scan(job, &context).await.map_err(failure)
    }

    async fn scan(&self, job: &Claimed, context: &JobContext) -> Result<()> {
        let id = job
            .submission
            .as_ref()
            .ok_or_else(|| PortalError::internal("a scan without a submission"))?;
        let mut c = self.store.reader().await?;
        let s = submissions::get(&mut c, id)
            .await?
            .ok_or(PortalError::NotFound)?;
        let all = attempts::of_submission(&mut c, id).await?;
        drop(c);
        if s.state != SubmissionState::Scanning {
            return self.just_finish(job).await;
        }
        let every: Vec<&Attempt> = all.iter().collect();
        let (found, left_out) = self.find_hits(job, &every, context).await?;
        let mut tx = self.store.begin().await?;
        let now = self.now();
        for (attempt, finding) in &found {
            attempts::insert_finding(&mut tx, id, attempt, finding).await?;
        }
        let actor = Actor::System;
        let guards = guard_set_version();
        let moved = if found.is_empty() {
            let note = format!("no hits (guard set {guards})");
            let moved = submissions::transition(
                &mut tx,
                id,
                s.state,
                SubmissionState::Queued,
                &actor,
                &note,
                now,
            )
            .await?;
            if moved {
                self.begin_revision(&mut tx, &s, &FIRST_SCORING, &actor)
                    .await?;
            }
            moved
        } else {
            let more = if left_out > 0 {
                format!(", {left_out} more of the same guards left out")
            } else {
                String::new()
            };
            let note = format!(
                "{} hit(s){more} wait for a reviewer (guard set {guards})",
                found.len()
            );
            submissions::transition(
                &mut tx,
                id,
                s.state,
                SubmissionState::Flagged,
                &actor,
                &note,
                now,
            )
            .await?
        };
        if !moved {
            // Withdrawn while it was scanned: the hits are of no use to anybody.
            drop(tx);
            return self.just_finish(job).await;
        }
        if jobs::finish(&mut tx, job.id, &job.token, now).await? {
            tx.commit().await?;
            self.wake();
            self.tell(Change::Submission(id.clone()));
        }
        Ok(())
    }

    /// The files of a case's faulty tree. Without an engine there are none, and
    /// the guards judge a path by itself.
    async fn files_of(
        &self,
        job: &Claimed,
        case: &CaseId,
        context: &JobContext,
    ) -> Result<Option<BTreeMap<String, u32>>> {
        if let Err(e) = self.oracle.runtime().check().await {
            context.say(format!(
                "{case}: no containers ({e}); paths are not compared with its files"
            ));
            return Ok(None);
        }
        let control = RunControl {
            cancel: context.cancel.clone(),
            sink: None,
        };
        let labels = self.labels_of(job);
        let listed = self
            .oracle
            .tree_files(&self.oracle_case(case)?, &labels, &control)
            .await;
        match listed {
            Ok(files) => Ok(Some(files)),
            Err(OracleError::Cancelled) => Err(PortalError::internal("the scan was cancelled")),
            Err(e) => {
                context.say(format!(
                    "{case}: its files can't be listed ({e}); paths are not compared with them"
                ));
                Ok(None)
            }
        }
    }

    /// What the guards find in these attempts today, and how many hits they left
    /// out as more of the same.
    pub(crate) async fn find_hits(
        &self,
        job: &Claimed,
        all: &[&Attempt],
        context: &JobContext,
    ) -> Result<(Vec<(AttemptId, Finding)>, u64)> {
        let mut scanners: BTreeMap<CaseId, Arc<Scanner>> = BTreeMap::new();
        let mut found = Vec::new();
        let mut left_out = 0;
        for a in all {
            if !scanners.contains_key(&a.case) {
                let files = match &a.diagnosis {
                    Some(_) => self.files_of(job, &a.case, context).await?,
                    None => None,
                };
                let scanner = scanner(self.entry(&a.case)?, files, &self.settings)?;
                scanners.insert(a.case.clone(), Arc::new(scanner));
            }
            let (findings, more) = self.scan_stored(&scanners[&a.case], a).await?;
            for f in &findings {
                context.say(format!(
                    "{} {}: {} ({})",
                    a.case,
                    a.run,
                    f.guard,
                    f.severity.as_str()
                ));
            }
            left_out += more;
            found.extend(findings.into_iter().map(|f| (a.id.clone(), f)));
        }
        context.say(format!("{} hit(s) in {} attempts", found.len(), all.len()));
        Ok((found, left_out))
    }

    async fn scan_stored(
        &self,
        scanner: &Arc<Scanner>,
        a: &Attempt,
    ) -> Result<(Vec<Finding>, u64)> {
        let which = Scanned {
            run: Some(a.run.0),
            started: None,
        };
        let tmp = self.settings.data_dir.join("tmp");
        let steps = match &a.normalised {
            Some(f) => Some(self.blobs.local_file(&f.digest, &tmp).await?),
            None => None,
        };
        // A trace that no reader understands is scanned as it is.
        let raw = match &a.normalised {
            Some(_) => Bytes::new(),
            None => self.blobs.get(&a.trace.digest, u64::MAX).await?,
        };
        let (source, file) = match (&a.patch, &a.diagnosis) {
            (Some(p), _) => (Source::Patch, Some(p)),
            (None, d) => (Source::Diagnosis, d.as_ref()),
        };
        let answer = match file {
            Some(f) => self.blobs.get(&f.digest, ANSWER_MOST).await?,
            None => Bytes::new(),
        };
        // Off the async threads, so that the lease is kept alive meanwhile; and
        // bounded, so that a text made to be slow holds nobody up for good.
        let scanner = Arc::clone(scanner);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = tokio::task::spawn_blocking(move || {
            let mut input = match &steps {
                Some(f) => Some(std::io::BufReader::with_capacity(
                    1 << 17,
                    std::fs::File::open(f.path()).map_err(PortalError::internal)?,
                )),
                None => None,
            };
            let trace = input.as_mut().map(|i| i as &mut dyn BufRead);
            scan_attempt(
                &scanner,
                which,
                trace,
                (!raw.is_empty()).then_some(&raw[..]),
                Some((source, &answer)),
                &stopped,
            )
            .map_err(PortalError::internal)
        });
        match tokio::time::timeout(SCAN_MOST, work).await {
            Ok(done) => done.map_err(PortalError::internal)?,
            Err(_) => {
                stop.store(true, Ordering::Relaxed);
                Err(PortalError::Internal(format!(
                    "scanning {} {} took more than {} s",
                    a.case,
                    a.run,
                    SCAN_MOST.as_secs()
                )))
            }
        }
    }
}
