//! A rectangle with two scales: grid, axes, ticks, and where values stand in it.

use crate::axis;
use crate::kit::words::short;
use crate::scene::{Anchor, Area, Point, Scene};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// From values to places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<f64>,
}

impl Scale {
    /// A linear scale over exactly this range, with round ticks inside it.
    pub(crate) fn linear(low: f64, high: f64, about: usize) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() && high > low {
            (low, high)
        } else {
            (0.0, 1.0)
        };
        let slack = (high - low) * 1e-9;
        let mut ticks = axis::linear(low, high, about);
        ticks.retain(|t| *t >= low - slack && *t <= high + slack);
        Self {
            low,
            high,
            log: false,
            ticks,
        }
    }

    /// A linear scale from zero to a round number at or above all values.
    pub(crate) fn from_zero(values: impl Iterator<Item = f64>, about: usize) -> Self {
        let high = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
        let high = if high > 0.0 { high.min(1e15) } else { 1.0 };
        let top = axis::linear(0.0, high, about)
            .last()
            .copied()
            .unwrap_or(high);
        Self::linear(0.0, top, about)
    }

    /// A linear scale around all values and zero.
    pub(crate) fn around_zero(values: impl Iterator<Item = f64>, about: usize) -> Self {
        let (mut low, mut high) = values
            .filter(|v| v.is_finite())
            .fold((0.0_f64, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
        if high - low < 1e-9 {
            (low, high) = (-0.1, 0.1);
        }
        let room = (high - low) * 0.06;
        Self::linear(low - room, high + room, about)
    }

    /// A logarithmic scale around values above zero.
    pub(crate) fn log(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = axis::log_range(values.filter(|v| (1e-9..1e12).contains(v)));
        Self {
            low,
            high,
            log: true,
            ticks: axis::logarithmic(low, high),
        }
    }

    /// Its ticks.
    pub(crate) fn ticks(&self) -> &[f64] {
        &self.ticks
    }

    /// Where a value stands, 0 to 1; what lies outside stands at the edge.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(1e-300) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }
}

/// How a scale's numbers are written.
pub(crate) type Format = fn(f64) -> String;

/// Hundredths without a sign of percent.
pub(crate) fn percent_tick(v: f64) -> String {
    format!("{:.0}", v * 100.0)
}

/// Points with their sign.
pub(crate) fn points_tick(v: f64) -> String {
    super::words::signed(v * 100.0, 0)
}

/// Any number, short.
pub(crate) fn plain_tick(v: f64) -> String {
    let text = short(v);
    match text.find(['k', 'M', 'G']) {
        // `2.00M` says no more than `2M`.
        Some(at) if text.contains('.') => {
            let number = text[..at].trim_end_matches('0').trim_end_matches('.');
            format!("{number}{}", &text[at..])
        }
        _ => text,
    }
}

/// A plane.
pub(crate) struct Plane {
    pub(crate) area: Area,
    pub(crate) x: Scale,
    pub(crate) y: Scale,
}

impl Plane {
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.area.left + self.x.share(value) * (self.area.right - self.area.left)
    }

    pub(crate) fn y(&self, value: f64) -> f64 {
        self.area.bottom - self.y.share(value) * (self.area.bottom - self.area.top)
    }

    pub(crate) fn at(&self, x: f64, y: f64) -> Point {
        (self.x(x), self.y(y))
    }

    /// Horizontal grid lines with their numbers at the left.
    pub(crate) fn y_axis(&self, scene: &mut Scene, format: Format) {
        for tick in self.y.ticks() {
            let y = self.y(*tick);
            scene.line((self.area.left, y), (self.area.right, y), Paint::Grid, 1.0);
            scene.text(
                (self.area.left - 8.0, y + 4.0),
                Anchor::End,
                size::SMALL,
                Paint::Ink2,
                format(*tick),
            );
        }
    }

    /// The lower edge with its numbers and its title. Gives the lowest line.
    pub(crate) fn x_axis(&self, scene: &mut Scene, format: Format, title: &str) -> f64 {
        let area = self.area;
        scene.line(
            (area.left, area.bottom),
            (area.right, area.bottom),
            Paint::Line,
            1.0,
        );
        ticks_below(scene, &self.x, area, format);
        let title = text::fit(
            title,
            size::SMALL,
            Weight::Regular,
            area.right - area.left + 8.0,
        );
        scene.text(
            (area.right, area.bottom + 36.0),
            Anchor::End,
            size::SMALL,
            Paint::Ink2,
            title,
        );
        area.bottom + 40.0
    }
}

/// Numbers below an edge, as many as have room beside each other.
pub(crate) fn ticks_below(scene: &mut Scene, scale: &Scale, area: Area, format: Format) {
    let mut free = f64::NEG_INFINITY;
    for tick in scale.ticks() {
        let x = area.left + scale.share(*tick) * (area.right - area.left);
        scene.line((x, area.bottom), (x, area.bottom + 4.0), Paint::Line, 1.0);
        let words = format(*tick);
        let half = text::width(&words, size::SMALL, Weight::Regular) / 2.0;
        if x - half < free || x + half > scene.width {
            continue;
        }
        free = x + half + 6.0;
        scene.text(
            (x, area.bottom + 18.0),
            Anchor::Middle,
            size::SMALL,
            Paint::Ink2,
            words,
        );
    }
}

/// Places for labels of one height beside a vertical scale: in the order of
/// their wishes, none nearer than `gap` to the next, as near to their wishes as
/// goes, all at or below `top`. Wishes must ascend.
pub(crate) fn spread(wishes: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    // Heaps of labels that push each other: (sum of wished tops, count).
    let mut heaps: Vec<(f64, usize)> = Vec::new();
    let start = |(sum, n): (f64, usize)| {
        let n_f = n as f64;
        let height = gap * (n_f - 1.0);
        let wanted = sum / n_f - height / 2.0;
        wanted.min(bottom - height).max(top)
    };
    for wish in wishes {
        heaps.push((*wish, 1));
        while heaps.len() > 1 {
            let (last, before) = (heaps[heaps.len() - 1], heaps[heaps.len() - 2]);
            if start(before) + gap * before.1 as f64 <= start(last) + 1e-9 {
                break;
            }
            heaps.pop();
            if let Some(heap) = heaps.last_mut() {
                *heap = (before.0 + last.0, before.1 + last.1);
            }
        }
    }
    heaps
        .into_iter()
        .flat_map(|heap| (0..heap.1).map(move |i| start(heap) + gap * i as f64))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_spread_in_order_and_near() {
        assert_eq!(spread(&[10.0, 50.0], 12.0, 0.0, 100.0), [10.0, 50.0]);
        let heap = spread(&[50.0, 50.0, 50.0], 12.0, 0.0, 100.0);
        assert_eq!(heap, [38.0, 50.0, 62.0]);
        let edge = spread(&[1.0, 2.0, 3.0, 90.0], 12.0, 0.0, 100.0);
        assert_eq!(edge, [0.0, 12.0, 24.0, 90.0]);
        let many: Vec<f64> = (0..50).map(|i| f64::from(i * i) % 97.0).collect();
        let mut sorted = many;
        sorted.sort_by(f64::total_cmp);
        let placed = spread(&sorted, 4.0, 0.0, 400.0);
        assert!(placed.windows(2).all(|w| w[1] - w[0] >= 4.0 - 1e-9));
        assert!(spread(&[], 4.0, 0.0, 1.0).is_empty());
    }

    #[test]
    fn scales_hold_odd_values() {
        let scale = Scale::log([f64::NAN, 0.0, -3.0, 10.0].into_iter());
        assert!((0.0..=1.0).contains(&scale.share(f64::NAN)));
        assert_eq!(scale.share(0.0), 0.0);
        let scale = Scale::linear(f64::NAN, 3.0, 4);
        assert!((0.0..=1.0).contains(&scale.share(f64::INFINITY)));
        assert!(!Scale::from_zero([1e300].into_iter(), 5).ticks().is_empty());
        assert!(!Scale::around_zero([].into_iter(), 5).ticks().is_empty());
    }
}
