//! `context-compare`: one context bundle against another on the same cases:
//! what each configuration passed with which, and what it cost.

use faultboard_domain::Track;
use faultboard_domain::view::Difference;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, plural};
use crate::kit::forest::{self, Column, Dot, Forest, Row};
use crate::kit::glyph::{Fill, Glyph};
use crate::kit::plane::{Scale, points_tick};
use crate::kit::sheet::{Sample, Sheet, WIDTH, widest};
use crate::kit::words;
use crate::kit::{finite, mark, sheet::MARGIN};
use crate::scene::{Anchor, Mark, Scene};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// One configuration under both bundles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextPair {
    /// Its name.
    pub name: String,
    /// Cases passed with both, only the first, only the second, neither.
    pub counts: [u32; 4],
    /// Second minus first, paired by case.
    pub difference: Option<Difference>,
    /// Mean cost of an attempt in US dollars with the first and the second.
    pub cost: (Option<f64>, Option<f64>),
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextCompare {
    /// Release, date, filters.
    pub about: About,
    /// The first bundle, such as `symptom only` or `default`.
    pub first: String,
    /// The second.
    pub second: String,
    /// The configurations.
    pub rows: Vec<ContextPair>,
}

const FILLS: [Fill; 4] = [
    Fill::Solid(Paint::PassTint),
    Fill::Hatch(Paint::Loss),
    Fill::Solid(Paint::Gain),
    Fill::Frame(Paint::Fail),
];

impl ContextCompare {
    fn n(&self) -> String {
        let most = self.rows.iter().map(|r| r.counts.iter().sum::<u32>()).max();
        format!(
            "{} against {} · {} · n = {}",
            self.second,
            self.first,
            plural(self.rows.len(), "configuration", "configurations"),
            plural(most.unwrap_or(0) as usize, "case", "cases"),
        )
    }

    fn states(&self) -> [String; 4] {
        [
            "passes with both".to_owned(),
            format!("only with {}", self.first),
            format!("only with {}", self.second),
            "with neither".to_owned(),
        ]
    }

    /// One bar of cases per configuration.
    fn matrix(&self, sheet: &mut Sheet) {
        let names = widest(
            self.rows.iter().map(|r| r.name.as_str()),
            size::SMALL,
            Weight::Regular,
            250.0,
        );
        let most = self
            .rows
            .iter()
            .map(|r| r.counts.iter().sum::<u32>())
            .max()
            .unwrap_or(1)
            .max(1);
        let left = MARGIN + names + 12.0;
        let unit = (sheet.scene.width - MARGIN - left) / f64::from(most);
        let states = self.states();
        sheet.skip(10.0);
        for row in &self.rows {
            let top = sheet.y;
            let baseline = top + 8.0 + text::CAP * size::SMALL / 2.0;
            let name = text::fit(&row.name, size::SMALL, Weight::Regular, names.max(20.0));
            sheet.scene.text(
                (MARGIN + names, baseline),
                Anchor::End,
                size::SMALL,
                Paint::Ink,
                name,
            );
            let mut x = left;
            for ((count, fill), state) in row.counts.iter().zip(FILLS).zip(&states) {
                let wide = unit * f64::from(*count);
                if *count > 0 {
                    let mut shapes = fill.shapes((x, top), ((wide - 1.0).max(0.5), 16.0));
                    let number = count.to_string();
                    let room = text::width(&number, size::SMALL, Weight::SemiBold) + 6.0;
                    if wide - 1.0 >= room {
                        // Numbers stand on paper, whatever the pattern is.
                        shapes.push(crate::scene::Shape::Rect {
                            at: (x + wide / 2.0 - room / 2.0, top + 2.0),
                            size: (room - 1.0, 12.0),
                            fill: Paint::Paper,
                        });
                        sheet.scene.strong(
                            (x + wide / 2.0 - 0.5, baseline),
                            Anchor::Middle,
                            size::SMALL,
                            number,
                        );
                    }
                    mark(
                        &mut sheet.scene,
                        Mark {
                            tip: format!(
                                "{}: {} {state}",
                                row.name,
                                plural(*count as usize, "case", "cases")
                            ),
                            href: None,
                            data: vec![
                                ("configuration", row.name.clone()),
                                ("state", state.clone()),
                            ],
                            shapes,
                        },
                    );
                }
                x += wide;
            }
            sheet.y += 22.0;
        }
    }
}

impl Figure for ContextCompare {
    const ID: &'static str = "context-compare";
    const TITLE: &'static str = "One context against another";
    const SHOWS: &'static str = "On the same cases: which each configuration passes with both contexts, with one alone or with neither; the difference in points; and what an attempt cost.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.rows.is_empty() {
            sheet.empty("No configuration has attempts under two contexts on the same cases yet.");
            return sheet.done();
        }
        let states = self.states();
        let legend: Vec<(Sample, &str)> = FILLS
            .iter()
            .zip(&states)
            .map(|(f, s)| (Sample::Fill(*f), s.as_str()))
            .collect();
        sheet.legend(&legend);
        self.matrix(&mut sheet);
        let ends = self.rows.iter().filter_map(|r| r.difference).flat_map(|d| {
            let (low, high) = d.ci95.unwrap_or((d.mean, d.mean));
            [d.mean, low, high]
        });
        let scale = Scale::around_zero(ends, 6);
        let cost = |v: Option<f64>| finite(v).map_or_else(|| "–".to_owned(), |v| format!("{v:.2}"));
        let rows = self
            .rows
            .iter()
            .map(|r| Row {
                name: r.name.clone(),
                href: None,
                dots: vec![Dot {
                    value: r.difference.map(|d| d.mean),
                    ci95: r.difference.and_then(|d| d.ci95),
                    glyph: Glyph::Disc(Paint::Accent),
                    tip: r.difference.as_ref().map_or_else(String::new, |d| {
                        format!(
                            "{}, {} less {}: {}",
                            r.name,
                            self.second,
                            self.first,
                            words::difference(d)
                        )
                    }),
                    data: vec![("configuration", r.name.clone())],
                }],
                cells: vec![
                    words::points(r.difference.map(|d| d.mean)),
                    cost(r.cost.0),
                    cost(r.cost.1),
                ],
            })
            .collect();
        let column = |head, width| Column { head, width };
        let title = format!(
            "{} less {}, points, with 95 % interval",
            self.second, self.first
        );
        sheet.skip(10.0);
        forest::draw(
            &mut sheet,
            &Forest {
                rows,
                scale,
                format: points_tick,
                title: &title,
                reference: Some(0.0),
                columns: vec![
                    column("points", 56.0),
                    column("$ first", 60.0),
                    column("$ second", 66.0),
                ],
                names: 250.0,
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
        for r in &self.rows {
            let [both, first, second, neither] = r.counts;
            out.push_str(&format!(
                " {}: {both} with both, {first} only with {}, {second} only with {}, {neither} with neither",
                r.name, self.first, self.second
            ));
            match &r.difference {
                Some(d) => out.push_str(&format!("; {}.", words::difference(d))),
                None => out.push('.'),
            }
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "configuration",
            "first",
            "second",
            "both",
            "only_first",
            "only_second",
            "neither",
            "difference",
            "ci95_low",
            "ci95_high",
            "p",
            "cost_first_usd",
            "cost_second_usd",
        ]);
        for r in &self.rows {
            let d = r.difference;
            let mut row = vec![r.name.clone(), self.first.clone(), self.second.clone()];
            row.extend(r.counts.iter().map(u32::to_string));
            row.extend([
                field(d.map(|d| d.mean)),
                field(d.and_then(|d| d.ci95).map(|c| c.0)),
                field(d.and_then(|d| d.ci95).map(|c| c.1)),
                field(d.and_then(|d| d.p)),
                field(r.cost.0),
                field(r.cost.1),
            ]);
            csv.row(&row);
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}
