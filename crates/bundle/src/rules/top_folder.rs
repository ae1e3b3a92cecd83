//! Exactly one top folder.

use super::{Out, Rule, some};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::layout::Place;
use crate::source::EntryKind;

pub(crate) struct TopFolder;

impl Rule for TopFolder {
    fn id(&self) -> &'static str {
        "top-folder"
    }

    fn describe(&self) -> &'static str {
        "Everything in a bundle lies in one top folder."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        if bundle.entries.iter().all(|e| !e.name_faults.is_empty()) {
            // Nothing readable, and another rule says why; or nothing at all.
            if bundle.complete && bundle.entries.is_empty() {
                out.error(
                    "",
                    "the bundle is empty",
                    "Pack the folder that holds metadata.yaml and the attempts.",
                );
            }
            return;
        }
        let loose: Vec<String> = bundle
            .entries
            .iter()
            .filter(|e| {
                e.name_faults.is_empty()
                    && e.kind != EntryKind::Folder
                    && e.place != Place::Dropping
                    && !e.path.contains('/')
            })
            .map(|e| format!("`{}`", e.path))
            .collect();
        let fix = "Put everything into one folder `<date>_<agent>__<model>/` and pack that folder.";
        if bundle.tops.is_empty() && !loose.is_empty() && bundle.complete {
            out.error("", "the bundle has no top folder", fix);
        }
        if bundle.tops.len() > 1 {
            let tops: Vec<String> = bundle.tops.iter().map(|t| format!("`{t}/`")).collect();
            let only = match &bundle.top {
                Some(top) => format!("; only `{top}/`, which holds metadata.yaml, was checked"),
                None => "; none of them holds metadata.yaml, so no attempt was checked".to_owned(),
            };
            out.error(
                "",
                format!(
                    "the bundle has {} top folders ({}){only}",
                    tops.len(),
                    some(&tops, 5)
                ),
                fix,
            );
        }
        if !loose.is_empty() {
            out.error(
                "",
                format!("{} lie outside a top folder", some(&loose, 5)),
                fix,
            );
        }
    }
}
