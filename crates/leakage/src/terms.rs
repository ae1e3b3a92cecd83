//! What the guards look for in one case, and the names of the site itself. The
//! terms come from the case's solution, so they are as secret as that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::normalise::fold;

/// The terms of one case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaseTerms {
    /// Names of the upstream project: system, repository, package.
    pub names: Vec<String>,
    /// The original report, in every place where it is kept.
    pub issues: Vec<Reference>,
    /// Pull requests and changes that fixed it.
    pub fixes: Vec<Reference>,
    /// Full ids of the fixing commits.
    pub commits: Vec<String>,
    /// Versions that were the first to hold the fix.
    pub fixed_versions: Vec<String>,
    /// Sentences of the change log, of commit messages, of release notes.
    pub phrases: Vec<String>,
    /// Names of the functions that hold the bug, as the labels give them.
    pub functions: Vec<String>,
    /// Sentences of the solution's text.
    pub sentences: Vec<String>,
    /// The reference fix and other known fixes, as unified diffs.
    pub diffs: Vec<String>,
    /// The files of the faulty tree with their numbers of lines; empty where
    /// the tree is not at hand.
    pub files: BTreeMap<String, u32>,
    /// Identifiers that the task itself gave the agent: never a hit.
    pub allowed: Vec<String>,
    /// When the faulty tree was made upstream, in seconds since 1970; without
    /// it, commits in tool output are not dated against it.
    pub snapshot_time: Option<i64>,
}

/// One place where an issue or a change is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reference {
    /// Key in a tracker, such as `KAFKA-1234`.
    pub key: Option<String>,
    /// `owner/name`, or the name alone.
    pub repository: Option<String>,
    /// Number in the repository.
    pub number: Option<u64>,
    /// Its address.
    pub url: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// Names of the site that runs the benchmark.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SiteTerms {
    /// Host names under which it is reached.
    pub hosts: Vec<String>,
    /// Its repositories and data sets, as `owner/name`.
    pub repositories: Vec<String>,
    /// Paths on its machines that no agent may touch, such as a blob folder.
    pub private_paths: Vec<String>,
}

impl Reference {
    /// Reads an address, `owner/name#12`, `name#12`, `name/issues/12`,
    /// `name/pull/12` or a tracker key; none if the text is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bare = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"));
        if let Some(bare) = bare {
            let mut reference = path(bare.split(['?', '#']).next()?).unwrap_or_default();
            reference.url = Some(text.to_owned());
            return Some(reference);
        }
        if text.contains(char::is_whitespace) {
            return None;
        }
        if let Some((repository, number)) = text.rsplit_once('#') {
            let named = !repository.is_empty() && repository.split('/').all(|p| !p.is_empty());
            return named.then_some(Self {
                repository: Some(repository.to_owned()),
                number: Some(number.parse().ok()?),
                ..Self::default()
            });
        }
        if text.contains('/') {
            return path(text);
        }
        let (project, number) = text.rsplit_once('-')?;
        let is_key = !project.is_empty()
            && project
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit());
        is_key.then(|| Self {
            key: Some(text.to_owned()),
            ..Self::default()
        })
    }
}

/// `[host/]owner/name/(issues|pull|...)/12`.
fn path(text: &str) -> Option<Reference> {
    let parts: Vec<&str> = text
        .split('/')
        .filter(|p| !p.is_empty() && *p != "-")
        .collect();
    let words = [
        "issues",
        "issue",
        "pull",
        "pulls",
        "merge_requests",
        "browse",
    ];
    let at = parts.iter().position(|p| words.contains(p))?;
    let last = parts.get(at + 1)?;
    if parts[at] == "browse" {
        return Reference::parse(last).filter(|r| r.key.is_some());
    }
    let names = &parts[..at];
    // A host holds a dot and stands before the owner and the name.
    let names = if names.len() > 2 && names[0].contains('.') {
        &names[1..]
    } else {
        names
    };
    (!names.is_empty()).then_some(())?;
    Some(Reference {
        repository: Some(names[names.len().saturating_sub(2)..].join("/")),
        number: Some(last.parse().ok()?),
        ..Reference::default()
    })
}

impl CaseTerms {
    /// Terms out of a case's `upstream.yaml` and its system: the addresses of
    /// reports and fixes, commits, the fixed version, and free identifiers
    /// (references, titles, entries of the change log).
    pub fn of_upstream(
        names: &[&str],
        issues: &[String],
        fixes: &[String],
        commits: &[String],
        fixed_version: Option<&str>,
        identifiers: &[String],
    ) -> Self {
        let mut terms = Self {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            issues: issues.iter().filter_map(|i| Reference::parse(i)).collect(),
            fixes: fixes.iter().filter_map(|f| Reference::parse(f)).collect(),
            commits: commits.to_vec(),
            fixed_versions: fixed_version.into_iter().map(str::to_owned).collect(),
            ..Self::default()
        };
        for identifier in identifiers {
            match Reference::parse(identifier) {
                Some(r) => {
                    let is_fix = identifier.contains("/pull")
                        || identifier.contains("merge_request")
                        || terms
                            .fixes
                            .iter()
                            .any(|f| f.number.is_some() && f.number == r.number);
                    if is_fix {
                        terms.fixes.push(r);
                    } else {
                        terms.issues.push(r);
                    }
                }
                None => terms.phrases.push(identifier.clone()),
            }
        }
        terms
    }

    /// The names that a reference to the project is told by, folded: those
    /// given, and the repositories of all references with and without owner.
    pub(crate) fn project_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.iter().map(|n| fold(n)).collect();
        for reference in self.issues.iter().chain(&self.fixes) {
            if let Some(repository) = &reference.repository {
                let repository = fold(repository);
                if let Some((_, name)) = repository.rsplit_once('/') {
                    names.push(name.to_owned());
                }
                names.push(repository);
            }
        }
        names.retain(|n| n.len() >= 2);
        names.sort();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_in_every_form() {
        let of = |t: &str| {
            let r = Reference::parse(t)?;
            Some((r.repository.unwrap_or_default(), r.number, r.key))
        };
        let repository = |name: &str, n| Some((name.to_owned(), Some(n), None));
        for text in [
            "https://github.com/tikv/raft-rs/issues/76",
            "https://gitlab.com/tikv/raft-rs/-/merge_requests/76",
            "http://github.com/tikv/raft-rs/pull/76#issuecomment-1",
            "tikv/raft-rs#76",
            "tikv/raft-rs/pull/76",
        ] {
            assert_eq!(of(text), repository("tikv/raft-rs", 76), "{text}");
        }
        assert_eq!(of("raft-rs#76"), repository("raft-rs", 76));
        assert_eq!(of("raft-rs/issues/76"), repository("raft-rs", 76));
        let key = Some((String::new(), None, Some("KAFKA-123".to_owned())));
        assert_eq!(of("KAFKA-123"), key);
        assert_eq!(of("https://issues.apache.org/jira/browse/KAFKA-123"), key);
        for none in [
            "raft-rs-76",
            "#76",
            "Raft term check, #169",
            "a/b",
            "x#y",
            "",
        ] {
            assert_eq!(Reference::parse(none), None, "{none}");
        }
    }

    #[test]
    fn upstream_identifiers_are_sorted_out() {
        let text = |t: &[&str]| t.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let terms = CaseTerms::of_upstream(
            &["pysyncobj"],
            &text(&["https://github.com/bakwc/PySyncObj/issues/169"]),
            &text(&["https://github.com/bakwc/PySyncObj/pull/170"]),
            &[],
            Some("0.3.12"),
            &text(&[
                "PySyncObj#169",
                "PySyncObj#170",
                "Leader commits log entries of older terms",
            ]),
        );
        assert_eq!(
            (terms.issues.len(), terms.fixes.len(), terms.phrases.len()),
            (2, 2, 1)
        );
        assert_eq!(terms.project_names(), ["bakwc/pysyncobj", "pysyncobj"]);
    }
}
