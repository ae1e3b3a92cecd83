//! The terms that must never leak, and the search for them in bytes that were
//! served or laid out. It knows nothing of where the bytes come from.

use aho_corasick::{AhoCorasick, MatchKind};
use anyhow::{Result, ensure};

use crate::{machine, reader::words};

/// What must not leak, each with the case that it belongs to.
#[derive(Debug)]
pub struct Terms {
    /// Case and term, in the order of the automaton's patterns.
    named: Vec<(String, String)>,
    /// Every term at once, whatever the case of its ASCII letters.
    search: AhoCorasick,
}

impl Terms {
    /// The terms of every case's `upstream.yaml`.
    ///
    /// # Errors
    /// A file that can't be read, or one that lists nothing.
    pub fn of_every_solution() -> Result<Self> {
        let mut named = Vec::new();
        for entry in std::fs::read_dir(machine::root().join("cases-solution"))? {
            let dir = entry?.path();
            let case = dir
                .file_name()
                .and_then(|n| n.to_str())
                .unwrap_or_default()
                .to_owned();
            let file = dir.join("upstream.yaml");
            if !file.is_file() {
                continue;
            }
            let found = list_items(&std::fs::read_to_string(&file)?);
            ensure!(!found.is_empty(), "{} lists nothing", file.display());
            named.extend(found.into_iter().map(|term| (case.clone(), term)));
        }
        ensure!(named.len() > 20, "only {} terms", named.len());
        Self::new(named)
    }

    /// These terms, each with its case.
    ///
    /// # Errors
    /// More terms than an automaton holds.
    pub fn new(named: Vec<(String, String)>) -> Result<Self> {
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(named.iter().map(|(_, term)| term.as_str()))?;
        Ok(Self { named, search })
    }

    /// The terms that occur in some bytes: as they are, as the text of a page,
    /// or within the escapes of JSON.
    pub fn in_bytes(&self, bytes: &[u8]) -> Vec<String> {
        let mut found = vec![false; self.named.len()];
        self.mark(bytes, &mut found);
        if bytes.contains(&b'<') || bytes.contains(&b'&') {
            self.mark(
                words(&String::from_utf8_lossy(bytes)).as_bytes(),
                &mut found,
            );
        }
        if bytes.contains(&b'\\') {
            let plain = String::from_utf8_lossy(bytes)
                .replace("\\n", " ")
                .replace("\\\"", "\"")
                .replace("\\/", "/");
            self.mark(plain.as_bytes(), &mut found);
        }
        self.named
            .iter()
            .zip(found)
            .filter(|(_, found)| *found)
            .map(|((case, term), _)| format!("{case}: {term}"))
            .collect()
    }

    fn mark(&self, bytes: &[u8], found: &mut [bool]) {
        for hit in self.search.find_overlapping_iter(bytes) {
            found[hit.pattern().as_usize()] = true;
        }
    }
}

/// Every item of every list in a YAML file of ours: all of upstream.yaml's
/// lists name things that must not leak.
pub fn list_items(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.trim_start().strip_prefix("- "))
        .map(|item| {
            let item = item.trim();
            match (item.strip_prefix('\''), item.strip_prefix('"')) {
                (Some(quoted), _) => quoted.trim_end_matches('\'').replace("''", "'"),
                (_, Some(quoted)) => quoted.trim_end_matches('"').to_owned(),
                _ => item.to_owned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_what_is_there() {
        let terms = |text: &str| Terms::new(vec![("c-1".to_owned(), text.to_owned())]).unwrap();
        let link = terms("Owner/Repo#12");
        assert_eq!(link.in_bytes(b"see owner/repo#12.").len(), 1);
        assert_eq!(link.in_bytes(b"<i>Owner/</i>Repo#12").len(), 0);
        assert_eq!(link.in_bytes(b"{\"a\":\"Owner\\/Repo#12\"}").len(), 1);
        let said = terms("lost <b> & \"found\" it");
        assert_eq!(
            said.in_bytes(b"<p>lost\n &lt;b&gt; &amp; &quot;found&quot; it")
                .len(),
            1
        );
        // One that begins within another is found beside it.
        let two = Terms::new(vec![
            ("c-1".to_owned(), "abcd".to_owned()),
            ("c-1".to_owned(), "bc".to_owned()),
        ])
        .unwrap();
        assert_eq!(two.in_bytes(b"abcd").len(), 2);
        assert_eq!(
            list_items("issues: []\nterms:\n- 'it''s'\n- a b\n"),
            ["it's", "a b"]
        );
    }
}
