//! A diagnosis that buys coverage with breadth: a path that is no file of the
//! faulty tree, a block of a great many lines or a great part of its file, or a
//! great many blocks. It looks at what was claimed, never at what is right.

use faultboard_domain::finding::GuardSeverity;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::guard::{Answer, Confirmed, Guard, Hit, Pattern, Terms};
use crate::segment::Source;
use crate::terms::CaseTerms;

pub(crate) struct BreadthGaming;

/// Lines of the largest block that says something.
const MOST_LINES: u64 = 200;
/// A block may hold one in so many lines of its file.
const PART: u64 = 4;
/// Lines that a block may always have, however short its file.
const FREE_LINES: u64 = 20;
/// Blocks of the longest list that says something.
const MOST_BLOCKS: usize = 30;

impl Guard for BreadthGaming {
    fn id(&self) -> &'static str {
        "breadth-gaming"
    }

    fn version(&self) -> u32 {
        1
    }

    fn severity(&self) -> GuardSeverity {
        GuardSeverity::Flag
    }

    fn describe(&self) -> &'static str {
        "A diagnosis that buys coverage with breadth: paths that are no files, huge or very many blocks."
    }

    fn patterns(&self, _: &Terms<'_>) -> Vec<Pattern> {
        Vec::new()
    }

    fn confirm(&self, _: &Hit<'_>) -> Option<Confirmed> {
        None
    }

    fn answer(&self, answer: &Answer<'_>) -> Vec<Confirmed> {
        if answer.source != Source::Diagnosis {
            return Vec::new();
        }
        let Ok(text) = std::str::from_utf8(answer.bytes) else {
            return Vec::new();
        };
        let Ok(list) = serde_json::from_str::<Blocks<'_>>(text) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        if list.buggy_blocks.len() > MOST_BLOCKS {
            found.push(Confirmed {
                range: 0..text.len(),
                why: format!(
                    "names {} blocks; more than {MOST_BLOCKS} say nothing",
                    list.buggy_blocks.len()
                ),
            });
            return found;
        }
        for raw in list.buggy_blocks {
            let block = raw.get();
            // The raw value is a part of the text, so its place is known.
            let start = block.as_ptr() as usize - text.as_ptr() as usize;
            if let Ok(parsed) = serde_json::from_str::<Block<'_>>(block)
                && let Some(why) = parsed.reason(answer.terms.case)
            {
                found.push(Confirmed {
                    range: start..start + block.len(),
                    why,
                });
            }
        }
        found
    }
}

#[derive(Deserialize)]
struct Blocks<'a> {
    #[serde(borrow)]
    buggy_blocks: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    file: String,
    #[serde(borrow)]
    start_line: &'a RawValue,
    #[serde(borrow)]
    end_line: &'a RawValue,
}

/// A line number, which may be written as text.
fn line(raw: &RawValue) -> Option<u64> {
    raw.get().trim_matches('"').trim().parse().ok()
}

impl Block<'_> {
    fn reason(&self, case: &CaseTerms) -> Option<String> {
        let lines = line(self.end_line)?.saturating_sub(line(self.start_line)?);
        if lines > MOST_LINES {
            return Some(format!(
                "claims {lines} lines in one block; more than {MOST_LINES} say nothing"
            ));
        }
        let path = self.file.trim().replace('\\', "/");
        if case.files.is_empty() {
            return fragment(&path).then(|| format!("`{path}` is no path of a file"));
        }
        let Some(of) = longest(&path, case) else {
            return Some(format!("`{path}` is no file of the faulty tree"));
        };
        (lines > FREE_LINES && lines.saturating_mul(PART) > u64::from(of))
            .then(|| format!("claims {lines} of the {of} lines of `{path}`"))
    }
}

/// Whether a path can't name one file, judged by itself: a folder, or a piece of
/// a name.
fn fragment(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.is_empty() || (!last.contains('.') && last.len() < 4)
}

/// Lines of the longest file of the tree that the path names: from the tree's
/// root, from anywhere above it, or by its last parts.
fn longest(path: &str, case: &CaseTerms) -> Option<u32> {
    let path = path.trim_start_matches("./").trim_start_matches('/');
    let tail = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    case.files
        .iter()
        .filter(|(file, _)| tail(file, path) || tail(path, file))
        .map(|(_, lines)| *lines)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(json: &str, files: &[(&str, u32)]) -> Vec<String> {
        let case = CaseTerms {
            files: files.iter().map(|(f, n)| ((*f).to_owned(), *n)).collect(),
            ..CaseTerms::default()
        };
        let site = crate::SiteTerms::default();
        let terms = Terms {
            case: &case,
            site: &site,
            names: &[],
        };
        let answer = Answer {
            source: Source::Diagnosis,
            bytes: json.as_bytes(),
            terms,
        };
        BreadthGaming
            .answer(&answer)
            .into_iter()
            .map(|c| {
                assert!(json.get(c.range).is_some());
                c.why
            })
            .collect()
    }

    fn one(file: &str, start: &str, end: &str) -> String {
        format!(
            r#"{{"bug_cause_description":"x","buggy_blocks":[{{"file":"{file}","function":"f","start_line":{start},"end_line":{end}}}]}}"#
        )
    }

    #[test]
    fn breadth_is_measured_against_the_tree() {
        let tree = [("src/raft.rs", 3000), ("src/a.rs", 100), ("lib/a.rs", 40)];
        for good in [
            one("src/raft.rs", "10", "60"),
            one("/work/tree/src/raft.rs", "\"10\"", "\"20\""),
            one("raft.rs", "1", "150"),
            one("a.rs", "1", "22"),
        ] {
            assert_eq!(reasons(&good, &tree), Vec::<String>::new(), "{good}");
        }
        for (bad, part) in [
            (one("src/raft.rs", "1", "300"), "299 lines"),
            (one("src", "1", "5"), "no file"),
            (one("r", "1", "5"), "no file"),
            (one("src/", "1", "5"), "no file"),
            (one("aft.rs", "1", "5"), "no file"),
            (one("lib/a.rs", "\"1\"", "\"35\""), "34 of the 40"),
        ] {
            let got = reasons(&bad, &tree);
            assert!(got.len() == 1 && got[0].contains(part), "{bad}: {got:?}");
        }
        // Without the tree, only what is no path at all.
        assert_eq!(reasons(&one("src/", "1", "5"), &[]).len(), 1);
        assert_eq!(reasons(&one("src/any.rs", "1", "5"), &[]).len(), 0);
        let block = r#"{"file":"src/raft.rs","function":"f","start_line":1,"end_line":2}"#;
        let many = format!(r#"{{"buggy_blocks":[{}]}}"#, vec![block; 31].join(","));
        assert_eq!(reasons(&many, &tree).len(), 1);
    }
}
