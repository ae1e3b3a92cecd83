//! Which words look like files, and which files a patch or a program's text changes.

use std::sync::LazyLock;

use regex::Regex;

/// Program text searched for file writes, in bytes; the rest is not looked at.
const MAX_PROGRAM: usize = 256 << 10;

/// Whether a name can stand for a file in a list of files.
pub(crate) fn plausible(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 300
        && name != "-"
        && !name.contains("://")
        && !name.contains(['\n', '\0', '`', '|', ';'])
        && !name.starts_with("$(")
}

/// Whether a word of a command looks like a file rather than like anything else.
pub(crate) fn pathlike(word: &str) -> bool {
    if word.starts_with('-') || !plausible(word) || word.contains([' ', '=', '(', '\\']) {
        return false;
    }
    if word.contains('/') {
        return !word.starts_with("s/");
    }
    word.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty()
            && (1..=8).contains(&end.len())
            && end.chars().all(|c| c.is_ascii_alphanumeric())
            && end.chars().any(|c| c.is_ascii_alphabetic())
    })
}

/// Whether a path lies where only scratch files do, or inside a repository's own
/// records: moving those about changes no source.
pub(crate) fn scratch(path: &str) -> bool {
    path.starts_with(".git/")
        || path.contains("/.git/")
        || path.starts_with("/tmp/")
        || path.starts_with("/var/tmp/")
        || path.starts_with("/dev/")
        || path == "/tmp"
}

/// Files that a unified diff, or a patch in the `*** Begin Patch` form, changes.
pub(crate) fn of_patch(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut previous = "";
    for line in text.lines() {
        let name = if let Some(rest) = line.strip_prefix("+++ ") {
            let name = rest.split('\t').next().unwrap_or(rest).trim();
            if name == "/dev/null" {
                // A deletion is named by its old side.
                previous
                    .strip_prefix("--- ")
                    .map(|old| old.split('\t').next().unwrap_or(old).trim())
            } else {
                Some(name)
            }
        } else {
            [
                "*** Update File: ",
                "*** Add File: ",
                "*** Delete File: ",
                "*** Move to: ",
            ]
            .iter()
            .find_map(|p| line.strip_prefix(p))
            .map(str::trim)
        };
        previous = line;
        let Some(name) = name else { continue };
        let name = name
            .strip_prefix("a/")
            .or_else(|| name.strip_prefix("b/"))
            .unwrap_or(name);
        if plausible(name) && !out.iter().any(|n| n == name) && out.len() < 200 {
            out.push(name.to_owned());
        }
    }
    out
}

static WRITES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"\.write\(|write_text\(|\.writelines\(|write_bytes\(|writeFileSync\(|writeFile\(|File\.write\b|fs::write\("#,
    )
    .ok()
});

static OPENED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:open\(\s*['"]([^'"\n]{1,300})['"]\s*,\s*(?:mode\s*=\s*)?['"][wax]|Path\(\s*['"]([^'"\n]{1,300})['"]\s*\)\.write_|writeFile(?:Sync)?\(\s*['"]([^'"\n]{1,300})['"])"#,
    )
    .ok()
});

/// Files that a program's text writes; none at all if it doesn't write. A
/// program that writes under a computed name gives an empty list.
pub(crate) fn of_program(text: &str) -> Option<Vec<String>> {
    let mut end = text.len().min(MAX_PROGRAM);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    if !WRITES.as_ref().is_some_and(|r| r.is_match(text)) {
        return None;
    }
    let mut out: Vec<String> = Vec::new();
    for found in OPENED
        .as_ref()
        .map(|r| r.captures_iter(text))
        .into_iter()
        .flatten()
    {
        if let Some(name) = found.iter().skip(1).flatten().next()
            && !out.iter().any(|n| n == name.as_str())
            && out.len() < 64
        {
            out.push(name.as_str().to_owned());
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_words() {
        for yes in [
            "a.py",
            "src/x",
            "/etc/hosts",
            "./run",
            "Makefile.am",
            "a-b_c.rs",
        ] {
            assert!(pathlike(yes), "{yes}");
        }
        for no in [
            "-n",
            "foo",
            "s/a/b/",
            "http://x/y",
            "1.5",
            "a b.c",
            "x=1.py",
            "",
            "-",
        ] {
            assert!(!pathlike(no), "{no}");
        }
    }

    #[test]
    fn patches_name_their_files() {
        let diff = "--- a/x.c\n+++ b/x.c\n@@\n--- a/gone.c\n+++ /dev/null\n";
        assert_eq!(of_patch(diff), ["x.c", "gone.c"]);
    }

    #[test]
    fn programs_that_write() {
        assert_eq!(of_program("print(open('a').read())"), None);
        assert_eq!(
            of_program("Path('a.py').write_text(s)"),
            Some(vec!["a.py".to_owned()])
        );
        assert_eq!(of_program("f.write(s)"), Some(vec![]));
    }
}
