//! `case` and `bench`: the cases as this machine has them, the proof that their
//! oracles tell a faulty tree from a mended one, and workspaces for agents.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Subcommand;
use faultboard_domain::view::{CaseLine, ProofView};
use faultboard_domain::{Actor, CaseId, Condition};
use faultboard_portal::Portal;

use super::{Ended, Result, out, serve};
use crate::config::Config;

#[derive(Debug, Subcommand)]
pub(super) enum Case {
    /// List the cases and their newest proofs.
    List,
    /// Run a case's oracle on the faulty tree and on the reference fix, and keep the proof.
    Verify {
        /// The case, such as `raft-rs-76`.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        case: Option<CaseId>,
        /// Every case.
        #[arg(long)]
        all: bool,
        /// How often each of the two is run.
        #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
        times: u32,
    },
    /// Lay out the workspace that an agent gets for a case (also `bench workspace`).
    Workspace(Workspace),
}

#[derive(Debug, Subcommand)]
pub(super) enum Bench {
    /// Lay out the workspace that an agent gets for a case.
    Workspace(Workspace),
}

#[derive(Debug, clap::Args)]
pub(super) struct Workspace {
    /// The case.
    case: CaseId,
    /// The folder to make.
    #[arg(value_name = "DIR", required_unless_present = "into")]
    dir: Option<PathBuf>,
    /// The folder to make, as a flag.
    #[arg(long = "dir", value_name = "DIR", conflicts_with = "dir")]
    into: Option<PathBuf>,
    /// What the agent may know: `symptom-only` or `context-augmented`.
    #[arg(long, default_value = "symptom-only")]
    condition: Condition,
}

pub(super) async fn run(what: Case, config: &Config, json: bool) -> Result {
    match what {
        Case::Workspace(workspace) => make(workspace, config, json).await,
        Case::List => {
            let portal = serve::open(config).await?;
            list(&portal, json).await
        }
        Case::Verify { case, times, .. } => {
            let portal = serve::open(config).await?;
            verify(&portal, case, times, json).await
        }
    }
}

pub(super) async fn bench(what: Bench, config: &Config, json: bool) -> Result {
    let Bench::Workspace(workspace) = what;
    make(workspace, config, json).await
}

async fn make(workspace: Workspace, config: &Config, json: bool) -> Result {
    let dir = workspace
        .dir
        .or(workspace.into)
        .context("name the folder to make")?;
    let portal = serve::open(config).await?;
    portal
        .agent_workspace(&workspace.case, workspace.condition, &dir)
        .await?;
    if json {
        out::json(
            &serde_json::json!({ "case": workspace.case, "condition": workspace.condition, "dir": dir }),
        );
    } else {
        out::line(format_args!(
            "{} ({}) is ready in {}",
            workspace.case,
            workspace.condition.title(),
            dir.display()
        ));
    }
    Ok(Ended::Well)
}

async fn list(portal: &Portal, json: bool) -> Result {
    let view = portal.cases(&Actor::System).await?;
    if json {
        out::json(&view.cases);
        return Ok(Ended::Well);
    }
    let width = |of: fn(&CaseLine) -> &str| {
        let longest = view.cases.iter().map(|l| of(l).chars().count()).max();
        longest.unwrap_or(0)
    };
    let (ids, titles) = (width(|l| l.case.id.as_str()), width(|l| &l.case.title));
    for line in &view.cases {
        let proof = line
            .proof
            .as_ref()
            .map_or_else(|| "not proven here".to_owned(), in_words);
        let (id, title) = (line.case.id.as_str(), out::tame(&line.case.title));
        out::line(format_args!("{id:<ids$}  {title:<titles$}  {proof}"));
    }
    Ok(Ended::Well)
}

/// A proof in one line.
fn in_words(proof: &ProofView) -> String {
    format!(
        "reference passes {} of {}, faulty fails {} of {} ({}, {})",
        proof.reference_passed,
        proof.reference_runs,
        proof.faulty_failed,
        proof.faulty_runs,
        proof.runtime,
        proof.verified.date()
    )
}

/// Whether every run ended as it must.
fn holds(proof: &ProofView) -> bool {
    proof.reference_runs > 0
        && proof.faulty_runs > 0
        && proof.reference_passed == proof.reference_runs
        && proof.faulty_failed == proof.faulty_runs
}

/// Proves one case or all; goes on after a case that fails.
async fn verify(portal: &Portal, case: Option<CaseId>, times: u32, json: bool) -> Result {
    let cases: Vec<CaseId> = match case {
        Some(case) => vec![case],
        None => {
            let view = portal.cases(&Actor::System).await?;
            view.cases.into_iter().map(|l| l.case.id).collect()
        }
    };
    let mut ended = Ended::Well;
    let mut results = Vec::new();
    for case in cases {
        let name = case.clone();
        let say = Arc::new(move |line: &str| {
            out::aside(format_args!("{name}: {}", out::tame(line.trim_end())));
        });
        let outcome = portal.case_verify(&case, times, say).await;
        let (good, words) = match &outcome {
            Ok((proof, problems)) => (
                problems.is_empty() && holds(proof),
                std::iter::once(in_words(proof))
                    .chain(problems.iter().cloned())
                    .collect::<Vec<_>>()
                    .join("; "),
            ),
            Err(e) => (false, e.to_string()),
        };
        if !good {
            ended = Ended::WithProblems;
        }
        if json {
            results.push(serde_json::json!({
                "case": case,
                "holds": good,
                "proof": outcome.as_ref().ok().map(|(proof, _)| proof),
                "problems": outcome.as_ref().ok().map(|(_, problems)| problems),
                "error": outcome.as_ref().err().map(ToString::to_string),
            }));
        } else {
            let verdict = if good { "proven" } else { "NOT PROVEN" };
            out::line(format_args!("{case}: {verdict}: {}", out::tame(&words)));
        }
    }
    if json {
        out::json(&results);
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultboard_domain::Timestamp;

    #[test]
    fn a_proof_holds_only_when_every_run_did() {
        let proof = |passed, failed, runs| ProofView {
            reference_passed: passed,
            reference_runs: runs,
            faulty_failed: failed,
            faulty_runs: runs,
            image_digest: String::new(),
            verified: Timestamp(0),
            runtime: "fake".into(),
        };
        assert!(holds(&proof(3, 3, 3)));
        assert!(!holds(&proof(2, 3, 3)));
        assert!(!holds(&proof(3, 2, 3)));
        assert!(!holds(&proof(0, 0, 0)));
    }
}
