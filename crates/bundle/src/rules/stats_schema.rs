//! Stats, where there are any, can be read.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct StatsSchema;

impl Rule for StatsSchema {
    fn id(&self) -> &'static str {
        "stats-schema"
    }

    fn describe(&self) -> &'static str {
        "session_stats.json, where there is one, holds numbers from 0."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for stats in bundle.attempts.iter().filter_map(|a| a.stats.as_ref()) {
            let entry = &bundle.entries[stats.entry];
            if let Err(errors) = &stats.stats
                && entry.not_text_at.is_none()
            {
                for error in errors {
                    out.error(
                        &format!("{}#{}", entry.path, error.pointer),
                        &error.message,
                        "Write numbers for calls, input_tokens, output_tokens, cached_tokens, \
                         cost_usd, seconds; leave out what is not known.",
                    );
                }
            }
        }
    }
}
