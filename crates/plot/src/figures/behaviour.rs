//! `behaviour`: what runs do with and without context, and how the number of
//! steps changes by what became of the pair.

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, plural};
use crate::figures::paired_heatmap::PairState;
use crate::kit::bars::{self, Bar, BarRow, Section, Strip};
use crate::kit::glyph::Fill;
use crate::kit::sheet::{MARGIN, Sample, Sheet, WIDTH};
use crate::kit::{finite, words};
use crate::scene::Scene;
use crate::theme::Paint;

/// One measure, mean over the pairs in which both runs tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BehaviourMeasure {
    /// What it is: `steps`, `first edit`, `tokens`, `reads`, `edits`, `cost, US$`.
    pub name: String,
    /// Mean without context.
    pub symptom_only: Option<f64>,
    /// Mean with context.
    pub with_context: Option<f64>,
    /// Pairs behind it.
    pub pairs: u32,
}

/// Pairs of one fate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BehaviourClass {
    /// Their fate.
    pub state: PairState,
    /// Pairs that tell their steps.
    pub pairs: u32,
    /// Mean steps with context less without.
    pub steps_change: Option<f64>,
    /// Mean tokens with context less without.
    pub tokens_change: Option<f64>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Behaviour {
    /// Release, date, filters.
    pub about: About,
    /// Configurations that are pooled.
    pub configurations: u32,
    /// Pairs of runs.
    pub pairs: u32,
    /// The measures.
    pub measures: Vec<BehaviourMeasure>,
    /// By concordance.
    pub classes: Vec<BehaviourClass>,
}

impl BehaviourMeasure {
    fn change(&self) -> Option<f64> {
        let (a, b) = (finite(self.symptom_only)?, finite(self.with_context)?);
        (a > 0.0).then(|| b / a - 1.0)
    }
}

impl Behaviour {
    fn n(&self) -> String {
        format!(
            "{} pooled · n = {}",
            plural(
                self.configurations as usize,
                "configuration",
                "configurations"
            ),
            plural(self.pairs as usize, "pair of runs", "pairs of runs")
        )
    }
}

const FILLS: [Fill; 2] = [Fill::Hatch(Paint::Ink2), Fill::Solid(Paint::Accent)];

impl Figure for Behaviour {
    const ID: &'static str = "behaviour";
    const TITLE: &'static str = "What agents do with and without context";
    const SHOWS: &'static str = "Means over pairs of runs of one configuration on one case; at the right how steps and tokens change by what became of the pair.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.pairs == 0 {
            sheet.empty("No configuration has runs of one case under both conditions yet.");
            return sheet.done();
        }
        sheet.legend(&[
            (Sample::Fill(FILLS[0]), "symptom only"),
            (Sample::Fill(FILLS[1]), "with context"),
        ]);
        let half = WIDTH * 0.54;
        let sections: Vec<Section> = self
            .measures
            .iter()
            .map(|m| Section {
                title: format!(
                    "{}{}",
                    m.name,
                    m.change().map_or_else(String::new, |c| format!(
                        " · {} %",
                        words::signed(c * 100.0, 0)
                    ))
                ),
                rows: vec![BarRow {
                    name: String::new(),
                    bars: [
                        (m.symptom_only, "symptom only"),
                        (m.with_context, "with context"),
                    ]
                    .into_iter()
                    .zip(FILLS)
                    .map(|((value, condition), fill)| {
                        let value = finite(value);
                        let label = value.map_or_else(|| "unknown".to_owned(), words::short);
                        Bar {
                            value: value.unwrap_or(0.0),
                            fill,
                            tip: format!(
                                "{}, {condition}: mean {label} over {}",
                                m.name,
                                plural(m.pairs as usize, "pair", "pairs")
                            ),
                            label,
                            data: vec![
                                ("measure", m.name.clone()),
                                ("condition", condition.to_owned()),
                            ],
                        }
                    })
                    .collect(),
                }],
            })
            .collect();
        let top = sheet.y;
        let left = Strip {
            left: MARGIN,
            right: half - 14.0,
        };
        let first = bars::draw(&mut sheet, left, top, &sections);
        type Change = fn(&BehaviourClass) -> Option<f64>;
        let measures: [(&str, Change); 2] = [
            ("steps", |c| c.steps_change),
            ("tokens", |c| c.tokens_change),
        ];
        let classes: Vec<Section> = measures
            .into_iter()
            .map(|(what, of)| Section {
                title: format!("Change of mean {what} with context"),
                rows: self
                    .classes
                    .iter()
                    .map(|c| {
                        let value = finite(of(c));
                        let label = value.map_or_else(
                            || "unknown".to_owned(),
                            |v| {
                                let short = words::short(v.abs());
                                let sign = if v < 0.0 { "−" } else { "+" };
                                format!("{sign}{short}")
                            },
                        );
                        BarRow {
                            name: format!("{} ({})", c.state.meaning(), c.pairs),
                            bars: vec![Bar {
                                value: value.unwrap_or(0.0),
                                fill: if value.unwrap_or(0.0) < 0.0 {
                                    Fill::Solid(Paint::Accent)
                                } else {
                                    Fill::Hatch(Paint::Loss)
                                },
                                tip: format!(
                                    "{}: {label} {what}, mean over {}",
                                    c.state.meaning(),
                                    plural(c.pairs as usize, "pair", "pairs")
                                ),
                                label,
                                data: vec![("state", c.state.as_str().to_owned())],
                            }],
                        }
                    })
                    .collect(),
            })
            .collect();
        let right = Strip {
            left: half + 14.0,
            right: WIDTH - MARGIN,
        };
        let second = bars::draw(&mut sheet, right, top, &classes);
        sheet.y = first.max(second);
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}, {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        let shown = |v: Option<f64>| finite(v).map_or_else(|| "unknown".to_owned(), words::short);
        for m in &self.measures {
            out.push_str(&format!(
                " Mean {}: {} without, {} with context.",
                m.name,
                shown(m.symptom_only),
                shown(m.with_context)
            ));
        }
        for c in &self.classes {
            if let Some(change) = finite(c.steps_change) {
                out.push_str(&format!(
                    " Where a pair {}: {} steps.",
                    c.state.meaning(),
                    words::signed(change, 1)
                ));
            }
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "kind",
            "name",
            "pairs",
            "symptom_only",
            "with_context",
            "change",
        ]);
        for m in &self.measures {
            let change = match (m.symptom_only, m.with_context) {
                (Some(a), Some(b)) => Some(b - a),
                _ => None,
            };
            csv.row(&[
                "measure".to_owned(),
                m.name.clone(),
                m.pairs.to_string(),
                field(m.symptom_only),
                field(m.with_context),
                field(change),
            ]);
        }
        for c in &self.classes {
            for (what, change) in [("steps", c.steps_change), ("tokens", c.tokens_change)] {
                csv.row(&[
                    what.to_owned(),
                    c.state.as_str().to_owned(),
                    c.pairs.to_string(),
                    String::new(),
                    String::new(),
                    field(change),
                ]);
            }
        }
        csv.finish()
    }
}
