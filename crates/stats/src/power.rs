//! The smallest difference that the paired test would detect, by simulation.
//!
//! Shown beside a comparison so that "not significant" is read together with
//! what could have been seen at all. Never uses the compared results: only
//! the design and an assumed spread of case difficulty.
//!
//! The assumed world: case i passes under the first configuration with
//! probability sigma(b + u_i) and under the second with sigma(b + d + u_i),
//! u_i normal, b and d set so that the mean rates are the base rate and the
//! base rate plus the difference. A share in [0, 1] varies at most as much as
//! such a pass, so for coverages the answer is on the safe side.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::{
    mixed::normal_mean,
    paired::{ALPHA, SignCounts},
    pcg64::Pcg64,
};

/// Simulated experiments per difference.
pub const SIMULATIONS: u32 = 400;
/// Bootstrap replicates per simulated experiment. Fewer than for a reported
/// interval: the answer is a whole number of points.
pub const REPLICATES: usize = 1_000;
/// Share of experiments that must find the difference.
pub const POWER: f64 = 0.8;
/// Seed of the simulation.
pub const SEED: u64 = 2026;
/// Largest design that is simulated.
pub const MAX_CASES: usize = 2_000;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Common cases, 2 to [`MAX_CASES`].
    pub cases: usize,
    /// Attempts per case and configuration, at least 1.
    pub attempts: u32,
    /// Mean pass rate of the weaker configuration, in (0, 1).
    pub base_rate: f64,
    /// Standard deviation of case difficulty on the logit scale, 0 to 10.
    /// About 2 fits published repair results.
    pub difficulty_sd: f64,
}

/// Share of simulated experiments that found a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PowerAt {
    /// The difference in points.
    pub points: u32,
    /// Share of experiments with p below 0.05 in its favour.
    pub power: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detectable {
    /// The design.
    pub design: Design,
    /// Smallest difference in points that is found with the wanted power;
    /// `None` if not even the largest possible one is.
    pub points: Option<u32>,
    /// The differences that were simulated, ascending.
    pub tried: Vec<PowerAt>,
}

/// Finds the smallest detectable difference; `None` for a design outside of
/// its ranges.
#[must_use]
pub fn smallest_detectable(design: Design) -> Option<Detectable> {
    let valid = (2..=MAX_CASES).contains(&design.cases)
        && (1..=1_000).contains(&design.attempts)
        && design.base_rate > 0.0
        && design.base_rate < 1.0
        && (0.0..=10.0).contains(&design.difficulty_sd);
    if !valid {
        return None;
    }
    let world = World::new(design)?;
    // Rates of exactly 1 have no finite logit.
    let largest = ((1.0 - design.base_rate) * 100.0 - 1e-9).floor() as u32;
    let mut tried: Vec<PowerAt> = Vec::new();
    let mut power_of = |points: u32| {
        let power = world.power(f64::from(points) / 100.0);
        tried.push(PowerAt { points, power });
        power >= POWER
    };
    // Power grows with the difference: bisection between 0, which is never
    // found often enough, and the largest difference.
    let points = if largest >= 1 && power_of(largest) {
        let (mut low, mut high) = (0, largest);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if power_of(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    } else {
        None
    };
    tried.sort_by_key(|t| t.points);
    Some(Detectable {
        design,
        points,
        tried,
    })
}

/// One design with the index rows that all its experiments share.
struct World {
    design: Design,
    /// Bootstrap rows, replicate after replicate.
    rows: Vec<u16>,
}

impl World {
    fn new(design: Design) -> Option<Self> {
        let n = NonZeroU64::new(design.cases as u64)?;
        let mut generator = Pcg64::new(SEED);
        let rows = (0..REPLICATES * design.cases)
            // In range by MAX_CASES.
            .map(|_| generator.below(n) as u16)
            .collect();
        Some(Self { design, rows })
    }

    /// Share of experiments that find a difference of mean rates.
    fn power(&self, difference: f64) -> f64 {
        let sd = self.design.difficulty_sd;
        let weaker = logit_of_mean(self.design.base_rate, sd);
        let stronger = logit_of_mean(self.design.base_rate + difference, sd);
        let mut generator = Pcg64::new(SEED);
        let found = (0..SIMULATIONS)
            .filter(|_| self.experiment(&mut generator, weaker, stronger))
            .count();
        found as f64 / f64::from(SIMULATIONS)
    }

    fn experiment(&self, generator: &mut Pcg64, weaker: f64, stronger: f64) -> bool {
        let attempts = self.design.attempts;
        let differences: Vec<f64> = (0..self.design.cases)
            .map(|_| {
                let u = self.design.difficulty_sd * standard_normal(generator);
                let mut passes = |logit: f64| -> f64 {
                    let p = 1.0 / (1.0 + (-(logit + u)).exp());
                    let count = (0..attempts).filter(|_| generator.next_f64() < p).count();
                    count as f64
                };
                (passes(stronger) - passes(weaker)) / f64::from(attempts)
            })
            .collect();
        if differences.iter().sum::<f64>() <= 0.0 {
            return false;
        }
        let means: Vec<f64> = self
            .rows
            .chunks_exact(self.design.cases)
            .map(|row| {
                let sum: f64 = row.iter().map(|i| differences[usize::from(*i)]).sum();
                sum / self.design.cases as f64
            })
            .collect();
        SignCounts::of(&means)
            .p_two_sided()
            .is_some_and(|p| p < ALPHA)
    }
}

/// A standard normal draw (Box and Muller, one of the pair).
fn standard_normal(generator: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - generator.next_f64()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * generator.next_f64()).cos()
}

/// The b with E sigma(b + u) = rate, u ~ N(0, sd^2), by bisection.
fn logit_of_mean(rate: f64, sd: f64) -> f64 {
    let (mut low, mut high) = (-60.0_f64, 60.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_mean(|s| 1.0 / (1.0 + (-(middle + s)).exp()), sd) < rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(cases: usize, attempts: u32) -> Design {
        Design {
            cases,
            attempts,
            base_rate: 0.35,
            difficulty_sd: 2.0,
        }
    }

    #[test]
    fn more_cases_and_more_attempts_see_smaller_differences() {
        let points = |cases, attempts| {
            smallest_detectable(design(cases, attempts))
                .expect("a valid design")
                .points
                .expect("detectable")
        };
        let few = points(31, 1);
        let many = points(120, 1);
        let repeated = points(31, 3);
        assert!((10..=40).contains(&few), "{few}");
        assert!(many < few && repeated < few, "{many} {repeated} {few}");
    }

    #[test]
    fn no_difference_is_found_at_about_the_level_of_the_test() {
        let world = World::new(design(60, 1)).expect("a valid design");
        // One-sided share of a two-sided test at 0.05.
        assert!(world.power(0.0) < 0.06);
        assert!(world.power(0.4) > 0.95);
    }

    #[test]
    fn the_answer_stands_in_what_was_tried() {
        let found = smallest_detectable(design(40, 1)).expect("a valid design");
        let points = found.points.expect("detectable");
        for at in &found.tried {
            assert_eq!(at.power >= POWER, at.points >= points, "{at:?}");
        }
        let two = smallest_detectable(Design {
            base_rate: 0.97,
            ..design(2, 1)
        });
        assert_eq!(two.expect("a valid design").points, None);
    }

    #[test]
    fn designs_outside_of_the_ranges_are_refused() {
        for bad in [
            Design {
                cases: 1,
                ..design(31, 1)
            },
            Design {
                cases: MAX_CASES + 1,
                ..design(31, 1)
            },
            Design {
                attempts: 0,
                ..design(31, 1)
            },
            Design {
                base_rate: 1.0,
                ..design(31, 1)
            },
            Design {
                difficulty_sd: f64::NAN,
                ..design(31, 1)
            },
        ] {
            assert_eq!(smallest_detectable(bad), None, "{bad:?}");
        }
    }
}
