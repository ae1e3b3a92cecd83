//! Pareto front of cost (lower is better) and rate (higher is better).
//!
//! Never guesses: a point without cost or rate is left out by name, and
//! dominates nothing.

use serde::{Deserialize, Serialize};

/// One row of a cost-rate chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Unique name, for the order of ties.
    pub name: String,
    /// Cost in any one unit; `None` or not finite means unknown.
    pub cost: Option<f64>,
    /// Rate; `None` or not finite means unknown.
    pub rate: Option<f64>,
}

impl Point {
    fn known(&self) -> Option<(f64, f64)> {
        let cost = self.cost.filter(|v| v.is_finite())?;
        let rate = self.rate.filter(|v| v.is_finite())?;
        Some((cost, rate))
    }
}

/// Indices into the points that were passed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Front {
    /// Points that nothing dominates, by cost, then rate descending, then
    /// name. Exact duplicates stay together.
    pub frontier: Vec<usize>,
    /// Points without cost or rate, by name.
    pub excluded: Vec<usize>,
    /// For each dominated point, what dominates it, both by name.
    pub dominated_by: Vec<(usize, Vec<usize>)>,
}

/// Whether `a` is at least as good as `b` in both and better in one.
fn dominates(a: (f64, f64), b: (f64, f64)) -> bool {
    a.0 <= b.0 && a.1 >= b.1 && (a.0 < b.0 || a.1 > b.1)
}

/// The front of a set of points. Compares every pair.
#[must_use]
pub fn front(points: &[Point]) -> Front {
    let mut by_name: Vec<usize> = (0..points.len()).collect();
    by_name.sort_by(|a, b| points[*a].name.cmp(&points[*b].name));

    let mut front = Front::default();
    let mut efficient: Vec<(usize, (f64, f64))> = Vec::new();
    for &index in &by_name {
        let Some(here) = points[index].known() else {
            front.excluded.push(index);
            continue;
        };
        let better: Vec<usize> = by_name
            .iter()
            .copied()
            .filter(|other| points[*other].known().is_some_and(|p| dominates(p, here)))
            .collect();
        if better.is_empty() {
            efficient.push((index, here));
        } else {
            front.dominated_by.push((index, better));
        }
    }
    // Stable: equal points keep the order of their names.
    efficient.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    front.frontier = efficient.into_iter().map(|(index, _)| index).collect();
    front
}
