//! Every setting, in one list: its flag, its environment variable, its default
//! and what it is for. `faultboard settings` and `docs/settings.md` are printed
//! from this list, so they can't say anything else than what is read.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use faultboard_portal::{RuntimeChoice, Settings};

use crate::config_accounts::Accounts;
use crate::config_cluster::Cluster;
use crate::sizes;

/// Which sandbox runs what submissions bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Runtime {
    /// Docker where an engine answers, else bubblewrap.
    Auto,
    /// The Docker engine that `DOCKER_HOST` names.
    Docker,
    /// Bubblewrap, for machines without an engine.
    Bubblewrap,
    /// Docker's cluster engine, for more than one machine.
    Swarm,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The settings. A flag wins over the environment, the environment over the
/// settings file, the file over the default.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings (also as FAULTBOARD_* or in the settings file)")]
pub struct Config {
    /// A file of settings: one `name = value` per line, names as below without the dashes, `#` begins a comment.
    #[arg(
        long,
        env = "FAULTBOARD_CONFIG",
        value_name = "FILE",
        global = true,
        hide_short_help = true
    )]
    pub config: Option<PathBuf>,

    /// The address and port that the site listens on.
    #[arg(
        long,
        env = "FAULTBOARD_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:3000",
        global = true,
        hide_short_help = true
    )]
    pub listen: SocketAddr,

    /// The address that readers use, without a path: links begin with it, and forms from elsewhere are refused. Not set: `http://` and the address listened on.
    #[arg(long, env = "FAULTBOARD_BASE_URL", value_name = "URL", value_parser = base_url, global = true, hide_short_help = true)]
    pub base_url: Option<String>,

    /// The folder of the database, of uploads and of everything stored.
    #[arg(
        long,
        env = "FAULTBOARD_DATA_DIR",
        alias = "data",
        value_name = "DIR",
        default_value = "data",
        global = true,
        hide_short_help = true
    )]
    pub data_dir: PathBuf,

    /// The folder of the cases.
    #[arg(
        long,
        env = "FAULTBOARD_CASES_DIR",
        value_name = "DIR",
        default_value = "cases",
        global = true,
        hide_short_help = true
    )]
    pub cases_dir: PathBuf,

    /// The folder of the cases' solutions; nothing in it is ever served.
    #[arg(
        long,
        env = "FAULTBOARD_SOLUTIONS_DIR",
        value_name = "DIR",
        default_value = "cases-solution",
        global = true,
        hide_short_help = true
    )]
    pub solutions_dir: PathBuf,

    /// The folder of the built site (`pkg/` with the WebAssembly).
    #[arg(
        long,
        env = "FAULTBOARD_SITE_ROOT",
        alias = "site",
        value_name = "DIR",
        default_value = "target/site",
        global = true,
        hide_short_help = true
    )]
    pub site_root: PathBuf,

    /// The folder of style sheets, fonts and other static files.
    #[arg(
        long,
        env = "FAULTBOARD_STATIC_DIR",
        value_name = "DIR",
        default_value = "static",
        global = true,
        hide_short_help = true
    )]
    pub static_dir: PathBuf,

    /// The most bytes of one upload.
    #[arg(long, env = "FAULTBOARD_MAX_UPLOAD", value_name = "SIZE", default_value = "2GiB", value_parser = sizes::parse, global = true, hide_short_help = true)]
    pub max_upload: u64,

    /// The most bytes that an upload may unpack to.
    #[arg(long, env = "FAULTBOARD_MAX_UNPACKED", value_name = "SIZE", default_value = "20GiB", value_parser = sizes::parse, global = true, hide_short_help = true)]
    pub max_unpacked: u64,

    /// How many scorings an account may complete in 24 hours.
    #[arg(
        long,
        env = "FAULTBOARD_DAILY_SCORINGS",
        value_name = "N",
        default_value_t = 10,
        global = true,
        hide_short_help = true
    )]
    pub daily_scorings: u32,

    /// What runs the oracles.
    #[arg(
        long,
        env = "FAULTBOARD_RUNTIME",
        value_name = "NAME",
        value_enum,
        default_value = "auto",
        global = true,
        hide_short_help = true
    )]
    pub runtime: Runtime,

    /// How many jobs this process works on at once; 0: none, leave them to `faultboard worker`.
    #[arg(
        long,
        env = "FAULTBOARD_WORKERS",
        value_name = "N",
        default_value_t = 1,
        global = true,
        hide_short_help = true
    )]
    pub workers: u32,

    /// A bundle of certificate authorities that set-up containers shall trust (for networks with their own).
    #[arg(
        long,
        env = "FAULTBOARD_CA_BUNDLE",
        value_name = "FILE",
        global = true,
        hide_short_help = true
    )]
    pub ca_bundle: Option<PathBuf>,

    /// The folder of unpacked images for the bubblewrap runtime.
    #[arg(
        long,
        env = "FAULTBOARD_ROOTFS_DIR",
        value_name = "DIR",
        global = true,
        hide_short_help = true
    )]
    pub rootfs_dir: Option<PathBuf>,

    /// Below this much free space on the data disk no new work is begun.
    #[arg(long, env = "FAULTBOARD_MIN_FREE", value_name = "SIZE", default_value = "2GiB", value_parser = sizes::parse, global = true, hide_short_help = true)]
    pub min_free: u64,

    /// Proofs of cases that are this many days old, or whose case has changed, are made again when nothing else waits; 0 for never.
    #[arg(
        long,
        env = "FAULTBOARD_PROOF_DAYS",
        value_name = "DAYS",
        default_value_t = 30,
        global = true,
        hide_short_help = true
    )]
    pub proof_days: u32,
    /// Minutes after which work that does not move is called stuck, on the admin page and in the metrics.
    #[arg(long, env = "FAULTBOARD_STUCK_AFTER", value_name = "MINUTES", default_value_t = 45, value_parser = clap::value_parser!(u32).range(1..=10_080), global = true, hide_short_help = true)]
    pub stuck_after: u32,

    /// A folder of sample bundles that `serve` hands in once, marked as such, and publishes when they are scored.
    #[arg(
        long,
        env = "FAULTBOARD_DEMO",
        value_name = "DIR",
        global = true,
        hide_short_help = true
    )]
    pub demo: Option<PathBuf>,

    /// Whether anybody may make an account.
    #[arg(long, env = "FAULTBOARD_ALLOW_SIGN_UP", value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = true, global = true, hide_short_help = true)]
    pub allow_sign_up: bool,

    /// Whether readers come by HTTPS: cookies are then sent by HTTPS alone, and browsers are told to insist on it.
    #[arg(long, env = "FAULTBOARD_SECURE_COOKIES", value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = false, global = true, hide_short_help = true)]
    pub secure_cookies: bool,

    /// Whether a reverse proxy stands before this server, so that the last address of `X-Forwarded-For` and `X-Request-Id` may be believed.
    #[arg(long, env = "FAULTBOARD_BEHIND_PROXY", value_name = "BOOL", action = clap::ArgAction::Set, default_value_t = false, global = true, hide_short_help = true)]
    pub behind_proxy: bool,

    /// How often one address may try to sign in or sign up per minute; one account gets the same number of tries.
    #[arg(long, env = "FAULTBOARD_SIGN_IN_RATE", value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000), global = true, hide_short_help = true)]
    pub sign_in_rate: u32,

    /// Seconds that an ordinary request may take.
    #[arg(long, env = "FAULTBOARD_REQUEST_TIMEOUT", value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600), global = true, hide_short_help = true)]
    pub request_timeout: u64,

    /// Seconds that an upload or a download may stand still before its connection is given up (an upload can then be resumed).
    #[arg(long, env = "FAULTBOARD_IDLE_TIMEOUT", value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3_600), global = true, hide_short_help = true)]
    pub idle_timeout: u64,

    /// Connections served at once; more wait until one ends.
    #[arg(long, env = "FAULTBOARD_MAX_CONNECTIONS", value_name = "N", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(1..=1_000_000), global = true, hide_short_help = true)]
    pub max_connections: u32,

    /// Milliseconds that a public page may be shown to anonymous readers before it is made anew; 0: always anew.
    #[arg(long, env = "FAULTBOARD_PAGE_CACHE", value_name = "MILLISECONDS", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(0..=60_000), global = true, hide_short_help = true)]
    pub page_cache: u64,

    /// Seconds that running requests and jobs get to end after SIGTERM; jobs that don't are taken up again after the next start.
    #[arg(long, env = "FAULTBOARD_SHUTDOWN_GRACE", value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=3_600), global = true, hide_short_help = true)]
    pub shutdown_grace: u64,

    /// A secret that `/metrics` wants as a bearer token; without one only this machine itself may read it.
    #[arg(
        long,
        env = "FAULTBOARD_METRICS_TOKEN",
        value_name = "SECRET",
        hide_env_values = true,
        global = true,
        hide_short_help = true
    )]
    pub metrics_token: Option<String>,

    /// Which log lines are written, such as `info` or `info,faultboard_server=debug`.
    #[arg(
        long,
        env = "FAULTBOARD_LOG",
        value_name = "FILTER",
        default_value = "info",
        global = true,
        hide_short_help = true
    )]
    pub log: String,

    /// How log lines look: a line for people, or JSON.
    #[arg(
        long,
        env = "FAULTBOARD_LOG_FORMAT",
        value_name = "FORMAT",
        value_enum,
        default_value = "text",
        global = true,
        hide_short_help = true
    )]
    pub log_format: LogFormat,

    /// The site that `submit upload`, `status` and `withdraw` talk to.
    #[arg(long, env = "FAULTBOARD_URL", value_name = "URL", default_value = "http://127.0.0.1:3000", value_parser = base_url, global = true, hide_short_help = true)]
    pub url: String,

    /// The token that they show, made on the page `/me` of that site. Better set as a variable than as a flag, which other users of the machine can see.
    #[arg(
        long,
        env = "FAULTBOARD_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true,
        global = true,
        hide_short_help = true
    )]
    pub token: Option<String>,

    /// Accounts and teams.
    #[command(flatten)]
    pub accounts: Accounts,

    /// The cluster.
    #[command(flatten)]
    pub cluster: Cluster,
}

impl Config {
    /// What the use cases need of it.
    pub fn portal(&self) -> Settings {
        Settings {
            data_dir: self.data_dir.clone(),
            cases_dir: self.cases_dir.clone(),
            solutions_dir: self.solutions_dir.clone(),
            base_url: self.base_url(),
            max_upload_bytes: self.max_upload,
            max_unpacked_bytes: self.max_unpacked,
            daily_scorings: self.daily_scorings,
            team_daily_scorings: self.accounts.team_daily_scorings,
            provider: self
                .accounts
                .oidc_issuer
                .as_ref()
                .map(|_| self.accounts.oidc_name.clone()),
            runtime: match self.runtime {
                Runtime::Auto => RuntimeChoice::Auto,
                Runtime::Docker => RuntimeChoice::Docker,
                Runtime::Bubblewrap => RuntimeChoice::Bubblewrap,
                Runtime::Swarm => RuntimeChoice::Swarm,
            },
            workers: self.workers,
            ca_bundle: self.ca_bundle.clone(),
            rootfs_dir: self.rootfs_dir.clone(),
            swarm_registry: self.cluster.swarm_registry.clone(),
            swarm_label: self.cluster.swarm_label.clone(),
            min_free_bytes: self.min_free,
            proof_days: self.proof_days,
            stuck_minutes: self.stuck_after,
            allow_sign_up: self.allow_sign_up,
            secure_cookies: self.secure_cookies,
        }
    }

    /// The address that readers use.
    pub fn base_url(&self) -> String {
        self.base_url.clone().unwrap_or_else(|| {
            let mut at = self.listen;
            if at.ip().is_unspecified() {
                // Listening everywhere; this machine itself reaches it so.
                at.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
            }
            format!("http://{at}")
        })
    }

    /// How long an ordinary request may take.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.request_timeout)
    }

    /// How long an upload or a download may stand still.
    pub fn idle_timeout(&self) -> Duration {
        Duration::from_secs(self.idle_timeout)
    }

    /// The settings of a machine where nothing was set: the defaults, whatever
    /// the environment says.
    pub fn defaults() -> Self {
        use clap::FromArgMatches as _;
        let command = Self::augment_args(clap::Command::new("faultboard").no_binary_name(true))
            .mut_args(|a| a.env(None::<&str>));
        let parsed = command
            .try_get_matches_from(std::iter::empty::<&str>())
            .and_then(|m| Self::from_arg_matches(&m));
        match parsed {
            Ok(config) => config,
            // Reached only if a default in the list above doesn't parse, which
            // a test of this module would tell.
            Err(e) => e.exit(),
        }
    }
}

/// Checks an address of a site: a scheme, a host and perhaps a port, no path.
fn base_url(text: &str) -> Result<String, String> {
    let trimmed = text.trim().trim_end_matches('/').to_ascii_lowercase();
    let rest = trimmed
        .strip_prefix("http://")
        .or_else(|| trimmed.strip_prefix("https://"))
        .ok_or("it must begin with http:// or https://")?;
    if rest.is_empty() || rest.contains(['/', '?', '#', '@', ' ']) {
        return Err(
            "give the scheme, the host and the port alone, such as https://faultboard.example"
                .into(),
        );
    }
    Ok(trimmed)
}

/// One line of the documented list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Setting {
    /// Name in the settings file; the flag is this with two dashes.
    pub name: String,
    /// Environment variable.
    pub env: String,
    /// What the value is, such as `DIR`.
    pub value: String,
    /// The default; empty: not set.
    pub default: String,
    /// What it is for.
    pub help: String,
}

/// Every setting, in the order of [`Config`].
pub fn settings() -> Vec<Setting> {
    Config::augment_args(clap::Command::new("faultboard"))
        .get_arguments()
        .map(|arg| {
            let words: Vec<String> = arg
                .get_possible_values()
                .iter()
                .map(|v| v.get_name().to_owned())
                .collect();
            let value = if words.is_empty() {
                arg.get_value_names()
                    .and_then(<[_]>::first)
                    .map(ToString::to_string)
                    .unwrap_or_default()
            } else {
                words.join(" or ")
            };
            Setting {
                name: arg.get_long().unwrap_or_default().to_owned(),
                env: arg
                    .get_env()
                    .map(|e| e.to_string_lossy().into_owned())
                    .unwrap_or_default(),
                value,
                default: arg
                    .get_default_values()
                    .first()
                    .map(|d| d.to_string_lossy().into_owned())
                    .unwrap_or_default(),
                help: arg
                    .get_long_help()
                    .or_else(|| arg.get_help())
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            }
        })
        .collect()
}

/// The list as Markdown: the text of `docs/settings.md`.
pub fn settings_markdown() -> String {
    use std::fmt::Write as _;
    let mut out = String::from(
        "# Settings\n\nPrinted by `faultboard settings`. Each setting has a flag, an environment variable and a default. \
         A flag wins over the environment, the environment over the settings file (`--config FILE`, one `name = value` per line), \
         the file over the default. Sizes are whole bytes or a number with KiB, MiB, GiB or TiB.\n\n\
         | flag | environment | value | default | what it is for |\n| --- | --- | --- | --- | --- |\n",
    );
    for s in settings() {
        let default = if s.default.is_empty() {
            "not set".to_owned()
        } else {
            format!("`{}`", s.default)
        };
        // Writing to a String can't fail.
        let _ = writeln!(
            out,
            "| `--{}` | `{}` | {} | {default} | {} |",
            s.name,
            s.env,
            s.value,
            s.help.replace('|', "\\|")
        );
    }
    out.push_str(
        "\nThe Docker engine is found by `DOCKER_HOST`, as every Docker client does it.\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_a_flag_a_variable_and_a_purpose() {
        let all = settings();
        assert!(all.len() > 20);
        for s in &all {
            let expected = format!("FAULTBOARD_{}", s.name.replace('-', "_").to_uppercase());
            assert_eq!(s.env, expected);
            assert!(s.help.len() > 20, "{}", s.name);
        }
    }

    #[test]
    fn the_defaults_parse() {
        let config = Config::defaults();
        assert_eq!(config.portal(), Settings::default());
    }

    #[test]
    fn a_base_url_has_no_path() {
        assert_eq!(base_url("HTTPS://A.example/").unwrap(), "https://a.example");
        for bad in [
            "a.example",
            "ftp://a",
            "http://",
            "http://a/b",
            "http://u@a",
        ] {
            assert!(base_url(bad).is_err(), "{bad}");
        }
    }
}
