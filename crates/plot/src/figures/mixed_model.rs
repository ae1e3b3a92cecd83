//! `mixed-model`: the logistic regression over all runs, its estimates and
//! variance components, and what they say in plain words.

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, plural};
use crate::kit::bars::{self, Bar, BarRow, Section};
use crate::kit::forest::{self, Column, Dot, Forest, Row};
use crate::kit::glyph::{Fill, Glyph};
use crate::kit::plane::Scale;
use crate::kit::sheet::{Sheet, WIDTH};
use crate::kit::words;
use crate::scene::Scene;
use crate::theme::Paint;

/// A fixed effect, on the scale of log-odds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// What it is of: `context`, `intercept`.
    pub term: String,
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub se: f64,
    /// Wald interval.
    pub ci95: (f64, f64),
    /// Wald z.
    pub z: f64,
    /// Two-sided p.
    pub p: f64,
}

/// What a fit says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedEstimates {
    /// Fixed effects.
    pub effects: Vec<Effect>,
    /// Odds ratio of context, with its interval.
    pub odds_ratio: f64,
    /// See `odds_ratio`.
    pub odds_ratio_ci95: (f64, f64),
    /// Variance between configurations.
    pub var_model: f64,
    /// Variance between cases.
    pub var_case: f64,
    /// Average marginal effect of context, a fraction.
    pub marginal: f64,
    /// Whether a variance is estimated as zero.
    pub singular: bool,
    /// What the fit warns of.
    pub notes: Vec<String>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixedModel {
    /// Release, date, filters.
    pub about: About,
    /// Scored runs.
    pub runs: u32,
    /// Configurations.
    pub configurations: u32,
    /// Cases.
    pub cases: u32,
    /// The fit; none where there is none.
    pub fit: Option<MixedEstimates>,
    /// What it says, in plain words; or why there is no fit.
    pub reading: String,
}

fn tick(v: f64) -> String {
    words::signed(
        v,
        if v.abs() < 10.0 && v.fract() != 0.0 {
            1
        } else {
            0
        },
    )
}

impl MixedModel {
    fn n(&self) -> String {
        format!(
            "n = {} of {} on {}",
            plural(self.runs as usize, "run", "runs"),
            plural(
                self.configurations as usize,
                "configuration",
                "configurations"
            ),
            plural(self.cases as usize, "case", "cases"),
        )
    }
}

impl Figure for MixedModel {
    const ID: &'static str = "mixed-model";
    const TITLE: &'static str = "Mixed-effects logistic regression: does context help?";
    const SHOWS: &'static str = "logit P(pass) = intercept + context + configuration + case, the last two as crossed random intercepts (Laplace approximation): how much context changes the odds of a pass once configurations and cases are accounted for.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if let Some(fit) = &self.fit {
            sheet.skip(8.0);
            let ends = fit
                .effects
                .iter()
                .flat_map(|e| [e.estimate, e.ci95.0, e.ci95.1])
                // A separated fit has no end; the scale must have one.
                .map(|v| v.clamp(-12.0, 12.0));
            let scale = Scale::around_zero(ends, 8);
            let rows = fit
                .effects
                .iter()
                .map(|e| Row {
                    name: e.term.clone(),
                    href: None,
                    dots: vec![Dot {
                        value: Some(e.estimate),
                        ci95: Some(e.ci95),
                        glyph: if e.term == "context" {
                            Glyph::Disc(Paint::Accent)
                        } else {
                            Glyph::Ring(Paint::Ink2)
                        },
                        tip: format!(
                            "{}: {} log-odds (95 % interval {} to {}), {}",
                            e.term,
                            words::signed(e.estimate, 3),
                            words::signed(e.ci95.0, 3),
                            words::signed(e.ci95.1, 3),
                            words::p_value(Some(e.p))
                        ),
                        data: vec![("term", e.term.clone())],
                    }],
                    cells: vec![
                        words::signed(e.estimate, 3),
                        format!("{:.3}", e.se),
                        words::signed(e.z, 2),
                        words::p_alone(Some(e.p)),
                    ],
                })
                .collect();
            let column = |head, width| Column { head, width };
            forest::draw(
                &mut sheet,
                &Forest {
                    rows,
                    scale,
                    format: tick,
                    title: "log-odds of a pass, with 95 % Wald interval",
                    reference: Some(0.0),
                    columns: vec![
                        column("estimate", 68.0),
                        column("SE", 56.0),
                        column("z", 56.0),
                        column("p", 62.0),
                    ],
                    names: 160.0,
                },
            );
            let bar = |value: f64, who: &str, fill| BarRow {
                name: format!("between {who}"),
                bars: vec![Bar {
                    value,
                    fill,
                    label: format!("{value:.3}"),
                    tip: format!("Variance between {who}: {value:.3}"),
                    data: vec![("component", who.to_owned())],
                }],
            };
            let strip = bars::whole(&sheet);
            let top = sheet.y;
            sheet.y = bars::draw(
                &mut sheet,
                strip,
                top,
                &[Section {
                    title: "Variance components (log-odds squared)".to_owned(),
                    rows: vec![
                        bar(fit.var_model, "configurations", Fill::Solid(Paint::Accent)),
                        bar(fit.var_case, "cases", Fill::Hatch(Paint::Ink2)),
                    ],
                }],
            );
            sheet.note(
                "Context",
                &[
                    format!(
                        "odds ratio {:.2} (95 % interval {:.2} to {:.2})",
                        fit.odds_ratio, fit.odds_ratio_ci95.0, fit.odds_ratio_ci95.1
                    ),
                    format!(
                        "average marginal effect {} points",
                        words::points(Some(fit.marginal))
                    ),
                ],
            );
        }
        sheet.heading("In plain words");
        sheet.lines(&self.reading, Paint::Ink);
        if let Some(fit) = &self.fit {
            for note in &fit.notes {
                sheet.lines(note, Paint::Ink2);
            }
        }
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!("{}, {}.", self.n(), self.about.line().replace(" · ", ", "));
        if let Some(fit) = &self.fit {
            for e in &fit.effects {
                out.push_str(&format!(
                    " {}: {} log-odds (95 % interval {} to {}), {}.",
                    e.term,
                    words::signed(e.estimate, 3),
                    words::signed(e.ci95.0, 3),
                    words::signed(e.ci95.1, 3),
                    words::p_value(Some(e.p))
                ));
            }
            out.push_str(&format!(
                " Variance between configurations {:.3}, between cases {:.3}.",
                fit.var_model, fit.var_case
            ));
        }
        out.push(' ');
        out.push_str(&self.reading);
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["term", "estimate", "se", "ci95_low", "ci95_high", "z", "p"]);
        if let Some(fit) = &self.fit {
            for e in &fit.effects {
                csv.row(&[
                    e.term.clone(),
                    field(Some(e.estimate)),
                    field(Some(e.se)),
                    field(Some(e.ci95.0)),
                    field(Some(e.ci95.1)),
                    field(Some(e.z)),
                    field(Some(e.p)),
                ]);
            }
            let mut alone = |term: &str, value: f64, ends: Option<(f64, f64)>| {
                csv.row(&[
                    term.to_owned(),
                    field(Some(value)),
                    String::new(),
                    field(ends.map(|e| e.0)),
                    field(ends.map(|e| e.1)),
                    String::new(),
                    String::new(),
                ]);
            };
            alone("odds-ratio", fit.odds_ratio, Some(fit.odds_ratio_ci95));
            alone("variance-configurations", fit.var_model, None);
            alone("variance-cases", fit.var_case, None);
            alone("average-marginal-effect", fit.marginal, None);
        }
        csv.finish()
    }
}
