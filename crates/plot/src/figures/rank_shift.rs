//! `rank-shift`: who changes places when context is given. A slope diagram of
//! ranks under both conditions; what shares a rank shares a bracket.

use faultboard_domain::Track;
use faultboard_domain::condition::Condition;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::kit::glyph::Glyph;
use crate::kit::mark;
use crate::kit::sheet::{MARGIN, Sample, Sheet, WIDTH, widest};
use crate::scene::{Anchor, Mark, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// Where a configuration stands under one condition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Pass rate, a fraction.
    pub rate: f64,
    /// Competition rank, from 1.
    pub rank: u32,
    /// Whether others share it.
    pub tied: bool,
}

impl Place {
    fn label(&self) -> String {
        format!("{}{}", self.rank, if self.tied { "=" } else { "" })
    }
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankRow {
    /// Its name.
    pub name: String,
    /// Without context.
    pub symptom_only: Option<Place>,
    /// With context.
    pub with_context: Option<Place>,
    /// Its page: an address of the site.
    #[serde(default)]
    pub href: Option<String>,
}

impl RankRow {
    fn place(&self, condition: Condition) -> Option<&Place> {
        match condition {
            Condition::SymptomOnly => self.symptom_only.as_ref(),
            Condition::ContextAugmented => self.with_context.as_ref(),
        }
    }

    /// Places gained with context; below zero: lost.
    fn shift(&self) -> Option<i64> {
        let (a, b) = (self.symptom_only?, self.with_context?);
        Some(i64::from(a.rank) - i64::from(b.rank))
    }
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankShift {
    /// Release, date, filters.
    pub about: About,
    /// Cases.
    pub cases: u32,
    /// The configurations, in any order.
    pub rows: Vec<RankRow>,
}

const PITCH: f64 = 20.0;

impl RankShift {
    fn n(&self) -> String {
        format!(
            "{} · n = {}",
            plural(self.rows.len(), "configuration", "configurations"),
            plural(self.cases as usize, "case", "cases")
        )
    }

    /// Rows by rank under a condition, those without one left out.
    fn order(&self, condition: Condition) -> Vec<usize> {
        let other = match condition {
            Condition::SymptomOnly => Condition::ContextAugmented,
            Condition::ContextAugmented => Condition::SymptomOnly,
        };
        let mut order: Vec<usize> = (0..self.rows.len())
            .filter(|i| self.rows[*i].place(condition).is_some())
            .collect();
        let rank = |i: usize, c| self.rows[i].place(c).map_or(u32::MAX, |p| p.rank);
        // Within a tie by the other side's rank, so that lines seldom cross.
        order.sort_by(|a, b| {
            rank(*a, condition)
                .cmp(&rank(*b, condition))
                .then(rank(*a, other).cmp(&rank(*b, other)))
                .then_with(|| self.rows[*a].name.cmp(&self.rows[*b].name))
        });
        order
    }

    fn tip(row: &RankRow) -> String {
        let side = |c: Condition| {
            row.place(c).map_or_else(
                || format!("no rank {}", c.title()),
                |p| format!("rank {} {} ({} %)", p.label(), c.title(), percent(p.rate)),
            )
        };
        let shift = match row.shift() {
            None => String::new(),
            Some(0) => ", no change".to_owned(),
            Some(n) => format!(
                ", {} {}",
                if n > 0 { "up" } else { "down" },
                plural(n.unsigned_abs() as usize, "place", "places")
            ),
        };
        format!(
            "{}: {}, {}{shift}",
            row.name,
            side(Condition::SymptomOnly),
            side(Condition::ContextAugmented)
        )
    }
}

fn paint(shift: Option<i64>) -> (Paint, Glyph) {
    match shift {
        Some(n) if n > 0 => (Paint::Gain, Glyph::Up(Paint::Gain)),
        Some(n) if n < 0 => (Paint::Loss, Glyph::Down(Paint::Loss)),
        Some(_) => (Paint::Fail, Glyph::Disc(Paint::Fail)),
        None => (Paint::Missing, Glyph::Ring(Paint::Missing)),
    }
}

impl Figure for RankShift {
    const ID: &'static str = "rank-shift";
    const TITLE: &'static str = "Who changes places when context is given";
    const SHOWS: &'static str = "Rank by pass rate without context at the left, with context at the right. What shares a rank stands in one bracket.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.rows.is_empty() {
            sheet.empty("No configuration has a rank yet.");
            return sheet.done();
        }
        sheet.legend(&[
            (Sample::Glyph(Glyph::Up(Paint::Gain)), "higher with context"),
            (
                Sample::Glyph(Glyph::Down(Paint::Loss)),
                "lower with context",
            ),
            (Sample::Glyph(Glyph::Disc(Paint::Fail)), "same rank"),
            (
                Sample::Glyph(Glyph::Ring(Paint::Missing)),
                "only one condition",
            ),
        ]);
        let orders = Condition::ALL.map(|c| self.order(c));
        let top = sheet.y + 44.0;
        let names = widest(
            self.rows.iter().map(|r| r.name.as_str()),
            size::SMALL,
            Weight::Regular,
            228.0,
        );
        // Name, rate, rank, then the axis.
        let axis = MARGIN + names + 96.0;
        let axes = [axis, WIDTH - axis];
        let y = |slot: usize| top + PITCH * slot as f64;
        for (side, condition) in Condition::ALL.into_iter().enumerate() {
            let (anchor, out) = if side == 0 {
                (Anchor::End, -1.0)
            } else {
                (Anchor::Start, 1.0)
            };
            sheet.scene.strong(
                (axes[side] + out * 12.0, top - 24.0),
                anchor,
                size::SMALL,
                condition.title(),
            );
            let order = &orders[side];
            let mut from = 0;
            while from < order.len() {
                let place = |slot: usize| self.rows[order[slot]].place(condition);
                let rank = place(from).map(|p| p.rank);
                let to = (from..order.len())
                    .take_while(|s| place(*s).map(|p| p.rank) == rank)
                    .last()
                    .unwrap_or(from);
                if to > from {
                    let x = axes[side] + out * 12.0;
                    let (a, b) = (y(from) - 7.0, y(to) + 7.0);
                    sheet.scene.shape(Shape::Line {
                        points: vec![(x - out * 5.0, a), (x, a), (x, b), (x - out * 5.0, b)],
                        stroke: Paint::Ink2,
                        width: 1.2,
                    });
                }
                for (slot, index) in order.iter().enumerate().take(to + 1).skip(from) {
                    let row = &self.rows[*index];
                    let Some(p) = row.place(condition) else {
                        continue;
                    };
                    let baseline = y(slot) + text::CAP * size::SMALL / 2.0;
                    // A shared rank is said once, in the middle of its bracket.
                    if slot == (from + to) / 2 {
                        sheet.scene.strong(
                            (axes[side] + out * 19.0, baseline),
                            anchor,
                            size::SMALL,
                            p.label(),
                        );
                    }
                    sheet.scene.text(
                        (axes[side] + out * 82.0, baseline),
                        if side == 0 {
                            Anchor::Start
                        } else {
                            Anchor::End
                        },
                        size::SMALL,
                        Paint::Ink2,
                        percent(p.rate),
                    );
                    let name = text::fit(&row.name, size::SMALL, Weight::Regular, names.max(20.0));
                    sheet.scene.text(
                        (axes[side] + out * 92.0, baseline),
                        anchor,
                        size::SMALL,
                        Paint::Ink,
                        name,
                    );
                }
                from = to + 1;
            }
        }
        // Those that move most are drawn last.
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        rows.sort_by_key(|i| self.rows[*i].shift().unwrap_or(0).abs());
        for index in rows {
            let row = &self.rows[index];
            let slots = [0, 1].map(|s: usize| orders[s].iter().position(|i| *i == index));
            let (paint, glyph) = paint(row.shift());
            let ends = [0, 1].map(|s: usize| slots[s].map(|slot| (axes[s], y(slot))));
            let mut shapes = Vec::new();
            if let [Some(a), Some(b)] = ends {
                shapes.push(Shape::Line {
                    points: vec![a, b],
                    stroke: paint,
                    width: if row.shift() == Some(0) { 1.2 } else { 1.8 },
                });
            }
            if let Some(a) = ends[0] {
                shapes.extend(Glyph::Disc(paint).shapes(a, 3.2));
            }
            if let Some(b) = ends[1] {
                shapes.extend(glyph.shapes(b, 4.6));
            }
            if shapes.is_empty() {
                continue;
            }
            mark(
                &mut sheet.scene,
                Mark {
                    tip: Self::tip(row),
                    href: row.href.clone(),
                    data: vec![("configuration", row.name.clone())],
                    shapes,
                },
            );
        }
        let most = orders[0].len().max(orders[1].len()).max(1);
        sheet.y = y(most - 1) + 12.0;
        let without: Vec<String> = self
            .rows
            .iter()
            .filter(|r| r.symptom_only.is_none() && r.with_context.is_none())
            .map(|r| r.name.clone())
            .collect();
        sheet.note("No rank", &without);
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "Ranks of {}; {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        for index in self.order(Condition::SymptomOnly) {
            out.push_str(&format!(" {}.", Self::tip(&self.rows[index])));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "configuration",
            "symptom_only_rank",
            "symptom_only_rate",
            "with_context_rank",
            "with_context_rate",
            "places_gained",
        ]);
        for r in &self.rows {
            let label = |p: Option<&Place>| p.map_or_else(String::new, Place::label);
            csv.row(&[
                r.name.clone(),
                label(r.symptom_only.as_ref()),
                field(r.symptom_only.map(|p| p.rate)),
                label(r.with_context.as_ref()),
                field(r.with_context.map(|p| p.rate)),
                r.shift().map_or_else(String::new, |n| n.to_string()),
            ]);
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}
