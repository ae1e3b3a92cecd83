//! Every format in small traces of our own making, and what must not go wrong
//! with any of them: cut anywhere, damaged anywhere, over any limit.

mod fixtures;

use std::io::Write as _;

use faultboard_domain::trace::{ActionKind, ExitStatus, Step, StepRole};
use faultboard_trace::{
    Limits, Trace, TraceError, detect, formats, read_page, read_trace, write_normalised,
};
use fixtures::fixtures;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<(Trace, Vec<Step>), TraceError> {
    let mut steps = Vec::new();
    let trace = read_trace(&mut &*bytes, &Limits::default(), &mut |s| steps.push(s))?;
    Ok((trace, steps))
}

/// Role of a step, or kind of its action.
fn word(step: &Step) -> &'static str {
    match (&step.action, step.role) {
        (Some(action), _) => action.kind.as_str(),
        (None, StepRole::Assistant) => ActionKind::Think.as_str(),
        (None, role) => role.as_str(),
    }
}

#[test]
fn every_format_is_known_and_read() {
    let mut seen = std::collections::BTreeSet::new();
    for (id, bytes, want) in fixtures() {
        assert_eq!(detect(&bytes).id, id);
        let (trace, steps) = read(&bytes).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(
            steps.iter().map(word).collect::<Vec<_>>(),
            want,
            "{id}: {steps:#?}"
        );
        assert!(
            trace.summary.notes.is_empty() || id == "text",
            "{id}: {:?}",
            trace.summary.notes
        );
        seen.insert(id);
        // What is offered for download can be handed in again.
        let (lines, _) = write_normalised(&steps);
        let (again, same) = read(&lines).unwrap();
        assert_eq!(same, steps, "{id}");
        assert_eq!(again.summary.first_edit, trace.summary.first_edit, "{id}");
        assert_eq!(again.summary.turns, trace.summary.turns, "{id}");
    }
    seen.insert("faultboard");
    let all: std::collections::BTreeSet<_> = formats().into_iter().map(|f| f.id).collect();
    assert_eq!(seen, all, "a format without a fixture");
}

#[test]
fn details_of_some_formats() {
    let all = fixtures();
    let (trace, steps) = read(&all[0].1).unwrap();
    assert_eq!(trace.summary.format, "mini-swe-agent-1.1");
    assert_eq!(trace.summary.exit, ExitStatus::Submitted);
    assert_eq!(trace.summary.cost, Some(0.5));
    assert_eq!(trace.summary.first_edit, Some(2));
    assert_eq!(trace.summary.edited_files, ["raft.go"]);
    assert_eq!(trace.account.final_patch.as_deref(), Some("diff"));
    assert_eq!(
        steps[2].observation.as_ref().unwrap().text,
        "package raft\n"
    );
    let (trace, steps) = read(&all[4].1).unwrap();
    assert_eq!(trace.summary.edited_files, ["a.py"]);
    assert_eq!(steps[3].action.as_ref().unwrap().files, ["a.py"]);
    let (trace, steps) = read(&all[5].1).unwrap();
    assert_eq!(steps[1].thought, "hm");
    assert_eq!(trace.summary.tokens.unwrap().output, 9);
    assert_eq!(trace.summary.tokens.unwrap().input, 7);
    assert_eq!(trace.summary.seconds, Some(1.5));
    let (_, steps) = read(&all[6].1).unwrap();
    assert_eq!(steps[1].seconds, Some(3.0));
    assert_eq!(steps[1].observation.as_ref().unwrap().exit_code, Some(101));
    let (_, steps) = read(&all[10].1).unwrap();
    assert_eq!(steps[0].thought, "Mend it.");
}

#[test]
fn cut_anywhere_never_panics_and_lines_survive() {
    for (id, bytes, _) in fixtures() {
        for end in 0..bytes.len() {
            match read(&bytes[..end]) {
                Ok(_) => {}
                Err(error) => assert!(error.offset() <= end as u64, "{id} cut at {end}: {error}"),
            }
        }
    }
    // A stream that stops in the middle of its last line keeps all before it.
    for index in [5, 6] {
        let bytes = &fixtures()[index].1;
        let cut = &bytes[..bytes.len() - 9];
        let (trace, _) = read(cut).unwrap();
        assert!(
            trace.summary.notes.iter().any(|n| n.contains("cut off")),
            "{:?}",
            trace.summary.notes
        );
    }
}

#[test]
fn broken_traces_say_where() {
    let comma = "{\"trajectory_format\":\"mini-swe-agent-1\",\"messages\":[{\"role\":\"user\",}]}";
    let error = read(comma.as_bytes()).unwrap_err();
    assert_eq!(
        error.offset() as usize,
        comma.find(",}").unwrap() + 1,
        "{error}"
    );
    let line = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n";
    let error = read(format!("{line}{{oops}}\n{line}").as_bytes()).unwrap_err();
    assert_eq!(error.offset(), line.len() as u64 + 1, "{error}");
    let error = read(b"PK\x03\x04 nothing").unwrap_err();
    assert!(matches!(error, TraceError::Malformed { .. }));
    // Deep nesting is refused, not followed.
    let deep = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"extra\":{}",
        "[".repeat(100_000)
    );
    assert!(read(deep.as_bytes()).is_err());
}

#[test]
fn limits_hold() {
    let small = Limits {
        total: 2_000,
        element: 500,
        steps: 3,
    };
    let with = |bytes: &[u8]| read_trace(&mut &*bytes, &small, &mut |_| {});
    let long = format!(
        "{{\"trajectory_format\":\"mini-swe-agent-1\",\"messages\":[{{\"role\":\"user\",\"content\":\"{}\"}}]}}",
        "x".repeat(900)
    );
    assert!(matches!(
        with(long.as_bytes()),
        Err(TraceError::TooLarge {
            what: "a message",
            ..
        })
    ));
    let line = format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n",
        "x".repeat(600)
    );
    assert!(matches!(
        with(line.as_bytes()),
        Err(TraceError::TooLarge { what: "a line", .. })
    ));
    let many = "a line of text\n".repeat(200);
    assert!(matches!(
        with(many.as_bytes()),
        Err(TraceError::TooLarge { what: "a file", .. })
    ));
    let users = "{\"role\":\"user\",\"content\":\"x\"}\n".repeat(9);
    let trace = with(users.as_bytes()).unwrap();
    assert_eq!(trace.summary.steps, 3);
    assert!(
        trace
            .summary
            .notes
            .iter()
            .any(|n| n.contains("more than 3 steps"))
    );
}

#[test]
fn an_archive_that_unpacks_to_too_much_is_refused() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("header.json", zip::write::SimpleFileOptions::default())
        .unwrap();
    zip.write_all(&vec![b' '; 3 << 20]).unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    let limits = Limits {
        total: 1 << 20,
        ..Limits::default()
    };
    assert!(bytes.len() < 1 << 16);
    let error = read_trace(&mut bytes.as_slice(), &limits, &mut |_| {}).unwrap_err();
    assert!(matches!(error, TraceError::TooLarge { .. }), "{error}");
}

#[test]
fn a_large_trace_is_paged_at_its_end() {
    let mut lines = String::new();
    for i in 0..5_000 {
        lines.push_str(&format!(
            "{{\"role\":\"assistant\",\"content\":\"step {i} {}\"}}\n",
            "y".repeat(200)
        ));
    }
    let (trace, steps) = read(lines.as_bytes()).unwrap();
    assert_eq!(trace.summary.turns, 5_000);
    let (bytes, index) = write_normalised(&steps);
    let range = index.page(4_990, 50).unwrap();
    assert!(range.end - range.start < 30_000);
    let page = read_page(&bytes[range.start as usize..range.end as usize], &range).unwrap();
    assert_eq!(page.len(), 10);
    assert_eq!(page[9], steps[4_999]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damage_never_panics(which in 0usize..14, edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let mut bytes = fixtures().swap_remove(which).1;
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Err(error) = read(&bytes) {
            prop_assert!(error.offset() <= bytes.len() as u64);
        }
    }

    #[test]
    fn any_text_never_panics(text in "[\\PC\u{1b}\r\n\u{8}]{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(text.as_bytes());
        let _ = read(&bytes);
        let look = faultboard_trace::look_at_shell(&text);
        prop_assert!(look.edited.len() <= look.files.len());
        let shown: String = faultboard_trace::ansi_to_spans(&text).into_iter().map(|(_, t)| t).collect();
        let escapes = shown.matches('\u{1b}').count();
        prop_assert_eq!(escapes, 0);
    }

    #[test]
    fn shell_words_never_panic(script in "[a-z '\"$()`|&;<>\\\\\n{}\u{e9}-]{0,80}") {
        let _ = faultboard_trace::look_at_shell(&script);
    }

    #[test]
    fn messages_of_any_shape_never_panic(role in "[a-z]{0,8}", key in "(content|tool_calls|extra|action|observation|usage)", value in "(null|1|\"x\"|\\[\\]|\\{\\}|\\[null\\]|\\{\"a\":\\[1\\]\\})") {
        for shell in [
            format!("{{\"messages\":[{{\"role\":\"{role}\",\"{key}\":{value},\"content\":{value}}}]}}"),
            format!("{{\"type\":\"{role}\",\"message\":{{\"role\":\"user\",\"{key}\":{value},\"content\":{value}}},\"sessionId\":1}}\n"),
            format!("{{\"schema_version\":\"ATIF-v1\",\"steps\":[{{\"source\":\"agent\",\"{key}\":{value}}}]}}"),
            format!("[{{\"action\":\"{role}\",\"args\":{value},\"observation\":{value},\"extras\":{value}}}]"),
        ] {
            let _ = read(shell.as_bytes());
        }
    }
}
