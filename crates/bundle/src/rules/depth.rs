//! How deep folders may nest.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;

pub(crate) struct Depth;

impl Rule for Depth {
    fn id(&self) -> &'static str {
        "limit-nesting"
    }

    fn describe(&self) -> &'static str {
        "Folders do not nest deeper than the limit."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let most = bundle.limits.nesting;
        for entry in &bundle.entries {
            let depth = entry.path.split('/').filter(|p| !p.is_empty()).count();
            if depth > most {
                out.error(
                    &entry.path,
                    format!("the path has {depth} parts, more than {most}"),
                    "An attempt's files lie at most four folders deep: take the rest out.",
                );
            }
        }
    }
}
