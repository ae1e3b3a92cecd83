//! Devices, pipes, sockets and other entries that are neither file nor folder.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::knowledge::Knowledge;
use crate::source::EntryKind;

pub(crate) struct Special;

impl Rule for Special {
    fn id(&self) -> &'static str {
        "archive-device"
    }

    fn describe(&self) -> &'static str {
        "A bundle holds no devices, pipes, sockets or other special entries."
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for entry in &bundle.entries {
            if let EntryKind::Special(what) = entry.kind {
                out.error(
                    &entry.path,
                    format!("the entry is {what}"),
                    "Take it out; a bundle holds files and folders alone.",
                );
            }
        }
    }
}
