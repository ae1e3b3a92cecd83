//! What agents do with and without context, over pairs of runs of one
//! configuration on one case. Pure.

use std::collections::BTreeMap;

use faultboard_domain::{CaseId, Condition};
use faultboard_plot::{Behaviour, BehaviourClass, BehaviourMeasure, PairState};
use faultboard_scoring::repair::RepairAttempt;
use faultboard_stats::summary;

use super::repair::PASSED;
use super::{Source, count};

/// A row's attempts at a case under both conditions.
type Pair<'a> = [Vec<&'a RepairAttempt>; 2];

/// Every pair of a row and a case that has counted attempts under both conditions.
fn pairs<'a>(source: &'a Source<'_>) -> Vec<Pair<'a>> {
    let mut found = Vec::new();
    for (_, entry) in &source.rows {
        let mut cases: BTreeMap<&CaseId, Pair<'_>> = BTreeMap::new();
        for a in &entry.repair {
            if source.within(&a.case) && a.outcome.passed().is_some() {
                let side = usize::from(a.condition == Condition::ContextAugmented);
                cases.entry(&a.case).or_default()[side].push(a);
            }
        }
        found.extend(
            cases
                .into_values()
                .filter(|p| p.iter().all(|s| !s.is_empty())),
        );
    }
    found
}

fn mean_of(attempts: &[&RepairAttempt], of: impl Fn(&RepairAttempt) -> Option<f64>) -> Option<f64> {
    let known: Vec<f64> = attempts.iter().filter_map(|a| of(a)).collect();
    // A mean over some of a case's attempts would compare unlike things.
    (known.len() == attempts.len())
        .then(|| summary::mean(&known))
        .flatten()
}

fn state(pair: &Pair<'_>) -> PairState {
    let [a, b] = [0, 1].map(|s: usize| {
        let passes = pair[s]
            .iter()
            .filter(|a| a.outcome.passed() == Some(true))
            .count();
        Some(passes as f64 / pair[s].len() as f64 >= PASSED)
    });
    PairState::of(a, b)
}

pub(super) fn behaviour(source: &Source<'_>) -> Behaviour {
    type Read<'a> = Box<dyn Fn(&RepairAttempt) -> Option<f64> + 'a>;
    let detail = |a: &RepairAttempt| source.details.get(&a.attempt).copied();
    let readers: [(&str, Read<'_>); 6] = [
        ("steps", Box::new(|a| a.usage.steps.map(f64::from))),
        (
            "first edit, step",
            Box::new(|a| a.usage.first_edit.map(f64::from)),
        ),
        ("tokens", Box::new(|a| a.usage.tokens.map(|t| t as f64))),
        (
            "reads and searches",
            Box::new(move |a| detail(a).map(|d| d.reads)),
        ),
        ("edits", Box::new(move |a| detail(a).map(|d| d.edits))),
        ("cost, US$", Box::new(|a| a.usage.cost_usd)),
    ];
    let pairs = pairs(source);
    let both = |pair: &Pair<'_>, read: &Read<'_>| {
        Some((mean_of(&pair[0], read)?, mean_of(&pair[1], read)?))
    };
    let change = |of: &[&Pair<'_>], read: &Read<'_>| {
        let changes: Vec<f64> = of
            .iter()
            .filter_map(|p| both(p, read))
            .map(|(a, b)| b - a)
            .collect();
        (summary::mean(&changes), changes.len())
    };
    let measures = readers
        .iter()
        .map(|(name, read)| {
            let known: Vec<(f64, f64)> = pairs.iter().filter_map(|p| both(p, read)).collect();
            let side =
                |f: fn(&(f64, f64)) -> f64| summary::mean(&known.iter().map(f).collect::<Vec<_>>());
            BehaviourMeasure {
                name: (*name).to_owned(),
                symptom_only: side(|p| p.0),
                with_context: side(|p| p.1),
                pairs: count(known.len()),
            }
        })
        .collect();
    let classes = PairState::ALL[..4]
        .iter()
        .map(|s| {
            let these: Vec<&Pair<'_>> = pairs.iter().filter(|p| state(p) == *s).collect();
            let (steps_change, n) = change(&these, &readers[0].1);
            BehaviourClass {
                state: *s,
                pairs: count(n),
                steps_change,
                tokens_change: change(&these, &readers[2].1).0,
            }
        })
        .collect();
    Behaviour {
        about: source.about.clone(),
        configurations: source.configurations(),
        pairs: count(pairs.len()),
        measures,
        classes,
    }
}
