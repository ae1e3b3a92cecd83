//! The streamed zip, read back by another implementation and against the format's limits.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;

use faultboard_domain::Digest;
use futures::FutureExt as _;

use super::*;
use crate::http::body;

/// Files by digest, handed out in small pieces.
fn opener(files: BTreeMap<Digest, Vec<u8>>) -> Opener {
    let files = Arc::new(files);
    Arc::new(move |file: BlobFile| {
        let files = files.clone();
        async move {
            let bytes = files
                .get(&file.digest)
                .cloned()
                .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))?;
            let pieces: Vec<_> = bytes
                .chunks(70_000)
                .map(|c| Ok(Bytes::copy_from_slice(c)))
                .collect();
            Ok(futures::stream::iter(pieces).boxed())
        }
        .boxed()
    })
}

fn named(name: &str, bytes: &[u8]) -> (BlobFile, Vec<u8>) {
    let file = BlobFile {
        name: name.to_owned(),
        digest: Digest::of(bytes),
        size: bytes.len() as u64,
        content_type: "application/octet-stream",
    };
    (file, bytes.to_vec())
}

async fn archive(
    files: &[(BlobFile, Vec<u8>)],
    stored: BTreeMap<Digest, Vec<u8>>,
) -> (u64, Result<Bytes, axum::Error>) {
    let list: Vec<BlobFile> = files.iter().map(|(f, _)| f.clone()).collect();
    let plan = Plan::new(list.iter().map(|f| (f.name.as_str(), f.size)));
    let length = plan.length;
    let open = opener(stored);
    let body = body::outgoing(move |sink| write(plan, list, open, sink));
    (length, axum::body::to_bytes(body, 64 << 20).await)
}

fn stored(files: &[(BlobFile, Vec<u8>)]) -> BTreeMap<Digest, Vec<u8>> {
    files
        .iter()
        .map(|(f, b)| (f.digest.clone(), b.clone()))
        .collect()
}

#[tokio::test]
async fn another_reader_finds_every_entry_and_the_length_is_exact() {
    // One entry that is held, an empty one, and one that is read twice.
    let large: Vec<u8> = (0..3_000_000_u32)
        .flat_map(|n| n.to_le_bytes())
        .take(2_500_000)
        .collect();
    let files = vec![
        named("a/run-01/trajectory.json", b"{\"steps\": []}"),
        named("a/run-02/leer \u{e9}.txt", b""),
        named("b/trace.jsonl", &large),
    ];
    let (length, bytes) = archive(&files, stored(&files)).await;
    let bytes = bytes.unwrap();
    assert_eq!(bytes.len() as u64, length);
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(zip.len(), files.len());
    for (n, (file, expected)) in files.iter().enumerate() {
        let mut entry = zip.by_index(n).unwrap();
        assert_eq!(entry.name().unwrap(), file.name);
        let mut got = Vec::new();
        // The reader checks the checksum as it goes.
        entry.read_to_end(&mut got).unwrap();
        assert_eq!(&got, expected);
    }
}

#[tokio::test]
async fn a_reader_of_streams_needs_no_directory() {
    let files = vec![named("x", b"one"), named("y", b"two")];
    let (_, bytes) = archive(&files, stored(&files)).await;
    let mut stream = std::io::Cursor::new(bytes.unwrap());
    let mut seen = Vec::new();
    while let Some(mut entry) = zip::read::read_zipfile_from_stream(&mut stream).unwrap() {
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        seen.push((entry.name().unwrap().into_owned(), text));
    }
    assert_eq!(
        seen,
        [
            ("x".to_owned(), "one".to_owned()),
            ("y".to_owned(), "two".to_owned())
        ]
    );
}

#[tokio::test]
async fn a_missing_or_changed_file_breaks_the_archive_off() {
    let files = vec![named("x", b"one"), named("y", b"two")];
    let mut without = stored(&files);
    without.remove(&files[1].0.digest);
    assert!(archive(&files, without).await.1.is_err());
    for other in [&b"twoo"[..], b"tw"] {
        let mut changed = stored(&files);
        changed.insert(files[1].0.digest.clone(), other.to_vec());
        assert!(archive(&files, changed).await.1.is_err());
    }
}

#[tokio::test]
async fn many_entries_need_zip64_and_get_it() {
    let shared = named("x", b"z");
    let files: Vec<_> = (0..70_000)
        .map(|n| {
            (
                BlobFile {
                    name: format!("f{n}"),
                    ..shared.0.clone()
                },
                shared.1.clone(),
            )
        })
        .collect();
    let (length, bytes) = archive(&files, stored(&files[..1])).await;
    let bytes = bytes.unwrap();
    assert_eq!(bytes.len() as u64, length);
    let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(zip.len(), 70_000);
    assert_eq!(zip.by_index(69_999).unwrap().name().unwrap(), "f69999");
}

#[test]
fn sizes_beyond_four_gib_are_planned_with_wide_fields() {
    let five = 5_u64 << 30;
    let plan = Plan::new([("a", five), ("b", 7), ("c", five)].into_iter());
    let [a, b, c] = &plan.entries[..] else {
        panic!("three entries")
    };
    // Sizes in the local header's extra field: 4 + 16 bytes.
    assert_eq!(a.local(0).len(), 30 + 1 + 20);
    assert_eq!(a.central(0).len(), 46 + 1 + 20);
    // Only the offset is wide: 4 + 8 bytes, in the central record alone.
    assert_eq!((b.local(0).len(), b.central(0).len()), (31, 46 + 1 + 12));
    assert_eq!(c.central(0).len(), 46 + 1 + 28);
    assert_eq!(b.offset, 51 + five);
    assert_eq!(&a.local(0)[18..26], &[0xFF; 8]);
    // Zip64 end record (56), its locator (20), the end record (22).
    assert_eq!(plan.end().len(), 98);
    assert_eq!(
        plan.length,
        51 + five + 31 + 7 + 51 + five + 67 + 59 + 75 + 98
    );
}

#[test]
fn long_names_are_cut_at_a_character() {
    let name = "é".repeat(40_000);
    let plan = Plan::new([(name.as_str(), 1)].into_iter());
    assert_eq!(plan.entries[0].name.len(), 65_534);
}
