//! Agreement of annotators: Krippendorff's alpha (nominal) under three
//! codings of sets, Jaccard similarity, coverage and F1 of matched blocks.
//!
//! Never decides what counts as the same item: names and paths come here in
//! their canonical form, and block matching is the caller's.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::summary;

/// Krippendorff's alpha for nominal data: 1 - D_o / D_e from the coincidence
/// matrix. Each unit holds the values that were given (missing ones left
/// out); units with fewer than two are skipped. `None` when no disagreement
/// is possible (D_e = 0) or nothing can be compared.
///
/// K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011).
#[must_use]
pub fn alpha_nominal<C: Ord>(units: &[Vec<C>]) -> Option<f64> {
    let mut totals: BTreeMap<&C, f64> = BTreeMap::new();
    let mut observed = 0.0;
    let mut n = 0.0;
    for unit in units.iter().filter(|u| u.len() >= 2) {
        let mut counts: BTreeMap<&C, f64> = BTreeMap::new();
        for value in unit {
            *counts.entry(value).or_default() += 1.0;
        }
        let m = unit.len() as f64;
        n += m;
        for (value, count) in counts {
            *totals.entry(value).or_default() += count;
            observed += count * (m - count) / (m - 1.0);
        }
    }
    let expected: f64 = totals.values().map(|t| t * (n - t)).sum::<f64>() / (n - 1.0);
    (expected > 0.0).then(|| 1.0 - observed / expected)
}

/// One unit's item sets by annotator; `None` = no answer, an empty set is an
/// answer.
pub type Answers<T> = Vec<Option<BTreeSet<T>>>;

/// How sets become units for alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coding {
    /// One unit per bug, the whole set is the category (the main figure).
    SetLabel,
    /// One 0/1 unit per bug and item that some annotator of that bug named.
    /// Has no true negatives: low, and undefined when all agree.
    BinaryBugUnion,
    /// One 0/1 unit per bug and item named anywhere.
    BinaryGlobalPool,
}

/// Alpha under one coding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Alpha {
    /// Number of units before those with fewer than two values are skipped.
    pub units: usize,
    /// Alpha; `None` if undefined.
    pub alpha: Option<f64>,
}

/// Alpha of set-valued answers under a coding.
#[must_use]
pub fn alpha_of_sets<T: Ord>(bugs: &[Answers<T>], coding: Coding) -> Alpha {
    fn binary<'a, T: Ord>(answers: &'a Answers<T>, item: &'a T) -> Vec<bool> {
        answers
            .iter()
            .flatten()
            .map(|set| set.contains(item))
            .collect()
    }
    let named = |answers: &'_ Answers<T>| -> usize { answers.iter().flatten().count() };
    match coding {
        Coding::SetLabel => {
            let units: Vec<Vec<&BTreeSet<T>>> = bugs
                .iter()
                .map(|answers| answers.iter().flatten().collect())
                .collect();
            Alpha {
                units: units.len(),
                alpha: alpha_nominal(&units),
            }
        }
        Coding::BinaryBugUnion => {
            let mut units = Vec::new();
            for answers in bugs.iter().filter(|a| named(a) > 0) {
                let items: BTreeSet<&T> = answers.iter().flatten().flatten().collect();
                units.extend(items.into_iter().map(|item| binary(answers, item)));
            }
            Alpha {
                units: units.len(),
                alpha: alpha_nominal(&units),
            }
        }
        Coding::BinaryGlobalPool => {
            let pool: BTreeSet<&T> = bugs.iter().flatten().flatten().flatten().collect();
            let mut units = Vec::new();
            for answers in bugs {
                units.extend(pool.iter().map(|item| binary(answers, item)));
            }
            Alpha {
                units: units.len(),
                alpha: alpha_nominal(&units),
            }
        }
    }
}

/// Jaccard similarity of two sets; 1 for two empty sets.
#[must_use]
pub fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 {
        1.0
    } else {
        common as f64 / all as f64
    }
}

/// Pairwise Jaccard similarities within one bug.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BugJaccard {
    /// Annotator pairs (0,1), (0,2), ..., (1,2), ...; `None` if one of the
    /// two gave no answer.
    pub pairs: Vec<Option<f64>>,
    /// Mean over the pairs there; `None` without one.
    pub mean: Option<f64>,
}

/// Jaccard similarities of a set of bugs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JaccardSummary {
    /// One entry per bug, in order.
    pub bugs: Vec<BugJaccard>,
    /// Mean over bugs that have a mean (the main figure).
    pub mean_over_bugs: Option<f64>,
    /// Mean over all pairs.
    pub mean_over_pairs: Option<f64>,
}

/// Pairwise Jaccard similarity of set-valued answers.
#[must_use]
pub fn jaccard_summary<T: Ord>(bugs: &[Answers<T>]) -> JaccardSummary {
    let bugs: Vec<BugJaccard> = bugs
        .iter()
        .map(|answers| {
            let mut pairs = Vec::new();
            for (i, a) in answers.iter().enumerate() {
                for b in &answers[i + 1..] {
                    pairs.push(a.as_ref().zip(b.as_ref()).map(|(a, b)| jaccard(a, b)));
                }
            }
            let present: Vec<f64> = pairs.iter().copied().flatten().collect();
            BugJaccard {
                mean: summary::mean(&present),
                pairs,
            }
        })
        .collect();
    let means: Vec<f64> = bugs.iter().filter_map(|b| b.mean).collect();
    let all: Vec<f64> = bugs
        .iter()
        .flat_map(|b| b.pairs.iter().copied().flatten())
        .collect();
    JaccardSummary {
        mean_over_bugs: summary::mean(&means),
        mean_over_pairs: summary::mean(&all),
        bugs,
    }
}

/// Agreement of two annotators' blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoverageAgreement {
    /// Mean of the two coverages.
    pub coverage: f64,
    /// Their harmonic mean, 0 if both are 0.
    pub f1: f64,
}

/// Combines the share of j's blocks that i matches, and the reverse.
#[must_use]
pub fn coverage_agreement(j_by_i: f64, i_by_j: f64) -> CoverageAgreement {
    let sum = j_by_i + i_by_j;
    CoverageAgreement {
        coverage: sum / 2.0,
        f1: if sum > 0.0 {
            2.0 * j_by_i * i_by_j / sum
        } else {
            0.0
        },
    }
}
