//! What a task says to the person at the terminal: phases with their time,
//! steps, and failures in the form *what happened, why, what to do*.

use std::io::Write;
use std::time::{Duration, Instant};

/// Writes text as it is.
pub(crate) fn plain(text: &str) {
    // A closed pipe (`cargo xtask tidy | head`) is no reason to fail.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

/// Opens a phase: a headline that stands out in a long log.
pub(crate) fn phase(name: &str) -> Phase {
    plain(&format!("\n== {name}"));
    Phase {
        name: name.to_owned(),
        begun: Instant::now(),
    }
}

/// Says one thing that was done or found.
pub(crate) fn step(text: &str) {
    plain(&format!("   {text}"));
}

/// Says something that the person should not overlook.
pub(crate) fn warn(text: &str) {
    plain(&format!("!! {text}"));
}

/// Prints a failed task's reasons, outermost first.
pub(crate) fn failure(error: &anyhow::Error) {
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "\nxtask: {error}");
    for cause in error.chain().skip(1) {
        let _ = writeln!(err, "  because: {cause}");
    }
}

/// A phase that is under way.
pub(crate) struct Phase {
    name: String,
    begun: Instant,
}

impl Phase {
    /// Ends it, says how long it took, and hands that on for a summary.
    pub(crate) fn done(self) -> (String, Duration) {
        let took = self.begun.elapsed();
        step(&format!("{} took {}", self.name, human(took)));
        (self.name, took)
    }
}

/// `1 min 05 s`, `12.3 s`.
pub(crate) fn human(took: Duration) -> String {
    let seconds = took.as_secs();
    if seconds >= 60 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else {
        format!("{:.1} s", took.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_a_person_writes_them() {
        assert_eq!(human(Duration::from_millis(1_240)), "1.2 s");
        assert_eq!(human(Duration::from_secs(65)), "1 min 05 s");
    }
}
