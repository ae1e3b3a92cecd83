//! Figures that a publication states and nobody rescored here. They stand apart
//! from ranked rows and take no rank.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::condition::Track;

/// One publication's figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedSet {
    /// Its key.
    pub id: String,
    /// The board that it stands below.
    pub track: Track,
    /// What it is.
    pub title: String,
    /// Where it is stated.
    pub source: String,
    /// The address of the source, where it has one.
    pub url: Option<String>,
    /// What a reader must know beside it.
    pub note: String,
    /// Its columns.
    pub columns: Vec<ReportedColumn>,
    /// Its rows, as the source orders them.
    pub rows: Vec<ReportedRow>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedColumn {
    /// Its key in the rows.
    pub key: String,
    /// Its head.
    pub title: String,
    /// Its unit.
    pub unit: String,
    /// Cases behind it, where that is stated.
    pub n: Option<u32>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedRow {
    /// Its name in the source.
    pub name: String,
    /// What is stated of it, by column; what is not stated has no entry.
    pub values: BTreeMap<String, ReportedValue>,
}

/// A stated value in the column's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedValue {
    /// The value.
    pub value: f64,
    /// The lower end of its 95 % interval.
    #[serde(default)]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(default)]
    pub high: Option<f64>,
}
