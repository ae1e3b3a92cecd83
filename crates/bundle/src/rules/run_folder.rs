//! Run folders are numbered, each number once.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct RunFolder;

impl Rule for RunFolder {
    fn id(&self) -> &'static str {
        "run-folder"
    }

    fn describe(&self) -> &'static str {
        "An attempt's folder is named `run-NN`, counting from 1, each number once."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for attempt in &bundle.attempts {
            if attempt.run.is_none() {
                out.error(
                    &attempt.folder,
                    format!("`{}` is no run folder", attempt.slot.run),
                    "Name the folder `run-01`, `run-02` ...",
                );
            } else if attempt.repeats_run {
                out.error(
                    &attempt.folder,
                    format!(
                        "another folder has the same run number as `{}`",
                        attempt.slot.run
                    ),
                    "Number the attempts of a case from 1 on, each number once.",
                );
            }
        }
    }
}
