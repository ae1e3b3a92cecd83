//! Compares the imports between packages, and who uses which heavy library,
//! with the two tables of ARCHITECTURE.md. The file is right or the build is
//! red: there is no third way.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Tree, markdown, short};

/// A row of the table of levels.
struct Row {
    level: u32,
    imports: BTreeSet<String>,
}

/// Lists where source and table differ.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let text = match std::fs::read_to_string("ARCHITECTURE.md") {
        Ok(text) => text,
        Err(error) => return vec![format!("ARCHITECTURE.md can't be read: {error}")],
    };
    compare(&text, tree.packages())
}

fn compare<'a>(text: &str, packages: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let packages: Vec<&Value> = packages.collect();
    let mut problems = Vec::new();
    match markdown::table(text, &["crate", "level", "imports"]) {
        Some(rows) => imports(&read_levels(&rows, &mut problems), &packages, &mut problems),
        None => {
            problems.push("ARCHITECTURE.md has no table `crate | level | imports | ...`".to_owned())
        }
    }
    match markdown::table(text, &["library", "only in"]) {
        Some(rows) => libraries(&rows, &packages, &mut problems),
        None => problems.push("ARCHITECTURE.md has no table `library | only in | ...`".to_owned()),
    }
    problems
}

fn read_levels(rows: &[Vec<String>], problems: &mut Vec<String>) -> BTreeMap<String, Row> {
    let mut levels = BTreeMap::new();
    for cells in rows {
        let (Some(name), Some(level)) = (cells.first(), cells.get(1).and_then(|l| l.parse().ok()))
        else {
            problems.push(format!(
                "this row of the table names no level: {}",
                cells.join(" | ")
            ));
            continue;
        };
        let imports = cells
            .get(2)
            .map(|c| markdown::names(c).into_iter().collect());
        levels.insert(
            name.clone(),
            Row {
                level,
                imports: imports.unwrap_or_default(),
            },
        );
    }
    for (name, row) in &levels {
        for import in &row.imports {
            match levels.get(import) {
                Some(other) if other.level < row.level => {}
                Some(other) => problems.push(format!(
                    "the table lets {name} (level {}) import {import} (level {}): imports only point down",
                    row.level, other.level
                )),
                None => problems.push(format!("the table lets {name} import {import}, which has no row")),
            }
        }
    }
    levels
}

fn imports(levels: &BTreeMap<String, Row>, packages: &[&Value], problems: &mut Vec<String>) {
    let own: BTreeSet<&str> = packages.iter().map(|p| short(name_of(p))).collect();
    for name in levels.keys().filter(|n| !own.contains(n.as_str())) {
        problems.push(format!(
            "the table has a row for {name}, but the workspace has no such package"
        ));
    }
    for package in packages {
        let name = short(name_of(package));
        let Some(row) = levels.get(name) else {
            problems.push(format!("{name} has no row in the table of levels"));
            continue;
        };
        let mut used = BTreeSet::new();
        for dependency in dependencies(package) {
            let other = short(name_of(dependency));
            if !own.contains(other) {
                continue;
            }
            if dependency["kind"] == "dev" {
                // Tests may look further than the code they test, but not up.
                if levels.get(other).is_some_and(|o| o.level >= row.level) && other != name {
                    problems.push(format!(
                        "the tests of {name} import {other}, which is not below it"
                    ));
                }
                continue;
            }
            used.insert(other.to_owned());
        }
        for extra in used.difference(&row.imports) {
            problems.push(format!(
                "{name} imports {extra}, which its row does not allow"
            ));
        }
        for gone in row.imports.difference(&used) {
            problems.push(format!(
                "the row of {name} allows {gone}, which it does not import: take it out"
            ));
        }
    }
}

fn libraries(rows: &[Vec<String>], packages: &[&Value], problems: &mut Vec<String>) {
    for cells in rows {
        let [library, allowed, ..] = cells.as_slice() else {
            continue;
        };
        let allowed: BTreeSet<String> = markdown::names(allowed).into_iter().collect();
        let users: BTreeSet<String> = packages
            .iter()
            .filter(|p| dependencies(p).any(|d| name_of(d) == library && d["kind"] != "dev"))
            .map(|p| short(name_of(p)).to_owned())
            .collect();
        for user in users.difference(&allowed) {
            problems.push(format!(
                "{user} uses {library}, which belongs in {allowed:?} only"
            ));
        }
        for idle in allowed.difference(&users) {
            problems.push(format!(
                "the table says that {idle} uses {library}; it does not: take it out"
            ));
        }
    }
}

fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    package["dependencies"].as_array().into_iter().flatten()
}

fn name_of(value: &Value) -> &str {
    value["name"].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TABLES: &str = "\
| crate | level | imports | holds |
| --- | --- | --- | --- |
| `domain` | 0 | - | words |
| `store` | 2 | domain | rows |

| library | only in | why |
| --- | --- | --- |
| sqlx | store | one place |
";

    fn package(name: &str, dependencies: &[&str]) -> Value {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|d| json!({"name": d, "kind": null}))
            .collect();
        json!({"name": name, "dependencies": dependencies})
    }

    fn problems(packages: &[Value]) -> Vec<String> {
        compare(TABLES, packages.iter())
    }

    #[test]
    fn a_tree_as_the_table_says_is_in_order() {
        let tree = [
            package("faultboard-domain", &["serde"]),
            package("faultboard-store", &["faultboard-domain", "sqlx"]),
        ];
        assert_eq!(problems(&tree), Vec::<String>::new());
    }

    #[test]
    fn an_import_that_points_up_is_found() {
        let tree = [
            package("faultboard-domain", &["faultboard-store"]),
            package("faultboard-store", &["faultboard-domain", "sqlx"]),
        ];
        assert_eq!(
            problems(&tree),
            ["domain imports store, which its row does not allow"]
        );
    }

    #[test]
    fn a_library_in_the_wrong_place_is_found() {
        let tree = [
            package("faultboard-domain", &["sqlx"]),
            package("faultboard-store", &["faultboard-domain", "sqlx"]),
        ];
        assert_eq!(
            problems(&tree),
            ["domain uses sqlx, which belongs in {\"store\"} only"]
        );
    }

    #[test]
    fn a_stale_row_is_found() {
        let tree = [
            package("faultboard-domain", &[]),
            package("faultboard-store", &["sqlx"]),
            package("faultboard-new", &[]),
        ];
        assert_eq!(
            problems(&tree),
            [
                "the row of store allows domain, which it does not import: take it out",
                "new has no row in the table of levels",
            ]
        );
    }

    #[test]
    fn the_table_itself_may_not_point_up() {
        let text = TABLES.replace("| 0 | - |", "| 0 | store |");
        let tree = [
            package("faultboard-domain", &["faultboard-store"]),
            package("faultboard-store", &["faultboard-domain", "sqlx"]),
        ];
        let found = compare(&text, tree.iter());
        assert!(found[0].contains("imports only point down"), "{found:?}");
    }
}
