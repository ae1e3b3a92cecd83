//! The first bytes of a trace, and a tolerant sketch of the JSON in them: which
//! keys stand where. Formats are told apart by it, so it never fails: what
//! can't be sketched is just not there.

use std::collections::{BTreeMap, BTreeSet};

/// How many bytes readers may look at before they say whether a trace is theirs.
pub const HEAD_BYTES: usize = 256 << 10;

const MAX_DOCUMENTS: usize = 24;
const MAX_PATHS: usize = 4_000;
const MAX_DEPTH: usize = 12;
const MAX_WORD: usize = 160;

/// The first bytes of a trace.
pub(crate) struct Head<'a> {
    /// At most [`HEAD_BYTES`] bytes.
    pub(crate) bytes: &'a [u8],
    /// The JSON documents or lines that begin in them, if the bytes are JSON.
    pub(crate) documents: Vec<Sketch>,
}

/// Which keys stand where in one JSON document, as far as it was seen.
#[derive(Debug, Default)]
pub(crate) struct Sketch {
    paths: BTreeSet<String>,
    words: BTreeMap<String, String>,
}

impl Sketch {
    /// Whether a key path occurs: keys joined by `.`, elements of lists as `[]`,
    /// such as `messages.[].role`.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// The first short text or number at a path.
    pub(crate) fn word(&self, path: &str) -> Option<&str> {
        self.words.get(path).map(String::as_str)
    }
}

impl<'a> Head<'a> {
    /// Looks at the first bytes of a trace.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let bytes = &bytes[..bytes.len().min(HEAD_BYTES)];
        let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self {
            bytes,
            documents: sketch(body),
        }
    }

    /// Whether the bytes begin like JSON.
    pub(crate) fn is_json(&self) -> bool {
        !self.documents.is_empty()
    }
}

/// A container that is open.
struct Frame {
    object: bool,
    /// Length of the path above this container's keys.
    base: usize,
    /// In an object: whether a key comes next.
    key_next: bool,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    path: String,
    frames: Vec<Frame>,
    sketch: Sketch,
}

fn sketch(bytes: &[u8]) -> Vec<Sketch> {
    let mut documents = Vec::new();
    let mut at = 0;
    while documents.len() < MAX_DOCUMENTS {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if !matches!(bytes.get(at), Some(b'{' | b'[')) {
            break;
        }
        let mut scanner = Scanner {
            bytes,
            at,
            path: String::new(),
            frames: Vec::new(),
            sketch: Sketch::default(),
        };
        let whole = scanner.run().is_some();
        if scanner.sketch.paths.is_empty() && !whole {
            break;
        }
        at = scanner.at;
        documents.push(scanner.sketch);
        if !whole {
            break;
        }
    }
    documents
}

impl Scanner<'_> {
    /// Scans one document; none when the bytes end or stop being JSON.
    fn run(&mut self) -> Option<()> {
        loop {
            let byte = self.token()?;
            match byte {
                b'{' | b'[' => {
                    let object = byte == b'{';
                    self.at += 1;
                    let base = self.path.len();
                    if !object && self.frames.len() < MAX_DEPTH {
                        self.push("[]");
                    }
                    self.frames.push(Frame {
                        object,
                        base,
                        key_next: object,
                    });
                }
                b'}' | b']' => {
                    let frame = self.frames.pop()?;
                    if frame.object != (byte == b'}') {
                        return None;
                    }
                    self.at += 1;
                    self.path.truncate(frame.base);
                    if self.frames.is_empty() {
                        return Some(());
                    }
                    self.value_done();
                }
                b',' => {
                    self.at += 1;
                    let frame = self.frames.last_mut()?;
                    frame.key_next = frame.object;
                }
                b':' => self.at += 1,
                b'"' => {
                    let is_key = self.frames.last().is_some_and(|f| f.key_next);
                    let text = self.string()?;
                    if is_key {
                        if self.frames.len() <= MAX_DEPTH {
                            self.push(&text);
                        }
                        self.frames.last_mut()?.key_next = false;
                    } else {
                        self.word(text);
                        self.value_done();
                    }
                }
                _ => {
                    let start = self.at;
                    while self
                        .bytes
                        .get(self.at)
                        .is_some_and(|b| b.is_ascii_alphanumeric() || b"+-.".contains(b))
                    {
                        self.at += 1;
                    }
                    if start == self.at {
                        return None;
                    }
                    let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
                    if text != "null" {
                        self.word(text);
                    }
                    self.value_done();
                }
            }
        }
    }

    fn token(&mut self) -> Option<u8> {
        while self.bytes.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// The text of a string, shortened; none when it does not end.
    fn string(&mut self) -> Option<String> {
        let start = self.at + 1;
        let mut end = start;
        loop {
            match self.bytes.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        let raw = &self.bytes[start..end.min(start + MAX_WORD + 1)];
        Some(String::from_utf8_lossy(raw).into_owned())
    }

    fn push(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
        if self.sketch.paths.len() < MAX_PATHS && !self.sketch.paths.contains(&self.path) {
            self.sketch.paths.insert(self.path.clone());
        }
    }

    fn word(&mut self, text: String) {
        if text.len() <= MAX_WORD
            && self.sketch.words.len() < MAX_PATHS
            && !self.sketch.words.contains_key(&self.path)
        {
            self.sketch.words.insert(self.path.clone(), text);
        }
    }

    /// A value has ended: forget its key, unless it stands in a list.
    fn value_done(&mut self) {
        if let Some(frame) = self.frames.last()
            && frame.object
        {
            self.path.truncate(frame.base);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_paths_and_words_of_lines_and_of_a_cut_document() {
        let head = Head::new(b"{\"a\":1}\n{\"b\":{\"c\":[{\"d\":\"x\"},{\"e\":null}]},\"f\":\"y");
        let [first, second] = head.documents.as_slice() else {
            panic!("{} documents", head.documents.len());
        };
        assert!(
            first.has("a") && second.has("b.c.[].d") && second.has("b.c.[].e") && second.has("f")
        );
        assert_eq!(first.word("a"), Some("1"));
        assert_eq!(second.word("b.c.[].d"), Some("x"));
        assert_eq!(second.word("f"), None);
    }

    #[test]
    fn what_is_not_json_has_no_documents() {
        for text in ["", "hello", "12", "}", "[oops]\n{", "{{{", "\u{feff}"] {
            let head = Head::new(text.as_bytes());
            assert!(head.documents.iter().all(|d| !d.has("a")), "{text}");
        }
    }

    #[test]
    fn a_key_after_a_nested_list_stands_at_the_right_place() {
        let head = Head::new(b"[{\"m\":[[1,2],[3]],\"n\":2},{\"o\":{}}]");
        let first = &head.documents[0];
        assert!(first.has("[].m.[].[]") && first.has("[].n") && first.has("[].o"));
    }
}
