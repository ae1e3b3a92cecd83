//! `step-histograms`: how many steps the submitted runs of each configuration
//! take, without context above the line and with context below it.

use faultboard_domain::Track;
use faultboard_stats::histogram::{self, LastBin};
use faultboard_stats::percentile;
use serde::{Deserialize, Serialize};

use crate::axis;
use crate::figure::{About, Csv, Figure, plural};
use crate::kit::glyph::Fill;
use crate::kit::mark;
use crate::kit::plane::{Scale, plain_tick, ticks_below};
use crate::kit::sheet::{DASH, MARGIN, Sample, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::{Anchor, Area, Mark, Scene};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// A configuration's submitted runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepPanel {
    /// Its name.
    pub name: String,
    /// Steps of each run without context.
    pub symptom_only: Vec<f64>,
    /// Steps of each run with context.
    pub with_context: Vec<f64>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepHistograms {
    /// Release, date, filters.
    pub about: About,
    /// The configurations, in the order of the board.
    pub panels: Vec<StepPanel>,
}

/// Bins of every panel alike, about this many.
const BINS: usize = 24;
const FILLS: [Fill; 2] = [Fill::Hatch(Paint::Ink2), Fill::Solid(Paint::Accent)];

impl StepPanel {
    fn sides(&self) -> [Vec<f64>; 2] {
        [&self.symptom_only, &self.with_context].map(|values| {
            values
                .iter()
                .copied()
                .filter(|v| (0.0..1e9).contains(v))
                .collect()
        })
    }
}

impl StepHistograms {
    fn runs(&self) -> usize {
        self.panels
            .iter()
            .flat_map(StepPanel::sides)
            .map(|s| s.len())
            .sum()
    }

    /// Edges that every panel shares: round numbers.
    fn edges(&self) -> Vec<f64> {
        let most = self
            .panels
            .iter()
            .flat_map(StepPanel::sides)
            .flatten()
            .fold(1.0, f64::max);
        let ticks = axis::linear(0.0, most + 1.0, BINS);
        let width = match ticks.as_slice() {
            [a, b, ..] => (b - a).max(1.0),
            _ => 1.0,
        };
        let bins = ((most + 1.0) / width).ceil() as usize;
        (0..=bins).map(|i| i as f64 * width).collect()
    }

    fn n(&self) -> String {
        format!(
            "{} · n = {}",
            plural(self.panels.len(), "configuration", "configurations"),
            plural(self.runs(), "submitted run", "submitted runs")
        )
    }

    fn panel(&self, sheet: &mut Sheet, panel: &StepPanel, area: Area, edges: &[f64]) {
        let name = text::fit(
            &panel.name,
            size::SMALL,
            Weight::SemiBold,
            area.right - area.left,
        );
        sheet.scene.strong(
            (area.left, area.top - 24.0),
            Anchor::Start,
            size::SMALL,
            name,
        );
        let sides = panel.sides();
        let medians = [0, 1].map(|s: usize| percentile::median(&sides[s]));
        let shown = |m: Option<f64>| m.map_or_else(|| "–".to_owned(), words::short);
        let line = format!(
            "medians {} → {} · n = {} and {}",
            shown(medians[0]),
            shown(medians[1]),
            sides[0].len(),
            sides[1].len()
        );
        sheet.scene.text(
            (area.left, area.top - 9.0),
            Anchor::Start,
            size::SMALL,
            Paint::Ink2,
            text::fit(&line, size::SMALL, Weight::Regular, area.right - area.left),
        );
        let counts = [0, 1]
            .map(|s: usize| histogram::count(edges.to_vec(), &sides[s], LastBin::Closed).counts);
        // Both sides on one scale of shares, so that they compare.
        let share = |s: usize, count: u64| count as f64 / sides[s].len().max(1) as f64;
        let most = [0, 1]
            .into_iter()
            .flat_map(|s| counts[s].iter().map(move |c| share(s, *c)))
            .fold(0.0, f64::max)
            .max(1e-9);
        let last = edges.last().copied().unwrap_or(1.0);
        let scale = Scale::linear(0.0, last, 9);
        let x = |v: f64| area.left + scale.share(v) * (area.right - area.left);
        let middle = (area.top + area.bottom) / 2.0;
        let half = (area.bottom - area.top) / 2.0 - 3.0;
        for s in [0, 1] {
            for (bin, count) in counts[s].iter().enumerate().filter(|(_, c)| **c > 0) {
                let high = share(s, *count) / most * half;
                let (l, r) = (x(edges[bin]), x(edges[bin + 1]));
                let top = if s == 0 { middle - high } else { middle };
                let condition = if s == 0 {
                    "symptom only"
                } else {
                    "with context"
                };
                mark(
                    &mut sheet.scene,
                    Mark {
                        tip: format!(
                            "{}, {condition}: {} of {} to under {} steps",
                            panel.name,
                            plural(*count as usize, "run", "runs"),
                            words::short(edges[bin]),
                            words::short(edges[bin + 1])
                        ),
                        href: None,
                        data: vec![
                            ("configuration", panel.name.clone()),
                            ("condition", condition.to_owned()),
                        ],
                        shapes: FILLS[s].shapes((l + 0.5, top), ((r - l - 1.0).max(0.8), high)),
                    },
                );
            }
            if let Some(median) = medians[s] {
                let at = x(median);
                let (from, to) = if s == 0 {
                    (area.top, middle)
                } else {
                    (middle, area.bottom)
                };
                sheet
                    .scene
                    .dashed(&[(at, from), (at, to)], Paint::Ink, 1.2, DASH);
            }
        }
        sheet
            .scene
            .line((area.left, middle), (area.right, middle), Paint::Line, 1.0);
        sheet.scene.line(
            (area.left, area.bottom),
            (area.right, area.bottom),
            Paint::Line,
            1.0,
        );
        ticks_below(&mut sheet.scene, &scale, area, plain_tick);
    }
}

impl Figure for StepHistograms {
    const ID: &'static str = "step-histograms";
    const TITLE: &'static str = "Steps of each configuration";
    const SHOWS: &'static str = "Runs that ended by handing in, and no others: without context above the line, with context below it, both medians as broken lines. Heights are shares of a condition's runs.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.runs() == 0 {
            sheet.empty("No run that ended by handing in tells its steps yet.");
            return sheet.done();
        }
        sheet.legend(&[
            (Sample::Fill(FILLS[0]), "symptom only"),
            (Sample::Fill(FILLS[1]), "with context"),
            (Sample::Dashed(Paint::Ink, 1.2), "median"),
        ]);
        let edges = self.edges();
        let across = match self.panels.len() {
            1 => 1,
            2..=4 => 2,
            _ => 3,
        };
        let wide = (sheet.room() + 24.0) / f64::from(across);
        let top = sheet.y + 46.0;
        for (i, panel) in self.panels.iter().enumerate() {
            let (row, column) = (i / across as usize, i % across as usize);
            let upper = top + 206.0 * row as f64;
            let left = MARGIN + wide * column as f64;
            let area = Area {
                left,
                top: upper,
                right: left + wide - 24.0,
                bottom: upper + 130.0,
            };
            self.panel(&mut sheet, panel, area, &edges);
            sheet.y = upper + 150.0;
        }
        sheet.lines(
            "Across: steps of a run. Up and down: share of the condition's runs.",
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
        for p in &self.panels {
            let [a, b] = p
                .sides()
                .map(|s| percentile::median(&s).map_or_else(|| "unknown".to_owned(), words::short));
            out.push_str(&format!(
                " {}: median {a} steps without, {b} with context.",
                p.name
            ));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["configuration", "condition", "from", "below", "runs"]);
        let edges = self.edges();
        for p in &self.panels {
            for (values, condition) in p.sides().iter().zip(["symptom-only", "context-augmented"]) {
                let counted = histogram::count(edges.clone(), values, LastBin::Closed);
                for (ends, count) in counted.edges.windows(2).zip(&counted.counts) {
                    csv.row(&[
                        p.name.clone(),
                        condition.to_owned(),
                        ends[0].to_string(),
                        ends[1].to_string(),
                        count.to_string(),
                    ]);
                }
            }
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.panels.retain(|p| wanted(&p.name));
        true
    }
}
