//! The specificity scan: tricks in an oracle that make its verdict hang on one
//! particular fix, or on the text of the source instead of on behaviour. It
//! finds; whether an oracle is sound is shown by running it.

use std::sync::LazyLock;

use regex::Regex;

use crate::folder::Folder;

/// How bad a trick is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub enum Weight {
    /// The verdict hangs on the known fix.
    #[serde(rename = "HIGH")]
    High,
    /// The verdict hangs on the text of the source.
    #[serde(rename = "MEDIUM")]
    Medium,
}

impl Weight {
    /// The word on reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Weight::High => "HIGH",
            Weight::Medium => "MEDIUM",
        }
    }
}

/// One trick to look for. Adding one means adding a line to [`RULES`].
struct Rule {
    id: &'static str,
    weight: Weight,
    pattern: &'static str,
    hint: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        id: "fix-commit",
        weight: Weight::High,
        pattern: r"\b(FIX|FIXED|PATCH)_(COMMIT|SHA|REV)\b",
        hint: "judge the behaviour of the tree at hand; the fix commit must not be needed",
    },
    Rule {
        id: "git-fix",
        weight: Weight::High,
        pattern: r"\bgit\b[^\n;|&]*\b(show|checkout|cherry-pick|fetch|apply|restore|stash)\b",
        hint: "bring what the check needs in inject_test/, not out of the history",
    },
    Rule {
        id: "reflection",
        weight: Weight::High,
        pattern: r"\binspect\.(getsource|getsourcelines|signature)\b|\bhasattr\s*\(|\bgetDeclared(Method|Field)s?\b|\breflect\.TypeOf\b|\b__code__\b",
        hint: "assert what the program does, not how it is written",
    },
    Rule {
        id: "source-grep",
        weight: Weight::Medium,
        pattern: r"\b(grep|rg|ag|awk)\b[^\n]*(/work/tree|\$\{?(TREE|SRC|WORKTREE)\b)",
        hint: "run the program and look at what it reports, instead of reading its source",
    },
    Rule {
        id: "sed-source",
        weight: Weight::Medium,
        pattern: r"\b(sed|perl)\b[^\n]*\s-[a-zA-Z]*i[^\n]*(/work/tree|\$\{?(TREE|SRC|WORKTREE)\b|\bsrc/)",
        hint: "reach the code through its interfaces; an edited tree is not the one to judge",
    },
];

static COMPILED: LazyLock<Vec<(&'static Rule, Regex)>> = LazyLock::new(|| {
    RULES
        .iter()
        .filter_map(|r| Regex::new(r.pattern).ok().map(|regex| (r, regex)))
        .collect()
});

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The rule's stable name.
    pub rule: &'static str,
    /// How bad it is.
    pub weight: Weight,
    /// File and 1-based line.
    pub place: String,
    /// The line, at most 160 characters.
    pub excerpt: String,
    /// What to do instead.
    pub hint: &'static str,
}

/// Scans the oracle of a case: `reproduce.sh` and `inject_test/`. Comments count
/// for nothing. Worst findings first.
pub fn scan(case: &Folder) -> Vec<Finding> {
    let mut found = Vec::new();
    let oracle = case
        .files
        .iter()
        .filter(|(path, _)| *path == "reproduce.sh" || path.starts_with("inject_test/"));
    for (path, file) in oracle {
        let text = String::from_utf8_lossy(&file.bytes);
        for (i, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if code.starts_with('#') || code.starts_with("//") {
                continue;
            }
            for (rule, _) in COMPILED.iter().filter(|(_, regex)| regex.is_match(line)) {
                found.push(Finding {
                    rule: rule.id,
                    weight: rule.weight,
                    place: format!("{}:{}", case.at(path), i + 1),
                    excerpt: code.chars().take(160).collect(),
                    hint: rule.hint,
                });
            }
        }
    }
    found.sort_by(|a, b| (a.weight, &a.place, a.rule).cmp(&(b.weight, &b.place, b.rule)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(script: &str) -> Vec<&'static str> {
        let mut f = Folder::named("cases/a-1");
        f.put("reproduce.sh", script, true);
        scan(&f).into_iter().map(|x| x.rule).collect()
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(COMPILED.len(), RULES.len());
    }

    #[test]
    fn tricks_are_found_worst_first() {
        assert_eq!(
            rules("git -C /work/tree diff $FIX_COMMIT\n"),
            ["fix-commit"]
        );
        assert_eq!(
            rules("git show abc:src/x\ngit -C t checkout abc -- x\n"),
            ["git-fix", "git-fix"]
        );
        assert_eq!(
            rules("python3 -c 'import inspect; inspect.getsource(f)'\n"),
            ["reflection"]
        );
        assert_eq!(
            rules("if grep -q votes.clear /work/tree/src/raft.rs; then\n"),
            ["source-grep"]
        );
        assert_eq!(
            rules("sed -i s/a/b/ /work/tree/x\ngit show HEAD~1\n"),
            ["git-fix", "sed-source"]
        );
    }

    #[test]
    fn ordinary_oracles_are_clean() {
        assert!(rules("# git show the fix\ngit diff --stat\ngrep -c done \"$ORACLE_TMP/out\"\nsed -n 1,5p log\n").is_empty());
    }

    #[test]
    fn only_the_oracle_is_scanned() {
        let mut f = Folder::named("cases/a-1");
        f.put("setup.sh", "git checkout abc\n", true);
        f.put(
            "inject_test/check.py",
            "x = hasattr(node, 'votes')\n",
            false,
        );
        let found = scan(&f);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "cases/a-1/inject_test/check.py:1");
    }
}
