//! Terminal output as styled spans. Pure text in, text and styles out: no HTML,
//! and no text is ever hidden: a line overwritten on a terminal stays readable,
//! links lose their target, and control characters become visible pictures.

/// A terminal colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Colour {
    /// One of the 16 named colours, 0 to 15: a theme decides how it looks.
    Named(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// How a span looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// Text colour, if not the default.
    pub ink: Option<Colour>,
    /// Background colour, if not the default.
    pub paper: Option<Colour>,
    /// Bold.
    pub bold: bool,
    /// Faint.
    pub dim: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strike: bool,
    /// Ink and paper exchanged.
    pub inverse: bool,
}

/// Spans of equal style, in order. Their texts joined are the text without its
/// escape sequences.
pub fn ansi_to_spans(text: &str) -> Vec<(Style, String)> {
    let mut out: Vec<(Style, String)> = Vec::new();
    let mut style = Style::default();
    let mut run = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '\u{1b}' => {
                let (change, left) = escape(after);
                if let Some(parameters) = change {
                    let next = apply(style, parameters);
                    if next != style {
                        flush(&mut out, style, &mut run);
                        style = next;
                    }
                }
                rest = left;
                continue;
            }
            '\u{9b}' => {
                let (change, left) = control_sequence(after);
                if let Some(parameters) = change {
                    let next = apply(style, parameters);
                    if next != style {
                        flush(&mut out, style, &mut run);
                        style = next;
                    }
                }
                rest = left;
                continue;
            }
            '\r' => {
                // A lone carriage return starts a new line here: what a terminal
                // would overwrite must stay readable.
                let line_end = after.trim_start_matches('\r').starts_with('\n');
                if !line_end && !after.is_empty() && !after.starts_with('\r') {
                    run.push('\n');
                }
            }
            '\n' | '\t' => run.push(c),
            c if (c as u32) < 0x20 => run.push(picture(c as u32)),
            '\u{7f}' => run.push('\u{2421}'),
            // Further C1 controls have no picture and no meaning here.
            c if (0x80..0xa0).contains(&(c as u32)) => run.push('\u{fffd}'),
            c => run.push(c),
        }
        rest = after;
    }
    flush(&mut out, style, &mut run);
    out
}

fn picture(code: u32) -> char {
    char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')
}

fn flush(out: &mut Vec<(Style, String)>, style: Style, run: &mut String) {
    if run.is_empty() {
        return;
    }
    match out.last_mut() {
        Some((last, text)) if *last == style => text.push_str(run),
        _ => out.push((style, run.clone())),
    }
    run.clear();
}

/// What follows an ESC: the parameters of a colour change, if it is one, and
/// what comes after the sequence. An ESC that begins nothing vanishes alone.
fn escape(after: &str) -> (Option<&str>, &str) {
    let mut chars = after.chars();
    match chars.next() {
        Some('[') => control_sequence(chars.as_str()),
        // Operating-system commands, titles and links: up to BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let body = chars.as_str();
            for (at, c) in body.char_indices() {
                match c {
                    '\u{7}' | '\u{9c}' => return (None, &body[at + c.len_utf8()..]),
                    '\u{1b}' => {
                        let left = &body[at + 1..];
                        return (None, left.strip_prefix('\\').unwrap_or(&body[at..]));
                    }
                    // No command spans lines; then this was none.
                    '\n' => return (None, body),
                    _ => {}
                }
            }
            (None, body)
        }
        // Two-character sequences: character sets, and single ones.
        Some('(' | ')' | '*' | '+' | '#' | '%') => {
            let mut left = chars;
            match left.next() {
                Some(c) if c.is_ascii_graphic() => (None, left.as_str()),
                _ => (None, after),
            }
        }
        Some('7' | '8' | '=' | '>' | 'c' | 'D' | 'E' | 'H' | 'M' | 'N' | 'O' | 'Z') => {
            (None, chars.as_str())
        }
        _ => (None, after),
    }
}

fn control_sequence(after: &str) -> (Option<&str>, &str) {
    let parameters = after
        .bytes()
        .take_while(|b| (0x30..=0x3f).contains(b))
        .count();
    let between = after.as_bytes()[parameters..]
        .iter()
        .take_while(|b| (0x20..=0x2f).contains(*b))
        .count();
    let end = parameters + between;
    match after.as_bytes().get(end) {
        Some(b'm') if between == 0 => (Some(&after[..parameters]), &after[end + 1..]),
        Some(last) if (0x40..=0x7e).contains(last) => (None, &after[end + 1..]),
        // Broken off: what was taken for parameters is text.
        _ => (None, after),
    }
}

fn apply(mut style: Style, parameters: &str) -> Style {
    if parameters.starts_with(['<', '=', '>', '?']) {
        return style;
    }
    let mut codes = parameters
        .split([';', ':'])
        .map(|p| p.parse::<u16>().unwrap_or(0))
        .take(64);
    while let Some(code) = codes.next() {
        match code {
            0 => style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            3 => style.italic = true,
            4 | 21 => style.underline = true,
            7 => style.inverse = true,
            9 => style.strike = true,
            22 => (style.bold, style.dim) = (false, false),
            23 => style.italic = false,
            24 => style.underline = false,
            27 => style.inverse = false,
            29 => style.strike = false,
            30..=37 => style.ink = Some(Colour::Named((code - 30) as u8)),
            39 => style.ink = None,
            40..=47 => style.paper = Some(Colour::Named((code - 40) as u8)),
            49 => style.paper = None,
            90..=97 => style.ink = Some(Colour::Named((code - 82) as u8)),
            100..=107 => style.paper = Some(Colour::Named((code - 92) as u8)),
            38 => style.ink = extended(&mut codes).or(style.ink),
            48 => style.paper = extended(&mut codes).or(style.paper),
            _ => {}
        }
    }
    style
}

fn extended(codes: &mut impl Iterator<Item = u16>) -> Option<Colour> {
    match codes.next()? {
        5 => {
            let n = u8::try_from(codes.next()?).ok()?;
            Some(match n {
                0..=15 => Colour::Named(n),
                16..=231 => {
                    let level = |v: u8| if v == 0 { 0 } else { 55 + 40 * v };
                    let n = n - 16;
                    Colour::Rgb(level(n / 36), level(n / 6 % 6), level(n % 6))
                }
                _ => {
                    let grey = 8 + 10 * (n - 232);
                    Colour::Rgb(grey, grey, grey)
                }
            })
        }
        2 => {
            let mut channel = || codes.next().and_then(|v| u8::try_from(v).ok());
            Some(Colour::Rgb(channel()?, channel()?, channel()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        ansi_to_spans(text).into_iter().map(|(_, t)| t).collect()
    }

    #[test]
    fn colours_and_weights() {
        let spans =
            ansi_to_spans("a\u{1b}[1;31mb\u{1b}[0mc\u{1b}[38;5;196md\u{1b}[48;2;1;2;3me\u{1b}[m");
        assert_eq!(spans.len(), 5);
        assert_eq!(spans[1].0.ink, Some(Colour::Named(1)));
        assert!(spans[1].0.bold && !spans[2].0.bold);
        assert_eq!(spans[3].0.ink, Some(Colour::Rgb(255, 0, 0)));
        assert_eq!(spans[4].0.paper, Some(Colour::Rgb(1, 2, 3)));
    }

    #[test]
    fn sequences_vanish_and_text_stays() {
        assert_eq!(
            plain(
                "\u{1b}[2K\u{1b}[?2004lx\u{1b}(B\u{1b}]8;;http://evil\u{7}link\u{1b}]8;;\u{1b}\\!"
            ),
            "xlink!"
        );
        assert_eq!(plain("10%\r20%\rdone\r\nnext"), "10%\n20%\ndone\nnext");
        assert_eq!(plain("a\u{8}b\u{0}"), "a\u{2408}b\u{2400}");
        assert_eq!(plain("\u{1b}[31"), "31");
        assert_eq!(plain("\u{1b}]no end"), "no end");
        assert_eq!(plain("\u{1b}"), "");
        assert_eq!(plain("é\u{1b}[1mü"), "éü");
    }

    #[test]
    fn equal_styles_are_one_span() {
        assert_eq!(ansi_to_spans("a\u{1b}[0mb\u{1b}[39mc").len(), 1);
    }
}
