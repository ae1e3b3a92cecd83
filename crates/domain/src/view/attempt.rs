//! One attempt: its result, its patch or diagnosis, and a page of its trace.

use serde::{Deserialize, Serialize};

use crate::condition::{Condition, Track};
use crate::diagnosis::Diagnosis;
use crate::ids::{AttemptId, CaseId, RunNumber, SubmissionId};
use crate::outcome::RepairResult;
use crate::trace::{Step, TraceSummary};

use super::submission::{AttemptCell, FindingView};

/// Which part of a trace is wanted. Every field comes from the URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceQuery {
    /// The selected step (0-based).
    pub step: Option<u32>,
    /// Text to search for.
    pub q: Option<String>,
}

/// Which traces are wanted in one archive. Every field comes from the URL as it
/// stands there: a filter that can't be read must be refused, never left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSetQuery {
    /// One submission's; none: all published ones.
    pub submission: Option<SubmissionId>,
    /// Of this track.
    pub track: Option<String>,
    /// Handed in for this release.
    pub release: Option<String>,
    /// Of attempts at this case.
    pub case: Option<String>,
    /// Of attempts under this condition.
    pub condition: Option<String>,
    /// Of attempts that ended so.
    pub outcome: Option<String>,
    /// `original` bytes, the default, or `normalised` steps.
    pub form: Option<String>,
}

/// One line in the list of steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepLine {
    /// 0-based position.
    pub index: u32,
    /// Who speaks.
    pub role: String,
    /// Kind of action; empty without one.
    pub kind: String,
    /// The command or the thought on one line, shortened.
    pub line: String,
    /// Whether the exit code was not zero.
    pub failed: bool,
    /// Leak hits in it.
    pub hits: u32,
    /// US dollars, if told.
    pub cost: Option<f64>,
}

/// A styled run of text: `class` is empty or CSS classes such as `ansi-red ansi-bold`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// CSS classes.
    pub class: String,
    /// The text, to be escaped.
    pub text: String,
}

/// One line of a patch on the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// `file`, `hunk`, `context`, `add` or `remove`.
    pub kind: String,
    /// Line number on the old side.
    pub old: Option<u32>,
    /// Line number on the new side.
    pub new: Option<u32>,
    /// The text, to be escaped.
    pub text: String,
}

/// An attempt's page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptView {
    /// The attempt.
    pub id: AttemptId,
    /// Its submission.
    pub submission: SubmissionId,
    /// Configuration in words.
    pub configuration: String,
    /// The track.
    pub track: Track,
    /// The case.
    pub case: CaseId,
    /// The case's title.
    pub case_title: String,
    /// The condition (repair).
    pub condition: Option<Condition>,
    /// The run.
    pub run: RunNumber,
    /// Its cell: status, outcome, scores.
    pub cell: AttemptCell,
    /// The stages and digests (repair), once scored.
    pub result: Option<RepairResult>,
    /// What it handed in (diagnosis).
    pub diagnosis: Option<Diagnosis>,
    /// The patch, line by line, at most 5,000 lines (repair).
    pub diff: Vec<DiffLine>,
    /// Lines of the patch beyond those.
    pub diff_left_out: u64,
    /// What the trace amounts to; none when it could not be read.
    pub summary: Option<TraceSummary>,
    /// File name of the trace.
    pub trace_name: String,
    /// Bytes of the trace.
    pub trace_bytes: u64,
    /// Steps in all.
    pub total_steps: u32,
    /// The lines of the list around the selected step (at most 200).
    pub steps: Vec<StepLine>,
    /// The selected step in full.
    pub selected: Option<Step>,
    /// The selected step's output with ANSI styles.
    pub selected_output: Vec<Span>,
    /// Steps that hold the searched text (first 1,000).
    pub found: Vec<u32>,
    /// The first edit's step.
    pub first_edit: Option<u32>,
    /// The next failing step after the selected one.
    pub next_error: Option<u32>,
    /// The next leak hit after the selected one, for those who may see hits.
    pub next_hit: Option<u32>,
    /// Leak hits, for the owner and maintainers.
    pub findings: Vec<FindingView>,
    /// The attempts before and after this one in the submission.
    pub neighbours: (Option<AttemptId>, Option<AttemptId>),
    /// Whether the reader may see what is not public.
    pub privileged: bool,
}
