//! A tar archive through zstd, written as it is sent.

use std::io::Write as _;

use bytes::Bytes;
use faultboard_portal::BlobFile;
use futures::stream::StreamExt as _;

use super::body::{Gone, Sink};
use super::trace_sets::Opener;

/// Quick, and good enough for text.
const LEVEL: i32 = 3;
/// Compressed bytes gathered before they are sent.
const GATHER: usize = 64 << 10;

/// Writes the archive. A file that can't be read breaks it off.
pub(super) async fn write(files: Vec<BlobFile>, open: Opener, sink: Sink) -> Result<(), Gone> {
    let mut packer = match zstd::stream::write::Encoder::new(Vec::new(), LEVEL) {
        Ok(packer) => packer,
        Err(e) => return Err(sink.fail(e).await),
    };
    for file in &files {
        if let Err(e) = head(file).and_then(|head| packer.write_all(&head)) {
            return Err(sink.fail(e).await);
        }
        let mut stream = match open(file.clone()).await {
            Ok(stream) => stream,
            Err(e) => return Err(sink.fail(e).await),
        };
        let mut left = file.size;
        while let Some(piece) = stream.next().await {
            let packed = piece.and_then(|piece| {
                left = left.checked_sub(piece.len() as u64).ok_or_else(|| {
                    std::io::Error::other("a stored file is larger than recorded")
                })?;
                packer.write_all(&piece)
            });
            if let Err(e) = packed {
                return Err(sink.fail(e).await);
            }
            if packer.get_ref().len() >= GATHER {
                sink.send(std::mem::take(packer.get_mut())).await?;
            }
        }
        if left > 0 {
            return Err(sink
                .fail(std::io::Error::other(
                    "a stored file is smaller than recorded",
                ))
                .await);
        }
        let pad = (512 - file.size % 512) % 512;
        let zeros = [0_u8; 512];
        // `pad` is below 512.
        let zeros = zeros
            .get(..usize::try_from(pad).unwrap_or(0))
            .unwrap_or_default();
        if let Err(e) = packer.write_all(zeros) {
            return Err(sink.fail(e).await);
        }
    }
    match packer.write_all(&[0; 1024]).and_then(|()| packer.finish()) {
        Ok(rest) => sink.send(Bytes::from(rest)).await,
        Err(e) => Err(sink.fail(e).await),
    }
}

/// An entry's header blocks, with those for a long name.
fn head(file: &BlobFile) -> std::io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_size(file.size);
    header.set_mode(0o644);
    header.set_mtime(0);
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_data(&mut header, &file.name, std::io::empty())?;
    let mut blocks = std::mem::take(builder.get_mut());
    // The builder writes the archive's end when it is dropped, into nothing.
    blocks.shrink_to_fit();
    Ok(blocks)
}

#[cfg(test)]
#[path = "tarball_tests.rs"]
mod tests;
