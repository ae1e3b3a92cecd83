//! Rows of estimates with their intervals on one common scale: names at the
//! left, numbers at the right.

use crate::kit::glyph::Glyph;
use crate::kit::mark;
use crate::kit::plane::{Format, Scale, ticks_below};
use crate::kit::sheet::{DASH, MARGIN, Sheet, widest};
use crate::scene::{Anchor, Area, Mark};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// An estimate in a row.
pub(crate) struct Dot {
    pub(crate) value: Option<f64>,
    pub(crate) ci95: Option<(f64, f64)>,
    pub(crate) glyph: Glyph,
    pub(crate) tip: String,
    pub(crate) data: Vec<(&'static str, String)>,
}

/// A row.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) href: Option<String>,
    pub(crate) dots: Vec<Dot>,
    /// Texts of the columns at the right.
    pub(crate) cells: Vec<String>,
}

/// A column at the right: its head and its width.
pub(crate) struct Column {
    pub(crate) head: &'static str,
    pub(crate) width: f64,
}

/// All of it.
pub(crate) struct Forest<'a> {
    pub(crate) rows: Vec<Row>,
    pub(crate) scale: Scale,
    pub(crate) format: Format,
    /// What the scale measures.
    pub(crate) title: &'a str,
    /// A value with a line of its own, such as no difference.
    pub(crate) reference: Option<f64>,
    pub(crate) columns: Vec<Column>,
    /// The most room for names.
    pub(crate) names: f64,
}

const RADIUS: f64 = 4.2;

/// Draws the rows below the pen.
pub(crate) fn draw(sheet: &mut Sheet, forest: &Forest<'_>) {
    let names = widest(
        forest.rows.iter().map(|r| r.name.as_str()),
        size::TEXT,
        Weight::Regular,
        forest.names,
    );
    let columns: f64 = forest.columns.iter().map(|c| c.width).sum();
    let most = forest.rows.iter().map(|r| r.dots.len()).max().unwrap_or(1);
    let pitch = 12.0 + 11.0 * most.max(1) as f64;
    let top = sheet.y + 24.0;
    let area = Area {
        left: MARGIN + names + 18.0,
        top,
        right: sheet.scene.width - MARGIN - columns - 8.0,
        bottom: top + pitch * forest.rows.len().max(1) as f64,
    };
    let x = |v: f64| area.left + forest.scale.share(v) * (area.right - area.left);
    for tick in forest.scale.ticks() {
        sheet.scene.line(
            (x(*tick), area.top),
            (x(*tick), area.bottom),
            Paint::Grid,
            1.0,
        );
    }
    if let Some(at) = forest.reference {
        let line = [(x(at), area.top - 3.0), (x(at), area.bottom)];
        sheet.scene.dashed(&line, Paint::Ink2, 1.0, DASH);
    }
    let mut right = area.right + 8.0;
    for column in &forest.columns {
        right += column.width;
        let head = text::fit(
            column.head,
            size::SMALL,
            Weight::Regular,
            column.width - 6.0,
        );
        sheet.scene.text(
            (right, area.top - 8.0),
            Anchor::End,
            size::SMALL,
            Paint::Ink2,
            head,
        );
    }
    for (i, row) in forest.rows.iter().enumerate() {
        let middle = area.top + pitch * (i as f64 + 0.5);
        let baseline = middle + text::CAP * size::TEXT / 2.0;
        let name = text::fit(&row.name, size::TEXT, Weight::Regular, names.max(20.0));
        sheet.scene.text(
            (MARGIN + names, baseline),
            Anchor::End,
            size::TEXT,
            Paint::Ink,
            name,
        );
        let mut right = area.right + 8.0;
        for (column, cell) in forest.columns.iter().zip(&row.cells) {
            right += column.width;
            let cell = text::fit(cell, size::TEXT, Weight::Regular, column.width - 4.0);
            sheet
                .scene
                .text((right, baseline), Anchor::End, size::TEXT, Paint::Ink, cell);
        }
        let first = middle - 5.5 * (row.dots.len().max(1) - 1) as f64;
        for (k, dot) in row.dots.iter().enumerate() {
            let Some(value) = dot.value.filter(|v| v.is_finite()) else {
                continue;
            };
            let y = first + 11.0 * k as f64;
            let mut shapes = Vec::new();
            if let Some((low, high)) = dot.ci95 {
                let (l, r) = (x(low), x(high));
                for (from, to) in [
                    ((l, y), (r, y)),
                    ((l, y - 3.0), (l, y + 3.0)),
                    ((r, y - 3.0), (r, y + 3.0)),
                ] {
                    shapes.push(crate::scene::Shape::Line {
                        points: vec![from, to],
                        stroke: Paint::Ink2,
                        width: 1.1,
                    });
                }
            }
            shapes.extend(dot.glyph.shapes((x(value), y), RADIUS));
            mark(
                &mut sheet.scene,
                Mark {
                    tip: dot.tip.clone(),
                    href: row.href.clone(),
                    data: dot.data.clone(),
                    shapes,
                },
            );
        }
    }
    sheet.scene.line(
        (area.left, area.bottom),
        (area.right, area.bottom),
        Paint::Line,
        1.0,
    );
    ticks_below(&mut sheet.scene, &forest.scale, area, forest.format);
    sheet.y = area.bottom + 36.0;
    let title = text::fit(
        forest.title,
        size::SMALL,
        Weight::Regular,
        area.right - MARGIN,
    );
    sheet.scene.text(
        (area.right, sheet.y),
        Anchor::End,
        size::SMALL,
        Paint::Ink2,
        title,
    );
}
