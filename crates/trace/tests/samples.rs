//! Reads real traces by others and compares what the readers say with facts that
//! an independent script counted. The files are not part of this repository:
//! they lie in the folder that `FAULTBOARD_SAMPLES` names, or beside the
//! workspace; without them these tests say loudly that they proved nothing.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use faultboard_domain::trace::{ActionKind, ExitStatus, Step, StepRole};
use faultboard_trace::{Limits, Trace, read_trace, segments};
use serde_json::Value;

struct Sample {
    path: String,
    facts: Value,
    trace: Trace,
    steps: Vec<Step>,
}

impl Sample {
    fn fact(&self, key: &str) -> &Value {
        &self.facts[key]
    }

    fn count(&self, key: &str) -> u64 {
        self.trace.account.counts.get(key).copied().unwrap_or(0)
    }

    /// Compares a count with a fact, where there is one.
    fn same(&self, key: &str, fact: &str) {
        if let Some(want) = self.fact(fact).as_u64() {
            assert_eq!(self.count(key), want, "{}: {fact}", self.path);
        }
    }

    /// Compares counts by kind with a fact that is an object.
    fn same_kinds(&self, kind: &str, fact: &str) {
        let Some(want) = self.fact(fact).as_object() else {
            return;
        };
        let prefix = format!("{kind}:");
        let got: BTreeMap<&str, u64> = self
            .trace
            .account
            .counts
            .iter()
            .filter_map(|(k, n)| Some((k.strip_prefix(&prefix)?, *n)))
            .collect();
        let want: BTreeMap<&str, u64> = want
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_u64().unwrap()))
            .collect();
        assert_eq!(got, want, "{}: {fact}", self.path);
    }

    fn money(&self, fact: &Value) {
        match fact.as_f64() {
            Some(want) => {
                let got = self
                    .trace
                    .summary
                    .cost
                    .unwrap_or_else(|| panic!("{}: no cost", self.path));
                assert!(
                    (got - want).abs() < 1e-9,
                    "{}: cost {got} is not {want}",
                    self.path
                );
            }
            None => assert_eq!(
                self.trace.summary.cost, None,
                "{}: a cost from nowhere",
                self.path
            ),
        }
    }

    fn actions(&self) -> usize {
        self.steps
            .iter()
            .filter(|s| s.role == StepRole::Assistant && s.action.is_some())
            .count()
    }
}

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("FAULTBOARD_SAMPLES").map(PathBuf::from);
    let beside = || {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        Some(root.ancestors().nth(3)?.join("shared").join("samples"))
    };
    named
        .or_else(beside)
        .filter(|f| f.join("expected.json").is_file())
}

/// The samples below a folder; loudly none where there are none.
fn samples(below: &str) -> Vec<Sample> {
    let Some(folder) = folder() else {
        // Straight to the terminal: the test runner swallows what a passing test prints.
        let _ = writeln!(
            std::io::stderr(),
            "NO SAMPLES: set FAULTBOARD_SAMPLES to their folder; readers of `{below}` were NOT compared with real traces"
        );
        return Vec::new();
    };
    let list: Vec<Value> =
        serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let mut out = Vec::new();
    for entry in list {
        let path = entry["path"].as_str().unwrap().to_owned();
        if !path.starts_with(below) {
            continue;
        }
        let bytes = std::fs::read(folder.join(&path)).unwrap();
        let mut steps = Vec::new();
        let trace = read_trace(&mut bytes.as_slice(), &Limits::default(), &mut |s| {
            steps.push(s)
        })
        .unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(trace.summary.steps as usize, steps.len(), "{path}");
        assert!(
            steps.iter().enumerate().all(|(i, s)| s.index as usize == i),
            "{path}: gaps"
        );
        out.push(Sample {
            path,
            facts: entry["facts"].clone(),
            trace,
            steps,
        });
    }
    assert!(!out.is_empty(), "no samples under {below}");
    out
}

#[test]
fn every_file_is_read_and_its_format_is_known() {
    for s in samples("") {
        let format = s.trace.summary.format.as_str();
        let name = s.path.rsplit('/').next().unwrap();
        let want = match s.path.split('/').next().unwrap() {
            "mini-swe-agent" => "mini-swe-agent",
            "swe-agent" => "swe-agent",
            "harbor-atif"
                if name.contains("atif-v") || s.path.ends_with("regex-log/trajectory.json") =>
            {
                "atif"
            }
            "inspect" if name != "long_log.eval" => "inspect",
            "claude-code" => "claude-code",
            "codex" if !name.starts_with("not-jsonl") => "codex",
            "aider" => "aider",
            "openhands" => "openhands",
            "otel-genai" => "otel-genai",
            _ => "",
        };
        if want.is_empty() {
            assert!(
                matches!(format, "text" | "trajectory"),
                "{} is no trace but was read as {format}",
                s.path
            );
        } else {
            assert!(format.starts_with(want), "{}: read as {format}", s.path);
        }
    }
}

#[test]
fn mini_swe_agent() {
    for s in samples("mini-swe-agent/") {
        if let Some(format) = s.fact("trajectory_format").as_str() {
            assert_eq!(s.trace.summary.format, format, "{}", s.path);
        }
        s.same("messages", "messages");
        s.same_kinds("role", "by_role");
        assert_eq!(
            u64::from(s.trace.summary.turns),
            s.fact("assistant_turns").as_u64().unwrap(),
            "{}",
            s.path
        );
        assert_eq!(
            s.actions() as u64,
            s.fact("shell_actions").as_u64().unwrap(),
            "{}",
            s.path
        );
        s.same("api_calls", "api_calls");
        s.money(s.fact("instance_cost"));
        assert_eq!(
            s.trace.account.exit_word.as_deref(),
            s.fact("exit_status").as_str(),
            "{}",
            s.path
        );
        assert_eq!(
            s.trace.account.subject.as_deref(),
            s.fact("instance_id").as_str(),
            "{}",
            s.path
        );
        let patch = s.trace.account.final_patch.as_deref();
        assert_eq!(
            patch.map(|p| p.chars().count() as u64),
            s.fact("submission_chars").as_u64(),
            "{}",
            s.path
        );
        if s.fact("exit_status") == "Submitted" {
            assert_eq!(s.trace.summary.exit, ExitStatus::Submitted, "{}", s.path);
        }
        if let Some(want) = s.fact("prompt_tokens").as_u64() {
            let tokens = s.trace.summary.tokens.unwrap();
            assert_eq!(tokens.input, want, "{}", s.path);
            assert_eq!(
                tokens.output,
                s.fact("completion_tokens").as_u64().unwrap(),
                "{}",
                s.path
            );
        }
        assert_eq!(
            s.trace.summary.first_edit.map(u64::from),
            s.fact("first_edit_turn").as_u64(),
            "{}: first edit",
            s.path
        );
    }
}

#[test]
fn swe_agent() {
    for s in samples("swe-agent/") {
        s.same("steps", "steps");
        s.same("actions", "steps_with_action");
        s.same("empty observations", "steps_with_empty_observation");
        s.same("demo", "demo_messages_in_history");
        s.same_kinds("history", "history_by_role");
        s.money(s.fact("instance_cost"));
        assert_eq!(
            s.trace.account.exit_word.as_deref(),
            s.fact("exit_status").as_str(),
            "{}",
            s.path
        );
        let patch = s.trace.account.final_patch.as_deref();
        assert_eq!(
            patch.map(|p| p.chars().count() as u64),
            s.fact("submission_chars").as_u64(),
            "{}",
            s.path
        );
        if let Some(sent) = s.fact("tokens_sent").as_u64() {
            let tokens = s.trace.summary.tokens.unwrap();
            assert_eq!(
                (tokens.input, tokens.output),
                (sent, s.fact("tokens_received").as_u64().unwrap()),
                "{}",
                s.path
            );
        }
        let steps = s.fact("steps").as_u64().unwrap();
        if steps > 0 {
            assert_eq!(u64::from(s.trace.summary.turns), steps, "{}", s.path);
            assert_eq!(
                s.trace.summary.first_edit.map(u64::from),
                s.fact("first_edit_step").as_u64(),
                "{}: first edit",
                s.path
            );
        } else {
            assert_eq!(
                u64::from(s.trace.summary.turns),
                s.fact("history_by_role")["assistant"].as_u64().unwrap(),
                "{}",
                s.path
            );
        }
    }
}

#[test]
fn atif() {
    for s in samples("harbor-atif/")
        .into_iter()
        .filter(|s| s.trace.summary.format.starts_with("atif"))
    {
        let each: Vec<Value> = match s.fact("each").as_array() {
            Some(list) => list.clone(),
            None => vec![s.facts.clone()],
        };
        let sum = |key: &str| each.iter().filter_map(|f| f[key].as_u64()).sum::<u64>();
        assert_eq!(s.count("steps"), sum("steps"), "{}", s.path);
        assert_eq!(s.count("tool_calls"), sum("tool_calls"), "{}", s.path);
        if s.fact("observation_results").is_u64() && !s.path.contains("regex-log") {
            assert_eq!(
                s.count("observation_results"),
                sum("observation_results"),
                "{}",
                s.path
            );
        }
        let agents: u64 = each
            .iter()
            .filter_map(|f| f["by_source"]["agent"].as_u64())
            .sum();
        assert_eq!(s.count("source:agent"), agents, "{}", s.path);
        assert_eq!(u64::from(s.trace.summary.turns), agents, "{}", s.path);
        s.same("trajectories", "trajectories");
        if let Some(version) = s.fact("schema_version").as_str() {
            assert!(
                version.ends_with(s.trace.summary.format.trim_start_matches("atif-")),
                "{}",
                s.path
            );
        }
        let total = &s.fact("final_metrics")["total_prompt_tokens"];
        if let Some(total) = total.as_u64().filter(|t| *t > 0) {
            assert_eq!(s.trace.summary.tokens.unwrap().input, total, "{}", s.path);
        }
        if let Some(cost) = s.fact("final_metrics")["total_cost_usd"]
            .as_f64()
            .filter(|c| *c > 0.0)
        {
            assert!(
                (s.trace.summary.cost.unwrap() - cost).abs() < 1e-9,
                "{}",
                s.path
            );
        }
        let answered = s
            .steps
            .iter()
            .filter(|st| st.action.is_some() && st.observation.is_some())
            .count() as u64;
        if s.fact("observation_results").as_u64() == s.fact("tool_calls").as_u64()
            && s.fact("tool_calls").is_u64()
        {
            assert_eq!(answered, sum("tool_calls"), "{}: answers", s.path);
        }
    }
}

#[test]
fn claude_code() {
    for s in samples("claude-code/") {
        s.same("records", "records");
        s.same_kinds("type", "by_type");
        s.same_kinds("tool", "tools");
        s.same("tool_results", "tool_result_blocks");
        s.same("tool_errors", "tool_result_errors");
        s.same("prompts", "typed_user_prompts");
        s.same("sidechain", "sidechain_records");
        let distinct = s.fact("distinct_assistant_message_ids").as_u64().unwrap();
        if distinct > 0 {
            assert_eq!(
                u64::from(s.trace.summary.turns),
                distinct,
                "{}: turns",
                s.path
            );
        }
        assert_eq!(
            s.actions() as u64,
            s.fact("tool_use_blocks").as_u64().unwrap(),
            "{}",
            s.path
        );
        let sum = |key: &str| s.fact(key).as_u64().unwrap_or(0);
        let input = sum("sum_input_tokens")
            + sum("sum_cache_creation_input_tokens")
            + sum("sum_cache_read_input_tokens");
        let tokens = s.trace.summary.tokens.unwrap_or_default();
        assert_eq!(tokens.input, input, "{}", s.path);
        assert_eq!(
            tokens.cached,
            sum("sum_cache_read_input_tokens"),
            "{}",
            s.path
        );
        assert_eq!(tokens.output, sum("sum_output_tokens"), "{}", s.path);
        if let Some(cost) = s.fact("result")["total_cost_usd"].as_f64() {
            assert!(
                (s.trace.summary.cost.unwrap() - cost).abs() < 1e-9,
                "{}",
                s.path
            );
        }
        if let Some(ms) = s.fact("result")["duration_ms"].as_f64() {
            assert_eq!(s.trace.summary.seconds, Some(ms / 1000.0), "{}", s.path);
        }
        // The fact counts edits by tool only; a shell may have edited before.
        if let Some(first) = s.fact("first_edit_turn").as_u64() {
            let ours = s.steps.iter().find(|st| {
                st.action.as_ref().is_some_and(|a| {
                    matches!(
                        a.tool.as_str(),
                        "Edit" | "Write" | "MultiEdit" | "NotebookEdit"
                    )
                })
            });
            assert_eq!(
                ours.and_then(|st| st.turn).map(u64::from),
                Some(first),
                "{}",
                s.path
            );
            assert!(
                u64::from(s.trace.summary.first_edit.unwrap()) <= first,
                "{}",
                s.path
            );
        }
    }
}

#[test]
fn codex() {
    for s in samples("codex/")
        .into_iter()
        .filter(|s| s.trace.summary.format == "codex")
    {
        s.same("lines", "lines");
        s.same_kinds("type", "by_type");
        s.same_kinds("event", "event_msgs");
        s.same_kinds("item", "response_items");
        s.same_kinds("item", "completed_items");
        s.same("calls", "tool_calls");
        s.same("outputs", "tool_outputs");
        s.same_kinds("tool", "tool_names");
        if let Some(calls) = s.fact("tool_calls").as_u64() {
            assert_eq!(s.actions() as u64, calls, "{}", s.path);
            let open = s
                .steps
                .iter()
                .filter(|st| st.action.is_some() && st.observation.is_none())
                .count() as u64;
            assert_eq!(
                open,
                s.fact("calls_without_output").as_u64().unwrap(),
                "{}: unanswered",
                s.path
            );
        }
        s.same("role:assistant", "assistant_messages");
        let total = s.fact("last_total_token_usage");
        if let Some(input) = total["input_tokens"].as_u64() {
            let tokens = s.trace.summary.tokens.unwrap();
            assert_eq!(tokens.input, input, "{}", s.path);
            assert_eq!(
                tokens.cached,
                total["cached_input_tokens"].as_u64().unwrap(),
                "{}",
                s.path
            );
            assert_eq!(
                tokens.output,
                total["output_tokens"].as_u64().unwrap(),
                "{}",
                s.path
            );
        }
        if let Some(model) = s.fact("models").get(0).and_then(Value::as_str) {
            assert_eq!(s.trace.account.model.as_deref(), Some(model), "{}", s.path);
        }
        if let Some(at) = s.fact("first_edit_tool_call").as_u64() {
            let calls: Vec<&Step> = s.steps.iter().filter(|st| st.action.is_some()).collect();
            let ours = calls.iter().position(|st| {
                let a = st.action.as_ref().unwrap();
                faultboard_trace::look(&a.tool, &a.command).edits
            });
            assert_eq!(
                ours.map(|n| n as u64 + 1),
                Some(at),
                "{}: first edit",
                s.path
            );
        } else if s.fact("tool_calls").is_u64() {
            assert_eq!(s.trace.summary.first_edit, None, "{}: first edit", s.path);
        }
        if let Some(codes) = s.fact("exit_codes").as_array() {
            let ours: Vec<Option<i64>> = s
                .steps
                .iter()
                .filter(|st| st.action.is_some())
                .map(|st| st.observation.as_ref().and_then(|o| o.exit_code))
                .collect();
            assert_eq!(
                ours,
                codes.iter().map(Value::as_i64).collect::<Vec<_>>(),
                "{}",
                s.path
            );
        }
    }
}

#[test]
fn codex_refuses_a_log_that_is_no_json() {
    for s in samples("codex/not-jsonl") {
        assert_eq!(s.trace.summary.format, "text");
        assert!(!s.trace.summary.notes.is_empty());
        s.same("lines", "lines");
    }
}

#[test]
fn openhands() {
    let mut folders: BTreeMap<String, Vec<Sample>> = BTreeMap::new();
    for s in samples("openhands/") {
        if s.path.contains("/v1-events__") {
            let folder = s.path.rsplit_once('/').unwrap().0.to_owned();
            assert_eq!(
                s.count(&format!("kind:{}", s.fact("kind").as_str().unwrap())),
                1,
                "{}",
                s.path
            );
            if s.fact("kind") == "ActionEvent" {
                let tool = s.fact("tool_name").as_str().unwrap();
                assert_eq!(s.steps[0].action.as_ref().unwrap().tool, tool, "{}", s.path);
            }
            folders.entry(folder).or_default().push(s);
            continue;
        }
        let each: Vec<Value> = match s.fact("each").as_array() {
            Some(list) => list.clone(),
            None => vec![s.facts.clone()],
        };
        let sum = |key: &str| each.iter().filter_map(|f| f[key].as_u64()).sum::<u64>();
        assert_eq!(s.count("events"), sum("events"), "{}", s.path);
        for (fact, kind) in [
            ("actions", "action"),
            ("observations", "observation"),
            ("by_kind", "kind"),
        ] {
            let mut want: BTreeMap<String, u64> = BTreeMap::new();
            for f in &each {
                for (name, n) in f[fact].as_object().into_iter().flatten() {
                    *want.entry(name.clone()).or_default() += n.as_u64().unwrap();
                }
            }
            for (name, n) in want {
                assert_eq!(
                    s.count(&format!("{kind}:{name}")),
                    n,
                    "{}: {fact} {name}",
                    s.path
                );
            }
        }
        if let Some(last) = each.last().and_then(|f| f["git_patch_chars"].as_u64()) {
            let patch = s.trace.account.final_patch.as_deref().unwrap();
            assert_eq!(patch.chars().count() as u64, last, "{}", s.path);
        }
        let cost: f64 = each
            .iter()
            .filter_map(|f| f["accumulated_cost"].as_f64())
            .sum();
        assert!(
            (s.trace.summary.cost.unwrap_or(0.0) - cost).abs() < 1e-9,
            "{}",
            s.path
        );
        // Where the counted edits are edit events, ours is there too.
        if each.iter().any(|f| f["first_edit_event"].is_u64()) {
            assert!(
                s.trace.summary.first_edit.is_some(),
                "{}: first edit",
                s.path
            );
        }
    }
    for (folder, files) in folders {
        assert!(files.len() >= 5, "{folder}");
        assert!(files.iter().all(|s| s.steps.len() == 1), "{folder}");
    }
}

#[test]
fn aider() {
    for s in samples("aider/") {
        for (key, fact) in [
            ("lines", "lines"),
            ("sessions", "sessions"),
            ("prompt_lines", "prompt_lines"),
            ("prompts", "prompt_blocks"),
            ("tool_lines", "tool_lines"),
            ("applied", "applied_edit_lines"),
            ("commits", "commit_lines"),
            ("token_lines", "token_lines"),
            ("cost_lines", "cost_lines"),
        ] {
            s.same(key, fact);
        }
        let cost = s.fact("sum_message_cost_usd").as_f64().unwrap();
        assert!(
            (s.trace.summary.cost.unwrap_or(0.0) - cost).abs() < 1e-6,
            "{}",
            s.path
        );
        let edits = s
            .steps
            .iter()
            .filter(|st| {
                st.action
                    .as_ref()
                    .is_some_and(|a| a.kind == ActionKind::Edit)
            })
            .count();
        assert_eq!(
            edits > 0,
            s.fact("applied_edit_lines").as_u64().unwrap() > 0,
            "{}",
            s.path
        );
    }
}

#[test]
fn inspect() {
    for s in samples("inspect/") {
        if s.fact("zip") == false {
            assert!(
                s.trace.summary.notes.iter().any(|n| n.contains("Git LFS")),
                "{}",
                s.path
            );
            continue;
        }
        s.same("samples", "samples");
        s.same("messages", "messages");
        s.same("tool_calls", "tool_calls");
        s.same("role:assistant", "assistant_messages");
        assert_eq!(
            u64::from(s.trace.summary.turns),
            s.fact("assistant_messages").as_u64().unwrap(),
            "{}",
            s.path
        );
        assert_eq!(
            s.count(&format!("task:{}", s.fact("task").as_str().unwrap())),
            1,
            "{}",
            s.path
        );
        if s.fact("assistant_messages").as_u64() > Some(0) {
            assert!(s.trace.account.model.is_some(), "{}", s.path);
        }
        let usage = s.fact("model_usage").as_object();
        let input: u64 = usage
            .into_iter()
            .flatten()
            .filter_map(|(_, u)| u["input"].as_u64())
            .sum();
        assert_eq!(
            s.trace.summary.tokens.unwrap_or_default().input,
            input,
            "{}",
            s.path
        );
    }
}

#[test]
fn otel() {
    for s in samples("otel-genai/") {
        s.same("spans", "spans");
        s.same("spans", "observations");
        s.same("roots", "root_spans");
        s.same("roots", "root_observations");
        s.same_kinds("operation", "by_operation");
        s.same_kinds("type", "by_type");
        if s.fact("tools").is_object() {
            s.same_kinds("tool", "tools");
        }
        let tokens = s.trace.summary.tokens.unwrap_or_default();
        for (input, output) in [
            ("sum_input_tokens", "sum_output_tokens"),
            ("sum_prompt_tokens", "sum_completion_tokens"),
        ] {
            if let Some(want) = s.fact(input).as_u64() {
                assert_eq!(tokens.input, want, "{}: {input}", s.path);
                assert_eq!(
                    tokens.output,
                    s.fact(output).as_u64().unwrap(),
                    "{}: {output}",
                    s.path
                );
            }
        }
        if let Some(cost) = s.fact("sum_total_cost").as_f64() {
            assert!(
                (s.trace.summary.cost.unwrap_or(0.0) - cost).abs() < 1e-6,
                "{}",
                s.path
            );
        }
    }
}

#[test]
fn what_the_model_saw_comes_out_for_scanning() {
    for s in samples("mini-swe-agent/1__") {
        let first = s.steps.iter().flat_map(segments).next().unwrap();
        assert_eq!(first.source.as_str(), "prompt", "{}", s.path);
        let texts: usize = s
            .steps
            .iter()
            .flat_map(segments)
            .map(|g| g.text.len())
            .sum();
        assert!(texts > 10_000, "{}: {texts}", s.path);
    }
}

#[test]
fn real_traces_cut_short_never_panic() {
    let Some(folder) = folder() else {
        let _ = writeln!(
            std::io::stderr(),
            "NO SAMPLES: real traces were NOT cut short"
        );
        return;
    };
    for s in samples("") {
        let bytes = std::fs::read(folder.join(&s.path)).unwrap();
        for part in 1..12_usize {
            // Odd places, not only round ones.
            let end = (bytes.len() * part / 12).saturating_sub(part * 7 % 13);
            let cut = &bytes[..end];
            let read = read_trace(&mut &*cut, &Limits::default(), &mut |_| {});
            if let Err(error) = read {
                assert!(
                    error.offset() <= end as u64,
                    "{} cut at {end}: {error}",
                    s.path
                );
            }
        }
    }
}
