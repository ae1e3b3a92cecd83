//! `score` and `leakage`: what the site would say about a results folder,
//! without a site and without a database.

use std::path::Path;
use std::sync::Arc;

use super::{Ended, Result, out, report};
use crate::config::Config;
use faultboard_domain::clock::SystemClock;
use faultboard_portal::reproduce::{self, Options};
use faultboard_portal::{PortalError, offline};

/// Turns a refusal into a report where there is one.
pub(super) fn told(e: PortalError, json: bool) -> Result {
    match e {
        PortalError::Rejected(problems) => {
            if json {
                out::json(&*problems);
            } else {
                out::text(&report::text(&problems));
            }
            Ok(Ended::WithProblems)
        }
        e => Err(e.into()),
    }
}

/// `faultboard score DIR`.
pub(super) async fn score(dir: &Path, config: &Config, json: bool) -> Result {
    let say = Arc::new(|line: &str| out::aside(out::tame(line.trim_end())));
    match offline::score(dir, &config.portal(), Arc::new(SystemClock), say).await {
        Ok(scores) => {
            if json {
                out::json(&scores);
            } else {
                out::text(&out::outline(&scores));
            }
            Ok(Ended::Well)
        }
        Err(e) => told(e, json),
    }
}

/// `faultboard stats DIR`.
pub(super) async fn stats(dir: &Path, options: &Options, config: &Config, json: bool) -> Result {
    let say = Arc::new(|line: &str| out::aside(out::tame(line.trim_end())));
    let clock = Arc::new(SystemClock);
    match reproduce::statistics(dir, &config.portal(), clock, options, say).await {
        Ok(found) => {
            if json {
                out::json(&found);
            } else {
                out::text(&out::outline(&found));
            }
            Ok(Ended::Well)
        }
        Err(e) => told(e, json),
    }
}

/// `faultboard reproduce DIR`: with problems when something is not as the
/// reference has it.
pub(super) async fn reproduce(
    dir: &Path,
    options: &Options,
    config: &Config,
    json: bool,
) -> Result {
    let say = Arc::new(|line: &str| out::aside(out::tame(line.trim_end())));
    let clock = Arc::new(SystemClock);
    match reproduce::reproduce(dir, &config.portal(), clock, options, say).await {
        Ok(lines) => {
            let wrong = lines
                .iter()
                .filter(|l| !matches!(l.result.as_str(), "equal" | "made"))
                .count();
            if json {
                out::json(&serde_json::json!({ "differences": wrong, "files": lines }));
            } else {
                for l in &lines {
                    out::line(format_args!("{:<22} {}", l.result, out::tame(&l.file)));
                }
                out::line(match (options.reference.is_some(), wrong) {
                    (false, _) => format!("{} tables and figures.", lines.len()),
                    (true, 0) => format!("All {} equal the reference.", lines.len()),
                    (true, n) => {
                        format!("{n} of {} are not as the reference has them.", lines.len())
                    }
                });
            }
            Ok(if wrong == 0 {
                Ended::Well
            } else {
                Ended::WithProblems
            })
        }
        Err(e) => told(e, json),
    }
}

/// `faultboard leakage DIR`: with problems when a guard has hit.
pub(super) fn leakage(dir: &Path, config: &Config, quarantine: bool, json: bool) -> Result {
    match offline::leakage(dir, &config.portal(), quarantine) {
        Ok(found) => {
            if json {
                out::json(&found);
            } else {
                out::text(&out::outline(&found));
            }
            let hits = found["hits"].as_array().is_some_and(|f| !f.is_empty());
            Ok(if hits {
                Ended::WithProblems
            } else {
                Ended::Well
            })
        }
        Err(e) => told(e, json),
    }
}
