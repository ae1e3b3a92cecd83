//! `doctor`: whether this machine can run a site. Every check is one function
//! in one list; each says in a line what it found and what to do about it.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::Serialize;

use super::{Ended, Result, out, serve};
use crate::config::Config;
use crate::sizes;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    /// It works, but an operator should know.
    Note,
    Bad,
}

/// What a check found.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    says: String,
}

type Found = (Verdict, String);
type Check = for<'a> fn(&'a Config) -> BoxFuture<'a, Vec<Found>>;

/// The checks, in the order in which they are told.
const CHECKS: [(&str, Check); 8] = [
    ("data folder", |c| async { data_folder(c) }.boxed()),
    ("disk", |c| async { disk(c) }.boxed()),
    ("cases", |c| async { cases(c) }.boxed()),
    ("site files", |c| async { site_files(c) }.boxed()),
    ("certificates", |c| async { certificates(c) }.boxed()),
    ("clock", |c| async { clock(c) }.boxed()),
    ("database and engine", |c| opened(c).boxed()),
    ("address", |c| address(c).boxed()),
];

pub(super) async fn run(config: &Config, json: bool) -> Result {
    let mut findings = Vec::new();
    for (check, ask) in CHECKS {
        for (verdict, says) in ask(config).await {
            findings.push(Finding {
                check,
                verdict,
                says,
            });
        }
    }
    if json {
        out::json(&findings);
    } else {
        for f in &findings {
            let mark = match f.verdict {
                Verdict::Good => "ok  ",
                Verdict::Note => "note",
                Verdict::Bad => "BAD ",
            };
            out::line(format_args!("{mark} {}: {}", f.check, f.says));
        }
    }
    let bad = findings.iter().any(|f| f.verdict == Verdict::Bad);
    Ok(if bad {
        Ended::WithProblems
    } else {
        Ended::Well
    })
}

fn good(says: impl Into<String>) -> Vec<Found> {
    vec![(Verdict::Good, says.into())]
}

fn note(says: impl Into<String>) -> Vec<Found> {
    vec![(Verdict::Note, says.into())]
}

fn bad(says: impl Into<String>) -> Vec<Found> {
    vec![(Verdict::Bad, says.into())]
}

fn data_folder(config: &Config) -> Vec<Found> {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = &config.data_dir;
    let shown = dir.display();
    let meta = match std::fs::metadata(dir) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return note(format!("{shown} is not there; the first start makes it"));
        }
        Err(e) => return bad(format!("{shown} can't be looked at: {e}")),
    };
    if !meta.is_dir() {
        return bad(format!("{shown} is no folder; set `data-dir` to one"));
    }
    if let Err(e) = tempfile::tempfile_in(dir) {
        return bad(format!("{shown} can't be written to: {e}"));
    }
    if meta.permissions().mode() & 0o007 != 0 {
        return note(format!(
            "{shown} can be entered by every user of this machine; `chmod o-rwx {shown}` keeps private submissions private"
        ));
    }
    good(format!("{shown} can be written to"))
}

/// The folder itself, or the nearest one above it that exists.
fn existing(mut dir: &Path) -> &Path {
    while !dir.as_os_str().is_empty() && !dir.exists() {
        dir = dir.parent().unwrap_or(Path::new(""));
    }
    if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    }
}

fn disk(config: &Config) -> Vec<Found> {
    match rustix::fs::statvfs(existing(&config.data_dir)) {
        Err(e) => bad(format!("the free space can't be asked for: {e}")),
        Ok(s) => {
            let free = s.f_bavail.saturating_mul(s.f_frsize);
            let (shown, least) = (sizes::show(free), sizes::show(config.min_free));
            if free < config.min_free {
                bad(format!(
                    "{shown} are free, less than the {least} below which no work is begun; make room or lower `min-free`"
                ))
            } else {
                good(format!("{shown} are free; work pauses below {least}"))
            }
        }
    }
}

fn cases(config: &Config) -> Vec<Found> {
    let count = |dir: &Path| -> std::io::Result<usize> {
        Ok(std::fs::read_dir(dir)?
            .flatten()
            .filter(|e| e.path().is_dir())
            .count())
    };
    let mut found = Vec::new();
    match count(&config.cases_dir) {
        Ok(0) => found.extend(bad(format!(
            "{} holds no case; set `cases-dir`",
            config.cases_dir.display()
        ))),
        Ok(n) => found.extend(good(format!(
            "{n} folders in {}",
            config.cases_dir.display()
        ))),
        Err(e) => found.extend(bad(format!(
            "{} can't be read: {e}; set `cases-dir`",
            config.cases_dir.display()
        ))),
    }
    if let Err(e) = count(&config.solutions_dir) {
        found.extend(bad(format!(
            "{} can't be read: {e}; without the solutions no proof can be made; set `solutions-dir`",
            config.solutions_dir.display()
        )));
    }
    found
}

fn site_files(config: &Config) -> Vec<Found> {
    let mut found = Vec::new();
    let style = config.static_dir.join("faultboard.css");
    if style.is_file() {
        found.extend(good(format!("{} is there", style.display())));
    } else {
        found.extend(bad(format!(
            "{} is missing; set `static-dir`",
            style.display()
        )));
    }
    let wasm = config.site_root.join("pkg/faultboard.wasm");
    if wasm.is_file() {
        found.extend(good(format!("{} is there", wasm.display())));
    } else {
        found.extend(note(format!(
            "{} is missing: pages work, but without live updates; build it, or set `site-root`",
            wasm.display()
        )));
    }
    found
}

fn certificates(config: &Config) -> Vec<Found> {
    match &config.ca_bundle {
        None => good("set-up containers trust what their images trust"),
        Some(path) => match std::fs::read(path) {
            Ok(bytes)
                if bytes
                    .windows(27)
                    .any(|w| w == b"-----BEGIN CERTIFICATE-----") =>
            {
                good(format!("{} holds certificates", path.display()))
            }
            Ok(_) => bad(format!(
                "{} holds no certificate in PEM form; mend `ca-bundle`",
                path.display()
            )),
            Err(e) => bad(format!(
                "{} can't be read: {e}; mend `ca-bundle`",
                path.display()
            )),
        },
    }
}

/// The release of the first version; a clock before it is surely wrong.
const EARLIEST_S: u64 = 1_735_689_600;

fn clock(config: &Config) -> Vec<Found> {
    let now = SystemTime::now();
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    if seconds < EARLIEST_S {
        return bad(
            "the clock stands before 2025; set the time, or signing in and leases won't work",
        );
    }
    // Files on a network disk get its server's time; leases and sweeps compare the two.
    let stamp = tempfile::NamedTempFile::new_in(existing(&config.data_dir))
        .ok()
        .and_then(|f| f.as_file().metadata().ok())
        .and_then(|m| m.modified().ok());
    let apart = stamp.map(|s| {
        s.duration_since(now)
            .or_else(|_| now.duration_since(s))
            .unwrap_or_default()
    });
    match apart {
        Some(apart) if apart > Duration::from_secs(5) => bad(format!(
            "the clock and the data disk's clock are {} s apart; synchronise them",
            apart.as_secs()
        )),
        Some(_) => good("the clock and the data disk's agree"),
        None => note("the data disk's clock could not be asked"),
    }
}

/// Opens everything as `serve` does. Where there is no data folder yet, a
/// temporary one stands in, so that nothing is made by looking.
async fn opened(config: &Config) -> Vec<Found> {
    let mut config = config.clone();
    let stand_in = if config.data_dir.is_dir() {
        None
    } else {
        match tempfile::tempdir() {
            Ok(dir) => {
                config.data_dir = dir.path().to_owned();
                Some(dir)
            }
            Err(e) => return bad(format!("no temporary folder can be made: {e}")),
        }
    };
    let portal = match serve::open(&config).await {
        Ok(portal) => portal,
        Err(e) => return bad(format!("{e:#}")),
    };
    let mut found = match portal.ready().await {
        Ok(()) if stand_in.is_some() => good("a new database takes every migration"),
        Ok(()) => good(
            "the database answers and its migrations are all applied; the store of files answers",
        ),
        Err(e) => bad(format!(
            "the database or the store of files does not answer: {e}"
        )),
    };
    let (runtime, missing) = portal.runtime();
    found.push((Verdict::Good, format!("oracles run with {runtime}")));
    found.extend(
        missing
            .into_iter()
            .map(|m| (Verdict::Note, format!("{runtime}: not enforced here: {m}"))),
    );
    portal.close().await;
    found
}

async fn address(config: &Config) -> Vec<Found> {
    match tokio::net::TcpListener::bind(config.listen).await {
        Ok(_) => good(format!("{} is free to listen on", config.listen)),
        Err(e) if e.kind() == std::io::ErrorKind::AddrInUse => note(format!(
            "{} is taken: by a running site, or by another program (then set `listen`)",
            config.listen
        )),
        Err(e) => bad(format!(
            "{} can't be listened on: {e}; set `listen`",
            config.listen
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_not_there_are_judged_by_the_one_above() {
        assert_eq!(existing(Path::new("/nowhere/at/all")), Path::new("/"));
        assert_eq!(existing(Path::new("nowhere/at/all")), Path::new("."));
    }

    #[test]
    fn a_full_disk_and_missing_cases_are_bad() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::defaults();
        config.data_dir = folder.path().to_owned();
        config.cases_dir = folder.path().to_owned();
        config.min_free = u64::MAX;
        assert_eq!(disk(&config)[0].0, Verdict::Bad);
        assert!(cases(&config).iter().all(|f| f.0 == Verdict::Bad));
        assert_eq!(clock(&config)[0].0, Verdict::Good);
    }
}
