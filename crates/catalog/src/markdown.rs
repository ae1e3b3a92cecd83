//! The little that is read out of Markdown: fenced blocks, links, words. Never
//! renders anything.

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence<'a> {
    /// 1-based line of the opening fence.
    pub line: u64,
    /// The first word after the fence, such as `diff`.
    pub info: &'a str,
    /// The text between the fences, ending in a newline unless empty.
    pub body: String,
    /// Whether a closing fence was found.
    pub closed: bool,
}

/// Every fenced block, in order. A fence is three or more backticks or tildes
/// at the start of a line; it ends at a line with at least as many of the same.
pub fn fences(text: &str) -> Vec<Fence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize, Fence<'_>)> = None;
    for (i, line) in text.lines().enumerate() {
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |m| line.chars().take_while(|c| *c == m).count());
        match open.take() {
            None => {
                if let (Some(mark), 3..) = (mark, length) {
                    let info = line[length..].split_whitespace().next().unwrap_or_default();
                    open = Some((
                        mark,
                        length,
                        Fence {
                            line: i as u64 + 1,
                            info,
                            body: String::new(),
                            closed: false,
                        },
                    ));
                }
            }
            Some((m, n, mut fence)) => {
                if mark == Some(m) && length >= n && line[length..].trim().is_empty() {
                    fence.closed = true;
                    found.push(fence);
                } else {
                    fence.body.push_str(line);
                    fence.body.push('\n');
                    open = Some((m, n, fence));
                }
            }
        }
    }
    found.extend(open.map(|(_, _, fence)| fence));
    found
}

/// The text with every fenced block blanked out, lines kept.
pub fn without_fences(text: &str) -> String {
    let blocks = fences(text);
    let mut out = String::with_capacity(text.len());
    for (i, line) in text.lines().enumerate() {
        let n = i as u64 + 1;
        let inside = blocks.iter().any(|b| {
            let length = b.body.lines().count() as u64 + u64::from(b.closed);
            (b.line..=b.line + length).contains(&n)
        });
        if !inside {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// Targets of inline links and images outside of fenced blocks, with their lines.
pub fn links(text: &str) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    for (i, line) in without_fences(text).lines().enumerate() {
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            let target = rest[..end].split_whitespace().next().unwrap_or_default();
            found.push((i as u64 + 1, target.to_owned()));
            rest = &rest[end..];
        }
    }
    found
}

/// Tokens of a text by the benchmark's measure: 1.3 for each word, rounded up.
pub fn tokens(text: &str) -> u64 {
    (text.split_whitespace().count() as u64 * 13).div_ceil(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_end_where_they_should() {
        let text = "a\n```diff\n-x\n``\n+y\n```\n~~~~\n```\n~~~\n~~~~\nend\n```rust\nopen";
        let got = fences(text);
        assert_eq!(got.len(), 3);
        assert_eq!(
            (
                got[0].line,
                got[0].info,
                got[0].body.as_str(),
                got[0].closed
            ),
            (2, "diff", "-x\n``\n+y\n", true)
        );
        assert_eq!(got[1].body, "```\n~~~\n");
        assert!(!got[2].closed);
        assert_eq!(
            without_fences(text)
                .lines()
                .filter(|l| !l.is_empty())
                .collect::<Vec<_>>(),
            ["a", "end"]
        );
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "see [a](b.md) and ![i](c.png \"t\")\n```\n[no](x)\n```\n[d](https://e/f)";
        let targets: Vec<String> = links(text).into_iter().map(|(_, t)| t).collect();
        assert_eq!(targets, ["b.md", "c.png", "https://e/f"]);
    }

    #[test]
    fn tokens_are_words_times_one_point_three() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("one two three"), 4);
        assert_eq!(tokens(&"w ".repeat(10)), 13);
    }
}
