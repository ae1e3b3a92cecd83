//! Decodes escapes: JSON and source code (`\u0023`, `\x23`, `\043`, `\/`),
//! percent (`%23`), HTML (`&#35;`), and a backslash before a line break.

use super::{Text, run_of};

/// The text with one layer of escapes taken off; none if there is no escape.
pub(super) fn decode(text: &Text) -> Option<Text> {
    let bytes = text.text.as_bytes();
    let mut out = Text::default();
    let mut done = 0;
    let mut at = 0;
    loop {
        at += run_of(&bytes[at..], |b| b != b'\\' && b != b'%' && b != b'&');
        if at == bytes.len() {
            break;
        }
        let found = match bytes[at] {
            b'\\' => backslash(bytes, at),
            b'%' => octets(bytes, at, percent),
            _ => entity(bytes, at),
        };
        let Some((decoded, end)) = found else {
            at += 1;
            continue;
        };
        if out.text.capacity() == 0 {
            out = Text::with_capacity(bytes.len());
        }
        out.copy(text, done..at);
        // A run of octets can't be told apart character by character: each
        // character maps to its own part only if all parts are of one length.
        let parts = decoded.chars().count();
        let length = end - at;
        for (n, d) in decoded.chars().enumerate() {
            let (from, to) = if parts > 1 && length.is_multiple_of(parts) {
                let each = length / parts;
                (at + n * each, at + (n + 1) * each)
            } else {
                (at, end)
            };
            out.push_narrow(d, text.span(from, to));
        }
        at = end;
        done = end;
    }
    if done == 0 {
        return None;
    }
    out.copy(text, done..bytes.len());
    Some(out)
}

/// What stands at a place, and where it ends.
type Decoded = Option<(String, usize)>;
/// Reads one escaped octet.
type Octet = fn(&[u8], usize) -> Option<(u8, usize)>;

fn hex(bytes: &[u8], at: usize, digits: usize) -> Option<u32> {
    let part = bytes.get(at..at + digits)?;
    if !part.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(part).ok()?, 16).ok()
}

fn backslash(bytes: &[u8], at: usize) -> Decoded {
    let one = |c: char| Some((c.to_string(), at + 2));
    match *bytes.get(at + 1)? {
        b'\n' => Some((String::new(), at + 2)),
        b'n' => one('\n'),
        b't' => one('\t'),
        b'r' => one('\r'),
        b'b' => one('\u{8}'),
        b'f' => one('\u{c}'),
        b'e' => one('\u{1b}'),
        c @ (b'/' | b'\\' | b'"' | b'\'') => one(char::from(c)),
        b'u' if bytes.get(at + 2) == Some(&b'{') => {
            let close = bytes
                .get(at + 3..)?
                .iter()
                .take(7)
                .position(|b| *b == b'}')?;
            let c = char::from_u32(hex(bytes, at + 3, close)?)?;
            Some((c.to_string(), at + 3 + close + 1))
        }
        b'u' => utf16(bytes, at),
        b'U' => {
            let c = char::from_u32(hex(bytes, at + 2, 8)?)?;
            Some((c.to_string(), at + 10))
        }
        b'x' => octets(bytes, at, hex_octet),
        b'0'..=b'3' => octets(bytes, at, octal),
        _ => None,
    }
}

/// `\uXXXX`, two of them for a character beyond the first plane.
fn utf16(bytes: &[u8], at: usize) -> Decoded {
    let first = hex(bytes, at + 2, 4)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c.to_string(), at + 6));
    }
    let second = (bytes.get(at + 6..at + 8)? == br"\u").then(|| hex(bytes, at + 8, 4))??;
    let units = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    Some((String::from_utf16(&units).ok()?, at + 12))
}

fn percent(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    (bytes.get(at) == Some(&b'%')).then_some(())?;
    Some((u8::try_from(hex(bytes, at + 1, 2)?).ok()?, at + 3))
}

fn hex_octet(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    (bytes.get(at..at + 2)? == br"\x").then_some(())?;
    Some((u8::try_from(hex(bytes, at + 2, 2)?).ok()?, at + 4))
}

fn octal(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    (bytes.get(at) == Some(&b'\\')).then_some(())?;
    let part = bytes.get(at + 1..at + 4)?;
    if !part.iter().all(|b| (b'0'..=b'7').contains(b)) {
        return None;
    }
    let value = u32::from_str_radix(std::str::from_utf8(part).ok()?, 8).ok()?;
    Some((u8::try_from(value).ok()?, at + 4))
}

/// A run of escaped octets, read as UTF-8 (or each as its own character).
fn octets(bytes: &[u8], at: usize, one: Octet) -> Decoded {
    let mut run = Vec::new();
    let mut end = at;
    while let Some((octet, next)) = one(bytes, end) {
        run.push(octet);
        end = next;
        if run.len() == 256 {
            break;
        }
    }
    if run.is_empty() {
        return None;
    }
    let text = String::from_utf8(run)
        .unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect());
    Some((text, end))
}

fn entity(bytes: &[u8], at: usize) -> Decoded {
    let close = bytes
        .get(at + 1..)?
        .iter()
        .take(12)
        .position(|b| *b == b';')?;
    let name = std::str::from_utf8(bytes.get(at + 1..at + 1 + close)?).ok()?;
    let end = at + 1 + close + 1;
    let c = if let Some(number) = name.strip_prefix('#') {
        let value = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        char::from_u32(value)?
    } else {
        match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" => ' ',
            "num" => '#',
            "sol" => '/',
            "bsol" => '\\',
            "period" => '.',
            "colon" => ':',
            "lowbar" => '_',
            "hyphen" | "dash" => '-',
            "commat" => '@',
            "percnt" => '%',
            "Tab" => '\t',
            "NewLine" => '\n',
            _ => return None,
        }
    };
    Some((c.to_string(), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn see(text: &str) -> Option<String> {
        decode(&Text::of(text.as_bytes())).map(|t| t.text)
    }

    #[test]
    fn escapes_of_every_kind_are_decoded() {
        for (raw, seen) in [
            (r"\u0023", "#"),
            (r"\ud83d\ude00", "😀"),
            (r"\u{23}\U00000023", "##"),
            (r"\xc3\xbc\043", "ü#"),
            ("%C3%BC%ff", "Ã¼ÿ"),
            ("%C3%BC", "ü"),
            ("&#35;&#x23;&amp;&num;", "##&#"),
            ("a\\\nb", "ab"),
            (r#"\/\\\"\n"#, "/\\\"\n"),
        ] {
            assert_eq!(see(raw).as_deref(), Some(seen), "{raw}");
        }
    }

    #[test]
    fn what_is_no_escape_stays() {
        for raw in [
            "plain",
            "100%",
            "%zz",
            "%2",
            r"\q",
            r"\u12",
            r"\ud83d",
            r"\x4",
            r"\09",
            "a && b",
            "&unknown;",
            "&",
            "\\",
        ] {
            assert_eq!(see(raw), None, "{raw}");
        }
    }
}
