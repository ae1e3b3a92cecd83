//! Where everything in the heatmap stands.

use faultboard_domain::case::Family;

use super::{ConfigurationRow, PairState, PairedHeatmap};
use crate::figure::{Figure, grouped, percent, plural};
use crate::scene::{Anchor, Item, Label, Mark, Point, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// The family's name on a page.
fn family_title(family: Family) -> &'static str {
    match family {
        Family::ProtocolRecovery => "protocol recovery",
        Family::Concurrency => "concurrency",
        Family::ReplicationConsistency => "replication, consistency",
        Family::InputCrash => "input, crash",
        Family::ResourceDelivery => "resources, delivery",
    }
}

/// The family in one word, for a narrow head.
fn family_word(family: Family) -> &'static str {
    match family {
        Family::ProtocolRecovery => "recovery",
        Family::Concurrency => "concurrency",
        Family::ReplicationConsistency => "replication",
        Family::InputCrash => "input",
        Family::ResourceDelivery => "resources",
    }
}

/// How families are named above their columns: the longest that fits them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heads {
    Titles,
    Words,
    /// Letters, with a key below.
    Letters,
}

const MARGIN: f64 = 16.0;
/// Space between families.
const GAP: f64 = 8.0;
/// Widths of the columns at the right: both pass rates, gains, losses.
const RATES: [f64; 4] = [62.0, 62.0, 30.0, 30.0];

/// Where everything stands.
pub(super) struct Layout<'a> {
    data: &'a PairedHeatmap,
    groups: Vec<(Family, Vec<usize>)>,
    order: Vec<usize>,
    /// Cell and the space around it.
    pitch: f64,
    names: f64,
    /// Left edge of the cells.
    left: f64,
    /// Top edge of the cells.
    top: f64,
    /// Right edge of the cells.
    right: f64,
    width: f64,
    /// Room above the cells for names of cases; none if they would not be read.
    cases: f64,
    heads: Heads,
    note: Vec<String>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(data: &'a PairedHeatmap) -> Self {
        let groups = data.groups();
        let columns = data.cases.len();
        let order = data.order();
        let longest = data
            .rows
            .iter()
            .map(|r| text::width(&r.name, size::TEXT, Weight::Regular))
            .fold(0.0, f64::max);
        let names = longest.clamp(40.0, 250.0).ceil();
        let gaps = GAP * groups.len().saturating_sub(1) as f64;
        let rates: f64 = RATES.iter().sum();
        let room = 1180.0 - 2.0 * MARGIN - names - rates - 28.0 - gaps;
        let pitch = (room / columns.max(1) as f64).clamp(12.0, 28.0).floor();
        let left = MARGIN + names + 12.0;
        let right = left + pitch * columns as f64 + gaps;
        let width = (right + 12.0 + rates + MARGIN).max(520.0);
        let case_size = (pitch - 2.0).clamp(size::LEAST, size::SMALL);
        let cases = data
            .cases
            .iter()
            .map(|c| text::width(&c.case, case_size, Weight::Regular))
            .fold(0.0, f64::max)
            .min(130.0)
            .ceil();
        let fits = |name: fn(Family) -> &'static str| {
            groups.iter().all(|(family, c)| {
                let room = pitch * c.len() as f64 + GAP - 6.0;
                text::width(name(*family), size::SMALL, Weight::Regular) <= room
            })
        };
        let heads = if fits(family_title) {
            Heads::Titles
        } else if fits(family_word) {
            Heads::Words
        } else {
            Heads::Letters
        };
        let n = data.total().pairs();
        let facts = format!(
            "{} × {} · n = {} · {}",
            plural(data.rows.len(), "configuration", "configurations"),
            plural(columns, "case", "cases"),
            plural(n, "pair", "pairs"),
            data.about.line()
        );
        let note = text::wrap(&facts, size::SMALL, Weight::Regular, width - 2.0 * MARGIN);
        let top = MARGIN + 14.0 + 18.0 * note.len() as f64 + 16.0 + 20.0 + cases + 12.0;
        Self {
            data,
            groups,
            order,
            pitch,
            names,
            left,
            top,
            right,
            width,
            cases,
            heads,
            note,
        }
    }

    fn row_y(&self, row: usize) -> f64 {
        self.top + self.pitch * row as f64
    }

    fn bottom(&self) -> f64 {
        self.row_y(self.order.len())
    }

    fn case_size(&self) -> f64 {
        (self.pitch - 2.0).clamp(size::LEAST, size::SMALL)
    }

    fn row_size(&self) -> f64 {
        (self.pitch - 1.5).clamp(size::LEAST, size::TEXT)
    }

    pub(super) fn scene(&self) -> Scene {
        let mut scene = Scene::new(self.width, 0.0);
        self.head(&mut scene);
        let mut x = self.left;
        for (index, (family, columns)) in self.groups.iter().enumerate() {
            self.family(&mut scene, index, *family, x, columns.len());
            for column in columns {
                self.case(&mut scene, *column, x);
                x += self.pitch;
            }
            x += GAP;
        }
        for (row, index) in self.order.iter().enumerate() {
            self.row(&mut scene, row, &self.data.rows[*index]);
        }
        let end = self.legend(&mut scene);
        scene.height = end + MARGIN;
        scene
    }

    fn head(&self, scene: &mut Scene) {
        scene.strong(
            (MARGIN, MARGIN + 12.0),
            Anchor::Start,
            size::TITLE,
            PairedHeatmap::TITLE,
        );
        for (i, line) in self.note.iter().enumerate() {
            let y = MARGIN + 14.0 + 18.0 * (i + 1) as f64;
            scene.text(
                (MARGIN, y),
                Anchor::Start,
                size::SMALL,
                Paint::Ink2,
                line.clone(),
            );
        }
        let mut x = self.right + 12.0;
        for (i, words) in [
            ["symptom", "only, %"],
            ["with", "context, %"],
            ["", "▲"],
            ["", "▼"],
        ]
        .into_iter()
        .enumerate()
        {
            x += RATES[i];
            for (line, word) in words.into_iter().enumerate().filter(|(_, w)| !w.is_empty()) {
                let y = self.top - 8.0 - 13.0 * (1 - line) as f64;
                let paint = match word {
                    "▲" => Paint::Gain,
                    "▼" => Paint::Loss,
                    _ => Paint::Ink2,
                };
                scene.text((x, y), Anchor::End, size::SMALL, paint, word);
            }
        }
    }

    fn family(&self, scene: &mut Scene, index: usize, family: Family, x: f64, columns: usize) {
        let span = self.pitch * columns as f64 - 2.0;
        let y = self.top - 12.0 - self.cases - 6.0;
        scene.line((x, y), (x + span, y), Paint::Line, 1.0);
        let words = match self.heads {
            Heads::Titles => family_title(family).to_owned(),
            Heads::Words => family_word(family).to_owned(),
            Heads::Letters => letter(index),
        };
        scene.text((x, y - 6.0), Anchor::Start, size::SMALL, Paint::Ink2, words);
    }

    fn case(&self, scene: &mut Scene, column: usize, x: f64) {
        let case_size = self.case_size();
        let words = text::fit(
            &self.data.cases[column].case,
            case_size,
            Weight::Regular,
            self.cases + 1.0,
        );
        let middle = x + (self.pitch - 2.0) / 2.0;
        scene.labels.push(Label {
            at: (middle + text::CAP * case_size / 2.0 - 0.5, self.top - 8.0),
            anchor: Anchor::Start,
            size: case_size,
            weight: Weight::Regular,
            paint: Paint::Ink2,
            upward: true,
            text: words,
        });
    }

    fn row(&self, scene: &mut Scene, row: usize, configuration: &ConfigurationRow) {
        let row_size = self.row_size();
        let y = self.row_y(row);
        let baseline = y + (self.pitch - 2.0) / 2.0 + text::CAP * row_size / 2.0;
        let name = text::fit(&configuration.name, row_size, Weight::Regular, self.names);
        scene.text(
            (self.left - 12.0, baseline),
            Anchor::End,
            row_size,
            Paint::Ink,
            name,
        );
        let mut x = self.left;
        for (_, columns) in &self.groups {
            for column in columns {
                self.cell(scene, row, configuration, *column, (x, y));
                x += self.pitch;
            }
            x += GAP;
        }
        let counts = self.data.counts(configuration);
        let mut x = self.right + 12.0;
        let shown = |rate: Option<f64>| rate.map_or_else(|| "–".to_owned(), percent);
        let figures = [
            (shown(counts.symptom()), Paint::Ink),
            (shown(counts.context()), Paint::Ink),
            (counts.of(PairState::Gain).to_string(), Paint::Ink2),
            (counts.of(PairState::Loss).to_string(), Paint::Ink2),
        ];
        for (i, (words, paint)) in figures.into_iter().enumerate() {
            x += RATES[i];
            scene.text((x, baseline), Anchor::End, row_size, paint, words);
        }
    }

    fn cell(
        &self,
        scene: &mut Scene,
        row: usize,
        configuration: &ConfigurationRow,
        column: usize,
        at: Point,
    ) {
        let case = &self.data.cases[column];
        let cell = configuration.cells.get(column);
        let state = self.data.state(configuration, column);
        scene.items.push(Item::Mark(Mark {
            tip: format!(
                "{} · {}: {}",
                configuration.name,
                case.case,
                state.meaning()
            ),
            href: cell.and_then(|c| c.href.clone()),
            data: vec![
                ("row", row.to_string()),
                ("case", case.case.clone()),
                ("state", state.as_str().to_owned()),
            ],
            shapes: glyph(state, at, self.pitch - 2.0),
        }));
    }

    /// The legend with its counts, and the key to the families. Gives the lowest line.
    fn legend(&self, scene: &mut Scene) -> f64 {
        let total = self.data.total();
        let mut y = self.bottom() + 26.0;
        let mut x = MARGIN;
        for state in PairState::ALL {
            let words = format!("{} ({})", state.meaning(), grouped(total.of(state)));
            let length = 20.0 + text::width(&words, size::SMALL, Weight::Regular);
            if x > MARGIN && x + length > self.width - MARGIN {
                x = MARGIN;
                y += 20.0;
            }
            for shape in glyph(state, (x, y - 10.5), 13.0) {
                scene.shape(shape);
            }
            scene.text(
                (x + 19.0, y),
                Anchor::Start,
                size::SMALL,
                Paint::Ink2,
                words,
            );
            x += length + 20.0;
        }
        if self.heads == Heads::Letters {
            let key: Vec<String> = self
                .groups
                .iter()
                .enumerate()
                .map(|(i, (family, _))| format!("{} {}", letter(i), family_title(*family)))
                .collect();
            for line in text::wrap(
                &key.join(" · "),
                size::SMALL,
                Weight::Regular,
                self.width - 2.0 * MARGIN,
            ) {
                y += 20.0;
                scene.text((MARGIN, y), Anchor::Start, size::SMALL, Paint::Ink2, line);
            }
        }
        y
    }
}

fn letter(index: usize) -> String {
    char::from(b'A' + (index % 26) as u8).to_string()
}

/// A cell: its ground, and the mark that tells it apart without colour.
fn glyph(state: PairState, at: Point, side: f64) -> Vec<Shape> {
    let rect = |fill| Shape::Rect {
        at,
        size: (side, side),
        fill,
    };
    let centre = (at.0 + side / 2.0, at.1 + side / 2.0);
    let r = (side * 0.24).clamp(2.4, 5.5);
    let triangle = |up: f64, fill| {
        let (w, h) = (r * 1.25, r * 1.1);
        Shape::Polygon {
            points: vec![
                (centre.0 - w, centre.1 + up * h * 0.9),
                (centre.0 + w, centre.1 + up * h * 0.9),
                (centre.0, centre.1 - up * h),
            ],
            fill,
        }
    };
    match state {
        PairState::TiePass => vec![
            rect(Paint::PassTint),
            Shape::Disc {
                at: centre,
                radius: r,
                fill: Paint::Pass,
            },
        ],
        PairState::Gain => vec![rect(Paint::Gain), triangle(1.0, Paint::Paper)],
        PairState::Loss => vec![rect(Paint::Loss), triangle(-1.0, Paint::Paper)],
        PairState::TieFail => vec![
            // The ground takes the pointer, so that all of the cell answers.
            rect(Paint::Paper),
            Shape::Ring {
                at: centre,
                radius: r - 0.4,
                stroke: Paint::Fail,
                width: 1.2,
            },
        ],
        PairState::Missing => {
            let mut shapes = vec![rect(Paint::Paper)];
            let step = (side / 3.0).max(3.5);
            let mut offset = step * 0.75;
            while offset < 2.0 * side {
                let from = if offset <= side {
                    (at.0, at.1 + offset)
                } else {
                    (at.0 + offset - side, at.1 + side)
                };
                let to = if offset <= side {
                    (at.0 + offset, at.1)
                } else {
                    (at.0 + side, at.1 + offset - side)
                };
                shapes.push(Shape::Line {
                    points: vec![from, to],
                    stroke: Paint::Missing,
                    width: 1.0,
                });
                offset += step;
            }
            shapes
        }
    }
}
