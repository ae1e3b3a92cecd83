//! A first look at a bundle in the browser, before a byte is sent: the table of
//! contents of a `.tar.gz` or `.zip`, and what is plainly wrong with it. The
//! whole check is the server's; this one only saves the reader a wasted upload.
//!
//! Pure over bytes. It never unpacks a file's content and keeps a bounded list.

use std::collections::{BTreeMap, BTreeSet};

use faultboard_domain::{Problem, Report, RunNumber};

/// The most entries that are looked at.
const MOST_ENTRIES: usize = 200_000;

/// What an entry of an archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic or hard link, a device, or anything else.
    Other,
}

/// One entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its path as the archive gives it.
    pub(super) path: String,
    /// What it is.
    pub(super) kind: EntryKind,
    /// Its size in bytes.
    pub(super) size: u64,
}

/// A reader of tar streams that skips all content. Feed it pieces of any size.
#[derive(Debug, Default)]
pub(super) struct TarReader {
    /// What was found so far.
    pub(super) entries: Vec<Entry>,
    buffer: Vec<u8>,
    skip: u64,
    take: Option<(u8, usize)>,
    long_path: Option<String>,
    ended: bool,
    /// Set when a header's checksum is wrong: this is no tar stream.
    pub(super) broken: bool,
}

impl TarReader {
    /// Takes the next piece of the stream.
    pub(super) fn push(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() && !self.ended && !self.broken {
            if self.skip > 0 {
                let n = usize::try_from(self.skip)
                    .unwrap_or(usize::MAX)
                    .min(piece.len());
                self.skip -= n as u64;
                piece = &piece[n..];
                continue;
            }
            let wanted = self.take.map_or(512, |(_, n)| n.div_ceil(512) * 512);
            let n = (wanted - self.buffer.len()).min(piece.len());
            self.buffer.extend_from_slice(&piece[..n]);
            piece = &piece[n..];
            if self.buffer.len() == wanted {
                let block = std::mem::take(&mut self.buffer);
                match self.take.take() {
                    Some((kind, n)) => self.extension(kind, &block[..n]),
                    None => self.header(&block),
                }
            }
        }
    }

    /// Whether the stream came to its proper end.
    pub(super) fn is_whole(&self) -> bool {
        self.ended || (self.buffer.is_empty() && self.skip == 0 && self.take.is_none())
    }

    fn header(&mut self, block: &[u8]) {
        if block.iter().all(|b| *b == 0) {
            self.ended = true;
            return;
        }
        let sum: u64 = block
            .iter()
            .enumerate()
            .map(|(i, b)| {
                if (148..156).contains(&i) {
                    32
                } else {
                    u64::from(*b)
                }
            })
            .sum();
        let (Some(told), Some(size)) = (number(&block[148..156]), number(&block[124..136])) else {
            self.broken = true;
            return;
        };
        if told != sum {
            self.broken = true;
            return;
        }
        let kind = block[156];
        if matches!(kind, b'L' | b'x') && size <= 65_536 {
            self.take = Some((kind, usize::try_from(size).unwrap_or(0)));
            if size == 0 {
                self.take = None;
            }
            return;
        }
        self.skip = size.div_ceil(512).saturating_mul(512);
        if matches!(kind, b'g' | b'x' | b'L' | b'K') {
            return;
        }
        let path = self.long_path.take().unwrap_or_else(|| {
            let name = text(&block[..100]);
            let prefix = if &block[257..262] == b"ustar" {
                text(&block[345..500])
            } else {
                String::new()
            };
            if prefix.is_empty() {
                name
            } else {
                format!("{prefix}/{name}")
            }
        });
        let kind = match kind {
            b'0' | 0 | b'7' => EntryKind::File,
            b'5' => EntryKind::Folder,
            _ => EntryKind::Other,
        };
        if self.entries.len() < MOST_ENTRIES {
            self.entries.push(Entry { path, kind, size });
        } else {
            self.ended = true;
        }
    }

    fn extension(&mut self, kind: u8, data: &[u8]) {
        if kind == b'L' {
            self.long_path = Some(text(data));
            return;
        }
        // Records of the form `length key=value\n`.
        let all = String::from_utf8_lossy(data);
        for line in all.split('\n') {
            if let Some((_, path)) = line
                .split_once(' ')
                .and_then(|(_, kv)| kv.split_once("path="))
                .filter(|(k, _)| k.is_empty())
            {
                self.long_path = Some(path.to_owned());
            }
        }
    }
}

fn text(field: &[u8]) -> String {
    let end = field.iter().position(|b| *b == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

fn number(field: &[u8]) -> Option<u64> {
    if field[0] & 0x80 != 0 {
        return field[1..]
            .iter()
            .try_fold(0u64, |n, b| n.checked_mul(256)?.checked_add(u64::from(*b)));
    }
    let text = text(field);
    let text = text.trim();
    if text.is_empty() {
        Some(0)
    } else {
        u64::from_str_radix(text, 8).ok()
    }
}

/// Where a zip file's table of contents lies: (offset, bytes), from the file's
/// last 66,000 bytes. None: no end record there.
pub(super) fn zip_directory(tail: &[u8]) -> Option<(u64, u64)> {
    let at = (0..tail.len().checked_sub(21)?)
        .rev()
        .find(|i| tail[*i..].starts_with(b"PK\x05\x06"))?;
    let size = u32::from_le_bytes(tail.get(at + 12..at + 16)?.try_into().ok()?);
    let offset = u32::from_le_bytes(tail.get(at + 16..at + 20)?.try_into().ok()?);
    // A file of 4 GiB or more keeps both in another record; it is over the limit anyhow.
    (size != u32::MAX && offset != u32::MAX).then_some((u64::from(offset), u64::from(size)))
}

/// The entries of a zip file's table of contents; none when it is broken.
pub(super) fn zip_entries(mut directory: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    while directory.starts_with(b"PK\x01\x02") && entries.len() < MOST_ENTRIES {
        let short = |at: usize| {
            Some(usize::from(u16::from_le_bytes(
                directory.get(at..at + 2)?.try_into().ok()?,
            )))
        };
        let long = |at: usize| {
            Some(u32::from_le_bytes(
                directory.get(at..at + 4)?.try_into().ok()?,
            ))
        };
        let (name, extra, comment) = (short(28)?, short(30)?, short(32)?);
        let path = String::from_utf8_lossy(directory.get(46..46 + name)?).into_owned();
        let mode = long(38)? >> 16;
        let kind = if mode & 0o170_000 == 0o120_000 {
            EntryKind::Other
        } else if path.ends_with('/') {
            EntryKind::Folder
        } else {
            EntryKind::File
        };
        entries.push(Entry {
            path,
            kind,
            size: u64::from(long(24)?),
        });
        directory = directory.get(46 + name + extra + comment..)?;
    }
    Some(entries)
}

/// What is plainly wrong with a bundle of these entries, and what it holds.
pub(super) fn check(entries: &[Entry]) -> Report {
    let mut report = Report::default();
    let mut tops = BTreeSet::new();
    let mut attempts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut has_metadata = false;
    let mut foreign = false;
    let (mut files, mut bytes) = (0u64, 0u64);
    for e in entries {
        let path = e.path.strip_prefix("./").unwrap_or(&e.path);
        if path.is_empty() {
            continue;
        }
        if path.starts_with('/') || path.split(['/', '\\']).any(|p| p == "..") {
            report.push(Problem::error(
                path,
                "archive-path",
                "The path leads out of the bundle.",
                "Pack the bundle with relative paths, without `..`.",
            ));
        }
        if e.kind == EntryKind::Other {
            report.push(Problem::error(
                path,
                "archive-entry-kind",
                "The entry is a link or a device.",
                "Put the file itself in its place.",
            ));
        }
        let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
        tops.extend(parts.first().map(|p| (*p).to_owned()));
        if e.kind != EntryKind::File {
            continue;
        }
        files += 1;
        bytes = bytes.saturating_add(e.size);
        let name = parts.last().copied().unwrap_or_default();
        match parts.as_slice() {
            [_, "metadata.yaml"] => has_metadata = true,
            [.., "preds.json" | "all_preds.jsonl"] => foreign = true,
            _ => {}
        }
        if let Some(at) = parts
            .iter()
            .rposition(|p| RunNumber::parse_folder(p).is_ok())
        {
            attempts
                .entry(parts[..=at].join("/"))
                .or_default()
                .insert(name.to_owned());
        }
    }
    if tops.len() > 1 {
        report.push(Problem::error(
            "",
            "top-folder",
            format!("The archive has {} entries at its top.", tops.len()),
            "Pack one folder named `<date>_<agent>__<model>`.",
        ));
    }
    if !has_metadata {
        report.push(Problem::error(
            "metadata.yaml",
            "metadata-missing",
            "There is no metadata.yaml in the top folder.",
            "Add one; the formats page has a complete example.",
        ));
    }
    if attempts.is_empty() && !foreign {
        report.push(Problem::error("", "no-attempts", "No folder `run-NN` was found.", "Lay the attempts out as `<case>/<condition>/run-01/` (repair) or `<case>/run-01/` (diagnosis)."));
    }
    for (folder, names) in &attempts {
        if !names
            .iter()
            .any(|n| n == "patch.diff" || n == "diagnosis.json")
        {
            report.push(Problem::error(
                folder.as_str(),
                "attempt-empty",
                "The attempt holds neither patch.diff nor diagnosis.json.",
                "Add the result; an empty patch.diff is a valid one.",
            ));
        }
        let trace = |n: &String| {
            n.starts_with("trajectory.") || n.ends_with(".traj.json") || n.ends_with(".traj")
        };
        if !names.iter().any(trace) {
            report.push(Problem::error(
                folder.as_str(),
                "trace-missing",
                "The attempt has no trace.",
                "Add its trajectory, such as trajectory.json.",
            ));
        }
    }
    report.sort();
    report.counts = vec![
        ("attempts".to_owned(), attempts.len() as u64),
        ("files".to_owned(), files),
        ("bytes unpacked".to_owned(), bytes),
    ];
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar_block(name: &str, kind: u8, size: u64) -> Vec<u8> {
        let mut b = vec![0u8; 512];
        b[..name.len()].copy_from_slice(name.as_bytes());
        b[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        b[156] = kind;
        b[148..156].fill(b' ');
        let sum: u32 = b.iter().map(|x| u32::from(*x)).sum();
        b[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        b
    }

    fn sample() -> Vec<u8> {
        let mut t = tar_block("x_a__m/", b'5', 0);
        t.extend(tar_block("x_a__m/metadata.yaml", b'0', 700));
        t.extend(vec![7u8; 1024]);
        t.extend(tar_block("LongLink", b'L', 40));
        let mut long = b"x_a__m/raft-rs-1/run-01/diagnosis.json".to_vec();
        long.resize(512, 0);
        t.extend(long);
        t.extend(tar_block("cut", b'0', 3));
        t.extend(vec![1u8; 512]);
        t.extend(vec![0u8; 1024]);
        t
    }

    #[test]
    fn a_tar_is_listed_whatever_the_pieces() {
        for piece in [1, 7, 511, 512, 513, 10_000] {
            let mut r = TarReader::default();
            sample().chunks(piece).for_each(|c| r.push(c));
            assert!(r.is_whole() && !r.broken, "{piece}");
            let paths: Vec<_> = r.entries.iter().map(|e| e.path.as_str()).collect();
            assert_eq!(
                paths,
                [
                    "x_a__m/",
                    "x_a__m/metadata.yaml",
                    "x_a__m/raft-rs-1/run-01/diagnosis.json"
                ]
            );
        }
    }

    #[test]
    fn rubbish_is_no_tar_and_half_a_tar_is_not_whole() {
        let mut r = TarReader::default();
        r.push(&[b'A'; 2048]);
        assert!(r.broken);
        let mut r = TarReader::default();
        r.push(&sample()[..1500]);
        assert!(!r.is_whole());
    }

    #[test]
    fn each_plain_mistake_is_told() {
        let file = |path: &str| Entry {
            path: path.to_owned(),
            kind: EntryKind::File,
            size: 1,
        };
        let entries = vec![
            file("a/metadata.yaml"),
            file("a/raft-rs-1/symptom-only/run-01/patch.diff"),
            file("a/raft-rs-1/symptom-only/run-02/trajectory.json"),
            file("a/../b"),
            Entry {
                kind: EntryKind::Other,
                ..file("a/link")
            },
            file("stray"),
        ];
        let report = check(&entries);
        let rules: BTreeSet<_> = report.problems.iter().map(|p| p.rule.as_str()).collect();
        assert_eq!(
            rules,
            BTreeSet::from([
                "archive-entry-kind",
                "archive-path",
                "attempt-empty",
                "top-folder",
                "trace-missing"
            ])
        );
        assert_eq!(report.counts[0], ("attempts".to_owned(), 2));
    }

    #[test]
    fn a_zip_directory_is_listed() {
        let mut d = Vec::new();
        for name in ["a/metadata.yaml", "a/c-1/run-01/"] {
            let mut h = vec![0u8; 46];
            h[..4].copy_from_slice(b"PK\x01\x02");
            h[24..28].copy_from_slice(&9u32.to_le_bytes());
            h[28..30].copy_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
            h.extend(name.as_bytes());
            d.extend(h);
        }
        let mut end = b"PK\x05\x06".to_vec();
        end.resize(22, 0);
        end[12..16].copy_from_slice(&u32::try_from(d.len()).unwrap().to_le_bytes());
        end[16..20].copy_from_slice(&5u32.to_le_bytes());
        assert_eq!(zip_directory(&end), Some((5, d.len() as u64)));
        let entries = zip_entries(&d).unwrap();
        assert_eq!(
            (entries.len(), entries[0].size, entries[1].kind),
            (2, 9, EntryKind::Folder)
        );
        assert_eq!(zip_entries(&d[..50]), None);
    }
}
