//! Agreement of annotators under the scorer's own rules: files by normal
//! path, functions by canonical name, blocks by the 5-line rule.
//!
//! Never treats a missing annotation as an empty one.

use std::collections::BTreeSet;

use faultboard_domain::Block;
use faultboard_stats::{
    agreement::{
        Alpha, Answers, Coding, CoverageAgreement, JaccardSummary, alpha_of_sets,
        coverage_agreement, jaccard_summary,
    },
    summary,
};
use serde::{Deserialize, Serialize};

use crate::diagnosis::{PreparedBlocks, covered_by, function::FunctionName, path};

/// One case's blocks by annotator; `None` = not annotated.
pub type CaseAnnotations = Vec<Option<Vec<Block>>>;

/// Agreement on sets of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetAgreement {
    /// Alpha with one unit per case, the whole set as category (the main
    /// figure).
    pub set_label: Alpha,
    /// Alpha with one 0/1 unit per case and item named for that case.
    pub binary_bug_union: Alpha,
    /// Alpha with one 0/1 unit per case and item named anywhere.
    pub binary_global_pool: Alpha,
    /// Pairwise Jaccard similarity.
    pub jaccard: JaccardSummary,
}

/// Agreement of two annotators on one case's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockPair {
    /// The two annotators, i < j.
    pub annotators: (usize, usize),
    /// Share of j's blocks that i matches.
    pub j_covered_by_i: f64,
    /// Share of i's blocks that j matches.
    pub i_covered_by_j: f64,
    /// Mean coverage and F1.
    pub agreement: CoverageAgreement,
}

/// Agreement on blocks over cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockAgreement {
    /// Pairs by case, in order.
    pub cases: Vec<Vec<BlockPair>>,
    /// Mean coverage over all pairs.
    pub mean_coverage: Option<f64>,
    /// Mean F1 over all pairs.
    pub mean_f1: Option<f64>,
}

/// Distinct files of an annotation, in normal form.
#[must_use]
pub fn file_set<'a>(files: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    files
        .into_iter()
        .map(path::normalize)
        .filter(|p| !p.is_empty())
        .collect()
}

/// Distinct functions of an annotation, by canonical name. Bare and
/// qualified names stay different items.
#[must_use]
pub fn function_set<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<FunctionName> {
    names.into_iter().filter_map(FunctionName::parse).collect()
}

/// Alpha and Jaccard similarity of set-valued answers.
#[must_use]
pub fn set_agreement<T: Ord>(cases: &[Answers<T>]) -> SetAgreement {
    SetAgreement {
        set_label: alpha_of_sets(cases, Coding::SetLabel),
        binary_bug_union: alpha_of_sets(cases, Coding::BinaryBugUnion),
        binary_global_pool: alpha_of_sets(cases, Coding::BinaryGlobalPool),
        jaccard: jaccard_summary(cases),
    }
}

/// Agreement on files.
#[must_use]
pub fn file_agreement(cases: &[CaseAnnotations]) -> SetAgreement {
    set_agreement(&answers(cases, |blocks| {
        file_set(blocks.iter().map(|b| b.file.as_str()))
    }))
}

/// Agreement on functions.
#[must_use]
pub fn function_agreement(cases: &[CaseAnnotations]) -> SetAgreement {
    set_agreement(&answers(cases, |blocks| {
        function_set(blocks.iter().map(|b| b.function.as_str()))
    }))
}

fn answers<T: Ord>(
    cases: &[CaseAnnotations],
    set: impl Fn(&[Block]) -> BTreeSet<T>,
) -> Vec<Answers<T>> {
    cases
        .iter()
        .map(|case| case.iter().map(|a| a.as_deref().map(&set)).collect())
        .collect()
}

/// Agreement on blocks, over every pair of annotators that both annotated.
#[must_use]
pub fn block_agreement(cases: &[CaseAnnotations]) -> BlockAgreement {
    let cases: Vec<Vec<BlockPair>> = cases
        .iter()
        .map(|annotators| {
            let prepared: Vec<Option<PreparedBlocks>> = annotators
                .iter()
                .map(|a| a.as_deref().map(PreparedBlocks::new))
                .collect();
            let mut pairs = Vec::new();
            for i in 0..prepared.len() {
                for j in i + 1..prepared.len() {
                    let (Some(a), Some(b)) = (&prepared[i], &prepared[j]) else {
                        continue;
                    };
                    let (j_covered_by_i, i_covered_by_j) = (covered_by(b, a), covered_by(a, b));
                    pairs.push(BlockPair {
                        annotators: (i, j),
                        j_covered_by_i,
                        i_covered_by_j,
                        agreement: coverage_agreement(j_covered_by_i, i_covered_by_j),
                    });
                }
            }
            pairs
        })
        .collect();
    let mean = |value: fn(&BlockPair) -> f64| {
        summary::mean(&cases.iter().flatten().map(value).collect::<Vec<_>>())
    };
    BlockAgreement {
        mean_coverage: mean(|p| p.agreement.coverage),
        mean_f1: mean(|p| p.agreement.f1),
        cases,
    }
}
