//! Function names of many languages brought to one canonical form (N1) and
//! compared (N2).
//!
//! The thirteen steps of N1 are applied in their order, by hand-written
//! scans that are linear in the length of the name. Never parses a language:
//! the same text always gives the same name, whatever wrote it.

use std::borrow::Cow;

use memchr::memmem;
use serde::{Deserialize, Serialize};

/// Stand-ins for `<init>` and `<clinit>` while balanced `<...>` are deleted.
const INIT: char = '\u{e000}';
const CLINIT: char = '\u{e001}';

/// A canonical name: the method, and its class if one was given; lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FunctionName {
    /// The part before the method; `None` makes the name bare.
    pub class: Option<String>,
    /// The method, never empty.
    pub method: String,
}

impl FunctionName {
    /// The canonical name of a function as written (N1); `None` if nothing
    /// is left of it (N5).
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let name = shorten(name);
        let (name, operator) = take_operator(&name); // 5
        let name = delete_balanced(name, '<', '>'); // 6
        let name = delete_balanced(&name, '[', ']');
        let name = name.split('(').next().unwrap_or_default(); // 7
        let name = name // 8
            .split_whitespace()
            .next_back()
            .unwrap_or_default()
            .trim_start_matches(['*', '&']);
        let name = drop_arity(name); // 9
        let name = name.rsplit('/').next().unwrap_or_default(); // 10
        let name = resolve_arrows(name);
        let mut parts: Vec<&str> = name // 11
            .split(['.', '#', '$', ':'])
            .filter(|part| !part.is_empty() && !is_number(part))
            .collect();
        parts.extend(operator.as_deref());
        while parts.len() > 1 && parts.last().is_some_and(|p| is_go_closure(p)) {
            parts.pop();
        }
        let last = parts.len().checked_sub(1)?;
        Some(Self {
            class: last
                .checked_sub(1)
                .map(|class| lower(&named(&parts, class))),
            method: lower(&named(&parts, last)),
        })
    }

    /// Whether the two names agree (N2): equal, or exactly one is bare and
    /// equals the other's method.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        self.method == other.method
            && (self.class == other.class || self.class.is_none() != other.class.is_none())
    }
}

/// `class.method`, or the bare method.
impl std::fmt::Display for FunctionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(class) = &self.class {
            write!(f, "{class}.")?;
        }
        f.write_str(&self.method)
    }
}

/// Whether a character belongs to a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn lower(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.to_lowercase()
    }
}

/// Steps 1 to 4: what stands around a name goes. Most names have none of it,
/// and stay where they are.
fn shorten(name: &str) -> Cow<'_, str> {
    let name = strip_scopes(name); // 1
    let name = then(name, resolve_receivers); // 2
    let name = then(name, resolve_leading_type); // 3
    then(name, |name| {
        name.contains('<').then(|| {
            name // 4
                .replace("<init>", INIT.encode_utf8(&mut [0; 4]))
                .replace("<clinit>", CLINIT.encode_utf8(&mut [0; 4]))
                .replace("<locals>", "")
                .replace("<lambda>", "")
        })
    })
}

/// A step that changes only some names: `None` leaves the name as it is.
fn then<'a>(name: Cow<'a, str>, step: impl FnOnce(&str) -> Option<String>) -> Cow<'a, str> {
    match step(&name) {
        Some(changed) => Cow::Owned(changed),
        None => name,
    }
}

/// Step 1: no anonymous namespaces, no leading `pub(...)`, nothing from the
/// first `::{` on unless the name starts with it.
fn strip_scopes(name: &str) -> Cow<'_, str> {
    const ANONYMOUS: &str = "(anonymous namespace)::";
    let name = name.trim();
    let name = if name.contains('(') && name.contains(ANONYMOUS) {
        Cow::Owned(name.replace(ANONYMOUS, ""))
    } else {
        Cow::Borrowed(name)
    };
    let start = match name.strip_prefix("pub(").and_then(|r| r.split_once(')')) {
        Some((_, rest)) => name.len() - rest.trim_start().len(),
        None => 0,
    };
    let end = match name[start..]
        .find('{')
        .and_then(|_| name[start..].find("::{"))
    {
        Some(at) if at > 0 => start + at,
        _ => name.len(),
    };
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(&name[start..end]),
        Cow::Owned(name) => Cow::Owned(name[start..end].to_owned()),
    }
}

/// Step 2: Go receivers.
fn resolve_receivers(name: &str) -> Option<String> {
    if !name.contains('(') {
        return None;
    }
    let leading = leading_receiver(name);
    let name = leading.as_deref().unwrap_or(name);
    if !name.contains(").") {
        return leading;
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(open) = rest.find('(') {
        out.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        // Only up to the next parenthesis, so the scan stays linear.
        let close = after.find(['(', ')']);
        match close {
            Some(close) if after[close..].starts_with(").") => {
                let inner = &after[..close];
                if let Some(base) = receiver_type(inner.strip_prefix('*').unwrap_or(inner)) {
                    out.push_str(base);
                    rest = &after[close + 1..];
                    continue;
                }
            }
            _ => {}
        }
        out.push('(');
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// `[func ]([name ][*]Type[[..]])[.]name...` as `Type.name...`.
fn leading_receiver(name: &str) -> Option<String> {
    let rest = match name.strip_prefix("func") {
        Some(r) if r.starts_with(char::is_whitespace) => r.trim_start(),
        _ => name,
    };
    let (inner, after) = rest.strip_prefix('(')?.split_once(')')?;
    let inner = inner.trim();
    let typed = match inner.split_once(char::is_whitespace) {
        Some((variable, typed)) if variable.chars().all(is_word) => typed.trim_start(),
        _ => inner,
    };
    let base = receiver_type(typed.strip_prefix('*').unwrap_or(typed).trim_start())?;
    let after = after.trim_start();
    let method = after.strip_prefix('.').unwrap_or(after).trim_start();
    method
        .starts_with(is_word)
        .then(|| format!("{base}.{method}"))
}

/// `Type` or `Type[..]` without its type arguments.
fn receiver_type(text: &str) -> Option<&str> {
    let base = match text.split_once('[') {
        Some((base, arguments)) if arguments.ends_with(']') => base,
        Some(_) => return None,
        None => text,
    };
    let named = !base.is_empty() && base.chars().all(|c| is_word(c) || c == '.');
    named.then_some(base)
}

/// Step 3: a leading `<Foo as Bar>` or `<Foo>` becomes `Foo`.
fn resolve_leading_type(name: &str) -> Option<String> {
    if !name.starts_with('<') {
        return None;
    }
    let (mut depth, mut previous, mut end_of_type) = (0_usize, ' ', None);
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if previous != '-' => {
                depth -= 1;
                if depth == 0 {
                    let end = end_of_type.unwrap_or(at);
                    return Some(format!("{}{}", &name[1..end], &name[at + 1..]));
                }
            }
            ' ' if depth == 1 && end_of_type.is_none() && name[at..].starts_with(" as ") => {
                end_of_type = Some(at);
            }
            _ => {}
        }
        previous = c;
    }
    None
}

/// Step 5: splits off a C++ operator. Returns the text for the class part and
/// the operator's method name.
fn take_operator(name: &str) -> (&str, Option<String>) {
    const WORD: &str = "operator";
    let found = memmem::find_iter(name.as_bytes(), WORD).find(|at| {
        !name[..*at].ends_with(is_word) && !name[at + WORD.len()..].starts_with(is_word)
    });
    let Some(at) = found else {
        return (name, None);
    };
    let after = &name[at + WORD.len()..];
    let symbol = if after.starts_with("()") {
        "()".to_owned()
    } else {
        let text = after.split('(').next().unwrap_or_default();
        text.chars().filter(|c| !c.is_whitespace()).collect()
    };
    let before = &name[..at];
    let qualified = before.ends_with(['.', '#', '$', ':']) || before.ends_with("->");
    (
        if qualified { before } else { "" },
        Some(format!("{WORD}{symbol}")),
    )
}

/// Step 6: deletes balanced pairs with what they hold; unbalanced ones stay.
/// The `>` of an arrow `->` closes nothing.
fn delete_balanced(text: &str, open: char, close: char) -> Cow<'_, str> {
    if !text.contains(open) {
        return Cow::Borrowed(text);
    }
    // Outermost balanced ranges: an inner pair is swallowed by its outer one.
    let mut opened: Vec<usize> = Vec::new();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        if c == open {
            opened.push(at);
        } else if c == close
            && !(close == '>' && previous == '-')
            && let Some(start) = opened.pop()
        {
            while ranges.last().is_some_and(|(s, _)| *s > start) {
                ranges.pop();
            }
            ranges.push((start, at + c.len_utf8()));
        }
        previous = c;
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in ranges {
        out.push_str(&text[from..start]);
        from = end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Step 9: drops `/digits` at the end (Erlang's arity).
fn drop_arity(name: &str) -> &str {
    match name.rsplit_once('/') {
        Some((rest, arity)) if is_number(arity) => rest,
        _ => name,
    }
}

/// Step 11 before the split: javac lambdas resolved, arrows as dots.
fn resolve_arrows(name: &str) -> Cow<'_, str> {
    let name = then(Cow::Borrowed(name), |name| {
        (name.contains('$') && name.contains("lambda$")).then(|| resolve_lambdas(name))
    });
    then(name, |name| {
        (name.contains('>') && name.contains("->")).then(|| name.replace("->", "."))
    })
}

/// `lambda$name$digits` as `name`.
fn resolve_lambdas(name: &str) -> String {
    const START: &str = "lambda$";
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(START) {
        out.push_str(&rest[..at]);
        let after = &rest[at + START.len()..];
        let word = &after[..after.find(|c| !is_word(c)).unwrap_or(after.len())];
        let digits = after[word.len()..].strip_prefix('$').map_or("", |t| {
            &t[..t.find(|c: char| !c.is_ascii_digit()).unwrap_or(t.len())]
        });
        if word.is_empty() || digits.is_empty() {
            out.push_str(START);
            rest = after;
        } else {
            out.push_str(word);
            rest = &after[word.len() + 1 + digits.len()..];
        }
    }
    out.push_str(rest);
    out
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `func1`, `gowrap2`: Go's names for closures inside a function.
fn is_go_closure(part: &str) -> bool {
    ["func", "gowrap"]
        .iter()
        .any(|word| part.strip_prefix(word).is_some_and(is_number))
}

/// Step 12, for the part at `i`: `<init>` is the class's own name; `<clinit>`
/// gets its text back.
fn named<'a>(parts: &[&'a str], i: usize) -> Cow<'a, str> {
    let is_init = |part: &str| part.chars().eq([INIT]);
    let at = parts[..=i]
        .iter()
        .rposition(|part| !is_init(part))
        .unwrap_or(0);
    let part = parts[at];
    if part.is_ascii() || !part.contains([INIT, CLINIT]) {
        return Cow::Borrowed(part);
    }
    Cow::Owned(part.replace(INIT, "<init>").replace(CLINIT, "<clinit>"))
}
