//! The fix: its commit (full or abbreviated to seven digits or more), its pull
//! request, its words in the change log, the heading of the fixed version there.

use std::sync::LazyLock;

use faultboard_domain::finding::GuardSeverity;
use regex::Regex;

use crate::guard::{Confirmed, Guard, Hit, Pattern, Terms};
use crate::reference::{self, is_telling};
use crate::segment::{Source, Sources};

pub(crate) struct FixIdentifier;

const COMMIT: u16 = 20;
const PHRASE: u16 = 21;
const VERSION: u16 = 22;
/// Digits of the shortest abbreviation that counts.
const ABBREVIATED: usize = 7;

/// A date on a heading's line.
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u:\b)(?:19|20)\d\d[-/.]\d\d?[-/.]\d\d?(?-u:\b)|(?-u:\b)\d\d?\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|(?-u:\b)(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d",
    )
    .ok()
});

/// What may stand before a version in a heading.
static HEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:[#=*+-]+\s*)?(?:version|release|changes in|new in|what's new in)?\s*[\[(]?(?:[a-z][\w.-]{0,40}\s+)?v?$").ok()
});

impl Guard for FixIdentifier {
    fn id(&self) -> &'static str {
        "fix-identifier"
    }

    fn version(&self) -> u32 {
        1
    }

    fn severity(&self) -> GuardSeverity {
        GuardSeverity::Quarantine
    }

    fn describe(&self) -> &'static str {
        "The fixing commit, its pull request, or the fixed version's entry in the change log."
    }

    fn patterns(&self, terms: &Terms<'_>) -> Vec<Pattern> {
        let case = terms.case;
        let mut all: Vec<Pattern> = case
            .fixes
            .iter()
            .enumerate()
            .flat_map(|(i, fix)| reference::patterns(fix, i))
            .collect();
        for (i, commit) in case.commits.iter().enumerate() {
            if let Some(start) = commit.get(..ABBREVIATED) {
                all.push(Pattern::plain(start, COMMIT, i));
            }
        }
        for (i, phrase) in case.phrases.iter().enumerate() {
            if is_telling(phrase) {
                all.push(Pattern::words(phrase, PHRASE, i));
            }
        }
        let read = Sources::of(&[Source::Prompt, Source::Output]);
        for (i, version) in case.fixed_versions.iter().enumerate() {
            if version.len() >= 3 {
                all.push(Pattern::plain(version, VERSION, i).only_in(read));
            }
        }
        all
    }

    fn confirm(&self, hit: &Hit<'_>) -> Option<Confirmed> {
        let case = hit.terms.case;
        match hit.pattern.tag {
            COMMIT => commit(hit, case.commits.get(hit.pattern.index)?),
            PHRASE => hit.phrase("holds a sentence from the record of the fix"),
            VERSION => version(hit),
            _ => {
                let fix = case.fixes.get(hit.pattern.index)?;
                reference::confirm(hit, fix, "the fixing change")
            }
        }
    }
}

/// The whole word must be a beginning of the commit's id.
fn commit(hit: &Hit<'_>, full: &str) -> Option<Confirmed> {
    let part = |c: char| c.is_ascii_alphanumeric();
    if hit.before().is_some_and(|c| part(c) || c == '_') {
        return None;
    }
    // One more than a whole id: a longer word is none.
    let word = hit.text[hit.start..].chars().take(41);
    let length = word.take_while(|c| part(*c)).count();
    let word = &hit.text[hit.start..hit.start + length];
    if !full.to_ascii_lowercase().starts_with(word) {
        return None;
    }
    // Digits alone may be any number: then git must be what is spoken of.
    if word.bytes().all(|b| b.is_ascii_digit()) && word.len() < 12 {
        let (near, _) = hit.around(60, 20);
        if !["commit", "git ", "sha", "rev"]
            .iter()
            .any(|w| near.contains(w))
        {
            return None;
        }
    }
    Some(Confirmed {
        range: hit.start..hit.start + length,
        why: "names the commit that fixed the bug".to_owned(),
    })
}

/// The heading of the fixed version in a change log of the project.
fn version(hit: &Hit<'_>) -> Option<Confirmed> {
    let more = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    let goes_on = hit.after().is_some_and(|c| {
        more(c) && !(c == '.' && hit.text[hit.end + 1..].starts_with(['\n', ' ']))
    });
    if goes_on || hit.before().is_some_and(|c| more(c) && c != 'v') {
        return None;
    }
    let (line, at) = hit.line();
    HEADING.as_ref()?.find(&line[..at])?;
    let (near, _) = hit.around(400, 400);
    let spoken_of = [
        "changelog",
        "change log",
        "release notes",
        "what's new",
        "history.",
        "changes.",
    ]
    .iter()
    .any(|w| near.contains(w));
    let dated = DATE.as_ref()?.is_match(line);
    if !(hit.names_project(near) && (dated || spoken_of)) {
        return None;
    }
    let start = hit.start - at;
    Some(Confirmed {
        range: start..start + line.len(),
        why: "shows the change log's entry for the version that holds the fix".to_owned(),
    })
}
