//! Any bytes as an archive: the check ends in a report, whatever they are. Input that
//! begins with `t` goes on with a tar file, which is packed first: no mutation gets
//! past gzip's checksum by itself.

use std::io::{Cursor, Write as _};

use faultboard_bundle::hostile::knowledge;
use faultboard_bundle::{Discard, Limits, check_archive, render};

/// Checks one input.
pub(crate) fn run(data: &[u8]) {
    // Small, so that every limit is met by small inputs.
    let limits = Limits {
        compressed_bytes: 1 << 20,
        unpacked_bytes: 4 << 20,
        entries: 200,
        ratio_floor_bytes: 1 << 20,
        file_bytes: 1 << 20,
        ..Limits::default()
    };
    let packed = data.strip_prefix(b"t").map(|tar| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        gz.write_all(tar).expect("memory takes all bytes");
        gz.finish().expect("memory takes all bytes")
    });
    let bytes = packed.as_deref().unwrap_or(data);
    let checked = check_archive(Cursor::new(bytes), &limits, &knowledge(), &mut Discard)
        .expect("only a source that can't be read is an error");
    for problem in &checked.report.problems {
        assert!(!problem.message.is_empty() && !problem.fix.is_empty());
        let shown = format!("{} {}", problem.path, problem.message);
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
    render(&checked.report);
}
