//! `context-size`: how much an agent is given beside the symptom: tokens,
//! kilobytes and files of the bundles, and what kinds of evidence they hold.

use std::collections::BTreeMap;

use faultboard_domain::Track;
use faultboard_stats::distribution::Distribution;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::figures::cdf::stairs;
use crate::kit::bars::{self, Bar, BarRow, Section};
use crate::kit::glyph::{Fill, Glyph};
use crate::kit::mark;
use crate::kit::plane::{Plane, Scale, percent_tick, plain_tick};
use crate::kit::sheet::{MARGIN, Sheet, WIDTH};
use crate::kit::words;
use crate::scene::{Anchor, Area, Mark, Scene, Shape};
use crate::theme::{Paint, size};

/// The bundle of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BundleSize {
    /// The case.
    pub case: String,
    /// Tokens, estimated as 1.3 times the words.
    pub tokens: f64,
    /// Kilobytes (1,000 bytes).
    pub kilobytes: f64,
    /// Files.
    pub files: u32,
    /// Kinds of evidence in it, each once.
    pub kinds: Vec<String>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextSize {
    /// Release, date, filters.
    pub about: About,
    /// The bundle's name.
    pub bundle: String,
    /// One per case.
    pub cases: Vec<BundleSize>,
}

/// A measure: its title and how to read it from a bundle.
type Measure = (&'static str, fn(&BundleSize) -> f64);

const MEASURES: [Measure; 3] = [
    ("tokens (1.3 × words)", |b| b.tokens),
    ("kilobytes", |b| b.kilobytes),
    ("files", |b| b.files as f64),
];

impl ContextSize {
    fn n(&self) -> String {
        format!(
            "bundle {} · n = {}",
            self.bundle,
            plural(self.cases.len(), "case", "cases")
        )
    }

    fn distribution(&self, of: fn(&BundleSize) -> f64) -> Distribution {
        let values: Vec<f64> = self
            .cases
            .iter()
            .map(of)
            .filter(|v| v.is_finite())
            .collect();
        Distribution::new(&values)
    }

    /// Kinds with the cases that hold them, the most frequent first.
    fn kinds(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for case in &self.cases {
            for kind in &case.kinds {
                *counts.entry(kind).or_default() += 1;
            }
        }
        let mut kinds: Vec<_> = counts.into_iter().collect();
        kinds.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        kinds
    }
}

impl Figure for ContextSize {
    const ID: &'static str = "context-size";
    const TITLE: &'static str = "How much context a bundle holds";
    const SHOWS: &'static str = "Share of cases whose bundle has at most so many tokens, kilobytes and files, and in how many bundles each kind of evidence occurs.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.cases.is_empty() {
            sheet.empty("No case of this selection has a context bundle.");
            return sheet.done();
        }
        let wide = (sheet.room() + 14.0) / 3.0;
        let top = sheet.y + 42.0;
        for (i, (title, of)) in MEASURES.into_iter().enumerate() {
            let d = self.distribution(of);
            let left = MARGIN + wide * i as f64 + 36.0;
            let plane = Plane {
                area: Area {
                    left,
                    top,
                    right: MARGIN + wide * (i + 1) as f64 - 18.0,
                    bottom: top + 170.0,
                },
                x: Scale::from_zero(d.sorted().iter().copied(), 4),
                y: Scale::linear(0.0, 1.0, 4),
            };
            plane.y_axis(&mut sheet.scene, percent_tick);
            sheet.y = plane.x_axis(&mut sheet.scene, plain_tick, title);
            let Some(facts) = d.describe() else { continue };
            sheet.scene.text(
                (left, top - 12.0),
                Anchor::Start,
                size::SMALL,
                Paint::Ink2,
                format!(
                    "median {}, most {}",
                    words::short(facts.median),
                    words::short(facts.max)
                ),
            );
            sheet.scene.shape(Shape::Line {
                points: stairs(&plane, &d),
                stroke: Paint::Accent,
                width: 1.8,
            });
            let share = d.ecdf(facts.median).unwrap_or(0.5);
            mark(
                &mut sheet.scene,
                Mark {
                    tip: format!(
                        "{title}: median {}, from {} to {}",
                        words::short(facts.median),
                        words::short(facts.min),
                        words::short(facts.max)
                    ),
                    href: None,
                    data: vec![("measure", title.to_owned())],
                    shapes: Glyph::Disc(Paint::Accent).shapes(plane.at(facts.median, share), 4.5),
                },
            );
        }
        let all = self.cases.len();
        let rows = self
            .kinds()
            .into_iter()
            .map(|(kind, count)| BarRow {
                name: kind.to_owned(),
                bars: vec![Bar {
                    value: count as f64,
                    fill: Fill::Solid(Paint::Accent),
                    label: format!("{} % ({count})", percent(count as f64 / all as f64)),
                    tip: format!("{kind}: in {count} of {}", plural(all, "bundle", "bundles")),
                    data: vec![("kind", kind.to_owned())],
                }],
            })
            .collect::<Vec<_>>();
        if !rows.is_empty() {
            let (strip, top) = (bars::whole(&sheet), sheet.y);
            sheet.y = bars::draw(
                &mut sheet,
                strip,
                top,
                &[Section {
                    title:
                        "Cases whose bundle holds this kind of evidence (a bundle may hold several)"
                            .to_owned(),
                    rows,
                }],
            );
        }
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}, {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        for (title, of) in MEASURES {
            if let Some(d) = self.distribution(of).describe() {
                out.push_str(&format!(
                    " {title}: median {}, at most {}.",
                    words::short(d.median),
                    words::short(d.max)
                ));
            }
        }
        for (kind, count) in self.kinds() {
            out.push_str(&format!(" {kind}: {count}."));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["case", "tokens", "kilobytes", "files", "kinds"]);
        for c in &self.cases {
            csv.row(&[
                c.case.clone(),
                field(Some(c.tokens)),
                field(Some(c.kilobytes)),
                c.files.to_string(),
                c.kinds.join("; "),
            ]);
        }
        csv.finish()
    }
}
