//! Rows of bars from a common line, in sections, with their values behind them.

use crate::kit::glyph::Fill;
use crate::kit::mark;
use crate::kit::sheet::{MARGIN, Sheet, widest};
use crate::scene::{Anchor, Mark, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// A bar.
pub(crate) struct Bar {
    /// Its length, in the unit of its section; below zero it goes to the left.
    pub(crate) value: f64,
    pub(crate) fill: Fill,
    /// What stands behind it.
    pub(crate) label: String,
    pub(crate) tip: String,
    pub(crate) data: Vec<(&'static str, String)>,
}

/// A row.
pub(crate) struct BarRow {
    pub(crate) name: String,
    pub(crate) bars: Vec<Bar>,
}

/// A section: rows on one scale.
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) rows: Vec<BarRow>,
}

/// Where sections stand: a column of the sheet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strip {
    pub(crate) left: f64,
    pub(crate) right: f64,
}

/// Draws sections below each other from `top` down, each on its own scale.
/// Gives the lowest line.
pub(crate) fn draw(sheet: &mut Sheet, strip: Strip, top: f64, sections: &[Section]) -> f64 {
    let room = strip.right - strip.left;
    let names = widest(
        sections
            .iter()
            .flat_map(|s| s.rows.iter().map(|r| r.name.as_str())),
        size::SMALL,
        Weight::Regular,
        room * 0.42,
    );
    let behind = widest(
        sections.iter().flat_map(|s| {
            s.rows
                .iter()
                .flat_map(|r| r.bars.iter().map(|b| b.label.as_str()))
        }),
        size::SMALL,
        Weight::Regular,
        room * 0.3,
    );
    let from = strip.left + names + 10.0;
    let to = strip.right - behind - 8.0;
    let mut y = top;
    for section in sections {
        y += 24.0;
        let title = text::fit(&section.title, size::SMALL, Weight::SemiBold, room);
        sheet
            .scene
            .strong((strip.left, y), Anchor::Start, size::SMALL, title);
        y += 8.0;
        let values = || {
            section
                .rows
                .iter()
                .flat_map(|r| r.bars.iter().map(|b| b.value))
                .filter(|v| v.is_finite())
        };
        let high = values().fold(0.0, f64::max);
        let low = values().fold(0.0, f64::min);
        let span = if high - low > 0.0 { high - low } else { 1.0 };
        // Bars to the left leave room for what stands before them.
        let from = if low < 0.0 { from + behind + 6.0 } else { from };
        let x = |v: f64| from + (v - low) / span * (to - from);
        let start = y;
        for row in &section.rows {
            let thick = if row.bars.len() > 1 { 9.0 } else { 12.0 };
            let pitch = (thick + 3.0) * row.bars.len().max(1) as f64 + 6.0;
            let middle = y + pitch / 2.0;
            let name = text::fit(&row.name, size::SMALL, Weight::Regular, names.max(20.0));
            sheet.scene.text(
                (strip.left + names, middle + text::CAP * size::SMALL / 2.0),
                Anchor::End,
                size::SMALL,
                Paint::Ink,
                name,
            );
            let mut at = y + 4.5;
            for bar in &row.bars {
                let value = if bar.value.is_finite() {
                    bar.value
                } else {
                    0.0
                };
                let (l, r) = (x(value.min(0.0)), x(value.max(0.0)));
                // A bar of nothing is still there to be pointed at.
                let mut shapes = vec![Shape::Rect {
                    at: (l, at),
                    size: ((r - l).max(2.0), thick),
                    fill: Paint::Paper,
                }];
                shapes.extend(bar.fill.shapes((l, at), (r - l, thick)));
                let (place, anchor) = if value < 0.0 {
                    (l - 6.0, Anchor::End)
                } else {
                    (r + 6.0, Anchor::Start)
                };
                let label = text::fit(&bar.label, size::SMALL, Weight::Regular, behind.max(20.0));
                sheet.scene.text(
                    (place, at + thick / 2.0 + text::CAP * size::SMALL / 2.0),
                    anchor,
                    size::SMALL,
                    Paint::Ink2,
                    label,
                );
                mark(
                    &mut sheet.scene,
                    Mark {
                        tip: bar.tip.clone(),
                        href: None,
                        data: bar.data.clone(),
                        shapes,
                    },
                );
                at += thick + 3.0;
            }
            y += pitch;
        }
        sheet
            .scene
            .line((x(0.0), start), (x(0.0), y), Paint::Line, 1.0);
        y += 4.0;
    }
    y
}

/// The whole width of a sheet.
pub(crate) fn whole(sheet: &Sheet) -> Strip {
    Strip {
        left: MARGIN,
        right: sheet.scene.width - MARGIN,
    }
}
