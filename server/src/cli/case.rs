//! `case`: the cases as this machine has them, the proof that their oracles tell
//! a faulty tree from a mended one, and workspaces for agents.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Subcommand;
use faultboard_domain::view::{CaseLine, ProofView};
use faultboard_domain::{Actor, CaseId, Condition, Problem};
use faultboard_portal::{Portal, ProofTimes};

use super::proof_report::{self, Part};
use super::{Ended, Result, out, serve};
use crate::config::Config;

#[derive(Debug, Subcommand)]
pub(super) enum Case {
    /// List the cases and their newest proofs.
    List,
    /// Prove cases: the faulty tree fails, the reference fix passes, other fixes are told
    /// right, and a workspace gives nothing away. The proof is kept for the case's page.
    Verify(Verify),
    /// Lay out the workspace that an agent gets for a case (also `bench workspace`).
    Workspace(Workspace),
}

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// The cases, such as `raft-rs-76`.
    #[arg(
        value_name = "CASE",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    cases: Vec<CaseId>,
    /// Every case.
    #[arg(long)]
    all: bool,
    /// How often the faulty tree and the reference fix are run, each.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    times: u32,
    /// How often each other fix is run; 0 leaves them out.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=100))]
    variant_times: u32,
    /// Write `proofs.md` and `proofs.json` into this folder (they name other fixes: not for agents).
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
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
        Case::Workspace(wanted) => workspace(wanted, config, json).await,
        Case::List => list(config, json).await,
        Case::Verify(wanted) => verify(wanted, config, json).await,
    }
}

/// Lays out a workspace.
pub(super) async fn workspace(workspace: Workspace, config: &Config, json: bool) -> Result {
    let dir = workspace
        .dir
        .or(workspace.into)
        .context("name the folder to make")?;
    let portal = open(config, std::slice::from_ref(&workspace.case)).await?;
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

/// Opens the cases for work on some of them: others that are not in order don't
/// matter, these must be.
pub(super) async fn open(config: &Config, cases: &[CaseId]) -> anyhow::Result<Arc<Portal>> {
    let (portal, report) = serve::open_bench(config).await?;
    let known = portal.cases(&Actor::System).await?;
    for case in cases {
        if known.cases.iter().any(|l| l.case.id == *case) {
            continue;
        }
        let mut own = report.clone();
        own.problems.retain(|p| concerns(p, case));
        anyhow::ensure!(
            !own.problems.is_empty(),
            "there is no case `{case}`; `faultboard case list` names all"
        );
        anyhow::bail!("{case} is not in order:\n{}", super::report::problems(&own));
    }
    Ok(portal)
}

/// Whether a problem lies in a case's two folders.
fn concerns(problem: &Problem, case: &CaseId) -> bool {
    ["cases", "cases-solution"].iter().any(|root| {
        problem
            .path
            .strip_prefix(root)
            .and_then(|p| p.strip_prefix('/'))
            .is_some_and(|p| p.split(['/', ':', '#']).next() == Some(case.as_str()))
    })
}

async fn list(config: &Config, json: bool) -> Result {
    let (portal, report) = serve::open_bench(config).await?;
    let view = portal.cases(&Actor::System).await?;
    let ended = if report.is_ok() {
        Ended::Well
    } else {
        Ended::WithProblems
    };
    if json {
        out::json(&view.cases);
        if !report.problems.is_empty() {
            out::aside(super::report::problems(&report).trim_end());
        }
        return Ok(ended);
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
    if !report.problems.is_empty() {
        out::aside(super::report::problems(&report).trim_end());
    }
    Ok(ended)
}

/// A proof in one line.
fn in_words(proof: &ProofView) -> String {
    let not = if proof.holds() { "" } else { "NOT PROVEN: " };
    format!(
        "{not}{} ({}, {})",
        proof.sentence(),
        proof.runtime,
        proof.verified.date()
    )
}

/// Proves cases; goes on after one that fails, and writes the report after each.
async fn verify(wanted: Verify, config: &Config, json: bool) -> Result {
    let portal = open(config, &wanted.cases).await?;
    let cases = if wanted.all {
        let view = portal.cases(&Actor::System).await?;
        view.cases.into_iter().map(|l| l.case.id).collect()
    } else {
        wanted.cases
    };
    let times = ProofTimes {
        directions: wanted.times,
        variants: wanted.variant_times,
    };
    let mut parts: Vec<Part> = Vec::new();
    for case in cases {
        let name = case.clone();
        let say = Arc::new(move |line: &str| {
            out::aside(format_args!("{name}: {}", out::tame(line.trim_end())));
        });
        let began = std::time::Instant::now();
        let made = portal.case_verify(&case, times, say).await;
        let seconds = began.elapsed().as_secs_f64();
        let part = Part::new(case, seconds, made.map_err(|e| e.to_string()));
        if !json {
            out::line(proof_report::lines(&part));
        }
        parts.push(part);
        if let Some(dir) = &wanted.report {
            proof_report::write(dir, &parts)?;
        }
    }
    if json {
        out::json(&parts);
    } else if parts.len() > 1 {
        let proven = parts.iter().filter(|p| p.holds).count();
        let took: f64 = parts.iter().map(|p| p.seconds).sum();
        out::line(format_args!(
            "{proven} of {} cases proven in {took:.0} s",
            parts.len()
        ));
    }
    Ok(if parts.iter().all(|p| p.holds) {
        Ended::Well
    } else {
        Ended::WithProblems
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_belong_to_the_case_whose_folder_they_name() {
        let case = CaseId::parse("raft-rs-7").unwrap();
        let at = |path: &str| concerns(&Problem::error(path, "x", "m", "f"), &case);
        assert!(at("cases/raft-rs-7/case.yaml:3") && at("cases-solution/raft-rs-7/blocks.json#/1"));
        assert!(at("cases/raft-rs-7"));
        assert!(!at("cases/raft-rs-76/case.yaml:3") && !at("cases/releases/2026.1.yaml"));
    }
}
