//! Words that say a thing is unfinished, and paths of the machine that it was
//! written on: neither belongs in what others read.

use std::path::Path;

use super::Tree;

/// What may not stand in a file, in two halves so that this file passes, and
/// what to do instead.
const WORDS: [(&str, &str, &str); 10] = [
    ("todo", "!(", "do it, or leave it out"),
    ("unimplemented", "!(", "do it, or leave it out"),
    ("FIX", "ME", "mend it"),
    ("HA", "CK", "do it properly, or say why it is so"),
    ("X", "XX", "say what is meant"),
    ("for ", "now", "say what it does, not how long"),
    ("not ", "implemented", "do it, or leave it out"),
    ("place", "holder", "put the real thing there"),
    ("/work/", "main", "name no path of one machine"),
    ("/work/", "shared", "name no path of one machine"),
];

/// Lists the lines that hold one.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for file in tree.with_extension(&[
        "rs", "sh", "md", "py", "sql", "toml", "yaml", "yml", "css", "js",
    ]) {
        // Reports and traces quote other people; a lock file names packages.
        let quoted = ["cases", "cases-solution", "samples"]
            .iter()
            .any(|d| file.starts_with(d));
        if quoted || file.ends_with("Cargo.lock") {
            continue;
        }
        if let Ok(text) = std::fs::read_to_string(file) {
            problems.extend(check_text(file, &text));
        }
    }
    problems
}

fn check_text(file: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (first, second, advice) in WORDS {
            let word = format!("{first}{second}");
            if line
                .match_indices(&word)
                .any(|(at, _)| counts(line, at, &word))
            {
                problems.push(format!(
                    "{}:{}: `{word}`: {advice}",
                    file.display(),
                    number + 1
                ));
            }
        }
    }
    problems
}

/// Whether the word at this place is one of those meant: not a part of a
/// longer one, and not the HTML attribute or CSS selector of the same name.
fn counts(line: &str, at: usize, word: &str) -> bool {
    let before = line[..at].chars().next_back();
    let after = line[at + word.len()..].chars().next();
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let attribute = matches!(after, Some('=')) || matches!(before, Some(':'));
    let longer = inside(before) || (inside(after) && !word.ends_with('('));
    !longer && !attribute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_words_are_found_with_their_line() {
        let text = format!("a\nb // {}{} this\n", "FIX", "ME");
        assert_eq!(check_text(Path::new("a.rs"), &text).len(), 1);
        assert!(check_text(Path::new("a.rs"), &text)[0].starts_with("a.rs:2:"));
    }

    #[test]
    fn attributes_and_longer_words_are_not() {
        let attribute = format!("<input {}{}=\"name\">\n", "place", "holder");
        assert!(check_text(Path::new("a.rs"), &attribute).is_empty());
        assert!(check_text(Path::new("a.rs"), "a HACKSAW\n").is_empty());
        let call = format!("{}{}\"later\")\n", "todo", "!(");
        assert_eq!(check_text(Path::new("a.rs"), &call).len(), 1);
    }
}
