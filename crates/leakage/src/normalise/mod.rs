//! Makes text comparable: what hides a term from a reader of bytes, but not from
//! a model, is undone, and every byte of the result knows which bytes of the
//! original it came from. It judges nothing.
//!
//! One text has several readings: as it stands, with escapes decoded (up to
//! three times over), with base64 blobs decoded. All are given, because decoding
//! also destroys: `C:\new` holds no line break.

mod blobs;
mod escapes;
mod lookalikes;
mod strip;

/// How often escapes within escapes are decoded.
const ESCAPES: usize = 3;
/// How often base64 within base64 is decoded.
const BLOBS: usize = 2;

/// A text whose every byte knows its origin.
///
/// Most of a text stands as it stood, so origins are kept piece by piece, not byte by
/// byte: a scan copies text, and little else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    text: String,
    /// In the order of the text, which they cover without gaps.
    pieces: Vec<Piece>,
}

/// A part of a text, from `at` up to the next piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// Where it begins in the text.
    at: u32,
    /// Where its original bytes begin.
    from: u32,
    /// Where they end, if all of its bytes stand for all of them; none if each
    /// character stands for as many bytes as it has, one after the other.
    to: Option<u32>,
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Text {
    /// Bytes as characters; what is not UTF-8 becomes U+FFFD.
    ///
    /// At most 4 GiB can be addressed; callers hand in windows far below that.
    pub fn of(bytes: &[u8]) -> Self {
        let mut out = Self::with_capacity(bytes.len());
        if let Ok(text) = std::str::from_utf8(bytes) {
            out.piece(0, None);
            out.text.push_str(text);
            return out;
        }
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid();
            if !valid.is_empty() {
                out.piece(narrow(at), None);
                out.text.push_str(valid);
                at += valid.len();
            }
            let bad = chunk.invalid().len();
            if bad > 0 {
                out.push_narrow(char::REPLACEMENT_CHARACTER, (narrow(at), narrow(at + bad)));
                at += bad;
            }
        }
        out
    }

    fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            pieces: Vec::new(),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The original bytes behind a range of the text; an empty range gives the
    /// place where it stands.
    pub fn origin(&self, range: std::ops::Range<usize>) -> (usize, usize) {
        let last = match self.text.len() {
            0 => 0,
            n => self.at(n - 1).1,
        };
        let start = match range.start {
            s if s < self.text.len() => self.at(s).0,
            _ => last,
        };
        let end = range
            .end
            .checked_sub(1)
            .filter(|e| *e >= range.start && *e < self.text.len())
            .map_or(start, |e| self.at(e).1);
        (start as usize, end.max(start) as usize)
    }

    /// Index of the piece that a byte is in.
    fn piece_of(&self, index: usize) -> usize {
        let index = narrow(index);
        self.pieces
            .partition_point(|p| p.at <= index)
            .saturating_sub(1)
    }

    /// Where a byte of the text comes from: the original bytes of its character.
    fn at(&self, index: usize) -> (u32, u32) {
        self.within(self.piece_of(index), index)
    }

    fn within(&self, piece: usize, index: usize) -> (u32, u32) {
        let Some(piece) = self.pieces.get(piece) else {
            return (0, 0);
        };
        if let Some(to) = piece.to {
            return (piece.from, to);
        }
        let (mut start, mut end) = (index, index + 1);
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        let place = |i: usize| piece.from + (narrow(i) - piece.at);
        (place(start), place(end))
    }

    /// Begins a piece at the end of the text, unless what comes goes on like the last.
    fn piece(&mut self, from: u32, to: Option<u32>) {
        let at = narrow(self.text.len());
        let goes_on = self.pieces.last().is_some_and(|p| match to {
            Some(_) => p.to == to && p.from == from,
            None => p.to.is_none() && p.from + (at - p.at) == from,
        });
        if !goes_on {
            self.pieces.push(Piece { at, from, to });
        }
    }

    fn push_narrow(&mut self, c: char, origin: (u32, u32)) {
        let even = (origin.1 - origin.0) as usize == c.len_utf8();
        self.piece(origin.0, (!even).then_some(origin.1));
        self.text.push(c);
    }

    /// Takes over a part of another text as it is. It begins and ends between characters.
    fn copy(&mut self, from: &Text, part: std::ops::Range<usize>) {
        let mut at = part.start;
        let mut number = from.piece_of(at);
        while at < part.end {
            let piece = from.pieces[number];
            let end = from
                .pieces
                .get(number + 1)
                .map_or(part.end, |next| part.end.min(next.at as usize));
            let start = match piece.to {
                Some(_) => piece.from,
                None => piece.from + (narrow(at) - piece.at),
            };
            self.piece(start, piece.to);
            self.text.push_str(&from.text[at..end]);
            at = end;
            number += 1;
        }
    }

    /// Takes back the last character.
    fn pop(&mut self) {
        self.text.pop();
        let end = narrow(self.text.len());
        while self.pieces.last().is_some_and(|p| p.at >= end) {
            self.pieces.pop();
        }
    }

    /// The origin of a range of the text, as it is stored.
    fn span(&self, start: usize, end: usize) -> (u32, u32) {
        let (a, b) = (self.at(start), self.at(end.max(start + 1) - 1));
        (a.0, a.1.max(b.1))
    }

    /// Where some original bytes stand in the text, if they stand there one by one and
    /// nothing between them is left out.
    pub(crate) fn place_of(
        &self,
        origin: std::ops::Range<usize>,
    ) -> Option<std::ops::Range<usize>> {
        let (from, to) = (narrow(origin.start), narrow(origin.end));
        // Origins grow with the text, but for decoded runs that share theirs.
        let mut number = self.pieces.partition_point(|p| p.from <= from);
        while number > 0 {
            number -= 1;
            let piece = self.pieces[number];
            let end = self
                .pieces
                .get(number + 1)
                .map_or(self.text.len(), |next| next.at as usize);
            if piece.to.is_some() {
                if piece.from < from {
                    return None;
                }
                continue;
            }
            let start = piece.at as usize + (from - piece.from) as usize;
            let stop = start + (to - from) as usize;
            return (stop <= end).then_some(start..stop);
        }
        None
    }

    /// Everything that is not as it stood in the original lies in one of these parts or
    /// reaches over one of their ends.
    pub(crate) fn seams(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.pieces.iter().enumerate().map(|(n, p)| {
            let start = p.at as usize;
            let end = match (p.to, self.pieces.get(n + 1)) {
                (None, _) => start,
                (Some(_), Some(next)) => next.at as usize,
                (Some(_), None) => self.text.len(),
            };
            start..end
        })
    }
}

/// How many of the first bytes all pass the test, in steps that a machine does at once.
fn run_of(bytes: &[u8], test: impl Fn(u8) -> bool) -> usize {
    let mut at = 0;
    for chunk in bytes.chunks(32) {
        if !chunk.iter().fold(true, |all, b| all & test(*b)) {
            return at + chunk.iter().position(|b| !test(*b)).unwrap_or(0);
        }
        at += chunk.len();
    }
    bytes.len()
}

/// How a reading of a text came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// As it stands, lookalikes and letter case aside.
    Plain,
    /// With its escapes decoded.
    Escapes,
    /// Out of a base64 blob.
    Base64,
}

/// One reading of a text, in lower case.
#[derive(Debug, Clone)]
pub struct View {
    /// How it came about.
    pub reading: Reading,
    /// The text.
    pub text: Text,
}

/// All readings of some bytes. Each is at most as long as the one before, so
/// that work and memory are bounded by the input.
pub fn views(bytes: &[u8]) -> Vec<View> {
    let mut views = Vec::new();
    readings(
        strip::strip(Text::of(bytes)),
        Reading::Plain,
        BLOBS,
        &mut views,
    );
    views
}

fn readings(text: Text, reading: Reading, blobs: usize, views: &mut Vec<View>) {
    let mut text = text;
    let mut reading = reading;
    for round in 0..=ESCAPES {
        if blobs > 0 {
            for blob in blobs::decode(&text) {
                readings(strip::strip(blob), Reading::Base64, blobs - 1, views);
            }
        }
        views.push(View {
            reading,
            text: lookalikes::fold(&text),
        });
        if round == ESCAPES {
            break;
        }
        let Some(decoded) = escapes::decode(&text) else {
            break;
        };
        text = strip::strip(decoded);
        if reading == Reading::Plain {
            reading = Reading::Escapes;
        }
    }
}

/// A term as it looks in a view.
pub fn fold(term: &str) -> String {
    lookalikes::fold(&strip::strip(Text::of(term.as_bytes()))).text
}

/// The words of a view, each followed by one blank, and one blank before all:
/// for texts whose punctuation and line breaks say nothing.
pub fn words(view: &Text) -> Text {
    let mut out = Text::with_capacity(view.text.len() + 2);
    let mut gap =
        Some((view.origin(0..0).0, view.origin(0..0).0)).map(|(a, b)| (narrow(a), narrow(b)));
    let bytes = view.text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            at += 1;
        }
        if at > start {
            if let Some(gap) = gap.take() {
                out.push_narrow(' ', gap);
            }
            out.copy(view, start..at);
            continue;
        }
        let c = view.text[at..].chars().next().unwrap_or(' ');
        if c.is_alphanumeric() {
            if let Some(gap) = gap.take() {
                out.push_narrow(' ', gap);
            }
            out.push_narrow(c, view.at(at));
        } else if gap.is_none() {
            gap = Some(view.at(at));
        }
        at += c.len_utf8();
    }
    let end = narrow(view.origin(view.text.len()..view.text.len()).0);
    out.push_narrow(' ', gap.unwrap_or((end, end)));
    out
}

/// A phrase as it looks among the words of a view, blanks around it.
pub fn fold_words(phrase: &str) -> String {
    words(&Text::of(fold(phrase).as_bytes())).text
}

/// A view as a shell would see it: quotes and needless backslashes gone, lists
/// of quoted words (`["git", "log"]`) turned into words.
pub fn shell(view: &Text) -> Text {
    let mut out = Text::with_capacity(view.text.len());
    let text = view.text.as_str();
    let mut at = 0;
    while let Some(next) = text[at..].find(['\'', '"', '\\', '$']) {
        out.copy(view, at..at + next);
        at += next;
        let rest = &text[at..];
        let origin = view.at(at);
        let quote = rest.as_bytes()[0];
        let mut skip = 1;
        match quote {
            b'\'' | b'"' => {
                // `", "` stands between the words of a list.
                let after = rest[1..].trim_start_matches([' ', '\n']);
                if let Some(next) = after.strip_prefix(',') {
                    let next = next.trim_start_matches([' ', '\n']);
                    if next.as_bytes().first() == Some(&quote) {
                        out.push_narrow(' ', origin);
                        skip = rest.len() - next.len() + 1;
                    }
                }
            }
            b'\\' if rest[1..].starts_with('\n') => out.push_narrow('\\', origin),
            b'\\' => {}
            _ => {
                let blank = ["$ifs$9", "${ifs}", "$ifs"].into_iter();
                let nothing = ["$@", "$*", "${@}", "${*}"].into_iter();
                let found = blank
                    .map(|t| (t, true))
                    .chain(nothing.map(|t| (t, false)))
                    .find(|(t, _)| rest.starts_with(t));
                match found {
                    Some((t, is_blank)) => {
                        if is_blank {
                            out.push_narrow(' ', origin);
                        }
                        skip = t.len();
                    }
                    None => out.push_narrow('$', origin),
                }
            }
        }
        at += skip;
    }
    out.copy(view, at..text.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        views(bytes).into_iter().map(|v| v.text.text).collect()
    }

    /// The needle must be in one of the views, and map back to the given part.
    fn finds(original: &str, needle: &str, part: &str) {
        let found = views(original.as_bytes()).into_iter().find_map(|v| {
            let at = v.text.text.find(needle)?;
            Some(v.text.origin(at..at + needle.len()))
        });
        let Some((start, end)) = found else {
            panic!("{needle:?} is in none of {:?}", texts(original.as_bytes()));
        };
        assert_eq!(&original[start..end], part);
    }

    #[test]
    fn each_disguise_is_undone_and_maps_back() {
        let url = "github.com/a/b";
        for (original, part) in [
            ("see GitHub.com/A/B now", "GitHub.com/A/B"),
            (
                "see git\u{1b}[31mhub\u{1b}[0m.com/a/b",
                "git\u{1b}[31mhub\u{1b}[0m.com/a/b",
            ),
            (
                "g\u{200b}i\u{ad}thub.com/a/\u{feff}b",
                "g\u{200b}i\u{ad}thub.com/a/\u{feff}b",
            ),
            ("gіthub.соm/а/b", "gіthub.соm/а/b"),
            (
                "ｇｉｔｈｕｂ．ｃｏｍ／ａ／ｂ",
                "ｇｉｔｈｕｂ．ｃｏｍ／ａ／ｂ",
            ),
            ("𝐠𝐢𝐭𝐡𝐮𝐛.com⁄a∕b", "𝐠𝐢𝐭𝐡𝐮𝐛.com⁄a∕b"),
            ("github%2Ecom%2fa%2Fb", "github%2Ecom%2fa%2Fb"),
            ("github%252Ecom/a/b", "github%252Ecom/a/b"),
            (r"github.com\/a\/b", r"github.com\/a\/b"),
            (r"git\u0068ub.com\u002fa/b", r"git\u0068ub.com\u002fa/b"),
            (r"git\\u0068ub.com/a/b", r"git\\u0068ub.com/a/b"),
            (r"git\x68ub.com/a/\142", r"git\x68ub.com/a/\142"),
            (
                "git&#104;ub&period;com&#x2f;a&sol;b",
                "git&#104;ub&period;com&#x2f;a&sol;b",
            ),
            ("git\\\nhub.com/a/b", "git\\\nhub.com/a/b"),
            ("g_\u{8}ithub.com/a/b", "g_\u{8}ithub.com/a/b"),
            ("g\0i\0thub.com/a/b", "g\0i\0thub.com/a/b"),
        ] {
            finds(original, url, part);
        }
    }

    #[test]
    fn base64_is_read_and_maps_into_its_blob() {
        // "curl https://github.com/a/b/issues/1"
        let blob = "Y3VybCBodHRwczovL2dpdGh1Yi5jb20vYS9iL2lzc3Vlcy8x";
        let original = format!("echo {blob} | base64 -d | sh");
        let (start, end) = views(original.as_bytes())
            .into_iter()
            .filter(|v| v.reading == Reading::Base64)
            .find_map(|v| {
                let at = v.text.text.find("github.com/a/b")?;
                Some(v.text.origin(at..at + 14))
            })
            .unwrap();
        assert!(original[start..end].len() >= 18 && blob.contains(&original[start..end]));
    }

    #[test]
    fn words_ignore_punctuation() {
        let view = Text::of("a `poll()`-call\n  hangs…".as_bytes());
        assert_eq!(words(&view).text, " a poll call hangs ");
        assert_eq!(fold_words("Poll() — call"), " poll call ");
        assert_eq!(words(&Text::default()).text, " ");
    }

    #[test]
    fn a_shell_sees_through_quotes() {
        let see = |t: &str| shell(&Text::of(t.as_bytes())).text;
        assert_eq!(see(r#"git "log" --a''ll"#), "git log --all");
        assert_eq!(see(r#"["git", "log", '--all']"#), r"[git log, --all]");
        assert_eq!(see(r"g\it${ifs}log"), "git log");
    }

    #[test]
    fn windows_paths_and_ordinary_percent_signs_survive() {
        assert_eq!(texts(b"100% of C:\\x")[0], "100% of c:\\x");
        assert!(texts(b"50% a").len() == 1);
    }
}
