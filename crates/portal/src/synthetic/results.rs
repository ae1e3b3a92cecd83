//! Synthetic results: abilities, difficulties and spending drawn from NumPy's
//! generator, written as published submissions with their live revisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use faultboard_domain::metadata::{
    AgentInfo, Declarations, Metadata, ModelInfo, Network, Submitter,
};
use faultboard_domain::outcome::RepairResult;
use faultboard_domain::score::DiagnosisScores;
use faultboard_domain::trace::{ExitStatus, Tokens, TraceSummary};
use faultboard_domain::{
    Actor, AttemptId, CaseId, Condition, Outcome, ReleaseId, Report, RevisionId, Role, RunNumber,
    SubmissionId, SubmissionState, SubsetId, Track, UserId,
};
use faultboard_scoring::aggregate::DiagnosisAttempt;
use faultboard_scoring::repair::RepairAttempt;
use faultboard_scoring::selection::{Candidate, Plan, select};
use faultboard_scoring::usage::Usage;
use faultboard_stats::pcg64::Pcg64;
use faultboard_store::accounts::{self, User};
use faultboard_store::attempts::{self, Attempt, Stored};
use faultboard_store::revisions::{self, NewRevision, RevisionState};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::{Tx, flag, set_flag};

use super::{RELEASE, Synthetic, cases};
use crate::finish::{RevisionChanges, RevisionScores, scorer_version};
use crate::{Portal, PortalError, Result};

const OWNER_FLAG: &str = "synthetic-owner";

/// What one configuration is like.
struct Character {
    ability: f64,
    context_gain: f64,
    cost: f64,
    steps: f64,
}

/// Deterministic draws.
struct Dice(Pcg64);

impl Dice {
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.next_f64()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.0.next_f64()).cos()
    }

    fn chance(&mut self, logit: f64) -> bool {
        self.0.next_f64() < 1.0 / (1.0 + (-logit).exp())
    }
}

fn id_text(prefix: char, key: &str) -> String {
    // Base 36 digits of a digest: lower-case hexadecimal is among them.
    let digest = faultboard_domain::Digest::of(key.as_bytes());
    format!("{prefix}{}", &digest.as_str()[..16])
}

/// Makes the submissions of one description that are not there yet.
pub(super) async fn fill(portal: &Arc<Portal>, w: Synthetic) -> Result<usize> {
    let blob = Bytes::from_static(b"{\"synthetic\": \"nothing was run\"}\n");
    let size = blob.len() as u64;
    let digest = portal.blobs.put(blob).await?;
    let file = Stored { digest, size };
    let difficulties = difficulties(w.cases);
    let mut made = 0;
    for n in 0..w.configurations {
        let key = format!(
            "{} {}x{}x{} {n}",
            w.track, w.cases, w.configurations, w.attempts
        );
        let id = SubmissionId::parse(&id_text('s', &key)).map_err(PortalError::internal)?;
        let mut tx = portal.store.begin().await?;
        if submissions::get(&mut tx, &id).await?.is_some() {
            continue;
        }
        let owner = owner(portal, &mut tx).await?;
        one(portal, &mut tx, w, n, &id, &owner, &file, &difficulties).await?;
        tx.commit().await?;
        made += 1;
    }
    Ok(made)
}

async fn owner(portal: &Portal, tx: &mut Tx) -> Result<UserId> {
    if let Some(text) = flag(tx, OWNER_FLAG).await? {
        return UserId::parse(&text).map_err(PortalError::internal);
    }
    let id = UserId::parse(&id_text('u', "synthetic owner")).map_err(PortalError::internal)?;
    let user = User {
        id: id.clone(),
        name: "Synthetic data".to_owned(),
        email: "synthetic@faultboard.invalid".to_owned(),
        password_hash: crate::accounts::NO_PASSWORD.to_owned(),
        role: Role::Submitter,
    };
    accounts::insert_user(tx, &user, portal.now()).await?;
    set_flag(tx, OWNER_FLAG, id.as_str()).await?;
    Ok(id)
}

/// The cases' difficulties on the logit scale, by tier.
fn difficulties(n: u32) -> Vec<f64> {
    let mut dice = Dice(Pcg64::new(1));
    (0..n)
        .map(|i| {
            let mean = match cases::tier(i) {
                1 => 1.2,
                2 => 0.2,
                _ => -0.9,
            };
            mean + 1.5 * dice.normal()
        })
        .collect()
}

fn metadata(w: Synthetic, n: u32) -> Result<Metadata> {
    Ok(Metadata {
        track: w.track,
        subset: SubsetId::parse("full").map_err(PortalError::internal)?,
        release: ReleaseId::parse(RELEASE).map_err(PortalError::internal)?,
        agent: AgentInfo {
            name: format!("Synthetic agent {}", n % 3 + 1),
            version: "0".to_owned(),
            url: None,
            open_source: true,
        },
        model: ModelInfo {
            name: format!("Synthetic model {:02}", n + 1),
            version: None,
            provider: None,
            open_weights: n % 4 == 1,
            settings: BTreeMap::new(),
        },
        submitter: Submitter {
            name: "Generator".to_owned(),
            organisation: None,
            contact: String::new(),
        },
        report_url: None,
        attempts_per_case: Some(w.attempts),
        budget: None,
        network: Network::None,
        declarations: Declarations {
            no_original_issues: true,
            no_fixes: true,
            no_benchmark_access: true,
        },
    })
}

fn character(w: Synthetic, n: u32) -> Character {
    let mut dice = Dice(Pcg64::new(1_000 + u64::from(n)));
    let place = f64::from(n) / f64::from(w.configurations.max(2) - 1);
    Character {
        ability: 1.6 - 3.2 * place + 0.25 * dice.normal(),
        context_gain: 0.4 + 1.6 * place + 0.2 * dice.normal(),
        cost: 0.2 + 2.5 * (1.0 - place) * (0.5 + dice.0.next_f64()),
        steps: 25.0 + 40.0 * dice.0.next_f64(),
    }
}

fn coverage(dice: &mut Dice, logit: f64) -> DiagnosisScores {
    // Quarters, as of a case with four labelled blocks.
    let quarters = |dice: &mut Dice, logit: f64| {
        f64::from((0..4).filter(|_| dice.chance(logit)).count() as u32) / 4.0
    };
    let block = quarters(dice, logit);
    let file = block.max(quarters(dice, logit + 1.2));
    DiagnosisScores {
        file_precision: quarters(dice, logit + 0.8),
        file_coverage: file,
        function_precision: quarters(dice, logit),
        function_coverage: block,
        line_precision: block * 0.5,
        line_coverage: block * 0.75,
        block_precision: quarters(dice, logit - 0.2),
        block_coverage: block,
        strict_block_coverage: block,
        mention_coverage: Some(file),
        predicted_lines: 20 + (dice.0.next_f64() * 80.0) as u64,
        predicted_blocks: 1 + (dice.0.next_f64() * 5.0) as u32,
    }
}

fn summary(dice: &mut Dice, who: &Character, helped: bool) -> TraceSummary {
    let scale = (0.4 * dice.normal()).exp() * if helped { 0.65 } else { 1.0 };
    let turns = (who.steps * scale).clamp(3.0, 450.0) as u32;
    let tokens = (f64::from(turns) * 14_000.0 * (0.2 * dice.normal()).exp()) as u64;
    TraceSummary {
        format: "synthetic".to_owned(),
        steps: turns,
        turns,
        actions: turns,
        first_edit: (dice.0.next_f64() < 0.95).then_some((turns * 2 / 3).max(1)),
        reads: turns / 3,
        edits: 1 + turns / 20,
        tokens: Some(Tokens {
            input: tokens,
            output: tokens / 30,
            cached: 0,
        }),
        cost: Some(who.cost * scale),
        seconds: Some(f64::from(turns) * 9.0),
        exit: if turns >= 450 {
            ExitStatus::StepLimit
        } else {
            ExitStatus::Submitted
        },
        edited_files: Vec::new(),
        notes: Vec::new(),
    }
}

#[expect(clippy::too_many_arguments, reason = "one place calls it")]
async fn one(
    portal: &Portal,
    tx: &mut Tx,
    w: Synthetic,
    n: u32,
    id: &SubmissionId,
    owner: &UserId,
    file: &Stored,
    difficulties: &[f64],
) -> Result<()> {
    let now = portal.now();
    let actor = Actor::System;
    let m = metadata(w, n)?;
    let who = character(w, n);
    let mut dice = Dice(Pcg64::new(1_000_000 + u64::from(n)));
    let submission = Submission {
        id: id.clone(),
        user: owner.clone(),
        team: None,
        state: SubmissionState::Received,
        file_name: "synthetic.tar.zst".to_owned(),
        size: file.size,
        sha256: file.digest.clone(),
        metadata: None,
        report: None,
        trace_bytes: 0,
        live_revision: None,
        created: now,
        changed: now,
        published: None,
    };
    submissions::insert(tx, &submission, &actor).await?;
    submissions::set_checked(tx, id, &Report::default(), Some(&m), 0).await?;
    let revision = RevisionId::parse(&id_text('r', id.as_str())).map_err(PortalError::internal)?;
    let version = scorer_version(w.track);
    revisions::begin(
        tx,
        &NewRevision {
            id: &revision,
            submission: id,
            reason: "generated, nothing was run",
            fresh: false,
            scorer_version: &version,
            created_by: &actor.label(),
            base: None,
            reevaluation: None,
        },
        now,
    )
    .await?;
    let conditions: Vec<Option<Condition>> = match w.track {
        Track::Diagnosis => vec![None],
        _ => Condition::ALL.into_iter().map(Some).collect(),
    };
    let mut candidates = Vec::new();
    let mut scores = RevisionScores::default();
    let mut cohort = std::collections::BTreeSet::new();
    let mut position = 0;
    for (i, difficulty) in difficulties.iter().enumerate() {
        let case = CaseId::parse(&cases::id(u32::try_from(i).unwrap_or(0)))
            .map_err(PortalError::internal)?;
        cohort.insert(case.clone());
        for condition in &conditions {
            let helped = *condition == Some(Condition::ContextAugmented);
            let gain = if helped { who.context_gain } else { 0.0 };
            for run in 1..=w.attempts {
                let logit = who.ability + gain - difficulty;
                let attempt = AttemptId::parse(&id_text('a', &format!("{id} {position}")))
                    .map_err(PortalError::internal)?;
                let told = summary(&mut dice, &who, helped);
                let usage = Usage::from(&told);
                attempts::insert(
                    tx,
                    &Attempt {
                        id: attempt.clone(),
                        submission: id.clone(),
                        position,
                        case: case.clone(),
                        condition: *condition,
                        run: RunNumber(run),
                        patch: None,
                        diagnosis: None,
                        trace: file.clone(),
                        trace_name: "synthetic.json".to_owned(),
                        normalised: None,
                        step_index: None,
                        summary: Some(told),
                        stats: None,
                    },
                )
                .await?;
                position += 1;
                candidates.push(Candidate {
                    attempt: attempt.clone(),
                    case: case.clone(),
                    condition: *condition,
                    run: RunNumber(run),
                    source: None,
                    obstacle: None,
                });
                if let Some(condition) = *condition {
                    let outcome = if dice.chance(logit) {
                        Outcome::Pass
                    } else {
                        Outcome::Fail
                    };
                    let result = repair_result(outcome, &version);
                    revisions::insert_outcome(
                        tx,
                        &revision,
                        &attempt,
                        outcome.as_str(),
                        &result,
                        now,
                    )
                    .await?;
                    scores.repair.push(RepairAttempt {
                        attempt,
                        case: case.clone(),
                        condition,
                        outcome,
                        usage,
                    });
                } else {
                    let found = coverage(&mut dice, logit);
                    revisions::insert_outcome(tx, &revision, &attempt, "scored", &found, now)
                        .await?;
                    scores.diagnosis.push(DiagnosisAttempt {
                        attempt,
                        case: case.clone(),
                        scores: found,
                        usage,
                    });
                }
            }
        }
    }
    let manifest = select(
        &Plan {
            track: w.track,
            cohort,
            conditions: conditions.into_iter().flatten().collect(),
            slots: w.attempts,
            scorer_version: version,
        },
        &candidates,
    );
    let known = Submission {
        metadata: Some(m),
        ..submission
    };
    scores.row = portal.own_row(&known, &revision, &scores)?;
    revisions::complete(
        tx,
        &revision,
        &scores,
        &manifest,
        &RevisionChanges::default(),
        now,
    )
    .await?;
    use SubmissionState as S;
    let steps = [
        S::Received,
        S::Validating,
        S::Scanning,
        S::Queued,
        S::Scoring,
        S::Scored,
        S::InReview,
        S::Published,
    ];
    for pair in steps.windows(2) {
        submissions::transition(tx, id, pair[0], pair[1], &actor, "synthetic", now).await?;
    }
    revisions::transition(tx, &revision, RevisionState::Ready, RevisionState::Live).await?;
    submissions::set_live_revision(tx, id, &revision).await?;
    Ok(())
}

fn repair_result(outcome: Outcome, version: &str) -> RepairResult {
    RepairResult {
        outcome,
        reason: "synthetic: drawn by a generator, nothing was run".to_owned(),
        flags: vec!["synthetic".to_owned()],
        stages: Vec::new(),
        image_digests: Vec::new(),
        scorer_version: version.to_owned(),
        cache_key: String::new(),
        notes: Vec::new(),
    }
}
