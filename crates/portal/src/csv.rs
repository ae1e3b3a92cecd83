//! Comparisons and statistics as CSV: numbers as they are computed, texts that
//! no spreadsheet takes for a formula. The release stands in every line, so that
//! a line tells where it is from.

use faultboard_domain::view::{
    BoardStatistics, BoardView, CompareView, MeasureKind, RowStatistics,
};

/// A number as data: the shortest text that reads back the same, empty if unknown.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| format!("{v}"))
}

/// A text as a CSV field: quoted where needed, and never a formula to a
/// spreadsheet.
pub(crate) fn field(text: &str) -> String {
    let guarded = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if guarded.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

fn line(out: &mut String, fields: &[String]) {
    out.push_str(&fields.join(","));
    out.push('\n');
}

/// One line per pair and measure.
pub(crate) fn comparison(view: &CompareView) -> String {
    let mut out = String::from(
        "measure,first,first_submission,second,second_submission,difference,low,high,p,p_plus_one,p_holm,n,only_first,only_second,gained,lost,both_pass,both_fail,mcnemar_p,detectable_points,release,slice,scorer_version\n",
    );
    for p in &view.pairs {
        let (Some(a), Some(b)) = (view.rows.get(p.a), view.rows.get(p.b)) else {
            continue;
        };
        let names = |ids: &[faultboard_domain::CaseId]| {
            let all: Vec<&str> = ids.iter().map(|c| c.as_str()).collect();
            field(&all.join(" "))
        };
        let count = |v: Option<u64>| v.map_or_else(String::new, |v| v.to_string());
        let d = p.difference;
        line(
            &mut out,
            &[
                p.measure.to_string(),
                field(&a.configuration),
                a.submission.to_string(),
                field(&b.configuration),
                b.submission.to_string(),
                number(d.map(|d| d.mean)),
                number(d.and_then(|d| d.ci95).map(|c| c.0)),
                number(d.and_then(|d| d.ci95).map(|c| c.1)),
                number(d.and_then(|d| d.p)),
                number(p.p_plus_one),
                number(p.p_holm),
                d.map_or_else(String::new, |d| d.n.to_string()),
                names(&p.only_a),
                names(&p.only_b),
                count(p.flips.map(|f| f.gained)),
                count(p.flips.map(|f| f.lost)),
                count(p.flips.map(|f| f.both_pass)),
                count(p.flips.map(|f| f.both_fail)),
                number(p.flips.map(|f| f.p_exact)),
                p.power
                    .and_then(|p| p.points)
                    .map_or_else(String::new, |p| p.to_string()),
                view.release.to_string(),
                field(&view.slice),
                field(&view.scorer_version),
            ],
        );
    }
    out
}

/// One line per pair of a board's panel.
pub(crate) fn panel(measure: MeasureKind, view: &BoardView, s: &BoardStatistics) -> String {
    let mut out = String::from(
        "measure,first,second,difference,low,high,p,p_holm,n,release,subset,scorer_version\n",
    );
    let name = |id: &faultboard_domain::SubmissionId| {
        let row = view.rows.iter().find(|r| r.submission == *id);
        field(row.map_or("", |r| r.configuration.as_str()))
    };
    for p in &s.panel {
        let d = &p.difference;
        line(
            &mut out,
            &[
                measure.to_string(),
                name(&p.a),
                name(&p.b),
                number(Some(d.mean)),
                number(d.ci95.map(|c| c.0)),
                number(d.ci95.map(|c| c.1)),
                number(d.p),
                number(p.p_holm),
                d.n.to_string(),
                view.release.to_string(),
                view.subset.to_string(),
                field(&view.scorer_version),
            ],
        );
    }
    out
}

/// One line per row and group of cases.
pub(crate) fn breakdowns(view: &BoardView, rows: &[(String, String, RowStatistics)]) -> String {
    let mut out = String::from(
        "configuration,submission,group,cases,symptom,symptom_low,symptom_high,context,context_low,context_high,lift,lift_low,lift_high,lift_p,block,block_low,block_high,file,file_low,file_high,release,subset\n",
    );
    for (configuration, submission, own) in rows {
        for g in &own.groups {
            let mut fields = vec![
                field(configuration),
                field(submission),
                field(&g.key),
                g.cases.to_string(),
            ];
            let three = |mean: Option<f64>, ends: Option<(f64, f64)>| {
                [
                    number(mean),
                    number(ends.map(|e| e.0)),
                    number(ends.map(|e| e.1)),
                ]
            };
            for e in [g.symptom, g.context] {
                fields.extend(three(e.map(|e| e.mean), e.and_then(|e| e.ci95)));
            }
            fields.extend(three(g.lift.map(|d| d.mean), g.lift.and_then(|d| d.ci95)));
            fields.push(number(g.lift.and_then(|d| d.p)));
            for e in [g.block, g.file] {
                fields.extend(three(e.map(|e| e.mean), e.and_then(|e| e.ci95)));
            }
            fields.push(view.release.to_string());
            fields.push(view.subset.to_string());
            line(&mut out, &fields);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn fields_are_quoted_and_never_formulas() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("=cmd()"), "'=cmd()");
    }
}
