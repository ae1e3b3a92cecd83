//! Takes out what is not seen: terminal control sequences, invisible characters,
//! overstrikes, NUL bytes of UTF-16, carriage returns.

use super::{Text, run_of};

/// The text as an eye would read it.
pub(super) fn strip(text: Text) -> Text {
    let plain = |b: u8| (b' '..=b'~').contains(&b) || b == b'\n' || b == b'\t';
    let bytes = text.text.as_bytes();
    if run_of(bytes, plain) == bytes.len() {
        return text;
    }
    let mut out = Text::with_capacity(bytes.len());
    let mut barren = 0;
    let mut at = 0;
    while at < bytes.len() {
        let end = at + run_of(&bytes[at..], plain);
        out.copy(&text, at..end);
        at = end;
        let Some(c) = text.text[at..].chars().next() else {
            break;
        };
        let mut length = c.len_utf8();
        match c {
            '\u{1b}' | '\u{9b}' => length = sequence(&text.text, at, &mut barren),
            '\u{8}' => out.pop(),
            _ if c.is_control() || is_invisible(c) => {}
            _ => out.push_narrow(c, text.at(at)),
        }
        at += length;
    }
    out
}

/// Length of the terminal control sequence at `at`. Up to `barren` it is known
/// that no string for the terminal ends, so that no byte is searched twice.
fn sequence(all: &str, at: usize, barren: &mut usize) -> usize {
    let text = &all[at..];
    let mut chars = text.char_indices().skip(1).peekable();
    let csi = text.starts_with('\u{9b}') || chars.next_if(|(_, c)| *c == '[').is_some();
    if csi {
        for (i, c) in chars {
            match c {
                '\u{20}'..='\u{3f}' => {}
                // The final letter belongs to it; anything else breaks it off.
                '\u{40}'..='\u{7e}' => return i + 1,
                _ => return i,
            }
        }
        return text.len();
    }
    if chars
        .next_if(|(_, c)| matches!(c, ']' | 'P' | '_' | '^'))
        .is_some()
    {
        // A string for the terminal, up to BEL or ESC \. It is bounded: a lone
        // introducer must not swallow all that follows.
        let most = at.saturating_add(4096).min(all.len());
        let start = (at + 2).max(*barren);
        let bytes = all.as_bytes();
        for i in start..most {
            match bytes[i] {
                7 => return i + 1 - at,
                0x1b if bytes.get(i + 1) == Some(&b'\\') => return i + 2 - at,
                b'\n' => {
                    *barren = i;
                    return 2;
                }
                _ => {}
            }
        }
        *barren = most.max(*barren);
        return 2;
    }
    // Two characters, or charset selections of three.
    match chars.next() {
        Some((i, '(' | ')' | '#' | '%')) => chars.next().map_or(i + 1, |(i, c)| i + c.len_utf8()),
        Some((i, c)) if c.is_ascii_graphic() => i + 1,
        _ => text.chars().next().map_or(1, char::len_utf8),
    }
}

/// Characters that take no room, or that fonts leave blank.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_go_and_text_stays() {
        for (raw, seen) in [
            ("a\u{1b}[1;31mb\u{1b}[0mc", "abc"),
            ("a\u{1b}]0;title\u{7}b", "ab"),
            ("a\u{1b}]8;;x\u{1b}\\b", "ab"),
            ("a\u{1b}(Bb", "ab"),
            ("a\u{1b}=b", "ab"),
            ("a\u{9b}2Kb", "ab"),
            ("a\u{1b}[31", "a"),
            ("a\u{1b}", "a"),
            ("a\u{1b}]open\nb", "aopen\nb"),
            ("x\u{8}yz\r\n", "yz\n"),
            ("\u{1b}[ü", "ü"),
        ] {
            assert_eq!(strip(Text::of(raw.as_bytes())).as_str(), seen, "{raw:?}");
        }
    }
}
