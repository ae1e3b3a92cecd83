//! Histograms with documented edges: fixed widths (recommended) and NumPy's
//! `auto` rule as of version 2.3.
//!
//! Edges are made first and counted into afterwards, so several groups can
//! share the edges of their pooled values. Never makes an unbounded number
//! of bins, whatever the width asked for.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::distribution::Distribution;

/// More bins than anyone can draw.
pub const MAX_BINS: usize = 100_000;

/// Why no histogram can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HistogramError {
    /// A value is NaN or infinite, or their range is.
    #[error("a histogram needs finite values within a finite range")]
    NotFinite,
    /// The width is not a positive finite number.
    #[error("a bin width must be positive and finite")]
    BadWidth,
    /// The width is too small for the range.
    #[error("the bin width would need more than {MAX_BINS} bins")]
    TooManyBins,
}

/// Bins and what lies in them: `edges.len() == counts.len() + 1`, or both
/// empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Histogram {
    /// Ascending edges.
    pub edges: Vec<f64>,
    /// Values per bin.
    pub counts: Vec<u64>,
}

/// Whether the values are whole numbers by nature (steps, tokens); the
/// `auto` rule then never makes bins narrower than 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Any numbers.
    Real,
}

/// Edges of the `auto` rule with the three widths it weighs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoEdges {
    /// Freedman-Diaconis width, 2 IQR n^(-1/3).
    pub fd_width: f64,
    /// Sturges width, range / (log2 n + 1).
    pub sturges_width: f64,
    /// Square-root width, range / sqrt n.
    pub sqrt_width: f64,
    /// Ascending edges; empty for no values.
    pub edges: Vec<f64>,
}

/// Smallest and largest value; `Ok(None)` for no values.
fn bounds(values: &[f64]) -> Result<Option<(f64, f64)>, HistogramError> {
    let Some(first) = values.first() else {
        return Ok(None);
    };
    if values.iter().any(|v| !v.is_finite()) {
        return Err(HistogramError::NotFinite);
    }
    let low = values.iter().copied().fold(*first, f64::min);
    let high = values.iter().copied().fold(*first, f64::max);
    if (high - low).is_finite() {
        Ok(Some((low, high)))
    } else {
        Err(HistogramError::NotFinite)
    }
}

/// Edges `k * width` from floor(min / width) to floor(max / width) + 1: every
/// value lies inside, bins are [edge, next edge). No edges for no values.
///
/// # Errors
/// Not finite values, a bad width, or more than [`MAX_BINS`] bins.
pub fn fixed_edges(values: &[f64], width: f64) -> Result<Vec<f64>, HistogramError> {
    if !(width.is_finite() && width > 0.0) {
        return Err(HistogramError::BadWidth);
    }
    let Some((low, high)) = bounds(values)? else {
        return Ok(Vec::new());
    };
    let mut first = (low / width).floor();
    let mut last = (high / width).floor() + 1.0;
    // Rounding of the quotient may put an edge just beyond the value.
    if first * width > low {
        first -= 1.0;
    }
    if last * width <= high {
        last += 1.0;
    }
    let bins = last - first;
    if !(bins.is_finite() && bins <= MAX_BINS as f64) || first + 1.0 == first {
        return Err(HistogramError::TooManyBins);
    }
    Ok((0..=bins as usize)
        .map(|i| (first + i as f64) * width)
        .collect())
}

/// Equal bins from min to max by NumPy's `auto` rule (2.3 and later): width
/// min(max(FD, sqrt / 2), Sturges), for integers at least 1. Without range,
/// one bin of width 1 around the value.
///
/// # Errors
/// Not finite values.
pub fn auto_edges(values: &[f64], kind: Kind) -> Result<AutoEdges, HistogramError> {
    let empty = AutoEdges {
        fd_width: 0.0,
        sturges_width: 0.0,
        sqrt_width: 0.0,
        edges: Vec::new(),
    };
    let Some((low, high)) = bounds(values)? else {
        return Ok(empty);
    };
    let n = values.len() as f64;
    let range = high - low;
    let iqr = Distribution::new(values).describe().map_or(0.0, |d| d.iqr);
    let fd_width = 2.0 * iqr * n.powf(-1.0 / 3.0);
    let sturges_width = range / (n.log2() + 1.0);
    let sqrt_width = range / n.sqrt();
    let mut width = fd_width.max(sqrt_width / 2.0).min(sturges_width);
    if kind == Kind::Integer && width > 0.0 {
        width = width.max(1.0);
    }
    let (bins, low, high) = if range == 0.0 {
        (1, low - 0.5, high + 0.5)
    } else if width > 0.0 {
        // At most 2 sqrt(n) + 1 bins by the choice of width.
        (((range / width).ceil() as usize).max(1), low, high)
    } else {
        (1, low, high)
    };
    let step = (high - low) / bins as f64;
    let mut edges: Vec<f64> = (0..bins).map(|i| low + i as f64 * step).collect();
    edges.push(high);
    Ok(AutoEdges {
        fd_width,
        sturges_width,
        sqrt_width,
        edges,
    })
}

/// Which side the last bin takes its upper edge from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastBin {
    /// [edge, edge), as for fixed widths.
    HalfOpen,
    /// [edge, edge], as in NumPy.
    Closed,
}

/// Counts values into ascending edges; values outside are not counted.
#[must_use]
pub fn count(edges: Vec<f64>, values: &[f64], last: LastBin) -> Histogram {
    let bins = edges.len().saturating_sub(1);
    let mut counts = vec![0; bins];
    for value in values {
        let above = edges.partition_point(|edge| *edge <= *value);
        let on_last_edge = last == LastBin::Closed && edges.last() == Some(value);
        let bin = if on_last_edge {
            Some(bins.wrapping_sub(1))
        } else {
            above.checked_sub(1)
        };
        if let Some(slot) = bin.and_then(|b| counts.get_mut(b)) {
            *slot += 1;
        }
    }
    Histogram { edges, counts }
}

/// Histogram of bins of a fixed width, see [`fixed_edges`].
///
/// # Errors
/// As [`fixed_edges`].
pub fn fixed(values: &[f64], width: f64) -> Result<Histogram, HistogramError> {
    Ok(count(
        fixed_edges(values, width)?,
        values,
        LastBin::HalfOpen,
    ))
}

/// Histogram by the `auto` rule, see [`auto_edges`].
///
/// # Errors
/// As [`auto_edges`].
pub fn auto(values: &[f64], kind: Kind) -> Result<Histogram, HistogramError> {
    Ok(count(
        auto_edges(values, kind)?.edges,
        values,
        LastBin::Closed,
    ))
}
