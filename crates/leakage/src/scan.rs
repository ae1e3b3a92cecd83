//! Scans an attempt's texts: one automaton looks for every guard's patterns, in
//! every reading of the text, window by window, so that a trace of any length
//! takes bounded memory. Guards then look closer; what counts becomes a finding
//! with its place in the original bytes.

use std::collections::BTreeMap;

use faultboard_domain::Finding;

use crate::guard::{Answer, Attempt, Confirmed, Form, Hit, Pattern, Terms, floor};
use crate::guards::GUARDS;
use crate::literals::{Literals, Occurrence, TooManyTerms};
use crate::normalise::{Reading, Text, fold, fold_words, shell, views, words};
use crate::segment::{Segment, Source};
use crate::terms::{CaseTerms, SiteTerms};

/// Bytes of a text that are looked at together.
const WINDOW: usize = 256 * 1024;
/// Bytes that a guard can count on seeing on either side of a pattern.
const MARGIN: usize = 4 * 1024;
/// Bytes of a source's earlier texts that are kept for terms split over steps.
const TAIL: usize = 512;
/// The most findings of one guard in one attempt that are listed.
const MOST: usize = 200;
/// The most bytes of an excerpt.
const EXCERPT: usize = 400;

/// The scanner of one case; made once, used for any number of attempts.
pub struct Scanner {
    case: CaseTerms,
    site: SiteTerms,
    names: Vec<String>,
    /// Each as it looks as it stands, and among words.
    allowed: Vec<(String, String)>,
    literals: Literals,
    /// Every pattern with its guard's index.
    patterns: Vec<(usize, Pattern)>,
}

impl Scanner {
    /// Gathers the patterns of every guard for the case.
    ///
    /// # Errors
    /// When the automaton can't be built, which takes gigabytes of terms.
    pub fn new(case: CaseTerms, site: SiteTerms) -> Result<Self, TooManyTerms> {
        let names = case.project_names();
        let terms = Terms {
            case: &case,
            site: &site,
            names: &names,
        };
        let mut patterns = Vec::new();
        for (i, guard) in GUARDS.iter().enumerate() {
            let found = guard.patterns(&terms);
            patterns.extend(
                found
                    .into_iter()
                    .filter(|p| !p.text.is_empty())
                    .map(|p| (i, p)),
            );
        }
        let literals = Literals::new(patterns.iter().map(|(_, p)| p))?;
        let allowed = case
            .allowed
            .iter()
            .map(|a| (fold(a), fold_words(a)))
            .collect();
        Ok(Self {
            names,
            allowed,
            literals,
            patterns,
            case,
            site,
        })
    }

    /// Every literal that calls a guard, as it looks in a folded text; some turn
    /// up more than once. As secret as the case's solution.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|(_, p)| p.text.as_str())
    }

    /// Begins the scan of one attempt.
    pub fn scan(&self, attempt: Attempt) -> Scan<'_> {
        Scan {
            scanner: self,
            attempt,
            tails: BTreeMap::new(),
            read: vec![false; self.patterns.len()],
            found: Scanned::default(),
            per_guard: vec![0; GUARDS.len()],
        }
    }
}

/// What a scan found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The findings, in the order of the texts.
    pub findings: Vec<Finding>,
    /// Places that were not looked at any more because their guard had found
    /// as much as is listed.
    pub left_out: u64,
}

/// The scan of one attempt. Hand in its texts in the order of the attempt.
pub struct Scan<'s> {
    scanner: &'s Scanner,
    attempt: Attempt,
    /// The end of what each source held so far.
    tails: BTreeMap<Source, Vec<u8>>,
    /// For each pattern that counts only while unread: whether it was shown.
    read: Vec<bool>,
    found: Scanned,
    per_guard: Vec<usize>,
}

/// What of a text a look takes in, and which matches it may report.
struct Look<'a> {
    segment: &'a Segment<'a>,
    /// The bytes to look at.
    bytes: &'a [u8],
    /// Where they begin in the segment; negative where a tail was put before.
    base: i64,
    /// Matches that begin in this part of the bytes are reported.
    from: usize,
    to: usize,
    /// Whether only matches across this place in the bytes are reported.
    seam: Option<usize>,
}

/// What was found in the text that is being looked at.
struct Told {
    guard: usize,
    from: i64,
    to: i64,
    /// Index among the findings.
    finding: usize,
}

impl Scan<'_> {
    /// Looks at the next text.
    pub fn push(&mut self, segment: &Segment<'_>) {
        let tool = segment.tool.map(fold);
        let mut told: Vec<Told> = Vec::new();
        self.seam(segment, tool.as_deref(), &mut told);
        let bytes = segment.bytes;
        let step = WINDOW - 2 * MARGIN;
        let mut at = 0;
        loop {
            let start = boundary(bytes, at);
            let end = boundary(bytes, at.saturating_add(WINDOW));
            let last = end >= bytes.len();
            let look = Look {
                segment,
                bytes: &bytes[start..end],
                base: i64::try_from(start).unwrap_or(i64::MAX),
                from: if at == 0 { 0 } else { at + MARGIN - start },
                to: if last {
                    usize::MAX
                } else {
                    at + step + MARGIN - start
                },
                seam: None,
            };
            self.look(&look, tool.as_deref(), &mut told);
            if last {
                break;
            }
            at += step;
        }
        if matches!(segment.source, Source::Patch | Source::Diagnosis) {
            self.answer(segment, &mut told);
        }
        let tail = self.tails.entry(segment.source).or_default();
        tail.extend_from_slice(&bytes[boundary(bytes, bytes.len().saturating_sub(TAIL))..]);
        let cut = boundary(tail, tail.len().saturating_sub(TAIL));
        tail.drain(..cut);
    }

    /// The findings.
    pub fn finish(self) -> Scanned {
        self.found
    }

    /// Lets every guard look at an answer as a whole.
    fn answer(&mut self, segment: &Segment<'_>, told: &mut Vec<Told>) {
        let answer = Answer {
            source: segment.source,
            bytes: segment.bytes,
            terms: self.scanner.terms(),
        };
        let look = Look {
            segment,
            bytes: segment.bytes,
            base: 0,
            from: 0,
            to: usize::MAX,
            seam: None,
        };
        for (i, guard) in GUARDS.iter().enumerate() {
            for Confirmed { range, why } in guard.answer(&answer) {
                if self.per_guard[i] >= MOST {
                    self.found.left_out += 1;
                    continue;
                }
                self.report(&look, i, (range.start, range.end), why, told);
            }
        }
    }

    /// Looks for terms that begin in the source's earlier texts and end in this one.
    fn seam(&mut self, segment: &Segment<'_>, tool: Option<&str>, told: &mut Vec<Told>) {
        let Some(tail) = self.tails.get(&segment.source).filter(|t| !t.is_empty()) else {
            return;
        };
        let mut joined = tail.clone();
        let seam = joined.len();
        let head = boundary(segment.bytes, segment.bytes.len().min(TAIL));
        joined.extend_from_slice(&segment.bytes[..head]);
        let look = Look {
            segment,
            bytes: &joined,
            base: -i64::try_from(seam).unwrap_or(0),
            from: 0,
            to: usize::MAX,
            seam: Some(seam),
        };
        self.look(&look, tool, told);
    }

    /// Looks at some bytes in all their readings and forms.
    fn look(&mut self, look: &Look<'_>, tool: Option<&str>, told: &mut Vec<Told>) {
        let scanner = self.scanner;
        // What the text holds as it stands: most of it stands in the other readings too.
        let mut plain = None;
        for view in views(look.bytes) {
            let (text, reading) = (&view.text, view.reading);
            let seen = match &plain {
                Some((base, seen)) if reading == Reading::Escapes => {
                    scanner.literals.in_changed(text, base, seen)
                }
                _ => scanner.literals.in_plain(text.as_str()),
            };
            self.form(look, reading, Form::Plain, text, &seen.found, tool, told);
            if look.segment.source == Source::Input && look.seam.is_none() {
                let text = shell(text);
                let found = scanner.literals.in_shell(text.as_str());
                self.form(look, reading, Form::Shell, &text, &found, tool, told);
            }
            if scanner.literals.may_hold_phrase(&seen) {
                let text = words(text);
                let found = scanner.literals.in_words(text.as_str());
                self.form(look, reading, Form::Words, &text, &found, tool, told);
            }
            if reading == Reading::Plain {
                plain = Some((view.text, seen));
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one place calls it")]
    fn form(
        &mut self,
        look: &Look<'_>,
        reading: Reading,
        form: Form,
        text: &Text,
        found: &[Occurrence],
        tool: Option<&str>,
        told: &mut Vec<Told>,
    ) {
        let scanner = self.scanner;
        let source = look.segment.source;
        for found in found {
            let number = found.pattern;
            let Some((guard, pattern)) = scanner.patterns.get(number) else {
                continue;
            };
            if pattern.unless_read {
                if matches!(source, Source::Prompt | Source::Output) {
                    self.read[number] = true;
                }
                if self.read[number] {
                    continue;
                }
            }
            if !pattern.sources.has(source) || (look.seam.is_some() && !pattern.joins) {
                continue;
            }
            let (start, _) = text.origin(found.start..found.end);
            if start < look.from || start >= look.to {
                continue;
            }
            if self.per_guard[*guard] >= MOST {
                self.found.left_out += 1;
                continue;
            }
            let hit = Hit {
                text: text.as_str(),
                start: found.start,
                end: found.end,
                pattern,
                source,
                tool,
                terms: scanner.terms(),
                attempt: self.attempt,
            };
            let Some(confirmed) = GUARDS[*guard].confirm(&hit) else {
                continue;
            };
            let (start, end) = text.origin(confirmed.range.clone());
            if look.seam.is_some_and(|s| start >= s || end <= s)
                || scanner.is_allowed(form, text.as_str(), &confirmed.range)
            {
                continue;
            }
            let mut why = confirmed.why;
            if reading != Reading::Plain {
                let seen = &text.as_str()[confirmed.range];
                let seen = seen[..floor(seen, 120)].replace('\n', " ");
                let how = match reading {
                    Reading::Base64 => "in base64",
                    _ => "in escapes",
                };
                why.push_str(&format!(" ({how}, read as `{seen}`)"));
            }
            self.report(look, *guard, (start, end), why, told);
        }
    }

    fn report(
        &mut self,
        look: &Look<'_>,
        guard: usize,
        (start, end): (usize, usize),
        mut why: String,
        told: &mut Vec<Told>,
    ) {
        let place = |at: usize| {
            look.base
                .saturating_add(i64::try_from(at).unwrap_or(i64::MAX))
        };
        let (from, to) = (place(start), place(end));
        if look.seam.is_some() {
            why.push_str(", split over two steps");
        }
        let rule = GUARDS[guard];
        let finding = Finding {
            guard: rule.id().to_owned(),
            guard_version: rule.version(),
            severity: rule.severity(),
            step: look.segment.step,
            source: look.segment.source.as_str().to_owned(),
            start: u64::try_from(from).unwrap_or(0),
            end: u64::try_from(to).unwrap_or(0),
            excerpt: excerpt(look.bytes, start, end),
            why,
        };
        let before = told
            .iter_mut()
            .find(|t| t.guard == guard && from < t.to && t.from < to);
        match before {
            // Another reading of the same place: the one that sees more of it is kept.
            Some(t) if from <= t.from && t.to <= to && (to - from) > (t.to - t.from) => {
                (t.from, t.to) = (from, to);
                self.found.findings[t.finding] = finding;
            }
            Some(_) => {}
            None => {
                told.push(Told {
                    guard,
                    from,
                    to,
                    finding: self.found.findings.len(),
                });
                self.per_guard[guard] += 1;
                self.found.findings.push(finding);
            }
        }
    }
}

impl Scanner {
    fn terms(&self) -> Terms<'_> {
        Terms {
            case: &self.case,
            site: &self.site,
            names: &self.names,
        }
    }

    /// Whether the range lies within an identifier that the task gave.
    fn is_allowed(&self, form: Form, text: &str, range: &std::ops::Range<usize>) -> bool {
        self.allowed.iter().any(|(plain, words)| {
            let allowed = if form == Form::Words { words } else { plain };
            let from = floor(text, range.start.saturating_sub(allowed.len()));
            let to = floor(text, range.end.saturating_add(allowed.len()));
            !allowed.trim().is_empty()
                && text[from..to]
                    .match_indices(allowed.as_str())
                    .any(|(i, _)| from + i <= range.start && range.end <= from + i + allowed.len())
        })
    }
}

/// The place at or before the index where a character may begin.
fn boundary(bytes: &[u8], index: usize) -> usize {
    let mut index = index.min(bytes.len());
    for _ in 0..3 {
        match bytes.get(index) {
            Some(b) if b & 0xc0 == 0x80 && index > 0 => index -= 1,
            _ => break,
        }
    }
    index
}

/// The hit with a little text around it.
fn excerpt(bytes: &[u8], start: usize, end: usize) -> String {
    let start = start.min(bytes.len());
    let end = end.clamp(start, bytes.len());
    let around = EXCERPT.saturating_sub(end - start) / 2;
    let from = boundary(bytes, start.saturating_sub(around));
    let to = boundary(bytes, end.saturating_add(around).min(from + EXCERPT));
    let mut text = String::from_utf8_lossy(&bytes[from..to]).into_owned();
    let cut = floor(&text, EXCERPT);
    text.truncate(cut);
    text
}
