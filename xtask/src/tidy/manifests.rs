//! Every package lives under the workspace's lints, edition and licence.

use super::Tree;

/// Lists manifests that go their own way.
pub(crate) fn check(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for package in tree.packages() {
        let path = package["manifest_path"].as_str().unwrap_or_default();
        let Ok(text) = std::fs::read_to_string(path) else {
            problems.push(format!("{path} can't be read"));
            continue;
        };
        let name = package["name"].as_str().unwrap_or(path);
        problems.extend(check_text(name, &text));
    }
    problems
}

fn check_text(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lints = text.split("[lints]").nth(1).unwrap_or_default();
    if lints.trim_start().lines().next() != Some("workspace = true") {
        problems.push(format!(
            "{name} does not take the workspace's lints ([lints] workspace = true)"
        ));
    }
    for key in ["version", "edition", "rust-version", "license", "publish"] {
        if !text.contains(&format!("\n{key}.workspace = true")) {
            problems.push(format!("{name} does not take `{key}` from the workspace"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_lints_is_found() {
        let text = "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n";
        assert_eq!(check_text("a", text).len(), 1);
        assert!(check_text("a", &format!("{text}\n[lints]\nworkspace = true\n")).is_empty());
    }
}
