//! A report as plain text for a terminal. It adds nothing to the report and
//! takes nothing away.

use std::fmt::Write as _;

use faultboard_domain::{Report, Severity};

/// The report as text: the verdict, every problem with its mending, the counts.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    for problem in &report.problems {
        let word = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = if problem.path.is_empty() {
            String::new()
        } else {
            format!("{}: ", problem.path)
        };
        // Writing to a String can't fail.
        let _ = writeln!(out, "{word}[{}] {place}{}", problem.rule, problem.message);
        let _ = writeln!(out, "    fix: {}", problem.fix);
    }
    if report.left_out > 0 {
        let _ = writeln!(
            out,
            "and {} more problems that are not listed",
            report.left_out
        );
    }
    for (what, n) in &report.counts {
        let _ = writeln!(out, "{what}: {n}");
    }
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let _ = writeln!(
        out,
        "{}: {}, {}",
        if report.is_ok() {
            "accepted"
        } else {
            "rejected"
        },
        plural(report.errors(), "error"),
        plural(report.warnings(), "warning"),
    );
    out
}
