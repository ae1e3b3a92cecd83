//! Reading a unified diff. It never applies anything.

use super::{FileChange, FilePatch, Hunk, HunkLine, MAX_BYTES, Patch, PatchError};

/// Reads a patch; see [`Patch::parse`].
pub(super) fn parse(bytes: &[u8]) -> Result<Patch, PatchError> {
    if bytes.len() > MAX_BYTES {
        return Err(PatchError::TooLarge(bytes.len()));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Patch::default());
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let mut parser = Parser {
        lines,
        at: 0,
        patch: Patch::default(),
    };
    parser.run()?;
    if parser.patch.files.is_empty() {
        return Err(PatchError::NoDiff);
    }
    Ok(parser.patch)
}

struct Parser<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
    patch: Patch,
}

/// What the extended header lines of `diff --git` say.
#[derive(Default)]
struct Header {
    git: Option<(String, String)>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    created: bool,
    deleted: bool,
    executable: Option<bool>,
    line: usize,
}

fn chomp(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

impl<'a> Parser<'a> {
    fn line(&self, i: usize) -> Option<&'a [u8]> {
        self.lines.get(i).map(|l| chomp(l))
    }

    fn starts(&self, i: usize, prefix: &[u8]) -> bool {
        self.line(i).is_some_and(|l| l.starts_with(prefix))
    }

    /// Whether a pair of file header lines stands here.
    fn file_header_at(&self, i: usize) -> bool {
        self.starts(i, b"--- ") && self.starts(i + 1, b"+++ ")
    }

    fn run(&mut self) -> Result<(), PatchError> {
        let mut header: Option<Header> = None;
        while self.at < self.lines.len() {
            if self.starts(self.at, b"diff --git ") {
                self.flush(header.take())?;
                header = Some(self.git_header()?);
            } else if self.file_header_at(self.at) {
                self.file(header.take().unwrap_or_default())?;
            } else {
                self.at += 1;
            }
        }
        self.flush(header)
    }

    /// A `diff --git` block without `---`/`+++`: a pure rename, an empty file, a mode change.
    fn flush(&mut self, header: Option<Header>) -> Result<(), PatchError> {
        let Some(h) = header else { return Ok(()) };
        let (old, new) = match (&h.rename_from, &h.rename_to, &h.git) {
            (Some(from), Some(to), _) => (from.clone(), to.clone()),
            (_, _, Some((old, new))) => (old.clone(), new.clone()),
            _ => return Ok(()),
        };
        let change = if h.rename_from.is_some() {
            FileChange::Rename
        } else if h.created {
            FileChange::Create
        } else if h.deleted {
            FileChange::Delete
        } else if h.executable.is_some() {
            FileChange::Modify
        } else {
            return Ok(());
        };
        self.push(h.line, change, &old, &new, h.executable, Vec::new())
    }

    fn push(
        &mut self,
        line: usize,
        change: FileChange,
        old: &str,
        new: &str,
        executable: Option<bool>,
        hunks: Vec<Hunk>,
    ) -> Result<(), PatchError> {
        let old_path = clean_path(old, line)?;
        let new_path = clean_path(new, line)?;
        self.patch.files.push(FilePatch {
            change,
            old_path,
            new_path,
            executable,
            hunks,
        });
        Ok(())
    }

    fn git_header(&mut self) -> Result<Header, PatchError> {
        let mut h = Header {
            line: self.at + 1,
            ..Header::default()
        };
        let rest = self
            .line(self.at)
            .unwrap_or_default()
            .strip_prefix(b"diff --git ")
            .unwrap_or_default();
        h.git = split_git_paths(rest);
        self.at += 1;
        while let Some(line) = self.line(self.at) {
            let text = String::from_utf8_lossy(line);
            if let Some(p) = text.strip_prefix("rename from ") {
                h.rename_from = Some(unquote(p));
            } else if let Some(p) = text.strip_prefix("rename to ") {
                h.rename_to = Some(unquote(p));
            } else if let Some(mode) = text.strip_prefix("new file mode ") {
                h.created = true;
                h.executable = self.mode(mode)?;
            } else if text.starts_with("deleted file mode ") {
                h.deleted = true;
            } else if let Some(mode) = text.strip_prefix("new mode ") {
                h.executable = self.mode(mode)?;
            } else if text.starts_with("GIT binary patch")
                || (text.starts_with("Binary files ") && text.ends_with("differ"))
            {
                return Err(PatchError::Unsupported {
                    line: self.at + 1,
                    what: "a binary change",
                });
            } else if text.starts_with("copy from ") {
                return Err(PatchError::Unsupported {
                    line: self.at + 1,
                    what: "a copied file",
                });
            } else if !(text.starts_with("index ")
                || text.starts_with("similarity ")
                || text.starts_with("dissimilarity ")
                || text.starts_with("old mode "))
            {
                break;
            }
            self.at += 1;
        }
        Ok(h)
    }

    fn mode(&self, mode: &str) -> Result<Option<bool>, PatchError> {
        match mode.trim() {
            "100755" => Ok(Some(true)),
            "120000" => Err(PatchError::Unsupported {
                line: self.at + 1,
                what: "a symbolic link",
            }),
            "160000" => Err(PatchError::Unsupported {
                line: self.at + 1,
                what: "a submodule",
            }),
            _ => Ok(Some(false)),
        }
    }

    /// From `---`/`+++` through the last hunk of the file.
    fn file(&mut self, header: Header) -> Result<(), PatchError> {
        let line = self.at + 1;
        let old = header_path(&self.line(self.at).unwrap_or_default()[4..]);
        let new = header_path(&self.line(self.at + 1).unwrap_or_default()[4..]);
        self.at += 2;
        let (change, old, new) = match (old.as_str(), new.as_str()) {
            ("/dev/null", "/dev/null") => {
                return Err(PatchError::Malformed {
                    line,
                    what: "both sides are /dev/null".to_owned(),
                });
            }
            ("/dev/null", new) => {
                let new = new.strip_prefix("b/").unwrap_or(new).to_owned();
                (FileChange::Create, new.clone(), new)
            }
            (old, "/dev/null") => {
                let old = old.strip_prefix("a/").unwrap_or(old).to_owned();
                (FileChange::Delete, old.clone(), old)
            }
            (old, new) => {
                let (old, new) = strip_sides(old, new);
                let change = if old == new {
                    FileChange::Modify
                } else {
                    FileChange::Rename
                };
                // `diff -u file.orig file` names two files and means one.
                if change == FileChange::Rename && header.rename_from.is_none() {
                    (FileChange::Modify, new.clone(), new)
                } else {
                    (change, old, new)
                }
            }
        };
        let mut hunks = Vec::new();
        while self.starts(self.at, b"@@") {
            hunks.push(self.hunk()?);
        }
        if hunks.is_empty() && change == FileChange::Modify {
            return Err(PatchError::Malformed {
                line,
                what: format!(
                    "no hunk (`@@ -line,count +line,count @@`) follows the header of `{}`",
                    shorten(&new)
                ),
            });
        }
        self.push(line, change, &old, &new, header.executable, hunks)
    }

    fn hunk(&mut self) -> Result<Hunk, PatchError> {
        let head_line = self.at + 1;
        let head = String::from_utf8_lossy(self.line(self.at).unwrap_or_default()).into_owned();
        let (old_start, mut old_left, mut new_left) =
            hunk_head(&head).ok_or_else(|| PatchError::Malformed {
                line: head_line,
                what: format!(
                    "`{}` is no hunk header (`@@ -line,count +line,count @@`)",
                    shorten(&head)
                ),
            })?;
        let mut recounted = false;
        self.at += 1;
        let mut lines: Vec<HunkLine> = Vec::new();
        while let Some(raw) = self.lines.get(self.at).copied() {
            let counts_done = old_left == 0 && new_left == 0;
            let header_ahead = self.file_header_at(self.at) && self.starts(self.at + 2, b"@@");
            if header_ahead || raw.starts_with(b"diff --git ") || raw.starts_with(b"@@") {
                break;
            }
            let line = match raw.first() {
                Some(b'\\') => {
                    drop_newline(&mut lines);
                    self.at += 1;
                    continue;
                }
                // The trailer that `git format-patch` ends a mail with.
                Some(b'-') if counts_done && chomp(raw) == b"-- " => break,
                Some(b' ') => HunkLine::Context(raw[1..].to_vec()),
                Some(b'-') => HunkLine::Remove(raw[1..].to_vec()),
                Some(b'+') => HunkLine::Add(raw[1..].to_vec()),
                // An editor or a mail program stripped the blank of an empty context line.
                Some(b'\n' | b'\r') if !counts_done => HunkLine::Context(raw.to_vec()),
                _ => break,
            };
            recounted |= counts_done;
            match &line {
                HunkLine::Context(_) => {
                    recounted |= old_left == 0 || new_left == 0;
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                }
                HunkLine::Remove(_) => {
                    recounted |= old_left == 0;
                    old_left = old_left.saturating_sub(1);
                }
                HunkLine::Add(_) => {
                    recounted |= new_left == 0;
                    new_left = new_left.saturating_sub(1);
                }
            }
            lines.push(line);
            self.at += 1;
        }
        if lines.is_empty() {
            return Err(PatchError::Malformed {
                line: head_line,
                what: "the hunk has no lines".to_owned(),
            });
        }
        if recounted || old_left > 0 || new_left > 0 {
            self.patch.notes.push(format!(
                "line {head_line}: the hunk's line counts were wrong and were recounted"
            ));
        }
        // The patch file's own last line may have lost its newline in transport.
        if self.at >= self.lines.len()
            && let Some(HunkLine::Context(b) | HunkLine::Remove(b) | HunkLine::Add(b)) =
                lines.last_mut()
            && !b.ends_with(b"\n")
            && !self.lines.last().is_some_and(|l| l.starts_with(b"\\"))
        {
            b.push(b'\n');
            self.patch
                .notes
                .push("the patch lacked its last newline".to_owned());
        }
        Ok(Hunk { old_start, lines })
    }
}

fn drop_newline(lines: &mut [HunkLine]) {
    if let Some(HunkLine::Context(b) | HunkLine::Remove(b) | HunkLine::Add(b)) = lines.last_mut() {
        while matches!(b.last(), Some(b'\n' | b'\r')) {
            b.pop();
        }
    }
}

/// `@@ -a[,b] +c[,d] @@` to (a, b, d).
fn hunk_head(text: &str) -> Option<(usize, usize, usize)> {
    let rest = text.strip_prefix("@@")?.trim_start();
    let (ranges, _) = rest.split_once("@@")?;
    let mut parts = ranges.split_whitespace();
    let (old_start, old_count) = range(parts.next()?.strip_prefix('-')?)?;
    let (_, new_count) = range(parts.next()?.strip_prefix('+')?)?;
    Some((old_start, old_count, new_count))
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The path of a `---` or `+++` line: unquoted, its time stamp cut off.
fn header_path(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    let text = text.split('\t').next().unwrap_or_default();
    unquote(text.trim_end())
}

/// Takes off `a/` and `b/`, but only where both sides carry one.
fn strip_sides(old: &str, new: &str) -> (String, String) {
    let side = |t: &str| -> Option<String> {
        ["a/", "b/", "i/", "w/", "c/", "o/"]
            .iter()
            .find_map(|p| t.strip_prefix(p))
            .map(str::to_owned)
    };
    match (side(old), side(new)) {
        (Some(o), Some(n)) if old.as_bytes()[0] != new.as_bytes()[0] => (o, n),
        _ => (old.to_owned(), new.to_owned()),
    }
}

fn split_git_paths(rest: &[u8]) -> Option<(String, String)> {
    let text = String::from_utf8_lossy(rest);
    let middle = text.match_indices(" b/").map(|(i, _)| i).find(|i| {
        let (old, new) = (&text[..*i], &text[*i + 1..]);
        old.strip_prefix("a/") == new.strip_prefix("b/")
    });
    let i = middle.or_else(|| text.find(" b/"))?;
    Some(strip_sides(&text[..i], &text[i + 1..]))
}

/// Undoes git's C-style quoting.
fn unquote(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.bytes().peekable();
    while let Some(b) = bytes.next() {
        if b != b'\\' {
            out.push(b);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(d @ b'0'..=b'7') => {
                let mut v = u32::from(d - b'0');
                for _ in 0..2 {
                    match bytes.peek() {
                        Some(d @ b'0'..=b'7') => v = v * 8 + u32::from(*d - b'0'),
                        _ => break,
                    }
                    bytes.next();
                }
                out.push(u8::try_from(v & 0xff).unwrap_or(b'?'));
            }
            Some(other) => out.push(other),
            None => out.push(b'\\'),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn shorten(text: &str) -> String {
    text.chars().take(120).collect()
}

/// A relative path without surprises, or why not.
fn clean_path(path: &str, line: usize) -> Result<String, PatchError> {
    let bad = |why| {
        Err(PatchError::BadPath {
            line,
            path: shorten(path),
            why,
        })
    };
    if path.is_empty() || path.len() > 1024 {
        return bad("is empty or too long");
    }
    if path.starts_with('/') || path.starts_with('\\') {
        return bad("is absolute");
    }
    if path.chars().any(char::is_control) {
        return bad("holds a control character");
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => return bad("leaves the tree"),
            p if p.eq_ignore_ascii_case(".git") => return bad("reaches into .git"),
            p => parts.push(p),
        }
    }
    if parts.is_empty() {
        return bad("names no file");
    }
    Ok(parts.join("/"))
}
