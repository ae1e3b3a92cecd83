//! `stability`: whether a configuration says the same each time. For every case
//! the range of its attempts' block coverage; beyond 20 points it is unstable.

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::kit::glyph::Glyph;
use crate::kit::mark;
use crate::kit::plane::{Scale, percent_tick, ticks_below};
use crate::kit::sheet::{DASH, MARGIN, Sample, Sheet, WIDTH, widest};
use crate::kit::words;
use crate::scene::{Anchor, Area, Mark, Scene};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// A case's attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseRange {
    /// The case.
    pub case: String,
    /// Largest less smallest block coverage of its attempts, a fraction.
    pub range: f64,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StabilityRow {
    /// Its name.
    pub name: String,
    /// Mean over cases of the attempts' standard deviation (ddof 1).
    pub within_case_sd: Option<f64>,
    /// Cases that range over more than 20 points.
    pub unstable: u32,
    /// The cases with two attempts or more.
    pub cases: Vec<CaseRange>,
    /// Its page: an address of the site.
    #[serde(default)]
    pub href: Option<String>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Release, date, filters.
    pub about: About,
    /// The configurations, in the order of the board.
    pub rows: Vec<StabilityRow>,
}

/// Beyond this range a case is unstable.
const LIMIT: f64 = 0.2;
/// Ranges this near each other share a mark.
const BINS: usize = 20;

impl Stability {
    fn n(&self) -> String {
        let most = self.rows.iter().map(|r| r.cases.len()).max().unwrap_or(0);
        format!(
            "{} · n = {}",
            plural(self.rows.len(), "configuration", "configurations"),
            plural(most, "case", "cases")
        )
    }
}

impl StabilityRow {
    /// Cases by range, those of no range first and alone: (from, to, cases).
    fn bins(&self) -> Vec<(f64, f64, Vec<&str>)> {
        let mut bins: Vec<Vec<&str>> = vec![Vec::new(); BINS + 1];
        for c in self.cases.iter().filter(|c| c.range.is_finite()) {
            let range = c.range.clamp(0.0, 1.0);
            // Just above an edge counts beyond it: 20 points are not unstable, more are.
            let bin = (range * BINS as f64 - 1e-9).ceil().max(0.0) as usize;
            bins[bin.min(BINS)].push(&c.case);
        }
        let width = 1.0 / BINS as f64;
        bins.into_iter()
            .enumerate()
            .filter(|(_, cases)| !cases.is_empty())
            .map(|(i, cases)| ((i as f64 - 1.0).max(0.0) * width, i as f64 * width, cases))
            .collect()
    }
}

impl Figure for Stability {
    const ID: &'static str = "stability";
    const TITLE: &'static str = "Does it say the same each time?";
    const SHOWS: &'static str = "Each mark stands for the cases whose attempts range over about as many points of block coverage; the larger, the more cases. Right of the broken line a case counts as unstable.";
    const TRACKS: &'static [Track] = &[Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.rows.iter().all(|r| r.cases.is_empty()) {
            sheet.empty("No case has two scored attempts of one configuration yet.");
            return sheet.done();
        }
        sheet.legend(&[
            (Sample::Glyph(Glyph::Disc(Paint::Accent)), "up to 20 points"),
            (
                Sample::Glyph(Glyph::Diamond(Paint::Loss)),
                "more than 20 points: unstable",
            ),
        ]);
        let names = widest(
            self.rows.iter().map(|r| r.name.as_str()),
            size::TEXT,
            Weight::Regular,
            280.0,
        );
        let pitch = 30.0;
        let top = sheet.y + 30.0;
        let area = Area {
            left: MARGIN + names + 24.0,
            top,
            right: WIDTH - MARGIN - 172.0,
            bottom: top + pitch * self.rows.len() as f64,
        };
        let scale = Scale::linear(0.0, 1.0, 5);
        let x = |v: f64| area.left + scale.share(v) * (area.right - area.left);
        for tick in scale.ticks() {
            sheet.scene.line(
                (x(*tick), area.top),
                (x(*tick), area.bottom),
                Paint::Grid,
                1.0,
            );
        }
        // Between the bin that ends at the limit and the one beyond it.
        let limit = x(LIMIT + 0.5 / BINS as f64);
        sheet.scene.dashed(
            &[(limit, area.top - 3.0), (limit, area.bottom)],
            Paint::Ink2,
            1.0,
            DASH,
        );
        let columns = [("SD, points", 84.0), ("unstable", 76.0)];
        let mut right = area.right + 12.0;
        for (head, wide) in columns {
            right += wide;
            sheet.scene.text(
                (right, area.top - 9.0),
                Anchor::End,
                size::SMALL,
                Paint::Ink2,
                head,
            );
        }
        let most = self
            .rows
            .iter()
            .flat_map(StabilityRow::bins)
            .map(|b| b.2.len())
            .max()
            .unwrap_or(1);
        for (i, row) in self.rows.iter().enumerate() {
            let middle = area.top + pitch * (i as f64 + 0.5);
            let baseline = middle + text::CAP * size::TEXT / 2.0;
            let name = text::fit(&row.name, size::TEXT, Weight::Regular, names.max(20.0));
            sheet.scene.text(
                (MARGIN + names, baseline),
                Anchor::End,
                size::TEXT,
                Paint::Ink,
                name,
            );
            let cells = [
                row.within_case_sd.map_or_else(|| "–".to_owned(), percent),
                format!("{} of {}", row.unstable, row.cases.len()),
            ];
            let mut right = area.right + 12.0;
            for (words, (_, wide)) in cells.into_iter().zip(columns) {
                right += wide;
                sheet.scene.text(
                    (right, baseline),
                    Anchor::End,
                    size::TEXT,
                    Paint::Ink,
                    words,
                );
            }
            for (from, to, cases) in row.bins() {
                let share = cases.len() as f64 / most as f64;
                let radius = 2.4 + 8.6 * share.sqrt();
                let beyond = to > LIMIT + 1e-9;
                let glyph = if beyond {
                    Glyph::Diamond(Paint::Loss)
                } else {
                    Glyph::Disc(Paint::Accent)
                };
                let range = if to <= 0.0 {
                    "no range".to_owned()
                } else {
                    format!(
                        "over {} to {} points",
                        words::share(Some(from)),
                        words::share(Some(to))
                    )
                };
                let mut named = cases
                    .iter()
                    .take(12)
                    .copied()
                    .collect::<Vec<_>>()
                    .join(", ");
                if cases.len() > 12 {
                    named.push_str(", ...");
                }
                mark(
                    &mut sheet.scene,
                    Mark {
                        tip: format!(
                            "{}: {}, {range} ({named})",
                            row.name,
                            plural(cases.len(), "case", "cases")
                        ),
                        href: row.href.clone(),
                        data: vec![("configuration", row.name.clone())],
                        shapes: glyph
                            .shapes((x(to), middle), if beyond { radius * 0.85 } else { radius }),
                    },
                );
            }
        }
        sheet.scene.line(
            (area.left, area.bottom),
            (area.right, area.bottom),
            Paint::Line,
            1.0,
        );
        ticks_below(&mut sheet.scene, &scale, area, percent_tick);
        sheet.y = area.bottom + 36.0;
        sheet.scene.text(
            (area.right, sheet.y),
            Anchor::End,
            size::SMALL,
            Paint::Ink2,
            "range of a case's attempts, points of block coverage",
        );
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}, {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        for r in &self.rows {
            out.push_str(&format!(
                " {}: {} of {} unstable, standard deviation within a case {} points.",
                r.name,
                r.unstable,
                plural(r.cases.len(), "case", "cases"),
                words::share(r.within_case_sd)
            ));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["configuration", "case", "range", "unstable"]);
        for r in &self.rows {
            for c in &r.cases {
                csv.row(&[
                    r.name.clone(),
                    c.case.clone(),
                    field(Some(c.range)),
                    (c.range > LIMIT + 1e-9).to_string(),
                ]);
            }
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}
