//! `size-vs-pass`: is a case hard because its fix is large? Pass rate over all
//! configurations against the changed lines of the upstream fix.

use faultboard_domain::Track;
use faultboard_domain::condition::Condition;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::kit::glyph::Glyph;
use crate::kit::plane::{Plane, Scale, percent_tick, plain_tick};
use crate::kit::sheet::{MARGIN, Sample, Sheet, WIDTH};
use crate::kit::{finite, mark};
use crate::scene::{Anchor, Area, Mark, Scene};
use crate::theme::{Paint, size};

/// A case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizePoint {
    /// Its id.
    pub case: String,
    /// Its tier.
    pub tier: u8,
    /// Changed lines of the fix.
    pub fix_size: u32,
    /// Mean pass rate of all configurations without context, a fraction.
    pub symptom_only: Option<f64>,
    /// The same with context.
    pub with_context: Option<f64>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizeVsPass {
    /// Release, date, filters.
    pub about: About,
    /// Configurations that are pooled.
    pub configurations: u32,
    /// The cases.
    pub cases: Vec<SizePoint>,
}

impl SizePoint {
    fn rate(&self, condition: Condition) -> Option<f64> {
        finite(match condition {
            Condition::SymptomOnly => self.symptom_only,
            Condition::ContextAugmented => self.with_context,
        })
        .map(|r| r.clamp(0.0, 1.0))
    }
}

fn glyph(tier: u8) -> Glyph {
    match tier {
        1 => Glyph::Diamond(Paint::Loss),
        2 => Glyph::Square(Paint::Fail),
        _ => Glyph::Disc(Paint::Accent),
    }
}

impl SizeVsPass {
    fn n(&self) -> String {
        format!(
            "{} pooled · n = {}",
            plural(
                self.configurations as usize,
                "configuration",
                "configurations"
            ),
            plural(self.cases.len(), "case", "cases")
        )
    }

    /// Spearman's rank correlation, ties at their mean rank; none below three cases.
    fn correlation(&self, condition: Condition) -> Option<f64> {
        let pairs: Vec<(f64, f64)> = self
            .cases
            .iter()
            .filter_map(|c| Some((f64::from(c.fix_size), c.rate(condition)?)))
            .collect();
        if pairs.len() < 3 {
            return None;
        }
        let ranks = |values: Vec<f64>| -> Vec<f64> {
            values
                .iter()
                .map(|v| {
                    let below = values.iter().filter(|w| *w < v).count() as f64;
                    let same = values.iter().filter(|w| *w == v).count() as f64;
                    below + (same + 1.0) / 2.0
                })
                .collect()
        };
        let a = ranks(pairs.iter().map(|p| p.0).collect());
        let b = ranks(pairs.iter().map(|p| p.1).collect());
        let mean = (pairs.len() as f64 + 1.0) / 2.0;
        let product = |x: &[f64], y: &[f64]| -> f64 {
            x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
        };
        let scale = (product(&a, &a) * product(&b, &b)).sqrt();
        (scale > 0.0).then(|| product(&a, &b) / scale)
    }
}

impl Figure for SizeVsPass {
    const ID: &'static str = "size-vs-pass";
    const TITLE: &'static str = "Is a large fix harder to find?";
    const SHOWS: &'static str = "Each case by the changed lines of its upstream fix (logarithmic) and the mean pass rate of all configurations, without and with context; shapes tell the tiers apart.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.cases.is_empty() {
            sheet.empty("No case has a result yet.");
            return sheet.done();
        }
        sheet.legend(&[
            (Sample::Glyph(glyph(1)), "tier 1"),
            (Sample::Glyph(glyph(2)), "tier 2"),
            (Sample::Glyph(glyph(3)), "tier 3"),
        ]);
        let scale = Scale::log(self.cases.iter().map(|c| f64::from(c.fix_size.max(1))));
        let top = sheet.y + 36.0;
        let wide = (sheet.room() + 14.0) / 2.0;
        for (i, condition) in Condition::ALL.into_iter().enumerate() {
            let left = MARGIN + wide * i as f64 + 36.0;
            let plane = Plane {
                area: Area {
                    left,
                    top,
                    right: MARGIN + wide * (i + 1) as f64 - 18.0,
                    bottom: top + 280.0,
                },
                x: scale.clone(),
                y: Scale::linear(0.0, 1.0, 5),
            };
            sheet.scene.strong(
                (left, top - 14.0),
                Anchor::Start,
                size::TEXT,
                condition.title(),
            );
            if let Some(rho) = self.correlation(condition) {
                sheet.scene.text(
                    (plane.area.right, top - 14.0),
                    Anchor::End,
                    size::SMALL,
                    Paint::Ink2,
                    format!("rank correlation {}", crate::kit::words::signed(rho, 2)),
                );
            }
            plane.y_axis(&mut sheet.scene, percent_tick);
            sheet.y = plane.x_axis(&mut sheet.scene, plain_tick, "changed lines of the fix");
            for case in &self.cases {
                let Some(rate) = case.rate(condition) else {
                    continue;
                };
                let at = plane.at(f64::from(case.fix_size.max(1)), rate);
                let mut shapes = Glyph::Disc(Paint::Paper).shapes(at, 6.0);
                shapes.extend(glyph(case.tier).shapes(at, 4.2));
                mark(
                    &mut sheet.scene,
                    Mark {
                        tip: format!(
                            "{}, tier {}, {}: {} % {}",
                            case.case,
                            case.tier,
                            plural(case.fix_size as usize, "changed line", "changed lines"),
                            percent(rate),
                            condition.title()
                        ),
                        href: Some(format!("/cases/{}", case.case)),
                        data: vec![
                            ("case", case.case.clone()),
                            ("condition", condition.as_str().to_owned()),
                        ],
                        shapes,
                    },
                );
            }
        }
        sheet.lines(
            "Height: mean pass rate over configurations, %.",
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
        for c in Condition::ALL {
            if let Some(rho) = self.correlation(c) {
                out.push_str(&format!(
                    " Rank correlation of fix size and pass rate {}: {}.",
                    c.title(),
                    crate::kit::words::signed(rho, 2)
                ));
            }
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["case", "tier", "fix_lines", "symptom_only", "with_context"]);
        for c in &self.cases {
            csv.row(&[
                c.case.clone(),
                c.tier.to_string(),
                c.fix_size.to_string(),
                field(c.symptom_only),
                field(c.with_context),
            ]);
        }
        csv.finish()
    }
}
