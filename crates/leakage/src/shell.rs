//! Reads a command out of tool input, in the form that a shell sees. Good
//! enough to tell a command from a mention of it; it runs nothing.

use crate::guard::{Hit, floor};

/// The most bytes of one command that are read.
const LONGEST: usize = 3_000;

/// Programs that run what follows them.
const WRAPPERS: [&str; 27] = [
    "sudo", "time", "timeout", "env", "nohup", "exec", "command", "builtin", "xargs", "nice",
    "ionice", "stdbuf", "then", "do", "else", "if", "elif", "while", "until", "!", "bash", "sh",
    "zsh", "dash", "eval", "watch", "setsid",
];

/// Programs whose arguments name where the command is run.
const CARRIERS: [&str; 4] = ["docker", "podman", "kubectl", "ssh"];

/// A command: its words, and where it ends in the hit's text.
pub(crate) struct Command<'a> {
    /// The words after the program's name.
    pub args: Vec<&'a str>,
    /// End of the last word.
    pub end: usize,
}

impl<'a> Command<'a> {
    /// The command whose program's name the pattern is; none if it is only mentioned.
    pub(crate) fn at(hit: &Hit<'a>) -> Option<Self> {
        in_command_position(hit.text, hit.start).then_some(())?;
        // A path to the program is fine, a longer name is not.
        match hit.after() {
            None => {}
            Some(c) if c.is_whitespace() || is_separator(c) => {}
            _ => return None,
        }
        let rest = &hit.text[hit.end..floor(hit.text, hit.end + LONGEST)];
        let mut braces = false;
        let length = rest
            .char_indices()
            .find(|(i, c)| {
                // `HEAD@{1}` is one word.
                braces = (*c == '{' && rest[..*i].ends_with('@')) || (braces && *c != '}');
                let closes = *c == '}'
                    && rest[..*i]
                        .rfind('{')
                        .is_some_and(|o| rest[..o].ends_with('@'));
                (is_separator(*c) && !braces && !closes) || *c == ']'
            })
            .map_or(rest.len(), |(i, _)| i);
        let args: Vec<&str> = rest[..length].split_whitespace().collect();
        Some(Self {
            end: hit.end + rest[..length].trim_end().len(),
            args,
        })
    }

    /// Arguments that are no options.
    pub(crate) fn plain_args(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.args.iter().copied().filter(|a| !a.starts_with('-'))
    }
}

/// Characters between two commands.
const fn is_separator(c: char) -> bool {
    matches!(c, ';' | '|' | '&' | '\n' | '(' | ')' | '`' | '{' | '}')
}

/// Whether what stands before is nothing, a separator, or a wrapper's words.
pub(crate) fn in_command_position(text: &str, at: usize) -> bool {
    let from = floor(text, at.saturating_sub(400));
    let before = &text[from..at];
    let start = before
        .rfind(|c: char| is_separator(c) || c == '[' || c == '=')
        .map_or(0, |i| i + 1);
    // `X=git` sets a variable, `X=$(git` was cut at the bracket.
    if before[..start].ends_with('=') && before[start..].is_empty() {
        return false;
    }
    // Behind `A=1` the search ended too late: look at the words before it as well.
    let start = before[..start]
        .rfind(|c: char| is_separator(c) || c == '[')
        .filter(|_| before[..start].ends_with('='))
        .map_or(
            if before[..start].ends_with('=') {
                0
            } else {
                start
            },
            |i| i + 1,
        );
    // A word that is none of a wrapper's ends it at once.
    let carried = CARRIERS.iter().any(|c| before[start..].contains(c));
    let last = before[start..]
        .split_whitespace()
        .next_back()
        .unwrap_or_default();
    if !carried && !last.ends_with('/') && !last.is_empty() && !is_wrapping(last) {
        return false;
    }
    let mut words: Vec<&str> = before[start..].split_whitespace().collect();
    // `/usr/bin/git`: the path belongs to the program's name.
    if !before[start..].ends_with(char::is_whitespace)
        && let Some(last) = words.last()
        && last.ends_with('/')
    {
        words.pop();
    } else if !before[start..].is_empty() && !before[start..].ends_with(char::is_whitespace) {
        return false;
    }
    let mut carried = false;
    words.iter().all(|word| {
        carried |= CARRIERS.contains(&word.rsplit('/').next().unwrap_or(word));
        carried || is_wrapping(word)
    })
}

/// Whether a word may stand between the start of a command and the program that
/// it runs in the end.
fn is_wrapping(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let duration = word.trim_end_matches(['s', 'm', 'h']);
    WRAPPERS.contains(&name)
        || word.starts_with('-')
        || is_assignment(word)
        || (!duration.is_empty() && duration.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        // A prompt, or the key of a JSON object.
        || matches!(word, "$" | ">" | "#!")
        || (word.len() < 40 && word.ends_with(':'))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(text: &str) -> bool {
        text.find("git")
            .is_some_and(|at| in_command_position(text, at))
    }

    #[test]
    fn commands_are_told_from_mentions() {
        for command in [
            "git log",
            "cd /work && git log",
            "sudo -e git log",
            "timeout 10s git log",
            "a=b c=d git log",
            "bash -lc git log",
            "x=$(git log)",
            "for f in x; do git log; done",
            "/usr/bin/git log",
            "docker exec -it box git log",
            "{command: git log}",
            "os.system(git log)",
            "subprocess.run([git log --all])",
            "env /usr/bin/git log",
            "$ git log",
        ] {
            assert!(git(command), "{command}");
        }
        for mention in [
            "echo git log",
            "grep -rn git fetch .",
            "# git log",
            "vim .gitignore",
            "ls .git",
            "cat digit",
            "x=git",
            "the command git log",
        ] {
            assert!(!git(mention), "{mention}");
        }
    }
}
