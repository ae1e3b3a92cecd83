//! Tables of cells: a ground in steps, and the value written into it. The text
//! says what the ground only hints at.

use crate::kit::glyph::Glyph;
use crate::kit::mark;
use crate::kit::sheet::{Sheet, widest};
use crate::scene::{Anchor, Mark, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// A cell.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) fill: Paint,
    /// Written into the cell where there is room.
    pub(crate) words: String,
    /// Drawn into it where there is no room for words, or beside none.
    pub(crate) glyph: Option<Glyph>,
    pub(crate) tip: String,
    pub(crate) href: Option<String>,
    pub(crate) data: Vec<(&'static str, String)>,
}

/// A table of cells: `cells[row][column]`, none where nothing belongs.
pub(crate) struct Table {
    pub(crate) rows: Vec<String>,
    pub(crate) columns: Vec<String>,
    pub(crate) cells: Vec<Vec<Option<Cell>>>,
    /// Width and height of a cell.
    pub(crate) pitch: (f64, f64),
    /// The most room for the names of rows.
    pub(crate) names: f64,
    /// Whether heads run upward.
    pub(crate) upward: bool,
}

/// Draws a table with its left edge at `left`; its heads stand below `top`.
/// Gives its right and lowest edges.
pub(crate) fn draw(sheet: &mut Sheet, left: f64, top: f64, table: &Table) -> (f64, f64) {
    let (w, h) = table.pitch;
    let font = (h - 3.0).clamp(size::LEAST, size::TEXT);
    let names = widest(
        table.rows.iter().map(String::as_str),
        font,
        Weight::Regular,
        table.names,
    );
    let head_font = size::SMALL.min((w - 1.0).max(size::LEAST));
    let head = if table.upward {
        widest(
            table.columns.iter().map(String::as_str),
            head_font,
            Weight::Regular,
            130.0,
        )
    } else {
        size::SMALL
    };
    let from = (
        left + names + if names > 0.0 { 10.0 } else { 0.0 },
        top + head + 14.0,
    );
    for (c, words) in table.columns.iter().enumerate() {
        let middle = from.0 + w * (c as f64 + 0.5);
        if table.upward {
            let words = text::fit(words, head_font, Weight::Regular, head + 1.0);
            sheet.scene.text(
                (middle + text::CAP * head_font / 2.0 - 0.5, from.1 - 7.0),
                Anchor::Start,
                head_font,
                Paint::Ink2,
                words,
            );
            if let Some(last) = sheet.scene.labels.last_mut() {
                last.upward = true;
            }
        } else {
            let words = text::fit(words, size::SMALL, Weight::Regular, w - 4.0);
            sheet.scene.text(
                (middle, from.1 - 7.0),
                Anchor::Middle,
                size::SMALL,
                Paint::Ink2,
                words,
            );
        }
    }
    for (r, name) in table.rows.iter().enumerate() {
        let y = from.1 + h * r as f64;
        if names > 0.0 {
            let name = text::fit(name, font, Weight::Regular, names.max(12.0));
            sheet.scene.text(
                (left + names, y + h / 2.0 + text::CAP * font / 2.0),
                Anchor::End,
                font,
                Paint::Ink,
                name,
            );
        }
        for (c, cell) in table.cells.get(r).into_iter().flatten().enumerate() {
            if let Some(cell) = cell {
                put(sheet, (from.0 + w * c as f64, y), (w - 2.0, h - 2.0), cell);
            }
        }
    }
    (
        from.0 + w * table.columns.len() as f64,
        from.1 + h * table.rows.len() as f64,
    )
}

fn put(sheet: &mut Sheet, at: (f64, f64), extent: (f64, f64), cell: &Cell) {
    let centre = (at.0 + extent.0 / 2.0, at.1 + extent.1 / 2.0);
    let font = size::SMALL.min((extent.1 - 2.0).max(size::LEAST));
    let fits = !cell.words.is_empty()
        && extent.1 >= 12.0
        && text::width(&cell.words, font, Weight::Regular) <= extent.0 - 4.0;
    let mut shapes = vec![Shape::Rect {
        at,
        size: extent,
        fill: cell.fill,
    }];
    if fits {
        sheet.scene.text(
            (centre.0, centre.1 + text::CAP * font / 2.0),
            Anchor::Middle,
            font,
            Paint::Ink,
            cell.words.clone(),
        );
    } else if let Some(glyph) = cell.glyph {
        shapes.extend(glyph.shapes(centre, (extent.1 * 0.24).clamp(2.2, 5.0)));
    }
    mark(
        &mut sheet.scene,
        Mark {
            tip: cell.tip.clone(),
            href: cell.href.clone(),
            data: cell.data.clone(),
            shapes,
        },
    );
}
