//! Faultboard's own normalised steps, one a line: what it offers for download.

use std::io::BufRead;

use faultboard_domain::trace::Step;

use super::Reader;
use crate::assemble::{Assembler, Draft};
use crate::error::TraceError;
use crate::head::Head;
use crate::input::json_lines;

pub(crate) struct Normalised;

const ID: &str = "faultboard";

impl Reader for Normalised {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "normalised steps"
    }

    fn detects(&self, head: &Head<'_>) -> bool {
        head.documents.first().is_some_and(|d| {
            [
                "index",
                "role",
                "thought",
                "action",
                "observation",
                "seconds",
            ]
            .iter()
            .all(|k| d.has(k))
        })
    }

    fn read(
        &self,
        _: &Head<'_>,
        input: &mut dyn BufRead,
        out: &mut Assembler<'_>,
    ) -> Result<(), TraceError> {
        let limits = out.limits();
        let count = json_lines(input, limits, ID, &mut |value| {
            let step: Step =
                serde_json::from_value(value).map_err(|e| format!("a line is no step: {e}"))?;
            while step.turn.is_some_and(|t| t > out.turn()) && step.turn <= Some(limits.steps) {
                out.next_turn();
            }
            let mut draft = Draft::new(step.role, step.thought);
            draft.turn = step.turn;
            draft.action = step.action;
            draft.observation = step.observation;
            draft.tokens = step.tokens;
            draft.cost = step.cost;
            draft.start = step.start;
            draft.seconds = step.seconds;
            out.push(draft);
            Ok(())
        })?;
        if count.cut {
            out.note("the last line is cut off and left out");
        }
        Ok(())
    }
}
