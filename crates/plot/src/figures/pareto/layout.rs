//! Where everything in the plot stands.

use faultboard_domain::condition::Condition;

use super::{Across, Measure, Pareto};
use crate::axis;
use crate::figure::{Figure, plural};
use crate::place::{Ground, Wish, place};
use crate::scene::{Anchor, Area, Item, Mark, Point, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

const WIDTH: f64 = 880.0;
const MARGIN: f64 = 16.0;
/// Room at the left for the scale of rates.
const SCALE: f64 = 44.0;
/// Height of the plane for a dozen configurations, and what each further one adds.
const PLOT_HEIGHT: (f64, f64) = (420.0, 6.0);
const RADIUS: f64 = 4.5;

pub(super) struct Layout<'a> {
    data: &'a Pareto,
    plot: Area,
    x_ticks: Vec<f64>,
    y_ticks: Vec<f64>,
    x_range: (f64, f64),
    y_range: (f64, f64),
    note: Vec<String>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(data: &'a Pareto) -> Self {
        let facts = format!(
            "{} · {} · {}",
            plural(data.points.len(), "configuration", "configurations"),
            data.n(),
            data.about.line()
        );
        let note = text::wrap(&facts, size::SMALL, Weight::Regular, WIDTH - 2.0 * MARGIN);
        let top = MARGIN + 14.0 + 18.0 * note.len() as f64 + 62.0;
        let more = data.points.len().saturating_sub(12).min(30) as f64;
        let plot_height = PLOT_HEIGHT.0 + PLOT_HEIGHT.1 * more;
        let plot = Area {
            left: MARGIN + SCALE,
            top,
            right: WIDTH - MARGIN,
            bottom: top + plot_height,
        };
        let xs = || data.measures().filter_map(|m| data.x(m));
        let (x_range, x_ticks) = match data.across() {
            Across::Cost => {
                let range = axis::log_range(xs());
                (range, axis::logarithmic(range.0, range.1))
            }
            _ => {
                let ticks = axis::linear(0.0, xs().fold(1.0, f64::max) * 1.06, 6);
                ((0.0, ticks.last().copied().unwrap_or(1.0)), ticks)
            }
        };
        let placed = || {
            data.measures()
                .filter(|m| data.x(m).is_some())
                .map(|m| m.rate.clamp(0.0, 1.0) * 100.0)
        };
        let low = placed().fold(f64::INFINITY, f64::min);
        let high = placed().fold(f64::NEG_INFINITY, f64::max);
        let y_range = if low.is_finite() {
            // Some room around the points, and never less than 20 points of the scale.
            let slack = (10.0 - (high - low) / 2.0).max(5.0);
            ((low - slack).max(0.0), (high + slack).min(100.0))
        } else {
            (0.0, 100.0)
        };
        let mut y_ticks = axis::linear(y_range.0, y_range.1, 6);
        y_ticks.retain(|t| (y_range.0..=y_range.1).contains(t));
        Self {
            data,
            plot,
            x_ticks,
            y_ticks,
            x_range,
            y_range,
            note,
        }
    }

    fn x(&self, value: f64) -> f64 {
        let (low, high) = self.x_range;
        let share = match self.data.across() {
            Across::Cost => (value / low).ln() / (high / low).ln(),
            _ => (value - low) / (high - low),
        };
        self.plot.left + share * (self.plot.right - self.plot.left)
    }

    fn y(&self, percent: f64) -> f64 {
        let (low, high) = self.y_range;
        self.plot.bottom - (percent - low) / (high - low) * (self.plot.bottom - self.plot.top)
    }

    fn at(&self, measure: &Measure) -> Option<Point> {
        let x = self.data.x(measure)?;
        Some((self.x(x), self.y(measure.rate.clamp(0.0, 1.0) * 100.0)))
    }

    pub(super) fn scene(&self) -> Scene {
        let mut scene = Scene::new(WIDTH, 0.0);
        self.head(&mut scene);
        self.axes(&mut scene);
        let fronts = Condition::ALL.map(|c| self.data.front(c));
        let stairs = [0, 1].map(|i| self.stairs(Condition::ALL[i], &fronts[i]));
        let arrows = self.arrows();
        let walls: Vec<(Point, Point)> = stairs
            .iter()
            .flat_map(|s| s.windows(2).map(|w| (w[0], w[1])))
            .collect();
        // Names come before the lines: their ground covers the grid and nothing else.
        let key = self.names(&mut scene, &fronts, &walls, &arrows);
        scene.dashed(&stairs[0], Paint::Ink2, 1.2, DASH);
        if stairs[1].len() > 1 {
            let points = stairs[1].clone();
            scene.shape(Shape::Line {
                points,
                stroke: Paint::Accent,
                width: 1.5,
            });
        }
        for (from, to) in &arrows {
            arrow(&mut scene, *from, *to);
        }
        self.points(&mut scene);
        let end = self.foot(&mut scene, key);
        scene.height = end + MARGIN;
        scene
    }

    fn head(&self, scene: &mut Scene) {
        scene.strong(
            (MARGIN, MARGIN + 12.0),
            Anchor::Start,
            size::TITLE,
            Pareto::TITLE,
        );
        let mut y = MARGIN + 14.0;
        for line in &self.note {
            y += 18.0;
            scene.text(
                (MARGIN, y),
                Anchor::Start,
                size::SMALL,
                Paint::Ink2,
                line.clone(),
            );
        }
        y += 26.0;
        let mut x = MARGIN;
        let middle = y - 4.0;
        let entry = |scene: &mut Scene, x: &mut f64, mark: f64, words: &str| {
            scene.text(
                (*x + mark + 7.0, y),
                Anchor::Start,
                size::SMALL,
                Paint::Ink2,
                words,
            );
            *x += mark + 7.0 + text::width(words, size::SMALL, Weight::Regular) + 22.0;
        };
        scene.shape(symptom_mark((x + 5.0, middle)));
        entry(scene, &mut x, 10.0, Condition::SymptomOnly.title());
        scene.shape(context_mark((x + 5.0, middle)));
        entry(scene, &mut x, 10.0, Condition::ContextAugmented.title());
        scene.dashed(&[(x, middle), (x + 26.0, middle)], Paint::Ink2, 1.2, DASH);
        entry(scene, &mut x, 26.0, "front, symptom only");
        scene.line((x, middle), (x + 26.0, middle), Paint::Accent, 1.5);
        entry(scene, &mut x, 26.0, "front, with context");
    }

    fn axes(&self, scene: &mut Scene) {
        let plot = self.plot;
        for tick in &self.y_ticks {
            let y = self.y(*tick);
            scene.line((plot.left, y), (plot.right, y), Paint::Grid, 1.0);
            scene.text(
                (plot.left - 9.0, y + 4.0),
                Anchor::End,
                size::SMALL,
                Paint::Ink2,
                format!("{tick:.0}"),
            );
        }
        for tick in &self.x_ticks {
            let x = self.x(*tick);
            scene.line((x, plot.bottom), (x, plot.bottom + 5.0), Paint::Line, 1.0);
            let words = match self.data.across() {
                Across::Cost => axis::dollars(*tick),
                Across::Steps => format!("{tick:.0}"),
                Across::Nothing => continue,
            };
            scene.text(
                (x, plot.bottom + 19.0),
                Anchor::Middle,
                size::SMALL,
                Paint::Ink2,
                words,
            );
        }
        scene.line(
            (plot.left, plot.bottom),
            (plot.right, plot.bottom),
            Paint::Line,
            1.0,
        );
        let title = match self.data.across() {
            Across::Cost => "mean cost per case, US$ (logarithmic)",
            Across::Steps => "median steps per case (no cost is known)",
            Across::Nothing => "no cost and no steps are known",
        };
        scene.text(
            (plot.right, plot.bottom + 38.0),
            Anchor::End,
            size::SMALL,
            Paint::Ink2,
            title,
        );
        scene.text(
            (MARGIN, plot.top - 14.0),
            Anchor::Start,
            size::SMALL,
            Paint::Ink2,
            "pass rate, %",
        );
    }

    /// The front as a staircase: between two points the cheaper one still holds.
    fn stairs(&self, condition: Condition, front: &[usize]) -> Vec<Point> {
        let mut steps: Vec<Point> = Vec::new();
        for index in front {
            let measure = self.data.points[*index].measure(condition);
            let Some(at) = measure.and_then(|m| self.at(m)) else {
                continue;
            };
            if let Some(last) = steps.last() {
                steps.push((at.0, last.1));
            }
            steps.push(at);
        }
        if let Some(last) = steps.last().copied() {
            steps.push((self.plot.right, last.1));
        }
        steps
    }

    /// From each symptom-only point to its point with context.
    fn arrows(&self) -> Vec<(Point, Point)> {
        self.data
            .points
            .iter()
            .filter_map(|point| {
                let [from, to] = Condition::ALL.map(|c| point.measure(c).and_then(|m| self.at(m)));
                Some((from?, to?))
            })
            .collect()
    }

    fn points(&self, scene: &mut Scene) {
        // Points with context lie above the others where they meet.
        for condition in Condition::ALL {
            for point in &self.data.points {
                let Some(measure) = point.measure(condition) else {
                    continue;
                };
                let Some(at) = self.at(measure) else { continue };
                let ground = Shape::Disc {
                    at,
                    radius: RADIUS + 1.5,
                    fill: Paint::Paper,
                };
                let mark = match condition {
                    Condition::SymptomOnly => symptom_mark(at),
                    Condition::ContextAugmented => context_mark(at),
                };
                scene.items.push(Item::Mark(Mark {
                    tip: self.data.tip(point, condition, measure),
                    href: point.href.clone(),
                    data: vec![
                        ("configuration", point.name.clone()),
                        ("condition", condition.as_str().to_owned()),
                    ],
                    shapes: vec![ground, mark],
                }));
            }
        }
    }

    /// Writes each name beside its point, those on a front first. Where there is
    /// no room a number stands, and the key below tells whose it is.
    fn names(
        &self,
        scene: &mut Scene,
        fronts: &[Vec<usize>; 2],
        walls: &[(Point, Point)],
        lines: &[(Point, Point)],
    ) -> Vec<String> {
        let points: Vec<Point> = self.data.measures().filter_map(|m| self.at(m)).collect();
        let mut order: Vec<(usize, Point)> = self
            .data
            .points
            .iter()
            .enumerate()
            .filter_map(|(i, p)| {
                let at = [Condition::ContextAugmented, Condition::SymptomOnly]
                    .into_iter()
                    .find_map(|c| p.measure(c).and_then(|m| self.at(m)))?;
                Some((i, at))
            })
            .collect();
        let on_front = |i: usize| fronts.iter().any(|f| f.contains(&i));
        order.sort_by(|a, b| {
            on_front(b.0)
                .cmp(&on_front(a.0))
                .then(b.1.1.total_cmp(&a.1.1).reverse())
                .then_with(|| self.data.points[a.0].name.cmp(&self.data.points[b.0].name))
        });
        let shown = |i: usize| {
            text::fit(
                &self.data.points[i].name,
                size::SMALL,
                Weight::Regular,
                190.0,
            )
        };
        let wish = |words: &str, at: Point| Wish {
            at,
            size: (
                text::width(words, size::SMALL, Weight::Regular),
                size::SMALL,
            ),
        };
        let wishes: Vec<Wish> = order.iter().map(|(i, at)| wish(&shown(*i), *at)).collect();
        let inside = Area {
            left: self.plot.left + 3.0,
            top: self.plot.top - 6.0,
            right: self.plot.right,
            bottom: self.plot.bottom - 3.0,
        };
        let mut taken = Vec::new();
        let ground = Ground {
            inside,
            points: &points,
            radius: RADIUS + 1.0,
            walls,
            lines,
        };
        let places = place(&wishes, &ground, &mut taken);
        let mut numbered: Vec<(usize, Point)> = Vec::new();
        for ((index, at), area) in order.iter().zip(&places) {
            match area {
                Some(area) => name(scene, &shown(*index), *area, *at, on_front(*index)),
                None => numbered.push((*index, *at)),
            }
        }
        numbered.sort_by(|a, b| self.data.points[a.0].name.cmp(&self.data.points[b.0].name));
        let wishes: Vec<Wish> = numbered
            .iter()
            .enumerate()
            .map(|(n, (_, at))| wish(&(n + 1).to_string(), *at))
            .collect();
        let all: Vec<(Point, Point)> = walls.iter().chain(lines).copied().collect();
        let ground = Ground {
            walls: &[],
            lines: &all,
            ..ground
        };
        let places = place(&wishes, &ground, &mut taken);
        let mut key = Vec::new();
        for (n, ((index, at), area)) in numbered.iter().zip(&places).enumerate() {
            let whose = &self.data.points[*index].name;
            match area {
                Some(area) => {
                    name(scene, &(n + 1).to_string(), *area, *at, true);
                    if let Some(last) = scene.labels.last_mut() {
                        last.weight = Weight::SemiBold;
                    }
                    key.push(format!("{} {whose}", n + 1));
                }
                // No room even for a number: the mark itself still says its name.
                None => key.push(format!("unlabelled: {whose}")),
            }
        }
        key
    }

    /// The key of numbers, and what could not be placed. Gives the lowest line.
    fn foot(&self, scene: &mut Scene, key: Vec<String>) -> f64 {
        let mut y = self.plot.bottom + 38.0;
        let room = WIDTH - 2.0 * MARGIN;
        let mut paragraph = |scene: &mut Scene, heading: &str, entries: Vec<String>| {
            if entries.is_empty() {
                return;
            }
            y += 26.0;
            let indent = 86.0;
            scene.text((MARGIN, y), Anchor::Start, size::SMALL, Paint::Ink, heading);
            for (i, line) in lines(&entries, room - indent).into_iter().enumerate() {
                if i > 0 {
                    y += 17.0;
                }
                scene.text(
                    (MARGIN + indent, y),
                    Anchor::Start,
                    size::SMALL,
                    Paint::Ink2,
                    line,
                );
            }
        };
        paragraph(scene, "Numbers", key);
        paragraph(scene, "Not placed", self.data.aside());
        y
    }
}

/// Writes a name into its box; far from its point, a thread leads there.
fn name(scene: &mut Scene, words: &str, area: Area, at: Point, front: bool) {
    scene.shape(Shape::Rect {
        at: (area.left - 2.0, area.top - 1.0),
        size: (area.right - area.left + 4.0, area.bottom - area.top + 2.0),
        fill: Paint::Paper,
    });
    let nearest = (
        at.0.clamp(area.left, area.right),
        at.1.clamp(area.top, area.bottom),
    );
    let distance = (nearest.0 - at.0).hypot(nearest.1 - at.1);
    if distance > 13.0 {
        let share = (RADIUS + 2.0) / distance;
        let start = (
            at.0 + (nearest.0 - at.0) * share,
            at.1 + (nearest.1 - at.1) * share,
        );
        scene.line(start, nearest, Paint::Line, 0.8);
    }
    let baseline = (area.top + area.bottom) / 2.0 + text::CAP * size::SMALL / 2.0;
    let paint = if front { Paint::Ink } else { Paint::Ink2 };
    scene.text(
        (area.left, baseline),
        Anchor::Start,
        size::SMALL,
        paint,
        words,
    );
}

/// An arrow between two marks, clear of both.
fn arrow(scene: &mut Scene, from: Point, to: Point) {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let clear = RADIUS + 2.0;
    if length <= 2.0 * clear + 3.0 {
        return;
    }
    let (ux, uy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    let start = (from.0 + ux * clear, from.1 + uy * clear);
    let tip = (to.0 - ux * clear, to.1 - uy * clear);
    let neck = (tip.0 - ux * 5.0, tip.1 - uy * 5.0);
    scene.line(start, neck, Paint::Fail, 1.2);
    scene.shape(Shape::Polygon {
        points: vec![
            tip,
            (neck.0 - uy * 3.2, neck.1 + ux * 3.2),
            (neck.0 + uy * 3.2, neck.1 - ux * 3.2),
        ],
        fill: Paint::Fail,
    });
}

/// Entries in lines, none broken unless it is too long alone.
fn lines(entries: &[String], room: f64) -> Vec<String> {
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

const DASH: (f64, f64) = (4.0, 3.5);

fn symptom_mark(at: Point) -> Shape {
    Shape::Ring {
        at,
        radius: RADIUS - 0.7,
        stroke: Paint::Ink2,
        width: 1.4,
    }
}

fn context_mark(at: Point) -> Shape {
    Shape::Disc {
        at,
        radius: RADIUS,
        fill: Paint::Accent,
    }
}
