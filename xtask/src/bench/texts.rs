//! Texts as agents leave them, made up by code and always the same: prose, commands,
//! listings, logs, test runs with colours, JSON within JSON, diffs, other alphabets. No
//! row's result depends on what they say, only on how such text is made up.

use std::fmt::Write as _;

/// A generator of numbers and of texts out of them.
pub(super) struct Texts(u64);

const WORDS: &[&str] = &[
    "leader",
    "follower",
    "term",
    "commit",
    "index",
    "entry",
    "vote",
    "node",
    "timeout",
    "heartbeat",
    "append",
    "snapshot",
    "log",
    "replica",
    "quorum",
    "the",
    "a",
    "after",
    "before",
    "when",
    "is",
    "was",
    "not",
    "because",
    "message",
    "state",
    "client",
    "request",
    "epoch",
    "partition",
    "retry",
    "connection",
    "socket",
    "buffer",
    "offset",
    "election",
    "restart",
    "peer",
    "channel",
    "lock",
];

const FILES: &[&str] = &[
    "src/main/java/org/example/replication/ReplicaManager.java",
    "server/etcdserver/raft_node.go",
    "src/raft/log_storage.rs",
    "pysyncobj/transport.py",
    "lib/broker/partition_state.erl",
];

impl Texts {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % n.max(1)
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.next(WORDS.len())]
    }

    fn file(&mut self) -> &'static str {
        FILES[self.next(FILES.len())]
    }

    /// What a model thinks aloud.
    pub(super) fn thought(&mut self, words: usize) -> String {
        let mut out = String::new();
        for i in 0..words {
            out.push_str(self.word());
            match self.next(14) {
                0 => out.push_str(". "),
                1 => out.push_str(", "),
                2 if i % 5 == 0 => {
                    let (a, b) = (self.word(), self.word());
                    let _ = write!(out, " `{a}.{b}()` ");
                }
                3 if i % 31 == 0 => out.push_str(" — "),
                _ => out.push(' '),
            }
        }
        out
    }

    /// What a model types.
    pub(super) fn command(&mut self) -> String {
        let (file, word) = (self.file(), self.word());
        let n = self.next(400);
        match self.next(5) {
            0 => format!("sed -n '{n},{}p' {file}", n + 60),
            1 => format!("grep -rn \"{word}\" --include='*.py' . | head -{}", n % 50),
            2 => format!("python -m pytest -x -q {file} 2>&1 | tail -n 30"),
            3 => format!("cat > /tmp/try.py <<'PY'\nprint(\"{word}\\n\")\nPY\npython /tmp/try.py"),
            _ => format!("cd /workspace && ls -la {file} && wc -l {file}"),
        }
    }

    /// What a tool gives back: about so many bytes.
    pub(super) fn output(&mut self, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes + 400);
        let kind = self.next(7);
        let mut line = self.next(900);
        while out.len() < bytes {
            line += 1;
            match kind {
                0 => self.code(&mut out, line),
                1 => self.log(&mut out, line),
                2 => self.tests(&mut out),
                3 => self.json(&mut out, line),
                4 => self.diff(&mut out),
                5 => {
                    let (file, w) = (self.file(), self.word());
                    let _ = writeln!(out, "{file}:{line}:    self.{w}[index] = {w}_{line}");
                }
                _ => {
                    let n = self.next(40);
                    out.push_str(&self.thought(n + 5));
                    out.push('\n');
                }
            }
        }
        out
    }

    fn code(&mut self, out: &mut String, line: usize) {
        let (a, b, c) = (self.word(), self.word(), self.word());
        let _ = match self.next(8) {
            0 => writeln!(
                out,
                "{line:>6}\t    if (this.{a} == null || {b}.{c}() < {line}) {{"
            ),
            1 => writeln!(
                out,
                "{line:>6}\t        throw new IllegalStateException(\"{a} \" + {b});"
            ),
            2 => writeln!(out, "{line:>6}\t    // {a} {b} the {c} of an earlier {a}"),
            3 => writeln!(
                out,
                "{line:>6}\t        fmt.Printf(\"%s: {a} %d\\n\", {b}, {c})"
            ),
            4 => writeln!(out, "{line:>6}"),
            5 => writeln!(out, "{line:>6}\t    }}"),
            _ => writeln!(
                out,
                "{line:>6}\t        self.{a}_{b} = {c}.get({a}, {line})"
            ),
        };
    }

    fn log(&mut self, out: &mut String, line: usize) {
        let (a, b, c) = (self.word(), self.word(), self.word());
        let (n, m) = (self.next(60), self.next(1_000));
        let _ = writeln!(
            out,
            "2024-03-{:02} 12:{n:02}:07,{m:03} [{a}-{}] INFO org.example.{b}.Node - {c} {a} at term {line} ({b}={m})",
            n % 28 + 1,
            m % 9,
        );
    }

    fn tests(&mut self, out: &mut String) {
        let (a, b) = (self.word(), self.word());
        let n = self.next(100);
        let _ = match self.next(12) {
            0 => writeln!(
                out,
                "\u{1b}[31mFAILED\u{1b}[0m tests/test_{a}.py::test_{b}_{n} - assert {n} == 7"
            ),
            1 => writeln!(
                out,
                "tests/test_{a}.py::test_{b}_{n} \u{1b}[33mSKIPPED\u{1b}[0m (ünder load) [{n:>3}%]"
            ),
            _ => writeln!(
                out,
                "tests/test_{a}.py::test_{b}_{n} \u{1b}[32mPASSED\u{1b}[0m [{n:>3}%]"
            ),
        };
    }

    fn json(&mut self, out: &mut String, line: usize) {
        let (a, b, c) = (self.word(), self.word(), self.word());
        let m = self.next(100_000);
        let _ = match self.next(6) {
            0 => writeln!(
                out,
                "{{\"level\":\"warn\",\"msg\":\"{a} \\\"{b}\\\" of {c}\\n\",\"ts\":{line}.{m},\"url\":\"http:\\/\\/10.0.0.{}:2380\\/raft\"}}",
                m % 250
            ),
            1 => writeln!(
                out,
                "{{\"{a}\":\"{m:016x}{line:016x}\",\"{b}\":[{line},{m}],\"{c}\":null}}"
            ),
            _ => writeln!(
                out,
                "{{\"level\":\"info\",\"{a}\":{line},\"{b}\":\"{c}\",\"took\":\"{m}µs\"}}"
            ),
        };
    }

    fn diff(&mut self, out: &mut String) {
        let (a, b) = (self.word(), self.word());
        let sign = ["+", "-", " ", " ", " "][self.next(5)];
        let n = self.next(500);
        let _ = match self.next(16) {
            0 => writeln!(out, "@@ -{n},7 +{n},9 @@ class {a}"),
            _ => writeln!(out, "{sign}        {a} = self.{b}({n})  # {b}"),
        };
    }
}
