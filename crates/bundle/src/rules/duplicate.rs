//! The same path twice, or one path as both a file and a folder.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::source::EntryKind;

pub(crate) struct Duplicate;

impl Rule for Duplicate {
    fn id(&self) -> &'static str {
        "archive-duplicate"
    }

    fn describe(&self) -> &'static str {
        "Every path stands in a bundle once."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        let mut paths: Vec<(Vec<&str>, EntryKind, &str)> = bundle
            .entries
            .iter()
            .filter(|e| e.name_faults.is_empty())
            .map(|e| (e.path.split('/').collect(), e.kind, e.path.as_str()))
            .collect();
        // By parts, so that a path stands right before what lies below it.
        paths.sort_by(|a, b| a.0.cmp(&b.0));
        let mut told = "";
        for pair in paths.windows(2) {
            let [(parts, kind, path), (next, next_kind, _)] = pair else {
                continue;
            };
            let folders = *kind == EntryKind::Folder && *next_kind == EntryKind::Folder;
            let message = if parts == next && !folders {
                "the path stands more than once in the bundle"
            } else if *kind != EntryKind::Folder
                && next.len() > parts.len()
                && next.starts_with(parts)
            {
                "the path is both a file and a folder"
            } else {
                continue;
            };
            if told != *path {
                told = path;
                out.error(
                    path,
                    message,
                    "Pack the folder anew; appending to an archive leaves the old entries in it.",
                );
            }
        }
    }
}
