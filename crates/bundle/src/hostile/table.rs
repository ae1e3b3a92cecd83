//! The table of broken bundles: each with the rules that must speak up.

use faultboard_domain::{CaseId, ReleaseId, SubsetId, Track};

use super::{Builder, ItemKind, PATCH, archive};
use crate::{CaseKnowledge, Knowledge, Limits};

/// One broken (or merely odd) bundle.
pub struct Hostile {
    /// What is broken, in a few words.
    pub name: &'static str,
    /// The archive.
    pub bytes: Vec<u8>,
    /// Limits to check it under.
    pub limits: Limits,
    /// Rules that must report an error; no other rule may.
    pub errors: Vec<&'static str>,
    /// Rules that must report a warning; others may too.
    pub warnings: Vec<&'static str>,
}

const CASES: [&str; 2] = ["kv-1", "queue-2"];

/// A release `2026.1` of two cases, `kv-1` and `queue-2`; `lite` holds the first.
pub fn knowledge() -> Knowledge {
    let mut knowledge = Knowledge::default();
    let parse = |c: &str| CaseId::parse(c).ok();
    let all: Vec<CaseId> = CASES.iter().filter_map(|c| parse(c)).collect();
    for case in &all {
        knowledge.cases.insert(
            case.clone(),
            CaseKnowledge {
                tracks: vec![Track::Repair, Track::Diagnosis],
                protected_paths: vec!["SYMPTOM.md".to_owned(), "inject_test/".to_owned()],
            },
        );
    }
    if let (Ok(release), Ok(full), Ok(lite)) = (
        ReleaseId::parse("2026.1"),
        SubsetId::parse("full"),
        SubsetId::parse("lite"),
    ) {
        let subsets = [(full, all.clone()), (lite, all[..1].to_vec())];
        knowledge.releases.insert(release, subsets.into());
    }
    knowledge
}

fn repair() -> Builder {
    Builder::repair("2026.1", "full", &CASES, &["symptom-only"])
}

fn diagnosis() -> Builder {
    Builder::diagnosis("2026.1", "full", &CASES, 3)
}

struct Table(Vec<Hostile>);

impl Table {
    fn add(&mut self, name: &'static str, bytes: Vec<u8>, errors: &[&'static str]) -> &mut Hostile {
        self.0.push(Hostile {
            name,
            bytes,
            limits: Limits::default(),
            errors: errors.to_vec(),
            warnings: Vec::new(),
        });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// The same bundle as each kind of archive.
    fn each(&mut self, name: &'static str, builder: &Builder, errors: &[&'static str]) {
        self.add(name, builder.tar_gz(), errors);
        self.add(name, builder.tar_zst(), errors);
        self.add(name, builder.zip(), errors);
    }

    fn warned(&mut self, name: &'static str, builder: &Builder, warnings: &[&'static str]) {
        for bytes in [builder.tar_gz(), builder.zip()] {
            self.add(name, bytes, &[]).warnings = warnings.to_vec();
        }
    }
}

/// Every broken bundle. Sound ones stand at the head, as a control.
pub fn table() -> Vec<Hostile> {
    let mut t = Table(Vec::new());
    t.each("a sound repair bundle", &repair(), &[]);
    t.each("a sound diagnosis bundle", &diagnosis(), &[]);
    archives(&mut t);
    entries(&mut t);
    limits(&mut t);
    metadata(&mut t);
    contents(&mut t);
    oddities(&mut t);
    t.0
}

fn archives(t: &mut Table) {
    let sound = repair();
    t.add("an empty file", Vec::new(), &["archive-format"]);
    t.add("a text", b"hello".to_vec(), &["archive-format"]);
    t.add(
        "a tar that is not compressed",
        archive::tar(&sound.items),
        &["archive-format"],
    );
    t.add(
        "gzip of something else",
        archive::gzip(b"hello"),
        &["archive-format"],
    );
    let gz = sound.tar_gz();
    t.add(
        "gzip cut in the middle",
        gz[..gz.len() / 2].to_vec(),
        &["archive-truncated"],
    );
    t.add(
        "gzip without its checksum",
        gz[..gz.len() - 6].to_vec(),
        &["archive-truncated"],
    );
    let mut flipped = gz;
    let at = flipped.len() - 7;
    flipped[at] ^= 0xff;
    t.add("gzip with a wrong checksum", flipped, &["archive-corrupt"]);
    let zst = sound.tar_zst();
    t.add(
        "zstd cut in the middle",
        zst[..zst.len() / 2].to_vec(),
        &["archive-truncated"],
    );
    let mut flipped = zst;
    let at = flipped.len() - 1;
    flipped[at] ^= 0xff;
    t.add("zstd with a wrong checksum", flipped, &["archive-corrupt"]);
    let zip = sound.zip();
    t.add(
        "zip cut in the middle",
        zip[..zip.len() / 2].to_vec(),
        &["archive-truncated"],
    );
    let mut tar = archive::tar(&sound.items);
    let short = tar.len() - 1024 - 700;
    t.add(
        "tar cut inside an entry, packed whole",
        archive::gzip(&tar[..short]),
        &["archive-truncated"],
    );
    tar.extend(archive::tar(&repair().items));
    t.add(
        "two archives end to end",
        archive::gzip(&tar),
        &["archive-trailing"],
    );
    let mut stored = sound.zip();
    // The method of the first entry, in the directory.
    if let Some(at) = find(&stored, b"PK\x01\x02") {
        stored[at + 10] = 99;
        t.add(
            "zip with an unknown method",
            stored,
            &["archive-method", "metadata-missing"],
        )
        .errors = vec!["archive-method", "metadata-schema"];
    }
    let mut moved = sound.zip();
    if let Some(at) = find(&moved, b"PK\x01\x02") {
        moved[at + 42] = 1;
        t.add("zip whose entries overlap", moved, &["archive-corrupt"]);
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}

fn entries(t: &mut Table) {
    let file = ItemKind::File;
    let mut b = repair();
    b.raw("../evil", file.clone(), b"x");
    t.each("a path with ..", &b, &["archive-path"]);
    let mut b = repair();
    b.raw("/etc/evil", file.clone(), b"x");
    t.each("an absolute path", &b, &["archive-path"]);
    let mut b = repair();
    b.raw(format!("{}/a\\b", b.top), file.clone(), b"x");
    t.each("a backslash", &b, &["archive-path"]);
    let mut b = repair();
    b.raw(format!("{}/a\x1b[2Jb", b.top), file.clone(), b"x");
    t.each("a control character", &b, &["archive-path"]);
    let mut b = repair();
    b.raw(format!("{}/{}", b.top, "x".repeat(600)), file.clone(), b"x");
    t.each("a name that is too long", &b, &["archive-path"]);
    let mut b = repair();
    b.raw(
        [b.top.as_bytes(), b"/\xff\xfe"].concat(),
        file.clone(),
        b"x",
    );
    t.each("a name that is not UTF-8", &b, &["archive-name-encoding"]);
    let mut b = repair();
    let link = format!("{}/kv-1/symptom-only/run-01/link", b.top);
    b.raw(link, ItemKind::Symlink("/etc/passwd".to_owned()), b"");
    t.each("a symbolic link", &b, &["archive-link"]);
    let mut b = repair();
    let link = format!("{}/link", b.top);
    b.raw(link, ItemKind::Hardlink("/etc/passwd".to_owned()), b"");
    t.each("a hard link", &b, &["archive-link"]);
    let mut b = repair();
    b.raw(format!("{}/null", b.top), ItemKind::Device, b"");
    t.each("a device", &b, &["archive-device"]);
    let mut b = repair();
    b.raw(format!("{}/pipe", b.top), ItemKind::Pipe, b"");
    t.each("a pipe", &b, &["archive-device"]);
    let mut b = repair();
    let twice = format!("{}/kv-1/symptom-only/run-01/patch.diff", b.top);
    b.raw(twice, file.clone(), b"other");
    t.each("the same path twice", &b, &["archive-duplicate"]);
    let mut b = repair();
    b.raw(format!("{}/metadata.yaml/x", b.top), file.clone(), b"x");
    t.each("a file that is a folder too", &b, &["archive-duplicate"]);
    let mut b = repair();
    let shout = format!("{}/kv-1/symptom-only/run-01/PATCH.diff", b.top);
    b.raw(shout, file.clone(), b"x");
    t.each("paths that differ in case", &b, &["archive-case-collision"]);
    let mut b = repair();
    b.raw("other/file", file.clone(), b"x");
    t.each("two top folders", &b, &["top-folder"]);
    let mut b = repair();
    b.raw("loose", file.clone(), b"x");
    t.each("a file beside the top folder", &b, &["top-folder"]);
    let mut b = repair();
    for item in &mut b.items {
        item.name.drain(..=b.top.len());
    }
    t.each("no top folder", &b, &["top-folder"]);
    t.each("nothing at all", &Builder::default(), &["top-folder"]);
    let mut b = repair();
    b.raw("../a", file.clone(), b"")
        .raw("x\0y", file, b"")
        .take("queue-2")
        .take("kv-1/symptom-only/run-01/trajectory.json")
        .put("metadata.yaml", "track: repair\n");
    // A NUL ends a name in tar and is a control character in zip.
    t.add(
        "many faults at once",
        b.zip(),
        &["archive-path", "metadata-schema", "trace-missing"],
    );
}

fn limits(t: &mut Table) {
    let small = |change: fn(&mut Limits)| {
        let mut limits = Limits {
            ratio_floor_bytes: 1 << 20,
            ..Limits::default()
        };
        change(&mut limits);
        limits
    };
    let mut add = |name, builder: &Builder, limits: &Limits, errors: &[&'static str]| {
        for bytes in [builder.tar_gz(), builder.tar_zst(), builder.zip()] {
            t.add(name, bytes, errors).limits = limits.clone();
        }
    };
    let mut bomb = repair();
    bomb.put(
        "kv-1/symptom-only/run-01/trajectory.json",
        vec![b' '; 8 << 20],
    );
    add("a bomb", &bomb, &small(|_| {}), &["limit-ratio"]);
    add(
        "a large file",
        &bomb,
        &small(|l| {
            l.file_bytes = 1 << 20;
            l.ratio = 1 << 20;
        }),
        &["limit-file-size", "attempts-missing"],
    );
    add(
        "too much in all",
        &bomb,
        &small(|l| l.unpacked_bytes = 512 << 10),
        &["limit-unpacked"],
    );
    add(
        "too large an archive",
        &repair(),
        &small(|l| l.compressed_bytes = 100),
        &["limit-compressed"],
    );
    add(
        "too many entries",
        &repair(),
        &small(|l| l.entries = 3),
        &["limit-entries"],
    );
    let mut deep = repair();
    deep.put(&format!("{}x", "d/".repeat(20)), "x");
    add("deep folders", &deep, &small(|_| {}), &["limit-nesting"]);
    let mut fat = repair();
    fat.put("kv-1/symptom-only/run-01/patch.diff", PATCH.repeat(100));
    add(
        "a large patch",
        &fat,
        &small(|l| l.answer_bytes = 2000),
        &["limit-answer-size", "attempts-missing"],
    );
    add(
        "too many answers",
        &fat,
        &small(|l| l.answers_bytes = 4000),
        &["limit-answer-size", "attempts-missing"],
    );
}

fn metadata(t: &mut Table) {
    let mut b = repair();
    b.take("metadata.yaml");
    t.each("no metadata", &b, &["metadata-missing"]);
    let mut b = repair();
    b.put("metadata.yaml", "track: [\n");
    t.each("metadata that is no YAML", &b, &["metadata-schema"]);
    let mut b = repair();
    b.put("metadata.yaml", b"track: \xff\n".to_vec());
    t.each("metadata that is no text", &b, &["text-encoding"]);
    let text = |from: &str, to: &str| -> Vec<u8> {
        let builder = repair();
        String::from_utf8_lossy(&builder.items[0].data)
            .replace(from, to)
            .into_bytes()
    };
    let mut b = repair();
    b.put("metadata.yaml", text("network: none", "netwrok: none"));
    t.each("an unknown field", &b, &["metadata-schema"]);
    for (name, from, to) in [
        ("an unknown release", "2026.1", "1999.1"),
        ("an unknown subset", "subset: full", "subset: most"),
        (
            "a declaration that is false",
            "no_fixes: true",
            "no_fixes: false",
        ),
        ("a contact that is none", "tester@example.org", "me"),
        (
            "an address that is none",
            "https://agent.example",
            "javascript:x",
        ),
        (
            "a track without bundles",
            "track: repair",
            "track: recovery",
        ),
    ] {
        let mut b = repair();
        b.put("metadata.yaml", text(from, to));
        t.each(name, &b, &["metadata-value"]);
    }
}

fn contents(t: &mut Table) {
    let mut b = repair();
    b.take("queue-2");
    t.each("a case without attempts", &b, &["attempts-missing"]);
    let mut b = Builder::repair(
        "2026.1",
        "full",
        &CASES,
        &["symptom-only", "context-augmented"],
    );
    t.each("both conditions", &b, &[]);
    b.take("queue-2/context-augmented");
    t.each("half a condition", &b, &["attempts-missing"]);
    let mut b = diagnosis();
    b.take("kv-1/run-02");
    t.each("too few runs", &b, &["attempts-missing"]);
    let mut b = repair();
    b.take("kv-1/symptom-only/run-01/trajectory.json");
    t.each("no trace", &b, &["trace-missing", "attempts-missing"]);
    let mut b = repair();
    b.put("kv-1/symptom-only/run-01/trajectory.json", "");
    t.each("an empty trace", &b, &["trace-missing", "attempts-missing"]);
    let mut b = repair();
    b.put(
        "kv-1/symptom-only/run-01/trajectory.json",
        b"{\"a\":\"\xff\"}".to_vec(),
    );
    t.each(
        "a trace that is no text",
        &b,
        &["text-encoding", "attempts-missing"],
    );
    let mut b = repair();
    b.take("kv-1/symptom-only/run-01/patch.diff");
    t.each("no patch", &b, &["attempts-missing"]);
    let mut b = diagnosis();
    b.put(
        "kv-1/run-01/diagnosis.json",
        r#"{"bug_cause_description":1,"buggy_blocks":[{"start_line":0.5}]}"#,
    );
    t.each(
        "a diagnosis against its schema",
        &b,
        &["diagnosis-schema", "attempts-missing"],
    );
    let mut b = diagnosis();
    b.put("kv-1/run-01/session_stats.json", r#"{"calls":-1}"#);
    t.each("stats against their schema", &b, &["stats-schema"]);
    let mut b = repair();
    b.put("nothing-9/symptom-only/run-01/patch.diff", PATCH)
        .put("nothing-9/symptom-only/run-01/trajectory.json", "{}");
    t.each("an unknown case", &b, &["case-unknown"]);
    let mut b = repair();
    b.put("kv-1/with-hints/run-01/patch.diff", PATCH)
        .put("kv-1/with-hints/run-01/trajectory.json", "{}");
    t.each("an unknown condition", &b, &["condition-unknown"]);
    let mut b = diagnosis();
    b.put("kv-1/symptom-only/run-01/diagnosis.json", super::DIAGNOSIS)
        .put("kv-1/symptom-only/run-01/trajectory.json", "{}");
    t.each("a condition for a diagnosis", &b, &["condition-unknown"]);
    let mut b = repair();
    b.put("kv-1/symptom-only/first/patch.diff", PATCH)
        .put("kv-1/symptom-only/first/trajectory.json", "{}");
    t.each("a run without a number", &b, &["run-folder"]);
    let mut b = repair();
    b.put("kv-1/symptom-only/run-1/patch.diff", PATCH)
        .put("kv-1/symptom-only/run-1/trajectory.json", "{}");
    t.each("a run number twice", &b, &["run-folder"]);
}

fn oddities(t: &mut Table) {
    let patch = "kv-1/symptom-only/run-01/patch.diff";
    let with = |data: &str| {
        let mut b = repair();
        b.put(patch, data);
        b
    };
    t.warned("an empty patch", &with(""), &["patch-empty"]);
    t.warned(
        "no patch at all",
        &with("I changed it.\n"),
        &["patch-unreadable"],
    );
    t.warned("CRLF", &with(&PATCH.replace('\n', "\r\n")), &["patch-crlf"]);
    t.warned(
        "a protected path",
        &with(&PATCH.replace("src/lib.rs", "SYMPTOM.md")),
        &["patch-protected-path"],
    );
    let mut b = repair();
    b.take("kv-1/symptom-only/run-01/session_stats.json");
    t.warned("no stats", &b, &["stats-missing"]);
    let mut b = repair();
    b.put("notes.txt", "x")
        .raw("__MACOSX/._x", ItemKind::File, b"x");
    t.warned("stray files", &b, &["stray-file"]);
    let mut b = repair();
    b.put("kv-1/symptom-only/run-01/trajectory.txt", "x");
    t.warned("two traces", &b, &["trace-extra"]);
    let mut b = diagnosis();
    b.put("kv-1/run-04/trajectory.json", "{}");
    t.warned("a run that broke off", &b, &["answer-missing"]);
    let mut b = repair();
    let lite = String::from_utf8_lossy(&b.items[0].data).replace("subset: full", "subset: lite");
    b.put("metadata.yaml", lite);
    t.warned("a case outside the subset", &b, &["case-outside-subset"]);
    let mut b = repair();
    let top = b.top.clone();
    for item in &mut b.items {
        item.name = [b"run".as_slice(), &item.name[top.len()..]].concat();
    }
    t.warned("a plain name of the top folder", &b, &["top-folder-name"]);
}
