//! What several figures are made of: the sheet with its head, legend and notes;
//! glyphs and patterns; planes with scales; rows of intervals; rows of bars; and
//! tables of shaded cells. It knows no figure's data.

pub(crate) mod bars;
pub(crate) mod cells;
pub(crate) mod forest;
pub(crate) mod glyph;
pub(crate) mod plane;
pub(crate) mod sheet;
pub(crate) mod words;

use crate::scene::{Item, Mark, Scene};

/// Adds a datum.
pub(crate) fn mark(scene: &mut Scene, mark: Mark) {
    scene.items.push(Item::Mark(mark));
}

/// A number that can be drawn, or none.
pub(crate) fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}
