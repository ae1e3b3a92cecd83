//! Any bytes as a patch, applied to files that it may or may not fit: before a NUL byte
//! stands the old file, after it the patch.

use faultboard_domain::patch::{Patch, apply_file};

/// Reads and applies one input.
pub(crate) fn run(data: &[u8]) {
    let cut = data.iter().position(|b| *b == 0);
    let (old, patch) = match cut {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (&b"a\nb\nc\n"[..], data),
    };
    let Ok(mut patch) = Patch::parse(patch) else {
        return;
    };
    let (added, removed) = patch.size();
    assert!(added + removed <= data.len());
    for file in &patch.files {
        let _ = apply_file(Some(old), file);
        let _ = apply_file(None, file);
    }
    patch.drop_protected(&["inject_test/".to_owned(), "*.md".to_owned()]);
}
