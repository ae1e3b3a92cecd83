//! `submit`: prepare and check a bundle offline, send it, follow it, take it back.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Subcommand;
use faultboard_domain::view::QuotaView;
use faultboard_domain::{Condition, Digest, Report, SubmissionId, TeamId};
use faultboard_portal::offline;
use reqwest::Method;
use serde_json::Value;
use sha2::Digest as _;

use super::client::Client;
use super::kept::Kept;
use super::offline::told;
use super::{Ended, Result, out, report};
use crate::config::Config;
use crate::sizes;

#[derive(Debug, Subcommand)]
pub(super) enum Submit {
    /// Pack a bundle's folder into an archive, if it is in order.
    Package {
        /// The folder `<date>_<agent>__<model>`.
        dir: PathBuf,
        /// The archive to write (`.tar.gz` or `.tar.zst`).
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Check a folder or an archive as the site does; sends nothing.
    Check {
        /// The folder or the archive.
        path: PathBuf,
    },
    /// Make a bundle's folder of another benchmark's or harness's results:
    /// SWE-bench predictions and experiments, Harbor jobs, diagnosis runs.
    Convert {
        /// The folder of results.
        from: PathBuf,
        /// The folder to make, named `<date>_<agent>__<model>`.
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// A folder of trajectories that lie apart.
        #[arg(long, value_name = "DIR")]
        trajectories: Option<PathBuf>,
        /// What the agent was given (repair track).
        #[arg(long, default_value = "symptom-only")]
        condition: Condition,
        /// The release that was run.
        #[arg(long, value_name = "RELEASE")]
        release: String,
        /// The subset that was run.
        #[arg(long, default_value = "full")]
        subset: String,
    },
    /// Send an archive; one that broke off is resumed.
    Upload {
        /// The archive.
        file: PathBuf,
        /// Follow it until its attempts are scored, or it is rejected.
        #[arg(long)]
        wait: bool,
        /// The team to hand it in for, such as `t0123abcd`; it uses the team's quota.
        #[arg(long, value_name = "TEAM")]
        team: Option<TeamId>,
    },
    /// Tell how much may still be handed in today.
    Quota {
        /// The team whose quota is asked for.
        #[arg(long, value_name = "TEAM")]
        team: Option<TeamId>,
    },
    /// Tell where a submission is.
    Status {
        /// The submission, such as `s0123abcd`.
        id: SubmissionId,
        /// Follow it until its attempts are scored, or it is rejected.
        #[arg(long)]
        wait: bool,
    },
    /// Take a submission back before it is published.
    Withdraw {
        /// The submission.
        id: SubmissionId,
        /// Why; the timeline shows it.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

pub(super) async fn run(what: Submit, config: &Config, json: bool) -> Result {
    let client = || Client::new(&config.url, config.token.as_deref());
    match what {
        Submit::Check { path } => match offline::check(&path, &config.portal()) {
            Ok(report) => Ok(show(&report, json)),
            Err(e) => told(e, json),
        },
        Submit::Package { dir, out } => match offline::package(&dir, &out, &config.portal()) {
            Ok(report) => {
                let ended = show(&report, json);
                if ended == Ended::Well && !json {
                    out::line(format_args!("packed into {}", out.display()));
                }
                Ok(ended)
            }
            Err(e) => told(e, json),
        },
        Submit::Convert {
            from,
            to,
            trajectories,
            condition,
            release,
            subset,
        } => {
            let mut folders = vec![from.as_path()];
            folders.extend(trajectories.as_deref());
            let wanted = (release.as_str(), subset.as_str());
            match offline::convert(&folders, &to, condition, wanted, &config.portal()) {
                Ok((layout, notes, report)) => {
                    if !json {
                        out::line(format_args!("read as {layout}"));
                        for note in notes {
                            out::line(format_args!("note: {}", out::tame(&note)));
                        }
                    }
                    Ok(show(&report, json))
                }
                Err(e) => told(e, json),
            }
        }
        Submit::Quota { team } => {
            let quota = quota(&client()?, team.as_ref()).await?;
            if json {
                out::json(&quota);
            } else {
                out::line(quota_words(&quota));
            }
            Ok(if quota.has_room() {
                Ended::Well
            } else {
                Ended::WithProblems
            })
        }
        Submit::Upload { file, wait, team } => {
            let client = client()?;
            let room = quota(&client, team.as_ref()).await?;
            out::aside(quota_words(&room));
            let client = client.for_team(team);
            let id = upload(&client, &file).await?;
            if wait {
                return follow(&client, &id, json).await;
            }
            if json {
                out::json(
                    &serde_json::json!({ "submission": id, "url": format!("{}/submissions/{id}", config.url) }),
                );
            } else {
                out::line(format_args!("{id}: {}/submissions/{id}", config.url));
            }
            Ok(Ended::Well)
        }
        Submit::Status { id, wait } => {
            let client = client()?;
            if wait {
                follow(&client, &id, json).await
            } else {
                status(&client, &id, json).await
            }
        }
        Submit::Withdraw { id, reason } => {
            let path = format!("/api/v1/submissions/{id}/withdraw");
            let body = serde_json::json!({ "reason": reason });
            let live = client()?.call(Method::POST, &path, Some(body)).await?;
            if json {
                out::json(&live);
            } else {
                out::line(format_args!("{id} is withdrawn"));
            }
            Ok(Ended::Well)
        }
    }
}

/// Prints a check's report.
fn show(report: &Report, json: bool) -> Ended {
    if json {
        out::json(report);
    } else {
        out::text(&report::text(report));
    }
    if report.is_ok() {
        Ended::Well
    } else {
        Ended::WithProblems
    }
}

/// The SHA-256 of a file.
fn hash(file: &Path) -> std::io::Result<Digest> {
    let mut source = std::fs::File::open(file)?;
    let mut state = sha2::Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = source.read(&mut buffer)?;
        if n == 0 {
            return Ok(Digest::from_bytes(state.finalize().into()));
        }
        state.update(&buffer[..n]);
    }
}

/// What may still be handed in today.
async fn quota(client: &Client, team: Option<&TeamId>) -> anyhow::Result<QuotaView> {
    let path = match team {
        Some(team) => format!("/api/v1/quota?team={team}"),
        None => "/api/v1/quota".to_owned(),
    };
    let answer = client.call(Method::GET, &path, None).await?;
    serde_json::from_value(answer).context("the site tells its quota in another form")
}

/// A quota in one line.
fn quota_words(quota: &QuotaView) -> String {
    format!(
        "quota: {} scorings used in 24 h, {} wait. {}",
        quota.told(),
        quota.waiting,
        out::tame(&quota.rule)
    )
}

async fn upload(client: &Client, file: &Path) -> anyhow::Result<SubmissionId> {
    let meta =
        std::fs::metadata(file).with_context(|| format!("{} can't be read", file.display()))?;
    anyhow::ensure!(
        meta.is_file(),
        "{} is a folder; `faultboard submit package` makes an archive of it",
        file.display()
    );
    let path = file.to_owned();
    let sha256 = tokio::task::spawn_blocking(move || hash(&path))
        .await?
        .with_context(|| format!("{} can't be read", file.display()))?;
    let mut bar = Bar::new();
    let sent = client
        .upload(file, &sha256, &mut Kept::open(), |at, all, remark| {
            bar.show(at, all, remark)
        })
        .await;
    bar.end();
    sent
}

/// Progress on the error output: one line that is rewritten on a terminal, and
/// one line per tenth elsewhere.
struct Bar {
    terminal: bool,
    began: Instant,
    /// Where this command found the upload.
    first: Option<u64>,
    tenth: u64,
    drawn: bool,
}

impl Bar {
    fn new() -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            began: Instant::now(),
            first: None,
            tenth: 0,
            drawn: false,
        }
    }

    fn show(&mut self, at: u64, all: u64, remark: &str) {
        let first = *self.first.get_or_insert(at);
        if !remark.is_empty() {
            self.end();
            out::aside(remark);
            return;
        }
        let seconds = self.began.elapsed().as_secs_f64().max(0.001);
        // Shown to one decimal: the precision of a float is plenty.
        let rate = (at.saturating_sub(first) as f64 / seconds) as u64;
        let percent = at * 100 / all.max(1);
        let text = format!(
            "{percent:>3} %  {} of {}  {}/s",
            sizes::show(at),
            sizes::show(all),
            sizes::show(rate)
        );
        if self.terminal {
            use std::io::Write as _;
            let mut err = std::io::stderr().lock();
            // Progress that can't be shown doesn't stop the work.
            let _ = write!(err, "\r{text}\u{1b}[K");
            let _ = err.flush();
            self.drawn = true;
        } else if percent / 10 > self.tenth || at == all {
            self.tenth = percent / 10;
            out::aside(text);
        }
    }

    fn end(&mut self) {
        if self.drawn {
            out::aside("");
            self.drawn = false;
        }
    }
}

/// How a submission's state ends a command: rejected ones are problems.
fn judged(state: &str) -> Ended {
    if matches!(state, "invalid" | "rejected" | "withdrawn") {
        Ended::WithProblems
    } else {
        Ended::Well
    }
}

async fn status(client: &Client, id: &SubmissionId, json: bool) -> Result {
    let view = client
        .call(Method::GET, &format!("/api/v1/submissions/{id}"), None)
        .await?;
    let state = view["state"].as_str().unwrap_or("unknown").to_owned();
    if json {
        out::json(&view);
    } else {
        out::text(&in_words(id, &view));
    }
    Ok(judged(&state))
}

/// A submission's page in a few lines.
fn in_words(id: &SubmissionId, view: &Value) -> String {
    let live = &view["live"];
    let text = |v: &Value| out::tame(v.as_str().unwrap_or_default());
    let mut words = format!(
        "{id}: {}. {}\n",
        text(&view["state"]),
        text(&live["meaning"])
    );
    if let (Some(done), Some(total)) = (live["done"].as_u64(), live["total"].as_u64())
        && total > 0
    {
        words.push_str(&format!("{done} of {total} attempts have a result\n"));
    }
    if let Ok(report) = serde_json::from_value::<Report>(view["report"].clone()) {
        words.push_str(&report::text(&report));
    }
    if let Some(event) = view["events"].as_array().and_then(|e| e.last()) {
        let note = text(&event["note"]);
        if !note.is_empty() {
            words.push_str(&format!("last: {note}\n"));
        }
    }
    words
}

/// Follows a submission until nothing more happens by itself.
async fn follow(client: &Client, id: &SubmissionId, json: bool) -> Result {
    let path = format!("/api/v1/submissions/{id}/live");
    let mut said = String::new();
    let mut failures = 0;
    loop {
        match client.call(Method::GET, &path, None).await {
            Ok(live) => {
                failures = 0;
                let state = live["state"].as_str().unwrap_or_default();
                let line = format!(
                    "{id}: {state}, {} of {} attempts",
                    live["done"].as_u64().unwrap_or(0),
                    live["total"].as_u64().unwrap_or(0)
                );
                if line != said {
                    out::aside(out::tame(&line));
                    said = line;
                }
                let settled =
                    faultboard_domain::SubmissionState::parse(state).is_none_or(|s| s.is_settled());
                if settled {
                    return status(client, id, json).await;
                }
            }
            Err(e) if failures >= 10 => return Err(e),
            Err(e) => {
                failures += 1;
                out::aside(format_args!("{e:#}; trying again"));
            }
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_submission_is_told_with_its_report() {
        let id = SubmissionId::parse("s12345678").unwrap();
        let mut report = Report::default();
        report.push(faultboard_domain::Problem::error("x", "r", "Bad.", "Mend."));
        let view = serde_json::json!({
            "state": "invalid",
            "live": {"meaning": "It was not accepted.", "done": 0, "total": 0},
            "report": report,
            "events": [{"note": "1 problem"}],
        });
        let words = in_words(&id, &view);
        for part in [
            "s12345678: invalid. It was not accepted.",
            "error: x [r]",
            "last: 1 problem",
        ] {
            assert!(words.contains(part), "{words}");
        }
        assert_eq!(judged("invalid"), Ended::WithProblems);
        assert_eq!(judged("scored"), Ended::Well);
    }
}
