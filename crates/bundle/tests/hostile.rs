//! Every broken bundle of the table ends in a complete report, and in nothing else.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use faultboard_bundle::hostile::{Builder, ItemKind, knowledge, table};
use faultboard_bundle::{
    AttemptSink, CheckError, Checked, Discard, Limits, check_archive, check_folder, render,
};
use faultboard_domain::{Digest, Severity};
use proptest::prelude::*;

fn check(bytes: &[u8], limits: &Limits) -> Checked {
    check_archive(Cursor::new(bytes), limits, &knowledge(), &mut Discard).unwrap()
}

fn ids(checked: &Checked, severity: Severity) -> BTreeSet<&str> {
    checked
        .report
        .problems
        .iter()
        .filter(|p| p.severity == severity)
        .map(|p| p.rule.as_str())
        .collect()
}

#[test]
fn every_broken_bundle_is_told_by_exactly_its_rules() {
    let mut failures = Vec::new();
    let table = table();
    assert!(table.len() > 150);
    for (i, hostile) in table.iter().enumerate() {
        let checked = check(&hostile.bytes, &hostile.limits);
        let errors = ids(&checked, Severity::Error);
        let wanted: BTreeSet<&str> = hostile.errors.iter().copied().collect();
        let warnings = ids(&checked, Severity::Warning);
        let warned = hostile.warnings.iter().all(|w| warnings.contains(w));
        if errors != wanted || !warned {
            failures.push(format!(
                "{i} {}: wanted {wanted:?} {:?}, got\n{}",
                hostile.name,
                hostile.warnings,
                render(&checked.report)
            ));
        }
        for problem in &checked.report.problems {
            assert!(!problem.fix.is_empty() && !problem.message.is_empty());
            let shown = format!("{} {}", problem.path, problem.message);
            assert!(!shown.chars().any(char::is_control), "{shown:?}");
        }
        assert_eq!(
            checked.report.is_ok(),
            wanted.is_empty(),
            "{}",
            hostile.name
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn two_faults_of_one_kind_are_both_listed_with_their_paths() {
    let mut b = Builder::diagnosis("2026.1", "full", &["kv-1", "queue-2"], 3);
    b.put("kv-1/run-01/diagnosis.json", "{}")
        .put("queue-2/run-03/diagnosis.json", "[]")
        .take("kv-1/run-02/trajectory.json")
        .raw("../a", ItemKind::File, b"")
        .raw("/b", ItemKind::File, b"");
    for bytes in [b.tar_gz(), b.tar_zst(), b.zip()] {
        let report = check(&bytes, &Limits::default()).report;
        let told: BTreeSet<(&str, &str)> = report
            .problems
            .iter()
            .map(|p| (p.rule.as_str(), p.path.as_str()))
            .collect();
        for wanted in [
            ("diagnosis-schema", "kv-1/run-01/diagnosis.json#"),
            ("diagnosis-schema", "queue-2/run-03/diagnosis.json#"),
            ("trace-missing", "kv-1/run-02"),
            ("attempts-missing", "kv-1"),
            ("attempts-missing", "queue-2"),
            ("archive-path", "../a"),
            ("archive-path", "/b"),
        ] {
            assert!(told.contains(&wanted), "{wanted:?}\n{}", render(&report));
        }
        let text = render(&report);
        assert!(text.contains("rejected: "));
        assert!(text.contains("run-02: it has no trace"), "{text}");
    }
}

#[test]
fn a_mistake_in_the_metadata_hides_no_missing_attempt() {
    let mut b = Builder::diagnosis("2026.1", "full", &["kv-1", "queue-2"], 3);
    b.take("kv-1/run-02/diagnosis.json").put(
        "metadata.yaml",
        "track: diagnosis\nsubset: full\nrelease: '2026.1'\nnetwork: sometimes\n",
    );
    let checked = check(&b.tar_gz(), &Limits::default());
    let errors = ids(&checked, Severity::Error);
    assert!(errors.contains("metadata-schema"), "{errors:?}");
    assert!(errors.contains("attempts-missing"), "{errors:?}");
}

/// Keeps the digests of what it gets.
#[derive(Default)]
struct Digests(Vec<(String, Digest)>);

impl AttemptSink for Digests {
    fn file(&mut self, path: &str, body: &mut dyn Read) -> io::Result<()> {
        let mut bytes = Vec::new();
        body.read_to_end(&mut bytes)?;
        self.0.push((path.to_owned(), Digest::of(&bytes)));
        Ok(())
    }
}

#[test]
fn a_sound_bundle_is_the_same_from_every_source_and_reaches_the_sink_in_one_pass() {
    let b = Builder::repair(
        "2026.1",
        "full",
        &["kv-1", "queue-2"],
        &["symptom-only", "context-augmented"],
    );
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join(&b.top);
    b.write(&top).unwrap();
    let mut results = Vec::new();
    for bytes in [b.tar_gz(), b.tar_zst(), b.zip()] {
        let mut sink = Digests::default();
        let checked = check_archive(
            Cursor::new(bytes),
            &Limits::default(),
            &knowledge(),
            &mut sink,
        );
        results.push((checked.unwrap(), sink));
    }
    let mut sink = Digests::default();
    let checked = check_folder(&top, &Limits::default(), &knowledge(), &mut sink).unwrap();
    results.push((checked, sink));
    for (checked, sink) in &mut results {
        assert!(
            checked.report.problems.is_empty(),
            "{}",
            render(&checked.report)
        );
        assert_eq!(checked.attempts.len(), 4);
        assert_eq!(checked.top_folder.as_deref(), Some("20260131_agent__model"));
        sink.0.sort();
        assert_eq!(sink.0.len(), 12);
        for attempt in &checked.attempts {
            for file in [attempt.answer.file(), &attempt.trace] {
                let stored = sink.0.iter().find(|(path, _)| *path == file.path).unwrap();
                assert_eq!(stored.1, file.sha256);
            }
            assert_eq!(
                Digest::of(attempt.answer.bytes()),
                attempt.answer.file().sha256
            );
            assert_eq!(attempt.stats.unwrap().calls, Some(2));
        }
    }
    for (checked, sink) in &results[1..] {
        assert_eq!(checked.attempts, results[0].0.attempts);
        assert_eq!(checked.files, results[0].0.files);
        assert_eq!(sink.0, results[0].1.0);
    }
}

#[test]
fn an_independent_zip_writer_is_read() {
    let b = Builder::repair("2026.1", "full", &["kv-1", "queue-2"], &["symptom-only"]);
    let mut out = Cursor::new(Vec::new());
    let mut writer = zip::ZipWriter::new(&mut out);
    for item in &b.items {
        let name = String::from_utf8(item.name.clone()).unwrap();
        let options = zip::write::SimpleFileOptions::default().large_file(true);
        writer.start_file(name, options).unwrap();
        io::copy(&mut &item.data[..], &mut writer).unwrap();
    }
    writer.finish().unwrap();
    let checked = check(&out.into_inner(), &Limits::default());
    assert!(
        checked.report.problems.is_empty(),
        "{}",
        render(&checked.report)
    );
}

#[test]
fn several_frames_and_members_are_one_stream() {
    let b = Builder::repair("2026.1", "full", &["kv-1", "queue-2"], &["symptom-only"]);
    let mut tar = Vec::new();
    flate2::read::MultiGzDecoder::new(&b.tar_gz()[..])
        .read_to_end(&mut tar)
        .unwrap();
    let (head, tail) = tar.split_at(700);
    let mut gz = Vec::new();
    let mut zst = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    for part in [head, tail] {
        let mut encoder = flate2::read::GzEncoder::new(part, flate2::Compression::fast());
        encoder.read_to_end(&mut gz).unwrap();
        zst.extend(zstd::encode_all(part, 1).unwrap());
    }
    for bytes in [gz, zst] {
        let checked = check(&bytes, &Limits::default());
        assert!(checked.report.is_ok(), "{}", render(&checked.report));
    }
}

#[test]
fn links_and_pipes_in_a_folder_are_reported_and_never_followed() {
    let b = Builder::repair("2026.1", "full", &["kv-1", "queue-2"], &["symptom-only"]);
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join(&b.top);
    b.write(&top).unwrap();
    std::os::unix::fs::symlink("/", top.join("root")).unwrap();
    let trace = top.join("kv-1/symptom-only/run-01/trajectory.json");
    std::fs::remove_file(&trace).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &trace).unwrap();
    let checked = check_folder(&top, &Limits::default(), &knowledge(), &mut Discard).unwrap();
    assert_eq!(
        ids(&checked, Severity::Error),
        ["archive-link", "attempts-missing", "trace-missing"].into()
    );
}

/// Fails as a disk would, after some bytes.
struct Failing(Cursor<Vec<u8>>, u64);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.position() >= self.1 {
            return Err(io::Error::other("the disk is gone"));
        }
        let end = buffer.len().min(97);
        self.0.read(&mut buffer[..end])
    }
}

impl Seek for Failing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

struct FullDisk;

impl AttemptSink for FullDisk {
    fn file(&mut self, _: &str, body: &mut dyn Read) -> io::Result<()> {
        body.read_exact(&mut [0; 4])?;
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn failures_of_the_platform_are_not_blamed_on_the_bundle() {
    let b = Builder::repair("2026.1", "full", &["kv-1", "queue-2"], &["symptom-only"]);
    for bytes in [b.tar_gz(), b.tar_zst(), b.zip()] {
        let middle = bytes.len() as u64 / 2;
        let failing = Failing(Cursor::new(bytes.clone()), middle);
        let end = check_archive(failing, &Limits::default(), &knowledge(), &mut Discard);
        assert!(matches!(end, Err(CheckError::Source(_))), "{end:?}");
        let end = check_archive(
            Cursor::new(bytes),
            &Limits::default(),
            &knowledge(),
            &mut FullDisk,
        );
        assert!(matches!(end, Err(CheckError::Sink(_))), "{end:?}");
    }
}

#[test]
fn a_bundle_of_very_many_entries_is_checked_in_bounded_time() {
    let mut b = Builder::repair("2026.1", "full", &["kv-1", "queue-2"], &["symptom-only"]);
    for i in 0..30_000 {
        let folder = format!("{}/kv-1/symptom-only/run-{}", b.top, i + 2);
        b.raw(format!("{folder}/patch.diff"), ItemKind::File, b"")
            .raw(format!("{folder}/trajectory.json"), ItemKind::File, b"{}")
            .raw(format!("t{i}/x"), ItemKind::File, b"");
    }
    let limits = Limits {
        ratio: 100_000,
        ..Limits::default()
    };
    let bytes = b.tar_gz();
    let start = std::time::Instant::now();
    let checked = check(&bytes, &limits);
    assert!(checked.report.problems.len() <= 5_000);
    assert!(checked.report.left_out > 0);
    // Seconds even unoptimised; a rule that compares each with each takes minutes.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(
        kind in 0usize..5,
        bytes in proptest::collection::vec(any::<u8>(), 0..4096),
    ) {
        let mut input = [&b"\x1f\x8b\x08\x00"[..], b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PK\x05\x06", b""][kind].to_vec();
        input.extend(bytes);
        let checked = check(&input, &Limits::default());
        prop_assert!(!checked.report.is_ok());
    }

    #[test]
    fn random_tar_blocks_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..4096)) {
        let mut gz = Vec::new();
        flate2::read::GzEncoder::new(&bytes[..], flate2::Compression::fast())
            .read_to_end(&mut gz)
            .unwrap();
        prop_assert!(!check(&gz, &Limits::default()).report.is_ok());
    }

    #[test]
    fn cut_and_flipped_archives_never_panic(
        which in 0usize..3,
        cut in 0.0f64..1.0,
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let b = Builder::repair("2026.1", "full", &["kv-1", "queue-2"], &["symptom-only"]);
        let mut bytes = [b.tar_gz(), b.tar_zst(), b.zip()][which].clone();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a small length")]
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        prop_assert!(!check(&bytes, &Limits::default()).report.is_ok());
    }

    #[test]
    fn random_small_files_never_panic(
        metadata in "\\PC{0,200}",
        diagnosis in "[\\[\\]{}\":,a-z0-9 ]{0,100}",
        patch in "[-+ @a-z0-9\n/]{0,200}",
    ) {
        let mut b = Builder::diagnosis("2026.1", "full", &["kv-1", "queue-2"], 3);
        b.put("metadata.yaml", metadata)
            .put("kv-1/run-01/diagnosis.json", diagnosis)
            .put("kv-1/run-01/patch.diff", patch);
        prop_assert!(!check(&b.tar_gz(), &Limits::default()).report.is_ok());
    }
}
