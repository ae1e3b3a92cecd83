//! `paired-heatmap`: what each configuration did on each case without and with
//! debug context. Rows are configurations by their symptom-only pass rate,
//! columns are cases by family; a cell says how the pair of attempts compares.

mod layout;

use faultboard_domain::Track;
use faultboard_domain::case::Family;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, percent, plural};
use crate::scene::Scene;

/// How the two attempts of a pair compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairState {
    /// Both pass.
    TiePass,
    /// Only the one with context passes.
    Gain,
    /// Only the one without passes.
    Loss,
    /// Both fail.
    TieFail,
    /// One of them is not there, or was not scored.
    Missing,
}

impl PairState {
    /// Every state, in the order of the legend.
    pub const ALL: [PairState; 5] = [
        PairState::TiePass,
        PairState::Gain,
        PairState::Loss,
        PairState::TieFail,
        PairState::Missing,
    ];

    /// How two outcomes compare: passed without context, passed with; none if unknown.
    pub const fn of(symptom_only: Option<bool>, with_context: Option<bool>) -> Self {
        match (symptom_only, with_context) {
            (Some(true), Some(true)) => PairState::TiePass,
            (Some(false), Some(true)) => PairState::Gain,
            (Some(true), Some(false)) => PairState::Loss,
            (Some(false), Some(false)) => PairState::TieFail,
            _ => PairState::Missing,
        }
    }

    /// The word in data.
    pub const fn as_str(self) -> &'static str {
        match self {
            PairState::TiePass => "tie-pass",
            PairState::Gain => "gain",
            PairState::Loss => "loss",
            PairState::TieFail => "tie-fail",
            PairState::Missing => "missing",
        }
    }

    /// What it means, for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            PairState::TiePass => "passes both",
            PairState::Gain => "passes only with context",
            PairState::Loss => "passes only without",
            PairState::TieFail => "fails both",
            PairState::Missing => "no pair",
        }
    }
}

/// A case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseColumn {
    /// Its id.
    pub case: String,
    /// Its family.
    pub family: Family,
}

/// A pair of attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairCell {
    /// How they compare.
    pub state: PairState,
    /// Where they stand side by side: an address of the site.
    #[serde(default)]
    pub href: Option<String>,
}

/// A configuration with its pair on every case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationRow {
    /// Its name.
    pub name: String,
    /// One cell per column, in the order of the columns; what is not there counts as missing.
    pub cells: Vec<PairCell>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedHeatmap {
    /// Release, date, filters.
    pub about: About,
    /// The cases, in any order.
    pub cases: Vec<CaseColumn>,
    /// The configurations, in any order.
    pub rows: Vec<ConfigurationRow>,
}

/// Counts of one row, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts([usize; 5]);

impl Counts {
    fn add(&mut self, state: PairState) {
        self.0[state as usize] += 1;
    }

    fn of(&self, state: PairState) -> usize {
        self.0[state as usize]
    }

    fn pairs(&self) -> usize {
        self.0[..4].iter().sum()
    }

    fn symptom(&self) -> Option<f64> {
        let n = self.pairs();
        (n > 0).then(|| (self.of(PairState::TiePass) + self.of(PairState::Loss)) as f64 / n as f64)
    }

    fn context(&self) -> Option<f64> {
        let n = self.pairs();
        (n > 0).then(|| (self.of(PairState::TiePass) + self.of(PairState::Gain)) as f64 / n as f64)
    }
}

/// `raft-9` before `raft-10`.
fn case_key(case: &str) -> (&str, u64) {
    match case.rsplit_once('-') {
        Some((system, number)) => (system, number.parse().unwrap_or(u64::MAX)),
        None => (case, 0),
    }
}

impl PairedHeatmap {
    /// Indices of the columns in drawing order, grouped by family.
    fn groups(&self) -> Vec<(Family, Vec<usize>)> {
        Family::ALL
            .iter()
            .filter_map(|family| {
                let mut columns: Vec<usize> = (0..self.cases.len())
                    .filter(|i| self.cases[*i].family == *family)
                    .collect();
                columns.sort_by(|a, b| {
                    let (a, b) = (&self.cases[*a].case, &self.cases[*b].case);
                    case_key(a).cmp(&case_key(b)).then_with(|| a.cmp(b))
                });
                (!columns.is_empty()).then_some((*family, columns))
            })
            .collect()
    }

    fn state(&self, row: &ConfigurationRow, column: usize) -> PairState {
        row.cells
            .get(column)
            .map_or(PairState::Missing, |c| c.state)
    }

    fn counts(&self, row: &ConfigurationRow) -> Counts {
        let mut counts = Counts::default();
        for column in 0..self.cases.len() {
            counts.add(self.state(row, column));
        }
        counts
    }

    /// Indices of the rows, the best symptom-only pass rate first, unknown ones last.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        let rate = |i: usize| self.counts(&self.rows[i]).symptom().unwrap_or(-1.0);
        order.sort_by(|a, b| {
            rate(*b)
                .total_cmp(&rate(*a))
                .then_with(|| self.rows[*a].name.cmp(&self.rows[*b].name))
        });
        order
    }

    fn total(&self) -> Counts {
        let mut total = Counts::default();
        for row in &self.rows {
            for (sum, n) in total.0.iter_mut().zip(self.counts(row).0) {
                *sum += n;
            }
        }
        total
    }
}

impl Figure for PairedHeatmap {
    const ID: &'static str = "paired-heatmap";
    const TITLE: &'static str = "Paired outcomes: symptom only against with context";
    const SHOWS: &'static str = "Each configuration on each case, by how its attempts without and with context compare. Rows stand by symptom-only pass rate, columns by family.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        layout::Layout::of(self).scene()
    }

    fn summary(&self) -> String {
        let total = self.total();
        let mut out = format!(
            "{} on {}, {}. Of {}, {} pass under both conditions, {} pass only with context, {} pass only without, and {} fail under both",
            plural(self.rows.len(), "configuration", "configurations"),
            plural(self.cases.len(), "case", "cases"),
            self.about.line().replace(" · ", ", "),
            plural(total.pairs(), "pair", "pairs"),
            total.of(PairState::TiePass),
            total.of(PairState::Gain),
            total.of(PairState::Loss),
            total.of(PairState::TieFail),
        );
        match total.of(PairState::Missing) {
            0 => out.push('.'),
            n => out.push_str(&format!(
                "; {} missing.",
                if n == 1 {
                    "1 pair is".to_owned()
                } else {
                    format!("{n} pairs are")
                }
            )),
        }
        let order = self.order();
        if let Some(first) = order.first().map(|i| &self.rows[*i])
            && let Some(rate) = self.counts(first).symptom()
        {
            out.push_str(&format!(
                " Best without context: {}, {} %.",
                first.name,
                percent(rate)
            ));
        }
        let lift = |i: &usize| {
            let c = self.counts(&self.rows[*i]);
            c.of(PairState::Gain) as i64 - c.of(PairState::Loss) as i64
        };
        // Of equal lifts, the row that is drawn first.
        if let Some(most) = order
            .iter()
            .rev()
            .max_by_key(|i| lift(i))
            .filter(|i| lift(i) > 0)
        {
            let n = lift(most);
            out.push_str(&format!(
                " Context helps most: {}, {n} more {}.",
                self.rows[*most].name,
                if n == 1 { "case" } else { "cases" }
            ));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "configuration",
            "case",
            "family",
            "symptom_only",
            "with_context",
            "state",
        ]);
        let columns: Vec<usize> = self.groups().into_iter().flat_map(|(_, c)| c).collect();
        for row in self.order().into_iter().map(|i| &self.rows[i]) {
            for column in &columns {
                let case = &self.cases[*column];
                let state = self.state(row, *column);
                let (without, with) = match state {
                    PairState::TiePass => ("pass", "pass"),
                    PairState::Gain => ("fail", "pass"),
                    PairState::Loss => ("pass", "fail"),
                    PairState::TieFail => ("fail", "fail"),
                    PairState::Missing => ("", ""),
                };
                csv.row(&[
                    row.name.clone(),
                    case.case.clone(),
                    case.family.as_str().to_owned(),
                    without.to_owned(),
                    with.to_owned(),
                    state.as_str().to_owned(),
                ]);
            }
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.rows.retain(|r| wanted(&r.name));
        true
    }
}
