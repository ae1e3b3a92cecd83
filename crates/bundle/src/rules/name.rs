//! Paths that would leave the bundle, or that can't be written down.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::path::{MAX_PATH_BYTES, NameFault};

pub(crate) struct Path;

impl Rule for Path {
    fn id(&self) -> &'static str {
        "archive-path"
    }

    fn describe(&self) -> &'static str {
        "Paths are relative, stay inside the bundle, and hold no control characters."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for entry in &bundle.entries {
            let why: Vec<String> = entry.name_faults.iter().filter_map(|f| words(*f)).collect();
            if !why.is_empty() {
                out.error(
                    &entry.path,
                    format!("the path {}", why.join(" and ")),
                    "Pack the bundle's folder from the folder above it, by its name alone.",
                );
            }
        }
    }
}

fn words(fault: NameFault) -> Option<String> {
    Some(match fault {
        NameFault::NotUtf8 => return None,
        NameFault::Absolute => "is absolute".to_owned(),
        NameFault::Parent => "leaves the bundle through `..`".to_owned(),
        NameFault::Backslash => "holds a backslash".to_owned(),
        NameFault::Control => "holds a control or direction character".to_owned(),
        NameFault::TooLong => format!("has more than {MAX_PATH_BYTES} bytes"),
        NameFault::Empty => "is empty".to_owned(),
    })
}
