//! `ablation`: what context adds as a function of which of its files were given.

use std::collections::BTreeSet;

use faultboard_domain::Track;
use faultboard_domain::score::Estimate;
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

/// Some of a bundle's files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationPart {
    /// The files that were given.
    pub files: Vec<String>,
    /// Configurations that ran with them.
    pub configurations: u32,
    /// Pass rate with them.
    pub rate: Option<Estimate>,
    /// The same less symptom only, paired by case.
    pub lift: Option<Difference>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ablation {
    /// Release, date, filters.
    pub about: About,
    /// The bundle.
    pub bundle: String,
    /// Its parts that were tried, the whole bundle among them.
    pub parts: Vec<AblationPart>,
}

impl Ablation {
    fn files(&self) -> BTreeSet<&str> {
        self.parts
            .iter()
            .flat_map(|p| p.files.iter().map(String::as_str))
            .collect()
    }

    fn name(&self, part: &AblationPart) -> String {
        let all = self.files();
        if !part.files.is_empty() && part.files.len() == all.len() && all.len() > 1 {
            format!("all: {}", part.files.join(" + "))
        } else if part.files.is_empty() {
            "no file".to_owned()
        } else {
            part.files.join(" + ")
        }
    }

    fn n(&self) -> String {
        let most = self.parts.iter().filter_map(|p| p.lift.map(|d| d.n)).max();
        format!(
            "bundle {} · {} · n = {}",
            self.bundle,
            plural(self.parts.len(), "part", "parts"),
            plural(most.unwrap_or(0) as usize, "case", "cases")
        )
    }
}

impl Figure for Ablation {
    const ID: &'static str = "ablation";
    const TITLE: &'static str = "Which files of a context bundle help";
    const SHOWS: &'static str = "Lift over symptom only for every part of a bundle that was tried, on the cases that both have.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.parts.is_empty() {
            sheet.empty("No part of a bundle was tried yet. Attempts whose context names some of a bundle's files stand here.");
            return sheet.done();
        }
        let glyph = Glyph::Disc(Paint::Accent);
        sheet.legend(&[(Sample::Glyph(glyph), "lift, with 95 % interval over cases")]);
        sheet.skip(8.0);
        let ends = self.parts.iter().filter_map(|p| p.lift).flat_map(|d| {
            let (low, high) = d.ci95.unwrap_or((d.mean, d.mean));
            [d.mean, low, high]
        });
        let scale = Scale::around_zero(ends, 6);
        let rows = self
            .parts
            .iter()
            .map(|p| Row {
                name: self.name(p),
                href: None,
                dots: vec![Dot {
                    value: p.lift.map(|d| d.mean),
                    ci95: p.lift.and_then(|d| d.ci95),
                    glyph,
                    tip: p.lift.as_ref().map_or_else(String::new, |d| {
                        format!("{}: {}", self.name(p), words::difference(d))
                    }),
                    data: vec![("files", p.files.join(" "))],
                }],
                cells: vec![
                    words::share(p.rate.map(|e| e.mean)),
                    words::points(p.lift.map(|d| d.mean)),
                    p.lift.map_or(0, |d| d.n).to_string(),
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
                title: "lift over symptom only, points",
                reference: Some(0.0),
                columns: vec![
                    column("pass rate, %", 86.0),
                    column("lift, points", 82.0),
                    column("cases", 48.0),
                ],
                names: 320.0,
            },
        );
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}, {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        for p in &self.parts {
            match &p.lift {
                Some(d) => out.push_str(&format!(" {}: {}.", self.name(p), words::difference(d))),
                None => out.push_str(&format!(" {}: no case in common.", self.name(p))),
            }
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "bundle",
            "files",
            "configurations",
            "pass_rate",
            "lift",
            "lift_low",
            "lift_high",
            "lift_p",
            "n",
        ]);
        for p in &self.parts {
            csv.row(&[
                self.bundle.clone(),
                p.files.join(" "),
                p.configurations.to_string(),
                field(p.rate.map(|e| e.mean)),
                field(p.lift.map(|d| d.mean)),
                field(p.lift.and_then(|d| d.ci95).map(|c| c.0)),
                field(p.lift.and_then(|d| d.ci95).map(|c| c.1)),
                field(p.lift.and_then(|d| d.p)),
                p.lift.map_or_else(String::new, |d| d.n.to_string()),
            ]);
        }
        csv.finish()
    }
}
