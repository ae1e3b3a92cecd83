//! Reads tables out of Markdown text: as much of the syntax as our own
//! documents use, no more.

/// The rows of the first table whose head begins with these words; none if
/// there is no such table. Cells are trimmed and without backquotes.
pub(crate) fn table(text: &str, head: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut lines = text.lines().skip_while(|line| {
        let cells = cells(line);
        cells.len() < head.len() || cells.iter().zip(head).any(|(a, b)| a != b)
    });
    lines.next()?;
    let rows = lines
        .skip(1)
        .take_while(|line| line.trim_start().starts_with('|'))
        .map(cells)
        .collect();
    Some(rows)
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let Some(inner) = line.strip_prefix('|').and_then(|l| l.strip_suffix('|')) else {
        return Vec::new();
    };
    inner
        .split('|')
        .map(|cell| cell.trim().replace('`', ""))
        .collect()
}

/// A cell that lists names: split at commas; a dash lists nothing.
pub(crate) fn names(cell: &str) -> Vec<String> {
    cell.split(',')
        .map(str::trim)
        .filter(|n| !n.is_empty() && *n != "-")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_table_by_its_head() {
        let text = "x\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n| crate | level |\n| --- | --- |\n| `domain` | 0 |\n| store | 2 |\nend";
        let rows = table(text, &["crate", "level"]).unwrap();
        assert_eq!(rows, [["domain", "0"], ["store", "2"]]);
        assert!(table(text, &["crate", "height"]).is_none());
    }

    #[test]
    fn a_dash_lists_nothing() {
        assert!(names("-").is_empty());
        assert_eq!(names("domain, stats"), ["domain", "stats"]);
    }
}
