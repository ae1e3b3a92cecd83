//! `lift-by-family` and `lift-by-tier`: pass rate per condition and the lift of
//! context, for groups of cases. Each case counts once: its rate is the mean
//! over configurations.

use faultboard_domain::Track;
use faultboard_domain::condition::Condition;
use faultboard_domain::score::Estimate;
use faultboard_domain::view::Difference;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, plural};
use crate::kit::forest::{self, Column, Dot, Forest, Row};
use crate::kit::glyph::Glyph;
use crate::kit::plane::{Scale, percent_tick};
use crate::kit::sheet::{Sample, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::Scene;
use crate::theme::Paint;

/// A group of cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiftGroup {
    /// Its name.
    pub name: String,
    /// Cases in it that have a result.
    pub cases: u32,
    /// Pass rate without context.
    pub symptom_only: Option<Estimate>,
    /// Pass rate with context.
    pub with_context: Option<Estimate>,
    /// With context minus without, paired by case.
    pub lift: Option<Difference>,
}

/// The data of `lift-by-family`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiftByFamily {
    /// Release, date, filters.
    pub about: About,
    /// Configurations that are pooled.
    pub configurations: u32,
    /// The families, in their usual order.
    pub groups: Vec<LiftGroup>,
}

/// The data of `lift-by-tier`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiftByTier {
    /// Release, date, filters.
    pub about: About,
    /// Configurations that are pooled.
    pub configurations: u32,
    /// The tiers, hardest first.
    pub groups: Vec<LiftGroup>,
}

fn n(configurations: u32, groups: &[LiftGroup]) -> String {
    let cases: u32 = groups.iter().map(|g| g.cases).sum();
    format!(
        "{} pooled · n = {}",
        plural(configurations as usize, "configuration", "configurations"),
        plural(cases as usize, "case", "cases")
    )
}

fn scene<F: Figure>(about: &About, configurations: u32, groups: &[LiftGroup]) -> Scene {
    let mut sheet = Sheet::of::<F>(WIDTH, &n(configurations, groups), about);
    if groups.is_empty() {
        sheet.empty("No group has a result under either condition yet.");
        return sheet.done();
    }
    let glyphs = [Glyph::Ring(Paint::Ink2), Glyph::Disc(Paint::Accent)];
    sheet.legend(&[
        (
            Sample::Glyph(glyphs[0]),
            "symptom only, with 95 % interval over cases",
        ),
        (
            Sample::Glyph(glyphs[1]),
            "with context, with 95 % interval over cases",
        ),
    ]);
    sheet.skip(8.0);
    let rows = groups
        .iter()
        .map(|g| Row {
            name: g.name.clone(),
            href: None,
            dots: Condition::ALL
                .into_iter()
                .zip([&g.symptom_only, &g.with_context])
                .zip(glyphs)
                .map(|((condition, e), glyph)| Dot {
                    value: e.map(|e| e.mean),
                    ci95: e.and_then(|e| e.ci95),
                    glyph,
                    tip: e.as_ref().map_or_else(String::new, |e| {
                        format!("{}, {}: {}", g.name, condition.title(), words::estimate(e))
                    }),
                    data: vec![
                        ("group", g.name.clone()),
                        ("condition", condition.as_str().to_owned()),
                    ],
                })
                .collect(),
            cells: vec![
                g.cases.to_string(),
                words::share(g.symptom_only.map(|e| e.mean)),
                words::share(g.with_context.map(|e| e.mean)),
                words::points(g.lift.map(|d| d.mean)),
            ],
        })
        .collect();
    let column = |head, width| Column { head, width };
    forest::draw(
        &mut sheet,
        &Forest {
            rows,
            scale: Scale::linear(0.0, 1.0, 5),
            format: percent_tick,
            title: "pass rate, %",
            reference: None,
            columns: vec![
                column("cases", 48.0),
                column("without, %", 78.0),
                column("with, %", 62.0),
                column("lift, points", 82.0),
            ],
            names: 240.0,
        },
    );
    sheet.done()
}

fn summary(about: &About, configurations: u32, groups: &[LiftGroup]) -> String {
    let mut out = format!(
        "Pass rates without and with context; {}, {}.",
        n(configurations, groups).replace(" · ", ", "),
        about.line().replace(" · ", ", ")
    );
    for g in groups {
        out.push_str(&format!(
            " {}: {} % without, {} % with context, lift {} points.",
            g.name,
            words::share(g.symptom_only.map(|e| e.mean)),
            words::share(g.with_context.map(|e| e.mean)),
            words::points(g.lift.map(|d| d.mean)),
        ));
    }
    out
}

fn csv(head: &str, groups: &[LiftGroup]) -> String {
    let mut csv = Csv::new(&[
        head,
        "cases",
        "symptom_only",
        "symptom_only_low",
        "symptom_only_high",
        "with_context",
        "with_context_low",
        "with_context_high",
        "lift",
        "lift_low",
        "lift_high",
        "lift_p",
    ]);
    for g in groups {
        let mut row = vec![g.name.clone(), g.cases.to_string()];
        for e in [&g.symptom_only, &g.with_context] {
            row.push(field(e.map(|e| e.mean)));
            row.push(field(e.and_then(|e| e.ci95).map(|c| c.0)));
            row.push(field(e.and_then(|e| e.ci95).map(|c| c.1)));
        }
        row.push(field(g.lift.map(|d| d.mean)));
        row.push(field(g.lift.and_then(|d| d.ci95).map(|c| c.0)));
        row.push(field(g.lift.and_then(|d| d.ci95).map(|c| c.1)));
        row.push(field(g.lift.and_then(|d| d.p)));
        csv.row(&row);
    }
    csv.finish()
}

impl Figure for LiftByFamily {
    const ID: &'static str = "lift-by-family";
    const TITLE: &'static str = "What context adds, by family of bugs";
    const SHOWS: &'static str = "Pass rate without and with debug context for each family, and the difference in points, paired by case.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        scene::<Self>(&self.about, self.configurations, &self.groups)
    }

    fn summary(&self) -> String {
        summary(&self.about, self.configurations, &self.groups)
    }

    fn csv(&self) -> String {
        csv("family", &self.groups)
    }
}

impl Figure for LiftByTier {
    const ID: &'static str = "lift-by-tier";
    const TITLE: &'static str = "What context adds, by tier of difficulty";
    const SHOWS: &'static str = "Pass rate without and with debug context for each tier, and the difference in points, paired by case. Tier 1 is the hardest.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        scene::<Self>(&self.about, self.configurations, &self.groups)
    }

    fn summary(&self) -> String {
        summary(&self.about, self.configurations, &self.groups)
    }

    fn csv(&self) -> String {
        csv("tier", &self.groups)
    }
}
