//! `pareto`: what a pass costs. Each configuration is an arrow from its
//! symptom-only point to its point with context; the fronts of both conditions
//! join what nothing beats in both cost and pass rate. Where no cost is known at
//! all, median steps stand in for it, and the axis says so.

mod layout;

use faultboard_domain::Track;
use faultboard_domain::condition::Condition;
use faultboard_stats::pareto;
use serde::{Deserialize, Serialize};

use crate::figure::{About, Csv, Figure, field, percent, plural};
use crate::scene::Scene;

/// A configuration under one condition.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Pass rate, a fraction.
    pub rate: f64,
    /// Its 95 % interval, fractions.
    #[serde(default)]
    pub ci95: Option<(f64, f64)>,
    /// Cases behind it.
    pub n: u32,
    /// Mean cost of a case in US dollars, if known.
    #[serde(default)]
    pub cost: Option<f64>,
    /// Median number of steps, if known.
    #[serde(default)]
    pub steps: Option<f64>,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParetoPoint {
    /// Its name.
    pub name: String,
    /// Without context.
    pub symptom_only: Option<Measure>,
    /// With context.
    pub with_context: Option<Measure>,
    /// Its page: an address of the site.
    #[serde(default)]
    pub href: Option<String>,
}

/// The figure's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pareto {
    /// Release, date, filters.
    pub about: About,
    /// The configurations, in any order.
    pub points: Vec<ParetoPoint>,
}

/// What the horizontal axis shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Across {
    Cost,
    Steps,
    Nothing,
}

impl ParetoPoint {
    fn measure(&self, condition: Condition) -> Option<&Measure> {
        match condition {
            Condition::SymptomOnly => self.symptom_only.as_ref(),
            Condition::ContextAugmented => self.with_context.as_ref(),
        }
        .filter(|m| m.rate.is_finite())
    }
}

/// Above zero, and no number that only a mistake could make.
fn positive(value: Option<f64>) -> Option<f64> {
    value.filter(|v| (1e-9..1e9).contains(v))
}

impl Pareto {
    fn measures(&self) -> impl Iterator<Item = &Measure> {
        self.points
            .iter()
            .flat_map(|p| Condition::ALL.into_iter().filter_map(|c| p.measure(c)))
    }

    fn across(&self) -> Across {
        if self.measures().any(|m| positive(m.cost).is_some()) {
            Across::Cost
        } else if self.measures().any(|m| positive(m.steps).is_some()) {
            Across::Steps
        } else {
            Across::Nothing
        }
    }

    fn x(&self, measure: &Measure) -> Option<f64> {
        match self.across() {
            Across::Cost => positive(measure.cost),
            Across::Steps => positive(measure.steps),
            Across::Nothing => None,
        }
    }

    /// Indices of the points on the front of a condition, by cost.
    fn front(&self, condition: Condition) -> Vec<usize> {
        let points: Vec<pareto::Point> = self
            .points
            .iter()
            .map(|p| {
                let measure = p.measure(condition);
                pareto::Point {
                    name: p.name.clone(),
                    cost: measure.and_then(|m| self.x(m)),
                    rate: measure.map(|m| m.rate),
                }
            })
            .collect();
        pareto::front(&points).frontier
    }

    /// What can't be placed, as sentences.
    fn aside(&self) -> Vec<String> {
        let unknown = match self.across() {
            Across::Cost => "cost unknown",
            Across::Steps => "steps unknown",
            Across::Nothing => "cost and steps unknown",
        };
        let mut out = Vec::new();
        for point in &self.points {
            let missing: Vec<(Condition, &Measure)> = Condition::ALL
                .into_iter()
                .filter_map(|c| Some((c, point.measure(c)?)))
                .filter(|(_, m)| self.x(m).is_none())
                .collect();
            if missing.is_empty() {
                if Condition::ALL.iter().all(|c| point.measure(*c).is_none()) {
                    out.push(format!("{}: no result", point.name));
                }
                continue;
            }
            let free =
                missing.iter().all(|(_, m)| m.cost == Some(0.0)) && self.across() == Across::Cost;
            let why = if free { "cost told as 0" } else { unknown };
            let rates: Vec<String> = missing
                .iter()
                .map(|(c, m)| format!("{} % {}", percent(m.rate), c.title()))
                .collect();
            out.push(format!("{}: {} ({why})", point.name, rates.join(", ")));
        }
        out
    }

    fn cases(&self) -> (u32, u32) {
        self.measures().fold((u32::MAX, 0), |(least, most), m| {
            (least.min(m.n), most.max(m.n))
        })
    }

    fn n(&self) -> String {
        match self.cases() {
            (_, 0) => "n = 0 cases".to_owned(),
            (least, most) if least == most => {
                format!("n = {}", plural(most as usize, "case", "cases"))
            }
            (least, most) => format!("n = {least} to {most} cases"),
        }
    }
}

impl Figure for Pareto {
    const ID: &'static str = "pareto";
    const TITLE: &'static str = "What a pass costs";
    const SHOWS: &'static str = "Pass rate against cost per case (logarithmic). Each arrow leads from a configuration's symptom-only point to its point with context; the lines join what nothing beats in both.";
    const TRACKS: &'static [Track] = &[Track::Repair];

    fn scene(&self) -> Scene {
        layout::Layout::of(self).scene()
    }

    fn summary(&self) -> String {
        let what = match self.across() {
            Across::Cost => "mean cost per case in US dollars, logarithmic",
            Across::Steps => "median steps, since no cost is known",
            Across::Nothing => "nothing, since neither cost nor steps are known",
        };
        let mut out = format!(
            "Pass rate of {} against {what}; {}, {}.",
            plural(self.points.len(), "configuration", "configurations"),
            self.n(),
            self.about.line().replace(" · ", ", ")
        );
        for condition in Condition::ALL {
            let front: Vec<String> = self
                .front(condition)
                .into_iter()
                .filter_map(|i| {
                    let point = &self.points[i];
                    let measure = point.measure(condition)?;
                    Some(format!(
                        "{} ({} % at {})",
                        point.name,
                        percent(measure.rate),
                        self.price(measure)?
                    ))
                })
                .collect();
            if !front.is_empty() {
                out.push_str(&format!(
                    " Front {}: {}.",
                    condition.title(),
                    front.join(", ")
                ));
            }
        }
        let aside = self.aside();
        if !aside.is_empty() {
            out.push_str(&format!(" Not placed: {}.", aside.join("; ")));
        }
        out
    }

    fn csv(&self) -> String {
        let mut csv = Csv::new(&[
            "configuration",
            "condition",
            "pass_rate",
            "ci95_low",
            "ci95_high",
            "n",
            "cost_per_case_usd",
            "median_steps",
            "on_front",
        ]);
        let fronts = Condition::ALL.map(|c| self.front(c));
        for (index, point) in self.points.iter().enumerate() {
            for (condition, front) in Condition::ALL.into_iter().zip(&fronts) {
                let Some(measure) = point.measure(condition) else {
                    continue;
                };
                csv.row(&[
                    point.name.clone(),
                    condition.as_str().to_owned(),
                    field(Some(measure.rate)),
                    field(measure.ci95.map(|c| c.0)),
                    field(measure.ci95.map(|c| c.1)),
                    measure.n.to_string(),
                    field(measure.cost),
                    field(measure.steps),
                    front.contains(&index).to_string(),
                ]);
            }
        }
        csv.finish()
    }

    fn keep(&mut self, wanted: &dyn Fn(&str) -> bool) -> bool {
        self.points.retain(|r| wanted(&r.name));
        true
    }
}

impl Pareto {
    /// What a measure costs, in words.
    fn price(&self, measure: &Measure) -> Option<String> {
        let x = self.x(measure)?;
        Some(match self.across() {
            Across::Cost if x < 0.095 => format!("${x:.3}"),
            Across::Cost => format!("${x:.2}"),
            _ => format!("{x:.0} steps"),
        })
    }

    fn tip(&self, point: &ParetoPoint, condition: Condition, measure: &Measure) -> String {
        let mut tip = format!(
            "{}, {}: {} %",
            point.name,
            condition.title(),
            percent(measure.rate)
        );
        if let Some((low, high)) = measure.ci95 {
            tip.push_str(&format!(
                " (95 % interval {} to {})",
                percent(low),
                percent(high)
            ));
        }
        tip.push_str(&format!(
            " of {}",
            plural(measure.n as usize, "case", "cases")
        ));
        if let Some(cost) = positive(measure.cost) {
            tip.push_str(&format!(", ${cost:.3} per case"));
        }
        if let Some(steps) = positive(measure.steps) {
            tip.push_str(&format!(", median {steps:.0} steps"));
        }
        tip
    }
}
