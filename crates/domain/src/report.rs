//! The report of a check: every problem found, for people and for machines.
//! It never stops at the first problem, and a warning never rejects.

use serde::{Deserialize, Serialize};

/// Whether a problem rejects what was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Rejects.
    Error,
    /// Told, but accepted.
    Warning,
}

/// One thing that is wrong, where, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// Whether it rejects.
    pub severity: Severity,
    /// Where: a path within the bundle, with `#/pointer` or `:line` where known. Empty: the whole.
    pub path: String,
    /// The rule's stable name, such as `archive-path`.
    pub rule: String,
    /// What happened, in one sentence.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

impl Problem {
    /// A problem that rejects.
    pub fn error(
        path: impl Into<String>,
        rule: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Error,
            path: path.into(),
            rule: rule.to_owned(),
            message: message.into(),
            fix: fix.into(),
        }
    }

    /// A problem that is only told.
    pub fn warning(
        path: impl Into<String>,
        rule: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(path, rule, message, fix)
        }
    }
}

/// Every problem of one check, and what was counted on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The problems, errors first, then by path and rule.
    pub problems: Vec<Problem>,
    /// How many problems were left out because the list is bounded.
    pub left_out: u64,
    /// Counts in words and numbers (`attempts` 16, `cases` 4 ...), in display order.
    pub counts: Vec<(String, u64)>,
}

impl Report {
    /// The most problems that a report lists one by one.
    pub const MOST: usize = 5_000;

    /// Adds a problem; beyond [`Report::MOST`] it is only counted.
    pub fn push(&mut self, problem: Problem) {
        if self.problems.len() < Self::MOST {
            self.problems.push(problem);
        } else {
            self.left_out += 1;
        }
    }

    /// Whether nothing rejects.
    pub fn is_ok(&self) -> bool {
        self.left_out == 0 && self.errors() == 0
    }

    /// How many listed problems reject.
    pub fn errors(&self) -> usize {
        self.problems
            .iter()
            .filter(|p| p.severity == Severity::Error)
            .count()
    }

    /// How many listed problems are warnings.
    pub fn warnings(&self) -> usize {
        self.problems.len() - self.errors()
    }

    /// Puts the problems into their display order.
    pub fn sort(&mut self) {
        self.problems.sort();
        self.problems.dedup();
    }
}
