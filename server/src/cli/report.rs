//! A check's report as text: what happened, where, and what to do about it.

use faultboard_domain::report::{Report, Severity};

use super::out::tame;

/// The problems for people, one after the other.
pub(super) fn problems(report: &Report) -> String {
    let mut out = String::new();
    for problem in &report.problems {
        let kind = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = if problem.path.is_empty() {
            "the bundle"
        } else {
            &problem.path
        };
        out.push_str(&format!(
            "{kind}: {} [{}]\n  {}\n  {}\n",
            tame(place),
            problem.rule,
            tame(&problem.message),
            tame(&problem.fix)
        ));
    }
    if report.left_out > 0 {
        out.push_str(&format!(
            "and {} more problems, which are not listed\n",
            report.left_out
        ));
    }
    out
}

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut out = problems(report);
    if !report.counts.is_empty() {
        let counts: Vec<String> = report
            .counts
            .iter()
            .map(|(what, n)| format!("{n} {what}"))
            .collect();
        out.push_str(&format!("read: {}\n", counts.join(", ")));
    }
    let (errors, warnings) = (report.errors(), report.warnings());
    out.push_str(&if report.is_ok() {
        match warnings {
            0 => "The bundle is in order.\n".to_owned(),
            1 => "The bundle is in order, with one warning.\n".to_owned(),
            n => format!("The bundle is in order, with {n} warnings.\n"),
        }
    } else {
        let more = usize::try_from(report.left_out).unwrap_or(usize::MAX);
        format!(
            "The bundle would be rejected: {} errors, {warnings} warnings.\n",
            errors.saturating_add(more)
        )
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultboard_domain::Problem;

    #[test]
    fn every_problem_says_where_what_and_how() {
        let mut report = Report::default();
        assert_eq!(text(&report), "The bundle is in order.\n");
        report.push(Problem::error(
            "a/b\u{1b}.diff",
            "rule-x",
            "It broke.",
            "Mend it.",
        ));
        report.push(Problem::warning("", "rule-y", "Odd.", "Look."));
        report.counts.push(("attempts".into(), 3));
        assert_eq!(
            text(&report),
            "error: a/b\u{fffd}.diff [rule-x]\n  It broke.\n  Mend it.\n\
             warning: the bundle [rule-y]\n  Odd.\n  Look.\n\
             read: 3 attempts\nThe bundle would be rejected: 1 errors, 1 warnings.\n"
        );
    }
}
