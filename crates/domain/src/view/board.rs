//! A leaderboard as it is cached and shown.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::condition::Track;
use crate::ids::{AttemptId, CaseId, ReleaseId, RevisionId, SubmissionId, SubsetId};
use crate::score::Estimate;

use super::reported::ReportedSet;
use super::statistics::{BoardStatistics, Rival, RowStatistics};

/// Which board, cut and order a reader asks for. Every field comes from the URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardQuery {
    /// The track.
    pub track: Track,
    /// The release; none: the newest.
    pub release: Option<ReleaseId>,
    /// The subset; none: `full`.
    pub subset: Option<SubsetId>,
    /// The slice of cases (`tier-1`, `family-concurrency`, `system-raft-rs`); none: all.
    pub slice: Option<String>,
    /// The column to sort by (a `key` of [`Column`]); none: rank.
    pub sort: Option<String>,
    /// Whether the order is turned round.
    pub reverse: bool,
    /// Keep rows whose agent holds this text.
    pub agent: Option<String>,
    /// Keep rows whose model holds this text.
    pub model: Option<String>,
    /// Keep open weights only.
    pub open_weights: bool,
}

/// One column that a board can be sorted by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its key in the URL.
    pub key: String,
    /// Its head.
    pub title: String,
    /// The unit shown in the head (`%`, `points`, `USD`), may be empty.
    pub unit: String,
    /// What it means, in one sentence.
    pub help: String,
    /// Whether the best value is the largest.
    pub descending: bool,
}

/// A choice in a filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Its word in the URL.
    pub key: String,
    /// Its words on the page.
    pub label: String,
    /// Cases that it holds.
    pub cases: u32,
}

/// A rank as the board prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankView {
    /// Competition rank, from 1.
    pub rank: u32,
    /// As printed: `3`, or `3=` when shared.
    pub label: String,
    /// Rows that it beats significantly (paired test, unadjusted p below 0.05).
    pub beats: u32,
    /// Rows that beat it significantly.
    pub beaten_by: u32,
}

/// A paired difference in points of a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Mean of the differences, as a fraction.
    pub mean: f64,
    /// 95 % interval; none below two cases.
    pub ci95: Option<(f64, f64)>,
    /// Two-sided bootstrap p; none below two cases.
    pub p: Option<f64>,
    /// Cases on both sides.
    pub n: u32,
}

/// The repair track's part of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairCells {
    /// Pass rate, symptom only.
    pub symptom: Option<Estimate>,
    /// Pass rate with context.
    pub context: Option<Estimate>,
    /// Context minus symptom only, on the cases that both have.
    pub lift: Option<Difference>,
    /// The first edit, median over attempts (1-based step).
    pub first_edit: Option<f64>,
    /// What symptom-only attempts spent.
    pub symptom_spent: Option<Spending>,
    /// What attempts with context spent.
    pub context_spent: Option<Spending>,
}

/// What the attempts of one condition spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// US dollars per attempt, mean; none when unknown.
    pub cost: Option<f64>,
    /// Steps, median; none when unknown.
    pub steps: Option<f64>,
}

/// The diagnosis track's part of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiagnosisCells {
    /// Block coverage: the headline.
    pub block_coverage: Estimate,
    /// Block precision.
    pub block_precision: Estimate,
    /// Block coverage without tolerance.
    pub strict_block_coverage: Estimate,
    /// File coverage.
    pub file_coverage: Estimate,
    /// Function coverage.
    pub function_coverage: Estimate,
    /// Line coverage.
    pub line_coverage: Estimate,
    /// Mention coverage.
    pub mention_coverage: Option<Estimate>,
    /// File coverage minus block coverage.
    pub file_block_gap: f64,
    /// Distinct predicted lines, median over attempts.
    pub predicted_lines: Option<f64>,
    /// Mean over cases of the attempts' standard deviation (ddof 1).
    pub within_case_sd: Option<f64>,
    /// Cases whose attempts range over more than 20 points.
    pub unstable_cases: u32,
}

/// One configuration's place on a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoardRow {
    /// Its rank; none without a score.
    pub rank: Option<RankView>,
    /// The submission behind it.
    pub submission: SubmissionId,
    /// The score revision that is live.
    pub revision: RevisionId,
    /// Configuration in words.
    pub configuration: String,
    /// Agent name.
    pub agent: String,
    /// Agent version.
    pub agent_version: String,
    /// Model name.
    pub model: String,
    /// Whether the model's weights are open.
    pub open_weights: bool,
    /// Who handed it in.
    pub submitter: String,
    /// Their organisation.
    pub organisation: Option<String>,
    /// When it was published.
    pub published: Timestamp,
    /// US dollars per attempt, mean; none when unknown.
    pub cost_per_attempt: Option<f64>,
    /// Tokens per attempt, mean; none when unknown.
    pub tokens_per_attempt: Option<f64>,
    /// Steps, median over attempts.
    pub steps: Option<f64>,
    /// Attempts set aside by a guard.
    pub flagged: u32,
    /// Cases that could not be scored, by id.
    pub unscored_cases: Vec<CaseId>,
    /// The repair track's cells.
    pub repair: Option<RepairCells>,
    /// The diagnosis track's cells.
    pub diagnosis: Option<DiagnosisCells>,
    /// Per case what was reached, for the row's fold-out.
    pub per_case: Vec<CaseCell>,
    /// The rows that it beats significantly, the best of them first; the first few.
    #[serde(default)]
    pub beats: Vec<Rival>,
    /// The rows that beat it significantly, nearest first; the first few.
    #[serde(default)]
    pub beaten_by: Vec<Rival>,
    /// Its breakdowns and what else is computed of it alone, on boards of few rows.
    #[serde(default)]
    pub statistics: Option<Box<RowStatistics>>,
}

/// One configuration's result on one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseCell {
    /// The case.
    pub case: CaseId,
    /// Pass rate symptom only (repair).
    pub symptom: Option<f64>,
    /// Pass rate with context (repair).
    pub context: Option<f64>,
    /// Block coverage (diagnosis).
    pub coverage: Option<f64>,
    /// An attempt to open for each value: symptom or only, then context.
    pub attempts: Vec<AttemptId>,
}

/// A whole board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoardView {
    /// The track.
    pub track: Track,
    /// The release.
    pub release: ReleaseId,
    /// Every release there is, newest first.
    pub releases: Vec<ReleaseId>,
    /// The subset.
    pub subset: SubsetId,
    /// The subsets to choose from.
    pub subsets: Vec<Choice>,
    /// The slice; empty: all cases.
    pub slice: String,
    /// The slices to choose from.
    pub slices: Vec<Choice>,
    /// Cases behind each full row.
    pub n_cases: u32,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, in rank order unless the query says otherwise.
    pub rows: Vec<BoardRow>,
    /// When it was computed.
    pub computed: Timestamp,
    /// SHA-256 over everything that it was computed from.
    pub inputs: String,
    /// The version of the diagnosis scorer or of the oracle protocol.
    pub scorer_version: String,
    /// What is computed of the board as a whole; none until a job has done it,
    /// and for slices.
    #[serde(default)]
    pub statistics: Option<Box<BoardStatistics>>,
    /// What publications report and nobody rescored here.
    #[serde(default)]
    pub reported: Vec<ReportedSet>,
}

impl BoardRow {
    /// The value of a sortable column; none: missing, and so last in any order.
    pub fn value(&self, key: &str) -> Option<f64> {
        let repair = self.repair.as_ref();
        let diagnosis = self.diagnosis.as_ref();
        match key {
            "symptom" => repair?.symptom.map(|e| e.mean),
            "context" => repair?.context.map(|e| e.mean),
            "lift" => repair?.lift.map(|d| d.mean),
            "first-edit" => repair?.first_edit,
            "block" => Some(diagnosis?.block_coverage.mean),
            "block-precision" => Some(diagnosis?.block_precision.mean),
            "strict" => Some(diagnosis?.strict_block_coverage.mean),
            "file" => Some(diagnosis?.file_coverage.mean),
            "function" => Some(diagnosis?.function_coverage.mean),
            "line" => Some(diagnosis?.line_coverage.mean),
            "lines" => diagnosis?.predicted_lines,
            "unstable" => diagnosis.map(|d| f64::from(d.unstable_cases)),
            "cost" => self.cost_per_attempt,
            "tokens" => self.tokens_per_attempt,
            "steps" => self.steps,
            "flagged" => Some(f64::from(self.flagged)),
            _ => None,
        }
    }
}

impl BoardView {
    /// Filters and orders the rows as the query says. The order is total: best
    /// first by the column's own sense, missing values last whichever way it is
    /// turned, equal ones by rank, then by configuration and submission.
    pub fn arrange(&mut self, query: &BoardQuery) {
        let holds = |text: &str, wanted: &Option<String>| {
            wanted
                .as_deref()
                .is_none_or(|w| text.to_lowercase().contains(&w.trim().to_lowercase()))
        };
        self.rows.retain(|r| {
            holds(&format!("{} {}", r.agent, r.agent_version), &query.agent)
                && holds(&r.model, &query.model)
                && (!query.open_weights || r.open_weights)
        });
        let column = query
            .sort
            .as_deref()
            .and_then(|key| self.columns.iter().find(|c| c.key == key))
            .cloned();
        self.rows.sort_by(|a, b| {
            let by_rank = || {
                let rank = |r: &BoardRow| r.rank.as_ref().map_or(u32::MAX, |k| k.rank);
                rank(a).cmp(&rank(b))
            };
            let first = match &column {
                None if query.reverse => match (&a.rank, &b.rank) {
                    (Some(x), Some(y)) => y.rank.cmp(&x.rank),
                    _ => by_rank(),
                },
                None => by_rank(),
                Some(c) => match (a.value(&c.key), b.value(&c.key)) {
                    (Some(x), Some(y)) if c.descending != query.reverse => y.total_cmp(&x),
                    (Some(x), Some(y)) => x.total_cmp(&y),
                    (x, y) => y.is_some().cmp(&x.is_some()),
                },
            };
            first
                .then_with(by_rank)
                .then_with(|| a.configuration.cmp(&b.configuration))
                .then_with(|| a.submission.cmp(&b.submission))
        });
    }
}
