//! From a revision's selected attempts to a board's row, for any set of cases.
//! Pure: it reads nothing and decides nothing about who may see it.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::metadata::Metadata;
use faultboard_domain::score::Estimate;
use faultboard_domain::view::{
    BoardRow, CaseCell, Column, DiagnosisCells, Difference, RankView, RepairCells, Rival, Spending,
};
use faultboard_domain::{
    AttemptId, CaseId, Condition, RevisionId, SubmissionId, SystemId, Timestamp, Track,
};
use faultboard_scoring::aggregate::{self, Metric};
use faultboard_scoring::repair;
use faultboard_scoring::usage::UsageSummary;
use faultboard_stats::pairwise::significant;
use faultboard_stats::rank::{Rank, Rate, by_rate, by_score};
use faultboard_store::submissions::Submission;

use crate::finish::RevisionScores;

/// The most rows that a row names as beaten, or as beating it.
const RIVALS: usize = 12;

/// A row together with what ranks are made of.
pub(crate) struct Scored {
    /// The row; its rank is filled in by [`rank`].
    pub row: BoardRow,
    /// The headline per case, for paired comparisons.
    headline: BTreeMap<CaseId, f64>,
    /// The headline as an exact fraction, where it is one.
    exact: Option<Rate>,
    /// The headline.
    mean: Option<f64>,
}

/// The columns of a track's board, in their order.
pub(crate) fn columns(track: Track) -> Vec<Column> {
    let column = |key: &str, title: &str, unit: &str, descending: bool, help: &str| Column {
        key: key.to_owned(),
        title: title.to_owned(),
        unit: unit.to_owned(),
        help: help.to_owned(),
        descending,
    };
    let mut columns = match track {
        Track::Repair | Track::Recovery => vec![
            column(
                "symptom",
                "symptom only",
                "%",
                true,
                "Share of cases whose patch passed the hidden oracle, given the tree and the symptom; mean over cases, with its 95 % bootstrap interval.",
            ),
            column(
                "context",
                "with context",
                "%",
                true,
                "The same, given a debug-context bundle as well.",
            ),
            column(
                "lift",
                "lift",
                "points",
                true,
                "With context minus symptom only, paired by case.",
            ),
        ],
        Track::Diagnosis => vec![
            column(
                "block",
                "block coverage",
                "%",
                true,
                "Share of labelled root-cause blocks that a predicted block comes within 5 lines of; mean over attempts, then over cases, with its 95 % bootstrap interval.",
            ),
            column(
                "block-precision",
                "block precision",
                "%",
                true,
                "Share of predicted blocks that come within 5 lines of a label.",
            ),
            column(
                "file",
                "file coverage",
                "%",
                true,
                "Share of labelled files that are named.",
            ),
            column(
                "function",
                "function coverage",
                "%",
                true,
                "Share of labelled functions that are named.",
            ),
            column(
                "line",
                "line coverage",
                "%",
                true,
                "Share of labelled lines that are predicted.",
            ),
            column(
                "strict",
                "strict blocks",
                "%",
                true,
                "Block coverage without the tolerance of 5 lines.",
            ),
            column(
                "lines",
                "lines",
                "median",
                false,
                "Distinct lines that an attempt predicts: coverage can be bought with breadth.",
            ),
            column(
                "unstable",
                "unstable",
                "cases",
                false,
                "Cases whose attempts range over more than 20 points of block coverage.",
            ),
        ],
    };
    columns.push(column(
        "cost",
        "cost",
        "USD / attempt",
        false,
        "Mean over the attempts that tell it.",
    ));
    columns.push(column(
        "tokens",
        "tokens",
        "per attempt",
        false,
        "Prompt and completion tokens, mean over the attempts that tell them.",
    ));
    columns.push(column(
        "steps",
        "steps",
        "median",
        false,
        "Turns of the model.",
    ));
    if matches!(track, Track::Repair | Track::Recovery) {
        columns.push(column(
            "first-edit",
            "first edit",
            "median step",
            false,
            "The turn in which a file was first changed.",
        ));
    }
    columns
}

/// Makes the row of a submission on a set of cases; none if no selected attempt
/// is on one of them.
pub(crate) fn scored(
    s: &Submission,
    revision: &RevisionId,
    scores: &RevisionScores,
    cohort: &BTreeMap<CaseId, SystemId>,
) -> Option<Scored> {
    row(
        s.metadata.as_ref()?,
        s.id.clone(),
        revision.clone(),
        s.published.unwrap_or(Timestamp(0)),
        scores,
        cohort,
    )
}

/// A row under the ids that the caller gives, for boards that no site holds.
pub(crate) fn scored_as(
    m: &Metadata,
    ids: (SubmissionId, RevisionId),
    scores: &RevisionScores,
    cohort: &BTreeMap<CaseId, SystemId>,
) -> Option<Scored> {
    row(m, ids.0, ids.1, Timestamp(0), scores, cohort)
}

/// The row of a bundle that no site knows; its ids say so.
pub(crate) fn scored_offline(
    m: &Metadata,
    scores: &RevisionScores,
    cohort: &BTreeMap<CaseId, SystemId>,
) -> Option<BoardRow> {
    let submission = SubmissionId::parse("s0offline0").ok()?;
    let revision = RevisionId::parse("r0offline0").ok()?;
    row(m, submission, revision, Timestamp(0), scores, cohort).map(|r| r.row)
}

fn row(
    m: &Metadata,
    submission: SubmissionId,
    revision: RevisionId,
    published: Timestamp,
    scores: &RevisionScores,
    cohort: &BTreeMap<CaseId, SystemId>,
) -> Option<Scored> {
    let mut row = BoardRow {
        rank: None,
        submission,
        revision,
        configuration: m.configuration(),
        agent: m.agent.name.clone(),
        agent_version: m.agent.version.clone(),
        model: m.model.name.clone(),
        open_weights: m.model.open_weights,
        submitter: m.submitter.name.clone(),
        organisation: m.submitter.organisation.clone(),
        published,
        cost_per_attempt: None,
        tokens_per_attempt: None,
        steps: None,
        flagged: scores.set_aside,
        unscored_cases: Vec::new(),
        repair: None,
        diagnosis: None,
        per_case: Vec::new(),
        beats: Vec::new(),
        beaten_by: Vec::new(),
        statistics: None,
    };
    match m.track {
        Track::Repair | Track::Recovery => repair_row(row, scores, cohort),
        Track::Diagnosis => {
            let attempts: Vec<_> = scores
                .diagnosis
                .iter()
                .filter(|a| cohort.contains_key(&a.case))
                .cloned()
                .collect();
            let a = aggregate::aggregate(&attempts, cohort);
            let metric = |m: Metric| a.metrics.get(&m).copied();
            spend(&mut row, &a.usage);
            row.unscored_cases = a.missing_cases.clone();
            row.per_case = a
                .cases
                .iter()
                .map(|c| CaseCell {
                    case: c.case.clone(),
                    symptom: None,
                    context: None,
                    coverage: c.means.get(&Metric::BlockCoverage).copied(),
                    attempts: c.attempts.clone(),
                })
                .collect();
            let mean = metric(Metric::BlockCoverage)?;
            row.diagnosis = Some(DiagnosisCells {
                block_coverage: mean,
                block_precision: metric(Metric::BlockPrecision)?,
                strict_block_coverage: metric(Metric::StrictBlockCoverage)?,
                file_coverage: metric(Metric::FileCoverage)?,
                function_coverage: metric(Metric::FunctionCoverage)?,
                line_coverage: metric(Metric::LineCoverage)?,
                mention_coverage: metric(Metric::MentionCoverage),
                file_block_gap: a.file_block_gap?,
                predicted_lines: a.predicted_lines_median,
                within_case_sd: a.within_case.as_ref().map(|w| w.sd_ddof1),
                unstable_cases: u32::try_from(a.unstable_cases.len()).unwrap_or(u32::MAX),
            });
            Some(Scored {
                row,
                headline: a.by_case(Metric::BlockCoverage),
                exact: None,
                mean: Some(mean.mean),
            })
        }
    }
}

fn spend(row: &mut BoardRow, usage: &UsageSummary) {
    row.cost_per_attempt = usage.cost_usd.mean;
    row.tokens_per_attempt = usage.tokens.mean;
    row.steps = usage.steps.median;
}

fn repair_row(
    mut row: BoardRow,
    scores: &RevisionScores,
    cohort: &BTreeMap<CaseId, SystemId>,
) -> Option<Scored> {
    let ids: Vec<CaseId> = cohort.keys().cloned().collect();
    let attempts: Vec<_> = scores
        .repair
        .iter()
        .filter(|a| cohort.contains_key(&a.case))
        .cloned()
        .collect();
    if attempts.is_empty() {
        return None;
    }
    let a = repair::aggregate(&attempts, &ids);
    spend(&mut row, &a.usage);
    let figures = |c| a.condition(c);
    let rate = |c| figures(c).and_then(|f| f.rate);
    let of_case = |c, case: &CaseId| figures(c).and_then(|f| f.cases.get(case)).map(|p| p.rate());
    let spent = |c| {
        figures(c).map(|f| Spending {
            cost: f.usage.cost_usd.mean,
            steps: f.usage.steps.median,
        })
    };
    let missing: BTreeSet<CaseId> = a
        .conditions
        .iter()
        .flat_map(|c| c.missing_cases.iter().cloned())
        .collect();
    row.unscored_cases = missing.into_iter().collect();
    row.per_case = ids
        .iter()
        .map(|case| CaseCell {
            case: case.clone(),
            symptom: of_case(Condition::SymptomOnly, case),
            context: of_case(Condition::ContextAugmented, case),
            coverage: None,
            attempts: attempts_of(&attempts, case),
        })
        .collect();
    row.repair = Some(RepairCells {
        symptom: rate(Condition::SymptomOnly),
        context: rate(Condition::ContextAugmented),
        lift: a.lift.as_ref().map(|l| Difference {
            mean: l.delta,
            ci95: l.ci95,
            p: l.p,
            n: l.n,
        }),
        first_edit: a.usage.first_edit.median,
        symptom_spent: spent(Condition::SymptomOnly),
        context_spent: spent(Condition::ContextAugmented),
    });
    let headline = figures(Condition::SymptomOnly);
    Some(Scored {
        headline: headline
            .map(repair::ConditionFigures::by_case)
            .unwrap_or_default(),
        exact: headline.and_then(|f| f.exact),
        mean: headline.and_then(|f| f.rate).map(|e: Estimate| e.mean),
        row,
    })
}

fn attempts_of(attempts: &[repair::RepairAttempt], case: &CaseId) -> Vec<AttemptId> {
    let mut found: Vec<_> = attempts.iter().filter(|a| a.case == *case).collect();
    found.sort_by_key(|a| a.condition);
    found.into_iter().map(|a| a.attempt.clone()).collect()
}

/// Ranks rows by their headline (symptom-only pass rate, or block coverage),
/// ties shown as ties, with how many rows each beats and is beaten by in the
/// paired test. Rows come back in rank order.
pub(crate) fn rank(track: Track, mut rows: Vec<Scored>) -> Vec<BoardRow> {
    let ranks: Vec<Option<Rank>> = match track {
        Track::Repair | Track::Recovery
            if rows.iter().all(|r| r.exact.is_some() || r.mean.is_none()) =>
        {
            by_rate(&rows.iter().map(|r| r.exact).collect::<Vec<_>>())
        }
        _ => by_score(&rows.iter().map(|r| r.mean).collect::<Vec<_>>()),
    };
    let headlines: Vec<BTreeMap<CaseId, f64>> = rows.iter().map(|r| r.headline.clone()).collect();
    let mut beats = vec![Vec::new(); rows.len()];
    let mut beaten_by = vec![Vec::new(); rows.len()];
    for (winner, loser) in significant(&headlines) {
        beats[winner].push(loser);
        beaten_by[loser].push(winner);
    }
    let count = |list: &[usize]| u32::try_from(list.len()).unwrap_or(u32::MAX);
    let place = |i: &usize| ranks[*i].map_or(usize::MAX, |r| r.place);
    let names: Vec<Rival> = rows
        .iter()
        .map(|r| Rival {
            submission: r.row.submission.clone(),
            configuration: r.row.configuration.clone(),
        })
        .collect();
    let first = |list: &[usize]| {
        list.iter()
            .take(RIVALS)
            .map(|i| names[*i].clone())
            .collect()
    };
    for (i, scored) in rows.iter_mut().enumerate() {
        scored.row.rank = ranks[i].map(|r| RankView {
            rank: u32::try_from(r.place).unwrap_or(u32::MAX),
            label: if r.tied {
                format!("{}=", r.place)
            } else {
                r.place.to_string()
            },
            beats: count(&beats[i]),
            beaten_by: count(&beaten_by[i]),
        });
        // The best of those below, the nearest of those above.
        beats[i].sort_by_key(|j| (place(j), *j));
        beaten_by[i].sort_by_key(|j| (std::cmp::Reverse(place(j)), *j));
        scored.row.beats = first(&beats[i]);
        scored.row.beaten_by = first(&beaten_by[i]);
    }
    let mut rows: Vec<BoardRow> = rows.into_iter().map(|s| s.row).collect();
    rows.sort_by(|a, b| {
        let place = |r: &BoardRow| r.rank.as_ref().map_or(u32::MAX, |k| k.rank);
        (place(a), &a.configuration, &a.submission).cmp(&(
            place(b),
            &b.configuration,
            &b.submission,
        ))
    });
    rows
}
