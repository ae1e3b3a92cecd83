//! `label-map`: one case, and where in its files attempts looked for the cause.
//! The labelled blocks stand above them, for those who may see labels: whoever
//! makes the data leaves them out for everybody else.

use std::collections::BTreeSet;

use faultboard_domain::Track;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, plural};
use crate::kit::glyph::Fill;
use crate::kit::mark;
use crate::kit::sheet::{MARGIN, Sample, Sheet, WIDTH, widest};
use crate::scene::{Anchor, Mark, Scene, Shape};
use crate::text::{self, Weight};
use crate::theme::{Paint, size};

/// Lines of a file: from `start`, before `end`, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapBlock {
    /// The file.
    pub file: String,
    /// First line.
    pub start: u64,
    /// The line after the last.
    pub end: u64,
    /// The function, may be empty.
    #[serde(default)]
    pub function: String,
    /// Whether it meets the other side; none where that is not shown.
    #[serde(default)]
    pub hit: Option<bool>,
}

/// An attempt's blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MapRow {
    /// Configuration and run.
    pub name: String,
    /// What it suspects.
    pub blocks: Vec<MapBlock>,
    /// Its page: an address of the site.
    #[serde(default)]
    pub href: Option<String>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelMap {
    /// Release, date, filters.
    pub about: About,
    /// The case.
    pub case: String,
    /// The labelled blocks; none for a reader who may not see them.
    pub labels: Option<Vec<MapBlock>>,
    /// The attempts.
    pub attempts: Vec<MapRow>,
}

/// Lines around blocks that are shown with them.
const AROUND: u64 = 12;
/// Files that are drawn; the rest are named.
const MOST_FILES: usize = 24;

/// A stretch of a file that is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    start: u64,
    end: u64,
}

impl Stretch {
    /// Width in the drawing: long ones are drawn shorter than they are.
    fn weight(self) -> f64 {
        ((self.end - self.start) as f64).sqrt()
    }
}

impl LabelMap {
    fn blocks(&self) -> impl Iterator<Item = &MapBlock> {
        self.labels
            .iter()
            .flatten()
            .chain(self.attempts.iter().flat_map(|a| &a.blocks))
    }

    /// Files with a label first, then the most suspected ones.
    fn files(&self) -> Vec<&str> {
        let all: BTreeSet<&str> = self.blocks().map(|b| b.file.as_str()).collect();
        let mut files: Vec<&str> = all.into_iter().collect();
        files.sort_by_key(|f| {
            let labelled = self.labels.iter().flatten().any(|b| b.file == *f);
            let suspects = self
                .attempts
                .iter()
                .filter(|a| a.blocks.iter().any(|b| b.file == *f))
                .count();
            (!labelled, std::cmp::Reverse(suspects), *f)
        });
        files
    }

    fn stretches(&self, file: &str) -> Vec<Stretch> {
        let mut all: Vec<Stretch> = self
            .blocks()
            .filter(|b| b.file == file)
            .map(|b| Stretch {
                start: b.start.saturating_sub(AROUND).max(1),
                end: b.end.max(b.start.saturating_add(1)).saturating_add(AROUND),
            })
            .collect();
        all.sort_by_key(|s| (s.start, s.end));
        let mut out: Vec<Stretch> = Vec::new();
        for s in all {
            match out.last_mut() {
                Some(last) if s.start <= last.end => last.end = last.end.max(s.end),
                _ => out.push(s),
            }
        }
        out
    }

    fn n(&self) -> String {
        let labels = match &self.labels {
            Some(l) => format!(
                " · {}",
                plural(l.len(), "labelled block", "labelled blocks")
            ),
            None => String::new(),
        };
        format!(
            "{} · n = {}{labels}",
            self.case,
            plural(self.attempts.len(), "attempt", "attempts")
        )
    }

    fn file(&self, sheet: &mut Sheet, file: &str, names: f64) {
        sheet.heading(file);
        let stretches = self.stretches(file);
        let left = MARGIN + names + 14.0;
        let room = WIDTH - MARGIN - left;
        let gap = 10.0_f64.min(room / (2.0 * stretches.len().max(1) as f64));
        let total: f64 = stretches.iter().map(|s| s.weight()).sum();
        let unit = (room - gap * stretches.len().saturating_sub(1) as f64) / total.max(1e-9);
        let mut starts = Vec::new();
        let mut x = left;
        for s in &stretches {
            starts.push(x);
            x += s.weight() * unit + gap;
        }
        let at = |line: u64| -> f64 {
            let i = stretches.iter().rposition(|s| s.start <= line).unwrap_or(0);
            let s = stretches[i];
            let share =
                line.min(s.end).saturating_sub(s.start) as f64 / (s.end - s.start).max(1) as f64;
            starts[i] + share * s.weight() * unit
        };
        let mut rows: Vec<(&str, Vec<&MapBlock>, bool, Option<&String>)> = Vec::new();
        if let Some(labels) = &self.labels {
            let mine: Vec<&MapBlock> = labels.iter().filter(|b| b.file == file).collect();
            rows.push(("labelled", mine, true, None));
        }
        for a in &self.attempts {
            let mine: Vec<&MapBlock> = a.blocks.iter().filter(|b| b.file == file).collect();
            if !mine.is_empty() {
                rows.push((&a.name, mine, false, a.href.as_ref()));
            }
        }
        let top = sheet.y + 8.0;
        let pitch = 20.0;
        let bottom = top + pitch * rows.len() as f64;
        for (s, start) in stretches.iter().zip(&starts) {
            let wide = s.weight() * unit;
            sheet
                .scene
                .line((*start, bottom), (start + wide, bottom), Paint::Line, 1.0);
            for edge in [*start, start + wide] {
                sheet
                    .scene
                    .line((edge, top), (edge, bottom), Paint::Grid, 1.0);
            }
            let words = format!("{} to {}", s.start, s.end.saturating_sub(1));
            if text::width(&words, size::SMALL, Weight::Regular) <= wide + gap - 4.0 {
                sheet.scene.text(
                    (*start, bottom + 15.0),
                    Anchor::Start,
                    size::SMALL,
                    Paint::Ink2,
                    words,
                );
            }
        }
        for (i, (name, blocks, label, href)) in rows.into_iter().enumerate() {
            let y = top + pitch * i as f64;
            let shown = text::fit(name, size::SMALL, Weight::Regular, names.max(20.0));
            sheet.scene.text(
                (
                    MARGIN + names,
                    y + pitch / 2.0 + text::CAP * size::SMALL / 2.0,
                ),
                Anchor::End,
                size::SMALL,
                if label { Paint::Ink } else { Paint::Ink2 },
                shown,
            );
            for b in blocks {
                let (l, r) = (at(b.start), at(b.end.max(b.start.saturating_add(1))));
                let fill = match (label, b.hit) {
                    (true, _) => Fill::Hatch(Paint::Ink),
                    (false, Some(true)) => Fill::Solid(Paint::Gain),
                    (false, Some(false)) => Fill::Dots(Paint::Loss),
                    (false, None) => Fill::Solid(Paint::Accent),
                };
                let function = if b.function.is_empty() {
                    String::new()
                } else {
                    format!(", {}", b.function)
                };
                let verdict = match (label, b.hit) {
                    (true, Some(true)) => ": found",
                    (true, Some(false)) => ": not found",
                    (false, Some(true)) => ": near a labelled block",
                    (false, Some(false)) => ": near none",
                    _ => "",
                };
                let mut shapes = vec![Shape::Rect {
                    at: (l, y + 3.0),
                    size: ((r - l).max(3.0), pitch - 6.0),
                    fill: Paint::Paper,
                }];
                shapes.extend(fill.shapes((l, y + 3.0), ((r - l).max(3.0), pitch - 6.0)));
                mark(
                    &mut sheet.scene,
                    Mark {
                        tip: format!(
                            "{name}: {} lines {} to {}{function}{verdict}",
                            b.file,
                            b.start,
                            b.end.saturating_sub(1).max(b.start)
                        ),
                        href: href.cloned(),
                        data: vec![("row", name.to_owned()), ("file", b.file.clone())],
                        shapes,
                    },
                );
            }
        }
        sheet.y = bottom + 16.0;
    }
}

impl Figure for LabelMap {
    const ID: &'static str = "label-map";
    const TITLE: &'static str = "Where attempts looked for the cause";
    const SHOWS: &'static str = "The blocks that each attempt suspects, file by file along the lines; stretches that nobody names are left out, and so are attempts that name nothing in a file.";
    const TRACKS: &'static [Track] = &[Track::Diagnosis];

    fn scene(&self) -> Scene {
        let mut sheet = Sheet::of::<Self>(WIDTH, &self.n(), &self.about);
        if self.blocks().next().is_none() {
            sheet.empty("No attempt names a block.");
            return sheet.done();
        }
        if self.labels.is_some() {
            sheet.legend(&[
                (Sample::Fill(Fill::Hatch(Paint::Ink)), "labelled"),
                (
                    Sample::Fill(Fill::Solid(Paint::Gain)),
                    "suspected, within 5 lines of a label",
                ),
                (
                    Sample::Fill(Fill::Dots(Paint::Loss)),
                    "suspected, near none",
                ),
            ]);
        } else {
            sheet.legend(&[(Sample::Fill(Fill::Solid(Paint::Accent)), "suspected")]);
        }
        let names = widest(
            self.attempts
                .iter()
                .map(|a| a.name.as_str())
                .chain(["labelled"]),
            size::SMALL,
            Weight::Regular,
            230.0,
        );
        let files = self.files();
        for file in files.iter().take(MOST_FILES) {
            self.file(&mut sheet, file, names);
        }
        let more: Vec<String> = files
            .iter()
            .skip(MOST_FILES)
            .map(|f| (*f).to_owned())
            .collect();
        sheet.note("Further files", &more);
        sheet.done()
    }

    fn summary(&self) -> String {
        let mut out = format!(
            "{}, {}.",
            self.n().replace(" · ", ", "),
            self.about.line().replace(" · ", ", ")
        );
        for a in &self.attempts {
            let blocks: Vec<String> = a
                .blocks
                .iter()
                .take(20)
                .map(|b| {
                    format!(
                        "{} lines {} to {}",
                        b.file,
                        b.start,
                        b.end.saturating_sub(1)
                    )
                })
                .collect();
            out.push_str(&format!(
                " {} suspects {}{}{}.",
                a.name,
                plural(a.blocks.len(), "block", "blocks"),
                if blocks.is_empty() { "" } else { ": " },
                blocks.join("; ")
            ));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&["row", "file", "function", "start_line", "end_line", "meets"]);
        let mut put = |row: &str, b: &MapBlock| {
            csv.row(&[
                row.to_owned(),
                b.file.clone(),
                b.function.clone(),
                b.start.to_string(),
                b.end.to_string(),
                b.hit.map_or_else(String::new, |h| h.to_string()),
            ]);
        };
        for b in self.labels.iter().flatten() {
            put("labelled", b);
        }
        for a in &self.attempts {
            for b in &a.blocks {
                put(&a.name, b);
            }
        }
        csv.finish()
    }
}
