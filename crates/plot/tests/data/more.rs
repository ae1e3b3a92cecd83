//! Made-up data for every other figure, in several sizes.

use faultboard_domain::case::{CrashDistance, Family, TextAnchor};
use faultboard_domain::score::Estimate;
use faultboard_domain::view::Difference;
use faultboard_plot::{
    Ablation, AblationPart, Behaviour, BehaviourClass, BehaviourMeasure, BundleSize, CaseRange,
    CdfPanel, CdfSteps, CdfTokens, ContextCompare, ContextPair, ContextSize, ContrastRow, Coverage,
    CoveredCase, DeltaCell, DifferenceRow, Effect, EvidenceCell, EvidenceDelta, EvidenceGrid,
    Figure, LabelMap, LeaveOneOut, LiftByFamily, LiftByTier, LiftGroup, MapBlock, MapRow,
    MixedEstimates, MixedModel, PairState, PairedDifferences, PairwiseMatrix, Panel, PanelPair,
    PanelRow, PerSystem, Place, RankRow, RankShift, SaturationContrast, SizePoint, SizeVsPass,
    Stability, StabilityRow, StepHistograms, StepPanel, SystemRow, SystemValue,
};

use super::{Dice, about, heatmap, name, pareto};

/// Something to be done with every figure.
pub(crate) trait Visit {
    /// With one of them, by a name of its own.
    fn figure<F: Figure + Clone + PartialEq + std::fmt::Debug>(&mut self, name: &str, figure: &F);
}

/// A name longer than any sheet.
const LONG: &str = "An agent scaffold with a remarkably long name 12.34.56-rc.7 (nightly, with tools) · a-model-with-an-even-longer-name-and-a-date-2026-11-30-preview-thinking-high";

fn called(i: usize, long: bool) -> String {
    if long {
        format!("{LONG} {i}")
    } else {
        // Agents and models recur after a while; numbers keep names apart.
        format!(
            "{}{}",
            name(i),
            if i < 12 {
                String::new()
            } else {
                format!(" #{i}")
            }
        )
    }
}

fn estimate(dice: &mut Dice, n: u32) -> Estimate {
    let mean = dice.next();
    Estimate {
        mean,
        ci95: (n > 1).then(|| ((mean - 0.15).max(0.0), (mean + 0.13).min(1.0))),
        n,
    }
}

fn difference(dice: &mut Dice, n: u32) -> Difference {
    let mean = dice.next() * 0.6 - 0.2;
    let half = dice.next() * 0.25 + 0.02;
    Difference {
        mean,
        ci95: (n > 1).then_some((mean - half, mean + half)),
        p: Some((0.5 - mean.abs()).max(0.0002)),
        n,
    }
}

pub(crate) fn rank_shift(count: usize, ties: bool, long: bool) -> RankShift {
    let mut dice = Dice(5);
    let rates: Vec<[f64; 2]> = (0..count)
        .map(|_| {
            let step = if ties { 6.0 } else { 500.0 };
            [0, 1].map(|_| (dice.next() * step).floor() / step)
        })
        .collect();
    let place = |i: usize, side: usize| {
        let mine = rates[i][side];
        Place {
            rate: mine,
            rank: 1 + rates.iter().filter(|r| r[side] > mine).count() as u32,
            tied: rates.iter().filter(|r| r[side] == mine).count() > 1,
        }
    };
    RankShift {
        about: about(),
        cases: 31,
        rows: (0..count)
            .map(|i| RankRow {
                name: called(i, long),
                symptom_only: Some(place(i, 0)),
                with_context: (i % 11 != 10).then(|| place(i, 1)),
                href: Some(format!("/submissions/{i}")),
            })
            .collect(),
    }
}

fn panel(count: usize, reported: bool, long: bool) -> Panel {
    let mut dice = Dice(9);
    let rates: Vec<f64> = (0..count)
        .map(|i| {
            let spread = if reported { 0.07 } else { 0.6 };
            0.8 - spread * i as f64 / count as f64 + dice.next() * 0.01
        })
        .collect();
    let mut pairs = Vec::new();
    for a in 0..count {
        for b in a + 1..count {
            let d = rates[a] - rates[b];
            pairs.push(PanelPair {
                a,
                b,
                difference: Some(d),
                p: Some((1.0 - d * 3.0).clamp(0.0004, 1.0)),
                p_holm: Some((1.0 - d * 2.0).clamp(0.004, 1.0)),
            });
        }
    }
    Panel {
        title: if reported {
            "SWE-bench Verified".to_owned()
        } else {
            "pass rate, symptom only".to_owned()
        },
        reported,
        source: if reported {
            "vendors' announcements".to_owned()
        } else {
            String::new()
        },
        n: if reported { 500 } else { 31 },
        rows: (0..count)
            .map(|i| PanelRow {
                name: called(i, long),
                rate: Some(rates[i]),
            })
            .collect(),
        pairs,
    }
}

pub(crate) fn pairwise(count: usize, long: bool) -> PairwiseMatrix {
    let mut panels = vec![panel(count, false, long)];
    if count > 1 {
        panels.push(panel(count.min(6), true, long));
    }
    PairwiseMatrix {
        about: about(),
        panels,
    }
}

pub(crate) fn contrast(count: usize, long: bool) -> SaturationContrast {
    let mut dice = Dice(21);
    SaturationContrast {
        about: about(),
        benchmark: "SWE-bench Verified".into(),
        source: "vendors' announcements, as cited by the repair paper".into(),
        cases: 31,
        rows: (0..count)
            .map(|i| ContrastRow {
                name: called(i, long),
                reported: Some(0.738 + 0.07 * dice.next()),
                here: Some(0.097 + 0.58 * dice.next()),
                here_reported: false,
            })
            .collect(),
    }
}

fn groups(names: &[String]) -> Vec<LiftGroup> {
    let mut dice = Dice(33);
    names
        .iter()
        .enumerate()
        .map(|(i, name)| LiftGroup {
            name: name.clone(),
            cases: 3 + i as u32,
            symptom_only: Some(estimate(&mut dice, 3 + i as u32)),
            with_context: (i != 4).then(|| estimate(&mut dice, 3 + i as u32)),
            lift: (i != 4).then(|| difference(&mut dice, 3 + i as u32)),
        })
        .collect()
}

pub(crate) fn lift_by_family() -> LiftByFamily {
    let names: Vec<String> = Family::ALL
        .iter()
        .map(|f| f.as_str().replace('-', " "))
        .collect();
    LiftByFamily {
        about: about(),
        configurations: 10,
        groups: groups(&names),
    }
}

pub(crate) fn lift_by_tier() -> LiftByTier {
    LiftByTier {
        about: about(),
        configurations: 10,
        groups: groups(&["tier 1".into(), "tier 2".into(), "tier 3".into()]),
    }
}

pub(crate) fn behaviour() -> Behaviour {
    let measure = |name: &str, a: Option<f64>, b: Option<f64>| BehaviourMeasure {
        name: name.into(),
        symptom_only: a,
        with_context: b,
        pairs: 310,
    };
    Behaviour {
        about: about(),
        configurations: 10,
        pairs: 310,
        measures: vec![
            measure("steps", Some(50.3), Some(36.4)),
            measure("first edit, step", Some(28.1), Some(17.9)),
            measure("tokens", Some(1_630_000.0), Some(904_000.0)),
            measure("reads and searches", Some(21.4), Some(14.2)),
            measure("edits", Some(4.1), Some(4.2)),
            measure("cost, US$", None, Some(0.6)),
        ],
        classes: [
            (PairState::TiePass, -12.4, -400_000.0),
            (PairState::Gain, -24.2, -900_000.0),
            (PairState::Loss, 6.0, 120_000.0),
            (PairState::TieFail, -7.2, -300_000.0),
        ]
        .into_iter()
        .map(|(state, steps, tokens)| BehaviourClass {
            state,
            pairs: 71,
            steps_change: Some(steps),
            tokens_change: Some(tokens),
        })
        .collect(),
    }
}

fn panels(count: usize, scale: f64, runs: usize) -> Vec<CdfPanel> {
    let mut dice = Dice(17);
    (0..count)
        .map(|i| {
            let mut draw = |f: f64| -> Vec<f64> {
                (0..runs)
                    .map(|_| (scale * f * (dice.next() * 2.0 - 1.0).exp()).round())
                    .collect()
            };
            CdfPanel {
                name: format!("tier {}", i + 1),
                symptom_only: draw(1.0 + i as f64 * 0.2),
                with_context: draw(0.7),
            }
        })
        .collect()
}

pub(crate) fn cdf_tokens(count: usize, runs: usize) -> CdfTokens {
    CdfTokens {
        about: about(),
        configurations: 10,
        panels: panels(count, 900_000.0, runs),
    }
}

pub(crate) fn cdf_steps(count: usize, runs: usize) -> CdfSteps {
    CdfSteps {
        about: about(),
        configurations: 10,
        panels: panels(count, 40.0, runs),
    }
}

pub(crate) fn step_histograms(count: usize, long: bool) -> StepHistograms {
    let mut dice = Dice(41);
    StepHistograms {
        about: about(),
        panels: (0..count)
            .map(|i| {
                let mut draw = |n: usize, centre: f64| -> Vec<f64> {
                    (0..n)
                        .map(|_| (centre * (0.4 + dice.next() + dice.next() * 0.5)).round())
                        .collect()
                };
                StepPanel {
                    name: called(i, long),
                    symptom_only: draw(50, 40.0 + i as f64),
                    with_context: draw(if i % 5 == 4 { 0 } else { 55 }, 30.0),
                }
            })
            .collect(),
    }
}

pub(crate) fn size_vs_pass(count: usize) -> SizeVsPass {
    let mut dice = Dice(51);
    SizeVsPass {
        about: about(),
        configurations: 10,
        cases: (0..count)
            .map(|i| SizePoint {
                case: format!("etcd-{}", 100 + i),
                tier: 1 + (i % 3) as u8,
                fix_size: (2.0 * (dice.next() * 4.5).exp()) as u32,
                symptom_only: Some((dice.next() * 10.0).floor() / 10.0),
                with_context: Some((dice.next() * 10.0).floor() / 10.0),
            })
            .collect(),
    }
}

pub(crate) fn context_size(count: usize) -> ContextSize {
    let mut dice = Dice(61);
    let kinds = [
        "code investigation",
        "test output",
        "crash output",
        "goroutine dump",
        "race detector or sanitizer report",
        "debugger backtrace",
        "runtime state",
    ];
    ContextSize {
        about: about(),
        bundle: "default".into(),
        cases: (0..count)
            .map(|i| {
                let tokens = 120.0 * (dice.next() * 2.4).exp();
                BundleSize {
                    case: format!("kafka-{}", 40 + i),
                    tokens: tokens.round(),
                    kilobytes: (tokens * 0.0094 * 100.0).round() / 100.0,
                    files: 1 + (dice.next() * 3.0) as u32,
                    kinds: kinds
                        .iter()
                        .enumerate()
                        .filter(|(k, _)| dice.next() < 0.6 / (1.0 + *k as f64))
                        .map(|(_, k)| (*k).to_owned())
                        .collect(),
                }
            })
            .collect(),
    }
}

pub(crate) fn coverage(count: usize, long: bool) -> Coverage {
    let mut dice = Dice(71);
    let pick =
        |dice: &mut Dice, of: &[&str]| of[(dice.next() * of.len() as f64) as usize].to_owned();
    Coverage {
        about: about(),
        cases: (0..count)
            .map(|i| {
                let mut system = pick(
                    &mut dice,
                    &[
                        "etcd",
                        "kafka",
                        "zookeeper",
                        "dragonfly",
                        "consul",
                        "nats",
                        "ra",
                        "rabbitmq",
                        "rocksdb",
                        "bookkeeper",
                        "raft",
                        "cockroach",
                        "tikv",
                    ],
                );
                if long {
                    system.push_str(LONG);
                }
                CoveredCase {
                    case: format!("c-{i}"),
                    system,
                    language: pick(&mut dice, &["Go", "Java", "C++", "Rust", "Erlang"]),
                    category: pick(
                        &mut dice,
                        &[
                            "consensus library",
                            "messaging",
                            "key-value store",
                            "service mesh",
                        ],
                    ),
                    family: Family::ALL[(dice.next() * 4.99) as usize].as_str().into(),
                    tier: 1 + (dice.next() * 2.99) as u8,
                    license: pick(&mut dice, &["Apache-2.0", "MPL-2.0", "BUSL-1.1"]),
                }
            })
            .collect(),
    }
}

pub(crate) fn mixed_model(fitted: bool) -> MixedModel {
    let effect = |term: &str, estimate: f64, se: f64, p: f64| Effect {
        term: term.into(),
        estimate,
        se,
        ci95: (estimate - 1.96 * se, estimate + 1.96 * se),
        z: estimate / se,
        p,
    };
    let fit = fitted.then(|| MixedEstimates {
        effects: vec![
            effect("intercept", -1.12, 0.51, 0.028),
            effect("context", 1.31, 0.24, 0.000_000_1),
        ],
        odds_ratio: 3.71,
        odds_ratio_ci95: (2.32, 5.93),
        var_model: 1.12,
        var_case: 2.87,
        marginal: 0.187,
        singular: false,
        notes: vec!["The optimiser converged after 31 steps.".into()],
    });
    let reading = if fitted {
        "With context the odds of a pass are 3.71 times those without (95 % interval 2.32 to 5.93), cases and configurations being equal; averaged over them that is +18.7 points. So context raises the chance of a pass (z = 5.46, p < 0.001)."
    } else {
        "There is no estimate of the effect of context here."
    };
    MixedModel {
        about: about(),
        runs: 620,
        configurations: 10,
        cases: 31,
        fit,
        reading: reading.into(),
    }
}

pub(crate) fn context_compare(count: usize, long: bool) -> ContextCompare {
    let mut dice = Dice(81);
    ContextCompare {
        about: about(),
        first: "symptom only".into(),
        second: "default".into(),
        rows: (0..count)
            .map(|i| {
                let both = (dice.next() * 14.0) as u32;
                let gain = (dice.next() * 8.0) as u32;
                let loss = (dice.next() * 3.0) as u32;
                ContextPair {
                    name: called(i, long),
                    counts: [both, loss, gain, 28 - both - gain - loss],
                    difference: Some(difference(&mut dice, 28)),
                    cost: (Some(0.4 + dice.next()), (i % 4 != 3).then_some(0.3)),
                }
            })
            .collect(),
    }
}

pub(crate) fn ablation(count: usize, long: bool) -> Ablation {
    let mut dice = Dice(91);
    let files = ["code-investigation.md", "logs.md", "race-report.md"];
    Ablation {
        about: about(),
        bundle: "default".into(),
        parts: (1..=count)
            .map(|mask| AblationPart {
                files: files
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| (mask % 8) >> i & 1 == 1)
                    .map(|(_, f)| {
                        let more = if long { LONG } else { "" };
                        format!("{f}{more}")
                    })
                    .collect(),
                configurations: 3,
                rate: Some(estimate(&mut dice, 14)),
                lift: Some(difference(&mut dice, 14)),
            })
            .collect(),
    }
}

fn grid(no_crash: bool) -> Vec<(TextAnchor, CrashDistance)> {
    TextAnchor::ALL
        .iter()
        .flat_map(|a| CrashDistance::ALL.iter().map(move |d| (*a, *d)))
        .filter(|(_, d)| no_crash || *d != CrashDistance::None)
        .filter(|(a, d)| !(*a == TextAnchor::Opaque && *d == CrashDistance::Local))
        .collect()
}

pub(crate) fn evidence_grid(no_crash: bool, long: bool) -> EvidenceGrid {
    let mut dice = Dice(101);
    EvidenceGrid {
        about: about(),
        of: if long {
            LONG.into()
        } else {
            "17 configurations pooled".into()
        },
        cells: grid(no_crash)
            .into_iter()
            .enumerate()
            .map(|(i, (a, d))| EvidenceCell {
                text_anchor: a,
                crash_distance: d,
                block: Some(estimate(&mut dice, 1 + 3 * i as u32)),
                line: Some(estimate(&mut dice, 1 + 3 * i as u32)),
            })
            .collect(),
    }
}

pub(crate) fn evidence_delta(no_crash: bool) -> EvidenceDelta {
    let mut dice = Dice(103);
    EvidenceDelta {
        about: about(),
        candidate: name(2),
        reference: name(0),
        cells: grid(no_crash)
            .into_iter()
            .map(|(a, d)| DeltaCell {
                text_anchor: a,
                crash_distance: d,
                block: Some(difference(&mut dice, 12)),
                line: Some(difference(&mut dice, 12)),
            })
            .collect(),
    }
}

pub(crate) fn paired_differences(count: usize, long: bool) -> PairedDifferences {
    let mut dice = Dice(111);
    PairedDifferences {
        about: about(),
        measure: "block coverage".into(),
        reference: called(0, long),
        rows: (1..count)
            .map(|i| DifferenceRow {
                name: called(i, long),
                difference: (i % 9 != 8).then(|| {
                    let mut d = difference(&mut dice, 120);
                    d.mean -= 0.3;
                    d.ci95 = d.ci95.map(|(l, h)| (l - 0.3, h - 0.3));
                    d
                }),
                href: None,
            })
            .collect(),
    }
}

fn system_rows(count: usize, systems: usize, long: bool) -> (Vec<String>, Vec<SystemRow>) {
    let mut dice = Dice(121);
    let names = [
        "bookkeeper",
        "cassandra",
        "consul",
        "dragonfly",
        "etcd",
        "hbase",
        "hdfs",
        "kafka",
        "nats",
        "raft",
        "rocksdb",
        "yarn",
        "zookeeper",
    ];
    let systems: Vec<String> = (0..systems)
        .map(|i| {
            let more = if long { LONG } else { "" };
            format!("{}{more}", names[i % names.len()])
        })
        .collect();
    let rows = (0..count)
        .map(|i| {
            let block = 0.2 + 0.5 * dice.next();
            SystemRow {
                name: called(i, long),
                block: Some(block),
                file: Some(block + 0.2),
                values: systems
                    .iter()
                    .enumerate()
                    .map(|(s, _)| {
                        (s != 3 || i % 4 != 1).then(|| {
                            let b = (block + 0.4 * (dice.next() - 0.5)).clamp(0.0, 1.0);
                            SystemValue {
                                block: Some(b),
                                block_ci95: Some((b - 0.1, b + 0.1)),
                                file: Some((b + 0.2).min(1.0)),
                                n: 9,
                            }
                        })
                    })
                    .collect(),
                href: Some(format!("/submissions/{i}")),
            }
        })
        .collect();
    (systems, rows)
}

pub(crate) fn per_system(count: usize, systems: usize, long: bool) -> PerSystem {
    let (systems, rows) = system_rows(count, systems, long);
    PerSystem {
        about: about(),
        cases: 120,
        systems,
        rows,
    }
}

pub(crate) fn leave_one_out(count: usize, systems: usize, long: bool) -> LeaveOneOut {
    let (systems, rows) = system_rows(count, systems, long);
    LeaveOneOut {
        about: about(),
        cases: 120,
        systems,
        rows,
    }
}

pub(crate) fn stability(count: usize, long: bool) -> Stability {
    let mut dice = Dice(131);
    Stability {
        about: about(),
        rows: (0..count)
            .map(|i| {
                let cases: Vec<CaseRange> = (0..120)
                    .map(|c| {
                        let roll = dice.next();
                        CaseRange {
                            case: format!("hdfs-{}", 100 + c),
                            range: if roll < 0.55 {
                                0.0
                            } else {
                                ((roll - 0.55) * 2.2 * 12.0).floor() / 12.0
                            },
                        }
                    })
                    .collect();
                StabilityRow {
                    name: called(i, long),
                    within_case_sd: Some(0.08 + 0.1 * dice.next()),
                    unstable: cases.iter().filter(|c| c.range > 0.2).count() as u32,
                    cases,
                    href: None,
                }
            })
            .collect(),
    }
}

pub(crate) fn label_map(attempts: usize, labels: bool, long: bool) -> LabelMap {
    let mut dice = Dice(141);
    let files = [
        "server/election.go",
        "server/log/segment.go",
        "raft/node.go",
    ];
    let mut block = |hits: bool| {
        let start = 40 + (dice.next() * 4.0) as u64 * 260 + (dice.next() * 30.0) as u64;
        let more = if long { LONG } else { "" };
        MapBlock {
            file: format!("{}{more}", files[(dice.next() * 2.99) as usize]),
            start,
            end: start + 3 + (dice.next() * 40.0) as u64,
            function: "applyEntries".into(),
            hit: hits.then_some(dice.next() < 0.5),
        }
    };
    LabelMap {
        about: about(),
        case: "etcd-1234".into(),
        labels: labels.then(|| (0..3).map(|_| block(true)).collect()),
        attempts: (0..attempts)
            .map(|i| MapRow {
                name: format!("{} · run-{:02}", called(i / 3, long), i % 3 + 1),
                blocks: (0..i % 4 + 1).map(|_| block(labels)).collect(),
                href: Some(format!("/attempts/{i}")),
            })
            .collect(),
    }
}

/// Every figure in the sizes that it must stand.
pub(crate) fn every(visit: &mut impl Visit) {
    visit.figure("heatmap-10x28", &heatmap(10, 28));
    visit.figure("heatmap-100x120", &heatmap(100, 120));
    visit.figure("pareto-12", &pareto(12, true, 3));
    visit.figure("pareto-40", &pareto(40, true, 3));
    for (count, ties) in [(1, false), (10, false), (17, true), (40, true), (100, true)] {
        visit.figure(
            &format!("rank-shift-{count}"),
            &rank_shift(count, ties, false),
        );
    }
    for count in [1, 2, 6, 10, 17, 40, 100] {
        visit.figure(&format!("pairwise-{count}"), &pairwise(count, false));
    }
    for count in [1, 6, 17, 40] {
        visit.figure(&format!("contrast-{count}"), &contrast(count, false));
    }
    visit.figure("lift-by-family", &lift_by_family());
    visit.figure("lift-by-tier", &lift_by_tier());
    visit.figure("behaviour", &behaviour());
    for (count, runs) in [(1, 3), (3, 310), (5, 2_000)] {
        visit.figure(&format!("cdf-tokens-{count}"), &cdf_tokens(count, runs));
        visit.figure(&format!("cdf-steps-{count}"), &cdf_steps(count, runs));
    }
    for count in [1, 2, 5, 10, 17] {
        visit.figure(
            &format!("step-histograms-{count}"),
            &step_histograms(count, false),
        );
    }
    for count in [1, 60, 120] {
        visit.figure(&format!("size-vs-pass-{count}"), &size_vs_pass(count));
        visit.figure(&format!("context-size-{count}"), &context_size(count));
        visit.figure(&format!("coverage-{count}"), &coverage(count, false));
    }
    visit.figure("mixed-model", &mixed_model(true));
    visit.figure("mixed-model-none", &mixed_model(false));
    for count in [1, 10, 40] {
        visit.figure(
            &format!("context-compare-{count}"),
            &context_compare(count, false),
        );
    }
    visit.figure("ablation", &ablation(7, false));
    visit.figure("evidence-grid", &evidence_grid(false, false));
    visit.figure("evidence-grid-4", &evidence_grid(true, false));
    visit.figure("evidence-delta", &evidence_delta(false));
    visit.figure("evidence-delta-4", &evidence_delta(true));
    for count in [1, 2, 17, 100] {
        visit.figure(
            &format!("paired-differences-{count}"),
            &paired_differences(count, false),
        );
    }
    for (count, systems) in [(1, 1), (3, 2), (17, 9), (100, 13)] {
        visit.figure(
            &format!("per-system-{count}"),
            &per_system(count, systems, false),
        );
        visit.figure(
            &format!("leave-one-out-{count}"),
            &leave_one_out(count, systems, false),
        );
    }
    visit.figure("stability-1", &stability(1, false));
    visit.figure("stability-17", &stability(17, false));
    visit.figure("label-map-public", &label_map(3, false, false));
    visit.figure("label-map", &label_map(9, true, false));
    // Long names.
    visit.figure("long-rank-shift", &rank_shift(12, true, true));
    visit.figure("long-pairwise", &pairwise(12, true));
    visit.figure("long-contrast", &contrast(12, true));
    visit.figure("long-step-histograms", &step_histograms(5, true));
    visit.figure("long-coverage", &coverage(60, true));
    visit.figure("long-context-compare", &context_compare(8, true));
    visit.figure("long-ablation", &ablation(7, true));
    visit.figure("long-evidence-grid", &evidence_grid(true, true));
    visit.figure("long-paired-differences", &paired_differences(12, true));
    visit.figure("long-per-system", &per_system(6, 4, true));
    visit.figure("long-leave-one-out", &leave_one_out(6, 4, true));
    visit.figure("long-stability", &stability(5, true));
    visit.figure("long-label-map", &label_map(6, true, true));
}

/// Every figure without data.
#[allow(dead_code, reason = "the gallery draws no empty figures")]
pub(crate) fn nothing(visit: &mut impl Visit) {
    let a = about;
    visit.figure("rank-shift", &rank_shift(0, false, false));
    visit.figure(
        "pairwise-matrix",
        &PairwiseMatrix {
            about: a(),
            panels: vec![],
        },
    );
    visit.figure("saturation-contrast", &contrast(0, false));
    visit.figure(
        "lift-by-family",
        &LiftByFamily {
            about: a(),
            configurations: 0,
            groups: vec![],
        },
    );
    visit.figure(
        "lift-by-tier",
        &LiftByTier {
            about: a(),
            configurations: 0,
            groups: vec![],
        },
    );
    visit.figure(
        "behaviour",
        &Behaviour {
            about: a(),
            configurations: 0,
            pairs: 0,
            measures: vec![],
            classes: vec![],
        },
    );
    visit.figure("cdf-tokens", &cdf_tokens(0, 0));
    visit.figure("cdf-steps", &cdf_steps(3, 0));
    visit.figure("step-histograms", &step_histograms(0, false));
    visit.figure("size-vs-pass", &size_vs_pass(0));
    visit.figure("context-size", &context_size(0));
    visit.figure("coverage", &coverage(0, false));
    visit.figure("context-compare", &context_compare(0, false));
    visit.figure("ablation", &ablation(0, false));
    visit.figure(
        "evidence-grid",
        &EvidenceGrid {
            about: a(),
            of: String::new(),
            cells: vec![],
        },
    );
    visit.figure(
        "evidence-delta",
        &EvidenceDelta {
            about: a(),
            candidate: String::new(),
            reference: String::new(),
            cells: vec![],
        },
    );
    visit.figure("paired-differences", &paired_differences(1, false));
    visit.figure("per-system", &per_system(0, 0, false));
    visit.figure("leave-one-out", &leave_one_out(0, 0, false));
    visit.figure("stability", &stability(0, false));
    visit.figure("label-map", &label_map(0, false, false));
}
