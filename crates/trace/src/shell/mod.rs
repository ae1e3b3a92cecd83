//! Takes a shell script apart into simple commands. A reader of traces, not a
//! shell: nothing is expanded or run, and what it can't follow it takes as words.

mod wrappers;

pub(crate) use wrappers::{Unwrapped, unwrap};

/// Simple commands looked at in one script; the rest is left out.
const MAX_COMMANDS: usize = 1_000;
/// Words of one command that are kept.
const MAX_WORDS: usize = 400;

/// Where output goes, or input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// Whether it writes (`>`, `>>`, `&>`, `>|`).
    pub(crate) writes: bool,
    /// Whether it is about standard error alone.
    pub(crate) stderr: bool,
    /// The file.
    pub(crate) target: String,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Simple<'s> {
    /// Its words, quotes taken off.
    pub(crate) words: Vec<String>,
    /// Its redirections.
    pub(crate) redirects: Vec<Redirect>,
    /// The text of its here-document.
    pub(crate) heredoc: Option<&'s str>,
    /// Scripts inside `$(...)` and backquotes.
    pub(crate) inner: Vec<&'s str>,
    /// Whether it reads from a pipe.
    pub(crate) piped: bool,
}

impl Simple<'_> {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.redirects.is_empty() && self.inner.is_empty()
    }
}

/// Takes a script apart at `;`, `&&`, `||`, `|`, `&`, line ends and brackets.
pub(crate) fn split(script: &str) -> Vec<Simple<'_>> {
    let mut lexer = Lexer {
        text: script,
        bytes: script.as_bytes(),
        at: 0,
        done: Vec::new(),
        current: Simple::default(),
        pending: Vec::new(),
    };
    lexer.run();
    lexer.done
}

/// A here-document whose text has not begun.
struct Pending {
    delimiter: String,
    strip_tabs: bool,
    /// Index of its command among those done, known once the command ends.
    command: usize,
}

struct Lexer<'s> {
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    done: Vec<Simple<'s>>,
    current: Simple<'s>,
    pending: Vec<Pending>,
}

impl<'s> Lexer<'s> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if self.done.len() >= MAX_COMMANDS {
                return;
            }
            match byte {
                b'\n' => {
                    self.end(false);
                    self.at += 1;
                    self.heredocs();
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 2,
                b'#' => {
                    while self.bytes.get(self.at).is_some_and(|b| *b != b'\n') {
                        self.at += 1;
                    }
                }
                b';' | b'(' | b')' => {
                    self.end(false);
                    self.at += 1;
                }
                b'|' => {
                    self.at += 1;
                    let pipe = self.bytes.get(self.at) != Some(&b'|');
                    if !pipe || self.bytes.get(self.at) == Some(&b'&') {
                        self.at += 1;
                    }
                    self.end(pipe);
                }
                b'&' if self.bytes.get(self.at + 1) == Some(&b'>') => {
                    self.at += 1;
                    self.redirect("&");
                }
                b'&' => {
                    self.end(false);
                    self.at += 1;
                }
                b'<' | b'>' => self.redirect(""),
                _ => self.word(),
            }
        }
        self.end(false);
    }

    /// Ends the current command; the next one reads from a pipe if `pipe`.
    fn end(&mut self, pipe: bool) {
        let next = Simple {
            piped: pipe,
            ..Simple::default()
        };
        let ended = std::mem::replace(&mut self.current, next);
        if ended.is_empty() {
            // `| then a line end` keeps reading from the pipe.
            self.current.piped |= ended.piped && !pipe && self.bytes.get(self.at) == Some(&b'\n');
        } else {
            self.done.push(ended);
        }
    }

    /// Reads the texts of the here-documents that were announced on the line before.
    fn heredocs(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let mut end = self.bytes.len();
            let mut next = end;
            let mut line_start = start;
            while line_start < self.bytes.len() {
                let line_end = self.bytes[line_start..]
                    .iter()
                    .position(|b| *b == b'\n')
                    .map_or(self.bytes.len(), |n| line_start + n);
                let mut line = &self.bytes[line_start..line_end];
                if pending.strip_tabs {
                    while let Some(rest) = line.strip_prefix(b"\t") {
                        line = rest;
                    }
                }
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                if line == pending.delimiter.as_bytes() {
                    end = line_start;
                    next = (line_end + 1).min(self.bytes.len());
                    break;
                }
                line_start = line_end + 1;
            }
            self.at = next;
            if let Some(command) = self.done.get_mut(pending.command) {
                command.heredoc = self.text.get(start..end);
            }
        }
    }

    fn redirect(&mut self, descriptor: &str) {
        let mut operator = String::new();
        while let Some(&b) = self.bytes.get(self.at) {
            if !b"<>&|-".contains(&b) || operator.len() >= 3 {
                break;
            }
            // `>-` does not exist; `<<-` does.
            if b == b'-' && operator != "<<" {
                break;
            }
            operator.push(char::from(b));
            self.at += 1;
        }
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let target = self.raw_word();
        match operator.as_str() {
            "<<" | "<<-" => {
                if !target.is_empty() && self.pending.len() < 16 {
                    self.pending.push(Pending {
                        delimiter: target,
                        strip_tabs: operator == "<<-",
                        command: self.done.len(),
                    });
                }
            }
            "<<<" => {}
            ">&" | "<&" if target.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {}
            _ => {
                self.current.redirects.push(Redirect {
                    writes: operator.contains('>'),
                    stderr: descriptor == "2",
                    target,
                });
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let word = self.raw_word();
        if self.at == start {
            // A byte no word begins with: pass over it, whole characters at a time.
            self.at += 1;
            while self.at < self.bytes.len() && !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            return;
        }
        let is_number = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        if is_number && matches!(self.bytes.get(self.at), Some(b'<' | b'>')) {
            self.redirect(&word);
            return;
        }
        if self.current.words.len() < MAX_WORDS {
            self.current.words.push(word);
        }
    }

    /// A word with its quotes taken off; empty and without progress if none begins here.
    fn raw_word(&mut self) -> String {
        let mut out = Vec::new();
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' => {
                    break;
                }
                b'\\' => {
                    match self.bytes.get(self.at + 1) {
                        Some(b'\n') | None => {}
                        Some(escaped) => out.push(*escaped),
                    }
                    self.at = (self.at + 2).min(self.bytes.len());
                }
                b'\'' => {
                    let start = self.at + 1;
                    let end = self.find(start, b'\'');
                    out.extend_from_slice(&self.bytes[start..end]);
                    self.at = (end + 1).min(self.bytes.len());
                }
                b'"' => self.double_quoted(&mut out),
                b'$' if self.bytes.get(self.at + 1) == Some(&b'(') => self.substitution(&mut out),
                b'`' => {
                    let start = self.at + 1;
                    let end = self.find(start, b'`');
                    self.keep_inner(start, end);
                    out.extend_from_slice(&self.bytes[self.at..(end + 1).min(self.bytes.len())]);
                    self.at = (end + 1).min(self.bytes.len());
                }
                _ => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    fn double_quoted(&mut self, out: &mut Vec<u8>) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => {
                    match self.bytes.get(self.at + 1) {
                        Some(b'\n') => {}
                        Some(&e) if b"\"\\$`".contains(&e) => out.push(e),
                        Some(&e) => out.extend_from_slice(&[b'\\', e]),
                        None => out.push(b'\\'),
                    }
                    self.at = (self.at + 2).min(self.bytes.len());
                }
                b'$' if self.bytes.get(self.at + 1) == Some(&b'(') => self.substitution(out),
                _ => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// `$( ... )`, brackets counted, quotes inside passed over.
    fn substitution(&mut self, out: &mut Vec<u8>) {
        let start = self.at + 2;
        let mut depth = 1_usize;
        let mut i = start;
        while let Some(&byte) = self.bytes.get(i) {
            match byte {
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\'' => i = self.find(i + 1, b'\''),
                b'\\' => i += 1,
                _ => {}
            }
            i += 1;
        }
        let end = i.min(self.bytes.len());
        self.keep_inner(start, end);
        let after = (end + 1).min(self.bytes.len());
        out.extend_from_slice(&self.bytes[self.at..after]);
        self.at = after;
    }

    fn keep_inner(&mut self, start: usize, end: usize) {
        if self.current.inner.len() < 16
            && let Some(inner) = self.text.get(start..end)
        {
            self.current.inner.push(inner);
        }
    }

    /// Position of a byte from `start` on, or the end.
    fn find(&self, start: usize, byte: u8) -> usize {
        self.bytes
            .get(start..)
            .and_then(|rest| rest.iter().position(|b| *b == byte))
            .map_or(self.bytes.len(), |n| start + n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<Vec<String>> {
        split(script).into_iter().map(|c| c.words).collect()
    }

    #[test]
    fn splits_at_operators_outside_quotes() {
        assert_eq!(
            words("cd a && grep -n 'x && y' \"b c\" | head -5; ls # end\n echo \\; done"),
            [
                vec!["cd", "a"],
                vec!["grep", "-n", "x && y", "b c"],
                vec!["head", "-5"],
                vec!["ls"],
                vec!["echo", ";", "done"],
            ]
        );
        assert!(split("a | b")[1].piped && !split("a || b")[1].piped);
    }

    #[test]
    fn keeps_redirections_and_here_documents() {
        let script =
            "cat > out.py <<'EOF' 2>/dev/null\nif a && b; then\nEOF\npython out.py 2>&1 >log";
        let commands = split(script);
        assert_eq!(commands.len(), 2);
        assert_eq!(commands[0].words, ["cat"]);
        assert_eq!(commands[0].heredoc, Some("if a && b; then\n"));
        assert_eq!(commands[0].redirects[0].target, "out.py");
        assert!(commands[0].redirects[1].stderr);
        assert_eq!(commands[1].redirects.len(), 1);
        assert_eq!(commands[1].redirects[0].target, "log");
    }

    #[test]
    fn here_document_to_the_left_of_a_pipe() {
        let commands = split("cat <<A | tee x\nhello\nA\nls");
        assert_eq!(commands.len(), 3);
        assert_eq!(commands[0].heredoc, Some("hello\n"));
        assert_eq!(commands[2].words, ["ls"]);
    }

    #[test]
    fn substitutions_are_kept_inside_their_word() {
        let commands = split("X=$(git log | head -1) run \"$(a ')' b)\" `c d`");
        assert_eq!(commands.len(), 1);
        assert_eq!(commands[0].inner, ["git log | head -1", "a ')' b", "c d"]);
    }

    #[test]
    fn never_stuck_on_odd_text() {
        for script in [
            "'", "\"", "$(", "`", "<<", "cat <<", "\\", "é&é|ü", "a >", "((((", "2>", "<<<x",
            "a\u{0}b",
        ] {
            let _ = split(script);
        }
    }
}
