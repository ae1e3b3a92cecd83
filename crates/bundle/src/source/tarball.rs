//! Walking over a tar stream, header by header. The headers' fields are read by
//! the `tar` crate; the walk is our own because long names and extended headers
//! must be bounded, and because what is odd must be reported, not skipped.

use std::io::{self, Read};

use tar::{EntryType, Header};

use super::{EntryHead, EntryKind, Meter, Stop, Unpacked, Visitor, read_full};
use crate::fault::{Fault, FaultKind};

const BLOCK: usize = 512;
/// The most bytes of a long name or of an extended header that are read.
const MAX_EXTENSION: u64 = 64 * 1024;

/// Walks over the entries of an unpacked tar stream.
pub(super) fn walk<R: Read>(
    mut input: R,
    meter: &Meter,
    visitor: &mut dyn Visitor,
) -> Result<(), Stop> {
    let mut name: Option<Vec<u8>> = None;
    let mut pax_size: Option<u64> = None;
    let mut first = true;
    loop {
        let mut block = [0; BLOCK];
        let got = read_block(&mut input, &mut block, meter)?;
        if got == 0 {
            // Every byte was there and every checksum held: only the two empty
            // blocks at the end are missing, which old writers leave out.
            return if first { Err(no_tar()) } else { Ok(()) };
        }
        if got < BLOCK {
            return Err(if first { no_tar() } else { truncated(meter) });
        }
        if block.iter().all(|b| *b == 0) {
            return finish(&mut input, meter, visitor);
        }
        let header = Header::from_byte_slice(&block);
        if !checksum_holds(&block, header) {
            return Err(if first {
                no_tar()
            } else {
                corrupt("the checksum of a header is wrong")
            });
        }
        first = false;
        let own_size = header
            .entry_size()
            .map_err(|_| corrupt("the size field of a header is not a number"))?;
        let kind = header.entry_type();
        match kind {
            EntryType::GNULongName | EntryType::XHeader => {
                let bytes = extension(&mut input, own_size, meter)?;
                if kind == EntryType::GNULongName {
                    name = Some(until_zero(&bytes).to_vec());
                } else {
                    for (key, value) in pax_records(&bytes) {
                        match key {
                            b"path" => name = Some(value.to_vec()),
                            b"size" => {
                                let number = std::str::from_utf8(value)
                                    .ok()
                                    .and_then(|v| v.parse().ok())
                                    .ok_or_else(|| {
                                        corrupt("the size in an extended header is not a number")
                                    })?;
                                pax_size = Some(number);
                            }
                            _ => {}
                        }
                    }
                }
                continue;
            }
            EntryType::GNULongLink | EntryType::XGlobalHeader => {
                skip(&mut input, padded(own_size), meter)?;
                continue;
            }
            _ => {}
        }
        let size = pax_size.take().unwrap_or(own_size);
        let raw_name = name
            .take()
            .unwrap_or_else(|| header.path_bytes().into_owned());
        let head = EntryHead {
            name: &raw_name,
            kind: entry_kind(kind, &raw_name),
            size,
        };
        let left = {
            let mut body = Unpacked::new(&mut input, size, meter);
            visitor.entry(&head, &mut body)?;
            body.left()
        };
        let padding = padded(size) - size;
        skip(&mut input, left.saturating_add(padding), meter)?;
    }
}

fn entry_kind(kind: EntryType, name: &[u8]) -> EntryKind {
    match kind {
        // Writers from before 1988 marked a folder by its name alone.
        EntryType::Regular | EntryType::Continuous if name.ends_with(b"/") => EntryKind::Folder,
        EntryType::Regular | EntryType::Continuous => EntryKind::File,
        EntryType::Directory => EntryKind::Folder,
        EntryType::Symlink => EntryKind::SymbolicLink,
        EntryType::Link => EntryKind::HardLink,
        EntryType::Char => EntryKind::Special("a character device"),
        EntryType::Block => EntryKind::Special("a block device"),
        EntryType::Fifo => EntryKind::Special("a named pipe"),
        EntryType::GNUSparse => EntryKind::Special("a sparse file"),
        _ => EntryKind::Special("an entry of an unknown type"),
    }
}

fn corrupt(detail: &str) -> Stop {
    Stop::Fault(Fault::of(FaultKind::Corrupt, "", detail))
}

fn no_tar() -> Stop {
    Stop::Fault(Fault::of(
        FaultKind::Format,
        "",
        "the compressed file holds no tar archive",
    ))
}

fn truncated(meter: &Meter) -> Stop {
    meter.explain(&io::ErrorKind::UnexpectedEof.into(), "")
}

fn read_block(input: &mut dyn Read, block: &mut [u8], meter: &Meter) -> Result<usize, Stop> {
    let got = read_full(input, block).map_err(|e| meter.explain(&e, ""))?;
    meter.add_unpacked(got).map_err(|e| meter.explain(&e, ""))?;
    Ok(got)
}

/// A size rounded up to whole blocks; a size beyond all limits stays as it is.
fn padded(size: u64) -> u64 {
    size.checked_next_multiple_of(BLOCK as u64).unwrap_or(size)
}

/// Reads a long name or an extended header.
fn extension(input: &mut dyn Read, size: u64, meter: &Meter) -> Result<Vec<u8>, Stop> {
    if size > MAX_EXTENSION {
        return Err(corrupt("an extended header or a name is over 64 KiB"));
    }
    let mut bytes = vec![0; usize::try_from(padded(size)).unwrap_or(0)];
    if read_block(input, &mut bytes, meter)? < bytes.len() {
        return Err(truncated(meter));
    }
    bytes.truncate(usize::try_from(size).unwrap_or(0));
    Ok(bytes)
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or_default()
}

/// The records `<length> <key>=<value>\n` of an extended header; reading ends
/// at the first that is malformed.
fn pax_records(mut bytes: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut records = Vec::new();
    while let Some(space) = bytes.iter().position(|b| *b == b' ') {
        let length = std::str::from_utf8(&bytes[..space])
            .ok()
            .and_then(|t| t.parse::<usize>().ok());
        let Some(record) = length.and_then(|l| bytes.get(space + 1..l)) else {
            break;
        };
        let record_end = space + 1 + record.len();
        let text = record.strip_suffix(b"\n").unwrap_or(record);
        if let Some(equals) = text.iter().position(|b| *b == b'=') {
            records.push((&text[..equals], &text[equals + 1..]));
        }
        bytes = &bytes[record_end..];
    }
    records
}

fn checksum_holds(block: &[u8; BLOCK], header: &Header) -> bool {
    // The checksum's own eight bytes count as blanks.
    let sum: u32 = block[..148]
        .iter()
        .chain(&block[156..])
        .map(|b| u32::from(*b))
        .sum::<u32>()
        + 8 * 32;
    header.cksum().is_ok_and(|told| told == sum)
}

/// Reads over bytes that nobody wants; they count against the limits all the same.
fn skip(input: &mut dyn Read, mut bytes: u64, meter: &Meter) -> Result<(), Stop> {
    let mut buffer = [0; 16 * 1024];
    while bytes > 0 {
        let end = usize::try_from(bytes.min(buffer.len() as u64)).unwrap_or(0);
        let got = read_block(input, &mut buffer[..end], meter)?;
        if got < end {
            return Err(truncated(meter));
        }
        bytes -= got as u64;
    }
    Ok(())
}

/// Reads what follows the first empty block: more empty ones, or a fault. Only
/// after this have all checksums of the compression been compared.
fn finish(input: &mut dyn Read, meter: &Meter, visitor: &mut dyn Visitor) -> Result<(), Stop> {
    let mut buffer = [0; 16 * 1024];
    let mut clean = true;
    loop {
        let got = read_block(input, &mut buffer, meter)?;
        if got == 0 {
            break;
        }
        if clean && buffer[..got].iter().any(|b| *b != 0) {
            clean = false;
            visitor.fault(Fault::of(
                FaultKind::Trailing,
                "",
                "more data follows the end of the tar archive",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pax_records_are_read_until_one_is_malformed() {
        let bytes = b"12 path=abc\n9 size=7\n99 x=y\n";
        assert_eq!(
            pax_records(bytes),
            vec![(&b"path"[..], &b"abc"[..]), (b"size", b"7")]
        );
        assert!(pax_records(b"0 a=b\n").is_empty());
        assert!(pax_records(b"2 a=b\n").is_empty());
    }
}
