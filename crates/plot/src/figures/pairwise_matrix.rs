//! `pairwise-matrix`: which pairs of configurations the cases tell apart, and,
//! beside it, which pairs published rates of another benchmark tell apart.

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::kit::cells::{self, Cell, Table};
use crate::kit::finite;
use crate::kit::glyph::{Fill, Glyph};
use crate::kit::sheet::{MARGIN, Sample, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::Scene;
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// A configuration in a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelRow {
    /// Its name.
    pub name: String,
    /// Its rate, a fraction.
    pub rate: Option<f64>,
}

/// A pair: the first row less the second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelPair {
    /// Position of the first.
    pub a: usize,
    /// Position of the second.
    pub b: usize,
    /// First minus second, a fraction.
    pub difference: Option<f64>,
    /// Unadjusted p.
    pub p: Option<f64>,
    /// Holm-adjusted p.
    pub p_holm: Option<f64>,
}

/// One matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// What is compared: `pass rate, symptom only`.
    pub title: String,
    /// Whether it is published elsewhere and was not verified here.
    pub reported: bool,
    /// Where it is from, if reported.
    pub source: String,
    /// Cases or tasks behind each rate.
    pub n: u32,
    /// The rows, best first.
    pub rows: Vec<PanelRow>,
    /// Every pair once.
    pub pairs: Vec<PanelPair>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairwiseMatrix {
    /// Release, date, filters.
    pub about: About,
    /// This board's matrix, then reported ones.
    pub panels: Vec<Panel>,
}

/// In which step of significance a p lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Strong,
    Clear,
    None,
    Unknown,
}

impl Step {
    fn of(p: Option<f64>) -> Self {
        match finite(p) {
            None => Step::Unknown,
            Some(p) if p < 0.01 => Step::Strong,
            Some(p) if p < 0.05 => Step::Clear,
            Some(_) => Step::None,
        }
    }

    fn ground(self) -> Paint {
        match self {
            Step::Strong => Paint::Tint3,
            Step::Clear => Paint::Tint1,
            Step::None | Step::Unknown => Paint::Paper,
        }
    }

    fn glyph(self) -> Option<Glyph> {
        match self {
            Step::Strong => Some(Glyph::Disc(Paint::Ink)),
            Step::Clear => Some(Glyph::Ring(Paint::Ink)),
            Step::None => Some(Glyph::Square(Paint::Grid)),
            Step::Unknown => None,
        }
    }
}

fn short_p(p: f64) -> String {
    if p < 0.001 {
        "<.001".to_owned()
    } else if p >= 0.9995 {
        "1".to_owned()
    } else {
        format!("{p:.3}").replacen("0.", ".", 1)
    }
}

impl Panel {
    fn told_apart(&self) -> (usize, usize) {
        let known = self.pairs.iter().filter(|p| p.p.is_some()).count();
        let apart = self
            .pairs
            .iter()
            .filter(|p| p.p.is_some_and(|p| p < 0.05))
            .count();
        (apart, known)
    }

    fn tip(&self, pair: &PanelPair) -> String {
        let name = |i: usize| self.rows.get(i).map_or("", |r| r.name.as_str());
        format!(
            "{} less {}: {} points, {}, Holm-adjusted {}",
            name(pair.a),
            name(pair.b),
            words::points(pair.difference),
            words::p_value(pair.p),
            words::p_value(pair.p_holm)
        )
    }

    /// Below the diagonal p, above it the difference.
    fn table(&self, room: f64) -> Table {
        let n = self.rows.len();
        let names = (room * 0.36).min(270.0);
        let wide = ((room - names - 12.0) / n.max(1) as f64).clamp(11.0, 50.0);
        let high = wide.min(24.0).max(if wide < 24.0 { 11.0 } else { 24.0 });
        let mut cells: Vec<Vec<Option<Cell>>> = vec![vec![None; n]; n];
        for pair in &self.pairs {
            if pair.a >= n || pair.b >= n || pair.a == pair.b {
                continue;
            }
            let (upper, lower) = (pair.a.min(pair.b), pair.a.max(pair.b));
            let sign = if pair.a < pair.b { 1.0 } else { -1.0 };
            let step = Step::of(pair.p);
            let data = vec![
                ("first", self.rows[pair.a].name.clone()),
                ("second", self.rows[pair.b].name.clone()),
            ];
            cells[lower][upper] = Some(Cell {
                fill: step.ground(),
                words: finite(pair.p).map_or_else(String::new, short_p),
                glyph: step.glyph(),
                tip: self.tip(pair),
                href: None,
                data: data.clone(),
            });
            let difference = finite(pair.difference).map(|d| d * sign);
            cells[upper][lower] = Some(Cell {
                fill: step.ground(),
                words: words::points(difference),
                glyph: match difference {
                    Some(d) if d > 0.0 => Some(Glyph::Up(Paint::Ink2)),
                    Some(d) if d < 0.0 => Some(Glyph::Down(Paint::Ink2)),
                    _ => None,
                },
                tip: self.tip(pair),
                href: None,
                data,
            });
        }
        Table {
            rows: self
                .rows
                .iter()
                .enumerate()
                .map(|(i, r)| {
                    let rate = r
                        .rate
                        .map_or_else(String::new, |r| format!(" · {}", percent(r)));
                    let end = format!("{rate}  {}", i + 1);
                    // A long name is cut before its number, which the columns bear.
                    let room = names - text::width(&end, size::TEXT, Weight::Regular);
                    let name = text::fit(&r.name, size::TEXT, Weight::Regular, room - 1.0);
                    format!("{name}{end}")
                })
                .collect(),
            columns: (1..=n).map(|i| i.to_string()).collect(),
            cells,
            pitch: (wide, high),
            names,
            upward: wide < 20.0,
        }
    }
}

impl PairwiseMatrix {
    fn n(&self) -> String {
        match self.panels.first() {
            Some(p) => format!(
                "{} · n = {}",
                plural(p.pairs.len(), "pair", "pairs"),
                plural(p.n as usize, "case", "cases")
            ),
            None => "n = 0 cases".to_owned(),
        }
    }
}

impl Figure for PairwiseMatrix {
    const ID: &'static str = "pairwise-matrix";
    const TITLE: &'static str = "Which configurations the cases tell apart";
    const SHOWS: &'static str = "For every pair: the difference in points above the diagonal, the unadjusted p of the paired bootstrap below it; Holm-adjusted p on each cell and in the downloads. Published rates of another benchmark stand beside it, as reported and not verified.";
    const TRACKS: &'static [Track] = &[Track::Repair, Track::Diagnosis];

    fn scene(&self) -> Scene {
        let most = self.panels.iter().map(|p| p.rows.len()).max().unwrap_or(0);
        let width = WIDTH.max(MARGIN * 2.0 + 290.0 + 12.0 * most as f64);
        let mut sheet = Sheet::of::<Self>(width, &self.n(), &self.about);
        if self.panels.iter().all(|p| p.rows.len() < 2) {
            sheet.empty("It takes two configurations to compare; they stand here once a second one is published.");
            return sheet.done();
        }
        sheet.legend(&[
            (Sample::Fill(Fill::Solid(Paint::Tint3)), "p < 0.01 (●)"),
            (Sample::Fill(Fill::Solid(Paint::Tint1)), "p < 0.05 (○)"),
            (Sample::Fill(Fill::Frame(Paint::Grid)), "not told apart"),
        ]);
        for panel in self.panels.iter().filter(|p| p.rows.len() > 1) {
            let (apart, known) = panel.told_apart();
            let reported = if panel.reported {
                " · reported, not verified"
            } else {
                ""
            };
            sheet.heading(&format!(
                "{} · {apart} of {known} pairs at p < 0.05{reported}",
                panel.title
            ));
            if !panel.source.is_empty() {
                sheet.lines(&format!("Source: {}", panel.source), Paint::Ink2);
            }
            let table = panel.table(sheet.room());
            let top = sheet.y + 2.0;
            let (_, bottom) = cells::draw(&mut sheet, MARGIN, top, &table);
            sheet.y = bottom + 4.0;
        }
        sheet.lines(
            "Above the diagonal: row less column, in points. Below it: unadjusted p.",
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
            let (apart, known) = p.told_apart();
            out.push_str(&format!(
                " {}{}: {apart} of {known} pairs differ at p below 0.05.",
                p.title,
                if p.reported {
                    " (reported, not verified)"
                } else {
                    ""
                }
            ));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "measure",
            "reported",
            "first",
            "second",
            "difference",
            "p",
            "p_holm",
            "n",
        ]);
        for panel in &self.panels {
            for pair in &panel.pairs {
                let name = |i: usize| panel.rows.get(i).map_or("", |r| r.name.as_str()).to_owned();
                csv.row(&[
                    panel.title.clone(),
                    panel.reported.to_string(),
                    name(pair.a),
                    name(pair.b),
                    field(pair.difference),
                    field(pair.p),
                    field(pair.p_holm),
                    panel.n.to_string(),
                ]);
            }
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        for panel in self.panels.iter_mut().filter(|p| !p.reported) {
            let mut places = vec![None; panel.rows.len()];
            let mut next = 0;
            for (i, row) in panel.rows.iter().enumerate() {
                if wanted(&row.name) {
                    places[i] = Some(next);
                    next += 1;
                }
            }
            panel.rows.retain(|r| wanted(&r.name));
            panel.pairs.retain_mut(|pair| {
                let place = |i: usize| places.get(i).copied().flatten();
                match (place(pair.a), place(pair.b)) {
                    (Some(a), Some(b)) => {
                        (pair.a, pair.b) = (a, b);
                        true
                    }
                    _ => false,
                }
            });
        }
        true
    }
}
