//! What a single shell command does, by its program.

use faultboard_domain::trace::ActionKind;

use super::{Look, files};
use crate::shell::Simple;

/// Words that a scaffold takes for "I am done".
const SUBMIT_WORDS: [&str; 4] = [
    "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
    "MINI_SWE_AGENT_FINAL_OUTPUT",
    "NANO_SWE_AGENT_FINAL_OUTPUT",
    "SWE_AGENT_SUBMISSION",
];

/// Whether output of a program that is sent to a file makes that file the
/// point of the command (`cat > a.py`) and not a log of it (`make > log`).
pub(crate) fn writes_by_redirect(program: &str) -> bool {
    matches!(
        base(program),
        "cat"
            | "echo"
            | "printf"
            | "sed"
            | "awk"
            | "perl"
            | "tr"
            | ""
            | "base64"
            | "head"
            | "tail"
            | "jq"
            | ":"
    )
}

fn base(program: &str) -> &str {
    program.rsplit(['/', '\\']).next().unwrap_or(program)
}

fn operands(words: &[String]) -> impl Iterator<Item = &str> {
    words
        .iter()
        .map(String::as_str)
        .filter(|w| !w.starts_with('-'))
}

fn has(words: &[String], wanted: &[&str]) -> bool {
    words.iter().any(|w| wanted.contains(&w.as_str()))
}

/// What a command does. `words` is not empty; `command` has what stands around them.
pub(crate) fn look(words: &[String], command: &Simple<'_>) -> Look {
    use ActionKind as K;
    let Some((first, rest)) = words.split_first() else {
        return Look::new(K::Other);
    };
    let program = base(first);
    match program {
        "cat" | "head" | "tail" | "less" | "more" | "nl" | "tac" | "bat" | "batcat" | "zcat"
        | "od" | "xxd" | "hexdump" | "strings" | "wc" | "file" | "stat" | "ls" | "tree" | "du"
        | "diff" | "cmp" | "comm" | "sort" | "uniq" | "cut" | "column" | "objdump" | "readelf"
        | "nm" | "ldd" | "md5sum" | "sha256sum" | "basename" | "dirname" | "realpath"
        | "readlink" | "view" | "jq" | "yq" | "ll" | "dir" | "type" | "Get-Content" => {
            named(K::Read, rest)
        }
        "sed" => sed(rest),
        "awk" | "gawk" | "mawk" => {
            if has(rest, &["inplace"]) {
                edits(rest)
            } else {
                named(K::Read, rest)
            }
        }
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" => named(K::Search, rest),
        "find" | "fd" | "fdfind" => find(rest),
        "locate" | "which" | "whereis" | "ctags" | "cscope" => Look::new(K::Search),
        "tee" => {
            let mut seen = Look::new(K::Other);
            for name in operands(rest).filter(|n| !n.starts_with("/dev/")) {
                seen.kind = K::Edit;
                seen.edit(name);
            }
            seen
        }
        "patch" | "apply_patch" | "applypatch" => patch(rest, command),
        "ed" | "ex" | "vi" | "vim" | "nvim" | "nano" | "emacs" => edits(rest),
        "perl" | "ruby" if rest.iter().any(|w| in_place(w)) => edits(rest),
        "dd" => match rest.iter().find_map(|w| w.strip_prefix("of=")) {
            Some(target) if !files::scratch(target) => edited(target),
            _ => Look::new(K::Other),
        },
        "cp" | "mv" | "rm" | "ln" | "install" | "truncate" | "unlink" | "rmdir" | "rsync" => {
            moved(program, rest)
        }
        "git" | "hg" | "svn" | "jj" => git(rest, command),
        "gh" | "glab" | "curl" | "wget" | "http" | "https" | "ssh" | "scp" | "sftp" | "ftp"
        | "telnet" | "nc" | "ncat" | "ping" | "dig" | "nslookup" | "host" | "traceroute"
        | "lynx" | "w3m" | "aria2c" | "apt" | "apt-get" | "yum" | "dnf" | "apk" | "brew"
        | "pacman" | "gem" => Look::new(K::Network),
        "make" | "gmake" | "ninja" | "bazel" | "bazelisk" | "buck2" | "sbt" | "mill" | "rake"
        | "just" | "meson" | "cmake" | "ant" | "mvn" | "mvnw" | "gradle" | "gradlew" | "rebar3"
        | "mix" | "dotnet" | "stack" | "cabal" | "zig" | "swift" => build_tool(rest),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "rustc" | "javac" | "kotlinc"
        | "scalac" | "ghc" | "tsc" | "configure" | "autogen.sh" | "autoreconf" | "ld" | "ar"
        | "protoc" | "build.sh" | "ponyc" => named(K::Build, rest),
        "cargo" => cargo(rest),
        "go" => go(rest),
        "npm" | "yarn" | "pnpm" | "bun" | "deno" => node_packages(rest),
        "pip" | "pip3" | "uv" | "poetry" | "conda" | "mamba" | "pdm" => pip(rest),
        "pytest" | "py.test" | "tox" | "nox" | "nosetests" | "trial" | "jest" | "vitest"
        | "mocha" | "ava" | "ctest" | "rspec" | "phpunit" | "gotestsum" | "ginkgo"
        | "runtests.py" | "runtests" | "nextest" | "stestr" => named(K::Test, rest),
        "python" | "python2" | "python3" | "pypy" | "pypy3" | "ipython" | "node" | "nodejs"
        | "ruby" | "perl" | "php" | "Rscript" | "lua" => interpreter(program, rest, command),
        "java" | "bash" | "sh" | "zsh" | "docker" | "docker-compose" | "podman" | "kubectl"
        | "gdb" | "lldb" | "valgrind" | "rr" => script_file(rest),
        "echo" | "printf" => {
            if rest
                .iter()
                .any(|w| SUBMIT_WORDS.iter().any(|s| w.contains(s)))
            {
                Look::new(K::Submit)
            } else {
                Look::new(K::Other)
            }
        }
        "submit" | "exit_forfeit" => Look::new(K::Submit),
        "cd" | "pushd" | "popd" | "pwd" | "export" | "unset" | "set" | "source" | "." | "alias"
        | "true" | "false" | ":" | "test" | "[" | "[[" | "sleep" | "wait" | "date" | "whoami"
        | "id" | "hostname" | "uname" | "env" | "printenv" | "mkdir" | "touch" | "chmod"
        | "chown" | "kill" | "pkill" | "killall" | "ps" | "top" | "free" | "df" | "mount"
        | "history" | "clear" | "read" | "local" | "declare" | "return" | "exit" | "break"
        | "continue" | "trap" | "ulimit" | "jobs" | "fg" | "bg" | "for" | "case" | "select"
        | "function" | "in" | "tar" | "unzip" | "zip" | "gzip" | "gunzip" | "xz" | "seq"
        | "yes" | "tr" | "base64" | "man" | "help" | "xargs" | "sudo" | "timeout" | "nohup"
        | "shopt" | "let" | "expr" => Look::new(K::Other),
        _ => unknown(first, rest),
    }
}

fn named(kind: ActionKind, rest: &[String]) -> Look {
    let mut seen = Look::new(kind);
    for word in rest.iter().filter(|w| files::pathlike(w)) {
        seen.file(word);
    }
    seen
}

fn edited(target: &str) -> Look {
    let mut seen = Look::new(ActionKind::Edit);
    seen.edit(target);
    seen
}

/// An edit of every operand that looks like a file.
fn edits(rest: &[String]) -> Look {
    let mut seen = Look::new(ActionKind::Edit);
    for word in rest.iter().filter(|w| files::pathlike(w)) {
        seen.edit(word);
    }
    seen
}

/// `-i`, `-pi`, `-i.bak`, `--in-place`.
fn in_place(word: &str) -> bool {
    if word.starts_with("--") {
        return word.starts_with("--in-place");
    }
    word.strip_prefix('-').is_some_and(|letters| {
        let short: String = letters
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        short.len() <= 5 && short.contains('i')
    })
}

fn sed(rest: &[String]) -> Look {
    if !rest.iter().any(|w| in_place(w)) {
        return named(ActionKind::Read, rest);
    }
    let mut seen = Look::new(ActionKind::Edit);
    let given = has(rest, &["-e", "-f", "--expression", "--file"]);
    let mut script_gone = given;
    let mut previous = "";
    for word in rest {
        let is_value = matches!(previous, "-e" | "-f" | "--expression" | "--file");
        previous = word;
        if word.starts_with('-') || is_value || word.is_empty() {
            continue;
        }
        if !script_gone {
            script_gone = true;
            continue;
        }
        seen.edit(word);
    }
    seen
}

fn find(rest: &[String]) -> Look {
    if has(rest, &["-delete"]) {
        return Look::new(ActionKind::Edit);
    }
    let run = rest
        .iter()
        .position(|w| w == "-exec" || w == "-execdir" || w == "-x");
    if let Some(at) = run
        && let Some(inner) = rest.get(at + 1..)
        && !inner.is_empty()
    {
        let mut seen = look(inner, &Simple::default());
        if matches!(seen.kind, ActionKind::Read | ActionKind::Other) {
            seen.kind = ActionKind::Search;
        }
        return seen;
    }
    let mut seen = Look::new(ActionKind::Search);
    for word in rest
        .iter()
        .take_while(|w| !w.starts_with('-'))
        .filter(|w| files::pathlike(w))
    {
        seen.file(word);
    }
    seen
}

fn patch(rest: &[String], command: &Simple<'_>) -> Look {
    let mut seen = Look::new(ActionKind::Edit);
    let inline = rest
        .iter()
        .find(|w| w.contains("*** Begin Patch"))
        .map(String::as_str);
    for name in command
        .heredoc
        .or(inline)
        .map(files::of_patch)
        .into_iter()
        .flatten()
    {
        seen.edit(&name);
    }
    seen
}

fn moved(program: &str, rest: &[String]) -> Look {
    let names: Vec<&str> = operands(rest).collect();
    let touched: &[&str] = match program {
        // The target is what changes; a move takes its source away too.
        "cp" | "ln" | "install" | "rsync" => names.last().map_or(&[], std::slice::from_ref),
        _ => &names,
    };
    let mut seen = Look::new(ActionKind::Other);
    for name in touched.iter().filter(|n| !files::scratch(n)) {
        seen.kind = ActionKind::Edit;
        seen.edit(name);
    }
    seen
}

fn git(rest: &[String], command: &Simple<'_>) -> Look {
    use ActionKind as K;
    let mut words = rest.iter().peekable();
    let mut sub = "";
    while let Some(word) = words.next() {
        match word.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" => {
                words.next();
            }
            w if w.starts_with('-') => {}
            w => {
                sub = w;
                break;
            }
        }
    }
    match sub {
        "apply" | "am" => {
            let mut seen = patch(rest, command);
            if has(rest, &["--check", "--stat"]) {
                seen = Look::new(K::Vcs);
            }
            seen
        }
        "rm" | "mv" => edits(rest),
        "grep" | "ls-files" => named(K::Search, rest),
        "clone" | "fetch" | "pull" | "push" | "ls-remote" => Look::new(K::Network),
        "submodule" | "remote" if has(rest, &["update", "add"]) => Look::new(K::Network),
        _ => named(K::Vcs, rest),
    }
}

fn build_tool(rest: &[String]) -> Look {
    let tests = operands(rest).any(|w| {
        w.starts_with("test")
            || w.ends_with("test")
            || w.ends_with(":test")
            || matches!(w, "check" | "verify" | "ct" | "eunit")
    });
    Look::new(if tests {
        ActionKind::Test
    } else {
        ActionKind::Build
    })
}

fn cargo(rest: &[String]) -> Look {
    let sub = operands(rest).find(|w| !w.starts_with('+')).unwrap_or("");
    Look::new(match sub {
        "test" | "nextest" | "bench" | "miri" | "t" => ActionKind::Test,
        "run" | "r" => ActionKind::Run,
        "build" | "check" | "clippy" | "b" | "c" | "rustc" | "doc" | "fmt" | "expand" => {
            ActionKind::Build
        }
        "fetch" | "install" | "add" | "update" | "search" | "publish" => ActionKind::Network,
        "tree" | "metadata" => ActionKind::Read,
        _ => ActionKind::Run,
    })
}

fn go(rest: &[String]) -> Look {
    Look::new(match operands(rest).next().unwrap_or("") {
        "test" => ActionKind::Test,
        "build" | "vet" | "install" | "generate" | "fmt" => ActionKind::Build,
        "get" | "mod" | "work" => ActionKind::Network,
        "doc" | "list" | "env" | "version" => ActionKind::Read,
        _ => ActionKind::Run,
    })
}

fn node_packages(rest: &[String]) -> Look {
    let mut names = operands(rest);
    let sub = names.next().unwrap_or("install");
    let script = if sub == "run" {
        names.next().unwrap_or("")
    } else {
        sub
    };
    Look::new(if script.starts_with("test") || script == "t" {
        ActionKind::Test
    } else if ["build", "compile", "tsc", "typecheck", "lint", "check"]
        .iter()
        .any(|s| script.starts_with(s))
    {
        ActionKind::Build
    } else if matches!(
        sub,
        "install" | "ci" | "i" | "add" | "update" | "view" | "info" | "search" | "create" | "dlx"
    ) {
        ActionKind::Network
    } else {
        ActionKind::Run
    })
}

fn pip(rest: &[String]) -> Look {
    let installs = operands(rest).any(|w| {
        matches!(
            w,
            "install" | "add" | "sync" | "download" | "create" | "update"
        )
    });
    let local = operands(rest).any(|w| w == "." || w.starts_with("./") || w.starts_with(".["))
        || has(rest, &["-e", "--editable"]);
    Look::new(match (installs, local) {
        (true, true) => ActionKind::Build,
        (true, false) => ActionKind::Network,
        _ if has(rest, &["build"]) => ActionKind::Build,
        _ => ActionKind::Read,
    })
}

fn interpreter(program: &str, rest: &[String], command: &Simple<'_>) -> Look {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-m" if program.starts_with("py") || program == "ipython" => {
                let module = words.next().map_or("", String::as_str);
                let left = words.as_slice();
                return match module.split('.').next().unwrap_or("") {
                    "pytest" | "unittest" | "nose" | "nose2" | "doctest" | "tox" | "twisted" => {
                        named(ActionKind::Test, left)
                    }
                    "pip" => pip(left),
                    "build" | "compileall" | "py_compile" => named(ActionKind::Build, left),
                    "json" => named(ActionKind::Read, left),
                    _ => named(ActionKind::Run, left),
                };
            }
            "-c" | "-e" | "--eval" | "-pe" | "-ne" | "-r" => {
                return program_text(words.next().map_or("", String::as_str));
            }
            "-W" | "-X" => {
                words.next();
            }
            "-" => break,
            w if w.starts_with('-') => {}
            file => {
                return script_file(&rest[rest.len() - words.as_slice().len() - 1..])
                    .or_program(file);
            }
        }
    }
    match command.heredoc {
        Some(text) => program_text(text),
        None => Look::new(ActionKind::Run),
    }
}

fn program_text(text: &str) -> Look {
    match files::of_program(text) {
        Some(names) => {
            let mut seen = Look::new(ActionKind::Edit);
            for name in names {
                seen.edit(&name);
            }
            seen
        }
        None => Look::new(ActionKind::Run),
    }
}

impl Look {
    /// `setup.py build` builds, `manage.py test` tests.
    fn or_program(mut self, file: &str) -> Self {
        if base(file) == "setup.py" {
            self.kind = ActionKind::Build;
        }
        self
    }
}

/// A script in a file: its name tells tests from the rest.
fn script_file(rest: &[String]) -> Look {
    let mut seen = named(ActionKind::Run, rest);
    let file = rest
        .iter()
        .find(|w| !w.starts_with('-'))
        .map_or("", String::as_str);
    let name = base(file);
    let stem = name.split('.').next().unwrap_or(name);
    let is_test = stem.starts_with("test_")
        || stem.ends_with("_test")
        || matches!(
            stem,
            "test" | "tests" | "runtests" | "run_tests" | "run-tests"
        )
        || (name == "manage.py" && has(rest, &["test"]));
    if is_test {
        seen.kind = ActionKind::Test;
    }
    seen
}

fn unknown(first: &str, rest: &[String]) -> Look {
    let mut words = vec![first.to_owned()];
    words.extend_from_slice(rest);
    if !first
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || "./~_$".contains(c))
    {
        return Look::new(ActionKind::Other);
    }
    let mut seen = script_file(&words);
    if base(first) == "test" || base(first).ends_with("_test") {
        seen.kind = ActionKind::Test;
    }
    seen
}
