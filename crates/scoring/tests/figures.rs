//! Selection and aggregation: hand-made cases, and the reference values of
//! leave_one_out.json and bootstrap_paired_diff.json put through them.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{close, fixture, list, number, text};
use faultboard_domain::{
    AttemptId, CaseId, Condition, Digest, Outcome, RunNumber, SystemId, Track,
    score::{DiagnosisScores, Estimate},
};
use faultboard_scoring::{
    SCORER_VERSION,
    aggregate::{self, DiagnosisAttempt, Metric, SystemRow},
    repair::{self, RepairAttempt},
    selection::{Candidate, DIAGNOSIS_SLOTS, Plan, REPAIR_SLOTS, SkipReason, select},
    usage::Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn attempt_id(n: usize) -> AttemptId {
    AttemptId::parse(&format!("a{n:08}")).expect("an id")
}

fn case_id(n: usize) -> CaseId {
    CaseId::parse(&format!("case-{n}")).expect("an id")
}

fn candidate(n: usize, case: usize, run: u32, obstacle: Option<SkipReason>) -> Candidate {
    Candidate {
        attempt: attempt_id(n),
        case: case_id(case),
        condition: None,
        run: RunNumber(run),
        source: Some(Digest::of(&n.to_le_bytes())),
        obstacle,
    }
}

fn diagnosis_plan(cases: usize) -> Plan {
    Plan {
        track: Track::Diagnosis,
        cohort: (1..=cases).map(case_id).collect(),
        conditions: Vec::new(),
        slots: DIAGNOSIS_SLOTS,
        scorer_version: SCORER_VERSION.to_owned(),
    }
}

#[test]
fn the_first_three_valid_runs_by_number() {
    let invalid = SkipReason::Invalid {
        problem: "start_line is a float".into(),
    };
    let candidates = [
        candidate(1, 1, 10, None),
        candidate(2, 1, 2, None),
        candidate(3, 1, 1, Some(invalid.clone())),
        candidate(4, 1, 9, None),
        candidate(5, 1, 11, None),
        candidate(6, 1, 2, None),
        candidate(7, 2, 1, Some(SkipReason::NotScored)),
        candidate(8, 2, 2, None),
        candidate(9, 7, 1, None),
    ];
    let manifest = select(&diagnosis_plan(3), &candidates);
    let runs = |entries: &[faultboard_scoring::selection::Entry]| -> Vec<(String, u32)> {
        entries
            .iter()
            .map(|e| (e.case.to_string(), e.run.0))
            .collect()
    };
    let case = |n: usize, run: u32| (format!("case-{n}"), run);
    // 2 < 9 < 10 as numbers, not as texts.
    assert_eq!(
        runs(&manifest.chosen),
        [case(1, 2), case(1, 9), case(1, 10), case(2, 2)]
    );
    assert_eq!(runs(&manifest.unused), [case(1, 11)]);
    let skipped: Vec<(usize, &SkipReason)> = manifest
        .skipped
        .iter()
        .map(|s| {
            (
                s.entry.attempt.as_str()[1..].parse().expect("a number"),
                &s.reason,
            )
        })
        .collect();
    assert_eq!(
        skipped,
        [
            (9, &SkipReason::OutsideCohort),
            (3, &invalid),
            (6, &SkipReason::DuplicateRun),
            (7, &SkipReason::NotScored),
        ]
    );
    let short: Vec<(String, u32)> = manifest
        .shortfalls
        .iter()
        .map(|s| (s.case.to_string(), s.filled))
        .collect();
    assert_eq!(short, [case(2, 1), case(3, 0)]);
    assert_eq!(manifest.scorer_version, SCORER_VERSION);
    assert_eq!(
        manifest.chosen[0].source,
        Some(Digest::of(&2_usize.to_le_bytes()))
    );

    let stored = serde_json::to_string(&manifest).expect("a manifest is stored as JSON");
    let back: faultboard_scoring::selection::Manifest =
        serde_json::from_str(&stored).expect("and read back");
    assert_eq!(back, manifest);
    assert_eq!(
        json!(manifest.skipped[1]),
        json!({
            "case": "case-1", "run": 1, "attempt": "a00000003",
            "source": Digest::of(&3_usize.to_le_bytes()),
            "reason": "invalid", "problem": "start_line is a float",
        })
    );
}

#[test]
fn repair_keeps_one_per_case_and_condition() {
    let plan = Plan {
        track: Track::Repair,
        cohort: BTreeSet::from([case_id(1)]),
        conditions: Condition::ALL.to_vec(),
        slots: REPAIR_SLOTS,
        scorer_version: "oracle-1".into(),
    };
    let with = |n, run, condition, obstacle| Candidate {
        condition: Some(condition),
        ..candidate(n, 1, run, obstacle)
    };
    let candidates = [
        with(1, 1, Condition::SymptomOnly, Some(SkipReason::InfraError)),
        with(2, 2, Condition::SymptomOnly, None),
        with(3, 1, Condition::ContextAugmented, None),
        with(4, 2, Condition::ContextAugmented, None),
        candidate(5, 1, 1, None),
    ];
    let manifest = select(&plan, &candidates);
    let ids = |entries: &[faultboard_scoring::selection::Entry]| -> Vec<AttemptId> {
        entries.iter().map(|e| e.attempt.clone()).collect()
    };
    assert_eq!(ids(&manifest.chosen), [attempt_id(2), attempt_id(3)]);
    assert_eq!(ids(&manifest.unused), [attempt_id(4)]);
    assert_eq!(manifest.skipped.len(), 2);
    assert!(manifest.shortfalls.is_empty());
}

proptest! {
    /// Every attempt is in exactly one list, the order of the input does not
    /// matter, and no slot is overfilled.
    #[test]
    fn a_manifest_accounts_for_every_attempt(
        rows in proptest::collection::vec((1_usize..5, 1_u32..8, any::<bool>()), 0..40),
        rotate in 0_usize..40,
    ) {
        let mut candidates: Vec<Candidate> = rows
            .iter()
            .enumerate()
            .map(|(n, (case, run, ok))| candidate(n, *case, *run, (!ok).then_some(SkipReason::Missing)))
            .collect();
        let plan = diagnosis_plan(3);
        let manifest = select(&plan, &candidates);
        prop_assert_eq!(
            manifest.chosen.len() + manifest.skipped.len() + manifest.unused.len(),
            candidates.len()
        );
        let mut per_case: BTreeMap<&CaseId, u32> = BTreeMap::new();
        for entry in &manifest.chosen {
            *per_case.entry(&entry.case).or_default() += 1;
        }
        for case in &plan.cohort {
            let filled = per_case.get(case).copied().unwrap_or(0);
            prop_assert!(filled <= DIAGNOSIS_SLOTS);
            let short = manifest.shortfalls.iter().find(|s| s.case == *case);
            prop_assert_eq!(short.map(|s| s.filled), (filled < DIAGNOSIS_SLOTS).then_some(filled));
        }
        if !candidates.is_empty() {
            let at = rotate % candidates.len();
            candidates.rotate_left(at);
            prop_assert_eq!(select(&plan, &candidates), manifest);
        }
    }
}

fn scores(file_coverage: f64, block_coverage: f64) -> DiagnosisScores {
    DiagnosisScores {
        file_precision: 0.5,
        file_coverage,
        function_precision: 0.0,
        function_coverage: 0.0,
        line_precision: 0.0,
        line_coverage: 0.0,
        block_precision: 0.25,
        block_coverage,
        strict_block_coverage: 0.0,
        mention_coverage: None,
        predicted_lines: 7,
        predicted_blocks: 2,
    }
}

#[track_caller]
fn check_estimate(got: Option<Estimate>, want: &Value, key: &str, tol: f64, name: &str) {
    close(got.map(|e| e.mean), &want[format!("{key}_mean")], tol, name);
    let Some(got) = got else { return };
    let ci = &want[format!("{key}_ci95")];
    close(got.ci95.map(|c| c.0), &ci[0], tol, name);
    close(got.ci95.map(|c| c.1), &ci[1], tol, name);
    assert_eq!(json!(got.n), want["n"], "{name}");
}

#[track_caller]
fn check_rows(rows: &[SystemRow], wanted: &[Value], key: &str, tol: f64, name: &str) {
    assert_eq!(rows.len(), wanted.len(), "{name}");
    for (row, want) in rows.iter().zip(wanted) {
        assert_eq!(row.system.as_str(), text(want, key), "{name}");
        check_estimate(row.block_coverage, want, "block", tol, name);
        if row.block_coverage.is_some() {
            check_estimate(row.file_coverage, want, "file", tol, name);
            close(row.gap, &want["gap_file_minus_block"], tol, name);
            if !want["delta_block_vs_full"].is_null() {
                close(row.delta, &want["delta_block_vs_full"], tol, name);
            }
        }
    }
}

#[test]
fn a_diagnosis_row_by_system() {
    let data = fixture("leave_one_out");
    let tol = number(&data["tolerance"]["abs"]);
    for case in list(&data, "cases") {
        let name = text(case, "case");
        let want = &case["expected"];
        let (mut attempts, mut cohort) = (Vec::new(), BTreeMap::new());
        for bug in list(case, "bugs") {
            let id = CaseId::parse(text(bug, "bug")).expect("a case id");
            let system = SystemId::parse(text(bug, "system")).expect("a system id");
            cohort.insert(id.clone(), system);
            let block = list(bug, "block_coverage");
            for (file, block) in list(bug, "file_coverage").iter().zip(block) {
                attempts.push(DiagnosisAttempt {
                    attempt: attempt_id(attempts.len()),
                    case: id.clone(),
                    scores: scores(number(file), number(block)),
                    usage: Usage::default(),
                });
            }
        }
        let got = aggregate::aggregate(&attempts, &cohort);
        let full = |metric| got.metrics.get(&metric).copied();
        check_estimate(full(Metric::FileCoverage), &want["full"], "file", tol, name);
        check_estimate(
            full(Metric::BlockCoverage),
            &want["full"],
            "block",
            tol,
            name,
        );
        close(
            got.file_block_gap,
            &want["full"]["gap_file_minus_block"],
            tol,
            name,
        );
        check_rows(
            &got.systems.per_system,
            list(want, "per_system"),
            "system",
            tol,
            name,
        );
        check_rows(
            &got.systems.leave_one_out,
            list(want, "leave_one_out"),
            "excluded",
            tol,
            name,
        );
        close(
            got.systems.max_abs_delta,
            &want["max_abs_delta_block"],
            tol,
            name,
        );
        close(
            got.systems.gap_range.map(|g| g.0),
            &want["gap_range"][0],
            tol,
            name,
        );
        close(
            got.systems.gap_range.map(|g| g.1),
            &want["gap_range"][1],
            tol,
            name,
        );
        assert_eq!(full(Metric::MentionCoverage), None);
        assert_eq!(got.predicted_lines_median, Some(7.0));
        assert!(got.missing_cases.is_empty() && got.outside_cohort.is_empty());
        let stored = serde_json::to_string(&got).expect("an aggregate is stored as JSON");
        let back: aggregate::DiagnosisAggregate = serde_json::from_str(&stored).expect("and read");
        assert_eq!(back, got, "{name}");
    }
}

#[test]
fn spread_instability_and_missing_cases() {
    let attempt = |n: usize, case: usize, coverage: f64, cost: Option<f64>| DiagnosisAttempt {
        attempt: attempt_id(n),
        case: case_id(case),
        scores: scores(1.0, coverage),
        usage: Usage {
            cost_usd: cost,
            steps: Some(10 + n as u32),
            ..Usage::default()
        },
    };
    let attempts = [
        attempt(1, 1, 0.8, Some(1.0)),
        attempt(2, 1, 0.6, None),
        attempt(3, 2, 1.0, Some(3.0)),
        attempt(4, 2, 0.5, Some(2.0)),
        attempt(5, 9, 0.0, Some(99.0)),
    ];
    let system = SystemId::parse("raft").expect("an id");
    let cohort: BTreeMap<CaseId, SystemId> =
        (1..=3).map(|n| (case_id(n), system.clone())).collect();
    let got = aggregate::aggregate(&attempts, &cohort);
    // A range of exactly 20 points is not unstable.
    assert_eq!(got.unstable_cases, [case_id(2)]);
    assert_eq!(got.missing_cases, [case_id(3)]);
    assert_eq!(got.outside_cohort, [attempt_id(5)]);
    assert_eq!(got.metrics[&Metric::BlockCoverage].n, 2);
    assert_eq!(got.by_case(Metric::BlockCoverage)[&case_id(2)], 0.75);
    assert_eq!((got.usage.cost_usd.known, got.usage.cost_usd.of), (3, 4));
    assert_eq!(got.usage.cost_usd.total, Some(6.0));
    assert_eq!(got.usage.steps.median, Some(12.5));
    let sd = got.within_case.expect("attempts").sd_ddof1;
    assert!((sd - (0.02_f64.sqrt() + 0.125_f64.sqrt()) / 2.0).abs() < 1e-12);
}

fn repair_attempt(n: usize, case: &str, condition: Condition, outcome: Outcome) -> RepairAttempt {
    RepairAttempt {
        attempt: attempt_id(n),
        case: CaseId::parse(case).expect("a case id"),
        condition,
        outcome,
        usage: Usage::default(),
    }
}

#[test]
fn lift_of_the_reference_models() {
    let file = fixture("bootstrap_paired_diff");
    let tol = number(&file["tolerance"]["abs"]);
    let effect = &file["context_effect"];
    let ids: Vec<&str> = list(effect, "case_ids_sorted")
        .iter()
        .map(|v| v.as_str().expect("an id"))
        .collect();
    let cohort: Vec<CaseId> = ids
        .iter()
        .map(|i| CaseId::parse(i).expect("an id"))
        .collect();
    let mut lifts = Vec::new();
    for model in list(effect, "models") {
        let name = text(model, "model");
        let mut attempts = Vec::new();
        for (condition, key) in [
            (Condition::ContextAugmented, "context"),
            (Condition::SymptomOnly, "symptom"),
        ] {
            // Backwards: the order of the attempts must not matter.
            for (id, bit) in ids.iter().zip(text(model, key).bytes()).rev() {
                let outcome = if bit == b'1' {
                    Outcome::Pass
                } else {
                    Outcome::Timeout
                };
                attempts.push(repair_attempt(attempts.len(), id, condition, outcome));
            }
        }
        let got = repair::aggregate(&attempts, &cohort);
        let lift = got.lift.clone().expect("common cases");
        close(Some(lift.delta), &model["delta"], tol, name);
        close(lift.ci95.map(|c| c.0), &model["ci95"][0], tol, name);
        close(lift.ci95.map(|c| c.1), &model["ci95"][1], tol, name);
        close(lift.p, &model["p_two_sided"], tol, name);
        close(lift.p_plus_one, &model["p_two_sided_plus1"], tol, name);
        let (flips, _) = lift.flips.expect("one attempt each");
        close(flips.delta(), &model["delta"], tol, name);
        let symptom = got.condition(Condition::SymptomOnly).expect("attempts");
        let passes = text(model, "symptom").matches('1').count() as u64;
        let exact = symptom.exact.expect("a rate");
        assert_eq!(
            (exact.passes(), exact.n()),
            (passes, ids.len() as u64),
            "{name}"
        );
        close(
            symptom.rate.map(|r| r.mean),
            &json!(exact.value()),
            tol,
            name,
        );
        assert!(symptom.wilson.is_some() && symptom.clopper_pearson.is_some());
        lifts.push(lift);
    }
    let (pooled, test) = repair::pooled_flips(&lifts).expect("flips");
    assert_eq!(pooled.n(), (ids.len() * lifts.len()) as u64);
    close(pooled.delta(), &effect["pooled_delta"], tol, "pooled");
    assert!(test.p_exact > 0.0 && test.p_exact <= 1.0);
}

#[test]
fn infrastructure_never_changes_a_rate() {
    use Condition::{ContextAugmented as C, SymptomOnly as S};
    let cohort: Vec<CaseId> = (1..=4).map(case_id).collect();
    let attempts = [
        repair_attempt(1, "case-1", S, Outcome::Pass),
        repair_attempt(2, "case-1", S, Outcome::Fail),
        repair_attempt(3, "case-1", S, Outcome::InfraError),
        repair_attempt(4, "case-2", S, Outcome::InfraError),
        repair_attempt(5, "case-3", S, Outcome::OracleError),
        repair_attempt(6, "case-1", C, Outcome::Pass),
        repair_attempt(7, "case-2", C, Outcome::Pass),
        repair_attempt(8, "case-3", C, Outcome::NoEdit),
        repair_attempt(9, "case-8", C, Outcome::Pass),
    ];
    let got = repair::aggregate(&attempts, &cohort);
    let symptom = got.condition(S).expect("attempts");
    // case-1: 1 of 2, case-3: 0 of 1; the platform's failures are nowhere.
    assert_eq!(symptom.rate.map(|r| (r.mean, r.n)), Some((0.25, 2)));
    assert_eq!(symptom.exact, faultboard_stats::rank::Rate::new(1, 4));
    assert_eq!(symptom.not_counted, [attempt_id(3), attempt_id(4)]);
    assert_eq!(symptom.missing_cases, [case_id(2), case_id(4)]);
    assert_eq!(symptom.outcomes[&Outcome::InfraError], 2);
    assert_eq!(symptom.wilson, None);
    let lift = got.lift.as_ref().expect("common cases");
    assert_eq!((lift.delta, lift.n), (0.25, 2));
    assert_eq!(lift.only_context, [case_id(2)]);
    assert!(lift.only_symptom.is_empty());
    assert!(lift.flips.is_none(), "two attempts do not flip");
    assert_eq!(got.outside_cohort, [attempt_id(9)]);
    let stored = serde_json::to_string(&got).expect("an aggregate is stored as JSON");
    let back: repair::RepairAggregate = serde_json::from_str(&stored).expect("and read back");
    assert_eq!(back, got);
}
