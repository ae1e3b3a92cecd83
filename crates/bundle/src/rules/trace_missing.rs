//! No trace, no listing: every attempt brings one.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct TraceMissing;

impl Rule for TraceMissing {
    fn id(&self) -> &'static str {
        "trace-missing"
    }

    fn describe(&self) -> &'static str {
        "Every attempt brings a trace that is not empty."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for attempt in &bundle.attempts {
            match attempt.traces.first() {
                None if bundle.complete => out.error(
                    &attempt.folder,
                    "the attempt has no trace",
                    "Add the run's trajectory as trajectory.json, trajectory.jsonl or *.traj.json.",
                ),
                Some(trace)
                    if bundle.entries[*trace].size == 0
                        && bundle.entries[*trace].sha256.is_some() =>
                {
                    out.error(
                        &bundle.entries[*trace].path,
                        "the trace is empty",
                        "Put the run's trajectory in its place.",
                    );
                }
                _ => {}
            }
        }
    }
}
