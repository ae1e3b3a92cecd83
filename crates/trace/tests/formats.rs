//! Every format in small traces of our own making, and what must not go wrong
//! with any of them: cut anywhere, damaged anywhere, over any limit.

use std::io::Write as _;

use faultboard_domain::trace::{ActionKind, ExitStatus, Step, StepRole};
use faultboard_trace::{
    Limits, Trace, TraceError, detect, formats, read_page, read_trace, write_normalised,
};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<(Trace, Vec<Step>), TraceError> {
    let mut steps = Vec::new();
    let trace = read_trace(&mut &*bytes, &Limits::default(), &mut |s| steps.push(s))?;
    Ok((trace, steps))
}

/// A trace of each format: its id, its bytes, and the steps' roles and kinds.
fn fixtures() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let text = |s: &str| s.as_bytes().to_vec();
    vec![
        (
            "mini-swe-agent",
            text(
                r#"{"info":{"model_stats":{"instance_cost":0.5,"api_calls":2},"mini_version":"2.2.8","exit_status":"Submitted","submission":"diff"},"messages":[
{"role":"system","content":"You help."},{"role":"user","content":"Mend it."},
{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat raft.go\"}"}}],"extra":{"actions":[{"command":"cat raft.go","tool_call_id":"c1"}],"cost":0.25,"response":{"usage":{"prompt_tokens":10,"completion_tokens":3}}}},
{"role":"tool","tool_call_id":"c1","content":"<returncode>0</returncode>\n<output>\npackage raft\n</output>","extra":{"raw_output":"package raft\n","returncode":0}},
{"role":"assistant","content":"Done.","extra":{"actions":[{"command":"sed -i s/a/b/ raft.go && echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}],"cost":0.25}},
{"role":"exit","content":"diff","extra":{"exit_status":"Submitted","submission":"diff"}}],"trajectory_format":"mini-swe-agent-1.1","instance_id":"raft-1"}"#,
            ),
            vec!["system", "user", "read", "submit"],
        ),
        (
            "mini-swe-agent",
            text(
                "[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"t\"},{\"role\":\"assistant\",\"content\":\"THOUGHT: x\\n\\n```bash\\ngo test ./...\\n```\"},{\"role\":\"user\",\"content\":\"<returncode>1</returncode>\\n<output>\\nFAIL\\n</output>\"}]",
            ),
            vec!["system", "user", "test"],
        ),
        (
            "trajectory",
            text(
                r#"{"bug_id":"kafka-1","model":"m","messages":[{"role":"user","content":"Find it."},{"role":"assistant","content":"I search.","tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{\"command\":\"grep -rn x .\"}"}}]},{"role":"tool","tool_call_id":"a","content":"a.c:1:x"}],"exit_status":"submitted","stats":{"cost":0.1,"input_tokens":5,"output_tokens":6}}"#,
            ),
            vec!["user", "search"],
        ),
        (
            "trajectory",
            text(
                "{\"thought\":\"look\",\"action\":\"ls\",\"observation\":\"a\"}\n{\"thought\":\"edit\",\"action\":\"sed -i s/a/b/ a.c\",\"observation\":\"\",\"exit_code\":0}\n",
            ),
            vec!["read", "edit"],
        ),
        (
            "swe-agent",
            text(
                r#"{"environment":"main","trajectory":[{"action":"open a.py","observation":"x","response":"r","thought":"t","state":"{\"open_file\":\"a.py\"}"},{"action":"edit 1:1\ny\nend_of_edit","observation":"ok","response":"r","thought":"t","state":"{\"open_file\":\"a.py\"}"},{"action":"submit","observation":"","response":"r","thought":"t"}],"history":[{"role":"system","content":"s","agent":"primary"},{"role":"user","content":"i","agent":"primary"},{"role":"assistant","content":"r","agent":"primary"}],"info":{"exit_status":"submitted","submission":"d","model_stats":{"instance_cost":1.5,"tokens_sent":9,"tokens_received":2,"api_calls":3}}}"#,
            ),
            vec!["system", "user", "read", "edit", "submit"],
        ),
        (
            "claude-code",
            text(
                r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}
{"type":"user","message":{"role":"user","content":"Mend it."},"session_id":"s"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm"}],"usage":{"input_tokens":3,"output_tokens":1}}}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/a.py"}}],"usage":{"input_tokens":3,"output_tokens":9,"cache_read_input_tokens":4}}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done","is_error":false}]}}
{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.2,"duration_ms":1500}
"#,
            ),
            vec!["user", "edit"],
        ),
        (
            "codex",
            text(
                r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Mend it."}]}}
{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"cargo build\"]}","call_id":"c"}}
{"timestamp":"2026-01-01T00:00:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"ok\",\"metadata\":{\"exit_code\":101}}"}}
"#,
            ),
            vec!["user", "build"],
        ),
        (
            "atif",
            text(
                r#"{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"a","version":"1","model_name":"m"},"steps":[{"step_id":1,"source":"user","message":"Mend it."},{"step_id":2,"source":"agent","message":"go","tool_calls":[{"tool_call_id":"t","function_name":"bash","arguments":{"command":"git log"}}],"observation":{"results":[{"source_call_id":"t","content":"c0ffee"}]},"metrics":{"prompt_tokens":4,"completion_tokens":2,"cost_usd":0.1}}],"final_metrics":{"total_prompt_tokens":4,"total_completion_tokens":2,"total_cost_usd":0.1}}"#,
            ),
            vec!["user", "vcs"],
        ),
        (
            "openhands",
            text(
                r#"[{"id":1,"source":"user","action":"message","args":{"content":"Mend it."}},{"id":2,"source":"agent","action":"run","args":{"command":"pytest","thought":"test"}},{"id":3,"source":"agent","observation":"run","cause":2,"content":"1 failed","extras":{"metadata":{"exit_code":1}}},{"id":4,"source":"agent","action":"finish","args":{"final_thought":"done"}}]"#,
            ),
            vec!["user", "test", "submit"],
        ),
        (
            "aider",
            text(
                "\n# aider chat started at 2026-01-01 00:00:00\n\n> Aider v0.86.0  \n> Main model: m with diff edit format  \n\n#### mend it  \n\nHere:\n\na.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n\n> Tokens: 1.5k sent, 20 received. Cost: $0.01 message, $0.01 session.  \n> Applied edit to a.py  \n> Commit abc1234 fix: x  \n",
            ),
            vec!["system", "tool", "user", "edit"],
        ),
        (
            "inspect",
            text(
                r#"{"version":2,"status":"success","eval":{"task":"t","model":"m/n","run_id":"r"},"stats":{"model_usage":{"m/n":{"input_tokens":5,"output_tokens":2}}},"samples":[{"id":1,"epoch":1,"messages":[{"role":"user","content":"attachment://aa"},{"role":"assistant","content":"x","tool_calls":[{"id":"c","function":"bash","arguments":{"cmd":"make"}}]},{"role":"tool","tool_call_id":"c","function":"bash","content":"ok"}],"attachments":{"aa":"Mend it."}}]}"#,
            ),
            vec!["user", "build"],
        ),
        ("inspect", archive(), vec!["user", "think"]),
        (
            "otel-genai",
            text(
                r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"b","parentSpanId":"a","name":"execute_tool get_file","startTimeUnixNano":"2000000000","endTimeUnixNano":"3000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"get_file"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\"path\":\"a.c\"}"}}]}]}]}]}
{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"a","name":"chat m","startTimeUnixNano":"1000000000","endTimeUnixNano":"2000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"I read.\"}]}]"}}]}]}]}]}
"#,
            ),
            vec!["read"],
        ),
        ("text", text("hello\nworld\n"), vec!["tool"]),
    ]
}

/// An Inspect archive with one sample.
fn archive() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, content) in [
        (
            "header.json",
            r#"{"version":2,"status":"success","eval":{"task":"t","model":"m/n"}}"#,
        ),
        (
            "samples/1_epoch_1.json",
            r#"{"id":1,"epoch":1,"messages":[{"role":"user","content":"Mend it."},{"role":"assistant","content":"No."}]}"#,
        ),
    ] {
        zip.start_file(name, options).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
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
