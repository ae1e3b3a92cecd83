//! Made-up data for the gallery and the tests: the same every time.

use faultboard_domain::case::Family;
use faultboard_plot::{
    About, CaseColumn, ConfigurationRow, Measure, PairCell, PairState, PairedHeatmap, Pareto,
    ParetoPoint,
};

pub(crate) mod more;

/// A small generator.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// Where it is from.
pub(crate) fn about() -> About {
    About {
        release: "2026.1".into(),
        date: "2026-11-30".into(),
        scope: "full subset, all tiers".into(),
    }
}

const AGENTS: [&str; 5] = [
    "mini-swe-agent 2.2",
    "Codex CLI",
    "OpenHands 1.3",
    "Claude Code 2.1",
    "Aider",
];
const MODELS: [&str; 8] = [
    "Model X",
    "Model Y mini",
    "Long-Model-Name 5.1 thinking",
    "Z 4.7",
    "Q 3.5 122B",
    "Opus",
    "K2",
    "GLM 5",
];

pub(crate) fn name(i: usize) -> String {
    format!(
        "{} · {}",
        AGENTS[i % AGENTS.len()],
        MODELS[(i / 2 + i) % MODELS.len()]
    )
}

/// A heatmap of this size.
pub(crate) fn heatmap(rows: usize, columns: usize) -> PairedHeatmap {
    let mut dice = Dice(7);
    let systems = ["raft-rs", "etcd", "kafka", "zookeeper", "redis"];
    let cases: Vec<CaseColumn> = (0..columns)
        .map(|i| CaseColumn {
            case: format!("{}-{}", systems[i * 7 % systems.len()], 100 + i * 37),
            family: Family::ALL[(dice.next() * 4.99) as usize],
        })
        .collect();
    let rows = (0..rows)
        .map(|r| {
            let skill = dice.next() * 0.6 + 0.2;
            let cells = (0..columns)
                .map(|c| {
                    let without = dice.next() < skill;
                    let with = dice.next() < skill + 0.12;
                    let missing = dice.next() < 0.03;
                    let state = if missing {
                        PairState::Missing
                    } else {
                        PairState::of(Some(without), Some(with))
                    };
                    PairCell {
                        state,
                        href: Some(format!("/compare/{r}/{c}")),
                    }
                })
                .collect();
            ConfigurationRow {
                name: name(r),
                cells,
            }
        })
        .collect();
    PairedHeatmap {
        about: about(),
        cases,
        rows,
    }
}

/// A plot of so many configurations, whose costs are known or not.
pub(crate) fn pareto(count: usize, costs: bool, seed: u64) -> Pareto {
    let mut dice = Dice(seed);
    let points = (0..count)
        .map(|i| {
            let cost = 10_f64.powf(dice.next() * 1.6 - 1.2);
            let rate = (0.35 + 0.35 * dice.next() + 0.08 * cost.ln()).clamp(0.05, 0.92);
            let unknown = i % 9 == 4;
            let known = costs && !unknown;
            let measure = |rate: f64, cost: f64| Measure {
                rate,
                ci95: Some(((rate - 0.12).max(0.0), (rate + 0.12).min(1.0))),
                n: 28,
                cost: known.then_some(cost),
                steps: Some((cost.ln() + 4.0) * 12.0),
            };
            ParetoPoint {
                name: name(i),
                symptom_only: Some(measure(rate, cost)),
                with_context: (i % 7 != 6).then(|| {
                    measure(
                        rate + 0.1 * (dice.next() - 0.25),
                        cost * (0.6 + 0.3 * dice.next()),
                    )
                }),
                href: Some(format!("/submissions/{i}")),
            }
        })
        .collect();
    Pareto {
        about: about(),
        points,
    }
}
