//! Traces of many attempts to take away in one archive: of a submission, or of
//! all published ones, filtered. It says which files; it never reads them.

use std::collections::{HashMap, HashSet};

use faultboard_domain::view::TraceSetQuery;
use faultboard_domain::{
    Actor, AttemptId, CaseId, Condition, Outcome, ReleaseId, SubmissionId, Track,
};
use faultboard_store::attempts::TraceOf;
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Connection, attempts, revisions};

use crate::downloads::{BlobFile, file};
use crate::submission_page::Progress;
use crate::{Portal, PortalError, Result};

/// The most files that one archive holds: its list is kept in memory.
const MOST_FILES: usize = 50_000;

/// A query, read.
struct Filter {
    track: Option<Track>,
    release: Option<ReleaseId>,
    case: Option<CaseId>,
    condition: Option<Condition>,
    outcome: Option<Outcome>,
    normalised: bool,
}

/// Reads one field; what can't be read is noted with what it may be.
fn field<T>(
    wrong: &mut Vec<String>,
    name: &str,
    text: Option<&String>,
    read: impl Fn(&str) -> Option<T>,
    known: &str,
) -> Option<T> {
    let text = text?;
    let found = read(text);
    if found.is_none() {
        wrong.push(format!("{name} '{text}' is none of: {known}"));
    }
    found
}

impl Filter {
    /// Reads every field.
    ///
    /// # Errors
    /// Lists all that can't be read.
    fn read(query: &TraceSetQuery) -> Result<Self> {
        let mut wrong = Vec::new();
        let outcomes: Vec<&str> = Outcome::ALL.iter().map(|o| o.as_str()).collect();
        let filter = Self {
            track: field(
                &mut wrong,
                "track",
                query.track.as_ref(),
                |t| t.parse().ok(),
                &Track::ALL.map(Track::as_str).join(", "),
            ),
            release: field(
                &mut wrong,
                "release",
                query.release.as_ref(),
                |t| ReleaseId::parse(t).ok(),
                "the releases",
            ),
            case: field(
                &mut wrong,
                "case",
                query.case.as_ref(),
                |t| CaseId::parse(t).ok(),
                "the cases",
            ),
            condition: field(
                &mut wrong,
                "condition",
                query.condition.as_ref(),
                |t| t.parse().ok(),
                &Condition::ALL.map(Condition::as_str).join(", "),
            ),
            outcome: field(
                &mut wrong,
                "outcome",
                query.outcome.as_ref(),
                Outcome::parse,
                &outcomes.join(", "),
            ),
            normalised: field(
                &mut wrong,
                "form",
                query.form.as_ref(),
                |t| match t {
                    "original" => Some(false),
                    "normalised" => Some(true),
                    _ => None,
                },
                "original, normalised",
            )
            .unwrap_or(false),
        };
        if wrong.is_empty() {
            Ok(filter)
        } else {
            Err(PortalError::Invalid(format!("{}.", wrong.join("; "))))
        }
    }

    fn wants(&self, s: &Submission) -> bool {
        let Some(m) = &s.metadata else {
            return self.track.is_none() && self.release.is_none();
        };
        self.track.is_none_or(|t| t == m.track)
            && self.release.as_ref().is_none_or(|r| *r == m.release)
    }

    fn wants_attempt(&self, a: &TraceOf, outcomes: &HashMap<AttemptId, Outcome>) -> bool {
        self.case.as_ref().is_none_or(|c| *c == a.case)
            && self.condition.is_none_or(|c| a.condition == Some(c))
            && self.outcome.is_none_or(|o| outcomes.get(&a.id) == Some(&o))
    }

    /// The file of an attempt and its path; none if its trace could not be read.
    fn file(&self, a: &TraceOf) -> Option<BlobFile> {
        if !self.normalised {
            return Some(file(&a.trace, a.trace_name.clone()));
        }
        let condition = a.condition.map(|c| format!("{c}/")).unwrap_or_default();
        let name = format!("{}/{condition}{}/steps.jsonl", a.case, a.run.folder());
        a.normalised.as_ref().map(|stored| file(stored, name))
    }
}

/// How the shown revision of a submission judged its attempts.
async fn outcomes(c: &mut Connection, s: &Submission) -> Result<HashMap<AttemptId, Outcome>> {
    let all = revisions::of_submission(c, &s.id).await?;
    let Some(shown) = Progress::shown(s, &all) else {
        return Ok(HashMap::new());
    };
    let stored = revisions::outcomes(c, &shown.id).await?;
    Ok(stored
        .into_iter()
        .filter_map(|o| Some((o.attempt.clone(), o.repair_outcome()?)))
        .collect())
}

impl Portal {
    /// The traces of a set, as sent or as normalised steps: of one submission that
    /// the actor may read, named by their paths in its bundle, or of all published
    /// ones, each in a folder of its own.
    ///
    /// # Errors
    /// A filter that can't be read, a set of everything, or of too many files.
    pub async fn trace_set(&self, actor: &Actor, query: &TraceSetQuery) -> Result<Vec<BlobFile>> {
        let filter = Filter::read(query)?;
        let (found, apart) = match &query.submission {
            Some(id) => (vec![self.readable(actor, id).await?], false),
            None => {
                if filter.release.is_none() && filter.case.is_none() {
                    return Err(PortalError::Invalid(
                        "Traces of everything are too many for one archive: name a release or a case."
                            .to_owned(),
                    ));
                }
                let mut c = self.store.reader().await?;
                (submissions::published(&mut c).await?, true)
            }
        };
        let mut files = Vec::new();
        let mut names = HashSet::new();
        for s in found.iter().filter(|s| filter.wants(s)) {
            let mut c = self.store.reader().await?;
            let judged = match filter.outcome {
                Some(_) => outcomes(&mut c, s).await?,
                None => HashMap::new(),
            };
            for a in attempts::traces_of(&mut c, &s.id).await? {
                let wanted = filter.wants_attempt(&a, &judged);
                let Some(mut f) = wanted.then(|| filter.file(&a)).flatten() else {
                    continue;
                };
                if apart {
                    f.name = format!("{}/{}", s.id, f.name);
                }
                if names.insert(f.name.clone()) {
                    files.push(f);
                }
            }
            if files.len() > MOST_FILES {
                return Err(PortalError::Invalid(format!(
                    "The set has more than {MOST_FILES} traces. Narrow it: by release, case, condition, outcome or track."
                )));
            }
        }
        Ok(files)
    }

    /// Every trace of a submission, as sent, named by its path in the bundle.
    pub async fn traces(&self, actor: &Actor, id: &SubmissionId) -> Result<Vec<BlobFile>> {
        let whole = TraceSetQuery {
            submission: Some(id.clone()),
            ..TraceSetQuery::default()
        };
        self.trace_set(actor, &whole).await
    }
}
