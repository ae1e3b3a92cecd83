//! The shape of the case folders: each case has its solution, each solution
//! its case, and both have the files that every case must have. What stands in
//! them is the catalog's business.

use std::collections::BTreeSet;
use std::path::Path;

use super::Tree;

const CASE: [&str; 8] = [
    "case.yaml",
    "symptom.md",
    "reproduce.md",
    "verification.md",
    "setup.md",
    "setup.sh",
    "reproduce.sh",
    "README.md",
];
const SOLUTION: [&str; 3] = ["solution.md", "blocks.json", "upstream.yaml"];

/// Lists what is missing or alone.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let cases = folders(tree, "cases", "case.yaml");
    let solutions = folders(tree, "cases-solution", "upstream.yaml");
    let mut problems = Vec::new();
    for id in cases.difference(&solutions) {
        problems.push(format!("cases/{id} has no cases-solution/{id}"));
    }
    for id in solutions.difference(&cases) {
        problems.push(format!("cases-solution/{id} has no cases/{id}"));
    }
    for (top, ids, wanted) in [
        ("cases", &cases, &CASE[..]),
        ("cases-solution", &solutions, &SOLUTION[..]),
    ] {
        for id in ids {
            for name in wanted {
                let file = Path::new(top).join(id).join(name);
                if !tree.files.contains(&file) {
                    problems.push(format!("{} is missing", file.display()));
                }
            }
        }
    }
    problems
}

/// The folders of this kind: those that hold the file which makes them one.
fn folders(tree: &Tree, top: &str, mark: &str) -> BTreeSet<String> {
    tree.files
        .iter()
        .filter(|f| f.starts_with(top) && f.ends_with(mark) && f.components().count() == 3)
        .filter_map(|f| f.parent()?.file_name()?.to_str().map(str::to_owned))
        .collect()
}
