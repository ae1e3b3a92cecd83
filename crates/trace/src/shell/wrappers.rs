//! Looks through commands that only run another one: `timeout 5 make` is `make`.

/// What a simple command comes down to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unwrapped<'w> {
    /// A program and its arguments.
    Command(&'w [String]),
    /// A script for another shell.
    Script(&'w str),
    /// Nothing but settings, such as `X=1`.
    Nothing,
}

const MAX_LAYERS: usize = 12;

/// The name of a program without its folder.
pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Looks through assignments, shell keywords and wrapper commands.
pub(crate) fn unwrap(words: &[String]) -> Unwrapped<'_> {
    let mut words = words;
    for _ in 0..MAX_LAYERS {
        while let Some(first) = words.first() {
            let keyword = matches!(
                first.as_str(),
                "if" | "then"
                    | "else"
                    | "elif"
                    | "do"
                    | "while"
                    | "until"
                    | "{"
                    | "}"
                    | "!"
                    | "fi"
                    | "done"
                    | "esac"
            );
            if !keyword && !is_assignment(first) {
                break;
            }
            words = &words[1..];
        }
        let Some(first) = words.first() else {
            return Unwrapped::Nothing;
        };
        let rest = &words[1..];
        let inner = match base(first) {
            "sudo" | "doas" => after_options(rest, &["-u", "-g", "-C", "-h", "-p", "-U", "-D"]),
            "env" => after_options(rest, &["-u", "-C", "--unset", "--chdir"]),
            "timeout" | "gtimeout" => skip(
                after_options(rest, &["-s", "-k", "--signal", "--kill-after"]),
                1,
            ),
            "nice" | "ionice" => after_options(rest, &["-n", "-c", "-p"]),
            "taskset" | "chroot" | "flock" => skip(after_options(rest, &["-w"]), 1),
            "nohup" | "time" | "exec" | "command" | "builtin" | "setsid" | "unbuffer"
            | "eatmydata" | "strace" | "ltrace" | "catchsegv" => {
                after_options(rest, &["-o", "-e", "-p", "-f"])
            }
            "stdbuf" => after_options(rest, &["-i", "-o", "-e"]),
            "xargs" | "parallel" => after_options(
                rest,
                &["-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "-j"],
            ),
            "bash" | "sh" | "zsh" | "dash" | "ash" | "fish" => match script(rest) {
                Some(text) => return Unwrapped::Script(text),
                None => return Unwrapped::Command(words),
            },
            "eval" => match rest {
                [only] => return Unwrapped::Script(only),
                _ => rest,
            },
            "su" => match rest.iter().position(|w| w == "-c") {
                Some(at) if at + 1 < rest.len() => return Unwrapped::Script(&rest[at + 1]),
                _ => return Unwrapped::Command(words),
            },
            "docker" | "podman" if rest.first().is_some_and(|w| w == "exec") => skip(
                after_options(
                    &rest[1..],
                    &[
                        "-u",
                        "-w",
                        "-e",
                        "--user",
                        "--workdir",
                        "--env",
                        "--env-file",
                    ],
                ),
                1,
            ),
            "uv" | "poetry" | "pipenv" | "hatch" | "pdm" | "rye"
                if rest.first().is_some_and(|w| w == "run") =>
            {
                after_options(
                    &rest[1..],
                    &[
                        "--with",
                        "--python",
                        "-p",
                        "--project",
                        "--directory",
                        "--env-file",
                    ],
                )
            }
            "conda" | "mamba" | "micromamba" if rest.first().is_some_and(|w| w == "run") => {
                after_options(&rest[1..], &["-n", "-p", "--name", "--prefix", "--cwd"])
            }
            "bundle" if rest.first().is_some_and(|w| w == "exec") => &rest[1..],
            "npx" | "bunx" => after_options(rest, &["-p", "--package"]),
            _ => return Unwrapped::Command(words),
        };
        if inner.is_empty() {
            return Unwrapped::Command(words);
        }
        words = inner;
    }
    Unwrapped::Command(words)
}

/// What follows the options; those listed take the next word with them.
fn after_options<'w>(mut words: &'w [String], with_value: &[&str]) -> &'w [String] {
    while let Some(first) = words.first() {
        if first == "--" {
            return &words[1..];
        }
        if !first.starts_with('-') || first == "-" {
            // env A=1 B=2 program
            if is_assignment(first) {
                words = &words[1..];
                continue;
            }
            return words;
        }
        let width = if with_value.contains(&first.as_str()) {
            2
        } else {
            1
        };
        words = words.get(width..).unwrap_or(&[]);
    }
    words
}

fn skip(words: &[String], n: usize) -> &[String] {
    words.get(n..).unwrap_or(&[])
}

/// The script of `bash -lc 'script'`.
fn script(arguments: &[String]) -> Option<&str> {
    let mut words = arguments.iter();
    let mut takes = false;
    while let Some(word) = words.next() {
        match word.strip_prefix(['-', '+']) {
            // `-o pipefail` takes a word with it.
            Some("o" | "O") => {
                words.next();
            }
            Some(letters) => takes |= !letters.starts_with('-') && letters.contains('c'),
            None => return takes.then_some(word.as_str()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split('|').map(str::to_owned).collect()
    }

    fn inner(text: &str) -> String {
        let w = words(text);
        match unwrap(&w) {
            Unwrapped::Command(c) => c.join(" "),
            Unwrapped::Script(s) => format!("script: {s}"),
            Unwrapped::Nothing => String::new(),
        }
    }

    #[test]
    fn layers_come_off() {
        assert_eq!(inner("timeout|-k|1|5|make|-j2"), "make -j2");
        assert_eq!(
            inner("A=1|sudo|-u|root|env|B=2|nice|-n|5|pytest|-q"),
            "pytest -q"
        );
        assert_eq!(inner("bash|-lc|cd x && ls"), "script: cd x && ls");
        assert_eq!(inner("bash|-o|pipefail|-c|ls"), "script: ls");
        assert_eq!(inner("bash|run.sh|-c"), "bash run.sh -c");
        assert_eq!(inner("xargs|-I|{}|sed|-i|s/a/b/|{}"), "sed -i s/a/b/ {}");
        assert_eq!(inner("docker|exec|-it|-w|/x|box|cargo|test"), "cargo test");
        assert_eq!(inner("X=1"), "");
        assert_eq!(inner("timeout|5"), "timeout 5");
        assert_eq!(inner("while|!|grep|x|y"), "grep x y");
    }
}
