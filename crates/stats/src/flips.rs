//! Binary outcomes of the same units under two conditions: what flipped.
//!
//! Never fills gaps: a unit that lacks one condition must not be passed.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::mcnemar::{self, McNemar};

/// A two-by-two table of outcomes, first condition to second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Flips {
    /// Gains: failed under the first condition, passed under the second.
    pub fail_to_pass: u64,
    /// Losses.
    pub pass_to_fail: u64,
    /// Passed under both.
    pub pass_to_pass: u64,
    /// Failed under both.
    pub fail_to_fail: u64,
}

impl Flips {
    /// Counts pairs (passed under the first, passed under the second).
    #[must_use]
    pub fn count(pairs: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut table = Self::default();
        for pair in pairs {
            let cell = match pair {
                (false, true) => &mut table.fail_to_pass,
                (true, false) => &mut table.pass_to_fail,
                (true, true) => &mut table.pass_to_pass,
                (false, false) => &mut table.fail_to_fail,
            };
            *cell += 1;
        }
        table
    }

    /// Number of pairs.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.fail_to_pass + self.pass_to_fail + self.pass_to_pass + self.fail_to_fail
    }

    /// Units that pass under the first condition.
    #[must_use]
    pub fn passes_first(&self) -> u64 {
        self.pass_to_fail + self.pass_to_pass
    }

    /// Units that pass under the second condition.
    #[must_use]
    pub fn passes_second(&self) -> u64 {
        self.fail_to_pass + self.pass_to_pass
    }

    /// (gains - losses) / n; `None` without pairs.
    #[must_use]
    pub fn delta(&self) -> Option<f64> {
        let n = self.n();
        (n > 0).then(|| (self.fail_to_pass as f64 - self.pass_to_fail as f64) / n as f64)
    }

    /// Gains per loss; `None` without a loss.
    #[must_use]
    pub fn gain_loss_ratio(&self) -> Option<f64> {
        (self.pass_to_fail > 0).then(|| self.fail_to_pass as f64 / self.pass_to_fail as f64)
    }

    /// McNemar's test of the table.
    #[must_use]
    pub fn mcnemar(&self) -> McNemar {
        mcnemar::test(self.fail_to_pass, self.pass_to_fail)
    }
}

impl AddAssign for Flips {
    fn add_assign(&mut self, other: Self) {
        self.fail_to_pass += other.fail_to_pass;
        self.pass_to_fail += other.pass_to_fail;
        self.pass_to_pass += other.pass_to_pass;
        self.fail_to_fail += other.fail_to_fail;
    }
}
