//! Marks that differ in shape, and grounds that differ in pattern, so that no
//! figure tells anything by colour alone.

use crate::scene::{Point, Shape};
use crate::theme::Paint;

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyph {
    /// An empty circle.
    Ring(Paint),
    /// A full circle.
    Disc(Paint),
    /// A full square.
    Square(Paint),
    /// A full square on its corner.
    Diamond(Paint),
    /// A triangle that points up.
    Up(Paint),
    /// A triangle that points down.
    Down(Paint),
}

impl Glyph {
    /// Its shapes around a centre; `r` is the radius of the circle it is as large as.
    pub(crate) fn shapes(self, (x, y): Point, r: f64) -> Vec<Shape> {
        let polygon = |points: Vec<Point>, fill| vec![Shape::Polygon { points, fill }];
        match self {
            Glyph::Ring(stroke) => vec![
                Shape::Disc {
                    at: (x, y),
                    radius: r,
                    fill: Paint::Paper,
                },
                Shape::Ring {
                    at: (x, y),
                    radius: r - 0.7,
                    stroke,
                    width: 1.4,
                },
            ],
            Glyph::Disc(fill) => vec![Shape::Disc {
                at: (x, y),
                radius: r,
                fill,
            }],
            Glyph::Square(fill) => vec![Shape::Rect {
                at: (x - r * 0.9, y - r * 0.9),
                size: (r * 1.8, r * 1.8),
                fill,
            }],
            Glyph::Diamond(fill) => {
                let d = r * 1.3;
                polygon(vec![(x - d, y), (x, y - d), (x + d, y), (x, y + d)], fill)
            }
            Glyph::Up(fill) => polygon(
                vec![
                    (x - r * 1.15, y + r * 0.95),
                    (x + r * 1.15, y + r * 0.95),
                    (x, y - r * 1.1),
                ],
                fill,
            ),
            Glyph::Down(fill) => polygon(
                vec![
                    (x - r * 1.15, y - r * 0.95),
                    (x + r * 1.15, y - r * 0.95),
                    (x, y + r * 1.1),
                ],
                fill,
            ),
        }
    }
}

/// How a bar or a cell is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// One colour.
    Solid(Paint),
    /// Slanted lines within a frame.
    Hatch(Paint),
    /// A frame alone.
    Frame(Paint),
    /// Rows of dots within a frame.
    Dots(Paint),
}

impl Fill {
    /// Its shapes in a rectangle; all of it takes the pointer.
    pub(crate) fn shapes(self, at: Point, size: (f64, f64)) -> Vec<Shape> {
        let (w, h) = size;
        if !(w > 0.0 && h > 0.0) {
            return Vec::new();
        }
        let paint = match self {
            Fill::Solid(fill) => return vec![Shape::Rect { at, size, fill }],
            Fill::Hatch(p) | Fill::Frame(p) | Fill::Dots(p) => p,
        };
        let mut shapes = vec![Shape::Rect {
            at,
            size,
            fill: Paint::Paper,
        }];
        match self {
            Fill::Hatch(_) => shapes.extend(hatch(at, size, paint, 4.5)),
            Fill::Dots(_) => shapes.extend(dots(at, size, paint)),
            _ => {}
        }
        let (x, y) = at;
        let inset = 0.5_f64.min(w / 2.0).min(h / 2.0);
        let (l, r, t, b) = (x + inset, x + w - inset, y + inset, y + h - inset);
        shapes.push(Shape::Line {
            points: vec![(l, t), (r, t), (r, b), (l, b), (l, t)],
            stroke: paint,
            width: 1.0,
        });
        shapes
    }
}

/// Slanted lines clipped to a rectangle, so many pixels apart.
pub(crate) fn hatch(at: Point, (w, h): (f64, f64), stroke: Paint, step: f64) -> Vec<Shape> {
    let mut shapes = Vec::new();
    // No bar needs more lines than a screen has columns.
    let step = step.max((w + h) / 400.0);
    let mut offset = step * 0.6;
    while offset < w + h {
        // The line x + y = offset, within the rectangle.
        let from = if offset <= h {
            (0.0, offset)
        } else {
            (offset - h, h)
        };
        let to = if offset <= w {
            (offset, 0.0)
        } else {
            (w, offset - w)
        };
        shapes.push(Shape::Line {
            points: vec![(at.0 + from.0, at.1 + from.1), (at.0 + to.0, at.1 + to.1)],
            stroke,
            width: 0.9,
        });
        offset += step;
    }
    shapes
}

fn dots(at: Point, (w, h): (f64, f64), fill: Paint) -> Vec<Shape> {
    let step = 5.0_f64.max((w * h / 600.0).sqrt());
    let mut shapes = Vec::new();
    let (mut y, mut odd) = (step * 0.6, false);
    while y < h - 1.0 {
        let mut x = if odd { step * 0.5 } else { step };
        while x < w - 1.0 {
            shapes.push(Shape::Disc {
                at: (at.0 + x, at.1 + y),
                radius: 0.9,
                fill,
            });
            x += step;
        }
        y += step;
        odd = !odd;
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_inside() {
        for size in [(40.0, 12.0), (3.0, 60.0), (0.4, 12.0), (900.0, 900.0)] {
            for fill in [
                Fill::Hatch(Paint::Fail),
                Fill::Dots(Paint::Fail),
                Fill::Frame(Paint::Fail),
            ] {
                for shape in fill.shapes((10.0, 20.0), size) {
                    let points = match shape {
                        Shape::Line { points, .. } => points,
                        Shape::Disc { at, .. } => vec![at],
                        _ => continue,
                    };
                    for (x, y) in points {
                        assert!(x >= 9.99 && x <= 10.01 + size.0, "{x} in {size:?}");
                        assert!(y >= 19.99 && y <= 20.01 + size.1, "{y} in {size:?}");
                    }
                }
            }
        }
        assert!(
            Fill::Solid(Paint::Ink)
                .shapes((0.0, 0.0), (0.0, 5.0))
                .is_empty()
        );
    }
}
