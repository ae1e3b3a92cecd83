//! A patch that is nearly the known fix, comments and all. Two people who mend
//! the same line write the same line, so short fixes alone say nothing: there must
//! be enough text in common that had to be chosen.

use std::collections::BTreeSet;

use faultboard_domain::finding::GuardSeverity;
use faultboard_domain::patch::{HunkLine, Patch};

use crate::guard::{Answer, Confirmed, Guard, Hit, Pattern, Terms};
use crate::normalise::fold;
use crate::segment::Source;

pub(crate) struct PatchIdentity;

/// Tokens in a row that are compared.
const SHINGLE: usize = 4;
/// Shingles that a fix must add before likeness can mean anything: about
/// five lines of code.
const LEAST: usize = 40;
/// Share of all shingles of both patches that both hold.
const LIKE: f64 = 0.8;
/// Words of a comment that nobody writes twice by chance.
const COMMENT: usize = 5;

impl Guard for PatchIdentity {
    fn id(&self) -> &'static str {
        "patch-identity"
    }

    fn version(&self) -> u32 {
        1
    }

    fn severity(&self) -> GuardSeverity {
        GuardSeverity::Flag
    }

    fn describe(&self) -> &'static str {
        "A patch whose text, comments included, is nearly that of a known fix."
    }

    fn patterns(&self, _: &Terms<'_>) -> Vec<Pattern> {
        Vec::new()
    }

    fn confirm(&self, _: &Hit<'_>) -> Option<Confirmed> {
        None
    }

    fn answer(&self, answer: &Answer<'_>) -> Vec<Confirmed> {
        if answer.source != Source::Patch {
            return Vec::new();
        }
        let Some(handed) = Added::of(answer.bytes) else {
            return Vec::new();
        };
        let known = answer.terms.case.diffs.iter();
        let why = known
            .filter_map(|diff| Added::of(diff.as_bytes()))
            .find_map(|fix| handed.likeness(&fix));
        let whole = 0..answer.bytes.len();
        why.map(|why| Confirmed { range: whole, why })
            .into_iter()
            .collect()
    }
}

/// What a patch adds, made comparable.
struct Added {
    /// Of everything else.
    shingles: BTreeSet<Vec<String>>,
    /// Words of the comments that are long enough to tell.
    comments: BTreeSet<String>,
}

impl Added {
    /// None for what is no patch.
    fn of(bytes: &[u8]) -> Option<Self> {
        let patch = Patch::parse(bytes).ok()?;
        let mut tokens = Vec::new();
        let mut comments = BTreeSet::new();
        let hunks = patch.files.iter().flat_map(|f| &f.hunks);
        let mut old = BTreeSet::new();
        for line in hunks.flat_map(|h| &h.lines) {
            match line {
                HunkLine::Add(text) => {
                    let text = fold(&String::from_utf8_lossy(text));
                    match comment(&text) {
                        Some(words) => drop(comments.insert(words)),
                        None => split(&text, &mut tokens),
                    }
                }
                HunkLine::Context(text) | HunkLine::Remove(text) => {
                    old.extend(comment(&fold(&String::from_utf8_lossy(text))));
                }
            }
        }
        // A comment that was only moved is the tree's own.
        comments.retain(|c| !old.contains(c));
        let shingles = tokens.windows(SHINGLE).map(<[String]>::to_vec).collect();
        Some(Self { shingles, comments })
    }

    /// Why the two are the same text, if they are.
    fn likeness(&self, fix: &Self) -> Option<String> {
        let shared = self.comments.intersection(&fix.comments).next();
        if shared.is_some() {
            return Some("holds a comment of a known fix word for word".to_owned());
        }
        if fix.shingles.len() < LEAST {
            return None;
        }
        let both = self.shingles.intersection(&fix.shingles).count();
        let all = self.shingles.len() + fix.shingles.len() - both;
        #[expect(clippy::cast_precision_loss, reason = "numbers of tokens of a patch")]
        let like = both as f64 / all.max(1) as f64;
        (like >= LIKE).then(|| {
            format!(
                "what it adds is to {:.0} % the text of a known fix",
                like * 100.0
            )
        })
    }
}

/// The words of a line that is a comment, if they are many.
fn comment(line: &str) -> Option<String> {
    let line = line.trim();
    let marks = ["///", "//!", "//", "/*", "*", "#", "--", "%", ";;"];
    let text = marks.iter().find_map(|m| line.strip_prefix(m))?;
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    (words.len() >= COMMENT).then(|| words.join(" "))
}

/// Words and single marks of a line.
fn split(line: &str, into: &mut Vec<String>) {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut word = String::new();
    for c in line.chars() {
        if part(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            into.push(std::mem::take(&mut word));
        }
        if !c.is_whitespace() {
            into.push(c.to_string());
        }
    }
    if !word.is_empty() {
        into.push(word);
    }
}
