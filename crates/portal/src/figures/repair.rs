//! The repair track's figures: data only, from selected attempts. Pure.

use faultboard_domain::case::Family;
use faultboard_domain::score::Estimate;
use faultboard_domain::view::{BoardRow, MeasureKind, Spending};
use faultboard_domain::{Case, CaseId, Condition};
use faultboard_plot::{
    Ablation, CaseColumn, CdfPanel, CdfSteps, CdfTokens, ConfigurationRow, ContextCompare,
    ContextPair, Effect, LiftByFamily, LiftByTier, LiftGroup, Measure, MixedEstimates, MixedModel,
    PairCell, PairState, PairedHeatmap, Pareto, ParetoPoint, Place, RankRow, RankShift, SizePoint,
    SizeVsPass, StepHistograms, StepPanel,
};
use faultboard_scoring::repair::RepairAttempt;
use faultboard_stats::rank::{self, Rank, Rate};
use faultboard_stats::summary;

use super::pooled::{ByCase, context_size, difference_where, href, mean_where, paired_differences};
use super::pooled::{pairwise, pooled, profiles};
use super::{Drawing, Source, behaviour, count, reported};
use crate::Result;
use crate::finish::RevisionScores;
use crate::statistics::profile::{Profile, Values};

/// A case counts as passed where at least half of its attempts did.
pub(super) const PASSED: f64 = 0.5;

/// Computes and draws all of them.
pub(super) fn draw(source: &Source<'_>, drawing: &mut Drawing) -> Result<()> {
    let profiles = profiles(source);
    drawing.add(&context_size(source))?;
    if source.rows.is_empty() {
        return Ok(());
    }
    drawing.add(&heatmap(source, &profiles))?;
    drawing.add(&pareto(source))?;
    drawing.add(&rank_shift(source, &profiles))?;
    drawing.add(&paired_differences(source, &profiles))?;
    if let Some(contrast) = reported::contrast(source) {
        drawing.add(&contrast)?;
    }
    if let Some(panels) = pairwise(source) {
        drawing.add(&panels)?;
    }
    let (symptom, context) = (
        pooled(&profiles, MeasureKind::Symptom),
        pooled(&profiles, MeasureKind::Context),
    );
    drawing.add(&LiftByFamily {
        about: source.about.clone(),
        configurations: source.configurations(),
        groups: Family::ALL
            .iter()
            .filter_map(|f| {
                let name = f.as_str().replace('-', " ");
                group(source, &symptom, &context, name, |c| c.family == *f)
            })
            .collect(),
    })?;
    drawing.add(&LiftByTier {
        about: source.about.clone(),
        configurations: source.configurations(),
        groups: tiers(source)
            .into_iter()
            .filter_map(|t| {
                group(source, &symptom, &context, format!("tier {t}"), |c| {
                    c.tier == t
                })
            })
            .collect(),
    })?;
    drawing.add(&behaviour::behaviour(source))?;
    drawing.add(&CdfTokens {
        about: source.about.clone(),
        configurations: source.configurations(),
        panels: panels(source, |a| a.usage.tokens.map(|t| t as f64)),
    })?;
    drawing.add(&CdfSteps {
        about: source.about.clone(),
        configurations: source.configurations(),
        panels: panels(source, |a| a.usage.steps.map(f64::from)),
    })?;
    drawing.add(&step_histograms(source))?;
    drawing.add(&size_vs_pass(source, &symptom, &context))?;
    if let Some(mixed) = mixed_model(source) {
        drawing.add(&mixed)?;
    }
    drawing.add(&context_compare(source, &profiles))?;
    drawing.add(&Ablation {
        about: source.about.clone(),
        bundle: "default".to_owned(),
        // Bundles are given whole today; parts stand here once attempts name them.
        parts: Vec::new(),
    })
}

fn tiers(source: &Source<'_>) -> Vec<u8> {
    let mut tiers: Vec<u8> = source.cases.iter().map(|c| c.tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    tiers
}

fn group(
    source: &Source<'_>,
    symptom: &ByCase,
    context: &ByCase,
    name: String,
    belongs: impl Fn(&Case) -> bool,
) -> Option<LiftGroup> {
    let inside = |id: &CaseId| source.cases.iter().any(|c| c.id == *id && belongs(c));
    let cases = source
        .cases
        .iter()
        .filter(|c| belongs(c) && (symptom.contains_key(&c.id) || context.contains_key(&c.id)))
        .count();
    (cases > 0).then(|| LiftGroup {
        name,
        cases: count(cases),
        symptom_only: mean_where(symptom, inside),
        with_context: mean_where(context, inside),
        lift: difference_where(context, symptom, inside),
    })
}

fn heatmap(source: &Source<'_>, profiles: &[Profile]) -> PairedHeatmap {
    let value = |p: &Profile, kind, case: &CaseId| p.get(&kind)?.by_case.get(case).copied();
    let shown: Vec<&Case> = source
        .cases
        .iter()
        .copied()
        .filter(|c| {
            let kinds = [MeasureKind::Symptom, MeasureKind::Context];
            profiles
                .iter()
                .any(|p| kinds.iter().any(|k| value(p, *k, &c.id).is_some()))
        })
        .collect();
    let cell = |scores: &RevisionScores, p: &Profile, case: &Case| {
        let passed = |kind| value(p, kind, &case.id).map(|rate| rate >= PASSED);
        PairCell {
            state: PairState::of(passed(MeasureKind::Symptom), passed(MeasureKind::Context)),
            href: scores
                .repair
                .iter()
                .find(|a| a.case == case.id)
                .map(|a| format!("/attempts/{}", a.attempt)),
        }
    };
    PairedHeatmap {
        about: source.about.clone(),
        cases: shown
            .iter()
            .map(|c| CaseColumn {
                case: c.id.to_string(),
                family: c.family,
            })
            .collect(),
        rows: source
            .rows
            .iter()
            .zip(profiles)
            .map(|((r, scores), p)| ConfigurationRow {
                name: r.configuration.clone(),
                cells: shown.iter().map(|c| cell(scores, p, c)).collect(),
            })
            .collect(),
    }
}

fn pareto(source: &Source<'_>) -> Pareto {
    let measure = |e: Estimate, spent: Option<&Spending>| Measure {
        rate: e.mean,
        ci95: e.ci95,
        n: e.n,
        cost: spent.and_then(|s| s.cost),
        steps: spent.and_then(|s| s.steps),
    };
    let points = source.view.rows.iter().map(|r| {
        let cells = r.repair.as_ref();
        ParetoPoint {
            name: r.configuration.clone(),
            symptom_only: cells.and_then(|c| Some(measure(c.symptom?, c.symptom_spent.as_ref()))),
            with_context: cells.and_then(|c| Some(measure(c.context?, c.context_spent.as_ref()))),
            href: href(r),
        }
    });
    Pareto {
        about: source.about.clone(),
        points: points.collect(),
    }
}

/// A rate as an exact fraction, where each case has one attempt.
fn exact(values: &Values) -> Option<Rate> {
    let passes = values.by_case.values().filter(|v| **v > 0.5).count();
    values
        .single
        .then(|| Rate::new(passes as u64, values.by_case.len() as u64))
        .flatten()
}

/// Ranks by one measure: exactly where every rate is a fraction.
fn ranks(profiles: &[Profile], kind: MeasureKind) -> Vec<Option<(f64, Rank)>> {
    let values: Vec<Option<&Values>> = profiles.iter().map(|p| p.get(&kind)).collect();
    let means: Vec<Option<f64>> = values
        .iter()
        .map(|v| summary::mean(&v.as_ref()?.by_case.values().copied().collect::<Vec<_>>()))
        .collect();
    let rates: Vec<Option<Rate>> = values.iter().map(|v| v.and_then(exact)).collect();
    let all_exact = rates
        .iter()
        .zip(&means)
        .all(|(r, m)| r.is_some() || m.is_none());
    let places = if all_exact {
        rank::by_rate(&rates)
    } else {
        rank::by_score(&means)
    };
    means
        .into_iter()
        .zip(places)
        .map(|(m, p)| Some((m?, p?)))
        .collect()
}

fn rank_shift(source: &Source<'_>, profiles: &[Profile]) -> RankShift {
    let place = |r: Option<(f64, Rank)>| {
        r.map(|(rate, rank)| Place {
            rate,
            rank: count(rank.place),
            tied: rank.tied,
        })
    };
    let most = profiles
        .iter()
        .flat_map(|p| p.values().map(|v| v.by_case.len()))
        .max()
        .unwrap_or(0);
    let symptom = ranks(profiles, MeasureKind::Symptom);
    let context = ranks(profiles, MeasureKind::Context);
    RankShift {
        about: source.about.clone(),
        cases: count(most),
        rows: source
            .rows
            .iter()
            .zip(symptom.into_iter().zip(context))
            .map(|((row, _), (a, b))| RankRow {
                name: row.configuration.clone(),
                symptom_only: place(a),
                with_context: place(b),
                href: href(row),
            })
            .collect(),
    }
}

/// Attempts on the source's cases, with the tier of each.
fn attempts<'a>(source: &'a Source<'_>) -> impl Iterator<Item = (u8, &'a RepairAttempt)> {
    source.rows.iter().flat_map(move |(_, e)| {
        e.repair.iter().filter_map(move |a| {
            let case = source.cases.iter().find(|c| c.id == a.case)?;
            a.outcome.passed().map(|_| (case.tier, a))
        })
    })
}

fn panels(source: &Source<'_>, of: impl Fn(&RepairAttempt) -> Option<f64>) -> Vec<CdfPanel> {
    let values = |tier: u8, condition| {
        let mut v: Vec<f64> = attempts(source)
            .filter(|(t, a)| *t == tier && a.condition == condition)
            .filter_map(|(_, a)| of(a))
            .collect();
        v.sort_by(f64::total_cmp);
        v
    };
    tiers(source)
        .into_iter()
        .map(|tier| CdfPanel {
            name: format!("tier {tier}"),
            symptom_only: values(tier, Condition::SymptomOnly),
            with_context: values(tier, Condition::ContextAugmented),
        })
        .filter(|p| !p.symptom_only.is_empty() || !p.with_context.is_empty())
        .collect()
}

fn step_histograms(source: &Source<'_>) -> StepHistograms {
    let panel = |row: &BoardRow, attempts: &[RepairAttempt]| {
        let side = |condition| -> Vec<f64> {
            attempts
                .iter()
                .filter(|a| a.condition == condition && source.within(&a.case))
                .filter(|a| source.details.get(&a.attempt).is_some_and(|d| d.submitted))
                .filter_map(|a| a.usage.steps.map(f64::from))
                .collect()
        };
        StepPanel {
            name: row.configuration.clone(),
            symptom_only: side(Condition::SymptomOnly),
            with_context: side(Condition::ContextAugmented),
        }
    };
    StepHistograms {
        about: source.about.clone(),
        panels: source
            .rows
            .iter()
            .map(|(row, e)| panel(row, &e.repair))
            .filter(|p| !p.symptom_only.is_empty() || !p.with_context.is_empty())
            .collect(),
    }
}

fn size_vs_pass(source: &Source<'_>, symptom: &ByCase, context: &ByCase) -> SizeVsPass {
    SizeVsPass {
        about: source.about.clone(),
        configurations: source.configurations(),
        cases: source
            .cases
            .iter()
            .map(|c| SizePoint {
                case: c.id.to_string(),
                tier: c.tier,
                fix_size: c.fix_size,
                symptom_only: symptom.get(&c.id).copied(),
                with_context: context.get(&c.id).copied(),
            })
            .filter(|p| p.symptom_only.is_some() || p.with_context.is_some())
            .collect(),
    }
}

fn mixed_model(source: &Source<'_>) -> Option<MixedModel> {
    let m = source.statistics?.mixed.as_ref()?;
    let mut reading = m.reading.clone();
    if m.fit.is_none() {
        for note in &m.notes {
            reading.push(' ');
            reading.push_str(note);
        }
    }
    Some(MixedModel {
        about: source.about.clone(),
        runs: m.attempts,
        configurations: m.configurations,
        cases: m.cases,
        fit: m.fit.as_ref().map(|f| {
            let effect = |term: &str, c: &faultboard_domain::view::CoefficientLine| Effect {
                term: term.to_owned(),
                estimate: c.estimate,
                se: c.se,
                ci95: c.ci95,
                z: c.z,
                p: c.p,
            };
            MixedEstimates {
                effects: vec![
                    effect("intercept", &f.intercept),
                    effect("context", &f.context),
                ],
                odds_ratio: f.odds_ratio.0,
                odds_ratio_ci95: (f.odds_ratio.1, f.odds_ratio.2),
                var_model: f.var_configuration,
                var_case: f.var_case,
                marginal: f.marginal,
                singular: f.var_configuration == 0.0 || f.var_case == 0.0,
                notes: m.notes.clone(),
            }
        }),
        reading,
    })
}

fn context_compare(source: &Source<'_>, profiles: &[Profile]) -> ContextCompare {
    let rows = source
        .rows
        .iter()
        .zip(profiles)
        .filter_map(|((row, _), p)| {
            let a = &p.get(&MeasureKind::Symptom)?.by_case;
            let b = &p.get(&MeasureKind::Context)?.by_case;
            let mut counts = [0; 4];
            for (case, first) in a {
                if let Some(second) = b.get(case) {
                    let at = match (*first >= PASSED, *second >= PASSED) {
                        (true, true) => 0,
                        (true, false) => 1,
                        (false, true) => 2,
                        (false, false) => 3,
                    };
                    counts[at] += 1;
                }
            }
            let cells = row.repair.as_ref();
            let cost = |s: Option<&Spending>| s.and_then(|s| s.cost);
            Some(ContextPair {
                name: row.configuration.clone(),
                counts,
                difference: difference_where(b, a, |_| true),
                cost: (
                    cost(cells.and_then(|c| c.symptom_spent.as_ref())),
                    cost(cells.and_then(|c| c.context_spent.as_ref())),
                ),
            })
        })
        .collect();
    ContextCompare {
        about: source.about.clone(),
        first: "symptom only".to_owned(),
        second: "default context".to_owned(),
        rows,
    }
}
