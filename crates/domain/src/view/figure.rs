//! Figures as pages show them: the gallery and one figure.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

use super::board::BoardView;

/// A figure as a page embeds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FigureView {
    /// Its id (`paired-heatmap`, `pareto`).
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows and how to read it.
    pub shows: String,
    /// A text summary for those who don't see it.
    pub summary: String,
    /// Its drawing; the page's style sheet gives it the page's colours.
    pub svg: String,
    /// How many rows of configurations there are, where only the first are drawn.
    #[serde(default)]
    pub of_rows: Option<u32>,
    /// When its numbers were computed.
    pub computed: Timestamp,
    /// Its page; with an ending (`.svg`, `.png`, `.csv`, `.json`) a form to take away.
    pub path: String,
    /// The query string (without `?`) that holds its filters.
    pub query: String,
}

/// A figure in the gallery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FigureCard {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows and how to read it.
    pub shows: String,
    /// When its numbers were computed; none: there is none for this selection yet.
    pub computed: Option<Timestamp>,
    /// Its page.
    pub path: String,
    /// The query string (without `?`) that holds the filters.
    pub query: String,
}

/// `/figures`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GalleryView {
    /// The board whose figures they are, filtered: its choices are the gallery's.
    pub board: BoardView,
    /// Every figure of the track.
    pub figures: Vec<FigureCard>,
}

/// `/figures/{track}/{release}/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigurePage {
    /// The board whose figure it is.
    pub board: BoardView,
    /// The figure's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it shows and how to read it.
    pub shows: String,
    /// The figure; none: there is none for this selection yet.
    pub figure: Option<FigureView>,
    /// Whether a filter of rows was heard: a figure that pools configurations can't.
    pub heard: bool,
}
