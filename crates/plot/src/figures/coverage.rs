//! `coverage`: what the cases of a release are of.

use std::collections::BTreeMap;

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, plural};
use crate::kit::bars::{self, Bar, BarRow, Section, Strip};
use crate::kit::glyph::Fill;
use crate::kit::sheet::{MARGIN, Sheet, WIDTH};
use crate::scene::Scene;
use crate::theme::Paint;

/// A case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredCase {
    /// Its id.
    pub case: String,
    /// Its system.
    pub system: String,
    /// Its language.
    pub language: String,
    /// Its kind of system.
    pub category: String,
    /// Its family.
    pub family: String,
    /// Its tier.
    pub tier: u8,
    /// The licence of its source.
    pub license: String,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Release, date, filters.
    pub about: About,
    /// The cases.
    pub cases: Vec<CoveredCase>,
}

/// A way to group cases: what it is called, and a case's group.
type Way = (&'static str, fn(&CoveredCase) -> String);

/// In which column of the sheet each way stands.
const WAYS: [&[Way]; 2] = [
    &[
        ("System", |c| c.system.clone()),
        ("Licence of the source", |c| c.license.clone()),
    ],
    &[
        ("Tier (1 is the hardest)", |c| format!("tier {}", c.tier)),
        ("Family", |c| c.family.replace('-', " ")),
        ("Category", |c| c.category.clone()),
        ("Language", |c| c.language.clone()),
    ],
];

impl Coverage {
    fn n(&self) -> String {
        let systems = self.groups(|c| c.system.clone()).len();
        format!(
            "n = {} of {}",
            plural(self.cases.len(), "case", "cases"),
            plural(systems, "system", "systems")
        )
    }

    /// Groups with their numbers of cases: tiers in order, others the largest first.
    fn groups(&self, of: fn(&CoveredCase) -> String) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for case in &self.cases {
            *counts.entry(of(case)).or_default() += 1;
        }
        let mut groups: Vec<_> = counts.into_iter().collect();
        if !groups.iter().all(|g| g.0.starts_with("tier ")) {
            groups.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        }
        groups
    }
}

impl Figure for Coverage {
    const ID: &'static str = "coverage";
    const TITLE: &'static str = "What the cases are of";
    const SHOWS: &'static str =
        "Cases per system, language, category, family and tier, and the licences of their sources.";
    const TRACKS: &'static [Track] = &[Track::Repair, Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.cases.is_empty() {
            sheet.empty("This selection holds no case.");
            return sheet.done();
        }
        let half = WIDTH / 2.0;
        let strips = [(MARGIN, half - 14.0), (half + 14.0, WIDTH - MARGIN)];
        let top = sheet.y + 4.0;
        let mut lowest = top;
        for (ways, (left, right)) in WAYS.into_iter().zip(strips) {
            let sections: Vec<Section> = ways
                .iter()
                .map(|(title, of)| Section {
                    title: (*title).to_owned(),
                    rows: self
                        .groups(*of)
                        .into_iter()
                        .map(|(name, count)| BarRow {
                            bars: vec![Bar {
                                value: count as f64,
                                fill: Fill::Solid(Paint::Accent),
                                label: count.to_string(),
                                tip: format!("{name}: {}", plural(count, "case", "cases")),
                                data: vec![("group", name.clone())],
                            }],
                            name,
                        })
                        .collect(),
                })
                .collect();
            lowest = bars::draw(&mut sheet, Strip { left, right }, top, &sections).max(lowest);
        }
        sheet.y = lowest;
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!("{}, {}.", self.n(), self.about.line().replace(" · ", ", "));
        for (title, of) in WAYS.into_iter().flatten() {
            let groups: Vec<String> = self
                .groups(*of)
                .into_iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            out.push_str(&format!(" {title}: {}.", groups.join(", ")));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "case", "system", "language", "category", "family", "tier", "license",
        ]);
        for c in &self.cases {
            csv.row(&[
                c.case.clone(),
                c.system.clone(),
                c.language.clone(),
                c.category.clone(),
                c.family.clone(),
                c.tier.to_string(),
                c.license.clone(),
            ]);
        }
        csv.finish()
    }
}
