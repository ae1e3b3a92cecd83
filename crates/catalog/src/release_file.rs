//! `releases/<release>.yaml`: its form, and reading it into a [`Release`].
//! Whether the named cases exist is the loader's question.

use faultboard_domain::release::Release;
use faultboard_domain::{CaseId, Problem, ReleaseId, SubsetId};

use crate::case_file::typed;
use crate::form::{Field, Kind, id, may, must};

/// Subsets that every release has; a release may not define them itself.
pub const STANDARD_SUBSETS: &[&str] = &["full", "lite", "tier-1", "tier-2", "tier-3"];

const CASE: Kind = Kind::Checked(|t| id(CaseId::parse(t)));
const CASES: Kind = Kind::List(1, &CASE);

const FORM: &[Field] = &[
    must("id", Kind::Checked(|t| id(ReleaseId::parse(t)))),
    must("title", Kind::Line(120)),
    must("date", Kind::Checked(iso_date)),
    must("cases", CASES),
    may("subsets", Kind::Table(own_subset, &CASES)),
];

fn own_subset(name: &str) -> Result<(), String> {
    id(SubsetId::parse(name))?;
    if STANDARD_SUBSETS.contains(&name) {
        return Err(format!("a name other than {}", STANDARD_SUBSETS.join(", ")));
    }
    Ok(())
}

fn iso_date(text: &str) -> Result<(), String> {
    let wanted = || "a date, such as `2026-01-31`".to_owned();
    let b = text.as_bytes();
    let shape = b.len() == 10
        && b.iter().enumerate().all(|(i, c)| {
            if i == 4 || i == 7 {
                *c == b'-'
            } else {
                c.is_ascii_digit()
            }
        });
    if !shape {
        return Err(wanted());
    }
    let (year, month, day) = (
        text[..4].parse::<u32>(),
        text[5..7].parse::<u32>(),
        text[8..].parse::<u32>(),
    );
    let (Ok(year), Ok(month), Ok(day)) = (year, month, day) else {
        return Err(wanted());
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    if (1..=days).contains(&day) {
        Ok(())
    } else {
        Err(wanted())
    }
}

/// Reads a release file; the release is there only when nothing is wrong.
pub fn parse(path: &str, bytes: &[u8]) -> (Option<Release>, Vec<Problem>) {
    typed(path, bytes, FORM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_names_its_cases_and_subsets() {
        let (release, problems) =
            parse("r", b"id: \"2026.1\"\ntitle: t\ndate: 2026-02-28\ncases: [a-1, b-2]\nsubsets:\n  teaching: [c-3]\n");
        assert_eq!(problems, []);
        assert_eq!(release.unwrap().subsets.len(), 1);
    }

    #[test]
    fn every_mistake_of_a_release_is_told() {
        let (release, problems) =
            parse("r", b"id: x\ntitle: t\ndate: 2026-02-30\ncases: [a-1, a-1]\nsubsets:\n  lite: [c-3]\n  Bad: []\nmore: 1\n");
        assert!(release.is_none());
        let lines: Vec<&str> = problems.iter().map(|p| p.path.as_str()).collect();
        assert_eq!(
            lines,
            ["r:1", "r:3", "r:4", "r:6", "r:7", "r:7", "r:8"],
            "{problems:#?}"
        );
    }
}
