//! Every third-party library that a package names itself has its line in
//! docs/dependencies.md: why it is here, and how it is kept up.

use std::collections::{BTreeMap, BTreeSet};

use super::{Tree, markdown};

const FILE: &str = "docs/dependencies.md";

/// Lists libraries without a line, and lines without a library.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let text = match std::fs::read_to_string(FILE) {
        Ok(text) => text,
        Err(error) => return vec![format!("{FILE} can't be read: {error}")],
    };
    let Some(rows) = markdown::table(&text, &["library", "version"]) else {
        return vec![format!("{FILE} has no table `library | version | ...`")];
    };
    let listed: BTreeSet<String> = rows
        .iter()
        .flat_map(|r| r.first())
        .flat_map(|c| markdown::names(c))
        .collect();
    let mut used: BTreeMap<String, &str> = BTreeMap::new();
    for package in tree.packages() {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if dependency["path"].is_null() {
                let name = dependency["name"].as_str().unwrap_or_default().to_owned();
                used.insert(name, package["name"].as_str().unwrap_or_default());
            }
        }
    }
    let mut problems = Vec::new();
    for (name, user) in &used {
        if !listed.contains(name) {
            problems.push(format!("{name} (used by {user}) has no line in {FILE}"));
        }
    }
    for name in listed.iter().filter(|n| !used.contains_key(*n)) {
        problems.push(format!("{FILE} has a line for {name}, which nothing uses"));
    }
    problems
}
