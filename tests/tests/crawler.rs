//! Nothing of a solution is served to an anonymous reader or lies in an
//! agent's workspace: every public byte of a site with a full board is read,
//! and searched for every term that must never leak.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use faultboard_tests::bundle::samples;
use faultboard_tests::crawl::{Found, crawl};
use faultboard_tests::journey::live;
use faultboard_tests::leaks::{Terms, list_items};
use faultboard_tests::reader::Reader;
use faultboard_tests::server::{Options, Server};
use faultboard_tests::{Context, Result, ensure, machine, need, wait_for};

#[tokio::test]
async fn no_public_byte_holds_a_solution() -> Result<()> {
    need!(
        "no_public_byte_holds_a_solution",
        machine::runtime(),
        machine::site(),
        samples("repair")
    );
    let terms = Terms::of_every_solution()?;
    let demo = machine::root().join("samples");
    let options = Options::new("crawler")
        .workers(2)
        .setting("FAULTBOARD_DEMO", demo.display().to_string());
    let server = Server::start(options).await?;
    let reader = Reader::new(&server)?;

    // The demo board fills up by itself.
    let mut rows = 0;
    for (track, kind, subset) in [
        ("repair", "repair", "full"),
        ("diagnosis", "diagnosis", "full"),
        ("repair", "teaching", "teaching"),
    ] {
        let wanted = samples(kind).map_err(anyhow::Error::msg)?.len();
        let board = format!("/board/{track}.json?release=2026.1&subset={subset}");
        wait_for(&format!("{wanted} rows on {board}"), 2_400, async || {
            let answer = reader.json(&board).await?;
            let now = answer["rows"].as_array().map_or(0, Vec::len);
            Ok((now >= wanted).then_some(()))
        })
        .await?;
        rows += wanted;
    }
    ensure!(rows >= 4);

    let starts: Vec<String> = [
        "/",
        "/board/repair",
        "/board/diagnosis",
        "/cases",
        "/changes",
        "/docs",
        "/submit",
        "/sign-in",
        "/sign-up",
        "/healthz",
        "/readyz",
        "/metrics",
        "/me",
        "/admin",
        "/robots.txt",
        "/sitemap.xml",
        "/board/repair.json?subset=full",
        "/board/repair.csv?subset=teaching",
        "/board/diagnosis.csv",
    ]
    .map(str::to_owned)
    .into();
    let mut found: Vec<String> = Vec::new();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut submissions: BTreeSet<String> = BTreeSet::new();
    let read = crawl(&reader, &starts, |part: &Found| {
        ensure!(part.status < 500, "{}: {}", part.place, part.status);
        for leak in terms.in_bytes(&part.bytes) {
            found.push(format!("{}: {leak}", part.place));
        }
        if let Some(rest) = part.place.strip_prefix("/submissions/")
            && let Some(id) = rest.split([' ', '/', '?', '!']).next()
            && part.status == 200
        {
            submissions.insert(id.to_owned());
        }
        let kind = part
            .place
            .trim_start_matches('/')
            .split(['/', '?', '!'])
            .next()
            .unwrap_or_default();
        *kinds.entry(kind.to_owned()).or_default() += 1;
        Ok(())
    })
    .await?;
    ensure!(found.is_empty(), "leaks: {found:#?}");
    // Live streams never end, so the crawl leaves them out.
    ensure!(submissions.len() >= rows, "submissions: {submissions:?}");
    for id in &submissions {
        let event = live(&reader, id).await?.to_string();
        let found = terms.in_bytes(event.as_bytes());
        ensure!(found.is_empty(), "the stream of {id}: {found:?}");
    }
    for kind in [
        "board",
        "cases",
        "submissions",
        "attempts",
        "static",
        "pkg",
        "figures",
    ] {
        ensure!(
            kinds.get(kind).is_some_and(|n| *n > 0),
            "nothing of /{kind} was read: {kinds:?}"
        );
    }
    ensure!(read > 60, "only {read} addresses were read: {kinds:?}");

    ensure!(
        server.server_errors().is_empty(),
        "{:?}",
        server.server_errors()
    );

    workspaces(&server, &terms)
}

/// The cases whose workspaces are searched here: those of the demo's release, one
/// of every further language, and whatever this site has set up anyway. Each
/// needs its set-up, so the list is bounded; `case verify` searches every one.
fn searched(server: &Server) -> Result<BTreeSet<String>> {
    let root = machine::root();
    let release = std::fs::read_to_string(root.join("cases/releases/2026.1.yaml"))?;
    let mut wanted: BTreeSet<String> = list_items(&release).into_iter().collect();
    let language = |case: &str| -> Option<String> {
        let text = std::fs::read_to_string(root.join("cases").join(case).join("case.yaml")).ok()?;
        let line = text.lines().find_map(|l| l.strip_prefix("language:"))?;
        Some(line.trim().to_owned())
    };
    let mut spoken: BTreeSet<String> = wanted.iter().filter_map(|c| language(c)).collect();
    let mut all: Vec<String> = std::fs::read_dir(root.join("cases"))?
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .collect();
    all.sort();
    for case in all {
        if language(&case).is_some_and(|l| spoken.insert(l)) {
            wanted.insert(case);
        }
    }
    for entry in std::fs::read_dir(server.data_dir().join("oracle/prepared"))? {
        if let Ok(text) = std::fs::read_to_string(entry?.path().join("meta.json")) {
            let meta: serde_json::Value = serde_json::from_str(&text)?;
            wanted.extend(meta["case"].as_str().map(str::to_owned));
        }
    }
    Ok(wanted)
}

/// Lays out agents' workspaces and searches them.
fn workspaces(server: &Server, terms: &Terms) -> Result<()> {
    let out = tempfile::tempdir()?;
    let cases = searched(server)?;
    for case in &cases {
        let dir = machine::root().join("cases").join(case);
        for condition in ["symptom-only", "context-augmented"] {
            let workspace = out.path().join(format!("{case}-{condition}"));
            let made = server
                .command()
                .args(["case", "workspace", case, "--condition", condition, "--dir"])
                .arg(&workspace)
                .output()?;
            ensure!(
                made.status.success(),
                "{case}, {condition}: {}",
                String::from_utf8_lossy(&made.stderr)
            );
            let mut files = 0;
            for file in files_below(&workspace)? {
                files += 1;
                let name = file.strip_prefix(&workspace)?.display().to_string();
                for hidden in [
                    "solution.md",
                    "upstream.yaml",
                    "blocks.json",
                    "inject_test",
                    "reproduce.sh",
                    "case.yaml",
                ] {
                    // What the upstream project itself calls so is its own.
                    let ours = dir.join(hidden).exists()
                        || hidden.ends_with("yaml")
                        || hidden.starts_with("solution");
                    ensure!(
                        !(ours && name.ends_with(hidden)),
                        "{case}: the workspace holds {name}"
                    );
                }
                let bytes = std::fs::read(&file)?;
                let found = terms.in_bytes(&bytes);
                ensure!(found.is_empty(), "{case}, {condition}: {name}: {found:?}");
            }
            ensure!(files > 5, "{case}, {condition}: the workspace is empty");
            history(&workspace)?;
        }
    }
    ensure!(cases.len() >= 5, "only {cases:?}");
    Ok(())
}

/// The snapshot's repository knows one commit and nothing beyond it.
fn history(workspace: &Path) -> Result<()> {
    let tree = [workspace.join("tree"), workspace.to_owned()]
        .into_iter()
        .find(|dir| dir.join(".git").is_dir())
        .context("no repository in the workspace")?;
    let git = |args: &[&str]| -> Result<String> {
        let output = std::process::Command::new("git")
            .arg("-c")
            .arg("safe.directory=*")
            .arg("-C")
            .arg(&tree)
            .args(args)
            .output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    ensure!(
        git(&["rev-list", "--all", "--count"])? == "1",
        "more than one commit"
    );
    ensure!(git(&["remote"])?.is_empty(), "a remote");
    ensure!(git(&["reflog", "--all"])?.lines().count() <= 1, "a reflog");
    ensure!(git(&["tag"])?.is_empty(), "a tag");
    let unreachable = git(&["fsck", "--unreachable", "--no-reflogs"])?;
    ensure!(unreachable.is_empty(), "unreachable objects: {unreachable}");
    Ok(())
}

fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    Ok(found)
}
