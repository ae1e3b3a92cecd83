//! Whether two outputs, or two trees, are the same. Pure.

use std::collections::BTreeMap;

use faultboard_domain::view::{Departure, ReplayedStep, ReplayedTree};

use super::Told;

/// Characters of an excerpt.
const EXCERPT: usize = 300;
/// Of an output that the scaffold had cut, this much of its beginning must agree.
const UNCUT: usize = 200;

/// The beginning of a command, on one line.
pub(super) fn beginning(script: &str) -> String {
    let line = script.trim().lines().next().unwrap_or_default();
    line.chars().take(160).collect()
}

/// Notes how a command compares.
pub(super) fn step(told: &Told, seen: &str, code: i64, step: &mut ReplayedStep) {
    step.departure = Departure::Same;
    if let Some(expected) = told.exit_code.filter(|c| *c != code) {
        step.departure = Departure::Exit;
        step.why = format!("it ended with status {code}, the trace says {expected}");
    }
    let Some(output) = &told.output else {
        return;
    };
    let (output, seen) = (plain(output), plain(seen));
    let (a, b) = if told.truncated {
        (head(&output), head(&seen))
    } else {
        (output.as_str(), seen.as_str())
    };
    if a == b {
        return;
    }
    let same_but_numbers = without_numbers(a) == without_numbers(b);
    if step.departure == Departure::Same {
        step.departure = if same_but_numbers {
            Departure::Numbers
        } else {
            Departure::Output
        };
    }
    let line = a.lines().zip(b.lines()).take_while(|(x, y)| x == y).count();
    if step.departure == Departure::Output {
        step.why = format!("its output differs from line {} on", line + 1);
    }
    if !same_but_numbers {
        step.told = excerpt(a, line);
        step.seen = excerpt(b, line);
    }
}

/// Line ends made one, blanks at the ends of lines and empty lines at the end gone.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

fn head(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(UNCUT)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Every run of digits, or of hexadecimal ones after `0x`, as one sign: times,
/// sizes and addresses differ from run to run.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let hex = rest
            .strip_prefix("0x")
            .map(|r| r.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        if let Some(after) = hex {
            out.push('#');
            rest = after;
        } else if c.is_ascii_digit() {
            out.push('#');
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn excerpt(text: &str, line: usize) -> String {
    let from: Vec<&str> = text.lines().skip(line).take(8).collect();
    from.join("\n").chars().take(EXCERPT).collect()
}

/// The files of a diff by git, each with its hunks.
fn files(diff: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(diff);
    let mut found = BTreeMap::new();
    for part in text.split("\ndiff --git ") {
        let part = part.strip_prefix("diff --git ").unwrap_or(part);
        let Some((head, body)) = part.split_once('\n') else {
            continue;
        };
        let name = head
            .rsplit_once(" b/")
            .map_or(head, |(_, name)| name.trim_matches('"'));
        // Object names say the same as the content, at most.
        let body: Vec<&str> = body.lines().filter(|l| !l.starts_with("index ")).collect();
        found.insert(name.to_owned(), body.join("\n"));
    }
    found
}

/// Compares two diffs against the same snapshot.
pub(super) fn trees(replayed: &[u8], handed_in: &[u8]) -> ReplayedTree {
    let (mut replayed, handed_in) = (files(replayed), files(handed_in));
    let mut tree = ReplayedTree::default();
    for (path, body) in handed_in {
        let why = match replayed.remove(&path) {
            None => "the replay did not change it",
            Some(other) if other != body => "the replay made something else of it",
            Some(_) => continue,
        };
        tree.departs.push((path, why.to_owned()));
    }
    for (path, body) in replayed {
        if body.starts_with("new file mode") {
            tree.left_behind.push(path);
        } else {
            let why = "the replay changed it, the patch does not";
            tree.departs.push((path, why.to_owned()));
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(
        output: &str,
        exit: Option<i64>,
        truncated: bool,
        seen: (&str, i64),
    ) -> ReplayedStep {
        let told = Told {
            index: 3,
            script: Ok("make".to_owned()),
            output: Some(output.to_owned()),
            exit_code: exit,
            truncated,
        };
        let mut found = ReplayedStep {
            index: 3,
            command: String::new(),
            departure: Departure::NotRun,
            why: String::new(),
            told: String::new(),
            seen: String::new(),
        };
        step(&told, seen.0, seen.1, &mut found);
        found
    }

    #[test]
    fn outputs_are_the_same_but_for_what_no_replay_can_repeat() {
        let of = |a: &str, b: &str| compared(a, Some(0), false, (b, 0)).departure;
        assert_eq!(of("a\nb\n", "a  \r\nb"), Departure::Same);
        assert_eq!(
            of("took 0.31 s at 0x7ffe10", "took 1.2 s at 0x55aa"),
            Departure::Numbers
        );
        assert_eq!(of("3 passed", "3 failed"), Departure::Output);
        assert_eq!(of("", "surprise"), Departure::Output);
        // What was not told departs from nothing.
        assert_eq!(compared("", None, true, ("", 7)).departure, Departure::Same);
    }

    #[test]
    fn another_status_and_the_place_of_a_difference_are_told() {
        let exit = compared("x", Some(0), false, ("x", 2));
        assert_eq!(exit.departure, Departure::Exit);
        assert!(exit.why.contains("status 2") && exit.why.contains("says 0"));
        let output = compared("one\ntwo\nthree", None, false, ("one\nzwei\nthree", 0));
        assert_eq!(output.departure, Departure::Output);
        assert!(output.why.ends_with("from line 2 on"), "{}", output.why);
        assert_eq!(
            (output.told.as_str(), output.seen.as_str()),
            ("two\nthree", "zwei\nthree")
        );
    }

    #[test]
    fn a_cut_output_agrees_as_far_as_it_was_shown() {
        let long: String = (0..200).map(|n| format!("line {n}\n")).collect();
        let cut = format!("{}\n... 900 lines were cut ...", &long[..400]);
        assert_eq!(
            compared(&cut, None, true, (&long, 0)).departure,
            Departure::Same
        );
        assert_eq!(
            compared(&cut, None, false, (&long, 0)).departure,
            Departure::Output
        );
    }

    #[test]
    fn trees_differ_by_file() {
        let file = |name: &str, hunk: &str| {
            format!(
                "diff --git a/{name} b/{name}\nindex 1..2 100644\n--- a/{name}\n+++ b/{name}\n{hunk}"
            )
        };
        let new = "diff --git a/log.txt b/log.txt\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/log.txt\n@@ -0,0 +1 @@\n+x\n";
        let hunk = "@@ -1 +1 @@\n-a\n+b\n";
        let replayed = format!("{}{}{new}", file("a.py", hunk), file("c.py", hunk));
        let handed_in = format!("{}{}", file("a.py", hunk), file("b.py", hunk));
        let found = trees(replayed.as_bytes(), handed_in.as_bytes());
        let paths: Vec<&str> = found.departs.iter().map(|d| d.0.as_str()).collect();
        assert_eq!(paths, ["b.py", "c.py"]);
        assert_eq!(found.left_behind, ["log.txt"]);
        assert!(
            trees(handed_in.as_bytes(), handed_in.as_bytes())
                .departs
                .is_empty()
        );
    }
}
