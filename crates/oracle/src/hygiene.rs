//! The proof that an agent's workspace gives nothing away: one commit and what
//! it needs, nothing of the oracle, nothing of the solution in any file, name or
//! git object. It makes a workspace as an agent would get it, and reads all of it.
//!
//! Git itself runs in a container only; objects are inflated here, one by one.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use aho_corasick::AhoCorasick;
use faultboard_catalog::Solution;
use faultboard_domain::Condition;
use faultboard_domain::view::Hygiene;
use faultboard_sandbox::{Labels, RunControl};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::case::OracleCase;
use crate::evaluate::{Oracle, OracleError};
use crate::prepare::blocking;
use crate::scratch::Scratch;
use crate::{snapshot, stages, tree};

/// The most that one git object may inflate to.
const MAX_OBJECT: u64 = 1 << 30;
/// Shorter files may equal an oracle's by chance (an empty `__init__.py`).
const TELLING: u64 = 48;
/// Names that nothing in a workspace may have, unless upstream has them itself.
const OURS: [&str; 5] = [
    "solution.md",
    "blocks.json",
    "upstream.yaml",
    "inject_test",
    "reproduce.sh",
];

/// Asks git what it knows.
const SCRIPT: &str = r#"
set -euo pipefail
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_OPTIONAL_LOCKS=0
git fsck --full --unreachable --no-reflogs >/tmp/fsck 2>/tmp/fsck.err || { cat /tmp/fsck.err >&2; exit 1; }
printf 'commits=%s\n' "$(git rev-list --all --count)"
printf 'parents=%s\n' "$(git rev-list --all --parents | awk '{n += NF - 1} END {print n + 0}')"
printf 'refs=%s\n' "$(git for-each-ref | wc -l)"
printf 'tags=%s\n' "$(git tag | wc -l)"
printf 'remotes=%s\n' "$(git remote | wc -l)"
printf 'reflog=%s\n' "$(git reflog --all | wc -l)"
printf 'stashes=%s\n' "$(git stash list | wc -l)"
printf 'unreachable=%s\n' "$(grep -c . /tmp/fsck || true)"
printf 'reachable=%s\n' "$(git rev-list --objects --all | wc -l)"
printf 'objects=%s\n' "$(git cat-file --batch-all-objects --batch-check | wc -l)"
printf 'changed=%s\n' "$(git status --porcelain | wc -l)"
"#;

/// What no workspace may hold.
#[derive(Debug, Clone, Default)]
pub struct Hidden<'a> {
    /// Terms, in any case and across line breaks.
    pub terms: Vec<&'a str>,
    /// Whole texts.
    pub texts: Vec<&'a str>,
}

impl<'a> From<&'a Solution> for Hidden<'a> {
    fn from(solution: &'a Solution) -> Self {
        let variants = solution.variants.iter().map(|v| v.diff.as_str());
        Self {
            terms: solution.hidden().collect(),
            texts: [solution.text.as_str(), solution.diff.as_str()]
                .into_iter()
                .chain(variants)
                .collect(),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HygieneReport {
    /// The counts.
    pub counts: Hygiene,
    /// What must not be there, one sentence each; terms are not repeated in full.
    pub problems: Vec<String>,
}

impl Oracle {
    /// Makes a workspace under a random name and searches all of it.
    pub async fn hygiene(
        &self,
        case: &OracleCase,
        hidden: &Hidden<'_>,
        labels: &Labels,
        control: &RunControl,
    ) -> Result<HygieneReport, OracleError> {
        let host = |what: &'static str| move |e| OracleError::host(what, e);
        let name = format!("workspace-{}", (self.nonce)());
        let scratch =
            Scratch::create(&self.scratch_dir(), &name).map_err(host("making a working folder"))?;
        let work = scratch.path().join("work");
        // With its context: it holds all that the other condition shows.
        let made = self
            .prepare_workspace(case, Condition::ContextAugmented, &work, labels, control)
            .await?;
        let spec = stages::in_tree(case, &self.settings, &work, labels, SCRIPT);
        let quiet = RunControl {
            cancel: control.cancel.clone(),
            sink: None,
        };
        let run = self.run(&spec, quiet, &made.image_digest).await?;
        let mut report = HygieneReport::default();
        if run.succeeded() {
            told_by_git(&String::from_utf8_lossy(&run.stdout.head), &mut report);
        } else {
            report.problems.push(format!(
                "git could not read the snapshot (status {}): {}",
                run.exit.status(),
                run.log.text().trim()
            ));
        }
        if name.contains(case.case.id.as_str()) {
            report
                .problems
                .push("the workspace's name tells the case".to_owned());
        }
        let search = Search::new(case, hidden).map_err(host("preparing the search"))?;
        let mut report = blocking(move || {
            search.workspace(&work, &mut report)?;
            drop(scratch);
            Ok(report)
        })
        .await
        .map_err(host("searching a workspace"))?;
        report.counts.problems = u32::try_from(report.problems.len()).unwrap_or(u32::MAX);
        Ok(report)
    }
}

/// Reads what [`SCRIPT`] printed.
fn told_by_git(stdout: &str, report: &mut HygieneReport) {
    let mut field = |key: &str| -> u64 {
        let found = stdout
            .lines()
            .find_map(|l| l.strip_prefix(key)?.strip_prefix('=')?.trim().parse().ok());
        found.unwrap_or_else(|| {
            report.problems.push(format!("git did not say `{key}`"));
            0
        })
    };
    let commits = field("commits");
    let refs = field("refs");
    let unreachable = field("unreachable");
    let objects = field("objects");
    let reachable = field("reachable");
    let rules = [
        (commits, 1, "commits that can be reached"),
        (field("parents"), 0, "parents of the snapshot"),
        (refs, 1, "refs"),
        (field("tags"), 0, "tags"),
        (field("remotes"), 0, "remotes"),
        (field("reflog"), 0, "entries in the reflog"),
        (field("stashes"), 0, "stashes"),
        (unreachable, 0, "objects that cannot be reached"),
        (
            objects,
            reachable,
            "objects, other than what the snapshot needs",
        ),
        (field("changed"), 0, "files that differ from the snapshot"),
    ];
    for (found, wanted, what) in rules {
        if found != wanted {
            report
                .problems
                .push(format!("the snapshot has {found} {what}, not {wanted}"));
        }
    }
    report.counts = Hygiene {
        commits,
        refs,
        objects,
        unreachable,
        ..Hygiene::default()
    };
}

/// Searches bytes for terms, folded so that case and line breaks hide nothing.
struct Search {
    terms: Vec<String>,
    automaton: AhoCorasick,
    longest: usize,
    /// Digests of the oracle's and the solution's own files.
    files: BTreeSet<[u8; 32]>,
    /// Names that upstream has itself don't count.
    names: Vec<&'static str>,
}

impl Search {
    fn new(case: &OracleCase, hidden: &Hidden<'_>) -> io::Result<Self> {
        let mut terms: Vec<String> = hidden
            .terms
            .iter()
            .map(|t| {
                let mut folded = Vec::new();
                fold(t.trim().as_bytes(), &mut folded);
                String::from_utf8_lossy(&folded).into_owned()
            })
            .filter(|t| !t.is_empty())
            .collect();
        terms.sort();
        terms.dedup();
        let mut files: BTreeSet<[u8; 32]> = hidden
            .texts
            .iter()
            .map(|t| Sha256::digest(t.as_bytes()).into())
            .collect();
        for name in ["reproduce.sh", "case.yaml"] {
            if let Ok(bytes) = fs::read(case.dir.join(name)) {
                files.insert(Sha256::digest(bytes).into());
            }
        }
        for folder in [case.dir.join("inject_test"), case.library.clone()] {
            if !folder.is_dir() {
                continue;
            }
            for entry in tree::walk(&folder, &|_| false)? {
                if entry.kind == tree::Kind::File && entry.meta.len() >= TELLING {
                    let bytes = fs::read(folder.join(&entry.relative))?;
                    files.insert(Sha256::digest(bytes).into());
                }
            }
        }
        Ok(Self {
            automaton: AhoCorasick::new(&terms).map_err(io::Error::other)?,
            longest: terms.iter().map(String::len).max().unwrap_or(0),
            terms,
            files,
            names: OURS.to_vec(),
        })
    }

    fn workspace(&self, work: &Path, report: &mut HygieneReport) -> io::Result<()> {
        report.counts.terms = self.terms.len() as u64;
        let git = work.join("tree/.git");
        report.problems.extend(
            snapshot::unclean(&git)?
                .into_iter()
                .map(|f| format!("the snapshot's repository: {f}")),
        );
        for entry in tree::walk(work, &|p| p == Path::new("tree/.git/objects"))? {
            let shown = entry.relative.display();
            if let Some(term) = self.in_bytes(&mut entry.relative.as_os_str().as_bytes())?.0 {
                report
                    .problems
                    .push(format!("the name {shown} holds {term}"));
            }
            let own_git = entry.relative.starts_with("tree/.git");
            if !own_git && snapshot::is_vcs(&entry.relative) {
                report
                    .problems
                    .push(format!("version-control data at {shown}"));
            }
            let top = entry.relative.parent() == Some(Path::new("tree"))
                || entry.relative.parent() == Some(Path::new(""));
            if top && self.names.iter().any(|n| entry.relative.ends_with(n)) {
                report
                    .problems
                    .push(format!("the oracle's or the solution's {shown}"));
            }
            if entry.kind != tree::Kind::File {
                continue;
            }
            let mut file = fs::File::open(work.join(&entry.relative))?;
            let (term, digest, bytes) = self.in_bytes(&mut file)?;
            report.counts.files += 1;
            report.counts.bytes += bytes;
            if let Some(term) = term {
                report.problems.push(format!("{shown} holds {term}"));
            }
            if self.files.contains(&digest) {
                report.problems.push(format!(
                    "{shown} is a file of the oracle or of the solution"
                ));
            }
        }
        self.objects(&git.join("objects"), report)
    }

    fn objects(&self, objects: &Path, report: &mut HygieneReport) -> io::Result<()> {
        let mut loose = 0;
        let entries = if objects.is_dir() {
            tree::walk(objects, &|_| false)?
        } else {
            Vec::new()
        };
        for entry in entries {
            if entry.kind != tree::Kind::File {
                continue;
            }
            let name = entry.relative.display().to_string();
            if !is_loose(&name) {
                // A pack would have to be read otherwise; the snapshot has none.
                report
                    .problems
                    .push(format!("objects/{name} is no single object"));
                continue;
            }
            loose += 1;
            let file = fs::File::open(objects.join(&entry.relative))?;
            let mut inflated = flate2::read::ZlibDecoder::new(file).take(MAX_OBJECT);
            let (term, _, bytes) = self.in_bytes(&mut inflated)?;
            report.counts.bytes += bytes;
            if bytes >= MAX_OBJECT {
                report
                    .problems
                    .push(format!("the git object {name} is too large to be searched"));
            }
            if let Some(term) = term {
                report
                    .problems
                    .push(format!("the git object {name} holds {term}"));
            }
        }
        if loose != report.counts.objects {
            report.problems.push(format!(
                "{loose} objects were read, but git knows {}",
                report.counts.objects
            ));
        }
        Ok(())
    }

    /// The first term in a stream, described without repeating it; the stream's
    /// digest and its length.
    fn in_bytes(&self, input: &mut dyn Read) -> io::Result<(Option<String>, [u8; 32], u64)> {
        let mut hash = Sha256::new();
        let (mut found, mut length) = (None, 0);
        let mut buffer = vec![0_u8; 256 << 10];
        let mut folded: Vec<u8> = Vec::with_capacity(buffer.len() * 2);
        loop {
            let n = input.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            hash.update(&buffer[..n]);
            length += n as u64;
            if found.is_some() || self.terms.is_empty() {
                continue;
            }
            fold(&buffer[..n], &mut folded);
            if let Some(hit) = self.automaton.find(&folded) {
                let term = &self.terms[hit.pattern().as_usize()];
                let shown: String = term.chars().take(4).collect();
                let count = term.chars().count();
                found = Some(format!(
                    "a term of the solution (`{shown}...`, {count} characters)"
                ));
            }
            // A term may lie across two pieces.
            let done = folded.len().saturating_sub(self.longest);
            folded.drain(..done);
        }
        Ok((found, hash.finalize().into(), length))
    }
}

/// Appends bytes in small letters, each run of white space as one space, also
/// across calls.
fn fold(bytes: &[u8], out: &mut Vec<u8>) {
    for b in bytes {
        if b.is_ascii_whitespace() {
            if out.last() != Some(&b' ') {
                out.push(b' ');
            }
        } else {
            out.push(b.to_ascii_lowercase());
        }
    }
}

/// Whether a path below `objects/` is that of a single object: `ab/cdef...`.
fn is_loose(name: &str) -> bool {
    let hex = |t: &str| t.bytes().all(|b| b.is_ascii_hexdigit());
    name.split_once('/')
        .is_some_and(|(head, rest)| head.len() == 2 && rest.len() >= 38 && hex(head) && hex(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(terms: &[&str]) -> Search {
        let terms: Vec<String> = terms.iter().map(|t| (*t).to_owned()).collect();
        Search {
            automaton: AhoCorasick::new(&terms).unwrap(),
            longest: terms.iter().map(String::len).max().unwrap(),
            terms,
            files: BTreeSet::new(),
            names: OURS.to_vec(),
        }
    }

    fn finds(s: &Search, text: &[u8]) -> bool {
        s.in_bytes(&mut &*text).unwrap().0.is_some()
    }

    #[test]
    fn terms_are_found_across_lines_cases_and_pieces() {
        let s = search(&["the lock is taken twice"]);
        assert!(finds(&s, b"x The LOCK\n   is\ttaken twice."));
        assert!(!finds(&s, b"the lock is taken once"));
        let mut long = vec![b'x'; (256 << 10) - 10];
        long.extend_from_slice(b"the lock is\n\ntaken twice");
        assert!(finds(&s, &long));
        let told = s.in_bytes(&mut &long[..]).unwrap().0.unwrap();
        assert!(!told.contains("lock"), "{told}");
    }

    #[test]
    fn what_git_says_must_be_one_commit_and_nothing_else() {
        const GOOD: &str = "commits=1\nparents=0\nrefs=1\ntags=0\nremotes=0\nreflog=0\nstashes=0\nunreachable=0\nreachable=4\nobjects=4\nchanged=0\n";
        let problems = |text: &str| {
            let mut report = HygieneReport::default();
            told_by_git(text, &mut report);
            report.problems.len()
        };
        assert_eq!(problems(GOOD), 0);
        for (from, to) in [
            ("commits=1", "commits=2"),
            ("parents=0", "parents=1"),
            ("refs=1", "refs=2"),
            ("tags=0", "tags=1"),
            ("remotes=0", "remotes=1"),
            ("reflog=0", "reflog=3"),
            ("stashes=0", "stashes=1"),
            ("unreachable=0", "unreachable=1"),
            ("objects=4", "objects=5"),
            ("changed=0", "changed=1"),
            ("tags=0\n", ""),
        ] {
            assert_eq!(problems(&GOOD.replace(from, to)), 1, "{to}");
        }
    }

    #[test]
    fn files_names_and_objects_are_all_searched() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, bytes: &[u8]| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        put("tree/.git/config", b"[core]\n");
        put("tree/.git/refs/heads/main", b"abc\n");
        put("tree/src/a.py", b"innocent\n");
        let object = |text: &[u8]| {
            let mut e = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            io::Write::write_all(&mut e, text).unwrap();
            e.finish().unwrap()
        };
        let at = format!("tree/.git/objects/ab/{}", "c".repeat(38));
        put(&at, &object(b"blob 8\0innocent"));
        let mut s = search(&["owner/repo#12"]);
        let problems = |s: &Search| {
            let mut report = HygieneReport::default();
            report.counts.objects = 1;
            s.workspace(dir.path(), &mut report).unwrap();
            (report.problems, report.counts)
        };
        let (none, counts) = problems(&s);
        assert_eq!(none, [] as [String; 0]);
        assert_eq!((counts.files, counts.terms), (3, 1));
        put(&at, &object(b"commit 20\0see Owner/Repo#12"));
        assert_eq!(problems(&s).0.len(), 1, "in an object");
        put("deps/CHANGES", b"fixed Owner/Repo#12");
        assert_eq!(problems(&s).0.len(), 2, "in a file beside the tree");
        put("tree/owner/repo#12.py", b"");
        assert_eq!(problems(&s).0.len(), 3, "in a name");
        s.files.insert(Sha256::digest(b"innocent\n").into());
        assert_eq!(problems(&s).0.len(), 4, "a file of the oracle");
        put("deps/x/.git/HEAD", b"x");
        assert_eq!(problems(&s).0.len(), 5, "another repository");
        put("tree/reproduce.sh", b"x");
        assert_eq!(problems(&s).0.len(), 6, "the oracle by its name");
        put("tree/.git/objects/pack/x.pack", b"x");
        assert_eq!(problems(&s).0.len(), 7, "a pack");
    }
}
