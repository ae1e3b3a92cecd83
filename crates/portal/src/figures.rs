//! A board's figures and its CSV, drawn when the board is rebuilt.

use std::fmt::Write as _;

use faultboard_domain::Case;
use faultboard_domain::view::{BoardRow, BoardView};
use faultboard_plot::{
    About, CaseColumn, ConfigurationRow, Figure, Measure, PairCell, PairState, PairedHeatmap,
    Pareto, ParetoPoint, Theme,
};
use faultboard_store::boards::FigureFile;

use crate::{PortalError, Result};

/// A case counts as passed where at least half of its attempts did.
const PASSED: f64 = 0.5;

/// Draws every figure of a repair board, in every form.
pub(crate) fn draw(view: &BoardView, cases: &[&Case]) -> Result<Vec<FigureFile>> {
    let scope = if view.slice.is_empty() {
        format!("{} subset", view.subset)
    } else {
        format!("{} subset, {}", view.subset, view.slice.replace('-', " "))
    };
    let about = About {
        release: view.release.to_string(),
        date: view.computed.date(),
        scope,
    };
    let mut files = forms(&heatmap(view, cases, about.clone()))?;
    files.extend(forms(&pareto(view, about))?);
    Ok(files)
}

fn forms<F: Figure>(figure: &F) -> Result<Vec<FigureFile>> {
    let file = |variant: &str, body: Vec<u8>| FigureFile {
        figure: F::ID.to_owned(),
        variant: variant.to_owned(),
        body,
    };
    let mut files = vec![
        file(
            "meta",
            serde_json::to_vec(&(F::TITLE, figure.summary())).map_err(PortalError::internal)?,
        ),
        file("csv", figure.csv().into_bytes()),
        file(
            "json",
            serde_json::to_vec_pretty(figure).map_err(PortalError::internal)?,
        ),
    ];
    for (theme, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        files.push(file(
            &format!("svg-{name}"),
            figure
                .svg(theme)
                .map_err(PortalError::internal)?
                .into_bytes(),
        ));
        files.push(file(
            &format!("png-{name}"),
            figure.png(theme).map_err(PortalError::internal)?,
        ));
    }
    Ok(files)
}

fn heatmap(view: &BoardView, cases: &[&Case], about: About) -> PairedHeatmap {
    let shown: Vec<&&Case> = cases
        .iter()
        .filter(|c| {
            view.rows
                .iter()
                .any(|r| r.per_case.iter().any(|p| p.case == c.id))
        })
        .collect();
    let cell = |row: &BoardRow, case: &Case| {
        let found = row.per_case.iter().find(|p| p.case == case.id);
        let passed = |v: Option<f64>| v.map(|rate| rate >= PASSED);
        PairCell {
            state: PairState::of(
                passed(found.and_then(|p| p.symptom)),
                passed(found.and_then(|p| p.context)),
            ),
            href: found
                .and_then(|p| p.attempts.first())
                .map(|a| format!("/attempts/{a}")),
        }
    };
    PairedHeatmap {
        about,
        cases: shown
            .iter()
            .map(|c| CaseColumn {
                case: c.id.to_string(),
                family: c.family,
            })
            .collect(),
        rows: view
            .rows
            .iter()
            .map(|r| ConfigurationRow {
                name: r.configuration.clone(),
                cells: shown.iter().map(|c| cell(r, c)).collect(),
            })
            .collect(),
    }
}

fn pareto(view: &BoardView, about: About) -> Pareto {
    let points = view
        .rows
        .iter()
        .map(|r| {
            let cells = r.repair.as_ref();
            let measure =
                |e: faultboard_domain::score::Estimate,
                 spent: Option<&faultboard_domain::view::Spending>| Measure {
                    rate: e.mean,
                    ci95: e.ci95,
                    n: e.n,
                    cost: spent.and_then(|s| s.cost),
                    steps: spent.and_then(|s| s.steps),
                };
            ParetoPoint {
                name: r.configuration.clone(),
                symptom_only: cells
                    .and_then(|c| c.symptom.map(|e| measure(e, c.symptom_spent.as_ref()))),
                with_context: cells
                    .and_then(|c| c.context.map(|e| measure(e, c.context_spent.as_ref()))),
                href: Some(format!("/submissions/{}", r.submission)),
            }
        })
        .collect();
    Pareto { about, points }
}

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
