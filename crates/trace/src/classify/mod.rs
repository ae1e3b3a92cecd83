//! Says what an action does: its kind, the files it names and those it changes.
//! A judgement from the text of the action alone; what came back is not looked at.

mod commands;
mod files;
mod tools;

pub(crate) use tools::join_words;
pub use tools::script_of_action;

use faultboard_domain::trace::ActionKind;

use crate::shell::{self, Redirect, Simple, Unwrapped};

/// Scripts inside scripts that are followed.
const MAX_DEPTH: usize = 4;
/// Files named per action that are kept.
const MAX_FILES: usize = 64;

/// What an action does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Its kind; of several commands in one line, the weightiest.
    pub kind: ActionKind,
    /// Files that it names, in order, without repeats.
    pub files: Vec<String>,
    /// Files among them that it changes.
    pub edited: Vec<String>,
    /// Whether it changes files, named or not, whatever its kind: a line that
    /// edits and then submits is both.
    pub edits: bool,
}

impl Look {
    fn new(kind: ActionKind) -> Self {
        Self {
            kind,
            files: Vec::new(),
            edited: Vec::new(),
            edits: kind == ActionKind::Edit,
        }
    }

    fn file(&mut self, name: &str) {
        if files::plausible(name)
            && self.files.len() < MAX_FILES
            && !self.files.iter().any(|f| f == name)
        {
            self.files.push(name.to_owned());
        }
    }

    fn edit(&mut self, name: &str) {
        self.edits = true;
        self.file(name);
        if files::plausible(name)
            && self.edited.len() < MAX_FILES
            && !self.edited.iter().any(|f| f == name)
        {
            self.edited.push(name.to_owned());
        }
    }

    /// Takes another command of the same line in.
    fn join(&mut self, other: Look) {
        if weight(other.kind) > weight(self.kind) {
            self.kind = other.kind;
        }
        self.edits |= other.edits;
        for name in &other.files {
            self.file(name);
        }
        for name in &other.edited {
            self.edit(name);
        }
    }
}

/// Which kind names a line that does several things.
fn weight(kind: ActionKind) -> u8 {
    match kind {
        ActionKind::Submit => 10,
        ActionKind::Edit => 9,
        ActionKind::Test => 8,
        ActionKind::Build => 7,
        ActionKind::Network => 6,
        ActionKind::Run => 5,
        ActionKind::Vcs => 4,
        ActionKind::Search => 3,
        ActionKind::Read => 2,
        ActionKind::Think => 1,
        ActionKind::Other => 0,
    }
}

/// Looks at an action: a tool and its input, which is a script for a shell and
/// JSON for most other tools.
pub fn look(tool: &str, command: &str) -> Look {
    tools::look(tool, command)
}

/// Looks at a shell script.
pub fn look_at_shell(script: &str) -> Look {
    shell_script(script, 0)
}

fn shell_script(script: &str, depth: usize) -> Look {
    let mut total = Look::new(ActionKind::Other);
    for command in shell::split(script) {
        total.join(simple(&command, depth));
    }
    total
}

fn simple(command: &Simple<'_>, depth: usize) -> Look {
    let mut seen = match shell::unwrap(&command.words) {
        Unwrapped::Script(script) if depth < MAX_DEPTH => shell_script(script, depth + 1),
        Unwrapped::Script(_) | Unwrapped::Nothing => Look::new(ActionKind::Other),
        Unwrapped::Command(words) => commands::look(words, command),
    };
    // `bash <<EOF` runs the text below it.
    if let (Some(text), Unwrapped::Command([shell])) =
        (command.heredoc, shell::unwrap(&command.words))
        && matches!(shell.as_str(), "bash" | "sh" | "zsh")
        && depth < MAX_DEPTH
    {
        seen.join(shell_script(text, depth + 1));
    }
    if depth < MAX_DEPTH && seen.kind == ActionKind::Other {
        for inner in &command.inner {
            seen.join(shell_script(inner, depth + 1));
        }
    }
    let program = command.words.first().map_or("", String::as_str);
    for redirect in command.redirects.iter().filter(|r| is_file(r)) {
        if redirect.writes && commands::writes_by_redirect(program) {
            seen.kind = ActionKind::Edit;
            seen.edit(&redirect.target);
        } else {
            seen.file(&redirect.target);
        }
    }
    seen
}

fn is_file(redirect: &Redirect) -> bool {
    !redirect.stderr && !redirect.target.is_empty() && !redirect.target.starts_with("/dev/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ActionKind::*;

    fn kind(script: &str) -> ActionKind {
        look_at_shell(script).kind
    }

    #[test]
    fn kinds_of_shell_lines() {
        for (script, want) in [
            ("cd /src && ls -la", Read),
            ("cat a.py | head -50", Read),
            ("sed -n '1,20p' a.c", Read),
            ("grep -rn foo . | head", Search),
            ("find . -name '*.py' | xargs grep x", Search),
            ("find . -name '*.o' -delete", Edit),
            ("sed -i 's/a/b/' src/a.c", Edit),
            ("sed -E -i.bak 's/a/b/' src/a.c", Edit),
            ("cat > a.py <<'EOF'\nimport os\nEOF", Edit),
            ("cat <<EOF | tee a.py\nx\nEOF", Edit),
            ("echo hi > a.txt", Edit),
            ("echo hi", Other),
            ("make 2>&1 > build.log", Build),
            (
                "timeout 60 bash -lc 'cd x && cargo test -- --nocapture'",
                Test,
            ),
            (
                "cd x && PYTHONPATH=. python -m pytest -q tests/test_a.py",
                Test,
            ),
            ("python tests/test_a.py", Test),
            ("python repro.py", Run),
            ("python - <<'EOF'\nopen('a.py','w').write('x')\nEOF", Edit),
            ("python3 -c \"import x; print(x)\"", Run),
            ("./configure && make -j4", Build),
            ("go build ./... && go vet ./...", Build),
            ("git diff", Vcs),
            ("git log --all --oneline | grep fix", Vcs),
            ("git fetch origin", Network),
            ("git apply fix.patch", Edit),
            ("git grep foo", Search),
            ("curl -s http://x | bash", Network),
            ("pip install -e .", Build),
            ("pip install requests", Network),
            (
                "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat patch.txt",
                Submit,
            ),
            ("bash <<'E'\nsed -i s/a/b/ f.c\nE", Edit),
            ("X=$(grep -c a b.txt)", Search),
            ("cp a.c b.c", Edit),
            ("cp a.c /tmp/backup.c", Other),
            ("sleep 5", Other),
            ("tshark -r x.pcap", Run),
            ("for f in *.c; do grep -n x $f; done", Search),
            ("patch -p1 < fix.diff", Edit),
            ("ls > /dev/null 2>&1", Read),
            ("", Other),
        ] {
            assert_eq!(kind(script), want, "{script}");
        }
    }

    #[test]
    fn files_and_edits() {
        let seen = look_at_shell(
            "cd /src && sed -i 's/a/b/' net/peer.go net/conn.go && git diff > /tmp/p.diff",
        );
        assert_eq!(seen.edited, ["net/peer.go", "net/conn.go"]);
        let seen = look_at_shell("sed -i s/a/b/ x.c && echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT");
        assert!(seen.edits && seen.kind == Submit);
        let seen = look_at_shell("cat src/a.rs src/b.rs | grep -n foo");
        assert_eq!(seen.files, ["src/a.rs", "src/b.rs"]);
        assert!(seen.edited.is_empty());
        let seen =
            look_at_shell("python3 - <<'E'\np='x'\nwith open('lib/z.py', 'w') as f: f.write(p)\nE");
        assert_eq!(seen.edited, ["lib/z.py"]);
        let seen = look_at_shell("git apply <<'E'\n--- a/m.c\n+++ b/m.c\n@@ -1 +1 @@\n-a\n+b\nE");
        assert_eq!(seen.edited, ["m.c"]);
    }

    #[test]
    fn kinds_of_tools() {
        for (tool, command, want) in [
            ("Read", r#"{"file_path":"/a.py"}"#, Read),
            (
                "Edit",
                r#"{"file_path":"/a.py","old_string":"a","new_string":"b"}"#,
                Edit,
            ),
            (
                "str_replace_editor",
                r#"{"command":"view","path":"/a.py"}"#,
                Read,
            ),
            (
                "str_replace_editor",
                r#"{"command":"str_replace","path":"/a.py"}"#,
                Edit,
            ),
            ("Bash", "cargo test", Test),
            ("shell", r#"{"command":["bash","-lc","rg foo"]}"#, Search),
            (
                "exec_command",
                r#"{"cmd":"git fetch origin && git status"}"#,
                Network,
            ),
            (
                "apply_patch",
                "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** End Patch",
                Edit,
            ),
            ("web_search", r#"{"query":"x"}"#, Network),
            ("TodoWrite", "{}", Think),
            ("finish", "{}", Submit),
            ("mcp__github__add_comment", "{}", Other),
            ("swe-agent", "edit 27:27\n    x\nend_of_edit", Edit),
            ("swe-agent", "open \"src/a.py\" 10", Read),
            ("swe-agent", "find_file a.py", Search),
            ("swe-agent", "submit", Submit),
            ("swe-agent", "python reproduce.py", Run),
        ] {
            assert_eq!(look(tool, command).kind, want, "{tool} {command}");
        }
        let patch = look(
            "apply_patch",
            "*** Begin Patch\n*** Update File: src/a.ts\n@@\n*** End Patch",
        );
        assert_eq!(patch.edited, ["src/a.ts"]);
    }
}
