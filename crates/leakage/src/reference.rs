//! How an issue or a change is referred to, for the guards that look for them:
//! by address, `owner/name#12`, number beside the project's name, tracker key,
//! or title.

use std::sync::LazyLock;

use regex::Regex;

use crate::guard::{Confirmed, Hit, Pattern, has_word};
use crate::normalise::fold_words;
use crate::segment::Source;
use crate::terms::Reference;

/// Tags of the patterns below, from this number on.
pub(crate) const URL: u16 = 1;
const SHORT: u16 = 2;
const NUMBER: u16 = 3;
const KEY: u16 = 4;
const TITLE: u16 = 5;

/// The fewest words and letters of a title that is looked for: shorter ones
/// turn up in honest work.
const TITLE_WORDS: usize = 4;
const TITLE_BYTES: usize = 16;

/// Whether a phrase is long enough to be nobody's coincidence.
pub(crate) fn is_telling(phrase: &str) -> bool {
    let words = fold_words(phrase);
    words.len() >= TITLE_BYTES && words.split_whitespace().count() >= TITLE_WORDS
}

/// The patterns of one reference.
pub(crate) fn patterns(reference: &Reference, index: usize) -> Vec<Pattern> {
    let mut all = Vec::new();
    if let Some(url) = &reference.url {
        let bare = url
            .trim_start_matches("https://")
            .trim_start_matches("http://")
            .trim_start_matches("www.")
            .trim_end_matches('/');
        if bare.len() > 8 {
            all.push(Pattern::plain(bare, URL, index));
        }
    }
    if let (Some(repository), Some(n)) = (&reference.repository, reference.number) {
        let words = ["issues", "pull", "pulls", "-/issues", "-/merge_requests"];
        for word in words {
            all.push(Pattern::plain(
                &format!("{repository}/{word}/{n}"),
                URL,
                index,
            ));
        }
        let short = repository.rsplit('/').next().unwrap_or(repository);
        all.push(Pattern::plain(&format!("{repository}#{n}"), SHORT, index));
        all.push(Pattern::plain(&format!("{short}#{n}"), SHORT, index));
    }
    if let Some(n) = reference.number.filter(|n| *n >= 10) {
        for text in [
            format!("#{n}"),
            format!(" {n}"),
            format!("/{n}"),
            format!("-{n}"),
        ] {
            all.push(Pattern::plain(&text, NUMBER, index));
        }
    }
    if let Some(key) = reference.key.as_deref().filter(|k| k.len() >= 4) {
        all.push(Pattern::plain(key, KEY, index));
    }
    if let Some(title) = reference.title.as_deref().filter(|t| is_telling(t)) {
        all.push(Pattern::words(title, TITLE, index));
    }
    all
}

/// What stands before a number that is an issue's or a change's.
static LEAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:(?-u:\b)(?:issues?|bug|ticket|pr|prs|pulls?|pull request|merge request|mr|gh|fix(?:es|ed)?|close[sd]?|resolve[sd]?)(?:\s+(?:no\.?|number|nr\.?))?\s*[:(/-]?\s*)$",
    )
    .ok()
});

/// Whether the place refers to the reference; `what` is said in the reason.
pub(crate) fn confirm(hit: &Hit<'_>, reference: &Reference, what: &str) -> Option<Confirmed> {
    let digit = |c: char| c.is_ascii_digit();
    let part = |c: char| c.is_alphanumeric() || c == '_';
    match hit.pattern.tag {
        URL if !hit.after().is_some_and(part) && !hit.before().is_some_and(part) => {
            hit.itself(format!("gives the address of {what}"))
        }
        SHORT
            if !hit.after().is_some_and(part)
                && !hit.before().is_some_and(|c| part(c) || c == '-') =>
        {
            hit.itself(format!("names {what} by repository and number"))
        }
        KEY if !hit.after().is_some_and(part)
            && !hit.before().is_some_and(|c| part(c) || c == '-') =>
        {
            hit.itself(format!("names {what} by its tracker's key"))
        }
        TITLE => hit.phrase(format!("holds the title of {what}")),
        NUMBER if !hit.after().is_some_and(digit) => number(hit, reference, what),
        _ => None,
    }
}

/// A number alone says nothing: it must be called an issue (or the like), and
/// stand beside the project's name, or be the model's own words.
fn number(hit: &Hit<'_>, reference: &Reference, what: &str) -> Option<Confirmed> {
    let (near, at) = hit.around(120, 120);
    let after = &hit.text[hit.end..];
    // 76.5, 76%, 76px, 76-bit, v76: measures and versions.
    let measure = after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '%'))
        || (after.starts_with(['.', ',']) && after[1..].starts_with(|c: char| c.is_ascii_digit()));
    if measure {
        return None;
    }
    let number_at = at + usize::from(!hit.pattern.text.starts_with(|c: char| c.is_ascii_digit()));
    let lead_end = if hit.pattern.text.starts_with('#') {
        at
    } else {
        number_at
    };
    let before = &near[..lead_end];
    // `raft-rs #76`: the name itself leads.
    let name = hit.pattern.text.starts_with('#').then(|| {
        let trimmed = before.trim_end_matches([' ', '(']);
        let named = hit.terms.names.iter().filter(|n| {
            trimmed.ends_with(n.as_str()) && has_word(&trimmed[trimmed.len() - n.len()..], n)
        });
        named.map(|n| trimmed.len() - n.len()).min()
    });
    let lead_start = match name.flatten() {
        Some(start) => start,
        None => LEAD.as_ref()?.find(before)?.start(),
    };
    let length = hit.end - hit.start - (number_at - at);
    let named = hit.names_project(near);
    // `/issues/76` and `gh-76` of another project are common in any log.
    let large = reference.number.is_some_and(|n| n >= 100);
    let own_words = matches!(
        hit.source,
        Source::Thought | Source::Patch | Source::Diagnosis
    );
    if !(named || (large && own_words)) {
        return None;
    }
    let offset = hit.start - at;
    Some(Confirmed {
        range: offset + lead_start..offset + number_at + length,
        why: if named {
            format!("names {what} by its number, beside the project's name")
        } else {
            format!("names {what} by its number")
        },
    })
}
