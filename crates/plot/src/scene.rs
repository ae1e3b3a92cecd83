//! A figure as shapes and texts on a plane, before it is drawn: what both outputs
//! share, and what tests look at. Units are pixels of the figure's own size.

use crate::text::{self, Weight};
use crate::theme::Paint;

/// A point.
pub type Point = (f64, f64);

/// Which end of a text stands at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// One shape. Each becomes one element.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A filled rectangle.
    Rect {
        /// Top left corner.
        at: Point,
        /// Width and height.
        size: (f64, f64),
        /// Its filling.
        fill: Paint,
    },
    /// An open line.
    Line {
        /// Its corners, at least two.
        points: Vec<Point>,
        /// Its colour.
        stroke: Paint,
        /// Its width.
        width: f64,
    },
    /// A filled polygon.
    Polygon {
        /// Its corners.
        points: Vec<Point>,
        /// Its filling.
        fill: Paint,
    },
    /// A filled circle.
    Disc {
        /// Its centre.
        at: Point,
        /// Its radius.
        radius: f64,
        /// Its filling.
        fill: Paint,
    },
    /// An empty circle.
    Ring {
        /// Its centre.
        at: Point,
        /// Its radius, to the middle of the line.
        radius: f64,
        /// Its colour.
        stroke: Paint,
        /// Width of the line.
        width: f64,
    },
}

impl Shape {
    /// Top and bottom, for drawing in bands.
    pub(crate) fn span(&self) -> (f64, f64) {
        match self {
            Shape::Rect { at, size, .. } => (at.1, at.1 + size.1),
            Shape::Line { points, width, .. } => {
                let (top, bottom) = extent(points);
                (top - width, bottom + width)
            }
            Shape::Polygon { points, .. } => extent(points),
            Shape::Disc { at, radius, .. } => (at.1 - radius, at.1 + radius),
            Shape::Ring {
                at, radius, width, ..
            } => (at.1 - radius - width, at.1 + radius + width),
        }
    }

    /// The role and whether it is a stroke.
    pub(crate) fn paint(&self) -> (Paint, bool) {
        match self {
            Shape::Rect { fill, .. } | Shape::Polygon { fill, .. } | Shape::Disc { fill, .. } => {
                (*fill, false)
            }
            Shape::Line { stroke, .. } | Shape::Ring { stroke, .. } => (*stroke, true),
        }
    }
}

fn extent(points: &[Point]) -> (f64, f64) {
    points
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(top, bottom), p| {
            (top.min(p.1), bottom.max(p.1))
        })
}

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// Where its baseline is anchored.
    pub at: Point,
    /// Which end of it stands there.
    pub anchor: Anchor,
    /// Type size in pixels.
    pub size: f64,
    /// How heavy.
    pub weight: Weight,
    /// Its colour.
    pub paint: Paint,
    /// Whether it runs from bottom to top.
    pub upward: bool,
    /// The words.
    pub text: String,
}

/// An upright box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Bottom edge.
    pub bottom: f64,
}

impl Area {
    /// Whether two boxes share more than an edge.
    pub fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether another box lies inside this one.
    pub fn holds(&self, other: &Area) -> bool {
        other.left >= self.left
            && other.right <= self.right
            && other.top >= self.top
            && other.bottom <= self.bottom
    }
}

impl Label {
    /// The box that the text covers.
    pub fn area(&self) -> Area {
        let length = text::width(&self.text, self.size, self.weight);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        let (x, y) = self.at;
        let (up, down) = (text::ASCENT * self.size, text::DESCENT * self.size);
        if self.upward {
            Area {
                left: x - up,
                right: x + down,
                top: y - (length - before),
                bottom: y + before,
            }
        } else {
            Area {
                left: x - before,
                right: x - before + length,
                top: y - up,
                bottom: y + down,
            }
        }
    }

    /// Where the text's baseline begins.
    pub(crate) fn origin(&self) -> Point {
        let length = text::width(&self.text, self.size, self.weight);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        if self.upward {
            (self.at.0, self.at.1 + before)
        } else {
            (self.at.0 - before, self.at.1)
        }
    }
}

/// Shapes that belong together and answer to the reader: one datum.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    /// What it says on hover and on focus.
    pub tip: String,
    /// Where it leads: an address of the site or a web address; anything else is dropped.
    pub href: Option<String>,
    /// Further data, as `data-` attributes.
    pub data: Vec<(&'static str, String)>,
    /// Its shapes.
    pub shapes: Vec<Shape>,
}

/// Shapes alone, or shapes that carry a datum.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Decoration: axes, grid, brackets.
    Plain(Shape),
    /// One datum.
    Mark(Mark),
}

/// A whole figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// Shapes, from back to front.
    pub items: Vec<Item>,
    /// Texts, in front of all shapes.
    pub labels: Vec<Label>,
}

impl Scene {
    /// An empty figure.
    pub fn new(width: f64, height: f64) -> Self {
        Self {
            width,
            height,
            items: Vec::new(),
            labels: Vec::new(),
        }
    }

    /// What can't be read: texts that lie on another or leave the sheet.
    pub fn collisions(&self) -> Vec<String> {
        let sheet = Area {
            left: 0.0,
            top: 0.0,
            right: self.width,
            bottom: self.height,
        };
        let areas: Vec<Area> = self.labels.iter().map(Label::area).collect();
        let mut found = Vec::new();
        for (i, (a, label)) in areas.iter().zip(&self.labels).enumerate() {
            if !sheet.holds(a) {
                found.push(format!("`{}` leaves the sheet: {a:?}", label.text));
            }
            for (b, other) in areas.iter().zip(&self.labels).skip(i + 1) {
                if a.overlaps(b) {
                    found.push(format!("`{}` on `{}`", label.text, other.text));
                }
            }
        }
        found
    }

    /// Adds a shape that carries no datum.
    pub fn shape(&mut self, shape: Shape) {
        self.items.push(Item::Plain(shape));
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: Point, to: Point, stroke: Paint, width: f64) {
        self.shape(Shape::Line {
            points: vec![from, to],
            stroke,
            width,
        });
    }

    /// Adds a broken line through points: dashes and gaps of these lengths.
    pub fn dashed(&mut self, points: &[Point], stroke: Paint, width: f64, (dash, gap): (f64, f64)) {
        let mut left = dash;
        let mut drawing = true;
        let mut piece = points.first().copied().into_iter().collect::<Vec<_>>();
        for pair in points.windows(2) {
            let (mut from, to) = (pair[0], pair[1]);
            loop {
                let length = (to.0 - from.0).hypot(to.1 - from.1);
                // Written so that a length that is no number ends the line too.
                if !(length > left && length >= 1e-9) {
                    left -= length;
                    piece.push(to);
                    break;
                }
                let share = left / length;
                from = (
                    from.0 + (to.0 - from.0) * share,
                    from.1 + (to.1 - from.1) * share,
                );
                piece.push(from);
                let done = std::mem::replace(&mut piece, vec![from]);
                if drawing {
                    self.shape(Shape::Line {
                        points: done,
                        stroke,
                        width,
                    });
                }
                drawing = !drawing;
                left = if drawing { dash } else { gap };
            }
        }
        if drawing && piece.len() > 1 {
            self.shape(Shape::Line {
                points: piece,
                stroke,
                width,
            });
        }
    }

    /// Adds a text.
    pub fn text(
        &mut self,
        at: Point,
        anchor: Anchor,
        size: f64,
        paint: Paint,
        text: impl Into<String>,
    ) {
        self.labels.push(Label {
            at,
            anchor,
            size,
            weight: Weight::Regular,
            paint,
            upward: false,
            text: text.into(),
        });
    }

    /// Adds a heavier text.
    pub fn strong(&mut self, at: Point, anchor: Anchor, size: f64, text: impl Into<String>) {
        self.text(at, anchor, size, Paint::Ink, text);
        if let Some(last) = self.labels.last_mut() {
            last.weight = Weight::SemiBold;
        }
    }

    /// Every shape, from back to front.
    pub(crate) fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.items.iter().flat_map(|item| match item {
            Item::Plain(shape) => std::slice::from_ref(shape),
            Item::Mark(mark) => mark.shapes.as_slice(),
        })
    }
}
