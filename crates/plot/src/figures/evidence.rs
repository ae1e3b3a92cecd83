//! `evidence-grid` and `evidence-delta`: block and line coverage by how the
//! report speaks of the code: what its text names, and how far its crash is from
//! the cause.

use faultboard_domain::Track;
use faultboard_domain::case::{CrashDistance, TextAnchor};
use faultboard_domain::score::Estimate;
use faultboard_domain::view::Difference;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, plural};
use crate::kit::glyph::Glyph;
use crate::kit::mark;
use crate::kit::plane::Scale;
use crate::kit::sheet::{DASH, MARGIN, Sample, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::{Anchor, Mark, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// The cases of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceCell {
    /// What the report's text names.
    pub text_anchor: TextAnchor,
    /// How far the crash is from the cause.
    pub crash_distance: CrashDistance,
    /// Block coverage.
    pub block: Option<Estimate>,
    /// Line coverage.
    pub line: Option<Estimate>,
}

/// The data of `evidence-grid`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceGrid {
    /// Release, date, filters.
    pub about: About,
    /// Whose coverage: one configuration, or all of them pooled.
    pub of: String,
    /// The cells that hold a case.
    pub cells: Vec<EvidenceCell>,
}

/// The cases of one cell, as differences of two configurations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeltaCell {
    /// What the report's text names.
    pub text_anchor: TextAnchor,
    /// How far the crash is from the cause.
    pub crash_distance: CrashDistance,
    /// Difference of block coverage.
    pub block: Option<Difference>,
    /// Difference of line coverage.
    pub line: Option<Difference>,
}

/// The data of `evidence-delta`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceDelta {
    /// Release, date, filters.
    pub about: About,
    /// The configuration that is compared.
    pub candidate: String,
    /// The configuration that it is compared with.
    pub reference: String,
    /// The cells that hold a case of both.
    pub cells: Vec<DeltaCell>,
}

/// A whisker in a cell.
struct Whisker {
    value: f64,
    ci95: Option<(f64, f64)>,
    n: u32,
    words: String,
}

/// A cell to be drawn: where, and block and line.
type Drawn = (TextAnchor, CrashDistance, [Option<Whisker>; 2]);

const LEVELS: [(&str, Glyph); 2] = [
    ("block", Glyph::Disc(Paint::Accent)),
    ("line", Glyph::Ring(Paint::Ink2)),
];

fn anchor_words(a: TextAnchor) -> &'static str {
    match a {
        TextAnchor::Opaque => "names nothing",
        TextAnchor::NamesFileOrClass => "names a file or class",
        TextAnchor::NamesMethod => "names a method",
    }
}

fn distance_words(d: CrashDistance) -> &'static str {
    match d {
        CrashDistance::None => "no crash",
        CrashDistance::Local => "crash in the function",
        CrashDistance::Adjacent => "in the same component",
        CrashDistance::CrossComponent => "in another component",
    }
}

fn draw(sheet: &mut Sheet, cells: &[Drawn], scale: &Scale, tick: fn(f64) -> String, zero: bool) {
    // The grid has no column of cases without a crash unless there are such cases.
    let distances: Vec<CrashDistance> = CrashDistance::ALL
        .iter()
        .copied()
        .filter(|d| *d != CrashDistance::None || cells.iter().any(|c| c.1 == *d))
        .collect();
    let names = 132.0;
    let wide = (sheet.room() - names) / distances.len() as f64;
    let high = 112.0;
    let top = sheet.y + 40.0;
    let left = MARGIN + names;
    for (c, d) in distances.iter().enumerate() {
        let words = text::fit(distance_words(*d), size::SMALL, Weight::Regular, wide - 8.0);
        sheet.scene.text(
            (left + wide * (c as f64 + 0.5), top - 10.0),
            Anchor::Middle,
            size::SMALL,
            Paint::Ink2,
            words,
        );
    }
    for (r, a) in TextAnchor::ALL.iter().enumerate() {
        let y = top + (high + 8.0) * r as f64;
        sheet.scene.text(
            (left - 12.0, y + high / 2.0 + 4.0),
            Anchor::End,
            size::SMALL,
            Paint::Ink2,
            anchor_words(*a),
        );
        for (c, d) in distances.iter().enumerate() {
            let x0 = left + wide * c as f64;
            let inner = wide - 8.0;
            let frame = [
                (x0, y),
                (x0 + inner, y),
                (x0 + inner, y + high),
                (x0, y + high),
                (x0, y),
            ];
            sheet.scene.shape(Shape::Line {
                points: frame.to_vec(),
                stroke: Paint::Line,
                width: 1.0,
            });
            let x = |v: f64| x0 + 12.0 + scale.share(v) * (inner - 24.0);
            for t in scale.ticks() {
                sheet.scene.line(
                    (x(*t), y + 42.0),
                    (x(*t), y + high - 18.0),
                    Paint::Grid,
                    1.0,
                );
            }
            if zero {
                let line = [(x(0.0), y + 42.0), (x(0.0), y + high - 18.0)];
                sheet.scene.dashed(&line, Paint::Ink2, 1.0, DASH);
            }
            let mut free = x0;
            for t in scale.ticks() {
                let words = tick(*t);
                let half = text::width(&words, size::LEAST, Weight::Regular) / 2.0;
                if x(*t) - half < free || x(*t) + half > x0 + inner {
                    continue;
                }
                free = x(*t) + half + 5.0;
                sheet.scene.text(
                    (x(*t), y + high - 6.0),
                    Anchor::Middle,
                    size::LEAST,
                    Paint::Ink2,
                    words,
                );
            }
            let found = cells.iter().find(|cell| cell.0 == *a && cell.1 == *d);
            let n = found
                .and_then(|f| f.2.iter().flatten().map(|w| w.n).max())
                .unwrap_or(0);
            let mut told = Vec::new();
            for (k, (level, glyph)) in LEVELS.into_iter().enumerate() {
                let Some(w) = found.and_then(|f| f.2[k].as_ref()) else {
                    continue;
                };
                if !w.value.is_finite() {
                    continue;
                }
                told.push(format!("{level} {}", w.words));
                let middle = y + 54.0 + 22.0 * k as f64;
                let mut shapes = Vec::new();
                if let Some((low, high)) = w.ci95 {
                    for (from, to) in [
                        ((x(low), middle), (x(high), middle)),
                        ((x(low), middle - 3.0), (x(low), middle + 3.0)),
                        ((x(high), middle - 3.0), (x(high), middle + 3.0)),
                    ] {
                        shapes.push(Shape::Line {
                            points: vec![from, to],
                            stroke: Paint::Ink2,
                            width: 1.1,
                        });
                    }
                }
                shapes.extend(glyph.shapes((x(w.value), middle), 4.2));
                mark(
                    &mut sheet.scene,
                    Mark {
                        tip: format!(
                            "text {}, {}: {level} coverage {} on {}",
                            anchor_words(*a),
                            distance_words(*d),
                            w.words,
                            plural(w.n as usize, "case", "cases")
                        ),
                        href: None,
                        data: vec![
                            ("anchor", a.as_str().to_owned()),
                            ("distance", d.as_str().to_owned()),
                            ("level", level.to_owned()),
                        ],
                        shapes,
                    },
                );
            }
            let n_words = plural(n as usize, "case", "cases");
            for (line, words) in [n_words, told.join(" · ")].into_iter().enumerate() {
                let words = text::fit(&words, size::SMALL, Weight::Regular, inner - 10.0);
                sheet.scene.text(
                    (x0 + 6.0, y + 15.0 + 16.0 * line as f64),
                    Anchor::Start,
                    size::SMALL,
                    if line == 0 { Paint::Ink2 } else { Paint::Ink },
                    words,
                );
            }
        }
    }
    sheet.y = top + (high + 8.0) * TextAnchor::ALL.len() as f64;
}

fn legend(sheet: &mut Sheet, what: &str) {
    let words = LEVELS.map(|(level, _)| format!("{level} {what}, with 95 % interval"));
    sheet.legend(&[
        (Sample::Glyph(LEVELS[0].1), words[0].as_str()),
        (Sample::Glyph(LEVELS[1].1), words[1].as_str()),
    ]);
}

impl EvidenceGrid {
    fn n(&self) -> String {
        let cases: u32 = self.cells.iter().map(|c| c.block.map_or(0, |e| e.n)).sum();
        format!(
            "{} · n = {}",
            self.of,
            plural(cases as usize, "case", "cases")
        )
    }
}

impl EvidenceDelta {
    fn n(&self) -> String {
        let cases: u32 = self.cells.iter().map(|c| c.block.map_or(0, |e| e.n)).sum();
        format!(
            "{} less {} · n = {}",
            self.candidate,
            self.reference,
            plural(cases as usize, "case", "cases")
        )
    }
}

impl Figure for EvidenceGrid {
    const ID: &'static str = "evidence-grid";
    const TITLE: &'static str = "Coverage by what the report gives away";
    const SHOWS: &'static str = "Rows: what the report's text names. Columns: how far its crash is from the cause. Each cell: mean block and line coverage with interval, and how many cases it holds.";
    const TRACKS: &'static [Track] = &[Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.cells.is_empty() {
            sheet.empty("No case of this selection has a scored diagnosis yet.");
            return sheet.done();
        }
        legend(&mut sheet, "coverage");
        let whisker = |e: &Option<Estimate>| {
            e.map(|e| Whisker {
                value: e.mean,
                ci95: e.ci95,
                n: e.n,
                words: format!("{} %", words::share(Some(e.mean))),
            })
        };
        let cells: Vec<Drawn> = self
            .cells
            .iter()
            .map(|c| {
                (
                    c.text_anchor,
                    c.crash_distance,
                    [whisker(&c.block), whisker(&c.line)],
                )
            })
            .collect();
        draw(
            &mut sheet,
            &cells,
            &Scale::linear(0.0, 1.0, 4),
            crate::kit::plane::percent_tick,
            false,
        );
        sheet.lines("Across each cell: coverage, %.", Paint::Ink2);
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}, {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        for c in &self.cells {
            out.push_str(&format!(
                " Text {}, {}: block {} %, line {} %, {}.",
                anchor_words(c.text_anchor),
                distance_words(c.crash_distance),
                words::share(c.block.map(|e| e.mean)),
                words::share(c.line.map(|e| e.mean)),
                plural(c.block.map_or(0, |e| e.n) as usize, "case", "cases")
            ));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "text_anchor",
            "crash_distance",
            "level",
            "coverage",
            "ci95_low",
            "ci95_high",
            "n",
        ]);
        for c in &self.cells {
            for (level, e) in [("block", c.block), ("line", c.line)] {
                csv.row(&[
                    c.text_anchor.as_str().to_owned(),
                    c.crash_distance.as_str().to_owned(),
                    level.to_owned(),
                    field(e.map(|e| e.mean)),
                    field(e.and_then(|e| e.ci95).map(|c| c.0)),
                    field(e.and_then(|e| e.ci95).map(|c| c.1)),
                    e.map_or_else(String::new, |e| e.n.to_string()),
                ]);
            }
        }
        csv.finish()
    }
}

impl Figure for EvidenceDelta {
    const ID: &'static str = "evidence-delta";
    const TITLE: &'static str = "Where two configurations differ, by what the report gives away";
    const SHOWS: &'static str = "The same grid as paired differences of the board's second row less its first, in points: where the interval leaves out zero, the two can be told apart.";
    const TRACKS: &'static [Track] = &[Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.cells.is_empty() {
            sheet.empty("It takes two configurations with cases in common.");
            return sheet.done();
        }
        legend(&mut sheet, "coverage, difference");
        let whisker = |d: &Option<Difference>| {
            d.map(|d| Whisker {
                value: d.mean,
                ci95: d.ci95,
                n: d.n,
                words: words::points(Some(d.mean)),
            })
        };
        let cells: Vec<Drawn> = self
            .cells
            .iter()
            .map(|c| {
                (
                    c.text_anchor,
                    c.crash_distance,
                    [whisker(&c.block), whisker(&c.line)],
                )
            })
            .collect();
        let ends = cells.iter().flat_map(|c| {
            c.2.iter().flatten().flat_map(|w| {
                let (low, high) = w.ci95.unwrap_or((w.value, w.value));
                [low, high, w.value]
            })
        });
        let scale = Scale::around_zero(ends, 7);
        draw(
            &mut sheet,
            &cells,
            &scale,
            crate::kit::plane::points_tick,
            true,
        );
        sheet.lines(
            "Across each cell: difference of coverage, points.",
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
        for c in &self.cells {
            if let Some(d) = &c.block {
                out.push_str(&format!(
                    " Text {}, {}: block {}.",
                    anchor_words(c.text_anchor),
                    distance_words(c.crash_distance),
                    words::difference(d)
                ));
            }
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "text_anchor",
            "crash_distance",
            "level",
            "candidate",
            "reference",
            "difference",
            "ci95_low",
            "ci95_high",
            "p",
            "n",
        ]);
        for c in &self.cells {
            for (level, d) in [("block", c.block), ("line", c.line)] {
                csv.row(&[
                    c.text_anchor.as_str().to_owned(),
                    c.crash_distance.as_str().to_owned(),
                    level.to_owned(),
                    self.candidate.clone(),
                    self.reference.clone(),
                    field(d.map(|d| d.mean)),
                    field(d.and_then(|d| d.ci95).map(|c| c.0)),
                    field(d.and_then(|d| d.ci95).map(|c| c.1)),
                    field(d.and_then(|d| d.p)),
                    d.map_or_else(String::new, |d| d.n.to_string()),
                ]);
            }
        }
        csv.finish()
    }
}
