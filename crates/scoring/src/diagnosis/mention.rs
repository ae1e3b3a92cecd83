//! Whether a text mentions a function (M1 to M6).
//!
//! Never unescapes or parses the text: the raw bytes of the diagnosis count,
//! predicted names included.

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
        // Most texts are ASCII, and that is many times quicker.
        let lower = if raw.is_ascii() {
            raw.to_ascii_lowercase()
        } else {
            raw.to_lowercase()
        };
        let mut text = String::with_capacity(lower.len());
        let mut rest = lower.as_str();
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            match c {
                '(' => {
                    if let Some((name, next)) = receiver(after) {
                        text.push_str(name);
                        text.push('.');
                        rest = next;
                        continue;
                    }
                    text.push('(');
                }
                ':' => {
                    if let Some(next) = after.strip_prefix(':') {
                        text.push('.');
                        rest = next;
                        continue;
                    }
                    let between = text.ends_with(is_word) && after.starts_with(is_word);
                    text.push(if between { '.' } else { ':' });
                }
                '#' | '$' => text.push('.'),
                other => {
                    // Copy whole stretches without delimiters at once.
                    let plain = rest
                        .bytes()
                        .position(|b| matches!(b, b'(' | b':' | b'#' | b'$'))
                        .unwrap_or(rest.len());
                    debug_assert!(plain >= other.len_utf8());
                    text.push_str(&rest[..plain]);
                    rest = &rest[plain..];
                    continue;
                }
            }
            rest = after;
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
        let mut from = 0;
        while let Some(found) = self.text[from..].find(needle) {
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
