//! `docs/guarantees.md` names the tests that hold each guarantee; this checks
//! that every one of them exists. Whether they pass is for the tests to say.

use std::path::Path;

use super::{Tree, markdown};

const DOCUMENT: &str = "docs/guarantees.md";
/// Lines above a function within which its test attribute stands.
const ATTRIBUTE_WITHIN: usize = 4;

/// Lists named tests that are not there.
pub(crate) fn check(_: &Tree) -> Vec<String> {
    match std::fs::read_to_string(DOCUMENT) {
        Ok(text) => compare(&text, &|file| std::fs::read_to_string(file).ok()),
        Err(error) => vec![format!("{DOCUMENT} can't be read: {error}")],
    }
}

fn compare(text: &str, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let Some(rows) = markdown::table(text, &["row", "guarantee", "file", "tests"]) else {
        return vec![format!(
            "{DOCUMENT} has no table `row | guarantee | file | tests`"
        )];
    };
    let mut problems = Vec::new();
    for cells in rows {
        let [row, _, file, tests] = &cells[..] else {
            problems.push(format!(
                "this line has not four cells: {}",
                cells.join(" | ")
            ));
            continue;
        };
        let Some(source) = read(Path::new(file)) else {
            problems.push(format!("row {row}: there is no file {file}"));
            continue;
        };
        let names = markdown::names(tests);
        if names.is_empty() {
            problems.push(format!("row {row} names no test"));
        }
        for name in names {
            if !is_test(&source, &name) {
                problems.push(format!("row {row}: {file} has no test `{name}`"));
            }
        }
    }
    problems
}

fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().collect();
    let head = format!("fn {name}(");
    lines.iter().enumerate().any(|(n, line)| {
        line.contains(&head)
            && lines[n.saturating_sub(ATTRIBUTE_WITHIN)..n]
                .iter()
                .any(|above| above.contains("#[test]") || above.contains("::test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| row | guarantee | file | tests |\n| --- | --- | --- | --- |\n";
    const SOURCE: &str =
        "#[test]\nfn holds() {}\n\n#[tokio::test]\nasync fn waits() {}\n\n\n\n\n\nfn helper() {}\n";

    fn found(line: &str) -> Vec<String> {
        compare(&format!("{TABLE}{line}\n"), &|file| {
            (file == Path::new("a.rs")).then(|| SOURCE.to_owned())
        })
    }

    #[test]
    fn every_named_test_must_be_there() {
        assert!(found("| 1 | x | `a.rs` | `holds`, `waits` |").is_empty());
        assert!(found("| 1 | x | `a.rs` | `gone` |")[0].contains("gone"));
        assert!(found("| 1 | x | `a.rs` | `helper` |")[0].contains("helper"));
        assert!(found("| 1 | x | `b.rs` | `holds` |")[0].contains("b.rs"));
        assert!(found("| 1 | x | `a.rs` | - |")[0].contains("no test"));
        assert!(compare("nothing", &|_| None)[0].contains("no table"));
    }
}
