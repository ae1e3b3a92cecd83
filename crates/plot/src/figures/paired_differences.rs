//! `paired-differences`: every configuration against one reference, paired by case.

use faultboard_domain::Track;
use faultboard_domain::view::Difference;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, plural};
use crate::kit::forest::{self, Column, Dot, Forest, Row};
use crate::kit::glyph::Glyph;
use crate::kit::plane::{Scale, points_tick};
use crate::kit::sheet::{Sample, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::Scene;
use crate::theme::Paint;

/// A configuration against the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DifferenceRow {
    /// Its name.
    pub name: String,
    /// Its headline less the reference's, on the cases that both have.
    pub difference: Option<Difference>,
    /// Its page: an address of the site.
    #[serde(default)]
    pub href: Option<String>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedDifferences {
    /// Release, date, filters.
    pub about: About,
    /// What is compared: `block coverage`, `pass rate, symptom only`.
    pub measure: String,
    /// The reference: the board's first row.
    pub reference: String,
    /// The others, in the order of the board.
    pub rows: Vec<DifferenceRow>,
}

/// Clearly worse, clearly better, or not to be told apart.
fn glyph(d: &Difference) -> Glyph {
    match d.ci95 {
        Some((_, high)) if high < 0.0 => Glyph::Down(Paint::Loss),
        Some((low, _)) if low > 0.0 => Glyph::Up(Paint::Gain),
        _ => Glyph::Ring(Paint::Ink2),
    }
}

impl PairedDifferences {
    fn n(&self) -> String {
        let most = self
            .rows
            .iter()
            .filter_map(|r| r.difference.map(|d| d.n))
            .max();
        format!(
            "{} less that of {} · n = {}",
            self.measure,
            self.reference,
            plural(most.unwrap_or(0) as usize, "case", "cases")
        )
    }
}

impl Figure for PairedDifferences {
    const ID: &'static str = "paired-differences";
    const TITLE: &'static str = "Against the first row";
    const SHOWS: &'static str = "Each configuration's headline less that of the board's first row, on the cases that both have, with its 95 % bootstrap interval. An interval that leaves out zero tells the two apart.";
    const TRACKS: &'static [Track] = &[Track::Repair, Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.rows.is_empty() {
            sheet.empty("It takes two configurations to compare; they stand here once a second one is published.");
            return sheet.done();
        }
        sheet.legend(&[
            (
                Sample::Glyph(Glyph::Up(Paint::Gain)),
                "better, the interval leaves out 0",
            ),
            (
                Sample::Glyph(Glyph::Down(Paint::Loss)),
                "worse, the interval leaves out 0",
            ),
            (
                Sample::Glyph(Glyph::Ring(Paint::Ink2)),
                "not to be told apart",
            ),
        ]);
        sheet.skip(8.0);
        let ends = self.rows.iter().filter_map(|r| r.difference).flat_map(|d| {
            let (low, high) = d.ci95.unwrap_or((d.mean, d.mean));
            [d.mean, low, high]
        });
        let scale = Scale::around_zero(ends, 6);
        let rows = self
            .rows
            .iter()
            .map(|r| Row {
                name: r.name.clone(),
                href: r.href.clone(),
                dots: vec![Dot {
                    value: r.difference.map(|d| d.mean),
                    ci95: r.difference.and_then(|d| d.ci95),
                    glyph: r
                        .difference
                        .as_ref()
                        .map_or(Glyph::Ring(Paint::Ink2), glyph),
                    tip: r.difference.as_ref().map_or_else(String::new, |d| {
                        format!(
                            "{} less {}: {}",
                            r.name,
                            self.reference,
                            words::difference(d)
                        )
                    }),
                    data: vec![("configuration", r.name.clone())],
                }],
                cells: vec![
                    words::points(r.difference.map(|d| d.mean)),
                    words::p_alone(r.difference.and_then(|d| d.p)),
                    r.difference.map_or(0, |d| d.n).to_string(),
                ],
            })
            .collect();
        let column = |head, width| Column { head, width };
        forest::draw(
            &mut sheet,
            &Forest {
                rows,
                scale,
                format: points_tick,
                title: "difference, points",
                reference: Some(0.0),
                columns: vec![
                    column("points", 58.0),
                    column("p", 62.0),
                    column("cases", 48.0),
                ],
                names: 300.0,
            },
        );
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}; {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        for r in &self.rows {
            match &r.difference {
                Some(d) => out.push_str(&format!(" {}: {}.", r.name, words::difference(d))),
                None => out.push_str(&format!(" {}: no case in common.", r.name)),
            }
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "configuration",
            "reference",
            "measure",
            "difference",
            "ci95_low",
            "ci95_high",
            "p",
            "n",
        ]);
        for r in &self.rows {
            let d = r.difference;
            csv.row(&[
                r.name.clone(),
                self.reference.clone(),
                self.measure.clone(),
                field(d.map(|d| d.mean)),
                field(d.and_then(|d| d.ci95).map(|c| c.0)),
                field(d.and_then(|d| d.ci95).map(|c| c.1)),
                field(d.and_then(|d| d.p)),
                d.map_or_else(String::new, |d| d.n.to_string()),
            ]);
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}
