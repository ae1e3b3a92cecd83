//! `bench`: work on one case at a terminal. Prepare its tree, lay out the
//! workspace that an agent gets, look around in it, judge what was changed, and
//! begin anew.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand;
use faultboard_domain::{CaseId, Condition, Outcome};
use faultboard_portal::BenchWorkspace;

use super::case::{Workspace, open, workspace};
use super::{Ended, Result, out, terminal};
use crate::config::Config;

#[derive(Debug, Subcommand)]
pub(super) enum Bench {
    /// Prepare the faulty tree of a case: run its set-up, unless that was done before.
    Setup {
        /// The case, such as `raft-rs-76`.
        case: CaseId,
    },
    /// Lay out the workspace that an agent gets, and tell how to start one there.
    Agent {
        /// The case.
        case: CaseId,
        /// What the agent may know: `symptom-only` (the default) or `context-augmented`.
        #[arg(long)]
        condition: Option<Condition>,
        /// The folder to make, instead of one with a random name.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Open a shell in the workspace, in the case's container and without a network.
    Shell {
        /// The case.
        case: CaseId,
    },
    /// Run the oracle against the workspace as it is now, and tell its verdict.
    Reproduce {
        /// The case.
        case: CaseId,
        /// How often, instead of what the case asks for.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
        times: Option<u32>,
        /// Write the workspace's changes into this file as well.
        #[arg(long, value_name = "FILE")]
        patch: Option<PathBuf>,
    },
    /// Throw the workspace's changes away, and prove that the tree is what set-up left.
    Reset {
        /// The case.
        case: CaseId,
        /// Another condition than before.
        #[arg(long)]
        condition: Option<Condition>,
    },
    /// Lay out a workspace in a folder of your choice, which no other command keeps track of.
    Workspace(Workspace),
}

pub(super) async fn run(what: Bench, config: &Config, json: bool) -> Result {
    match what {
        Bench::Workspace(wanted) => workspace(wanted, config, json).await,
        Bench::Setup { case } => setup(&case, config, json).await,
        Bench::Agent {
            case,
            condition,
            dir,
        } => {
            let portal = open(config, std::slice::from_ref(&case)).await?;
            let made = portal.bench_agent(&case, condition, dir.as_deref()).await?;
            tell(&made, json);
            Ok(Ended::Well)
        }
        Bench::Shell { case } => shell(&case, config).await,
        Bench::Reproduce { case, times, patch } => {
            reproduce(&case, times, patch, config, json).await
        }
        Bench::Reset { case, condition } => {
            let portal = open(config, std::slice::from_ref(&case)).await?;
            let made = portal.bench_reset(&case, condition).await?;
            if json {
                out::json(&made);
            } else {
                out::line(format_args!(
                    "{case}: clean again: every file of {} is what set-up left, at commit {}",
                    made.dir.display(),
                    made.commit
                ));
            }
            Ok(Ended::Well)
        }
    }
}

async fn setup(case: &CaseId, config: &Config, json: bool) -> Result {
    let portal = open(config, std::slice::from_ref(case)).await?;
    let say = Arc::new(|text: &str| out::aside(out::tame(text.trim_end())));
    let tree = portal.bench_setup(case, say).await?;
    if json {
        out::json(&tree);
    } else {
        let how = if tree.fresh {
            "set up just now"
        } else {
            "was set up before"
        };
        out::line(format_args!(
            "{case}: {how} in {:.1} s; tree sha256:{}, image {}",
            tree.seconds, tree.tree_digest, tree.image_digest
        ));
    }
    Ok(Ended::Well)
}

fn tell(made: &BenchWorkspace, json: bool) {
    if json {
        return out::json(made);
    }
    out::line(format_args!(
        "{case} ({condition}) is ready in {dir}\n\n\
         The tree is `tree/`; SYMPTOM.md and REBUILD.sh lie in it. Start an agent there as uid {uid}, such as:\n\n    \
         docker run --rm -it --network none --user {uid}:{gid} --env HOME=/work/.home \\\n        \
         --mount type=bind,source={dir},target=/work --workdir /work/tree {image} COMMAND\n\n\
         or look around yourself: faultboard bench shell {case}\n\
         Judge what was changed:  faultboard bench reproduce {case}\n\
         Begin anew:              faultboard bench reset {case}",
        case = made.case,
        condition = made.condition.title(),
        dir = made.dir.display(),
        uid = made.owner.0,
        gid = made.owner.1,
        image = made.image,
    ));
}

async fn shell(case: &CaseId, config: &Config) -> Result {
    let portal = open(config, std::slice::from_ref(case)).await?;
    // Says that one must be made first, before the terminal is taken over.
    let there = match portal.bench_workspace(case)? {
        Some(there) => there,
        None => portal.bench_agent(case, None, None).await?,
    };
    let (raw, terminal) = terminal::take()?;
    out::aside(format_args!(
        "{case}: a shell in {}, without a network; `exit` ends it\r",
        there.dir.display()
    ));
    let ended = portal.bench_shell(case, terminal).await;
    drop(raw);
    Ok(match ended? {
        0 => Ended::Well,
        _ => Ended::WithProblems,
    })
}

async fn reproduce(
    case: &CaseId,
    times: Option<u32>,
    patch_file: Option<PathBuf>,
    config: &Config,
    json: bool,
) -> Result {
    let portal = open(config, std::slice::from_ref(case)).await?;
    let say = Arc::new(|text: &str| out::aside(out::tame(text.trim_end())));
    let (patch, result) = portal.bench_reproduce(case, times, say).await?;
    if let Some(file) = &patch_file {
        std::fs::write(file, &patch)?;
    }
    if json {
        out::json(&result);
    } else {
        let what = if patch.is_empty() {
            "nothing was changed, so the faulty tree was judged".to_owned()
        } else {
            format!("a change of {} lines was judged", changed_lines(&patch))
        };
        out::line(format_args!(
            "{case}: {}: {} ({what})",
            result.outcome,
            out::tame(&result.reason)
        ));
        for flag in &result.flags {
            out::line(format_args!("  flag: {flag}"));
        }
    }
    Ok(if result.outcome == Outcome::Pass {
        Ended::Well
    } else {
        Ended::WithProblems
    })
}

/// Lines that a patch adds or takes away.
fn changed_lines(patch: &[u8]) -> usize {
    patch
        .split(|b| *b == b'\n')
        .filter(|l| matches!(l.first(), Some(b'+' | b'-')))
        .filter(|l| !l.starts_with(b"+++ ") && !l.starts_with(b"--- "))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_files_are_no_changed_lines() {
        assert_eq!(
            changed_lines(b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n"),
            2
        );
    }
}
