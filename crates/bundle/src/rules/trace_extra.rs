//! One trace per attempt; of several, the first by a fixed order is taken.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::layout::below_top;

pub(crate) struct TraceExtra;

impl Rule for TraceExtra {
    fn id(&self) -> &'static str {
        "trace-extra"
    }

    fn describe(&self) -> &'static str {
        "An attempt brings one trace; further ones are left aside."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for attempt in &bundle.attempts {
            if let [first, others @ ..] = &attempt.traces[..] {
                for other in others {
                    let taken = below_top(&bundle.entries[*first].path);
                    out.warn(
                        &bundle.entries[*other].path,
                        format!("the attempt has another trace, `{taken}`, and that one is taken"),
                        "Leave one trace in each attempt's folder.",
                    );
                }
            }
        }
    }
}
