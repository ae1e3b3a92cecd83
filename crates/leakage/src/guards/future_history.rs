//! History past the snapshot: git commands that reach for other refs, the
//! reflog, remotes or unpacked objects, and output that holds commits made
//! after the snapshot. Looking at the snapshot's own history is fine.

use std::sync::LazyLock;

use faultboard_domain::finding::GuardSeverity;
use regex::Regex;

use crate::guard::{Confirmed, Guard, Hit, Pattern, Terms, floor};
use crate::segment::{Source, Sources};
use crate::shell::Command;

pub(crate) struct FutureHistory;

const GIT: u16 = 1;
const STORE: u16 = 2;
const DATE: u16 = 3;

/// Paths inside `.git` that hold more than the checked-out commit.
const STORES: [&str; 7] = [
    ".git/objects",
    ".git/packed-refs",
    ".git/logs",
    ".git/fetch_head",
    ".git/orig_head",
    ".git/refs/remotes",
    ".git/refs/tags",
];

impl Guard for FutureHistory {
    fn id(&self) -> &'static str {
        "future-history"
    }

    fn version(&self) -> u32 {
        1
    }

    fn severity(&self) -> GuardSeverity {
        GuardSeverity::Quarantine
    }

    fn describe(&self) -> &'static str {
        "Git commands that reach past the snapshot, or output with commits newer than it."
    }

    fn patterns(&self, terms: &Terms<'_>) -> Vec<Pattern> {
        let mut all = vec![Pattern::shell("git", GIT)];
        all.extend(STORES.iter().map(|s| Pattern::shell(s, STORE)));
        if terms.case.snapshot_time.is_some() {
            let date = Pattern::plain("\ndate:", DATE, 0);
            all.push(date.only_in(Sources::of(&[Source::Output])));
        }
        all
    }

    fn confirm(&self, hit: &Hit<'_>) -> Option<Confirmed> {
        match hit.pattern.tag {
            GIT => {
                let command = Command::at(hit)?;
                let why = git(&command, &hit.terms.case.fixed_versions)?;
                Some(Confirmed {
                    range: hit.start..command.end,
                    why: why.to_owned(),
                })
            }
            STORE => store(hit),
            _ => newer_commit(hit),
        }
    }
}

/// Why a git command reaches past the snapshot, if it does.
fn git(command: &Command<'_>, fixed_versions: &[String]) -> Option<&'static str> {
    let mut args = command.args.iter().copied().peekable();
    // Options of git itself, some with a value of their own.
    while let Some(option) = args.next_if(|a| a.starts_with('-')) {
        if matches!(
            option,
            "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path"
        ) {
            args.next();
        }
    }
    let sub = args.next()?;
    let args: Vec<&str> = args.collect();
    let has = |wanted: &[&str]| {
        args.iter().any(|a| {
            wanted
                .iter()
                .any(|w| a == w || a.strip_prefix(w).is_some_and(|r| r.starts_with('=')))
        })
    };
    match sub {
        "reflog" => Some("reads the reflog"),
        "fetch" | "pull" => Some("fetches from a remote"),
        "ls-remote" => Some("lists the refs of a remote"),
        "remote"
            if args
                .iter()
                .any(|a| matches!(*a, "add" | "update" | "set-url" | "show" | "prune")) =>
        {
            Some("reaches for a remote")
        }
        "fsck" if !has(&["--no-dangling"]) => Some("looks for objects that no ref reaches"),
        "cat-file" if has(&["--batch-all-objects"]) => Some("reads every object of the store"),
        "rev-list" | "rev-parse"
            if has(&[
                "--all",
                "--remotes",
                "--branches",
                "--tags",
                "--reflog",
                "--glob",
                "--objects-edge",
            ]) =>
        {
            Some("lists commits of every ref")
        }
        "verify-pack" | "unpack-objects" | "show-index" | "unpack-file" => {
            Some("reads objects out of a pack")
        }
        "log" | "show" | "shortlog" | "whatchanged" | "show-branch" | "grep" | "diff" | "blame"
            if has(&[
                "--all",
                "--remotes",
                "--branches",
                "--tags",
                "--reflog",
                "--glob",
                "--walk-reflogs",
                "--alternate-refs",
            ]) || (sub == "log" && args.contains(&"-g")) =>
        {
            Some("reads the history of every ref")
        }
        "log" | "show" | "diff" | "blame" | "grep" | "checkout" | "switch" | "restore"
        | "reset" | "merge" | "rebase" | "cherry-pick" | "cherry" | "worktree" | "archive"
        | "ls-tree" | "cat-file" | "rev-list" | "range-diff" | "format-patch"
            if args.iter().any(|a| is_other_ref(a, fixed_versions)) =>
        {
            Some("reads a ref other than the snapshot")
        }
        _ => None,
    }
}

/// A remote's ref, a place in the reflog, or the fixed version's tag.
fn is_other_ref(arg: &str, fixed_versions: &[String]) -> bool {
    if arg.starts_with('-') {
        return false;
    }
    // `a..b`, `a...b`, `ref:path`.
    arg.split("..")
        .map(|r| {
            r.trim_start_matches('.')
                .split(':')
                .next()
                .unwrap_or_default()
        })
        .any(|r| {
            let r = r.trim_start_matches('^');
            let tag = r
                .trim_start_matches("refs/tags/")
                .trim_start_matches("tags/");
            let tag = tag.trim_start_matches('v');
            matches!(r, "fetch_head" | "@{u}" | "@{upstream}")
                || [
                    "origin/",
                    "upstream/",
                    "remotes/",
                    "refs/remotes/",
                    "refs/pull/",
                ]
                .iter()
                .any(|p| r.starts_with(p))
                || (r.starts_with("head@{") && !r.starts_with("head@{0}"))
                || (r.starts_with("@{") && r.ends_with('}'))
                || fixed_versions.iter().any(|v| v.eq_ignore_ascii_case(tag))
        })
}

/// A path into git's store, unless it is named to be left out of a search.
fn store(hit: &Hit<'_>) -> Option<Confirmed> {
    let (line, at) = hit.line();
    let before = &line[..at];
    let left_out = [
        "-path", "-not", "exclude", "-prune", "!", "-g", "--ignore", "rm ",
    ]
    .iter()
    .any(|w| before[floor(before, at.saturating_sub(40))..].contains(w));
    // A number of loose objects is no object.
    if left_out || before.contains("echo ") {
        return None;
    }
    hit.itself("reads git's own store, which may hold more than the snapshot")
}

/// A commit as `git log` prints it: its id, author and date, in that order and
/// within a few lines.
struct Logged<'a> {
    /// Where its id begins in the text.
    at: usize,
    author: &'a str,
    time: i64,
}

/// The commits that a text shows.
fn logged(text: &str) -> Vec<Logged<'_>> {
    let mut commits = Vec::new();
    let mut open: Option<(usize, &str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if let Some(id) = words.strip_prefix("commit ") {
            let id = id.split_whitespace().next().unwrap_or_default();
            let is_id = (7..=40).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
            open = is_id.then(|| (at + line.find(id).unwrap_or(0), "", 0));
        } else if let Some((start, author, lines)) = open.take() {
            let date = words
                .strip_prefix("date:")
                .or_else(|| words.strip_prefix("authordate:"));
            if let Some(date) = date.filter(|_| !author.is_empty()) {
                if let Some(time) = seconds(date) {
                    commits.push(Logged {
                        at: start,
                        author,
                        time,
                    });
                }
            } else if lines < 6 {
                let author = words.strip_prefix("author:").map_or(author, str::trim);
                open = Some((start, author, lines + 1));
            }
        }
        at += line.len();
    }
    commits
}

/// A commit in tool output that is dated after the snapshot and is not the
/// agent's own: made before the run began or, where that is not known, one of
/// several by different people.
fn newer_commit(hit: &Hit<'_>) -> Option<Confirmed> {
    const DAY: i64 = 86_400;
    let snapshot = hit.terms.case.snapshot_time?;
    // The line of the date itself tells most places apart at once.
    let line = hit.text[hit.end..].lines().next().unwrap_or_default();
    seconds(&line[..floor(line, 60)]).filter(|t| *t > snapshot + DAY)?;
    let (near, at) = hit.around(1500, 1500);
    let newer: Vec<Logged<'_>> = logged(near)
        .into_iter()
        .filter(|c| c.time > snapshot + DAY)
        .collect();
    // The commit whose date this is: the last that begins before it.
    let this = newer.iter().rev().find(|c| c.at < at)?;
    let foreign = match hit.attempt.started {
        Some(started) => this.time < started - DAY,
        None => newer.iter().any(|c| c.author != this.author),
    };
    let offset = hit.start - at;
    foreign.then(|| Confirmed {
        range: offset + this.at..hit.end + line.len(),
        why: "shows a commit that was made after the snapshot".to_owned(),
    })
}

static ISO: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?-u:\b)((?:19|20)\d\d)-(\d\d)-(\d\d)(?-u:\b)").ok());
static GIT_DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u:\b)(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec) +(\d{1,2}) +\d\d:\d\d(?::\d\d)? +((?:19|20)\d\d)(?-u:\b)").ok()
});

/// The day of a date, in seconds since 1970.
fn seconds(date: &str) -> Option<i64> {
    let number = |m: Option<regex::Match<'_>>| m.and_then(|m| m.as_str().parse::<i64>().ok());
    let (year, month, day) = if let Some(c) = ISO.as_ref()?.captures(date) {
        (number(c.get(1))?, number(c.get(2))?, number(c.get(3))?)
    } else {
        let c = GIT_DATE.as_ref()?.captures(date)?;
        let months = "janfebmaraprmayjunjulaugsepoctnovdec";
        let month = i64::try_from(months.find(c.get(1)?.as_str())? / 3 + 1).ok()?;
        (number(c.get(3))?, month, number(c.get(2))?)
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days from the civil calendar, after Howard Hinnant's `days_from_civil`.
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(days * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_both_kinds_are_read() {
        assert_eq!(seconds("thu jan 1 00:00:00 1970 +0000"), Some(0));
        assert_eq!(seconds("2000-03-01 10:00:00 +0100"), Some(951_868_800));
        assert_eq!(seconds("tue feb 29 12:00:00 2000 +0000"), Some(951_782_400));
        assert_eq!(seconds("yesterday"), None);
    }

    #[test]
    fn refs_of_others_are_told_from_own_ones() {
        let fixed = ["0.3.12".to_owned()];
        for other in [
            "origin/main",
            "head..origin/main",
            "head@{1}",
            "v0.3.12",
            "0.3.12:a.py",
            "refs/pull/7/head",
        ] {
            assert!(is_other_ref(other, &fixed), "{other}");
        }
        for own in [
            "head",
            "head~1",
            "master",
            "main",
            "src/origin.rs",
            "v0.3.11",
            "--",
            "-p",
        ] {
            assert!(!is_other_ref(own, &fixed), "{own}");
        }
    }
}
