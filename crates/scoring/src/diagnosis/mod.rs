//! The metrics of one diagnosis against a case's labelled blocks.
//!
//! Labels are prepared once per case, predictions are compared with them in
//! time linear in their number. Never lists single lines, so hostile ranges
//! cost nothing. The rules and their letters are those of the reference
//! vectors; [`SCORER_VERSION`](crate::SCORER_VERSION) names the set.

pub mod blocks;
pub mod function;
mod lines;
pub mod mention;
pub mod path;

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::{Block, score::DiagnosisScores};
use serde::{Deserialize, Serialize};

use blocks::{TOLERANCE_LINES, ranges_match};
use function::FunctionName;
use lines::LineSet;
use mention::MentionText;

/// A share as counted: `hit` of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ratio {
    /// Numerator.
    pub hit: u128,
    /// Denominator.
    pub of: u128,
}

impl Ratio {
    fn count(flags: impl IntoIterator<Item = bool>) -> Self {
        let mut ratio = Self::default();
        for flag in flags {
            ratio.of += 1;
            ratio.hit += u128::from(flag);
        }
        ratio
    }

    /// The share in [0, 1]; 0/0 is 0 (Z1).
    #[must_use]
    pub fn value(self) -> f64 {
        if self.of == 0 {
            0.0
        } else {
            self.hit as f64 / self.of as f64
        }
    }
}

/// Every metric of one diagnosis as counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Distinct predicted files that match a labelled one.
    pub file_precision: Ratio,
    /// Distinct labelled files that match a predicted one.
    pub file_coverage: Ratio,
    /// Distinct predicted functions that agree with a labelled one.
    pub function_precision: Ratio,
    /// Distinct labelled functions that agree with a predicted one.
    pub function_coverage: Ratio,
    /// Predicted lines that a label in a matching file has.
    pub line_precision: Ratio,
    /// Labelled lines that a prediction in a matching file has.
    pub line_coverage: Ratio,
    /// Predicted blocks near a labelled one.
    pub block_precision: Ratio,
    /// Labelled blocks near a predicted one.
    pub block_coverage: Ratio,
    /// Labelled blocks that a predicted one overlaps.
    pub strict_block_coverage: Ratio,
    /// Labelled blocks whose function the text mentions; `None` without text.
    pub mention_coverage: Option<Ratio>,
}

impl Counts {
    /// The shares, with the breadth of the prediction beside them.
    #[must_use]
    pub fn scores(&self) -> DiagnosisScores {
        DiagnosisScores {
            file_precision: self.file_precision.value(),
            file_coverage: self.file_coverage.value(),
            function_precision: self.function_precision.value(),
            function_coverage: self.function_coverage.value(),
            line_precision: self.line_precision.value(),
            line_coverage: self.line_coverage.value(),
            block_precision: self.block_precision.value(),
            block_coverage: self.block_coverage.value(),
            strict_block_coverage: self.strict_block_coverage.value(),
            mention_coverage: self.mention_coverage.map(Ratio::value),
            predicted_lines: u64::try_from(self.line_precision.of).unwrap_or(u64::MAX),
            predicted_blocks: u32::try_from(self.block_precision.of).unwrap_or(u32::MAX),
        }
    }
}

/// Blocks in the form in which they are compared. Used for labels (prepared
/// once per case) and predictions alike.
#[derive(Debug, Clone)]
pub struct PreparedBlocks {
    /// Distinct normal paths, never empty.
    paths: Vec<String>,
    /// Lines by path, parallel to `paths`.
    lines: Vec<LineSet>,
    /// Distinct canonical names.
    functions: BTreeSet<FunctionName>,
    /// The blocks as listed (B2).
    blocks: Vec<PreparedBlock>,
}

#[derive(Debug, Clone)]
struct PreparedBlock {
    /// Index into the paths; `None` for an empty path (P4).
    path: Option<usize>,
    range: (i64, i64),
    function: Option<FunctionName>,
}

impl PreparedBlocks {
    /// Normalises paths and names, and merges lines.
    #[must_use]
    pub fn new(blocks: &[Block]) -> Self {
        let mut index: BTreeMap<String, usize> = BTreeMap::new();
        let mut ranges: Vec<Vec<(i64, i64)>> = Vec::new();
        let mut prepared = Vec::with_capacity(blocks.len());
        for block in blocks {
            let range = (block.start_line, block.end_line);
            let normal = path::normalize(&block.file);
            let path = (!normal.is_empty()).then(|| {
                let next = index.len();
                let at = *index.entry(normal).or_insert(next);
                if at == ranges.len() {
                    ranges.push(Vec::new());
                }
                ranges[at].push(range);
                at
            });
            prepared.push(PreparedBlock {
                path,
                range,
                function: FunctionName::parse(&block.function),
            });
        }
        let mut paths = vec![String::new(); index.len()];
        for (path, at) in index {
            paths[at] = path;
        }
        Self {
            paths,
            lines: ranges.into_iter().map(LineSet::union).collect(),
            functions: prepared.iter().filter_map(|b| b.function.clone()).collect(),
            blocks: prepared,
        }
    }

    /// Number of distinct lines over all files.
    fn line_count(&self) -> u128 {
        self.lines.iter().map(LineSet::len).sum()
    }

    /// Shares of these blocks' files, lines and blocks found in `other`.
    fn found_in(&self, other: &Self) -> Found {
        // For each own path, the other side's paths that match it (P2).
        let matches: Vec<Vec<usize>> = self
            .paths
            .iter()
            .map(|own| {
                (0..other.paths.len())
                    .filter(|i| path::normalized_match(own, &other.paths[*i]))
                    .collect()
            })
            .collect();
        let mut by_path: Vec<Vec<(i64, i64)>> = vec![Vec::new(); other.paths.len()];
        for block in &other.blocks {
            if let Some(path) = block.path {
                by_path[path].push(block.range);
            }
        }

        let mut lines = Ratio {
            hit: 0,
            of: self.line_count(),
        };
        for (own, matching) in self.lines.iter().zip(&matches) {
            lines.hit += match matching.as_slice() {
                [] => 0,
                [one] => own.common(&other.lines[*one]),
                many => {
                    let ranges = many.iter().flat_map(|i| other.lines[*i].ranges());
                    own.common(&LineSet::union(ranges))
                }
            };
        }
        let near = |tolerance: i64| {
            Ratio::count(self.blocks.iter().map(|block| {
                block.path.is_some_and(|path| {
                    matches[path].iter().any(|i| {
                        by_path[*i]
                            .iter()
                            .any(|range| ranges_match(*range, block.range, tolerance))
                    })
                })
            }))
        };
        Found {
            files: Ratio::count(matches.iter().map(|m| !m.is_empty())),
            functions: Ratio::count(
                self.functions
                    .iter()
                    .map(|own| other.functions.iter().any(|o| own.agrees(o))),
            ),
            lines,
            blocks: near(TOLERANCE_LINES),
            strict_blocks: near(0),
        }
    }
}

/// One direction of a comparison.
struct Found {
    files: Ratio,
    functions: Ratio,
    lines: Ratio,
    blocks: Ratio,
    strict_blocks: Ratio,
}

/// Compares predicted blocks and the raw diagnosis text (M6) with prepared
/// labels. Without a text there is no mention coverage (Z2).
#[must_use]
pub fn compare(labels: &PreparedBlocks, predicted: &[Block], text: Option<&str>) -> Counts {
    let predicted = PreparedBlocks::new(predicted);
    let precision = predicted.found_in(labels);
    let coverage = labels.found_in(&predicted);
    Counts {
        file_precision: precision.files,
        file_coverage: coverage.files,
        function_precision: precision.functions,
        function_coverage: coverage.functions,
        line_precision: precision.lines,
        line_coverage: coverage.lines,
        block_precision: precision.blocks,
        block_coverage: coverage.blocks,
        strict_block_coverage: coverage.strict_blocks,
        mention_coverage: text.map(|raw| {
            let text = MentionText::new(raw);
            Ratio::count(
                labels
                    .blocks
                    .iter()
                    .map(|b| b.function.as_ref().is_some_and(|f| text.mentions(f))),
            )
        }),
    }
}

/// Share of `blocks` matched by some block of `by` under the 5-line rule.
#[must_use]
pub fn covered_by(blocks: &PreparedBlocks, by: &PreparedBlocks) -> f64 {
    blocks.found_in(by).blocks.value()
}
