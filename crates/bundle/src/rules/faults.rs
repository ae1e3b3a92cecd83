//! The rules on packaging: each turns one kind of fault, noted while the source
//! streamed by, into a problem.

use super::{Out, Rule};
use crate::facts::Bundle;
use crate::fault::FaultKind;
use crate::knowledge::Knowledge;

/// A rule that tells every fault of its kind.
pub(crate) struct FaultRule {
    id: &'static str,
    kind: FaultKind,
    describe: &'static str,
    fix: &'static str,
}

impl Rule for FaultRule {
    fn id(&self) -> &'static str {
        self.id
    }

    fn describe(&self) -> &'static str {
        self.describe
    }

    fn check(&self, bundle: &Bundle, _: &Knowledge, out: &mut Out<'_>) {
        for fault in bundle.faults.iter().filter(|f| f.kind == self.kind) {
            let mut message = fault.detail.clone();
            if !bundle.complete && fault.path.is_empty() && self.kind != FaultKind::Format {
                message.push_str(&format!(
                    " ({} entries were read before; what lies behind was not checked)",
                    bundle.entries.len()
                ));
            }
            out.error(&fault.path, message, self.fix);
        }
    }
}

pub(crate) static FORMAT: FaultRule = FaultRule {
    id: "archive-format",
    kind: FaultKind::Format,
    describe: "A bundle is a .tar.gz, a .tar.zst or a .zip, told from its content.",
    fix: "Pack the folder with `faultboard submit package`, or as .tar.gz, .tar.zst or .zip.",
};

pub(crate) static TRUNCATED: FaultRule = FaultRule {
    id: "archive-truncated",
    kind: FaultKind::Truncated,
    describe: "An archive is whole.",
    fix: "Compare the file's size and SHA-256 with the original and send it again; \
          pack it anew if the original ends early too.",
};

pub(crate) static CORRUPT: FaultRule = FaultRule {
    id: "archive-corrupt",
    kind: FaultKind::Corrupt,
    describe: "An archive agrees with its own checksums and directory.",
    fix: "Pack the folder anew and send that.",
};

pub(crate) static UNREADABLE: FaultRule = FaultRule {
    id: "archive-method",
    kind: FaultKind::Unreadable,
    describe: "Entries of a .zip are stored or deflated, and not encrypted.",
    fix: "Pack the folder without a password and with the usual compression.",
};

pub(crate) static TRAILING: FaultRule = FaultRule {
    id: "archive-trailing",
    kind: FaultKind::Trailing,
    describe: "Nothing follows the end of a tar archive.",
    fix: "Pack everything into one archive; archives can't be joined end to end.",
};

pub(crate) static COMPRESSED: FaultRule = FaultRule {
    id: "limit-compressed",
    kind: FaultKind::CompressedLimit,
    describe: "An archive keeps the limit on its size.",
    fix: "Leave out what is not asked for, or compress better (.tar.zst).",
};

pub(crate) static UNPACKED: FaultRule = FaultRule {
    id: "limit-unpacked",
    kind: FaultKind::UnpackedLimit,
    describe: "A bundle keeps the limit on its unpacked size.",
    fix: "Leave out what is not asked for: one trace and one answer per attempt are enough.",
};

pub(crate) static ENTRIES: FaultRule = FaultRule {
    id: "limit-entries",
    kind: FaultKind::EntryLimit,
    describe: "A bundle keeps the limit on the number of its entries.",
    fix: "Leave out what is not asked for: one trace and one answer per attempt are enough.",
};

pub(crate) static RATIO: FaultRule = FaultRule {
    id: "limit-ratio",
    kind: FaultKind::RatioLimit,
    describe: "An archive does not unpack to many times its size.",
    fix: "Take out files that hold one thing over and over.",
};

pub(crate) static FILE_SIZE: FaultRule = FaultRule {
    id: "limit-file-size",
    kind: FaultKind::FileLimit,
    describe: "No file is larger than the limit on one file.",
    fix: "Shorten the trace: cut tool output that the model never saw.",
};

pub(crate) static ANSWER_SIZE: FaultRule = FaultRule {
    id: "limit-answer-size",
    kind: FaultKind::AnswerLimit,
    describe: "A patch, a diagnosis, stats and metadata keep the limits on their sizes.",
    fix: "Hand in the changed source lines alone, without built or downloaded files.",
};
