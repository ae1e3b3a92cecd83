//! `per-system` and `leave-one-out`: whether a board hangs on one system. Block
//! coverage on each system, and what becomes of a row's mean and of its gap
//! between files and blocks without each.

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::kit::cells::{self, Cell, Table};
use crate::kit::finite;
use crate::kit::glyph::{Fill, Glyph};
use crate::kit::sheet::{MARGIN, Sample, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::Scene;
use crate::theme::Paint;

/// A configuration on one system, or without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemValue {
    /// Block coverage, a fraction.
    pub block: Option<f64>,
    /// Its interval.
    #[serde(default)]
    pub block_ci95: Option<(f64, f64)>,
    /// File coverage, a fraction.
    pub file: Option<f64>,
    /// Cases behind it.
    pub n: u32,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemRow {
    /// Its name.
    pub name: String,
    /// Its block coverage over all systems.
    pub block: Option<f64>,
    /// Its file coverage over all systems.
    pub file: Option<f64>,
    /// One per system, in their order.
    pub values: Vec<Option<SystemValue>>,
    /// Its page: an address of the site.
    #[serde(default)]
    pub href: Option<String>,
}

/// The data of `per-system`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerSystem {
    /// Release, date, filters.
    pub about: About,
    /// Cases.
    pub cases: u32,
    /// The systems, by name.
    pub systems: Vec<String>,
    /// The configurations, in the order of the board.
    pub rows: Vec<SystemRow>,
}

/// The data of `leave-one-out`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaveOneOut {
    /// Release, date, filters.
    pub about: About,
    /// Cases.
    pub cases: u32,
    /// The systems that are left out, by name.
    pub systems: Vec<String>,
    /// The configurations, in the order of the board.
    pub rows: Vec<SystemRow>,
}

fn n(rows: &[SystemRow], systems: &[String], cases: u32) -> String {
    format!(
        "{} × {} · n = {}",
        plural(rows.len(), "configuration", "configurations"),
        plural(systems.len(), "system", "systems"),
        plural(cases as usize, "case", "cases")
    )
}

fn gap(file: Option<f64>, block: Option<f64>) -> Option<f64> {
    Some(finite(file)? - finite(block)?)
}

/// A table of the rows, whose cells are made by `cell`.
fn table(
    sheet: &Sheet,
    rows: &[SystemRow],
    systems: &[String],
    first: (&str, fn(&SystemRow) -> Cell),
    cell: &dyn Fn(&SystemRow, usize, &SystemValue) -> Cell,
) -> Table {
    let names = 260.0;
    let columns = systems.len() + 1;
    let wide = ((sheet.room() - names - 12.0) / columns as f64).clamp(38.0, 96.0);
    Table {
        rows: rows.iter().map(|r| r.name.clone()).collect(),
        columns: std::iter::once(first.0.to_owned())
            .chain(systems.iter().cloned())
            .collect(),
        cells: rows
            .iter()
            .map(|row| {
                std::iter::once(Some(first.1(row)))
                    .chain((0..systems.len()).map(|i| {
                        let value = row.values.get(i)?.as_ref()?;
                        Some(cell(row, i, value))
                    }))
                    .collect()
            })
            .collect(),
        pitch: (wide, 24.0),
        names,
        upward: true,
    }
}

fn width(systems: usize) -> f64 {
    WIDTH.max(MARGIN * 2.0 + 272.0 + 38.0 * (systems + 1) as f64)
}

fn step(share: Option<f64>) -> Paint {
    match finite(share) {
        Some(v) if v >= 0.75 => Paint::Tint3,
        Some(v) if v >= 0.5 => Paint::Tint2,
        Some(v) if v >= 0.25 => Paint::Tint1,
        _ => Paint::Paper,
    }
}

fn summary(rows: &[SystemRow], systems: &[String], lead: String, left_out: bool) -> String {
    let mut out = lead;
    for row in rows {
        let parts: Vec<String> = systems
            .iter()
            .zip(&row.values)
            .filter_map(|(s, v)| {
                let v = v.as_ref()?;
                let word = if left_out { "without " } else { "" };
                Some(format!("{word}{s} {} %", words::share(v.block)))
            })
            .collect();
        out.push_str(&format!(
            " {}: {} % in all; {}.",
            row.name,
            words::share(row.block),
            parts.join(", ")
        ));
    }
    out
}

fn csv(rows: &[SystemRow], systems: &[String], head: &str) -> String {
    let mut csv = Csv::new(&[
        "configuration",
        head,
        "n",
        "block_coverage",
        "block_low",
        "block_high",
        "delta_to_all",
        "file_coverage",
        "file_block_gap",
    ]);
    for row in rows {
        for (system, value) in systems.iter().zip(&row.values) {
            let Some(v) = value else { continue };
            csv.row(&[
                row.name.clone(),
                system.clone(),
                v.n.to_string(),
                field(v.block),
                field(v.block_ci95.map(|c| c.0)),
                field(v.block_ci95.map(|c| c.1)),
                field(v.block.zip(row.block).map(|(v, all)| v - all)),
                field(v.file),
                field(gap(v.file, v.block)),
            ]);
        }
    }
    csv.finish()
}

fn all_cell(row: &SystemRow) -> Cell {
    Cell {
        fill: step(row.block),
        words: words::share(row.block),
        glyph: None,
        tip: format!(
            "{}: {} % block coverage over all systems",
            row.name,
            words::share(row.block)
        ),
        href: row.href.clone(),
        data: vec![("configuration", row.name.clone())],
    }
}

impl Figure for PerSystem {
    const ID: &'static str = "per-system";
    const TITLE: &'static str = "Block coverage on each system";
    const SHOWS: &'static str = "Mean block coverage of every configuration on the cases of each system; the interval, file coverage and numbers of cases on each cell and in the downloads.";
    const TRACKS: &'static [Track] = &[Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(
            width(self.systems.len()),
            &n(&self.rows, &self.systems, self.cases),
            &self.about,
        );
        if self.rows.is_empty() || self.systems.is_empty() {
            sheet.empty("No configuration has a scored diagnosis yet.");
            return sheet.done();
        }
        sheet.legend(&[
            (Sample::Fill(Fill::Solid(Paint::Tint3)), "75 % and more"),
            (Sample::Fill(Fill::Solid(Paint::Tint2)), "50 to 75 %"),
            (Sample::Fill(Fill::Solid(Paint::Tint1)), "25 to 50 %"),
            (Sample::Fill(Fill::Frame(Paint::Grid)), "below 25 %"),
        ]);
        let cell = |row: &SystemRow, i: usize, v: &SystemValue| Cell {
            fill: step(v.block),
            words: words::share(v.block),
            glyph: None,
            tip: format!(
                "{} on {}: {} % block coverage{}, {} % file coverage, {}",
                row.name,
                self.systems[i],
                words::share(v.block),
                words::interval(v.block_ci95, words::share),
                words::share(v.file),
                plural(v.n as usize, "case", "cases")
            ),
            href: row.href.clone(),
            data: vec![
                ("configuration", row.name.clone()),
                ("system", self.systems[i].clone()),
            ],
        };
        let table = table(
            &sheet,
            &self.rows,
            &self.systems,
            ("all systems", all_cell),
            &cell,
        );
        let top = sheet.y + 4.0;
        sheet.y = cells::draw(&mut sheet, MARGIN, top, &table).1;
        sheet.lines("Cells: block coverage, %.", Paint::Ink2);
        sheet.done()
    }

    fn summary(&self) -> String {
        let lead = format!(
            "Block coverage: {}, {}.",
            n(&self.rows, &self.systems, self.cases).replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        summary(&self.rows, &self.systems, lead, false)
    }

    fn csv(&self) -> String {
        csv(&self.rows, &self.systems, "system")
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}

impl Figure for LeaveOneOut {
    const ID: &'static str = "leave-one-out";
    const TITLE: &'static str = "Does one system carry a row?";
    const SHOWS: &'static str = "How each configuration's block coverage changes, in points, when the cases of one system are left out; below, its gap between file and block coverage without that system.";
    const TRACKS: &'static [Track] = &[Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(
            width(self.systems.len()),
            &n(&self.rows, &self.systems, self.cases),
            &self.about,
        );
        if self.rows.is_empty() || self.systems.len() < 2 {
            sheet.empty("It takes cases of two systems to leave one out.");
            return sheet.done();
        }
        sheet.legend(&[
            (
                Sample::Fill(Fill::Solid(Paint::GainTint)),
                "the mean rises by a point or more without this system (+)",
            ),
            (
                Sample::Fill(Fill::Solid(Paint::LossTint)),
                "it falls by a point or more (−)",
            ),
        ]);
        sheet.heading("Block coverage: in all, then the change without each system, points");
        let delta = |row: &SystemRow, i: usize, v: &SystemValue| {
            let change = v.block.zip(row.block).map(|(v, all)| v - all);
            Cell {
                fill: match change {
                    Some(d) if d >= 0.01 => Paint::GainTint,
                    Some(d) if d <= -0.01 => Paint::LossTint,
                    _ => Paint::Paper,
                },
                words: words::points(change),
                glyph: match change {
                    Some(d) if d >= 0.01 => Some(Glyph::Up(Paint::Gain)),
                    Some(d) if d <= -0.01 => Some(Glyph::Down(Paint::Loss)),
                    _ => None,
                },
                tip: format!(
                    "{} without {}: {} % block coverage, {} points, {} left",
                    row.name,
                    self.systems[i],
                    words::share(v.block),
                    words::points(change),
                    plural(v.n as usize, "case", "cases")
                ),
                href: row.href.clone(),
                data: vec![
                    ("configuration", row.name.clone()),
                    ("without", self.systems[i].clone()),
                ],
            }
        };
        let first = table(
            &sheet,
            &self.rows,
            &self.systems,
            ("in all", all_cell),
            &delta,
        );
        let top = sheet.y;
        sheet.y = cells::draw(&mut sheet, MARGIN, top, &first).1;
        sheet
            .heading("File coverage less block coverage: in all, then without each system, points");
        let gaps = |row: &SystemRow, i: usize, v: &SystemValue| Cell {
            fill: step(gap(v.file, v.block)),
            words: gap(v.file, v.block).map_or_else(|| "–".to_owned(), percent),
            glyph: None,
            tip: format!(
                "{} without {}: {} % file coverage, {} % block coverage",
                row.name,
                self.systems[i],
                words::share(v.file),
                words::share(v.block)
            ),
            href: row.href.clone(),
            data: vec![
                ("configuration", row.name.clone()),
                ("without", self.systems[i].clone()),
            ],
        };
        let second = table(
            &sheet,
            &self.rows,
            &self.systems,
            ("in all", |row| Cell {
                fill: step(gap(row.file, row.block)),
                words: gap(row.file, row.block).map_or_else(|| "–".to_owned(), percent),
                glyph: None,
                tip: format!(
                    "{}: {} % file coverage, {} % block coverage",
                    row.name,
                    words::share(row.file),
                    words::share(row.block)
                ),
                href: row.href.clone(),
                data: vec![("configuration", row.name.clone())],
            }),
            &gaps,
        );
        let top = sheet.y;
        sheet.y = cells::draw(&mut sheet, MARGIN, top, &second).1;
        sheet.done()
    }

    fn summary(&self) -> String {
        let lead = format!(
            "Block coverage without each system: {}, {}.",
            n(&self.rows, &self.systems, self.cases).replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        summary(&self.rows, &self.systems, lead, true)
    }

    fn csv(&self) -> String {
        csv(&self.rows, &self.systems, "without_system")
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}
