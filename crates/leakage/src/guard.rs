//! What a guard is: patterns that one automaton looks for, and a closer look at
//! each place where one occurs. A guard is a pure function of text; it keeps no
//! state, and knows neither the trace's format nor what becomes of a finding.

use std::ops::Range;

use faultboard_domain::finding::GuardSeverity;

use crate::normalise::{fold, fold_words};
use crate::segment::{Source, Sources};
use crate::terms::{CaseTerms, SiteTerms};

/// How far a guard looks to either side of a pattern, in bytes. Every look is
/// bounded, or a text of nothing but patterns would take forever.
pub(crate) const NEAR: usize = 2_000;

/// One leakage guard.
pub trait Guard: Send + Sync {
    /// Its stable name, such as `issue-identifier`.
    fn id(&self) -> &'static str;
    /// Raised whenever it may find something else in the same text.
    fn version(&self) -> u32;
    /// What a hit does.
    fn severity(&self) -> GuardSeverity;
    /// What it finds, in one sentence.
    fn describe(&self) -> &'static str;
    /// The literal texts by which it is called to look, for one case.
    fn patterns(&self, terms: &Terms<'_>) -> Vec<Pattern>;
    /// Looks at one place where a pattern occurs: is it a hit, how far does it
    /// reach, and why does it count?
    fn confirm(&self, hit: &Hit<'_>) -> Option<Confirmed>;
    /// Looks at a whole answer. Ranges are of its bytes.
    fn answer(&self, _answer: &Answer<'_>) -> Vec<Confirmed> {
        Vec::new()
    }
}

/// A patch or a diagnosis as it was handed in.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Which of the two.
    pub source: Source,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// What is looked for.
    pub terms: Terms<'a>,
}

/// Everything that guards may look for.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// The case's.
    pub case: &'a CaseTerms,
    /// The site's.
    pub site: &'a SiteTerms,
    /// The names of the case's project, folded.
    pub names: &'a [String],
}

/// Which form of a text a pattern is looked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In lower case, as it stands.
    Plain,
    /// Its words alone, each between blanks.
    Words,
    /// As a shell sees it, without quotes.
    Shell,
}

/// One literal that calls a guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The literal, folded as its form wants it. Never empty.
    pub text: String,
    /// Where it is looked for.
    pub form: Form,
    /// In which sources.
    pub sources: Sources,
    /// Whether it may be split over two steps of one source.
    pub joins: bool,
    /// Whether it counts only as long as no prompt and no output has shown it.
    pub unless_read: bool,
    /// What the guard knows it by.
    pub tag: u16,
    /// Index among the guard's terms.
    pub index: usize,
}

impl Pattern {
    /// A literal in any source, possibly split over steps.
    pub fn plain(text: &str, tag: u16, index: usize) -> Self {
        Self {
            text: fold(text),
            form: Form::Plain,
            sources: Sources::ALL,
            joins: true,
            unless_read: false,
            tag,
            index,
        }
    }

    /// A phrase, whatever its punctuation and line breaks.
    pub fn words(text: &str, tag: u16, index: usize) -> Self {
        Self {
            text: fold_words(text),
            form: Form::Words,
            ..Self::plain("", tag, index)
        }
    }

    /// A word of a command in tool input.
    pub fn shell(text: &str, tag: u16) -> Self {
        Self {
            text: fold(text),
            form: Form::Shell,
            sources: Sources::INPUT,
            joins: false,
            unless_read: false,
            tag,
            index: 0,
        }
    }

    /// The same pattern, which counts only as long as nothing that the agent
    /// was shown holds it.
    #[must_use]
    pub fn unless_read(mut self) -> Self {
        self.unless_read = true;
        self
    }

    /// The same pattern in other sources.
    #[must_use]
    pub fn only_in(mut self, sources: Sources) -> Self {
        self.sources = sources;
        self
    }
}

/// What a scan knows of an attempt beside its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attempt {
    /// The attempt's own run number: its own files are no secret to it.
    pub run: Option<u32>,
    /// When it began, in seconds since 1970.
    pub started: Option<i64>,
}

/// One place where a pattern occurs.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The folded text around it, in the pattern's form; some thousand bytes at least.
    pub text: &'a str,
    /// Where the pattern begins in it.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Where the text stands in the attempt.
    pub source: Source,
    /// The tool, folded, if known.
    pub tool: Option<&'a str>,
    /// What is looked for.
    pub terms: Terms<'a>,
    /// The attempt.
    pub attempt: Attempt,
}

/// A hit that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmed {
    /// Where it begins and ends in the hit's text.
    pub range: Range<usize>,
    /// Why it counts, in one sentence.
    pub why: String,
}

impl<'a> Hit<'a> {
    /// The character before the pattern.
    pub fn before(&self) -> Option<char> {
        self.text[..self.start].chars().next_back()
    }

    /// The character after it.
    pub fn after(&self) -> Option<char> {
        self.text[self.end..].chars().next()
    }

    /// At most so many bytes before and after the pattern, and where the
    /// pattern begins in that part.
    pub fn around(&self, before: usize, after: usize) -> (&'a str, usize) {
        let from = floor(self.text, self.start.saturating_sub(before));
        let to = floor(self.text, self.end.saturating_add(after));
        (&self.text[from..to], self.start - from)
    }

    /// The line that the pattern begins on, as far as [`NEAR`] reaches, and
    /// where the pattern begins in it.
    pub fn line(&self) -> (&'a str, usize) {
        self.until(|c| c == '\n')
    }

    /// The text around the pattern up to characters that end it on either
    /// side, as far as [`NEAR`] reaches, and where the pattern begins in it.
    pub fn until(&self, ends: impl Fn(char) -> bool) -> (&'a str, usize) {
        let (near, at) = self.around(NEAR, NEAR);
        let before = &near[..at];
        let from = before.rfind(&ends).map_or(0, |i| {
            i + before[i..].chars().next().map_or(1, char::len_utf8)
        });
        let to = near[at..].find(&ends).map_or(near.len(), |i| at + i);
        (&near[from..to], at - from)
    }

    /// Whether the pattern stands as a word of its own.
    pub fn is_word(&self) -> bool {
        let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        !self.before().is_some_and(part) && !self.after().is_some_and(part)
    }

    /// The pattern alone counts.
    pub fn itself(&self, why: impl Into<String>) -> Option<Confirmed> {
        Some(Confirmed {
            range: self.start..self.end,
            why: why.into(),
        })
    }

    /// The words of a phrase count, without the blanks around them.
    pub fn phrase(&self, why: impl Into<String>) -> Option<Confirmed> {
        let text = &self.text[self.start..self.end];
        let start = self.start + text.len() - text.trim_start().len();
        let end = self.start + text.trim_end().len();
        Some(Confirmed {
            range: start..end.max(start),
            why: why.into(),
        })
    }

    /// Whether one of the project's names stands as a word of its own in the text.
    pub fn names_project(&self, text: &str) -> bool {
        self.terms.names.iter().any(|n| has_word(text, n))
    }
}

/// Whether the word stands in the text, not as a part of a longer word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(i, _)| {
        !text[..i].chars().next_back().is_some_and(part)
            && !text[i + word.len()..].chars().next().is_some_and(part)
    })
}

/// The last character boundary at or before the index.
pub(crate) fn floor(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}
