//! What this machine lacks, and installing it: Debian (or Ubuntu) packages
//! where the caller is root, a sentence with the command to type where not.
//! Nothing is touched that is there already.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::{shell, ui};

/// Something that a task needs from the machine.
struct Need {
    /// What it is for, to end the sentence "needed …".
    why: &'static str,
    /// Any of these programs will do.
    programs: &'static [&'static str],
    /// The packages that bring one.
    packages: &'static [&'static str],
    /// Whether nothing works without it.
    essential: bool,
}

const BUILD: [Need; 3] = [
    Need {
        why: "to compile the bundled SQLite and zstd",
        programs: &["cc"],
        packages: &["build-essential"],
        essential: true,
    },
    Need {
        why: "to take snapshots of the trees of cases",
        programs: &["git"],
        packages: &["git"],
        essential: true,
    },
    Need {
        why: "to compress the site's files once",
        programs: &["brotli"],
        packages: &["brotli"],
        essential: false,
    },
];

const SANDBOX: [Need; 4] = [
    Need {
        why: "to run cases where no Docker engine runs",
        programs: &["bwrap"],
        packages: &["bubblewrap"],
        essential: false,
    },
    Need {
        why: "to make the base image where no image registry answers",
        programs: &["debootstrap"],
        packages: &["debootstrap"],
        essential: false,
    },
    Need {
        why: "for the tests of a cluster, whose nodes take images from a registry",
        programs: &["docker-registry"],
        packages: &["docker-registry"],
        essential: false,
    },
    Need {
        why: "for the tests of a cluster, whose nodes stand in networks of their own",
        programs: &["ip"],
        packages: &["iproute2"],
        essential: false,
    },
];

const BROWSER: [Need; 3] = [
    Need {
        why: "for the browser tests",
        programs: &["chromium", "chromium-browser", "google-chrome"],
        packages: &["chromium"],
        essential: false,
    },
    Need {
        why: "for the browser tests",
        programs: &["chromedriver"],
        packages: &["chromium-driver"],
        essential: false,
    },
    Need {
        why: "to fetch the accessibility rules that the browser tests apply",
        programs: &["pip3"],
        packages: &["python3-pip"],
        essential: false,
    },
];

/// The package on PyPI that carries axe-core, and the version the tests know.
const AXE: &str = "axe-playwright-python==0.1.8";
/// The identity provider that the tests sign in at.
const OIDC: &str = "oidc-provider-mock==0.3.4";

/// The tus client of PyPI that the upload tests drive.
const TUS: &str = "tuspy==1.1.0";

/// The agent of PyPI that is run for real, and what it needs to talk to a model:
/// its own list brings data frames and cloud clients, which it never loads here.
const AGENT: &str = "mini-swe-agent==2.4.6";
const AGENT_NEEDS: &str = "litellm==1.110.2 jinja2 pyyaml rich requests tenacity typer prompt_toolkit platformdirs python-dotenv textual";

/// Which parts of a set-up a task wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    sandbox: bool,
    browser: bool,
}

impl Wanted {
    /// All that any task needs.
    pub(crate) const fn everything() -> Self {
        Self {
            sandbox: true,
            browser: true,
        }
    }

    /// Enough to compile.
    pub(crate) const fn to_build() -> Self {
        Self {
            sandbox: false,
            browser: false,
        }
    }

    /// Enough to compile and to run cases.
    pub(crate) const fn to_sandbox() -> Self {
        Self {
            sandbox: true,
            browser: false,
        }
    }
}

/// Installs what is wanted and missing.
pub(crate) fn setup(wanted: &Wanted) -> Result<()> {
    let mut needs: Vec<&Need> = BUILD.iter().collect();
    if wanted.sandbox {
        needs.extend(&SANDBOX);
    }
    if wanted.browser {
        needs.extend(&BROWSER);
    }
    let missing: Vec<&Need> = needs
        .into_iter()
        .filter(|n| !n.programs.iter().any(|p| shell::find(p).is_some()))
        .collect();
    if missing.is_empty() {
        ui::step("this machine has every program that is needed");
    } else {
        bring(&missing)?;
    }
    if wanted.browser {
        fetch_axe();
        fetch_oidc();
        fetch_tus_client();
        fetch_agent();
    }
    Ok(())
}

fn bring(missing: &[&Need]) -> Result<()> {
    let all: Vec<&str> = missing.iter().flat_map(|n| n.packages).copied().collect();
    if let Err(error) = install(&all) {
        // One unknown package must not keep the others away.
        ui::step(&format!("not all at once: {error}"));
        for need in missing {
            if install(need.packages).is_ok() {
                continue;
            }
            let what = need.programs.join(" or ");
            let advice = by_hand(need.packages);
            if need.essential {
                bail!("{what} is missing, needed {}. {advice}", need.why);
            }
            ui::warn(&format!("{what} is missing, needed {}. {advice}", need.why));
        }
    }
    Ok(())
}

/// Installs packages, those that dpkg does not know as installed.
/// An error says what to type, or what apt said.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> = packages.iter().filter(|p| !installed(p)).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    if shell::find("apt-get").is_none() || !shell::is_root() {
        bail!("{}", by_hand(&missing));
    }
    ui::step(&format!("installing {}", missing.join(" ")));
    let quarter_hour = Duration::from_secs(900);
    apt(&["update", "-q"], quarter_hour)?;
    let mut args = vec!["install", "-q", "-y", "--no-install-recommends"];
    args.extend(&missing);
    apt(&args, quarter_hour)
}

fn apt(args: &[&str], limit: Duration) -> Result<()> {
    let mut command = Command::new("apt-get");
    command
        .args(["-o", "DPkg::Lock::Timeout=300"])
        .args(args)
        .env("DEBIAN_FRONTEND", "noninteractive");
    shell::run_quietly(
        &mut command,
        limit,
        "Look whether the package mirrors of this machine answer.",
    )?;
    Ok(())
}

fn installed(package: &str) -> bool {
    let mut command = Command::new("dpkg-query");
    command.args(["-W", "-f", "${Status}", package]);
    shell::output(&mut command, Duration::from_secs(30))
        .is_ok_and(|o| o.stdout.ends_with(b"ok installed"))
}

fn by_hand(packages: &[&str]) -> String {
    let names = packages.join(" ");
    if shell::find("apt-get").is_some() {
        format!("Install it with: sudo apt-get install {names}")
    } else {
        format!("Install what your system calls: {names}")
    }
}

/// Where the accessibility rules lie once fetched.
pub(crate) fn axe_script() -> PathBuf {
    shell::target_dir().join("axe/axe_playwright_python/axe.min.js")
}

/// Fetches axe-core. Without it the tests that need it are skipped, and say so.
fn fetch_axe() {
    let without = "no accessibility rules";
    fetch(AXE, &["--no-deps"], "axe", &axe_script(), without);
}

/// Fetches the identity provider, with the same consequence.
fn fetch_oidc() {
    let module = shell::target_dir().join("oidc/oidc_provider_mock/__main__.py");
    fetch(OIDC, &[], "oidc", &module, "no identity provider");
}

/// Fetches packages from PyPI into a folder of its own below `target`, unless
/// the file that is wanted of it is there.
fn fetch(package: &str, options: &[&str], folder: &str, wanted: &Path, without: &str) {
    if wanted.is_file() {
        return;
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade"])
        .args(options)
        .args([
            "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--target",
        ])
        .arg(shell::target_dir().join(folder))
        .args(package.split(' '));
    let fetched = shell::run_quietly(&mut pip, Duration::from_secs(240), "");
    match fetched {
        Ok(_) if wanted.is_file() => ui::step(&format!("fetched {package}")),
        Ok(_) => ui::warn(&format!("{package} came without {}", wanted.display())),
        Err(error) => ui::warn(&format!("{without}: {error}")),
    }
}

/// Fetches the tus client into a folder of its own. Without it the tests that
/// need it are skipped, and say so.
fn fetch_tus_client() {
    let module = shell::target_dir().join("tus-client/tusclient/client.py");
    fetch(TUS, &[], "tus-client", &module, "no tus client");
}

/// Fetches the agent, with the same consequence.
fn fetch_agent() {
    let without = "no agent to run for real";
    let needs = shell::target_dir().join("agent/litellm/__init__.py");
    fetch(AGENT_NEEDS, &[], "agent", &needs, without);
    let module = shell::target_dir().join("agent/minisweagent/run/mini.py");
    fetch(AGENT, &["--no-deps"], "agent", &module, without);
}
