//! Figures: data in, drawing out. Each figure is a plain struct that knows how to
//! lay itself out; the crate draws the layout as SVG and PNG with plotters, and
//! gives the same data as CSV, JSON and a few sentences.
//!
//! Pure: it never knows where data come from, never reads a clock or a file, and
//! the same data always give the same bytes.

mod axis;
mod bitmap;
mod figure;
mod figures;
mod place;
mod scene;
mod svg;
mod text;
mod theme;

pub use figure::{About, Figure, PlotError};
pub use figures::paired_heatmap::{
    CaseColumn, ConfigurationRow, PairCell, PairState, PairedHeatmap,
};
pub use figures::pareto::{Measure, Pareto, ParetoPoint};
pub use figures::{ALL, Known};
pub use scene::{Anchor, Area, Item, Label, Mark, Point, Scene, Shape};
pub use text::Weight;
pub use theme::{Paint, Rgb, Theme, stylesheet};
