//! Chat messages as model interfaces exchange them, shared by the formats that
//! keep them: role, content, tool calls, tool answers.

use faultboard_domain::trace::{Observation, StepRole, Tokens};
use serde_json::Value;

use crate::assemble::{Assembler, observation};
use crate::json;

/// Input of a shell tool that tells how, not what, to run.
const SETTINGS: [&str; 14] = [
    "command",
    "cmd",
    "timeout",
    "timeout_ms",
    "yield_time_ms",
    "max_output_tokens",
    "tty",
    "login",
    "shell",
    "is_input",
    "blocking",
    "reset",
    "security_risk",
    "sandbox_permissions",
];

/// A tool call's input as the text of an action. A shell's script stands as it
/// is, other fields below it as comments, so that nothing the model wrote is lost.
pub(crate) fn command_of(tool: &str, input: &Value) -> String {
    let parsed = json::unwrapped(input);
    let Value::Object(map) = &parsed else {
        return json::command(&parsed);
    };
    let lower = tool.to_ascii_lowercase();
    let is_shell = [
        "bash",
        "shell",
        "exec",
        "terminal",
        "execute_bash",
        "run_command",
        "run",
    ]
    .iter()
    .any(|s| lower.contains(s));
    let script = ["command", "cmd"]
        .iter()
        .find_map(|k| map.get(*k))
        .filter(|_| is_shell);
    let mut text = match script {
        Some(Value::String(s)) => s.clone(),
        Some(Value::Array(words)) if words.iter().all(Value::is_string) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            crate::classify::join_words(&words)
        }
        _ => return parsed.to_string(),
    };
    for (key, value) in map {
        if SETTINGS.contains(&key.as_str()) {
            continue;
        }
        if let Some(said) = value.as_str().filter(|s| !s.is_empty()) {
            for line in said.lines() {
                text.push_str("\n# ");
                text.push_str(key);
                text.push_str(": ");
                text.push_str(line);
            }
        }
    }
    text
}

/// Tokens in any of the shapes that interfaces use. Prompt tokens include cached ones.
pub(crate) fn usage(value: &Value) -> Option<Tokens> {
    let pick = |keys: &[&[&str]]| keys.iter().find_map(|k| json::number(value, k));
    let input = pick(&[&["prompt_tokens"], &["input_tokens"], &["input"]]);
    let output = pick(&[&["completion_tokens"], &["output_tokens"], &["output"]]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = pick(&[
        &["cached_tokens"],
        &["cached_input_tokens"],
        &["prompt_tokens_details", "cached_tokens"],
        &["input_tokens_details", "cached_tokens"],
        &["prompt_cache_hit_tokens"],
        &["cache_read_tokens"],
    ])
    .unwrap_or(0);
    Some(Tokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached,
    })
}

/// Whether a tool's output says that part of it was cut out.
pub(crate) fn looks_cut(text: &str) -> bool {
    [
        "<output_head>",
        "elided_chars",
        "characters elided",
        "[truncated",
        "truncated]",
        "tokens truncated",
        "Output was truncated",
        "was too long to be displayed",
    ]
    .iter()
    .any(|mark| text.contains(mark))
}

/// Output of a tool, with a look at whether it was cut.
pub(crate) fn output(text: impl Into<String>, exit_code: Option<i64>) -> Observation {
    let mut seen = observation(text, exit_code);
    seen.truncated = looks_cut(&seen.text);
    seen
}

/// The role of a message.
pub(crate) fn role(name: &str) -> StepRole {
    match name {
        "system" | "developer" => StepRole::System,
        "assistant" | "agent" | "ai" | "model" => StepRole::Assistant,
        "tool" | "function" | "environment" | "exit" | "observation" => StepRole::Tool,
        _ => StepRole::User,
    }
}

/// The reasoning that some interfaces put beside the content.
pub(crate) fn reasoning(message: &Value) -> Option<&str> {
    ["reasoning_content", "reasoning", "thinking"]
        .iter()
        .find_map(|k| json::text(message, &[k]))
        .filter(|t| !t.trim().is_empty())
}

/// Adds the tool calls of a message, in any of the usual shapes; gives their number.
pub(crate) fn tool_calls(message: &Value, start: Option<f64>, out: &mut Assembler<'_>) -> usize {
    let Some(calls) = json::at(message, &["tool_calls"]).and_then(Value::as_array) else {
        return 0;
    };
    for call in calls {
        let function = call.get("function").unwrap_or(&Value::Null);
        let name = json::text(call, &["function", "name"])
            .or_else(|| function.as_str())
            .or_else(|| json::text(call, &["function_name"]))
            .or_else(|| json::text(call, &["name"]))
            .unwrap_or("tool");
        let input = function
            .get("arguments")
            .or_else(|| call.get("arguments"))
            .or_else(|| call.get("args"))
            .unwrap_or(&Value::Null);
        let id = json::text(call, &["id"]).or_else(|| json::text(call, &["tool_call_id"]));
        out.count("tool", name);
        out.call(name, command_of(name, input), id, start);
    }
    calls.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shell_input_becomes_a_script_and_loses_nothing() {
        let input = json!({"command": ["bash", "-lc", "ls -la"], "workdir": "/x", "timeout_ms": 5});
        assert_eq!(command_of("shell", &input), "ls -la\n# workdir: /x");
        let text = Value::String("{\"command\":\"a\\nb\",\"description\":\"why\"}".into());
        assert_eq!(command_of("Bash", &text), "a\nb\n# description: why");
        assert_eq!(
            command_of("Read", &json!({"path": "a"})),
            "{\"path\":\"a\"}"
        );
        assert_eq!(
            command_of("apply_patch", &Value::String("*** Begin Patch".into())),
            "*** Begin Patch"
        );
    }

    #[test]
    fn usage_in_its_shapes() {
        let openai = json!({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}});
        assert_eq!(
            usage(&openai),
            Some(Tokens {
                input: 5,
                output: 2,
                cached: 3
            })
        );
        assert_eq!(
            usage(&json!({"input_tokens": "7"})),
            Some(Tokens {
                input: 7,
                output: 0,
                cached: 0
            })
        );
        assert_eq!(usage(&json!({})), None);
    }
}
