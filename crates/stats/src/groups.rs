//! Means by group and with one group left out.
//!
//! Units weigh equally within what remains; never a mean of group means. The
//! group is a field of the unit, never read out of its key.

use serde::{Deserialize, Serialize};

use crate::bootstrap::{self, MeanEstimate};

/// A unit's value with its key and group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit<K, G> {
    /// Unique key; units are resampled in the order of keys.
    pub key: K,
    /// What the unit belongs to.
    pub group: G,
    /// Its value, attempts averaged.
    pub value: f64,
}

/// Mean and interval of one group alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMean<G> {
    /// The group.
    pub group: G,
    /// Its units' mean and interval.
    pub estimate: MeanEstimate,
}

/// Mean and interval of everything but one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut<G> {
    /// The group left out.
    pub excluded: G,
    /// Mean and interval of the rest.
    pub estimate: MeanEstimate,
    /// Mean of the rest minus the full mean; `None` if nothing remains.
    pub delta: Option<f64>,
}

/// All views of one measure by group; groups ascend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupAnalysis<G> {
    /// All units.
    pub full: MeanEstimate,
    /// Each group alone.
    pub per_group: Vec<GroupMean<G>>,
    /// Each group left out.
    pub leave_one_out: Vec<LeftOut<G>>,
    /// Largest |delta| of leaving one out; `None` if nothing ever remains.
    pub max_abs_delta: Option<f64>,
}

/// Analyses one measure. Every interval uses the remaining units sorted by
/// key and a fresh generator.
#[must_use]
pub fn analyse<K: Ord, G: Ord + Clone>(units: &[Unit<K, G>]) -> GroupAnalysis<G> {
    let mut sorted: Vec<&Unit<K, G>> = units.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key));
    let estimate = |keep: &dyn Fn(&G) -> bool| {
        let values: Vec<f64> = sorted
            .iter()
            .filter(|u| keep(&u.group))
            .map(|u| u.value)
            .collect();
        bootstrap::mean_interval(&values)
    };
    let mut groups: Vec<G> = units.iter().map(|u| u.group.clone()).collect();
    groups.sort();
    groups.dedup();

    let full = estimate(&|_| true);
    let leave_one_out: Vec<LeftOut<G>> = groups
        .iter()
        .map(|group| {
            let rest = estimate(&|g| g != group);
            LeftOut {
                excluded: group.clone(),
                delta: rest.mean.zip(full.mean).map(|(r, f)| r - f),
                estimate: rest,
            }
        })
        .collect();
    GroupAnalysis {
        full,
        max_abs_delta: leave_one_out
            .iter()
            .filter_map(|l| l.delta)
            .map(f64::abs)
            .reduce(f64::max),
        per_group: groups
            .into_iter()
            .map(|group| GroupMean {
                estimate: estimate(&|g| *g == group),
                group,
            })
            .collect(),
        leave_one_out,
    }
}
