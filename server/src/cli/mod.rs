//! The command line. Each command has a file of its own; all share the settings,
//! `--json` and the exit codes.

mod bench;
mod case;
mod client;
mod demo;
mod doctor;
mod kept;
mod offline;
mod out;
mod proof_report;
mod reevaluate;
mod replay;
mod report;
mod serve;
mod submit;
mod terminal;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use faultboard_portal::reproduce::Options;
use faultboard_portal::synthetic::Synthetic;

use crate::config::{self, Config, LogFormat};
use crate::config_file;

/// How a command ended, short of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All is well.
    Well,
    /// It was done, and found problems.
    WithProblems,
}

/// Result of a command; an error means that it could not be done.
pub(crate) type Result = anyhow::Result<Ended>;

/// The home of a benchmark in which agents debug real distributed systems.
#[derive(Debug, Parser)]
#[command(
    name = "faultboard",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 all is well, 1 problems were found, 2 wrong usage or something is in the way.\n\
                  `--help` lists the settings too; `faultboard settings` prints them as a table."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    config: Config,
    /// Print JSON for scripts instead of text.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the site, and work on jobs.
    Serve,
    /// Work on jobs only.
    Worker,
    /// Prepare, check, send and follow submissions.
    #[command(subcommand)]
    Submit(submit::Submit),
    /// Score a results folder offline, as the site would.
    Score {
        /// The bundle's folder, or an archive of it.
        dir: PathBuf,
    },
    /// Compute every statistic of a folder of bundles offline, as the site would.
    Stats {
        /// A bundle, or a folder of bundles.
        dir: PathBuf,
        /// Take `NAME.scores.json` beside a bundle instead of scoring it again.
        #[arg(long)]
        use_stored_scores: bool,
    },
    /// Rebuild every table and figure from raw attempts, and say whether each equals
    /// a reference.
    Reproduce {
        /// A bundle, or a folder of bundles.
        dir: PathBuf,
        /// The tables and figures to compare with, as `--out` wrote them.
        #[arg(long, value_name = "DIR")]
        reference: Option<PathBuf>,
        /// Write the tables, figures and scores here.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Take `NAME.scores.json` beside a bundle instead of scoring it again.
        #[arg(long)]
        use_stored_scores: bool,
    },
    /// Run the leakage guards over a results folder, offline.
    Leakage {
        /// The bundle's folder, or an archive of it.
        dir: PathBuf,
        /// Rename the run folders of attempts that a quarantining guard hit to `quarantined-run-NN`.
        #[arg(long)]
        quarantine: bool,
    },
    /// Run the commands of a trace once more in a fresh container of its case, and say
    /// where output or tree depart from it.
    Replay(replay::Replay),
    /// Look at the cases, and prove them.
    #[command(subcommand)]
    Case(case::Case),
    /// Work on a case at a terminal.
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Score whole sets again, and apply or discard what comes of it.
    #[command(subcommand)]
    Reevaluate(reevaluate::Reevaluate),
    /// Hand in the sample bundles, score and publish them.
    Demo {
        /// The folder of the sample bundles.
        #[arg(required_unless_present = "synthetic")]
        samples: Option<PathBuf>,
        /// Generate a board instead, marked as synthetic on every page: `repair:60x10`
        /// (cases x configurations) or `diagnosis:120x17x3` (cases x configurations x
        /// attempts). May be given once per track; needs an empty data folder.
        #[arg(long, value_name = "SIZE", conflicts_with = "samples")]
        synthetic: Vec<Synthetic>,
    },
    /// Check whether this machine can run a site.
    Doctor,
    /// Print every setting as a table.
    Settings,
}

/// Runs the command of the process's arguments.
pub fn main() -> ExitCode {
    // TLS needs to be told which implementation to use. It fails only when one
    // was chosen before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let args: Vec<OsString> = std::env::args_os().collect();
    let cli = match parse(&args) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(e) => {
            return failed(
                cli.json,
                &anyhow::anyhow!(e).context("threads can't be started"),
            );
        }
    };
    let json = cli.json;
    let ended = runtime.block_on(run(cli));
    // Work that is left behind after the grace period isn't waited for.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    match ended {
        Ok(Ended::Well) => ExitCode::SUCCESS,
        Ok(Ended::WithProblems) => ExitCode::from(1),
        Err(e) => failed(json, &e),
    }
}

/// Tells why a command could not be done.
fn failed(json: bool, e: &anyhow::Error) -> ExitCode {
    if json {
        out::json(&serde_json::json!({ "error": format!("{e:#}") }));
    } else {
        out::aside(format_args!("faultboard: {e:#}"));
    }
    ExitCode::from(2)
}

/// Parses the arguments, under the settings file if there is one.
fn parse(args: &[OsString]) -> std::result::Result<Cli, ExitCode> {
    let mut command = Cli::command();
    if let Some(path) = config_file::path(args) {
        match config_file::read(&path) {
            Ok(pairs) => command = config_file::apply(command, pairs),
            Err(e) => return Err(failed(false, &anyhow::anyhow!(e))),
        }
    }
    let parsed = command
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.map_err(|e| {
        let code = if e.use_stderr() { 2 } else { 0 };
        // A closed pipe has no reader to tell.
        let _ = e.print();
        ExitCode::from(code)
    })
}

async fn run(cli: Cli) -> Result {
    let Cli {
        command,
        config,
        json,
    } = cli;
    match command {
        Command::Serve => {
            log_to_stdout(&config)?;
            serve::serve(config).await
        }
        Command::Worker => {
            log_to_stdout(&config)?;
            serve::work(config).await
        }
        Command::Submit(what) => submit::run(what, &config, json).await,
        Command::Score { dir } => offline::score(&dir, &config, json).await,
        Command::Stats {
            dir,
            use_stored_scores,
        } => {
            let options = Options {
                use_stored_scores,
                ..Options::default()
            };
            offline::stats(&dir, &options, &config, json).await
        }
        Command::Reproduce {
            dir,
            reference,
            out,
            use_stored_scores,
        } => {
            let options = Options {
                use_stored_scores,
                out,
                reference,
                ..Options::default()
            };
            offline::reproduce(&dir, &options, &config, json).await
        }
        Command::Leakage { dir, quarantine } => offline::leakage(&dir, &config, quarantine, json),
        Command::Replay(wanted) => replay::run(wanted, &config, json).await,
        Command::Case(what) => case::run(what, &config, json).await,
        Command::Bench(what) => bench::run(what, &config, json).await,
        Command::Reevaluate(what) => reevaluate::run(what, &config, json).await,
        Command::Demo { samples, synthetic } => match samples {
            Some(samples) => demo::run(&samples, config, json).await,
            None => demo::synthetic(&synthetic, config, json).await,
        },
        Command::Doctor => doctor::run(&config, json).await,
        Command::Settings => {
            if json {
                out::json(&config::settings());
            } else {
                out::text(&config::settings_markdown());
            }
            Ok(Ended::Well)
        }
    }
}

/// Sends log lines to the standard output, in the form that is set.
fn log_to_stdout(config: &Config) -> anyhow::Result<()> {
    use std::io::IsTerminal as _;
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_new(&config.log)
        .map_err(|e| anyhow::anyhow!("the setting `log` can't be understood: {e}"))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stdout().is_terminal());
    // It fails only where logging was set up before, in a test.
    let _ = match config.log_format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn settings_go_before_or_after_the_command() {
        for args in [
            ["faultboard", "--workers", "3", "serve"],
            ["faultboard", "serve", "--workers", "3"],
        ] {
            let cli = Cli::try_parse_from(args).unwrap();
            assert_eq!(cli.config.workers, 3);
        }
    }
}
