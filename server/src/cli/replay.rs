//! `replay`: runs the commands of a trace once more in a fresh container of its
//! case, and says where output or tree depart from what the trace says.

use std::path::PathBuf;
use std::sync::Arc;

use faultboard_domain::view::{Departure, ReplayView};
use faultboard_domain::{CaseId, Condition};

use super::case::open;
use super::{Ended, Result, out};
use crate::config::Config;

#[derive(Debug, clap::Args)]
pub(super) struct Replay {
    /// The trace, in any format that is read.
    trace: PathBuf,
    /// The case that it is about.
    #[arg(long)]
    case: CaseId,
    /// What the agent knew: `symptom-only` or `context-augmented`.
    #[arg(long, default_value = "symptom-only")]
    condition: Condition,
    /// The patch that came of it: the trees are compared too.
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
}

pub(super) async fn run(wanted: Replay, config: &Config, json: bool) -> Result {
    let portal = open(config, std::slice::from_ref(&wanted.case)).await?;
    let say = Arc::new(|line: &str| out::aside(out::tame(line.trim_end())));
    let view = portal
        .replay_file(
            &wanted.case,
            wanted.condition,
            &wanted.trace,
            wanted.patch.as_deref(),
            say,
        )
        .await?;
    if json {
        out::json(&view);
    } else {
        tell(&view);
    }
    Ok(if view.agrees() {
        Ended::Well
    } else {
        Ended::WithProblems
    })
}

fn tell(view: &ReplayView) {
    for step in &view.steps {
        let mut line = format!(
            "{:>8}  step {:>4}  {}",
            step.departure.as_str(),
            step.index + 1,
            step.command
        );
        if !step.why.is_empty() {
            line.push_str(&format!("  ({})", step.why));
        }
        out::line(out::tame(&line));
        if step.departure == Departure::Output {
            for (mark, text) in [("-", &step.told), ("+", &step.seen)] {
                for part in text.lines() {
                    out::line(out::tame(&format!("            {mark} {part}")));
                }
            }
        }
    }
    if let Some(tree) = &view.tree {
        for (path, why) in &tree.departs {
            out::line(out::tame(&format!("    tree  {path}: {why}")));
        }
        for path in &tree.left_behind {
            out::line(out::tame(&format!(
                "    tree  {path}: left behind, not handed in"
            )));
        }
    }
    out::line(out::tame(&view.sentence()));
}
