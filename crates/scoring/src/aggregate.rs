//! The diagnosis track's figures of one configuration.
//!
//! Mean over the selected attempts of a case, then equal weight over cases;
//! every interval resamples cases. Attempts are never pooled across cases,
//! and a case without an attempt is named, never counted as zero in silence.

use std::collections::BTreeMap;

use faultboard_domain::{
    AttemptId, CaseId, SystemId,
    score::{DiagnosisScores, Estimate},
};
use faultboard_stats::{
    attempts::{self, WithinSpread},
    bootstrap,
    groups::{self, GroupAnalysis, Unit},
    percentile, summary,
};
use serde::{Deserialize, Serialize};

use crate::{
    estimate::stored,
    usage::{self, Usage, UsageSummary},
};

/// A metric of the diagnosis track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The headline.
    BlockCoverage,
    /// Share of predicted blocks near a label.
    BlockPrecision,
    /// Block coverage without tolerance.
    StrictBlockCoverage,
    /// Share of labelled files predicted.
    FileCoverage,
    /// Share of predicted files labelled.
    FilePrecision,
    /// Share of labelled functions predicted.
    FunctionCoverage,
    /// Share of predicted functions labelled.
    FunctionPrecision,
    /// Share of labelled lines predicted.
    LineCoverage,
    /// Share of predicted lines labelled.
    LinePrecision,
    /// Share of labelled functions named in the text.
    MentionCoverage,
}

impl Metric {
    /// Every metric, in display order.
    pub const ALL: [Metric; 10] = [
        Metric::BlockCoverage,
        Metric::BlockPrecision,
        Metric::StrictBlockCoverage,
        Metric::FileCoverage,
        Metric::FilePrecision,
        Metric::FunctionCoverage,
        Metric::FunctionPrecision,
        Metric::LineCoverage,
        Metric::LinePrecision,
        Metric::MentionCoverage,
    ];

    /// The metric of one attempt; `None` only for mention coverage without a
    /// text.
    #[must_use]
    pub fn of(self, scores: &DiagnosisScores) -> Option<f64> {
        Some(match self {
            Metric::BlockCoverage => scores.block_coverage,
            Metric::BlockPrecision => scores.block_precision,
            Metric::StrictBlockCoverage => scores.strict_block_coverage,
            Metric::FileCoverage => scores.file_coverage,
            Metric::FilePrecision => scores.file_precision,
            Metric::FunctionCoverage => scores.function_coverage,
            Metric::FunctionPrecision => scores.function_precision,
            Metric::LineCoverage => scores.line_coverage,
            Metric::LinePrecision => scores.line_precision,
            Metric::MentionCoverage => return scores.mention_coverage,
        })
    }
}

/// A selected attempt with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiagnosisAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its case.
    pub case: CaseId,
    /// Its metrics.
    pub scores: DiagnosisScores,
    /// What it spent.
    pub usage: Usage,
}

/// One case of a configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case.
    pub case: CaseId,
    /// Its system.
    pub system: SystemId,
    /// The selected attempts.
    pub attempts: Vec<AttemptId>,
    /// Mean of each metric over the attempts.
    pub means: BTreeMap<Metric, f64>,
    /// Largest minus smallest block coverage.
    pub range: f64,
    /// Whether the range exceeds 20 points.
    pub unstable: bool,
}

/// File and block coverage of a set of cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemRow {
    /// The system that the set is, or leaves out.
    pub system: SystemId,
    /// File coverage; `None` when no case remains.
    pub file_coverage: Option<Estimate>,
    /// Block coverage.
    pub block_coverage: Option<Estimate>,
    /// File minus block coverage.
    pub gap: Option<f64>,
    /// Block coverage minus that of all cases.
    pub delta: Option<f64>,
}

/// The configuration by system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemFigures {
    /// Each system alone.
    pub per_system: Vec<SystemRow>,
    /// Each system left out, the other cases equally weighted.
    pub leave_one_out: Vec<SystemRow>,
    /// Largest |delta| of leaving one out.
    pub max_abs_delta: Option<f64>,
    /// Smallest and largest gap of leaving one out.
    pub gap_range: Option<(f64, f64)>,
}

/// Every figure of one configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiagnosisAggregate {
    /// Mean and interval over cases of each metric that has a value.
    pub metrics: BTreeMap<Metric, Estimate>,
    /// File minus block coverage.
    pub file_block_gap: Option<f64>,
    /// Standard deviation of block coverage within cases, averaged.
    pub within_case: Option<WithinSpread>,
    /// Cases whose attempts' block coverage ranges over more than 20 points.
    pub unstable_cases: Vec<CaseId>,
    /// Median over attempts of the distinct predicted lines.
    pub predicted_lines_median: Option<f64>,
    /// What the attempts spent.
    pub usage: UsageSummary,
    /// By system.
    pub systems: SystemFigures,
    /// By case, sorted by id.
    pub cases: Vec<CaseResult>,
    /// Cohort cases without a selected attempt: they are in no mean.
    pub missing_cases: Vec<CaseId>,
    /// Attempts whose case is not in the cohort: they are in no mean.
    pub outside_cohort: Vec<AttemptId>,
}

impl DiagnosisAggregate {
    /// Block coverage by case, for paired comparisons.
    #[must_use]
    pub fn by_case(&self, metric: Metric) -> BTreeMap<CaseId, f64> {
        self.cases
            .iter()
            .filter_map(|c| Some((c.case.clone(), *c.means.get(&metric)?)))
            .collect()
    }
}

/// Aggregates selected attempts over a cohort (case to system).
#[must_use]
pub fn aggregate(
    attempts: &[DiagnosisAttempt],
    cohort: &BTreeMap<CaseId, SystemId>,
) -> DiagnosisAggregate {
    let mut by_case: BTreeMap<&CaseId, Vec<&DiagnosisAttempt>> = BTreeMap::new();
    let mut outside_cohort = Vec::new();
    for attempt in attempts {
        if cohort.contains_key(&attempt.case) {
            by_case.entry(&attempt.case).or_default().push(attempt);
        } else {
            outside_cohort.push(attempt.attempt.clone());
        }
    }
    let coverage: Vec<Vec<f64>> = by_case
        .values()
        .map(|list| list.iter().map(|a| a.scores.block_coverage).collect())
        .collect();
    let cases: Vec<CaseResult> = cohort
        .iter()
        .filter_map(|(case, system)| Some((case, system, by_case.get(case)?)))
        .map(|(case, system, list)| case_result(case, system, list))
        .collect();

    let metrics: BTreeMap<Metric, Estimate> = Metric::ALL
        .into_iter()
        .filter_map(|metric| {
            let means: Vec<f64> = cases
                .iter()
                .filter_map(|c| c.means.get(&metric).copied())
                .collect();
            Some((metric, stored(&bootstrap::mean_interval(&means))?))
        })
        .collect();
    let counted = || by_case.values().flatten();
    let lines: Vec<f64> = counted().map(|a| a.scores.predicted_lines as f64).collect();
    let mean = |metric| metrics.get(&metric).map(|e: &Estimate| e.mean);
    DiagnosisAggregate {
        file_block_gap: mean(Metric::FileCoverage)
            .zip(mean(Metric::BlockCoverage))
            .map(|(file, block)| file - block),
        within_case: attempts::within_spread(&coverage),
        unstable_cases: cases
            .iter()
            .filter(|c| c.unstable)
            .map(|c| c.case.clone())
            .collect(),
        predicted_lines_median: percentile::median(&lines),
        usage: usage::summarize(counted().map(|a| &a.usage)),
        systems: systems(&cases),
        missing_cases: cohort
            .keys()
            .filter(|c| !by_case.contains_key(c))
            .cloned()
            .collect(),
        metrics,
        cases,
        outside_cohort,
    }
}

fn case_result(case: &CaseId, system: &SystemId, attempts: &[&DiagnosisAttempt]) -> CaseResult {
    let coverage: Vec<f64> = attempts.iter().map(|a| a.scores.block_coverage).collect();
    let means = Metric::ALL
        .into_iter()
        .filter_map(|metric| {
            let values: Vec<f64> = attempts
                .iter()
                .filter_map(|a| metric.of(&a.scores))
                .collect();
            Some((metric, summary::mean(&values)?))
        })
        .collect();
    CaseResult {
        case: case.clone(),
        system: system.clone(),
        attempts: attempts.iter().map(|a| a.attempt.clone()).collect(),
        means,
        range: attempts::range(&coverage).unwrap_or(0.0),
        unstable: attempts::is_unstable(&coverage),
    }
}

/// Per-system and leave-one-system-out figures of file and block coverage.
fn systems(cases: &[CaseResult]) -> SystemFigures {
    let analyse = |metric: Metric| -> GroupAnalysis<&SystemId> {
        let units: Vec<Unit<&CaseId, &SystemId>> = cases
            .iter()
            .filter_map(|c| {
                Some(Unit {
                    key: &c.case,
                    group: &c.system,
                    value: *c.means.get(&metric)?,
                })
            })
            .collect();
        groups::analyse(&units)
    };
    let file = analyse(Metric::FileCoverage);
    let block = analyse(Metric::BlockCoverage);
    let row = |system: &SystemId, f: &bootstrap::MeanEstimate, b: &bootstrap::MeanEstimate| {
        let (file_coverage, block_coverage) = (stored(f), stored(b));
        SystemRow {
            system: system.clone(),
            gap: f.mean.zip(b.mean).map(|(f, b)| f - b),
            delta: b.mean.zip(block.full.mean).map(|(b, full)| b - full),
            file_coverage,
            block_coverage,
        }
    };
    let leave_one_out: Vec<SystemRow> = file
        .leave_one_out
        .iter()
        .zip(&block.leave_one_out)
        .map(|(f, b)| row(f.excluded, &f.estimate, &b.estimate))
        .collect();
    let gaps = || leave_one_out.iter().filter_map(|r| r.gap);
    SystemFigures {
        per_system: file
            .per_group
            .iter()
            .zip(&block.per_group)
            .map(|(f, b)| row(f.group, &f.estimate, &b.estimate))
            .collect(),
        max_abs_delta: block.max_abs_delta,
        gap_range: gaps().reduce(f64::min).zip(gaps().reduce(f64::max)),
        leave_one_out,
    }
}
