//! Names of entries as they stand in an archive, and what may be wrong with
//! them. A name is only ever looked at here; it is never used to open a file.

/// The most bytes of a path that are accepted.
pub(crate) const MAX_PATH_BYTES: usize = 512;

/// What is wrong with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameFault {
    NotUtf8,
    Absolute,
    Parent,
    Backslash,
    Control,
    TooLong,
    Empty,
}

/// A name after the check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    /// The path for people and, where there are no faults, the cleaned path:
    /// parts joined by `/`, without `.` and empty parts.
    pub path: String,
    /// What is wrong; nothing means that the path may be relied on.
    pub faults: Vec<NameFault>,
}

impl Name {
    /// Looks at the raw bytes of a name.
    pub(crate) fn check(raw: &[u8]) -> Self {
        let mut faults = Vec::new();
        if raw.len() > MAX_PATH_BYTES {
            faults.push(NameFault::TooLong);
        }
        let text = match std::str::from_utf8(raw) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                faults.push(NameFault::NotUtf8);
                let end = raw.len().min(MAX_PATH_BYTES);
                String::from_utf8_lossy(&raw[..end]).into_owned()
            }
        };
        let drive = matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
        if text.starts_with('/') || text.starts_with('\\') || drive {
            faults.push(NameFault::Absolute);
        }
        if text.split(['/', '\\']).any(|part| part == "..") {
            faults.push(NameFault::Parent);
        }
        if text.contains('\\') {
            faults.push(NameFault::Backslash);
        }
        if text.chars().any(|c| c.is_control() || is_direction(c)) {
            faults.push(NameFault::Control);
        }
        let clean: Vec<&str> = text
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        if clean.is_empty() {
            faults.push(NameFault::Empty);
        }
        let path = if faults.is_empty() {
            clean.join("/")
        } else {
            display(&text)
        };
        Self { path, faults }
    }
}

/// Marks that turn the writing direction and so make a name look like another.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text that is safe to show on one line, at most 512 bytes of it.
pub(crate) fn display(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() >= MAX_PATH_BYTES {
            out.push('…');
            break;
        }
        if c.is_control() || is_direction(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_cleaned() {
        for (raw, clean) in [
            ("top/kv-1/run-01/patch.diff", "top/kv-1/run-01/patch.diff"),
            ("./top//x/", "top/x"),
            ("top/…/ü", "top/…/ü"),
            ("top/..hidden", "top/..hidden"),
        ] {
            let name = Name::check(raw.as_bytes());
            assert_eq!((name.path.as_str(), &name.faults[..]), (clean, &[][..]));
        }
    }

    #[test]
    fn each_trick_has_its_fault() {
        use NameFault::*;
        for (raw, want) in [
            (&b"/etc/passwd"[..], vec![Absolute]),
            (b"C:\\x", vec![Absolute, Backslash]),
            (b"top/../../x", vec![Parent]),
            (b"top\\..\\x", vec![Parent, Backslash]),
            (b"top/a\nb", vec![Control]),
            (b"top/\xe2\x80\xaegpj.exe", vec![Control]),
            (b"top/\xff", vec![NotUtf8]),
            (b"", vec![Empty]),
            (b"./", vec![Empty]),
            (&[b'a'; 600], vec![TooLong]),
        ] {
            assert_eq!(Name::check(raw).faults, want, "{raw:?}");
        }
        assert!(!Name::check(b"top/a\x1b[31m").path.contains('\u{1b}'));
    }
}
