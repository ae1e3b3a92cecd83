//! Every guard against its examples: positive ones are found at the right
//! bytes, plain and in every disguise, also when split over two steps; negative
//! ones are ordinary work and find nothing, with any guard.

use faultboard_leakage::{
    Attempt, CaseTerms, Reference, Scanned, Scanner, Segment, SiteTerms, Source, guard_set,
    guard_set_version,
};
use serde_json::Value;

fn terms() -> CaseTerms {
    let text = |t: &str| Some(t.to_owned());
    let mut terms = CaseTerms::of_upstream(
        &["pysyncobj"],
        &[
            "https://github.com/bakwc/PySyncObj/issues/169".to_owned(),
            "https://issues.example.org/browse/SYNCJIRA-4242".to_owned(),
        ],
        &["https://github.com/bakwc/PySyncObj/pull/170".to_owned()],
        &[
            "7dc6c2b74cd1ec5b6f6f5b3d2f1a1b0c9d8e7f60".to_owned(),
            "1234567000000000000000000000000000000abc".to_owned(),
        ],
        Some("0.3.12"),
        &["Counting replicas now skips entries from earlier terms".to_owned()],
    );
    terms.issues.push(Reference {
        title: text("Leader commits log entries of older terms"),
        ..Reference::default()
    });
    terms.issues.push(Reference {
        key: text("SYNC-REPORT-7"),
        ..Reference::default()
    });
    terms.allowed = vec!["pysyncobj-169".to_owned(), "SYNC-REPORT-7".to_owned()];
    terms.functions = vec![
        "SyncObj._handleLeaderTick".to_owned(),
        "Poller.close".to_owned(),
    ];
    terms.sentences =
        vec!["a leader may only count replicas for entries of its own term".to_owned()];
    terms.diffs = vec![include_str!("corpus/patch-identity.fix.diff").to_owned()];
    terms.files = [
        ("pysyncobj/syncobj.py", 1200),
        ("pysyncobj/node.py", 150),
        ("pysyncobj/tiny.py", 25),
    ]
    .map(|(f, n)| (f.to_owned(), n))
    .into();
    // 2022-11-06.
    terms.snapshot_time = Some(1_667_692_800);
    terms
}

fn scanner() -> Scanner {
    let site = SiteTerms {
        hosts: vec!["bench.example.net".to_owned()],
        repositories: vec!["bench-org/bench-cases".to_owned()],
        private_paths: vec!["/srv/bench/blobs".to_owned()],
    };
    Scanner::new(terms(), site).unwrap()
}

const ATTEMPT: Attempt = Attempt {
    run: Some(1),
    // 2026-01-10.
    started: Some(1_768_003_200),
};

struct Example {
    name: String,
    source: Source,
    tool: Option<String>,
    text: String,
    hit: String,
    disguise: bool,
    split: bool,
}

fn corpus(guard: &str, kind: &str) -> Vec<Example> {
    let path = format!(
        "{}/tests/corpus/{guard}.{kind}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    lines
        .lines()
        .map(|line| {
            let v: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            let text = |key: &str| v[key].as_str().unwrap_or_default().to_owned();
            let flag = |key: &str| v[key].as_bool().unwrap_or(true);
            Example {
                name: text("name"),
                source: Source::parse(&text("source")).unwrap(),
                tool: v["tool"].as_str().map(str::to_owned),
                text: text("text"),
                hit: text("hit"),
                disguise: flag("disguise"),
                split: flag("split"),
            }
        })
        .collect()
}

fn scan(scanner: &Scanner, source: Source, tool: Option<&str>, texts: &[&[u8]]) -> Scanned {
    let mut scan = scanner.scan(ATTEMPT);
    for (i, bytes) in texts.iter().enumerate() {
        scan.push(&Segment {
            source,
            step: Some(u32::try_from(i).unwrap()),
            tool,
            bytes,
        });
    }
    scan.finish()
}

#[test]
fn every_guard_has_examples_of_both_kinds() {
    for guard in guard_set() {
        assert!(corpus(guard.id, "positive").len() >= 10, "{}", guard.id);
        assert!(corpus(guard.id, "negative").len() >= 10, "{}", guard.id);
    }
    assert_eq!(guard_set_version().len(), 12);
}

#[test]
fn positives_are_found_at_their_bytes() {
    let scanner = scanner();
    let mut failures = Vec::new();
    for guard in guard_set() {
        for e in corpus(guard.id, "positive") {
            let found = scan(&scanner, e.source, e.tool.as_deref(), &[e.text.as_bytes()]);
            let ours: Vec<_> = found
                .findings
                .iter()
                .filter(|f| f.guard == guard.id)
                .map(|f| &e.text[f.start as usize..f.end as usize])
                .collect();
            if ours != [e.hit.as_str()] {
                failures.push(format!(
                    "{} {}: wanted {:?}, got {ours:?}",
                    guard.id, e.name, e.hit
                ));
            }
            for f in &found.findings {
                assert!(f.excerpt.len() <= 400 && !f.why.is_empty());
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn negatives_find_nothing_with_any_guard() {
    let scanner = scanner();
    let mut failures = Vec::new();
    for guard in guard_set() {
        for e in corpus(guard.id, "negative") {
            let found = scan(&scanner, e.source, e.tool.as_deref(), &[e.text.as_bytes()]);
            for f in found.findings {
                failures.push(format!(
                    "{} {}: {} {:?} {}",
                    guard.id, e.name, f.guard, f.excerpt, f.why
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Puts something between the characters in the middle of a text.
fn middle(text: &str, put: &str) -> String {
    let at = text.char_indices().nth(text.chars().count() / 2).unwrap().0;
    format!("{}{put}{}", &text[..at], &text[at..])
}

fn each(text: &str, f: impl Fn(char) -> String) -> String {
    text.chars().map(f).collect()
}

fn twin(c: char) -> char {
    match c {
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        'i' => 'і',
        'o' => 'ο',
        'p' => 'р',
        'x' => 'х',
        'y' => 'у',
        'A' => 'А',
        'O' => 'О',
        '/' => '∕',
        other => other,
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let b = [
            chunk[0],
            *chunk.get(1).unwrap_or(&0),
            *chunk.get(2).unwrap_or(&0),
        ];
        let n = u32::from(b[0]) << 16 | u32::from(b[1]) << 8 | u32::from(b[2]);
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(char::from(ALPHABET[(n >> (18 - 6 * i) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

type Disguise = (&'static str, fn(&str) -> String);

const DISGUISES: &[Disguise] = &[
    ("upper case", |t| t.to_uppercase()),
    ("ANSI colours", |t| middle(t, "\u{1b}[31;1m")),
    ("zero-width characters", |t| {
        each(t, |c| format!("{c}\u{200b}"))
            .trim_end_matches('\u{200b}')
            .to_owned()
    }),
    ("soft hyphen", |t| middle(t, "\u{ad}")),
    ("lookalikes", |t| t.chars().map(twin).collect()),
    ("full width", |t| {
        each(t, |c| match c {
            '!'..='~' => char::from_u32(c as u32 + 0xfee0).unwrap().to_string(),
            c => c.to_string(),
        })
    }),
    ("percent escapes", |t| {
        t.bytes().map(|b| format!("%{b:02x}")).collect()
    }),
    ("percent escapes twice", |t| {
        t.bytes().map(|b| format!("%25{b:02X}")).collect()
    }),
    ("JSON escapes", |t| {
        each(t, |c| format!("\\u{:04x}", c as u32))
    }),
    ("JSON in JSON", |t| {
        each(t, |c| format!("\\\\u{:04x}", c as u32))
    }),
    ("octal escapes", |t| {
        t.bytes().map(|b| format!("\\{b:03o}")).collect()
    }),
    ("hexadecimal escapes", |t| {
        t.bytes().map(|b| format!("\\x{b:02x}")).collect()
    }),
    ("HTML entities", |t| each(t, |c| format!("&#{};", c as u32))),
    ("a continued line", |t| middle(t, "\\\n")),
    ("NUL bytes", |t| {
        each(t, |c| format!("{c}\0"))
            .trim_end_matches('\0')
            .to_owned()
    }),
];

#[test]
fn disguised_positives_are_found_at_their_bytes() {
    let scanner = scanner();
    let mut failures = Vec::new();
    let mut tried = 0;
    for guard in guard_set() {
        for e in corpus(guard.id, "positive")
            .into_iter()
            .filter(|e| e.disguise)
        {
            let start = e.text.find(&e.hit).unwrap();
            for (how, disguise) in DISGUISES {
                let hit = disguise(&e.hit);
                let text = format!(
                    "{}{hit}{}",
                    &e.text[..start],
                    &e.text[start + e.hit.len()..]
                );
                let found = scan(&scanner, e.source, e.tool.as_deref(), &[text.as_bytes()]);
                tried += 1;
                let got: Vec<&str> = found
                    .findings
                    .iter()
                    .filter(|f| f.guard == guard.id)
                    .map(|f| &text[f.start as usize..f.end as usize])
                    .collect();
                if got != [hit.as_str()] {
                    failures.push(format!(
                        "{} {} in {how}: {text:?} gave {got:?}",
                        guard.id, e.name
                    ));
                }
            }
            let blob = base64(e.text.as_bytes());
            let text = format!("x = '{blob}'\n");
            let found = scan(&scanner, e.source, e.tool.as_deref(), &[text.as_bytes()]);
            tried += 1;
            let inside = |f: &&faultboard_domain::Finding| {
                f.guard == guard.id
                    && f.start >= 5
                    && f.end <= 5 + blob.len() as u64
                    && f.start < f.end
                    && f.why.contains("in base64")
            };
            if found.findings.iter().filter(inside).count() != 1 {
                failures.push(format!(
                    "{} {} in base64: {:?}",
                    guard.id, e.name, found.findings
                ));
            }
        }
    }
    assert!(tried > 700, "{tried}");
    assert!(
        failures.is_empty(),
        "{} of {tried}\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn terms_split_over_two_steps_are_found() {
    let scanner = scanner();
    let mut failures = Vec::new();
    for guard in ["issue-identifier", "fix-identifier"] {
        for e in corpus(guard, "positive").into_iter().filter(|e| e.split) {
            let middle = e.text.find(&e.hit).unwrap() + e.hit.len() / 2;
            let (one, two) = e.text.split_at(middle);
            let found = scan(
                &scanner,
                e.source,
                None,
                &[one.as_bytes(), b"", two.as_bytes()],
            );
            let ok = found.findings.iter().any(|f| {
                f.guard == guard
                    && f.step == Some(2)
                    && f.start == 0
                    && f.end as usize == e.hit.len() - e.hit.len() / 2
                    && f.why.ends_with("split over two steps")
            });
            if !ok {
                failures.push(format!("{guard} {}: {:?}", e.name, found.findings));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_split_is_not_seen_across_sources_nor_told_twice() {
    let scanner = scanner();
    let mut scan = scanner.scan(ATTEMPT);
    scan.push(&Segment::whole(Source::Thought, b"see bakwc/PySync"));
    scan.push(&Segment::whole(Source::Output, b"Obj#169"));
    assert_eq!(scan.finish(), Scanned::default());
    let found = super_scan(&scanner, &[b"see bakwc/PySyncObj#169 ", b"and more"]);
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].step, Some(0));
}

fn super_scan(scanner: &Scanner, texts: &[&[u8]]) -> Scanned {
    scan(scanner, Source::Thought, None, texts)
}

#[test]
fn a_name_that_was_shown_first_is_free() {
    let scanner = scanner();
    let told = |texts: &[(Source, &str)]| {
        let mut scan = scanner.scan(ATTEMPT);
        for (source, text) in texts {
            scan.push(&Segment::whole(*source, text.as_bytes()));
        }
        scan.finish().findings.len()
    };
    let (named, shown) = (
        "so _handleLeaderTick is wrong",
        "517: def _handleLeaderTick(self):",
    );
    assert_eq!(
        told(&[(Source::Thought, named), (Source::Output, shown)]),
        1
    );
    assert_eq!(
        told(&[(Source::Output, shown), (Source::Thought, named)]),
        0
    );
    assert_eq!(
        told(&[(Source::Prompt, shown), (Source::Thought, named)]),
        0
    );
    // What the agent itself wrote shows nothing.
    assert_eq!(told(&[(Source::Input, named), (Source::Thought, named)]), 1);
}
