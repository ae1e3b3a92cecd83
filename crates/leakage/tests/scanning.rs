//! The scan itself: large texts, hostile texts, bounded results.

use std::time::{Duration, Instant};

use faultboard_leakage::{Attempt, CaseTerms, Scanner, Segment, SiteTerms, Source};
use proptest::prelude::*;

fn scanner() -> Scanner {
    let mut terms = CaseTerms::of_upstream(
        &["raft-rs", "raft"],
        &["https://github.com/tikv/raft-rs/issues/76".to_owned()],
        &["https://github.com/tikv/raft-rs/pull/83".to_owned()],
        &["7dc6c2b74cd1ec5b6f6f5b3d2f1a1b0c9d8e7f60".to_owned()],
        Some("0.3.1"),
        &["Becoming a precandidate should reset votes".to_owned()],
    );
    terms.snapshot_time = Some(1_500_000_000);
    Scanner::new(terms, SiteTerms::default()).unwrap()
}

fn places(scanner: &Scanner, source: Source, bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut scan = scanner.scan(Attempt::default());
    scan.push(&Segment::whole(source, bytes));
    let found = scan.finish();
    found.findings.iter().map(|f| (f.start, f.end)).collect()
}

#[test]
fn a_term_is_found_once_wherever_it_stands_in_a_large_text() {
    let scanner = scanner();
    let term = "tikv/raft-rs#76";
    let filler = "ein wenig Füllung, 日本語, ";
    // Around every edge of the windows, and at both ends.
    let mut positions = vec![0];
    for edge in [4_096, 253_952, 258_048, 262_144, 507_904, 516_096] {
        positions.extend((edge - 20)..(edge + 5));
    }
    let size = 800_000;
    positions.push(size);
    for position in positions {
        let mut text = filler.repeat(position / filler.len() + 1);
        let mut cut = position;
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        text.truncate(cut);
        text.push(' ');
        let start = text.len() as u64;
        text.push_str(term);
        text.push(' ');
        while text.len() < size {
            text.push_str(filler);
        }
        let found = places(&scanner, Source::Output, text.as_bytes());
        assert_eq!(found, [(start, start + term.len() as u64)], "at {position}");
    }
}

#[test]
fn bytes_that_are_no_text_keep_their_places() {
    let scanner = scanner();
    let mut bytes = vec![0xff, 0xfe, 0x80, b'\n'];
    let start = bytes.len() as u64;
    bytes.extend(b"tikv/raft-rs#76");
    bytes.extend([0xc3, 0x28, 0]);
    assert_eq!(
        places(&scanner, Source::Output, &bytes),
        [(start, start + 15)]
    );
    let wide: Vec<u8> = "see tikv/raft-rs#76 now"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(places(&scanner, Source::Output, &wide), [(8, 37)]);
}

#[test]
fn excerpts_are_short_and_hold_the_hit() {
    let scanner = scanner();
    let mut bytes = "ü€😀".repeat(300).into_bytes();
    bytes.extend(b" tikv/raft-rs#76 ");
    bytes.extend([0xff; 600]);
    let mut scan = scanner.scan(Attempt::default());
    scan.push(&Segment::whole(Source::Output, &bytes));
    let found = scan.finish();
    let excerpt = &found.findings[0].excerpt;
    assert!(excerpt.len() <= 400 && excerpt.contains("tikv/raft-rs#76"));
}

#[test]
fn a_flood_of_hits_is_bounded() {
    let scanner = scanner();
    let text = "tikv/raft-rs#76 ".repeat(20_000);
    let mut scan = scanner.scan(Attempt::default());
    scan.push(&Segment::whole(Source::Output, text.as_bytes()));
    let found = scan.finish();
    assert_eq!(found.findings.len(), 200);
    assert!(found.left_out > 19_000);
}

#[test]
fn texts_made_to_be_slow_are_not() {
    let scanner = scanner();
    let size = 1 << 20;
    for (source, part) in [
        (Source::Input, "github.com/"),
        (Source::Input, "curl github.companyx "),
        (Source::Input, "git "),
        (Source::Input, "x git log ;"),
        (Source::Input, "/oracl/oraclex"),
        (Source::Input, "'\", \"\\"),
        (Source::Output, " 76"),
        (Source::Output, "\ndate: 2020-01-01"),
        (
            Source::Output,
            "\ncommit abcdef0\nauthor: a\ndate: 2020-01-01",
        ),
        (Source::Output, "\n0.3.1"),
        (Source::Output, "7dc6c2b"),
        (Source::Output, "\u{1b}["),
        (Source::Output, "\u{1b}]"),
        (Source::Output, "%25%35%35"),
        (Source::Output, "\\\\\\\\"),
        (
            Source::Output,
            "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w",
        ),
        (Source::Output, "ﷺ"),
        (Source::Output, "&#35;&amp;"),
    ] {
        let text = part.repeat(size / part.len());
        let start = Instant::now();
        places(&scanner, source, text.as_bytes());
        let took = start.elapsed();
        assert!(took < Duration::from_secs(20), "{part:?} took {took:?}");
    }
}

#[test]
fn steps_become_segments_of_their_sources() {
    use faultboard_domain::trace::{Action, ActionKind, Observation, Step, StepRole};
    let mut step = Step {
        index: 7,
        role: StepRole::Assistant,
        turn: None,
        thought: "think".to_owned(),
        action: Some(Action {
            kind: ActionKind::Run,
            tool: "bash".to_owned(),
            command: "ls".to_owned(),
            files: Vec::new(),
        }),
        observation: Some(Observation {
            text: String::new(),
            exit_code: None,
            truncated: false,
        }),
        tokens: None,
        cost: None,
        start: None,
        seconds: None,
    };
    let sources = |s: &Step| {
        Segment::of_step(s)
            .iter()
            .map(|s| s.source)
            .collect::<Vec<_>>()
    };
    assert_eq!(sources(&step), [Source::Thought, Source::Input]);
    assert_eq!(Segment::of_step(&step)[1].tool, Some("bash"));
    step.role = StepRole::User;
    assert_eq!(sources(&step)[0], Source::Prompt);
    step.role = StepRole::Tool;
    assert_eq!(sources(&step)[0], Source::Output);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(
        source in 0usize..6,
        texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..600), 1..4),
    ) {
        let scanner = scanner();
        let mut scan = scanner.scan(Attempt { run: Some(1), started: Some(0) });
        for bytes in &texts {
            scan.push(&Segment::whole(Source::ALL[source], bytes));
        }
        scan.finish();
    }

    /// Texts stitched from what guards and decoders react to.
    #[test]
    fn stitched_texts_never_panic_and_point_inside(
        source in 0usize..6,
        texts in proptest::collection::vec(proptest::collection::vec(0usize..40, 0..60), 1..4),
    ) {
        const PARTS: [&str; 40] = [
            "git", " ", "log", "--all", "tikv/raft-rs", "#76", "issue ", "76", "\n", "date: ",
            "2020-01-01", "commit 7dc6c2b", "author: x", "curl ", "https://", "github.com", "/",
            "\\", "\\u", "0023", "%", "25", "&#", "35;", "\u{1b}", "[0m", "\u{200b}", "ü", "😀",
            "'", "\"", ",", "${ifs}", "run-02/", "patch.diff", "/oracle", "inject_test", "@{1}",
            "0.3.1", "=",
        ];
        let scanner = scanner();
        let mut scan = scanner.scan(Attempt { run: Some(1), started: None });
        let texts: Vec<String> = texts
            .iter()
            .map(|parts| parts.iter().map(|p| PARTS[*p]).collect())
            .collect();
        for (i, text) in texts.iter().enumerate() {
            scan.push(&Segment {
                source: Source::ALL[source],
                step: Some(u32::try_from(i).unwrap()),
                tool: Some("web_search"),
                bytes: text.as_bytes(),
            });
        }
        for finding in scan.finish().findings {
            let text = &texts[finding.step.unwrap() as usize];
            prop_assert!(finding.start <= finding.end && finding.end <= text.len() as u64);
            prop_assert!(finding.excerpt.len() <= 400);
        }
    }
}
