//! Finds places for names beside points, so that no name covers another name, a
//! point, or anything else that was set before. Deterministic, and honest: what
//! finds no place is said to have none.

use crate::scene::{Area, Point};

/// A name that wants a place.
pub(crate) struct Wish {
    /// The point that it names.
    pub(crate) at: Point,
    /// Width and height of the name.
    pub(crate) size: (f64, f64),
}

/// Gaps between a point and its name that are tried, in turn.
const GAPS: [f64; 5] = [8.0, 16.0, 26.0, 38.0, 52.0];

/// What is there before the names come.
pub(crate) struct Ground<'a> {
    /// Names stay inside.
    pub(crate) inside: Area,
    /// Marks, which stay free.
    pub(crate) points: &'a [Point],
    /// How far a mark reaches.
    pub(crate) radius: f64,
    /// Lines that no name crosses.
    pub(crate) walls: &'a [(Point, Point)],
    /// Lines that a name crosses only where nothing else is left.
    pub(crate) lines: &'a [(Point, Point)],
}

/// Places for the wishes, in order: earlier ones choose first, and boxes in
/// `taken` stay free. None where there is no place.
pub(crate) fn place(
    wishes: &[Wish],
    ground: &Ground<'_>,
    taken: &mut Vec<Area>,
) -> Vec<Option<Area>> {
    let radius = ground.radius;
    let mut blocked: Vec<Area> = ground
        .points
        .iter()
        .map(|p| Area {
            left: p.0 - radius,
            top: p.1 - radius,
            right: p.0 + radius,
            bottom: p.1 + radius,
        })
        .collect();
    blocked.extend_from_slice(taken);
    let mut out = Vec::new();
    for wish in wishes {
        let mut best: Option<(f64, Area)> = None;
        for (rank, area) in candidates(wish).into_iter().enumerate() {
            let padded = Area {
                left: area.left - 2.0,
                top: area.top - 1.0,
                right: area.right + 2.0,
                bottom: area.bottom + 1.0,
            };
            let free = ground.inside.holds(&area)
                && !blocked.iter().any(|b| b.overlaps(&padded))
                && !ground.walls.iter().any(|(a, b)| crosses(&padded, *a, *b));
            if !free {
                continue;
            }
            let crossed = ground
                .lines
                .iter()
                .filter(|(a, b)| crosses(&padded, *a, *b))
                .count();
            let cost = crossed as f64 * 60.0 + rank as f64;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, area));
            }
        }
        let found = best.map(|(_, area)| area);
        if let Some(area) = found {
            blocked.push(area);
            taken.push(area);
        }
        out.push(found);
    }
    out
}

/// Boxes around a point, the best first: right, left, above, below, the corners;
/// near before far.
fn candidates(wish: &Wish) -> Vec<Area> {
    let ((x, y), (w, h)) = (wish.at, wish.size);
    let mut out = Vec::new();
    for gap in GAPS {
        let side = gap * 0.75;
        for (left, top) in [
            (x + gap, y - h / 2.0),
            (x - gap - w, y - h / 2.0),
            (x - w / 2.0, y - gap - h),
            (x - w / 2.0, y + gap),
            (x + side, y - side - h),
            (x + side, y + side),
            (x - side - w, y - side - h),
            (x - side - w, y + side),
        ] {
            out.push(Area {
                left,
                top,
                right: left + w,
                bottom: top + h,
            });
        }
    }
    out
}

/// Whether a line runs through a box.
fn crosses(area: &Area, a: Point, b: Point) -> bool {
    // Liang-Barsky: the part of the line that lies inside is not empty.
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (p, q) in [
        (-dx, a.0 - area.left),
        (dx, area.right - a.0),
        (-dy, a.1 - area.top),
        (dy, area.bottom - a.1),
    ] {
        if p.abs() < 1e-12 {
            if q < 0.0 {
                return false;
            }
        } else if p < 0.0 {
            from = from.max(q / p);
        } else {
            to = to.min(q / p);
        }
    }
    from <= to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_boxes() {
        let area = Area {
            left: 0.0,
            top: 0.0,
            right: 10.0,
            bottom: 10.0,
        };
        assert!(crosses(&area, (-5.0, 5.0), (15.0, 5.0)));
        assert!(crosses(&area, (5.0, 5.0), (6.0, 6.0)));
        assert!(!crosses(&area, (-5.0, 11.0), (15.0, 11.0)));
        assert!(!crosses(&area, (11.0, -5.0), (30.0, 5.0)));
    }

    #[test]
    fn names_never_share_ground() {
        let inside = Area {
            left: 0.0,
            top: 0.0,
            right: 300.0,
            bottom: 200.0,
        };
        let points: Vec<Point> = (0..30)
            .map(|i| {
                (
                    f64::from(i * 37 % 280) + 10.0,
                    f64::from(i * 53 % 180) + 10.0,
                )
            })
            .collect();
        let wishes: Vec<Wish> = points
            .iter()
            .map(|p| Wish {
                at: *p,
                size: (60.0, 13.0),
            })
            .collect();
        let mut taken = Vec::new();
        let walls = [((0.0, 100.0), (300.0, 100.0))];
        let ground = Ground {
            inside,
            points: &points,
            radius: 5.0,
            walls: &walls,
            lines: &[],
        };
        let places = place(&wishes, &ground, &mut taken);
        let areas: Vec<Area> = places.into_iter().flatten().collect();
        assert!(areas.len() >= 10);
        for (i, a) in areas.iter().enumerate() {
            assert!(inside.holds(a));
            assert!(a.bottom <= 100.0 || a.top >= 100.0);
            assert!(areas[i + 1..].iter().all(|b| !a.overlaps(b)));
        }
    }
}
