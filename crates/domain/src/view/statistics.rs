//! Statistics as a job stores them and pages show them: of one row, of a pair of
//! rows, of a board. Plain values; computing them is done elsewhere.

use serde::{Deserialize, Serialize};

use super::board::Difference;
use crate::case::words;
use crate::clock::Timestamp;
use crate::condition::{Condition, Track};
use crate::ids::{CaseId, SubmissionId, SystemId};
use crate::score::Estimate;

words!(
    /// What two rows are compared by.
    MeasureKind {
        /// Pass rate, symptom only.
        Symptom = "symptom",
        /// Pass rate with context.
        Context = "context",
        /// Block coverage.
        Block = "block",
        /// File coverage.
        File = "file",
    }
);

impl MeasureKind {
    /// The measures of a track, its headline first.
    pub const fn of(track: Track) -> &'static [MeasureKind] {
        match track {
            Track::Repair | Track::Recovery => &[MeasureKind::Symptom, MeasureKind::Context],
            Track::Diagnosis => &[MeasureKind::Block, MeasureKind::File],
        }
    }

    /// Its name on pages.
    pub const fn title(self) -> &'static str {
        match self {
            MeasureKind::Symptom => "pass rate, symptom only",
            MeasureKind::Context => "pass rate, with context",
            MeasureKind::Block => "block coverage",
            MeasureKind::File => "file coverage",
        }
    }

    /// The condition whose attempts it counts, on the repair track.
    pub const fn condition(self) -> Option<Condition> {
        match self {
            MeasureKind::Symptom => Some(Condition::SymptomOnly),
            MeasureKind::Context => Some(Condition::ContextAugmented),
            MeasureKind::Block | MeasureKind::File => None,
        }
    }
}

/// Which cases passed on which of two sides, and McNemar's exact test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FlipTable {
    /// Failed on the first side, passed on the second.
    pub gained: u64,
    /// Passed on the first side, failed on the second.
    pub lost: u64,
    /// Passed on both.
    pub both_pass: u64,
    /// Failed on both.
    pub both_fail: u64,
    /// Two-sided exact p.
    pub p_exact: f64,
    /// Mid-p; none without a flip.
    pub p_mid: Option<f64>,
}

impl FlipTable {
    /// The same with the sides exchanged.
    pub fn reversed(self) -> Self {
        Self {
            gained: self.lost,
            lost: self.gained,
            ..self
        }
    }
}

/// One row on a group of its cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupLine {
    /// The slice's key: `tier-1`, `family-concurrency`, `system-relay`.
    pub key: String,
    /// Its words.
    pub label: String,
    /// Cases of the group.
    pub cases: u32,
    /// Pass rate, symptom only.
    pub symptom: Option<Estimate>,
    /// Pass rate with context.
    pub context: Option<Estimate>,
    /// Context minus symptom only, on the cases that have both.
    pub lift: Option<Difference>,
    /// Block coverage.
    pub block: Option<Estimate>,
    /// File coverage.
    pub file: Option<Estimate>,
}

/// A diagnosis row without the cases of one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOutLine {
    /// The system left out.
    pub system: SystemId,
    /// Block coverage of the rest; none if nothing remains.
    pub block: Option<Estimate>,
    /// That minus block coverage on all cases.
    pub delta: Option<f64>,
    /// File minus block coverage of the rest.
    pub gap: Option<f64>,
}

/// A case whose attempts lie far apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnstableCase {
    /// The case.
    pub case: CaseId,
    /// Smallest block coverage of its attempts.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

/// How much a row's attempts at the same case differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Standard deviation of the attempts within a case (n - 1 below the line),
    /// mean over cases.
    pub within_case_sd: f64,
    /// The same with n below the line.
    pub within_case_sd_population: f64,
    /// Cases whose attempts range over more than 20 points, widest first.
    pub unstable: Vec<UnstableCase>,
    /// Cases with at least two attempts.
    pub repeated: u32,
    /// Cases.
    pub cases: u32,
}

/// What is computed of one row alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowStatistics {
    /// By tier, family and system, in that order.
    pub groups: Vec<GroupLine>,
    /// What flipped from symptom only to with context, where each case has one
    /// attempt under each.
    pub flips: Option<FlipTable>,
    /// Clopper-Pearson interval of the symptom-only pass rate, likewise.
    pub exact_symptom: Option<(f64, f64)>,
    /// The same with context.
    pub exact_context: Option<(f64, f64)>,
    /// Each system left out (diagnosis).
    pub leave_one_out: Vec<LeftOutLine>,
    /// Largest change of leaving one out.
    pub max_abs_delta: Option<f64>,
    /// Spread over attempts (diagnosis).
    pub stability: Option<Stability>,
}

/// Two rows under one measure, the first minus the second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasureDifference {
    /// The measure.
    pub measure: MeasureKind,
    /// The first row on the common cases.
    pub a: Option<Estimate>,
    /// The second row on the common cases.
    pub b: Option<Estimate>,
    /// The paired difference on the common cases; none without one.
    pub difference: Option<Difference>,
    /// The same p with one replicate added, never 0.
    pub p_plus_one: Option<f64>,
    /// Cases that only the first row has.
    pub only_a: Vec<CaseId>,
    /// Cases that only the second row has.
    pub only_b: Vec<CaseId>,
    /// What flipped from the second row to the first, where each has one attempt
    /// per case: gained is what only the first passes.
    pub flips: Option<FlipTable>,
    /// Most attempts per case on either side.
    pub attempts: u32,
}

impl MeasureDifference {
    /// The second minus the first.
    pub fn reversed(self) -> Self {
        Self {
            measure: self.measure,
            a: self.b,
            b: self.a,
            difference: self.difference.map(|d| Difference {
                mean: 0.0 - d.mean,
                ci95: d.ci95.map(|(low, high)| (0.0 - high, 0.0 - low)),
                ..d
            }),
            p_plus_one: self.p_plus_one,
            only_a: self.only_b,
            only_b: self.only_a,
            flips: self.flips.map(FlipTable::reversed),
            attempts: self.attempts,
        }
    }
}

/// Two rows under every measure of their track.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairStatistics {
    /// One per measure that both rows have.
    pub measures: Vec<MeasureDifference>,
}

impl PairStatistics {
    /// One measure.
    pub fn measure(&self, kind: MeasureKind) -> Option<&MeasureDifference> {
        self.measures.iter().find(|m| m.measure == kind)
    }
}

/// The smallest difference that the paired test would find in four of five
/// experiments of this size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PowerNote {
    /// Common cases.
    pub cases: u32,
    /// Attempts per case and configuration.
    pub attempts: u32,
    /// Assumed rate of the weaker configuration.
    pub base_rate: f64,
    /// The difference in points; none if even the largest would be missed.
    pub points: Option<u32>,
}

/// A coefficient of the mixed model, on the logit scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoefficientLine {
    /// Estimate.
    pub estimate: f64,
    /// Standard error.
    pub se: f64,
    /// 95 % Wald interval.
    pub ci95: (f64, f64),
    /// Estimate over standard error.
    pub z: f64,
    /// Two-sided Wald p.
    pub p: f64,
}

/// A fitted mixed model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedFitView {
    /// The constant.
    pub intercept: CoefficientLine,
    /// The effect of context.
    pub context: CoefficientLine,
    /// exp of the effect, and of its interval's ends.
    pub odds_ratio: (f64, f64, f64),
    /// Variance between configurations.
    pub var_configuration: f64,
    /// Variance between cases.
    pub var_case: f64,
    /// Average marginal effect of context, as a fraction.
    pub marginal: f64,
    /// Laplace log-likelihood.
    pub loglik: f64,
    /// Akaike's criterion.
    pub aic: f64,
}

/// The mixed model of a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedModelView {
    /// Attempts it was fitted to.
    pub attempts: u32,
    /// Configurations among them.
    pub configurations: u32,
    /// Cases among them.
    pub cases: u32,
    /// The fit; none where there is no estimate.
    pub fit: Option<MixedFitView>,
    /// What it says, in plain words.
    pub reading: String,
    /// Convergence and singularity in words, or why there is no estimate.
    pub notes: Vec<String>,
}

/// One pair of a board's panel, by the headline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelPair {
    /// The first row, the better ranked.
    pub a: SubmissionId,
    /// The second row.
    pub b: SubmissionId,
    /// First minus second.
    pub difference: Difference,
    /// Holm-adjusted p over the panel.
    pub p_holm: Option<f64>,
}

/// What is computed of a board as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoardStatistics {
    /// The measure of the panel.
    pub measure: MeasureKind,
    /// Rows of the panel, in rank order: the first ones of a large board.
    pub panel_rows: Vec<SubmissionId>,
    /// Every pair of them.
    pub panel: Vec<PanelPair>,
    /// Flips of every row added up.
    pub pooled_flips: Option<FlipTable>,
    /// The effect of context over all rows: mean of their lifts, as a fraction.
    pub mean_lift: Option<f64>,
    /// The mixed model (repair).
    pub mixed: Option<MixedModelView>,
    /// What a comparison on this board could find.
    pub power: Option<PowerNote>,
    /// SHA-256 of what all of it was computed from.
    pub inputs: String,
    /// When it was computed.
    pub computed: Timestamp,
}

/// A row in another row's list of those that it beats, or that beat it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rival {
    /// The submission.
    pub submission: SubmissionId,
    /// Its configuration in words.
    pub configuration: String,
}
