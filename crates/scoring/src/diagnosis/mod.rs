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
            ratio.add(flag);
        }
        ratio
    }

    fn add(&mut self, flag: bool) {
        self.of += 1;
        self.hit += u128::from(flag);
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
    /// Distinct files.
    files: Vec<PreparedFile>,
    /// Distinct canonical names, ascending.
    functions: Vec<FunctionName>,
    /// The blocks as listed (B2).
    blocks: Vec<PreparedBlock>,
}

#[derive(Debug, Clone)]
struct PreparedFile {
    /// Normal, never empty.
    path: String,
    lines: LineSet,
}

#[derive(Debug, Clone)]
struct PreparedBlock {
    /// Index into the files; `None` for an empty path (P4).
    file: Option<usize>,
    range: (i64, i64),
    /// Index into the functions; `None` if it names none (N5).
    function: Option<usize>,
}

impl PreparedBlocks {
    /// Normalises paths and names, and merges lines.
    #[must_use]
    pub fn new(blocks: &[Block]) -> Self {
        let mut prepared = Vec::with_capacity(blocks.len());
        let mut paths = Vec::with_capacity(blocks.len());
        let mut names = Vec::with_capacity(blocks.len());
        for (i, block) in blocks.iter().enumerate() {
            prepared.push(PreparedBlock {
                file: None,
                range: (block.start_line, block.end_line),
                function: None,
            });
            let path = path::normalize(&block.file);
            if !path.is_empty() {
                paths.push((path, i));
            }
            names.extend(FunctionName::parse(&block.function).map(|name| (name, i)));
        }
        paths.sort_unstable();
        names.sort_unstable();

        let mut files: Vec<PreparedFile> = Vec::with_capacity(paths.len());
        for group in paths.chunk_by_mut(|a, b| a.0 == b.0) {
            for (_, i) in &*group {
                prepared[*i].file = Some(files.len());
            }
            files.push(PreparedFile {
                lines: LineSet::union(group.iter().map(|(_, i)| prepared[*i].range)),
                path: std::mem::take(&mut group[0].0),
            });
        }
        let mut functions: Vec<FunctionName> = Vec::with_capacity(names.len());
        for (name, i) in names {
            if functions.last() != Some(&name) {
                functions.push(name);
            }
            prepared[i].function = Some(functions.len() - 1);
        }
        Self {
            files,
            functions,
            blocks: prepared,
        }
    }

    /// Shares of these blocks' files, functions, lines and blocks found in
    /// `other`; `same_file` says which of both sides' files match (P2).
    fn found_in(&self, other: &Self, same_file: impl Fn(usize, usize) -> bool) -> Found {
        let mut found = Found {
            functions: Ratio::count(
                self.functions
                    .iter()
                    .map(|own| other.functions.iter().any(|o| own.agrees(o))),
            ),
            ..Found::default()
        };
        for (i, own) in self.files.iter().enumerate() {
            let mut matching = (0..other.files.len()).filter(|j| same_file(i, *j));
            let hit = match (matching.next(), matching.next()) {
                (None, _) => None,
                (Some(one), None) => Some(own.lines.common(&other.files[one].lines)),
                (Some(one), Some(two)) => {
                    let all = [one, two].into_iter().chain(matching);
                    let ranges = all.flat_map(|j| other.files[j].lines.ranges());
                    Some(own.lines.common(&LineSet::union(ranges)))
                }
            };
            found.files.add(hit.is_some());
            found.lines.of += own.lines.len();
            found.lines.hit += hit.unwrap_or(0);
        }
        for block in &self.blocks {
            let near = |tolerance: i64| {
                block.file.is_some_and(|file| {
                    other.blocks.iter().any(|theirs| {
                        theirs.file.is_some_and(|j| same_file(file, j))
                            && ranges_match(theirs.range, block.range, tolerance)
                    })
                })
            };
            let close = near(TOLERANCE_LINES);
            found.blocks.add(close);
            // What overlaps is near.
            found.strict_blocks.add(close && near(0));
        }
        found
    }

    /// Whether each of these files matches each of the other's (P2), row by row.
    fn matches(&self, other: &Self) -> Vec<bool> {
        self.files
            .iter()
            .flat_map(|own| {
                other
                    .files
                    .iter()
                    .map(|theirs| path::normalized_match(&own.path, &theirs.path))
            })
            .collect()
    }
}

/// One direction of a comparison.
#[derive(Default)]
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
    let matches = predicted.matches(labels);
    let width = labels.files.len();
    let precision = predicted.found_in(labels, |own, label| matches[own * width + label]);
    let coverage = labels.found_in(&predicted, |own, guess| matches[guess * width + own]);
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
            Ratio::count(labels.blocks.iter().map(|b| {
                b.function
                    .is_some_and(|f| text.mentions(&labels.functions[f]))
            }))
        }),
    }
}

/// Share of `blocks` matched by some block of `by` under the 5-line rule.
#[must_use]
pub fn covered_by(blocks: &PreparedBlocks, by: &PreparedBlocks) -> f64 {
    let matches = blocks.matches(by);
    let width = by.files.len();
    blocks
        .found_in(by, |own, other| matches[own * width + other])
        .blocks
        .value()
}
