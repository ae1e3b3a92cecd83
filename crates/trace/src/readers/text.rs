//! What fits no format is shown as text, and says so. Cut into pieces at line
//! ends, so that a long text can be paged.

use std::io::BufRead;

use faultboard_domain::trace::StepRole;

use super::Reader;
use crate::assemble::{Assembler, Draft, observation};
use crate::error::TraceError;
use crate::head::Head;
use crate::input::Lines;

pub(crate) struct PlainText;

/// Bytes of one piece, save for a single longer line.
const PIECE: usize = 32 << 10;

impl Reader for PlainText {
    fn id(&self) -> &'static str {
        "text"
    }

    fn title(&self) -> &'static str {
        "plain text"
    }

    fn detects(&self, _: &Head<'_>) -> bool {
        true
    }

    fn read(
        &self,
        head: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        out.note(if head.bytes.starts_with(b"version https://git-lfs") {
            "this is a pointer of Git LFS, not a trace: the file itself was not handed in"
        } else if head.bytes.contains(&0) {
            "this is no trace of a known format but binary data; it is shown as text"
        } else {
            "this is no trace of a known format; it is shown as text"
        });
        let limits = out.limits();
        let mut lines = Lines::new(input, limits);
        let mut piece = String::new();
        let mut repaired = false;
        while let Some(line) = lines.next()? {
            let text = String::from_utf8_lossy(line.bytes);
            repaired |= matches!(text, std::borrow::Cow::Owned(_));
            piece.push_str(&text);
            piece.push('\n');
            out.count("lines", "");
            if piece.len() >= PIECE {
                push(&mut piece, out);
            }
        }
        push(&mut piece, out);
        if repaired {
            out.note("bytes that are not UTF-8 are shown as \u{fffd}");
        }
        Ok(())
    }
}

fn push(piece: &mut String, out: &mut Assembler<'_>) {
    if !piece.trim().is_empty() {
        let mut draft = Draft::new(StepRole::Tool, "");
        draft.observation = Some(observation(std::mem::take(piece), None));
        out.push(draft);
    }
    piece.clear();
}
