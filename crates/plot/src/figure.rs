//! What every figure can do: be drawn, be read out, and give its numbers away.

use faultboard_domain::Track;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::scene::Scene;
use crate::theme::Theme;
use crate::{bitmap, svg};

/// Why a figure could not be drawn. None of these can come from its data.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The drawing library failed.
    #[error("the figure could not be drawn: {0}")]
    Draw(String),
    /// The figure is empty or larger than any screen.
    #[error("the figure is too large to be drawn as a picture; take the SVG or the CSV")]
    Size,
    /// Stored data are of another form.
    #[error("the figure's stored data can't be read: {0}")]
    Data(#[from] serde_json::Error),
}

/// From what a figure is drawn: every figure says it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct About {
    /// The case set release, such as `2026.1`.
    pub release: String,
    /// The date of the data, ISO 8601.
    pub date: String,
    /// The filters that hold, in words, such as `full subset`; may be empty.
    pub scope: String,
}

impl About {
    /// `release 2026.1 · 2026-11-30 · full subset`.
    pub fn line(&self) -> String {
        let mut parts = vec![format!("release {}", self.release), self.date.clone()];
        if !self.scope.is_empty() {
            parts.push(self.scope.clone());
        }
        parts.join(" · ")
    }
}

/// A figure: data that can be drawn. The same data always give the same bytes.
pub trait Figure: Serialize + DeserializeOwned {
    /// Its id, such as `pareto`.
    const ID: &'static str;
    /// Its title.
    const TITLE: &'static str;
    /// What it shows and how to read it, in a sentence or two.
    const SHOWS: &'static str;
    /// The tracks that it belongs to.
    const TRACKS: &'static [Track];

    /// Lays it out.
    fn scene(&self) -> Scene;
    /// What it shows, in a few sentences, for who can't see it.
    fn summary(&self) -> String;
    /// Its numbers, one datum a row, with a head row.
    fn csv(&self) -> String;

    /// Drops configurations that are not wanted. False where the figure pools
    /// configurations or shows none, and so stays as it is.
    fn keep(&mut self, _wanted: &dyn Fn(&str) -> bool) -> bool {
        false
    }

    /// As SVG, with a title, the summary as its description, and a title, link
    /// and data on each mark.
    ///
    /// # Errors
    /// When the drawing library fails.
    fn svg(&self, theme: Theme) -> Result<String, PlotError> {
        svg::render(
            &self.scene(),
            theme,
            &svg::Frame {
                id: Self::ID,
                title: Self::TITLE,
                description: &self.summary(),
            },
        )
    }

    /// As PNG, two pixels to one.
    ///
    /// # Errors
    /// When the drawing library fails, or the figure is larger than any screen.
    fn png(&self, theme: Theme) -> Result<Vec<u8>, PlotError> {
        bitmap::render(&self.scene(), theme)
    }

    /// Its data as JSON.
    fn json(&self) -> String {
        // Figures hold text, numbers and lists: nothing that JSON can't say.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// A form in which a figure is given away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A drawing.
    Svg(Theme),
    /// A picture.
    Png(Theme),
    /// Its numbers, one datum a row.
    Csv,
    /// Its data.
    Json,
    /// What it shows, in words.
    Summary,
}

impl Form {
    /// Of a figure.
    ///
    /// # Errors
    /// When the drawing library fails, or the figure is larger than any screen.
    pub fn of<F: Figure>(self, figure: &F) -> Result<Vec<u8>, PlotError> {
        Ok(match self {
            Form::Svg(theme) => figure.svg(theme)?.into_bytes(),
            Form::Png(theme) => figure.png(theme)?,
            Form::Csv => figure.csv().into_bytes(),
            Form::Json => figure.json().into_bytes(),
            Form::Summary => figure.summary().into_bytes(),
        })
    }
}

/// Rows of a CSV file.
pub(crate) struct Csv(String);

impl Csv {
    pub(crate) fn new(head: &[&str]) -> Self {
        let mut csv = Self(String::new());
        csv.row(&head.iter().map(|h| (*h).to_owned()).collect::<Vec<_>>());
        csv
    }

    /// Adds a row. Fields that a spreadsheet could take for a formula get an
    /// apostrophe in front; numbers do not.
    pub(crate) fn row(&mut self, fields: &[String]) {
        for (i, field) in fields.iter().enumerate() {
            if i > 0 {
                self.0.push(',');
            }
            let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r'])
                && field.parse::<f64>().is_err();
            let guarded = if formula {
                format!("'{field}")
            } else {
                field.clone()
            };
            if guarded.contains([',', '"', '\n', '\r']) {
                self.0.push('"');
                self.0.push_str(&guarded.replace('"', "\"\""));
                self.0.push('"');
            } else {
                self.0.push_str(&guarded);
            }
        }
        self.0.push_str("\r\n");
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// A number for a CSV field; empty if unknown.
pub(crate) fn field(value: Option<f64>) -> String {
    value
        .filter(|v| v.is_finite())
        .map_or_else(String::new, |v| v.to_string())
}

/// A share as a percentage with one digit.
pub(crate) fn percent(share: f64) -> String {
    faultboard_domain::rounding::percent(share)
}

/// `1 case`, `2 cases`, `11,673 pairs`.
pub(crate) fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// A count with its thousands set apart.
pub(crate) fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 11_673, 1_000_000].map(grouped),
            ["0", "999", "1,000", "11,673", "1,000,000"]
        );
        assert_eq!(plural(1, "case", "cases"), "1 case");
    }

    #[test]
    fn csv_quotes_and_disarms() {
        let mut csv = Csv::new(&["a", "b"]);
        csv.row(&["x,\"y\"".to_owned(), "=1+1".to_owned()]);
        csv.row(&["-2.5".to_owned(), "-x".to_owned()]);
        assert_eq!(csv.finish(), "a,b\r\n\"x,\"\"y\"\"\",'=1+1\r\n-2.5,'-x\r\n");
    }
}
