//! Packing is deterministic, leaves strangers out, and what it writes is accepted.

use std::io::Cursor;

use faultboard_bundle::hostile::{Builder, knowledge};
use faultboard_bundle::package::{Compression, package};
use faultboard_bundle::{Discard, Limits, check_archive};
use faultboard_domain::Digest;

#[test]
fn the_same_files_give_the_same_bytes() {
    let b = Builder::repair("2026.1", "full", &["kv-1", "queue-2"], &["symptom-only"]);
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    b.write(one.path()).unwrap();
    let mut reversed = b.clone();
    reversed.items.reverse();
    reversed.write(two.path()).unwrap();
    std::fs::write(two.path().join("kv-1/.env"), "SECRET=1").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", two.path().join("link")).unwrap();
    let long = format!("queue-2/symptom-only/run-01/{}.traj.json", "n".repeat(120));
    for folder in [one.path(), two.path()] {
        std::fs::write(folder.join(&long), "{}").unwrap();
    }
    for compression in [Compression::Zstd, Compression::Gzip] {
        let mut archives = Vec::new();
        for folder in [one.path(), two.path()] {
            let mut out = Vec::new();
            let packed = package(folder, &b.top, compression, &mut out).unwrap();
            assert_eq!(packed.sha256, Digest::of(&out));
            assert_eq!((packed.files, packed.bytes), (8, out.len() as u64));
            archives.push((out, packed.left_out));
        }
        assert_eq!(archives[0].0, archives[1].0);
        assert!(archives[0].1.is_empty());
        assert_eq!(archives[1].1, ["kv-1/.env", "link"]);
        let checked = check_archive(
            Cursor::new(&archives[0].0),
            &Limits::default(),
            &knowledge(),
            &mut Discard,
        )
        .unwrap();
        assert!(checked.report.is_ok());
        assert_eq!(checked.files.len(), 8);
        assert!(checked.files.iter().any(|f| f.path == long));
    }
}
