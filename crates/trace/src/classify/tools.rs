//! What a tool call does, by the tool's name and input.

use faultboard_domain::trace::{Action, ActionKind};
use serde_json::Value;

use super::{Look, files, look_at_shell};
use crate::json;

/// Keys under which tools name a file.
const FILE_KEYS: [&str; 9] = [
    "file_path",
    "path",
    "file",
    "filename",
    "file_name",
    "notebook_path",
    "filePath",
    "target_file",
    "relative_path",
];

/// The word that means a shell, whatever the scaffold calls it.
fn is_shell(tool: &str) -> bool {
    matches!(
        tool,
        "bash"
            | "shell"
            | "sh"
            | "zsh"
            | "terminal"
            | "execute_bash"
            | "exec_command"
            | "local_shell"
            | "run"
            | "run_command"
            | "run_shell_command"
            | "run_terminal_cmd"
            | "execute_command"
            | "command_execution"
            | "cmd_run"
            | "bash_command"
            | "exec"
            | "powershell"
            | "console"
            | "run_in_terminal"
            | "mini-swe-agent"
            | "execute"
            | "shell_command"
            | "container.exec"
    )
}

/// The shell's script of an action; none where its tool is no shell.
pub fn script_of_action(action: &Action) -> Option<String> {
    let name = action.tool.to_ascii_lowercase();
    let name = name.rsplit("__").next().unwrap_or(&name);
    is_shell(name).then(|| script_of(&action.command))
}

/// Looks at a tool call.
pub(crate) fn look(tool: &str, command: &str) -> Look {
    let name = tool.to_ascii_lowercase();
    let name = name.rsplit("__").next().unwrap_or(&name);
    let is_mcp = tool.starts_with("mcp__");
    if is_shell(name) {
        return look_at_shell(&script_of(command));
    }
    if name == "swe-agent" {
        return swe_agent(command);
    }
    let input: Value = serde_json::from_str(command).unwrap_or(Value::Null);
    let kind = kind_of(name, &input, command);
    // A tool of another server that is called `create` creates no file here.
    if is_mcp && matches!(kind, ActionKind::Edit | ActionKind::Submit) && !mcp_files(tool) {
        return Look::new(ActionKind::Other);
    }
    let mut seen = Look::new(kind);
    if kind == ActionKind::Edit {
        for file in files::of_patch(patch_text(&input).unwrap_or(command)) {
            seen.edit(&file);
        }
    }
    if matches!(
        name,
        "python" | "ipython" | "run_ipython" | "execute_ipython_cell" | "jupyter"
    ) {
        let code = ["code", "command", "input"]
            .iter()
            .find_map(|k| json::text(&input, &[k]))
            .unwrap_or(command);
        if let Some(names) = files::of_program(code) {
            seen = Look::new(ActionKind::Edit);
            for file in names {
                seen.edit(&file);
            }
        }
    }
    for file in named_files(&input) {
        if kind == ActionKind::Edit {
            seen.edit(&file);
        } else {
            seen.file(&file);
        }
    }
    seen
}

fn mcp_files(tool: &str) -> bool {
    tool.contains("filesystem") || tool.contains("__fs__") || tool.contains("edit")
}

fn patch_text(input: &Value) -> Option<&str> {
    ["patch", "input", "diff", "changes"]
        .iter()
        .find_map(|k| json::text(input, &[k]))
}

fn named_files(input: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for key in FILE_KEYS {
        if let Some(name) = json::text(input, &[key]) {
            out.push(name.to_owned());
        }
    }
    for key in ["paths", "files", "changes"] {
        match input.get(key) {
            Some(Value::Array(list)) => out.extend(
                list.iter()
                    .filter_map(|v| v.as_str().or_else(|| json::text(v, &["path"])))
                    .map(str::to_owned)
                    .take(64),
            ),
            Some(Value::Object(map)) => out.extend(map.keys().take(64).cloned()),
            _ => {}
        }
    }
    out
}

/// The script in a shell tool's input: text, `{"command": text}`, or a list of words.
pub(crate) fn script_of(command: &str) -> String {
    if !command.trim_start().starts_with(['{', '[']) {
        return command.to_owned();
    }
    let Ok(input) = serde_json::from_str::<Value>(command) else {
        return command.to_owned();
    };
    let script = ["command", "cmd", "script", "input", "keystrokes"]
        .iter()
        .find_map(|k| input.get(k))
        .unwrap_or(&input);
    match script {
        Value::String(s) => s.clone(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            join_words(&words)
        }
        _ => command.to_owned(),
    }
}

/// Words of an argument vector as one line, quoted where a shell would need it.
/// `bash -lc script` comes down to the script.
pub(crate) fn join_words(words: &[&str]) -> String {
    if let [shell, flag, script] = words
        && matches!(shell.rsplit('/').next(), Some("bash" | "sh" | "zsh"))
        && flag.starts_with('-')
        && flag.contains('c')
    {
        return (*script).to_owned();
    }
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        let plain = !word.is_empty()
            && word
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_./:=,@%+".contains(&b));
        if plain {
            out.push_str(word);
        } else {
            out.push('\'');
            out.push_str(&word.replace('\'', "'\\''"));
            out.push('\'');
        }
    }
    out
}

fn kind_of(name: &str, input: &Value, command: &str) -> ActionKind {
    use ActionKind as K;
    match name {
        "str_replace_editor"
        | "str_replace_based_edit_tool"
        | "file_editor"
        | "text_editor"
        | "editor" => match json::text(input, &["command"]) {
            Some("view") => K::Read,
            Some(_) => K::Edit,
            None if command.trim_start().starts_with("view") => K::Read,
            None => K::Edit,
        },
        "read" | "read_file" | "view" | "view_file" | "open" | "open_file" | "get_file"
        | "notebookread" | "ls" | "list_dir" | "list_directory" | "list_files"
        | "read_many_files" | "goto" | "scroll_up" | "scroll_down" | "file_read"
        | "read_text_file" | "view_image" | "get_files" => K::Read,
        "grep" | "glob" | "search" | "search_dir" | "search_file" | "find_file"
        | "search_files" | "code_search" | "file_search" | "codebase_search" | "grep_search"
        | "search_code" | "find" | "ripgrep" | "toolsearch" => K::Search,
        "edit"
        | "write"
        | "multiedit"
        | "notebookedit"
        | "create"
        | "insert"
        | "str_replace"
        | "apply_patch"
        | "create_file"
        | "edit_file"
        | "write_file"
        | "replace_in_file"
        | "write_to_file"
        | "apply_diff"
        | "replace"
        | "file_change"
        | "delete_file"
        | "insert_edit_into_file"
        | "patch"
        | "file_write"
        | "edit_block" => K::Edit,
        "web_fetch" | "webfetch" | "web_search" | "websearch" | "fetch" | "browse" | "browser"
        | "browse_interactive" | "browser_navigate" | "url_fetch" | "web_browser"
        | "http_request" | "google_search" => K::Network,
        "submit" | "finish" | "attempt_completion" | "task_complete" | "complete" | "done"
        | "final_answer" | "mark_task_complete" => K::Submit,
        "think" | "todowrite" | "update_plan" | "todo" | "plan" | "write_todos"
        | "exitplanmode" | "task_tracker" | "sequentialthinking" | "todoread" => K::Think,
        "run_build" | "build" | "get_errors" => K::Build,
        "run_tests" | "test" | "run_test" | "runtests" => K::Test,
        "python"
        | "ipython"
        | "run_ipython"
        | "execute_ipython_cell"
        | "jupyter"
        | "calculator"
        | "write_stdin" => K::Run,
        _ => K::Other,
    }
}

/// SWE-agent's own commands, then the shell's.
fn swe_agent(command: &str) -> Look {
    let first = command.split_whitespace().next().unwrap_or("");
    let argument = command
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().nth(1))
        .map(|w| w.trim_matches(['"', '\'']));
    let kind = match first {
        "open" | "goto" | "scroll_up" | "scroll_down" | "view" => ActionKind::Read,
        "find_file" | "search_dir" | "search_file" => ActionKind::Search,
        "edit" | "create" | "insert" | "replace" | "append" => ActionKind::Edit,
        "str_replace_editor" => match argument {
            Some("view") => ActionKind::Read,
            _ => ActionKind::Edit,
        },
        "submit" | "exit_forfeit" => ActionKind::Submit,
        _ => return look_at_shell(command),
    };
    let mut seen = Look::new(kind);
    let file = match first {
        "open" | "create" => argument,
        "str_replace_editor" => command.split_whitespace().nth(2),
        _ => None,
    };
    if let Some(file) = file {
        if kind == ActionKind::Edit {
            seen.edit(file);
        } else {
            seen.file(file);
        }
    }
    seen
}
