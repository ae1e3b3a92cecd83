//! `reevaluate`: score whole sets again, from a terminal, as an administrator
//! with a token. It shows what would change; nothing goes live before `apply`.

use std::time::Duration;

use clap::Subcommand;
use faultboard_domain::view::{ReevaluationLine, ReevaluationView};
use faultboard_domain::{AttemptId, CaseId, ReevaluationId, ReleaseId, Scope, SubmissionId};
use reqwest::Method;

use super::client::Client;
use super::{Ended, Result, out};
use crate::config::Config;

/// How often a re-evaluation that is waited for is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

#[derive(Debug, Subcommand)]
pub(super) enum Reevaluate {
    /// Begin one.
    Begin {
        #[command(flatten)]
        what: What,
        /// Why; it stands with the revision on the public page.
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Run everything anew, reuse no verdict.
        #[arg(long)]
        fresh: bool,
        /// Follow it until it is complete.
        #[arg(long)]
        wait: bool,
    },
    /// List the re-evaluations.
    List,
    /// Show how far one is and what it would change.
    Show {
        /// The re-evaluation, such as `e0123abcd`.
        id: ReevaluationId,
        /// Follow it until it is complete.
        #[arg(long)]
        wait: bool,
    },
    /// Make live what is complete.
    Apply {
        /// The re-evaluation.
        id: ReevaluationId,
    },
    /// Drop it; what was live stays.
    Discard {
        /// The re-evaluation.
        id: ReevaluationId,
    },
}

/// The set.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct What {
    /// One attempt.
    #[arg(long, value_name = "ATTEMPT")]
    attempt: Option<AttemptId>,
    /// One submission.
    #[arg(long, value_name = "SUBMISSION")]
    submission: Option<SubmissionId>,
    /// One case, in every submission.
    #[arg(long, value_name = "CASE")]
    case: Option<CaseId>,
    /// A configuration, named by one of its submissions.
    #[arg(long, value_name = "SUBMISSION")]
    configuration: Option<SubmissionId>,
    /// A release.
    #[arg(long, value_name = "RELEASE")]
    release: Option<ReleaseId>,
    /// Everything that an older scorer scored.
    #[arg(long)]
    outdated: bool,
}

impl What {
    fn scope(self) -> Scope {
        let one = self
            .attempt
            .map(Scope::Attempt)
            .or(self.submission.map(Scope::Submission))
            .or(self.case.map(Scope::Case))
            .or(self.configuration.map(Scope::Configuration))
            .or(self.release.map(Scope::Release));
        // The flags exclude each other and one is required: what is left is `outdated`.
        one.unwrap_or(Scope::Outdated)
    }
}

const PATH: &str = "/api/v1/reevaluations";

pub(super) async fn run(what: Reevaluate, config: &Config, json: bool) -> Result {
    let client = Client::new(&config.url, config.token.as_deref())?;
    match what {
        Reevaluate::Begin {
            what,
            reason,
            fresh,
            wait,
        } => {
            let scope = what.scope();
            let body = serde_json::json!({
                "scope": scope.kind(), "subject": scope.subject(), "reason": reason, "fresh": fresh,
            });
            let begun = client.call(Method::POST, PATH, Some(body)).await?;
            let view: ReevaluationView = serde_json::from_value(begun)?;
            follow(&client, view, wait, json).await
        }
        Reevaluate::List => {
            let all = client.call(Method::GET, PATH, None).await?;
            if json {
                out::json(&all);
                return Ok(Ended::Well);
            }
            let lines: Vec<ReevaluationLine> = serde_json::from_value(all)?;
            for l in &lines {
                out::line(format_args!(
                    "{}  {}  {}  {}",
                    l.id,
                    l.scope.words(),
                    states(l),
                    out::tame(&l.reason)
                ));
            }
            Ok(Ended::Well)
        }
        Reevaluate::Show { id, wait } => {
            let view = look(&client, &id).await?;
            follow(&client, view, wait, json).await
        }
        Reevaluate::Apply { id } => decide(&client, &id, "apply", json).await,
        Reevaluate::Discard { id } => decide(&client, &id, "discard", json).await,
    }
}

async fn look(client: &Client, id: &ReevaluationId) -> anyhow::Result<ReevaluationView> {
    let answer = client
        .call(Method::GET, &format!("{PATH}/{id}"), None)
        .await?;
    Ok(serde_json::from_value(answer)?)
}

async fn follow(client: &Client, mut view: ReevaluationView, wait: bool, json: bool) -> Result {
    while wait && view.line.states.iter().any(|(s, _)| s == "building") {
        tokio::time::sleep(LOOK_EVERY).await;
        view = look(client, &view.line.id).await?;
    }
    if json {
        out::json(&view);
    } else {
        show(&view);
    }
    Ok(Ended::Well)
}

async fn decide(client: &Client, id: &ReevaluationId, deed: &str, json: bool) -> Result {
    let path = format!("{PATH}/{id}/{deed}");
    let decided = client.call(Method::POST, &path, None).await?;
    if json {
        out::json(&decided);
    } else {
        out::line(format_args!(
            "{id}: {deed}: {} submission(s), {} left as they are",
            decided["done"], decided["left"]
        ));
    }
    Ok(Ended::Well)
}

fn states(l: &ReevaluationLine) -> String {
    let words: Vec<String> = l.states.iter().map(|(s, n)| format!("{n} {s}")).collect();
    words.join(", ")
}

fn show(view: &ReevaluationView) {
    let l = &view.line;
    out::line(format_args!(
        "{}: {}: {} ({} of {} attempts have a verdict)",
        l.id,
        l.scope.words(),
        states(l),
        view.done,
        view.total
    ));
    for c in &view.matrix {
        let sign = if c.old == c.new { "=" } else { "->" };
        out::line(format_args!("  {} {sign} {}: {}", c.old, c.new, c.count));
        if c.old != c.new {
            for a in &c.attempts {
                out::line(format_args!("    {}  {}", a.id, a.words));
            }
        }
    }
    for h in &view.hits {
        let word = if h.new { "new" } else { "gone" };
        out::line(format_args!(
            "  {word} hit in {}  {}: {}: {}",
            h.attempt.id,
            h.attempt.words,
            h.guard,
            out::tame(&h.why)
        ));
    }
}
