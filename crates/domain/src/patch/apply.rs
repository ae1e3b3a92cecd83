//! Applying one file's hunks to its bytes. It never guesses: every old line of
//! a hunk must be there; only their place may have moved, and only line endings
//! may differ.

use super::{FileChange, FilePatch, Hunk, HunkLine};

/// A file after its patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFile {
    /// Its bytes; `None` when it was deleted.
    pub bytes: Option<Vec<u8>>,
    /// What was tolerated, per hunk, in words.
    pub notes: Vec<String>,
}

/// Why a hunk did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkFailure {
    /// 1-based number within the file; 0 for the file as a whole.
    pub hunk: usize,
    /// What happened, in one sentence.
    pub why: String,
}

/// Applies the hunks to the old bytes (`None`: there is no such file). Every
/// hunk is tried, so the failures are complete.
pub fn apply_file(old: Option<&[u8]>, patch: &FilePatch) -> Result<AppliedFile, Vec<HunkFailure>> {
    let whole = |why: String| vec![HunkFailure { hunk: 0, why }];
    let old = match (patch.change, old) {
        (FileChange::Create, Some(_)) => {
            return Err(whole(format!(
                "`{}` is to be created but exists already",
                patch.new_path
            )));
        }
        (FileChange::Create, None) => &[][..],
        (_, None) => {
            return Err(whole(format!(
                "`{}` does not exist in the tree",
                patch.old_path
            )));
        }
        (_, Some(bytes)) => bytes,
    };
    let lines: Vec<&[u8]> = old.split_inclusive(|b| *b == b'\n').collect();
    let crlf_file = lines.first().is_some_and(|l| l.ends_with(b"\r\n"));
    let mut out: Vec<u8> = Vec::with_capacity(old.len() + 1024);
    let mut failures = Vec::new();
    let mut notes = Vec::new();
    let mut done = 0;
    let mut shift: isize = 0;
    for (i, hunk) in patch.hunks.iter().enumerate() {
        let number = i + 1;
        let wanted: Vec<&[u8]> = hunk.lines.iter().filter_map(old_side).collect();
        let guess = hunk
            .old_start
            .saturating_sub(usize::from(!wanted.is_empty()))
            .saturating_add_signed(shift);
        match locate(&lines, &wanted, guess, done) {
            Some((at, exact)) => {
                let moved = at.cast_signed() - guess.cast_signed();
                if moved != 0 {
                    notes.push(format!(
                        "hunk {number} of {} applied {moved:+} lines away",
                        patch.new_path
                    ));
                }
                if !exact {
                    notes.push(format!(
                        "hunk {number} of {} applied with other line endings",
                        patch.new_path
                    ));
                }
                shift += moved;
                out.extend(lines[done..at].concat());
                done = at;
                write_hunk(&mut out, hunk, &lines, &mut done, crlf_file);
            }
            None => failures.push(HunkFailure {
                hunk: number,
                why: explain(hunk, &wanted, &lines, done),
            }),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    out.extend(lines[done..].concat());
    if patch.change == FileChange::Delete {
        if !out.is_empty() && !patch.hunks.is_empty() {
            return Err(whole(format!(
                "`{}` is to be deleted but holds lines that the patch does not remove",
                patch.old_path
            )));
        }
        return Ok(AppliedFile { bytes: None, notes });
    }
    Ok(AppliedFile {
        bytes: Some(out),
        notes,
    })
}

fn old_side(line: &HunkLine) -> Option<&[u8]> {
    match line {
        HunkLine::Context(b) | HunkLine::Remove(b) => Some(b),
        HunkLine::Add(_) => None,
    }
}

fn bare(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The place nearest to the guess at which the lines stand, and whether they
/// are equal to the byte.
fn locate(lines: &[&[u8]], wanted: &[&[u8]], guess: usize, from: usize) -> Option<(usize, bool)> {
    if wanted.is_empty() {
        let at = guess.max(from);
        return (at <= lines.len()).then_some((at, true));
    }
    let last = lines.len().checked_sub(wanted.len())?;
    if from > last {
        return None;
    }
    let exact = |at: usize| lines[at..at + wanted.len()] == *wanted;
    let loose = |at: usize| {
        lines[at..at + wanted.len()]
            .iter()
            .zip(wanted)
            .all(|(a, b)| bare(a) == bare(b))
    };
    let guess = guess.clamp(from, last);
    let reach = (guess - from).max(last - guess);
    let near = |fits: &dyn Fn(usize) -> bool| {
        (0..=reach).find_map(|d| {
            let before = guess.checked_sub(d).filter(|at| *at >= from && fits(*at));
            before.or_else(|| Some(guess + d).filter(|at| *at <= last && fits(*at)))
        })
    };
    near(&exact)
        .map(|at| (at, true))
        .or_else(|| near(&loose).map(|at| (at, false)))
}

/// Writes the hunk's new side; context keeps the file's own bytes.
fn write_hunk(out: &mut Vec<u8>, hunk: &Hunk, lines: &[&[u8]], done: &mut usize, crlf_file: bool) {
    for line in &hunk.lines {
        match line {
            HunkLine::Context(_) => {
                out.extend_from_slice(lines[*done]);
                *done += 1;
            }
            HunkLine::Remove(_) => *done += 1,
            HunkLine::Add(b) => {
                if !out.is_empty() && !out.ends_with(b"\n") {
                    out.push(b'\n');
                }
                let ending: &[u8] = match (b.ends_with(b"\n"), crlf_file) {
                    (false, _) => b"",
                    (true, true) => b"\r\n",
                    (true, false) if b.ends_with(b"\r\n") && !lines.is_empty() => b"\n",
                    (true, false) => &b[bare(b).len()..],
                };
                out.extend_from_slice(bare(b));
                out.extend_from_slice(ending);
            }
        }
    }
}

fn explain(hunk: &Hunk, wanted: &[&[u8]], lines: &[&[u8]], from: usize) -> String {
    let missing = wanted.iter().find(|w| {
        !lines[from.min(lines.len())..]
            .iter()
            .any(|l| bare(l) == bare(w))
    });
    match missing {
        Some(line) => format!(
            "near line {}: the old line `{}` is not in the file",
            hunk.old_start,
            String::from_utf8_lossy(bare(line))
                .chars()
                .take(160)
                .collect::<String>()
        ),
        None => format!(
            "near line {}: its old lines are in the file, but not together in this order",
            hunk.old_start
        ),
    }
}
