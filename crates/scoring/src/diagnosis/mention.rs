//! Whether a text mentions a function (M1 to M6).
//!
//! Never unescapes or parses the text: the raw bytes of the diagnosis count,
//! predicted names included.

use memchr::memmem;

use super::function::{FunctionName, is_word};

/// Methods too common to count alone: they must appear as `class.method`
/// (M3). Sorted.
pub const GENERIC_NAMES: [&str; 37] = [
    "accept", "add", "apply", "call", "clear", "close", "commit", "create", "delete", "execute",
    "flush", "get", "handle", "init", "invoke", "lock", "main", "next", "open", "poll", "process",
    "put", "read", "receive", "remove", "reset", "run", "send", "set", "start", "stop", "submit",
    "test", "unlock", "update", "wait", "write",
];

/// A text prepared for many questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionText {
    text: String,
}

impl MentionText {
    /// Lower-cases the text, resolves Go receivers and turns every delimiter
    /// between names into `.` (M1).
    #[must_use]
    pub fn new(raw: &str) -> Self {
        // Most texts are ASCII; those are lower-cased in place at the end.
        let lower = (!raw.is_ascii()).then(|| raw.to_lowercase());
        let mut rest = lower.as_deref().unwrap_or(raw);
        let mut text = String::with_capacity(rest.len());
        let mut delimiters = Delimiters::of(rest);
        while let Some(at) = delimiters.next_in(rest) {
            text.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            rest = match rest.as_bytes()[at] {
                b'(' => match receiver(after) {
                    Some((name, next)) => {
                        text.push_str(name);
                        text.push('.');
                        next
                    }
                    None => {
                        text.push('(');
                        after
                    }
                },
                b':' => match after.strip_prefix(':') {
                    Some(next) => {
                        text.push('.');
                        next
                    }
                    None => {
                        let between = text.ends_with(is_word) && after.starts_with(is_word);
                        text.push(if between { '.' } else { ':' });
                        after
                    }
                },
                _ => {
                    text.push('.');
                    after
                }
            };
        }
        text.push_str(rest);
        if lower.is_none() {
            text.make_ascii_lowercase();
        }
        Self { text }
    }

    /// Whether the text mentions the function.
    #[must_use]
    pub fn mentions(&self, function: &FunctionName) -> bool {
        if GENERIC_NAMES
            .binary_search(&function.method.as_str())
            .is_err()
        {
            return self.has(&function.method, |before| !before.ends_with(is_word));
        }
        match &function.class {
            Some(_) => self.has(&function.to_string(), |before| !before.ends_with(is_word)),
            // M4: any word and `.` before it.
            None => self.has(&function.method, |before| {
                before
                    .strip_suffix('.')
                    .is_some_and(|b| b.ends_with(is_word))
            }),
        }
    }

    /// Whether the needle stands there with a fitting text before it and no
    /// word character after it.
    fn has(&self, needle: &str, fits_before: impl Fn(&str) -> bool) -> bool {
        // Overlapping occurrences matter for names like `a.a`, so the search
        // goes on one character after each hit.
        let finder = memmem::Finder::new(needle);
        let mut from = 0;
        while let Some(found) = finder.find(&self.text.as_bytes()[from..]) {
            let start = from + found;
            let end = start + needle.len();
            if fits_before(&self.text[..start]) && !self.text[end..].starts_with(is_word) {
                return true;
            }
            let first = needle.chars().next().map_or(1, char::len_utf8);
            from = start + first;
        }
        false
    }
}

/// Finds the next of `(`, `:`, `$` and `#`. The search instruction takes three
/// bytes; where the rare `#` stands is remembered, so that the text is read twice
/// at most.
struct Delimiters {
    /// Bytes from the next `#` to the end; 0 if there is none.
    hash_from_end: usize,
}

impl Delimiters {
    fn of(text: &str) -> Self {
        Self {
            hash_from_end: Self::hash_in(text),
        }
    }

    fn hash_in(text: &str) -> usize {
        memchr::memchr(b'#', text.as_bytes()).map_or(0, |at| text.len() - at)
    }

    /// Index of the next delimiter in what is left of the text.
    fn next_in(&mut self, rest: &str) -> Option<usize> {
        if self.hash_from_end > rest.len() {
            self.hash_from_end = Self::hash_in(rest);
        }
        let hash = (self.hash_from_end > 0).then(|| rest.len() - self.hash_from_end);
        let other = memchr::memchr3(b'(', b':', b'$', rest.as_bytes());
        match (hash, other) {
            (Some(hash), Some(other)) => Some(hash.min(other)),
            (hash, other) => hash.or(other),
        }
    }
}

/// After an opening parenthesis: `*x).` or `r *x) m`. Returns x, and the
/// text that follows the `.` or starts with m.
fn receiver(after: &str) -> Option<(&str, &str)> {
    let word = |text: &str| text.find(|c| !is_word(c)).unwrap_or(text.len());
    if let Some(pointer) = after.strip_prefix('*') {
        let length = word(pointer);
        let next = pointer[length..].strip_prefix(").")?;
        return (length > 0).then_some((&pointer[..length], next));
    }
    let variable = word(after);
    if variable == 0 {
        return None;
    }
    let spaced = &after[variable..];
    let pointer = spaced.trim_start();
    if pointer.len() == spaced.len() {
        return None;
    }
    let pointer = pointer.strip_prefix('*')?;
    let length = word(pointer);
    let next = pointer[length..].strip_prefix(')')?.trim_start();
    (length > 0 && next.starts_with(is_word)).then_some((&pointer[..length], next))
}
