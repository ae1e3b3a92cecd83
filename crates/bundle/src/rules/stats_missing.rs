//! Attempts without stats: told once for the whole bundle.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct StatsMissing;

impl Rule for StatsMissing {
    fn id(&self) -> &'static str {
        "stats-missing"
    }

    fn describe(&self) -> &'static str {
        "Attempts bring session_stats.json; without it, cost and tokens come from the trace or stay unknown."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let all = bundle.attempts.len();
        let without = bundle.attempts.iter().filter(|a| a.stats.is_none()).count();
        if without > 0 && bundle.complete {
            out.warn(
                "",
                format!("{without} of {all} attempts have no session_stats.json"),
                "Add calls, input_tokens, output_tokens, cached_tokens, cost_usd and seconds \
                 where they are known.",
            );
        }
    }
}
