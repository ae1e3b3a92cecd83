//! The streamed tar archive, read back by another implementation.

use std::io::Read as _;
use std::sync::Arc;

use faultboard_domain::Digest;
use futures::FutureExt as _;

use super::*;
use crate::http::body;

async fn archive(files: Vec<(BlobFile, Vec<u8>)>) -> Result<Bytes, axum::Error> {
    let list: Vec<BlobFile> = files.iter().map(|(f, _)| f.clone()).collect();
    let open: Opener = Arc::new(move |file: BlobFile| {
        let found = files
            .iter()
            .find(|(f, _)| f.name == file.name)
            .map(|(_, b)| b.clone());
        async move {
            let bytes = found.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))?;
            let pieces: Vec<_> = bytes
                .chunks(10_000)
                .map(|c| Ok(Bytes::copy_from_slice(c)))
                .collect();
            Ok(futures::stream::iter(pieces).boxed())
        }
        .boxed()
    });
    axum::body::to_bytes(
        body::outgoing(move |sink| write(list, open, sink)),
        64 << 20,
    )
    .await
}

fn named(name: &str, bytes: &[u8]) -> (BlobFile, Vec<u8>) {
    let file = BlobFile {
        name: name.to_owned(),
        digest: Digest::of(bytes),
        size: bytes.len() as u64,
        content_type: "text/plain",
    };
    (file, bytes.to_vec())
}

#[tokio::test]
async fn another_reader_finds_every_entry() {
    let long = format!("{}/trajectory.json", "deep/".repeat(60));
    let noise: Vec<u8> = (0..400_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3])
        .collect();
    let files = vec![
        named("a.json", b"{}"),
        named("empty", b""),
        named(&long, &noise),
        named("512", &[7; 512]),
    ];
    let packed = archive(files.clone()).await.unwrap();
    let mut tar = tar::Archive::new(zstd::stream::read::Decoder::new(&*packed).unwrap());
    let mut seen = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        seen.push((entry.path().unwrap().display().to_string(), bytes));
    }
    let expected: Vec<_> = files.into_iter().map(|(f, b)| (f.name, b)).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_file_of_another_size_breaks_the_archive_off() {
    for other in [&b"abcd"[..], b"ab"] {
        let (file, _) = named("x", b"abc");
        assert!(archive(vec![(file, other.to_vec())]).await.is_err());
    }
}
