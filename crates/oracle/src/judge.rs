//! The verdict, as pure functions: what one run of an oracle said, and what
//! several runs of it come to. Anything that is not clearly PASS or FAIL is an
//! error, never a guess.

use faultboard_domain::Outcome;
use faultboard_sandbox::{Captured, Exit, RunResult, Stopped};

/// What one run of the oracle said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The bug is gone.
    Pass,
    /// The bug is there.
    Fail,
    /// It ran out of time.
    Timeout,
    /// Neither can be said.
    Error,
}

/// The judgement on one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What it said.
    pub verdict: Verdict,
    /// Its message, or why there is none; at most 500 characters, without the nonce.
    pub message: String,
    /// Marker lines without the right nonce: somebody else printed them.
    pub forged: usize,
}

/// The facts that a verdict rests on.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// How the oracle's first process ended.
    pub exit: Exit,
    /// Whether the runtime stopped it.
    pub stopped: Option<Stopped>,
    /// Whether the memory limit killed something.
    pub oom: bool,
    /// Its standard output.
    pub stdout: &'a Captured,
}

impl<'a> From<&'a RunResult> for Evidence<'a> {
    fn from(run: &'a RunResult) -> Self {
        Self {
            exit: run.exit,
            stopped: run.stopped,
            oom: run.oom,
            stdout: &run.stdout,
        }
    }
}

/// Judges one run. `nonce` is the secret that the markers must bring back;
/// `None` for imported oracles that opted out.
pub fn judge(evidence: &Evidence<'_>, nonce: Option<&str>) -> Judged {
    let (markers, forged) = markers(evidence.stdout, nonce);
    let error = |message: String| Judged {
        verdict: Verdict::Error,
        message: clean(&message, nonce),
        forged,
    };
    match evidence.stopped {
        Some(Stopped::TimedOut) => {
            return Judged {
                verdict: Verdict::Timeout,
                message: "the oracle ran out of time".into(),
                forged,
            };
        }
        Some(Stopped::QuotaExceeded) => {
            return error("the oracle wrote more than its disk quota".into());
        }
        Some(Stopped::Cancelled) => return error("the run was cancelled".into()),
        None => {}
    }
    let of = |pass: bool| {
        markers
            .iter()
            .rev()
            .find(|(p, _)| *p == pass)
            .map(|(_, m)| m.clone())
    };
    let agree = |pass: bool| markers.iter().all(|(p, _)| *p == pass);
    match evidence.exit {
        Exit::Code(0) if agree(true) && !markers.is_empty() => Judged {
            verdict: Verdict::Pass,
            message: clean(&of(true).unwrap_or_default(), nonce),
            forged,
        },
        Exit::Code(1) if agree(false) && !markers.is_empty() => Judged {
            verdict: Verdict::Fail,
            message: clean(&of(false).unwrap_or_default(), nonce),
            forged,
        },
        _ if evidence.oom => {
            error("the oracle's container ran out of memory before there was a verdict".into())
        }
        Exit::Code(code) if markers.is_empty() => {
            error(format!("exit status {code} without a verdict line"))
        }
        Exit::Code(code) => error(format!("exit status {code} contradicts its verdict lines")),
        Exit::Signal(signal) => error(format!("signal {signal} ended the oracle")),
    }
}

/// Genuine markers as (is PASS, message), and the number of others.
fn markers(stdout: &Captured, nonce: Option<&str>) -> (Vec<(bool, String)>, usize) {
    let mut found = Vec::new();
    let mut forged = 0;
    for line in stdout.whole_lines() {
        let (pass, rest) = match (line.strip_prefix(b"PASS:"), line.strip_prefix(b"FAIL:")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => continue,
        };
        let message = match nonce {
            Some(nonce) => rest.strip_suffix(format!(" [{nonce}]").as_bytes()),
            None => Some(rest),
        };
        match message {
            Some(message) => found.push((pass, String::from_utf8_lossy(message).trim().to_owned())),
            None => forged += 1,
        }
    }
    (found, forged)
}

fn clean(text: &str, nonce: Option<&str>) -> String {
    let text = match nonce {
        Some(nonce) if !nonce.is_empty() => text.replace(nonce, "nonce"),
        _ => text.to_owned(),
    };
    text.chars().filter(|c| !c.is_control()).take(500).collect()
}

/// What all repeats come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combined {
    /// The attempt's outcome.
    pub outcome: Outcome,
    /// Why, in one sentence.
    pub reason: String,
    /// `flaky` and `forged-marker`, where they apply.
    pub flags: Vec<String>,
}

/// Flag of an attempt whose repeats differ.
pub const FLAKY: &str = "flaky";
/// Flag of an attempt that printed verdict lines of its own.
pub const FORGED: &str = "forged-marker";

/// Combines the repeats. Every one must pass; what can't be judged outweighs
/// what failed, so that curators see it.
pub fn combine(repeats: &[Judged]) -> Combined {
    let count = |v: Verdict| repeats.iter().filter(|j| j.verdict == v).count();
    let message = |v: Verdict| {
        repeats
            .iter()
            .find(|j| j.verdict == v)
            .map_or("", |j| j.message.as_str())
    };
    let passed = count(Verdict::Pass);
    let mut flags = Vec::new();
    if repeats.windows(2).any(|w| w[0].verdict != w[1].verdict) {
        flags.push(FLAKY.to_owned());
    }
    if repeats.iter().any(|j| j.forged > 0) {
        flags.push(FORGED.to_owned());
    }
    let (outcome, reason) = if repeats.is_empty() {
        (Outcome::OracleError, "the oracle was never run".to_owned())
    } else if count(Verdict::Error) > 0 {
        (Outcome::OracleError, message(Verdict::Error).to_owned())
    } else if count(Verdict::Timeout) > 0 {
        (Outcome::Timeout, message(Verdict::Timeout).to_owned())
    } else if passed == repeats.len() {
        (Outcome::Pass, message(Verdict::Pass).to_owned())
    } else if passed > 0 {
        let text = format!(
            "passed {passed} of {} runs; {}",
            repeats.len(),
            message(Verdict::Fail)
        );
        (Outcome::Fail, text)
    } else {
        (Outcome::Fail, message(Verdict::Fail).to_owned())
    };
    Combined {
        outcome,
        reason,
        flags,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "00ff";

    fn said(stdout: &str, code: i32) -> Judged {
        let stdout = Captured {
            head: stdout.as_bytes().to_vec(),
            ..Captured::default()
        };
        judge(
            &Evidence {
                exit: Exit::Code(code),
                stopped: None,
                oom: false,
                stdout: &stdout,
            },
            Some(NONCE),
        )
    }

    #[test]
    fn only_the_right_line_with_the_right_status_counts() {
        use Verdict::{Error, Fail, Pass};
        let table = [
            ("PASS: fine [00ff]\n", 0, Pass, 0),
            ("FAIL: lost [00ff]\n", 1, Fail, 0),
            ("noise\nPASS: fine [00ff]\r\nmore\n", 0, Pass, 0),
            ("PASS: fine [00ff]", 0, Pass, 0),
            ("PASS: fine [00ff]\n", 1, Error, 0),
            ("FAIL: lost [00ff]\n", 0, Error, 0),
            ("PASS: fine [00ff]\n", 2, Error, 0),
            ("PASS: fine\n", 0, Error, 1),
            ("PASS: fine [beef]\n", 0, Error, 1),
            ("PASS: fine [00ff] \n", 0, Error, 1),
            ("PASS: mine [x]\nFAIL: lost [00ff]\n", 1, Fail, 1),
            ("PASS: a [00ff]\nFAIL: b [00ff]\n", 1, Error, 0),
            (" PASS: fine [00ff]\n", 0, Error, 0),
            ("pass: fine [00ff]\n", 0, Error, 0),
            ("", 0, Error, 0),
            ("", 1, Error, 0),
        ];
        for (stdout, code, verdict, forged) in table {
            let judged = said(stdout, code);
            assert_eq!(
                (judged.verdict, judged.forged),
                (verdict, forged),
                "{stdout:?} {code}: {judged:?}"
            );
            assert!(!judged.message.contains(NONCE));
        }
    }

    #[test]
    fn an_oracle_that_opted_out_needs_no_nonce() {
        let stdout = Captured {
            head: b"PASS: fine\n".to_vec(),
            ..Captured::default()
        };
        let evidence = Evidence {
            exit: Exit::Code(0),
            stopped: None,
            oom: false,
            stdout: &stdout,
        };
        assert_eq!(
            judge(&evidence, None),
            Judged {
                verdict: Verdict::Pass,
                message: "fine".into(),
                forged: 0
            }
        );
    }

    #[test]
    fn a_marker_that_the_cut_of_the_log_made_is_none() {
        let stdout = Captured {
            head: b"x".to_vec(),
            tail: b"PASS: fine [00ff]\n".to_vec(),
            cut: 9,
        };
        let evidence = Evidence {
            exit: Exit::Code(0),
            stopped: None,
            oom: false,
            stdout: &stdout,
        };
        assert_eq!(judge(&evidence, Some(NONCE)).verdict, Verdict::Error);
        let stdout = Captured {
            head: b"x".to_vec(),
            tail: b"x\nPASS: fine [00ff]\n".to_vec(),
            cut: 9,
        };
        let evidence = Evidence {
            stdout: &stdout,
            ..evidence
        };
        assert_eq!(judge(&evidence, Some(NONCE)).verdict, Verdict::Pass);
    }

    #[test]
    fn being_stopped_is_no_verdict_whatever_was_printed() {
        let stdout = Captured {
            head: b"PASS: fine [00ff]\n".to_vec(),
            ..Captured::default()
        };
        for (stopped, verdict) in [
            (Stopped::TimedOut, Verdict::Timeout),
            (Stopped::Cancelled, Verdict::Error),
            (Stopped::QuotaExceeded, Verdict::Error),
        ] {
            let evidence = Evidence {
                exit: Exit::Code(0),
                stopped: Some(stopped),
                oom: false,
                stdout: &stdout,
            };
            assert_eq!(judge(&evidence, Some(NONCE)).verdict, verdict);
        }
    }

    #[test]
    fn repeats_combine() {
        let j = |verdict, forged| Judged {
            verdict,
            message: format!("{verdict:?}"),
            forged,
        };
        use Verdict::{Error, Fail, Pass, Timeout};
        let table: &[(&[Verdict], Outcome, bool)] = &[
            (&[Pass, Pass, Pass], Outcome::Pass, false),
            (&[Fail, Fail, Fail], Outcome::Fail, false),
            (&[Pass, Fail, Pass], Outcome::Fail, true),
            (&[Pass, Timeout], Outcome::Timeout, true),
            (&[Timeout], Outcome::Timeout, false),
            (&[Fail, Error], Outcome::OracleError, true),
            (&[], Outcome::OracleError, false),
        ];
        for (verdicts, outcome, flaky) in table {
            let judged: Vec<_> = verdicts.iter().map(|&v| j(v, 0)).collect();
            let combined = combine(&judged);
            assert_eq!(combined.outcome, *outcome, "{verdicts:?}");
            assert_eq!(
                combined.flags.contains(&FLAKY.to_owned()),
                *flaky,
                "{verdicts:?}"
            );
        }
        assert_eq!(combine(&[j(Pass, 0), j(Pass, 2)]).flags, [FORGED]);
    }
}
