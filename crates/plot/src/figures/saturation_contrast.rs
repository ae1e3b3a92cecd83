//! `saturation-contrast`: the same models on a published benchmark and here. How
//! far apart they stand says how much each benchmark still tells.

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::kit::glyph::Glyph;
use crate::kit::plane::{Plane, Scale, percent_tick, spread};
use crate::kit::sheet::{DASH, MARGIN, Sample, Sheet, WIDTH};
use crate::kit::{finite, mark};
use crate::scene::{Anchor, Area, Mark, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// A model on both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContrastRow {
    /// Its name.
    pub name: String,
    /// Its published rate there, a fraction.
    pub reported: Option<f64>,
    /// Its rate here, symptom only, a fraction.
    pub here: Option<f64>,
    /// Whether the rate here is itself only reported.
    #[serde(default)]
    pub here_reported: bool,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SaturationContrast {
    /// Release, date, filters.
    pub about: About,
    /// The other benchmark.
    pub benchmark: String,
    /// Where its rates were published.
    pub source: String,
    /// Cases here.
    pub cases: u32,
    /// The models that have a rate on both.
    pub rows: Vec<ContrastRow>,
}

impl SaturationContrast {
    fn pairs(&self) -> impl Iterator<Item = (&ContrastRow, f64, f64)> {
        self.rows
            .iter()
            .filter_map(|r| Some((r, finite(r.reported)?, finite(r.here)?)))
            .map(|(r, a, b)| (r, a.clamp(0.0, 1.0), b.clamp(0.0, 1.0)))
    }

    fn spreads(&self) -> Option<(f64, f64)> {
        let span = |values: Vec<f64>| {
            let (low, high) = values
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
                    (l.min(*v), h.max(*v))
                });
            (high - low).is_finite().then_some(high - low)
        };
        Some((
            span(self.pairs().map(|p| p.1).collect())?,
            span(self.pairs().map(|p| p.2).collect())?,
        ))
    }

    fn n(&self) -> String {
        format!(
            "{} on both · n = {} here",
            plural(self.pairs().count(), "model", "models"),
            plural(self.cases as usize, "case", "cases")
        )
    }
}

impl Figure for SaturationContrast {
    const ID: &'static str = "saturation-contrast";
    const TITLE: &'static str = "Does the benchmark still tell models apart?";
    const SHOWS: &'static str = "The same models at the left by their published rates on another benchmark (reported, not verified), at the right by their pass rates here without context.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        let Some((there, here)) = self.spreads() else {
            sheet.empty("No model on this board has a published rate on the other benchmark.");
            return sheet.done();
        };
        let left_glyph = Glyph::Ring(Paint::Ink2);
        let right_glyph = Glyph::Disc(Paint::Accent);
        sheet.legend(&[
            (
                Sample::Glyph(left_glyph),
                &format!("{}, reported, not verified", self.benchmark),
            ),
            (Sample::Glyph(right_glyph), "here, symptom only"),
        ]);
        let top = sheet.y + 56.0;
        let height = 400.0_f64.max(17.0 * self.pairs().count() as f64);
        let area = Area {
            left: 250.0,
            top,
            right: WIDTH - 330.0,
            bottom: top + height,
        };
        let plane = Plane {
            area,
            x: Scale::linear(0.0, 1.0, 1),
            y: Scale::linear(0.0, 1.0, 10),
        };
        plane.y_axis(&mut sheet.scene, percent_tick);
        for (x, anchor, words, span) in [
            (area.left, Anchor::Start, self.benchmark.as_str(), there),
            (area.right, Anchor::End, "here", here),
        ] {
            sheet
                .scene
                .line((x, area.top), (x, area.bottom), Paint::Line, 1.0);
            let words = text::fit(words, size::TEXT, Weight::SemiBold, 150.0);
            sheet
                .scene
                .strong((x, area.top - 28.0), anchor, size::TEXT, words);
            sheet.scene.text(
                (x, area.top - 12.0),
                anchor,
                size::SMALL,
                Paint::Ink2,
                format!("spread {} points", percent(span)),
            );
        }
        sheet.scene.text(
            (area.left - 8.0, area.top - 12.0),
            Anchor::End,
            size::SMALL,
            Paint::Ink2,
            "rate, %",
        );
        let mut pairs: Vec<(&ContrastRow, f64, f64)> = self.pairs().collect();
        pairs.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.name.cmp(&b.0.name)));
        let wishes: Vec<f64> = pairs.iter().map(|p| plane.y(p.2)).collect();
        let places = spread(&wishes, 15.0, area.top + 2.0, area.bottom - 2.0);
        for ((row, reported, rate), y) in pairs.iter().zip(places) {
            let (a, b) = (
                (area.left, plane.y(*reported)),
                (area.right, plane.y(*rate)),
            );
            let mut shapes = vec![Shape::Line {
                points: vec![a, b],
                stroke: Paint::Fail,
                width: 1.2,
            }];
            shapes.extend(left_glyph.shapes(a, 4.2));
            shapes.extend(right_glyph.shapes(b, 4.5));
            mark(
                &mut sheet.scene,
                Mark {
                    tip: format!(
                        "{}: {} % on {} (reported), {} % here",
                        row.name,
                        percent(*reported),
                        self.benchmark,
                        percent(*rate)
                    ),
                    href: None,
                    data: vec![("model", row.name.clone())],
                    shapes,
                },
            );
            if (y - b.1).abs() > 1.0 {
                let thread = [(b.0 + 7.0, b.1), (b.0 + 20.0, y)];
                sheet.scene.dashed(&thread, Paint::Line, 0.8, DASH);
            }
            let words = format!("{} {}", percent(*rate), row.name);
            let room = WIDTH - MARGIN - b.0 - 24.0;
            let words = text::fit(&words, size::SMALL, Weight::Regular, room);
            sheet.scene.text(
                (b.0 + 24.0, y + text::CAP * size::SMALL / 2.0),
                Anchor::Start,
                size::SMALL,
                Paint::Ink,
                words,
            );
        }
        sheet.y = area.bottom + 10.0;
        sheet.lines(
            &format!("Source of the reported rates: {}", self.source),
            Paint::Ink2,
        );
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}, {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        if let Some((there, here)) = self.spreads() {
            out.push_str(&format!(
                " They spread over {} points on {} (reported, not verified) and over {} points here.",
                percent(there),
                self.benchmark,
                percent(here)
            ));
        }
        for (row, reported, rate) in self.pairs() {
            out.push_str(&format!(
                " {}: {} % there, {} % here.",
                row.name,
                percent(reported),
                percent(rate)
            ));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["model", "benchmark", "reported_rate", "rate_here", "source"]);
        for r in &self.rows {
            csv.row(&[
                r.name.clone(),
                self.benchmark.clone(),
                field(r.reported),
                field(r.here),
                self.source.clone(),
            ]);
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}
