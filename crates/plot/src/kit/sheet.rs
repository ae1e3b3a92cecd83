//! The sheet that a figure is set on: title and facts above, a legend below
//! them, notes at the end. Whatever is set moves the pen down, so that nothing
//! is set twice on one place.

use crate::figure::{About, Figure};
use crate::kit::glyph::{Fill, Glyph};
use crate::scene::{Anchor, Scene};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// Space around everything.
pub(crate) const MARGIN: f64 = 16.0;
/// The usual width.
pub(crate) const WIDTH: f64 = 880.0;

/// What a legend shows beside its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sample {
    /// A mark.
    Glyph(Glyph),
    /// A ground.
    Fill(Fill),
    /// A line.
    Line(Paint, f64),
    /// A broken line.
    Dashed(Paint, f64),
}

/// Dashes and gaps of every broken line.
pub(crate) const DASH: (f64, f64) = (4.0, 3.5);

/// A figure in the making.
pub(crate) struct Sheet {
    /// What is drawn so far.
    pub(crate) scene: Scene,
    /// The lowest line that is set.
    pub(crate) y: f64,
}

impl Sheet {
    /// A sheet with the figure's title, and n, release and date below it.
    pub(crate) fn of<F: Figure>(width: f64, n: &str, about: &About) -> Self {
        let mut sheet = Self {
            scene: Scene::new(width, 0.0),
            y: MARGIN + 14.0,
        };
        let title = text::fit(F::TITLE, size::TITLE, Weight::SemiBold, sheet.room());
        sheet
            .scene
            .strong((MARGIN, MARGIN + 12.0), Anchor::Start, size::TITLE, title);
        sheet.lines(&format!("{n} · {}", about.line()), Paint::Ink2);
        sheet
    }

    /// Width between the margins.
    pub(crate) fn room(&self) -> f64 {
        self.scene.width - 2.0 * MARGIN
    }

    /// Sets a text in as many lines as it needs.
    pub(crate) fn lines(&mut self, words: &str, paint: Paint) {
        for line in text::wrap(words, size::SMALL, Weight::Regular, self.room()) {
            self.y += 18.0;
            self.scene
                .text((MARGIN, self.y), Anchor::Start, size::SMALL, paint, line);
        }
    }

    /// Moves the pen down.
    pub(crate) fn skip(&mut self, by: f64) {
        self.y += by;
    }

    /// Sets a heading within the figure.
    pub(crate) fn heading(&mut self, words: &str) {
        self.y += 28.0;
        let words = text::fit(words, size::TEXT, Weight::SemiBold, self.room());
        self.scene
            .strong((MARGIN, self.y), Anchor::Start, size::TEXT, words);
        self.y += 4.0;
    }

    /// Sets a legend, in as many lines as it needs.
    pub(crate) fn legend(&mut self, entries: &[(Sample, &str)]) {
        self.y += 26.0;
        let right = self.scene.width - MARGIN;
        let mut x = MARGIN;
        for (sample, words) in entries {
            let wide = match sample {
                Sample::Glyph(_) => 11.0,
                Sample::Fill(_) => 18.0,
                Sample::Line(..) | Sample::Dashed(..) => 24.0,
            };
            let words = text::fit(
                words,
                size::SMALL,
                Weight::Regular,
                self.room() - wide - 8.0,
            );
            let length = wide + 7.0 + text::width(&words, size::SMALL, Weight::Regular);
            if x > MARGIN && x + length > right {
                x = MARGIN;
                self.y += 19.0;
            }
            let middle = self.y - 4.0;
            match sample {
                Sample::Glyph(glyph) => {
                    for shape in glyph.shapes((x + 5.5, middle), 4.5) {
                        self.scene.shape(shape);
                    }
                }
                Sample::Fill(fill) => {
                    for shape in fill.shapes((x, middle - 5.5), (wide, 11.0)) {
                        self.scene.shape(shape);
                    }
                }
                Sample::Line(paint, width) => {
                    self.scene
                        .line((x, middle), (x + wide, middle), *paint, *width);
                }
                Sample::Dashed(paint, width) => {
                    self.scene
                        .dashed(&[(x, middle), (x + wide, middle)], *paint, *width, DASH);
                }
            }
            self.scene.text(
                (x + wide + 7.0, self.y),
                Anchor::Start,
                size::SMALL,
                Paint::Ink2,
                words,
            );
            x += length + 20.0;
        }
    }

    /// Sets entries below each other's heading, none broken unless it is too long alone.
    pub(crate) fn note(&mut self, heading: &str, entries: &[String]) {
        if entries.is_empty() {
            return;
        }
        self.y += 26.0;
        let indent = text::width(heading, size::SMALL, Weight::Regular) + 14.0;
        self.scene.text(
            (MARGIN, self.y),
            Anchor::Start,
            size::SMALL,
            Paint::Ink,
            heading,
        );
        for (i, line) in join(entries, self.room() - indent).into_iter().enumerate() {
            if i > 0 {
                self.y += 17.0;
            }
            self.scene.text(
                (MARGIN + indent, self.y),
                Anchor::Start,
                size::SMALL,
                Paint::Ink2,
                line,
            );
        }
    }

    /// Says that there is nothing to draw, and why.
    pub(crate) fn empty(&mut self, why: &str) {
        self.y += 14.0;
        self.lines(why, Paint::Ink2);
    }

    /// The finished drawing.
    pub(crate) fn done(mut self) -> Scene {
        self.scene.height = self.y + MARGIN;
        self.scene
    }
}

/// Entries in lines, none broken unless it is too long alone.
pub(crate) fn join(entries: &[String], room: f64) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for entry in entries {
        let entry = text::fit(entry, size::SMALL, Weight::Regular, room);
        if let Some(last) = out.last_mut() {
            let joined = format!("{last}  ·  {entry}");
            if text::width(&joined, size::SMALL, Weight::Regular) <= room {
                *last = joined;
                continue;
            }
        }
        out.push(entry);
    }
    out
}

/// The widest of some texts, at most `most`.
pub(crate) fn widest<'a>(
    texts: impl Iterator<Item = &'a str>,
    font: f64,
    weight: Weight,
    most: f64,
) -> f64 {
    texts
        .map(|t| text::width(t, font, weight))
        .fold(0.0, f64::max)
        .min(most)
        .ceil()
}
