//! A comparison of two to six rows, as asked for and as shown.

use serde::{Deserialize, Serialize};

use super::board::{Choice, Difference};
use super::statistics::{FlipTable, MeasureKind, PowerNote};
use crate::clock::Timestamp;
use crate::condition::Track;
use crate::ids::{AttemptId, CaseId, ReleaseId, RevisionId, SubmissionId};
use crate::outcome::Outcome;
use crate::score::Estimate;

/// The fewest and the most rows of a comparison.
pub const COMPARED: (usize, usize) = (2, 6);

/// Which rows to compare, on which cases. Every field comes from the URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompareQuery {
    /// The rows, in the order in which they are shown.
    pub rows: Vec<SubmissionId>,
    /// The slice of cases (`tier-1`, `family-concurrency`); none: all.
    pub slice: Option<String>,
}

/// One attempt behind a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedAttempt {
    /// The attempt.
    pub id: AttemptId,
    /// The measures that it counts for.
    pub measure: MeasureKind,
    /// How it ended (repair).
    pub outcome: Option<Outcome>,
    /// Its block coverage (diagnosis).
    pub coverage: Option<f64>,
}

/// One row on one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedCell {
    /// The value under each measure of the comparison, in their order.
    pub values: Vec<Option<f64>>,
    /// The attempts behind them.
    pub attempts: Vec<ComparedAttempt>,
}

/// One case of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedCase {
    /// The case.
    pub case: CaseId,
    /// Its title.
    pub title: String,
    /// One cell per row, in their order.
    pub cells: Vec<ComparedCell>,
}

/// One row of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedRow {
    /// The submission.
    pub submission: SubmissionId,
    /// The live score revision.
    pub revision: RevisionId,
    /// Configuration in words.
    pub configuration: String,
    /// The subset that it was handed in for.
    pub subset: String,
    /// Its value under each measure on all of its own cases of the cut.
    pub estimates: Vec<Option<Estimate>>,
}

/// Two rows under one measure, the first minus the second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedPair {
    /// Index of the first row.
    pub a: usize,
    /// Index of the second row.
    pub b: usize,
    /// The measure.
    pub measure: MeasureKind,
    /// Paired difference on the common cases; none without one.
    pub difference: Option<Difference>,
    /// p with one replicate added, never 0.
    pub p_plus_one: Option<f64>,
    /// Holm-adjusted p over the pairs of this comparison and measure.
    pub p_holm: Option<f64>,
    /// Cases that only the first row has.
    pub only_a: Vec<CaseId>,
    /// Cases that only the second row has.
    pub only_b: Vec<CaseId>,
    /// What flipped, where each has one attempt per case: gained is what only
    /// the first passes.
    pub flips: Option<FlipTable>,
    /// What this comparison could have found.
    pub power: Option<PowerNote>,
}

/// How far a comparison is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompareState {
    /// Every pair is computed.
    Ready,
    /// A job computes what is missing.
    Computing,
    /// Too many comparisons wait; this one was not taken up.
    Busy,
}

/// A row that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedChoice {
    /// The submission.
    pub submission: SubmissionId,
    /// Configuration in words.
    pub configuration: String,
    /// Its track.
    pub track: Track,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareView {
    /// The track.
    pub track: Track,
    /// The release.
    pub release: ReleaseId,
    /// The slice; empty: all cases.
    pub slice: String,
    /// The slices to choose from.
    pub slices: Vec<Choice>,
    /// Cases of the cut.
    pub n_cases: u32,
    /// The measures, the headline first.
    pub measures: Vec<MeasureKind>,
    /// The rows.
    pub rows: Vec<ComparedRow>,
    /// The pairs, in the order (0,1), (0,2), ..., measure by measure.
    pub pairs: Vec<ComparedPair>,
    /// The cases, sorted by id.
    pub cases: Vec<ComparedCase>,
    /// How far it is.
    pub state: CompareState,
    /// When the newest of its parts was computed.
    pub computed: Option<Timestamp>,
    /// The version of the scorer.
    pub scorer_version: String,
}
