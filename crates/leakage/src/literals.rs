//! Where the guards' literals occur in a text. Each form of a text has an automaton of
//! its own, and what a former reading of the same bytes showed is not looked for again.
//! It never judges an occurrence.

use std::collections::BTreeMap;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind, Span};

use crate::guard::{Form, Pattern};
use crate::normalise::Text;

/// The most words of a phrase that are looked for before the phrase itself is.
const ANCHORS: usize = 3;
/// The most bytes of a literal's beginning, and the most beginnings, that are looked for
/// many bytes at a time.
const BEGINNING: usize = 4;
const BEGINNINGS: usize = 64;

/// The terms of a case do not fit into an automaton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyTerms(String);

impl std::fmt::Display for TooManyTerms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the case's terms can't be searched for: {}", self.0)
    }
}

impl std::error::Error for TooManyTerms {}

/// One place where a pattern occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// Index of the pattern.
    pub pattern: usize,
    pub start: usize,
    pub end: usize,
}

/// What a text holds as it stands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Patterns, by the place where they end, longer ones first.
    pub found: Vec<Occurrence>,
    /// For each anchor whether it was there.
    anchors: Vec<bool>,
}

/// The literals of one form.
#[derive(Default)]
struct Finder {
    automaton: Option<AhoCorasick>,
    /// For each of the automaton's patterns its number among all.
    numbers: Vec<usize>,
    longest: usize,
    beginnings: Option<Beginnings>,
}

/// The first bytes of all literals, few and short enough to be looked for many bytes at
/// a time. Not on every processor, and not for every set of literals.
struct Beginnings {
    searcher: packed::Searcher,
    /// For each beginning the literals that begin so.
    literals: Vec<Vec<(usize, String)>>,
}

impl Beginnings {
    fn new(literals: &[(usize, &str)]) -> Option<Self> {
        let shortest = literals.iter().map(|(_, t)| t.len()).min()?;
        let length = shortest.min(BEGINNING);
        if length < 2 {
            return None;
        }
        let mut by_beginning: BTreeMap<&[u8], Vec<(usize, String)>> = BTreeMap::new();
        for (number, text) in literals {
            by_beginning
                .entry(&text.as_bytes()[..length])
                .or_default()
                .push((*number, (*text).to_owned()));
        }
        if by_beginning.len() > BEGINNINGS {
            return None;
        }
        let searcher = packed::Config::new()
            .match_kind(packed::MatchKind::LeftmostFirst)
            .builder()
            .extend(by_beginning.keys())
            .build()?;
        Some(Self {
            searcher,
            literals: by_beginning.into_values().collect(),
        })
    }

    fn find(&self, text: &str, see: &mut dyn FnMut(Occurrence)) {
        let bytes = text.as_bytes();
        let mut span = Span::from(0..bytes.len());
        while let Some(found) = self.searcher.find_in(bytes, span) {
            let start = found.start();
            for (pattern, literal) in &self.literals[found.pattern().as_usize()] {
                if bytes[start..].starts_with(literal.as_bytes()) {
                    see(Occurrence {
                        pattern: *pattern,
                        start,
                        end: start + literal.len(),
                    });
                }
            }
            // Occurrences may overlap.
            span.start = start + 1;
        }
    }
}

impl Finder {
    fn new(literals: &[(usize, &str)]) -> Result<Self, TooManyTerms> {
        // A few hundred terms make a small table; the fastest form of it pays.
        let small = literals.iter().map(|(_, t)| t.len()).sum::<usize>() < 32 * 1024;
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(small.then_some(AhoCorasickKind::DFA))
            .build(literals.iter().map(|(_, t)| *t))
            .map_err(|e| TooManyTerms(e.to_string()))?;
        Ok(Self {
            automaton: (!literals.is_empty()).then_some(automaton),
            numbers: literals.iter().map(|(n, _)| *n).collect(),
            longest: literals.iter().map(|(_, t)| t.len()).max().unwrap_or(0),
            beginnings: Beginnings::new(literals),
        })
    }

    /// Every occurrence in a long text, in no particular order.
    fn find_fast(&self, text: &str, see: &mut dyn FnMut(Occurrence)) {
        match &self.beginnings {
            Some(beginnings) => beginnings.find(text, see),
            None => self.find(text, 0, see),
        }
    }

    fn find(&self, text: &str, base: usize, see: &mut dyn FnMut(Occurrence)) {
        let Some(automaton) = &self.automaton else {
            return;
        };
        for found in automaton.find_overlapping_iter(text) {
            see(Occurrence {
                pattern: self.numbers[found.pattern().as_usize()],
                start: base + found.start(),
                end: base + found.end(),
            });
        }
    }
}

/// The literals of all guards for one case.
pub(crate) struct Literals {
    /// Patterns in a text as it stands, and anchors, numbered after all patterns.
    plain: Finder,
    shell: Finder,
    words: Finder,
    patterns: usize,
    anchors: usize,
    /// For each phrase its longest words: where one is missing, so is the phrase.
    phrases: Vec<Vec<usize>>,
}

impl Literals {
    /// # Errors
    /// When an automaton can't be built, which takes gigabytes of terms.
    pub(crate) fn new<'p>(
        patterns: impl Iterator<Item = &'p Pattern>,
    ) -> Result<Self, TooManyTerms> {
        let all: Vec<(usize, &Pattern)> = patterns.enumerate().collect();
        let of = |form: Form| -> Vec<(usize, &str)> {
            all.iter()
                .filter(|(_, p)| p.form == form)
                .map(|(n, p)| (*n, p.text.as_str()))
                .collect()
        };
        let mut anchors: BTreeMap<&str, usize> = BTreeMap::new();
        let mut phrases = Vec::new();
        for (_, phrase) in of(Form::Words) {
            let mut words: Vec<&str> = phrase.split_whitespace().collect();
            words.sort_by_key(|w| std::cmp::Reverse(w.len()));
            words.dedup();
            words.truncate(ANCHORS);
            let numbers = words.iter().map(|w| {
                let next = anchors.len();
                *anchors.entry(w).or_insert(next)
            });
            phrases.push(numbers.collect());
        }
        let mut plain = of(Form::Plain);
        plain.extend(anchors.iter().map(|(w, n)| (all.len() + n, *w)));
        Ok(Self {
            plain: Finder::new(&plain)?,
            shell: Finder::new(&of(Form::Shell))?,
            words: Finder::new(&of(Form::Words))?,
            patterns: all.len(),
            anchors: anchors.len(),
            phrases,
        })
    }

    /// What a text holds as it stands.
    pub(crate) fn in_plain(&self, text: &str) -> Seen {
        let mut seen = self.nothing();
        self.plain.find_fast(text, &mut |o| self.note(&mut seen, o));
        in_order(&mut seen.found);
        seen
    }

    fn nothing(&self) -> Seen {
        Seen {
            found: Vec::new(),
            anchors: vec![false; self.anchors],
        }
    }

    fn note(&self, seen: &mut Seen, o: Occurrence) {
        match o.pattern.checked_sub(self.patterns) {
            Some(anchor) => seen.anchors[anchor] = true,
            None => seen.found.push(o),
        }
    }

    /// The same for another reading of the bytes that `base` is the plain reading of:
    /// what lies within one piece of it lies in the plain one too, so only places where
    /// pieces meet are looked at anew. Anchors may be told that are no longer there.
    pub(crate) fn in_changed(&self, text: &Text, base: &Text, plain: &Seen) -> Seen {
        let mut seen = self.nothing();
        seen.anchors.clone_from(&plain.anchors);
        let all = text.as_str();
        let reach = self.plain.longest;
        let mut region = 0..0;
        let look = |seen: &mut Seen, region: &std::ops::Range<usize>| {
            let part = &all[region.clone()];
            self.plain
                .find(part, region.start, &mut |o| self.note(seen, o));
        };
        for seam in text.seams() {
            let from = crate::guard::floor(all, seam.start.saturating_sub(reach));
            let to = crate::guard::floor(all, seam.end.saturating_add(reach + 3));
            if from > region.end {
                look(&mut seen, &region);
                region.start = from;
            }
            region.end = to;
        }
        look(&mut seen, &region);
        for o in &plain.found {
            let (from, to) = base.origin(o.start..o.end);
            if let Some(place) = text.place_of(from..to) {
                seen.found.push(Occurrence {
                    pattern: o.pattern,
                    start: place.start,
                    end: place.end,
                });
            }
        }
        in_order(&mut seen.found);
        seen.found.dedup();
        seen
    }

    /// Whether some phrase may be among the words of a text.
    pub(crate) fn may_hold_phrase(&self, seen: &Seen) -> bool {
        self.phrases
            .iter()
            .any(|words| words.iter().all(|w| seen.anchors[*w]))
    }

    /// Phrases in the words of a text.
    pub(crate) fn in_words(&self, text: &str) -> Vec<Occurrence> {
        let mut found = Vec::new();
        self.words.find(text, 0, &mut |o| found.push(o));
        found
    }

    /// Commands in a text as a shell sees it.
    pub(crate) fn in_shell(&self, text: &str) -> Vec<Occurrence> {
        let mut found = Vec::new();
        self.shell.find(text, 0, &mut |o| found.push(o));
        found
    }
}

/// By the place where they end, longer ones first.
fn in_order(found: &mut [Occurrence]) {
    found.sort_unstable_by_key(|o| (o.end, o.start, o.pattern));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalise::{Reading, views};

    #[test]
    fn a_changed_reading_holds_what_a_whole_look_finds() {
        let patterns = ["ab", "b\nc", "#12", " 12", "a/b", "bb", "\u{e9}b", "ba"]
            .map(|t| Pattern::plain(t, 1, 0));
        let literals = Literals::new(patterns.iter()).unwrap();
        let parts = [
            "ab",
            "b",
            "\\n",
            "c",
            "\\u0023",
            "12",
            " ",
            "\\/",
            "%61",
            "a",
            "é",
            "\u{1b}[0m",
            "\\\\n",
            "&#35;",
            "\\xc3\\xa9",
            "\u{200b}",
            "É",
            "\\\\u0061",
            "%c3%a9%61%62%23%31%32%c3%a9",
        ];
        let mut state: u64 = 1;
        for _ in 0..3_000 {
            let mut text = String::new();
            for _ in 0..30 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(parts[usize::try_from(state >> 33).unwrap() % parts.len()]);
            }
            let views = views(text.as_bytes());
            let plain = views.iter().find(|v| v.reading == Reading::Plain).unwrap();
            let seen = literals.in_plain(plain.text.as_str());
            for view in views.iter().filter(|v| v.reading == Reading::Escapes) {
                let mut whole = Vec::new();
                let text = view.text.as_str();
                literals.plain.find(text, 0, &mut |o| whole.push(o));
                in_order(&mut whole);
                assert_eq!(literals.in_plain(text).found, whole);
                let changed = literals.in_changed(&view.text, &plain.text, &seen).found;
                assert_eq!(changed, whole, "{text:?}");
            }
        }
    }
}
