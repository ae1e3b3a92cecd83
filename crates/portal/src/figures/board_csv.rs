//! A board as CSV: one line per row, for spreadsheets and scripts.

use std::fmt::Write as _;

use faultboard_domain::view::BoardView;

/// A number as data: the shortest text that reads back the same, empty if unknown.
fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| format!("{v}"))
}

/// A text as a CSV field: quoted where needed, and never a formula to a
/// spreadsheet.
fn field(text: &str) -> String {
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

/// A board as CSV: one line per row, fractions as they are computed, the ends of
/// intervals in columns of their own.
pub(crate) fn board_csv(view: &BoardView) -> String {
    let mut out = String::from(
        "rank,configuration,agent,agent_version,model,open_weights,submission,revision",
    );
    for c in &view.columns {
        let key = c.key.replace('-', "_");
        let _ = write!(out, ",{key}");
        if matches!(c.key.as_str(), "symptom" | "context" | "lift" | "block") {
            let _ = write!(out, ",{key}_low,{key}_high");
        }
    }
    out.push_str(",n,flagged,release,subset,slice,scorer_version,computed\n");
    for r in &view.rows {
        let rank = r.rank.as_ref().map(|k| k.label.clone()).unwrap_or_default();
        let heads = [
            &rank,
            &r.configuration,
            &r.agent,
            &r.agent_version,
            &r.model,
            &r.open_weights.to_string(),
            &r.submission.to_string(),
            &r.revision.to_string(),
        ];
        out.push_str(&heads.map(|t| field(t)).join(","));
        for c in &view.columns {
            let _ = write!(out, ",{}", number(r.value(&c.key)));
            let ends = match c.key.as_str() {
                "symptom" => Some(
                    r.repair
                        .as_ref()
                        .and_then(|p| p.symptom)
                        .and_then(|e| e.ci95),
                ),
                "context" => Some(
                    r.repair
                        .as_ref()
                        .and_then(|p| p.context)
                        .and_then(|e| e.ci95),
                ),
                "lift" => Some(r.repair.as_ref().and_then(|p| p.lift).and_then(|d| d.ci95)),
                "block" => Some(r.diagnosis.as_ref().and_then(|d| d.block_coverage.ci95)),
                _ => None,
            };
            if let Some(ends) = ends {
                let _ = write!(
                    out,
                    ",{},{}",
                    number(ends.map(|e| e.0)),
                    number(ends.map(|e| e.1))
                );
            }
        }
        let _ = writeln!(
            out,
            ",{},{},{},{},{},{},{}",
            view.n_cases,
            r.flagged,
            view.release,
            view.subset,
            field(&view.slice),
            field(&view.scorer_version),
            view.computed
        );
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
