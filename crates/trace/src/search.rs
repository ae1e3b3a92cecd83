//! Search inside one normalised trace: plain text, case ignored, streamed.

use std::io::BufRead;

use faultboard_domain::trace::Step;
use serde::{Deserialize, Serialize};

use crate::error::TraceError;
use crate::input::Lines;
use crate::limits::Limits;
use crate::segments::segments;

/// Characters of text around a hit.
const AROUND: usize = 60;

/// A place where the words stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Index of the step.
    pub step: u32,
    /// Which text: `prompt`, `thought`, `input` or `output`.
    pub source: String,
    /// Byte offset of the hit in that text.
    pub start: u64,
    /// The hit with a little text around it.
    pub excerpt: String,
}

/// Steps from `from` on whose texts hold `words`, at most `limit` hits, one per
/// text. Letters match without regard to case where both cases have the same
/// length in bytes.
///
/// # Errors
/// When the lines are not normalised steps, or the input fails.
pub fn search(
    normalised: &mut dyn BufRead,
    words: &str,
    from: u32,
    limit: usize,
    limits: &Limits,
) -> Result<Vec<Hit>, TraceError> {
    let wanted = fold(words.trim());
    let mut hits = Vec::new();
    if wanted.is_empty() || limit == 0 {
        return Ok(hits);
    }
    let mut lines = Lines::new(normalised, limits);
    while let Some(line) = lines.next()? {
        if line.bytes.is_empty() {
            continue;
        }
        let offset = line.offset;
        let step: Step = serde_json::from_slice(line.bytes).map_err(|_| TraceError::Malformed {
            format: "normalised",
            offset,
            reason: "a line is no step".to_owned(),
        })?;
        if step.index < from {
            continue;
        }
        for segment in segments(&step) {
            let Some(start) = fold(segment.text).find(&wanted) else {
                continue;
            };
            hits.push(Hit {
                step: step.index,
                source: segment.source.as_str().to_owned(),
                start: start as u64,
                excerpt: excerpt(segment.text, start, start + wanted.len()),
            });
            if hits.len() >= limit {
                return Ok(hits);
            }
        }
    }
    Ok(hits)
}

/// Lower case, byte for byte as long as before.
fn fold(text: &str) -> String {
    text.chars()
        .map(|c| {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(l), None) if l.len_utf8() == c.len_utf8() => l,
                _ => c,
            }
        })
        .collect()
}

fn excerpt(text: &str, start: usize, end: usize) -> String {
    let before = text[..start]
        .char_indices()
        .rev()
        .take(AROUND)
        .last()
        .map_or(start, |(at, _)| at);
    let after = text[end..]
        .char_indices()
        .nth(AROUND)
        .map_or(text.len(), |(at, _)| end + at);
    let mut out = String::new();
    if before > 0 {
        out.push('…');
    }
    out.extend(
        text[before..after]
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c }),
    );
    if after < text.len() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultboard_domain::trace::StepRole;

    fn lines(texts: &[&str]) -> Vec<u8> {
        let steps: Vec<Step> = texts
            .iter()
            .enumerate()
            .map(|(i, t)| Step {
                index: i as u32,
                role: StepRole::Assistant,
                turn: None,
                thought: (*t).to_owned(),
                action: None,
                observation: None,
                tokens: None,
                cost: None,
                start: None,
                seconds: None,
            })
            .collect();
        crate::pages::write_normalised(&steps).0
    }

    #[test]
    fn finds_without_case_and_with_odd_letters() {
        let data = lines(&["nothing", "ÄÖ İ the Quick fox", "quick"]);
        let hits = search(&mut data.as_slice(), "QUICK", 0, 10, &Limits::default()).unwrap();
        assert_eq!(hits.iter().map(|h| h.step).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(hits[0].excerpt, "ÄÖ İ the Quick fox");
        assert_eq!(
            search(&mut data.as_slice(), "quick", 2, 10, &Limits::default())
                .unwrap()
                .len(),
            1
        );
        assert_eq!(
            search(&mut data.as_slice(), " ", 0, 10, &Limits::default())
                .unwrap()
                .len(),
            0
        );
        assert_eq!(
            search(&mut data.as_slice(), "äö", 0, 1, &Limits::default()).unwrap()[0].start,
            0
        );
    }

    #[test]
    fn other_lines_are_an_error() {
        let error = search(&mut b"{}\n".as_slice(), "x", 0, 1, &Limits::default()).unwrap_err();
        assert_eq!(error.offset(), 0);
    }
}
