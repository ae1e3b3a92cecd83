//! Paths that differ only in letter case: on many machines they are one file.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct CaseCollision;

impl Rule for CaseCollision {
    fn id(&self) -> &'static str {
        "archive-case-collision"
    }

    fn describe(&self) -> &'static str {
        "No two paths differ in letter case alone."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let mut paths: Vec<(String, &str)> = bundle
            .entries
            .iter()
            .filter(|e| e.name_faults.is_empty())
            .map(|e| {
                // With a separator that sorts before every letter, paths below
                // one folder stand together whatever else begins like it.
                (e.path.to_lowercase().replace('/', "\u{0}"), e.path.as_str())
            })
            .collect();
        paths.sort_unstable();
        let mut told: Vec<(&str, &str)> = Vec::new();
        for pair in paths.windows(2) {
            if let Some(collision) = collision(pair[0].1, pair[1].1)
                && told.last() != Some(&collision)
            {
                told.push(collision);
                out.error(
                    collision.1,
                    format!(
                        "the path differs only in letter case from `{}`",
                        collision.0
                    ),
                    "Rename or take out one of the two.",
                );
            }
        }
    }
}

/// The first parents, or the paths themselves, that differ in letter case alone.
fn collision<'p>(a: &'p str, b: &'p str) -> Option<(&'p str, &'p str)> {
    let (mut at_a, mut at_b) = (0, 0);
    for (x, y) in a.split('/').zip(b.split('/')) {
        (at_a, at_b) = (at_a + x.len(), at_b + y.len());
        if x != y {
            let same = x.to_lowercase() == y.to_lowercase();
            return same.then(|| (&a[..at_a], &b[..at_b]));
        }
        (at_a, at_b) = (at_a + 1, at_b + 1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::collision;

    #[test]
    fn parents_collide_too() {
        assert_eq!(collision("t/A/x", "t/a/y"), Some(("t/A", "t/a")));
        assert_eq!(collision("t/a/X", "t/a/x"), Some(("t/a/X", "t/a/x")));
        assert_eq!(collision("t/a", "t/a/b"), None);
        assert_eq!(collision("t/a", "t/b"), None);
        assert_eq!(collision("t/É", "t/é"), Some(("t/É", "t/é")));
    }
}
