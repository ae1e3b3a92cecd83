//! Writers of archives that check nothing.

use std::io::Write;

use super::{Item, ItemKind};

/// A tar archive of the items, with GNU long names where they are needed.
pub(super) fn tar(items: &[Item]) -> Vec<u8> {
    let mut out = Vec::new();
    for item in items {
        if item.name.len() > 100 {
            header(&mut out, b"././@LongLink", b'L', item.name.len() + 1, b"");
            let mut name = item.name.clone();
            name.push(0);
            padded(&mut out, &name);
        }
        let (kind, link) = match &item.kind {
            ItemKind::File => (b'0', ""),
            ItemKind::Folder => (b'5', ""),
            ItemKind::Symlink(to) => (b'2', to.as_str()),
            ItemKind::Hardlink(to) => (b'1', to.as_str()),
            ItemKind::Device => (b'3', ""),
            ItemKind::Pipe => (b'6', ""),
        };
        header(&mut out, &item.name, kind, item.data.len(), link.as_bytes());
        padded(&mut out, &item.data);
    }
    out.extend([0; 1024]);
    out
}

fn header(out: &mut Vec<u8>, name: &[u8], kind: u8, size: usize, link: &[u8]) {
    let mut block = [0u8; 512];
    let mut set = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    set(0, &name[..name.len().min(100)]);
    set(100, b"0000644\0");
    set(108, b"0000000\0");
    set(116, b"0000000\0");
    set(124, format!("{size:011o}\0").as_bytes());
    set(136, b"00000000000\0");
    set(148, b"        ");
    set(156, &[kind]);
    set(157, &link[..link.len().min(100)]);
    set(257, b"ustar  \0");
    let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend(block);
}

fn padded(out: &mut Vec<u8>, data: &[u8]) {
    out.extend(data);
    out.resize(out.len().next_multiple_of(512), 0);
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::GzBuilder::new().write(Vec::new(), flate2::Compression::new(6));
    // Writing to a Vec can't fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

pub(super) fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    if let Ok(mut encoder) = zstd::Encoder::new(&mut out, 3) {
        let _ = encoder.include_checksum(true);
        let _ = encoder.write_all(bytes);
        let _ = encoder.finish();
    }
    out
}

fn short(value: usize) -> [u8; 2] {
    u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes()
}

fn long(value: usize) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// A zip archive of the items, deflated; links and devices by their Unix modes.
pub(super) fn zip(items: &[Item]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for item in items {
        let (mode, data) = match &item.kind {
            ItemKind::File => (0o100_644u32, item.data.clone()),
            ItemKind::Folder => (0o040_755, Vec::new()),
            ItemKind::Symlink(to) | ItemKind::Hardlink(to) => (0o120_777, to.clone().into_bytes()),
            ItemKind::Device => (0o020_644, Vec::new()),
            ItemKind::Pipe => (0o010_644, Vec::new()),
        };
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        let _ = encoder.write_all(&data);
        let packed = encoder.finish().unwrap_or_default();
        let mut crc = flate2::Crc::new();
        crc.update(&data);
        // From the needed version to the extra field's length, as both headers hold it.
        let mut common = Vec::new();
        common.extend(short(20));
        common.extend(short(0x800));
        common.extend(short(8));
        common.extend([0, 0, 0x21, 0]);
        common.extend(crc.sum().to_le_bytes());
        common.extend(long(packed.len()));
        common.extend(long(data.len()));
        common.extend(short(item.name.len()));
        common.extend(short(0));
        let offset = out.len();
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(&item.name);
        out.extend(&packed);
        directory.extend(b"PK\x01\x02");
        directory.extend([20, 3]);
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(long(offset));
        directory.extend(&item.name);
    }
    let start = out.len();
    out.extend(&directory);
    out.extend(b"PK\x05\x06");
    out.extend([0; 4]);
    out.extend(short(items.len()));
    out.extend(short(items.len()));
    out.extend(long(directory.len()));
    out.extend(long(start));
    out.extend([0; 2]);
    out
}
