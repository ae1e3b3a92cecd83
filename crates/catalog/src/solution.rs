//! The solution folder of a case: fix and diagnosis (`solution.md`), labels
//! (`blocks.json`), where the bug is known upstream (`upstream.yaml`), and other
//! fixes, right and wrong (`variants/`). What is read here never goes to an agent
//! or to a public page.

use faultboard_domain::{Block, Digest, Problem};
use serde::{Deserialize, Serialize};

use crate::case_file::typed;
use crate::folder::Folder;
use crate::form::{Field, Kind, may, must};
use crate::variants::{self, Variant};
use crate::{digest, markdown};

/// Where the bug and its fix are known, and what must never leak.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Addresses of the original reports.
    pub issues: Vec<String>,
    /// Addresses of the fixing pull requests or changes.
    pub fixes: Vec<String>,
    /// Full ids of the fixing commits, where they are known.
    pub fix_commits: Vec<String>,
    /// The first version that holds the fix.
    #[serde(default)]
    pub fixed_version: Option<String>,
    /// What points at the report or its fix: references, titles, entries of the change log.
    pub identifiers: Vec<String>,
    /// Texts that no reader and no agent may ever see: references, and sentences of the solution.
    pub terms: Vec<String>,
}

/// What the solution folder holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// `solution.md`.
    pub text: String,
    /// The one fenced diff in it, ending in a newline.
    pub diff: String,
    /// The labelled root-cause blocks, in the faulty tree's coordinates.
    pub blocks: Vec<Block>,
    /// `upstream.yaml`.
    pub upstream: Upstream,
    /// Other fixes, those that must pass first.
    pub variants: Vec<Variant>,
    /// Digest of the whole folder: a proof is for this solution alone.
    pub digest: Digest,
}

impl Solution {
    /// Everything that neither a reader nor an agent may see.
    pub fn hidden(&self) -> impl Iterator<Item = &str> {
        let up = &self.upstream;
        [
            &up.terms,
            &up.identifiers,
            &up.issues,
            &up.fixes,
            &up.fix_commits,
        ]
        .into_iter()
        .flatten()
        .map(String::as_str)
    }
}

const URL: Kind = Kind::Checked(|t| {
    if (t.starts_with("https://") || t.starts_with("http://"))
        && t.len() <= 500
        && !t.contains(char::is_whitespace)
    {
        Ok(())
    } else {
        Err("an http or https address without spaces".to_owned())
    }
});
const COMMIT: Kind = Kind::Checked(|t| {
    if t.len() == 40
        && t.bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    {
        Ok(())
    } else {
        Err("a full commit id: 40 lower-case hexadecimal digits".to_owned())
    }
});
/// A term shorter than this would be found in innocent text.
const TERM: Kind = Kind::Checked(|t| {
    if (8..=300).contains(&t.chars().count()) && !t.contains('\n') {
        Ok(())
    } else {
        Err("one line of 8 to 300 characters".to_owned())
    }
});

const FORM: &[Field] = &[
    must("issues", Kind::List(0, &URL)),
    must("fixes", Kind::List(0, &URL)),
    must("fix_commits", Kind::List(0, &COMMIT)),
    may("fixed_version", Kind::Line(60)),
    must("identifiers", Kind::List(0, &TERM)),
    must("terms", Kind::List(1, &TERM)),
];

/// Reads a solution folder; the solution is there only when nothing is wrong.
pub fn read(folder: &Folder) -> (Option<Solution>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut bytes = |name: &str| {
        let found = folder.bytes(name);
        if found.is_none() {
            problems.push(Problem::error(
                folder.at(name),
                "required-file",
                "the file is missing",
                "a solution is solution.md, blocks.json and upstream.yaml",
            ));
        }
        found
    };
    let (md, json, yaml) = (
        bytes("solution.md"),
        bytes("blocks.json"),
        bytes("upstream.yaml"),
    );
    let text = md.and_then(|b| text(folder, b, &mut problems));
    let diff = text.as_deref().and_then(|t| diff(folder, t, &mut problems));
    let blocks = json.and_then(|b| blocks(folder, b, &mut problems));
    let upstream = yaml.and_then(|b| {
        let (upstream, found) = typed::<Upstream>(&folder.at("upstream.yaml"), b, FORM);
        problems.extend(found);
        upstream
    });
    let variants = variants::read(folder, &mut problems);
    match (text, diff, blocks, upstream) {
        (Some(text), Some(diff), Some(blocks), Some(upstream)) => (
            Some(Solution {
                text,
                diff,
                blocks,
                upstream,
                variants,
                digest: digest::folder(folder),
            }),
            problems,
        ),
        _ => (None, problems),
    }
}

fn text(folder: &Folder, bytes: &[u8], out: &mut Vec<Problem>) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
    if text.is_none() {
        out.push(Problem::error(
            folder.at("solution.md"),
            "utf-8",
            "the file is not UTF-8",
            "save it as UTF-8",
        ));
    }
    text
}

fn diff(folder: &Folder, text: &str, out: &mut Vec<Problem>) -> Option<String> {
    let mut diffs = markdown::fences(text);
    diffs.retain(|f| f.info == "diff");
    let at = |line: u64| format!("{}:{line}", folder.at("solution.md"));
    let fix = "put the whole fix into one block between ```diff and ```";
    match diffs.as_slice() {
        [one] if one.closed && !one.body.trim().is_empty() => Some(one.body.clone()),
        [one] => {
            out.push(Problem::error(
                at(one.line),
                "solution-diff",
                "the fenced diff is empty or never ends",
                fix,
            ));
            None
        }
        [] => {
            out.push(Problem::error(
                at(1),
                "solution-diff",
                "there is no fenced diff",
                fix,
            ));
            None
        }
        [_, second, ..] => {
            out.push(Problem::error(
                at(second.line),
                "solution-diff",
                format!("there are {} fenced diffs", diffs.len()),
                fix,
            ));
            None
        }
    }
}

fn blocks(folder: &Folder, bytes: &[u8], out: &mut Vec<Problem>) -> Option<Vec<Block>> {
    let path = folder.at("blocks.json");
    match serde_json::from_slice::<Vec<Block>>(bytes) {
        Ok(blocks) => Some(blocks),
        Err(e) => {
            let message = e
                .to_string()
                .split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned();
            let fix = "a list of {file, function, start_line, end_line}, half-open, 1-based";
            out.push(Problem::error(
                format!("{path}:{}", e.line()),
                "blocks",
                message,
                fix,
            ));
            None
        }
    }
}
