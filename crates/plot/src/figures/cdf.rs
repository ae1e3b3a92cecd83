//! `cdf-tokens` and `cdf-steps`: how much runs take, as whole distributions, per
//! tier and condition.

use faultboard_domain::Track;
use faultboard_domain::condition::Condition;
use faultboard_stats::distribution::Distribution;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, plural};
use crate::kit::glyph::Glyph;
use crate::kit::mark;
use crate::kit::plane::{Plane, Scale, percent_tick, plain_tick};
use crate::kit::sheet::{DASH, MARGIN, Sample, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::{Anchor, Area, Mark, Point, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// The runs of some cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CdfPanel {
    /// Which: `tier 1`.
    pub name: String,
    /// What each run without context took.
    pub symptom_only: Vec<f64>,
    /// What each run with context took.
    pub with_context: Vec<f64>,
}

/// The data of `cdf-tokens`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CdfTokens {
    /// Release, date, filters.
    pub about: About,
    /// Configurations that are pooled.
    pub configurations: u32,
    /// The tiers.
    pub panels: Vec<CdfPanel>,
}

/// The data of `cdf-steps`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CdfSteps {
    /// Release, date, filters.
    pub about: About,
    /// Configurations that are pooled.
    pub configurations: u32,
    /// The tiers.
    pub panels: Vec<CdfPanel>,
}

impl CdfPanel {
    fn of(&self, condition: Condition) -> Distribution {
        let values = match condition {
            Condition::SymptomOnly => &self.symptom_only,
            Condition::ContextAugmented => &self.with_context,
        };
        let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        Distribution::new(&finite)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.symptom_only.iter().chain(&self.with_context).copied()
    }
}

fn runs(panels: &[CdfPanel]) -> usize {
    panels.iter().map(|p| p.values().count()).sum()
}

fn n(configurations: u32, panels: &[CdfPanel]) -> String {
    format!(
        "{} pooled · n = {}",
        plural(configurations as usize, "configuration", "configurations"),
        plural(runs(panels), "run", "runs")
    )
}

/// Draws a distribution's steps: flat, then up. Long ones are thinned to what a
/// screen can show.
pub(super) fn stairs(plane: &Plane, d: &Distribution) -> Vec<Point> {
    let steps = d.steps();
    let every = steps.len().div_ceil(300).max(1);
    let last = steps.len().saturating_sub(1);
    let mut points: Vec<Point> = Vec::new();
    let mut level = 0.0;
    for (i, step) in steps.iter().enumerate() {
        if i % every != 0 && i != last {
            continue;
        }
        points.push(plane.at(step.x, level));
        points.push(plane.at(step.x, step.f));
        level = step.f;
    }
    if let Some(at) = points.last().copied() {
        points.push((plane.area.right, at.1));
    }
    points
}

fn scene<F: Figure>(
    about: &About,
    configurations: u32,
    panels: &[CdfPanel],
    log: bool,
    unit: &str,
) -> Scene {
    let mut sheet = Sheet::of::<F>(WIDTH, &n(configurations, panels), about);
    if runs(panels) == 0 {
        sheet.empty(&format!("No run tells its {unit} yet."));
        return sheet.done();
    }
    sheet.legend(&[
        (Sample::Dashed(Paint::Ink2, 1.5), "symptom only (median ○)"),
        (Sample::Line(Paint::Accent, 1.8), "with context (median ●)"),
    ]);
    let values = || panels.iter().flat_map(CdfPanel::values);
    let scale = if log {
        Scale::log(values())
    } else {
        Scale::from_zero(values(), 4)
    };
    let across = panels.len().clamp(1, 3);
    let wide = (sheet.room() + 14.0) / across as f64;
    let top = sheet.y + 34.0;
    let mut lowest = top;
    for (i, panel) in panels.iter().enumerate() {
        let (row, column) = (i / across, i % across);
        let left = MARGIN + wide * column as f64 + 36.0;
        let upper = top + 290.0 * row as f64;
        let plane = Plane {
            area: Area {
                left,
                top: upper,
                right: MARGIN + wide * (column + 1) as f64 - 18.0,
                bottom: upper + 190.0,
            },
            x: scale.clone(),
            y: Scale::linear(0.0, 1.0, 4),
        };
        let title = text::fit(&panel.name, size::TEXT, Weight::SemiBold, wide - 40.0);
        sheet
            .scene
            .strong((left, upper - 12.0), Anchor::Start, size::TEXT, title);
        plane.y_axis(&mut sheet.scene, percent_tick);
        let end = plane.x_axis(&mut sheet.scene, plain_tick, unit);
        let mut medians = Vec::new();
        for condition in Condition::ALL {
            let d = panel.of(condition);
            let Some(facts) = d.describe() else {
                medians.push("–".to_owned());
                continue;
            };
            let curve = stairs(&plane, &d);
            let glyph = if condition == Condition::SymptomOnly {
                sheet.scene.dashed(&curve, Paint::Ink2, 1.5, DASH);
                Glyph::Ring(Paint::Ink2)
            } else {
                sheet.scene.shape(Shape::Line {
                    points: curve,
                    stroke: Paint::Accent,
                    width: 1.8,
                });
                Glyph::Disc(Paint::Accent)
            };
            let at = plane.at(facts.median, d.ecdf(facts.median).unwrap_or(0.5).min(0.5));
            medians.push(words::short(facts.median));
            mark(
                &mut sheet.scene,
                Mark {
                    tip: format!(
                        "{}, {}: median {} {unit} over {}, from {} to {}",
                        panel.name,
                        condition.title(),
                        words::short(facts.median),
                        plural(facts.n, "run", "runs"),
                        words::short(facts.min),
                        words::short(facts.max)
                    ),
                    href: None,
                    data: vec![
                        ("panel", panel.name.clone()),
                        ("condition", condition.as_str().to_owned()),
                    ],
                    shapes: glyph.shapes(at, 4.5),
                },
            );
        }
        let line = text::fit(
            &format!(
                "medians {} → {} · n = {} and {}",
                medians[0],
                medians[1],
                panel.symptom_only.len(),
                panel.with_context.len()
            ),
            size::SMALL,
            Weight::Regular,
            wide - 24.0,
        );
        sheet.scene.text(
            (left, end + 16.0),
            Anchor::Start,
            size::SMALL,
            Paint::Ink2,
            line,
        );
        lowest = lowest.max(end + 18.0);
    }
    sheet.y = lowest;
    sheet.lines(
        "Height: share of runs that take at most as much, %.",
        Paint::Ink2,
    );
    sheet.done()
}

fn summary(about: &About, configurations: u32, panels: &[CdfPanel], unit: &str) -> String {
    let mut out = format!(
        "Distribution of {unit}: {}, {}.",
        n(configurations, panels).replace(" · ", ", "),
        about.line().replace(" · ", ", ")
    );
    for p in panels {
        let median = |c| {
            p.of(c)
                .describe()
                .map_or_else(|| "unknown".to_owned(), |d| words::short(d.median))
        };
        out.push_str(&format!(
            " {}: median {} without, {} with context.",
            p.name,
            median(Condition::SymptomOnly),
            median(Condition::ContextAugmented)
        ));
    }
    out
}

fn csv(panels: &[CdfPanel], unit: &str) -> String {
    let mut csv = Csv::new(&["group", "condition", unit, "share_at_most"]);
    for p in panels {
        for c in Condition::ALL {
            for step in p.of(c).steps() {
                csv.row(&[
                    p.name.clone(),
                    c.as_str().to_owned(),
                    field(Some(step.x)),
                    field(Some(step.f)),
                ]);
            }
        }
    }
    csv.finish()
}

impl Figure for CdfTokens {
    const ID: &'static str = "cdf-tokens";
    const TITLE: &'static str = "Tokens per run, as whole distributions";
    const SHOWS: &'static str = "For each tier: the share of runs that take at most so many tokens, without and with context. The scale of tokens is logarithmic.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        scene::<Self>(
            &self.about,
            self.configurations,
            &self.panels,
            true,
            "tokens",
        )
    }

    fn summary(&self) -> String {
        summary(&self.about, self.configurations, &self.panels, "tokens")
    }

    fn csv(&self) -> String {
        csv(&self.panels, "tokens")
    }
}

impl Figure for CdfSteps {
    const ID: &'static str = "cdf-steps";
    const TITLE: &'static str = "Steps per run, as whole distributions";
    const SHOWS: &'static str = "For each tier: the share of runs that take at most so many steps, without and with context.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        scene::<Self>(
            &self.about,
            self.configurations,
            &self.panels,
            false,
            "steps",
        )
    }

    fn summary(&self) -> String {
        summary(&self.about, self.configurations, &self.panels, "steps")
    }

    fn csv(&self) -> String {
        csv(&self.panels, "steps")
    }
}
