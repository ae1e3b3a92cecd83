//! Scores as they are stored and shown. Computing them is the scoring crate's work.

use serde::{Deserialize, Serialize};

/// A mean with its 95 % interval, as fractions in [0, 1]; no interval below two cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower and upper end.
    pub ci95: Option<(f64, f64)>,
    /// Cases behind it.
    pub n: u32,
}

/// Every metric of one diagnosis, as fractions in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DiagnosisScores {
    /// Share of predicted files that hold a label.
    pub file_precision: f64,
    /// Share of labelled files that are predicted.
    pub file_coverage: f64,
    /// Share of predicted functions that are labelled.
    pub function_precision: f64,
    /// Share of labelled functions that are predicted.
    pub function_coverage: f64,
    /// Share of predicted lines that are labelled.
    pub line_precision: f64,
    /// Share of labelled lines that are predicted.
    pub line_coverage: f64,
    /// Share of predicted blocks near a label.
    pub block_precision: f64,
    /// Share of labelled blocks near a prediction: the headline.
    pub block_coverage: f64,
    /// The same without tolerance.
    pub strict_block_coverage: f64,
    /// Share of labelled functions named in the text; none when no text was passed.
    pub mention_coverage: Option<f64>,
    /// Distinct predicted lines.
    pub predicted_lines: u64,
    /// Predicted blocks.
    pub predicted_blocks: u32,
}
