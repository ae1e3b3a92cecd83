//! Every module says what it is for, and stays small enough to be read at
//! one sitting.

use std::path::Path;

use super::Tree;

/// The most lines of a module, tests aside.
const MOST_LINES: usize = 520;

/// Files that may be longer, each with the reason.
const LONGER: [(&str, &str); 0] = [];

/// Lists modules without a purpose or out of bounds.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for file in tree.with_extension(&["rs"]) {
        // Drivers that cases bring in are compiled into other people's trees.
        if file.starts_with("cases") {
            continue;
        }
        match std::fs::read_to_string(file) {
            Ok(text) => problems.extend(check_text(file, &text)),
            Err(error) => problems.push(format!("{} can't be read: {error}", file.display())),
        }
    }
    for (path, _) in LONGER {
        let lines = std::fs::read_to_string(path).map_or(0, |t| code_lines(&t));
        if lines <= MOST_LINES {
            problems.push(format!(
                "{path} needs no exception any more: take it out of the list"
            ));
        }
    }
    problems
}

fn check_text(file: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.starts_with("//!") {
        problems.push(format!(
            "{} does not open with `//!`: what is it for, what does it never do?",
            file.display()
        ));
    }
    let is_test = file.components().any(|c| c.as_os_str() == "tests") || file.ends_with("tests.rs");
    let excepted = LONGER.iter().any(|(path, _)| Path::new(path) == file);
    let lines = code_lines(text);
    if lines > MOST_LINES && !is_test && !excepted {
        problems.push(format!(
            "{} has {lines} lines: does it have one reason to change?",
            file.display()
        ));
    }
    problems
}

/// Lines before the tests that stand at a file's end.
fn code_lines(text: &str) -> usize {
    let tests = text.find("\n#[cfg(test)]\nmod ");
    text[..tests.unwrap_or(text.len())].lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_module_is_found_but_not_its_tests() {
        let file = Path::new("crates/a/src/b.rs");
        let code = format!("//! A.\n{}", "x\n".repeat(MOST_LINES - 1));
        assert!(check_text(file, &code).is_empty());
        assert!(
            check_text(
                file,
                &format!("{code}\n#[cfg(test)]\nmod tests {{}}\n{code}")
            )
            .is_empty()
        );
        assert_eq!(check_text(file, &format!("{code}y\n")).len(), 1);
        assert!(check_text(Path::new("crates/a/tests/b.rs"), &format!("{code}y\n")).is_empty());
    }

    #[test]
    fn a_module_without_a_purpose_is_found() {
        assert_eq!(check_text(Path::new("a.rs"), "fn main() {}\n").len(), 1);
    }
}
