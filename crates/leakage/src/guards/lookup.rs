//! Looking things up: searching for or fetching the issue, its tracker, code
//! hosts, or this benchmark. Only what the agent does counts: an address in the
//! source that it reads or writes does not.

use std::sync::LazyLock;

use faultboard_domain::finding::GuardSeverity;
use regex::Regex;

use crate::guard::{Confirmed, Guard, Hit, NEAR, Pattern, Terms, floor, has_word};
use crate::normalise::fold;
use crate::shell::{Command, in_command_position};

pub(crate) struct Lookup;

const HOST: u16 = 1;
const REGISTRY: u16 = 2;
const SITE: u16 = 3;
const TOOL: u16 = 4;
const NAME: u16 = 5;
const WEB_CALL: u16 = 6;

/// Hosts of code, of trackers, of searches and of copies of them.
const HOSTS: [&str; 36] = [
    "github.com",
    "githubusercontent.com",
    "github.io",
    "ghcr.io",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "sourceforge.net",
    "gitee.com",
    "sourcegraph.com",
    "grep.app",
    "searchcode.com",
    "gitea.com",
    "git.sr.ht",
    "savannah.gnu.org",
    "googlesource.com",
    "issues.apache.org",
    "bugs.debian.org",
    "bugs.launchpad.net",
    "bugzilla.",
    "sources.debian.org",
    "snapshot.debian.org",
    "huggingface.co",
    "hf.co",
    "web.archive.org",
    "google.com/search",
    "duckduckgo.com",
    "bing.com/search",
    "search.brave.com",
    "stackoverflow.com",
    "api.search.brave.com",
    "serpapi.com",
    "kaggle.com",
    "jsdelivr.net",
    "unpkg.com",
    "ghproxy.com",
];
/// Registries: fetching the project itself from them gets its later versions.
const REGISTRIES: [&str; 11] = [
    "pypi.org",
    "pythonhosted.org",
    "crates.io",
    "docs.rs",
    "proxy.golang.org",
    "pkg.go.dev",
    "npmjs.org",
    "npmjs.com",
    "repo1.maven.org",
    "repo.maven.apache.org",
    "hex.pm",
];
/// Programs that fetch, by name.
const TOOLS: [&str; 14] = [
    "pip",
    "pip3",
    "uv",
    "cargo",
    "npm",
    "yarn",
    "pnpm",
    "go",
    "gh",
    "apt-get",
    "apt",
    "hub",
    "huggingface-cli",
    "git",
];

/// A fetch in a line: a program or a call of a library.
static FETCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u:\b)(?:curl|wget2?|aria2c|axel|lynx|w3m|links2?|httpie|xh|fetch|git +(?:-c +\S+ +)*clone|git +(?:-c +\S+ +)*ls-remote|git +(?:-c +\S+ +)*submodule +add|svn +(?:checkout|co|export)|hg +clone|http|https|invoke-webrequest|iwr|nc|ncat|openssl +s_client|pip3? +install|cargo +install|degit)(?:\.exe)?\s|(?-u:\b)(?:urlopen|urlretrieve|request(?:s)?\.(?:get|post|head|request)|httpx\.(?:get|stream|post)|session\.get|http\.get|fetch|axios(?:\.get)?|httpclient|webclient|load_dataset|snapshot_download|hf_hub_download|page\.goto)\s*\(",
    )
    .ok()
});

/// Names of tools that search or open pages.
static WEB_TOOL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"web|browser|internet|google|bing|duckduckgo|tavily|brave|serp|fetch_?url|url_?fetch|^fetch$|http|goto|navigate|open_?url|visit|^search_?(?:online|engine)$").ok()
});

fn is_web_tool(tool: &str) -> bool {
    WEB_TOOL.as_ref().is_some_and(|r| r.is_match(tool))
}

impl Guard for Lookup {
    fn id(&self) -> &'static str {
        "lookup"
    }

    fn version(&self) -> u32 {
        1
    }

    fn severity(&self) -> GuardSeverity {
        GuardSeverity::Quarantine
    }

    fn describe(&self) -> &'static str {
        "A search or fetch of the issue, its tracker, code hosts, or this benchmark."
    }

    fn patterns(&self, terms: &Terms<'_>) -> Vec<Pattern> {
        let mut all: Vec<Pattern> = HOSTS.iter().map(|h| Pattern::shell(h, HOST)).collect();
        all.extend(REGISTRIES.iter().map(|h| Pattern::shell(h, REGISTRY)));
        all.extend(TOOLS.iter().map(|t| Pattern::shell(t, TOOL)));
        // The trackers where the issue and its fix are kept, whatever they are called.
        for reference in terms.case.issues.iter().chain(&terms.case.fixes) {
            let host = reference
                .url
                .as_deref()
                .and_then(|u| u.split_once("://"))
                .and_then(|(_, rest)| rest.split(['/', ':', '?']).next());
            if let Some(host) = host.filter(|h| h.contains('.')) {
                all.push(Pattern::shell(host.trim_start_matches("www."), HOST));
            }
        }
        let site = terms.site;
        for name in site.hosts.iter().chain(&site.repositories) {
            if name.len() >= 4 {
                all.push(Pattern::shell(name, SITE));
            }
        }
        all.extend(terms.names.iter().map(|n| Pattern::shell(n, NAME)));
        for call in [
            "web_search",
            "websearch",
            "webfetch",
            "web_fetch",
            "google_search",
            "browser_navigate",
        ] {
            all.push(Pattern::shell(call, WEB_CALL));
        }
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|p| !p.text.is_empty() && seen.insert((p.text.clone(), p.tag)));
        all
    }

    fn confirm(&self, hit: &Hit<'_>) -> Option<Confirmed> {
        let web = hit.tool.is_some_and(is_web_tool);
        match hit.pattern.tag {
            HOST => {
                let start = whole_host(hit)?;
                let (range_start, _) = fetched(hit, start, web)?;
                Some(Confirmed {
                    range: range_start..end_of_word(hit.text, hit.end),
                    why: format!("reaches for {}", hit.pattern.text.trim_end_matches('.')),
                })
            }
            REGISTRY => {
                let start = whole_host(hit)?;
                let end = end_of_word(hit.text, hit.end);
                let (range_start, _) = fetched(hit, start, web)?;
                hit.names_project(&hit.text[hit.end..end])
                    .then(|| Confirmed {
                        range: range_start..end,
                        why: "fetches the project from a registry, which has its later versions"
                            .to_owned(),
                    })
            }
            SITE => {
                let start = whole_host(hit)?;
                let (range_start, _) = fetched(hit, start, web)?;
                Some(Confirmed {
                    range: range_start..end_of_word(hit.text, hit.end),
                    why: "reaches for this benchmark's own site, repository or data".to_owned(),
                })
            }
            TOOL => program(hit),
            // The project's name in a web search.
            NAME => (web && hit.is_word())
                .then(|| hit.itself("looks the project up on the web"))
                .flatten(),
            _ => web_call(hit),
        }
    }
}

/// Start of the address or word that the host's name stands in; none if the
/// name is only a part of another host's name.
fn whole_host(hit: &Hit<'_>) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let goes_on = hit
        .after()
        .is_some_and(|c| c.is_alphanumeric() && !hit.pattern.text.ends_with('.'));
    if goes_on || hit.before().is_some_and(part) {
        return None;
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '(' | '=' | '<' | ',' | '`');
    let from = floor(hit.text, hit.start.saturating_sub(NEAR));
    let before = &hit.text[from..hit.start];
    match before.rfind(ends) {
        Some(i) => Some(from + i + before[i..].chars().next().map_or(1, char::len_utf8)),
        // No address is that long.
        None => (from == 0).then_some(0),
    }
}

fn end_of_word(text: &str, from: usize) -> usize {
    let near = &text[from..floor(text, from + NEAR)];
    near.find(|c: char| {
        c.is_whitespace() || matches!(c, ')' | ';' | '|' | '>' | '`' | ',' | ']' | '}')
    })
    .map_or(from + near.len(), |i| from + i)
}

/// Where the fetch begins whose address starts at `start`, and whether a tool
/// for the web made it.
fn fetched(hit: &Hit<'_>, start: usize, web: bool) -> Option<(usize, bool)> {
    if web {
        return Some((start, true));
    }
    let from = floor(hit.text, start.saturating_sub(1_500));
    let before = &hit.text[from..start];
    let line = before.rfind('\n').map_or(0, |i| i + 1);
    // A call may span lines; a command doesn't (continued lines were joined).
    let found = FETCH.as_ref()?.find_iter(before).filter(|m| {
        let is_call = m.as_str().ends_with('(');
        if is_call {
            before.len() - m.end() <= 200 && !before[m.end()..].contains(')')
        } else {
            m.start() >= line && is_run(hit.text, from + m.start(), &before[m.end()..])
        }
    });
    found.last().map(|m| (from + m.start(), false))
}

/// Whether a program's name is where a command begins, and nothing between it
/// and the address begins another.
fn is_run(text: &str, at: usize, between: &str) -> bool {
    in_command_position(text, at) && !between.contains([';', '|']) && !between.contains("&&")
}

/// Package managers and code hosts' own programs.
fn program(hit: &Hit<'_>) -> Option<Confirmed> {
    let command = Command::at(hit)?;
    let mut plain = command.plain_args();
    let sub = plain.next()?;
    let rest: Vec<&str> = plain.collect();
    let project = rest.iter().any(|a| names_package(a, hit.terms.names));
    let why = match (hit.pattern.text.as_str(), sub) {
        ("pip" | "pip3", "download") => "downloads a package's source",
        ("pip" | "pip3", "install" | "index" | "wheel") if project => {
            "gets the project from a registry, which has its later versions"
        }
        ("uv", "pip" | "add" | "tool" | "run") if project => {
            "gets the project from a registry, which has its later versions"
        }
        ("cargo", "install" | "add" | "info" | "search" | "download" | "clone") if project => {
            "gets the project from a registry, which has its later versions"
        }
        ("npm" | "yarn" | "pnpm", "view" | "info" | "show" | "pack" | "install" | "add")
            if project =>
        {
            "gets the project from a registry, which has its later versions"
        }
        ("go", "get" | "install" | "list" | "mod") if project => {
            "gets the project from a registry, which has its later versions"
        }
        ("apt-get" | "apt", "source" | "changelog" | "download") => {
            "fetches a package's source or change log"
        }
        (
            "gh" | "hub",
            "issue" | "pr" | "api" | "search" | "repo" | "browse" | "release" | "gist" | "run",
        ) => "asks a code host",
        ("huggingface-cli", "download" | "repo") => "asks a code host",
        ("git", "clone") => {
            let remote = |a: &&str| a.contains("://") || (a.contains('@') && a.contains(':'));
            rest.iter().find(|a| remote(a))?;
            "clones a repository from elsewhere"
        }
        _ => return None,
    };
    Some(Confirmed {
        range: hit.start..command.end,
        why: why.to_owned(),
    })
}

/// `raft`, `raft==0.3.1`, `raft@0.3.1`, `github.com/tikv/raft-rs@latest`; not a path.
fn names_package(arg: &str, names: &[String]) -> bool {
    if arg.starts_with(['.', '/', '~']) {
        return false;
    }
    let name = arg
        .split(['=', '@', '<', '>', '~', '!', '[', ';'])
        .next()
        .unwrap_or_default();
    let same = |a: &str, b: &str| {
        let plain = |t: &str| t.replace(['-', '.'], "_");
        plain(a) == plain(b)
    };
    names
        .iter()
        .any(|n| same(name, n) || (name.contains('/') && name.ends_with(n.as_str())))
}

/// `web_search(...)` and the like in a tool call's JSON or code: with the
/// project's name, a host, or the site's.
fn web_call(hit: &Hit<'_>) -> Option<Confirmed> {
    if !hit.is_word() {
        return None;
    }
    let end = floor(hit.text, hit.end + 500);
    let after = &hit.text[hit.end..end];
    let call = after.trim_start().starts_with(['(', ':', ',', '{']) || after.contains("query");
    let site = hit.terms.site;
    let about = hit.names_project(after)
        || HOSTS.iter().any(|h| after.contains(h))
        || site
            .hosts
            .iter()
            .chain(&site.repositories)
            .any(|s| has_word(after, &fold(s)));
    (call && about)
        .then(|| hit.itself("looks the project up on the web"))
        .flatten()
}
