//! What a run came to. Facts only: nothing here says whether they are good.

use crate::log::Captured;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// A signal ended it. Engines report 128 + n for it, so a program that
    /// exits with such a status by itself (a shell whose last command was
    /// killed) looks the same.
    Signal(i32),
}

impl Exit {
    /// From a status in the shell's convention, where 128 + n stands for signal n.
    pub const fn from_status(status: i32) -> Self {
        match status {
            129..=192 => Self::Signal(status - 128),
            code => Self::Code(code),
        }
    }

    /// The status in the shell's convention.
    pub const fn status(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// Why the runtime ended the program, if it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It ran out of time.
    TimedOut,
    /// Somebody cancelled the run.
    Cancelled,
    /// It wrote more than a mount's quota.
    QuotaExceeded,
}

/// The facts of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// How the program ended.
    pub exit: Exit,
    /// Why the runtime ended it; `None` when it ended by itself.
    pub stopped: Option<Stopped>,
    /// Whether the memory limit killed something inside.
    pub oom: bool,
    /// Standard output and error in order of arrival.
    pub log: Captured,
    /// Standard output alone.
    pub stdout: Captured,
    /// Digest of the image that ran, `sha256:` and 64 hexadecimal digits.
    pub image_digest: String,
    /// Highest memory use in bytes, where it could be measured.
    pub peak_memory: Option<u64>,
    /// CPU time in seconds, where it could be measured.
    pub cpu_seconds: Option<f64>,
    /// Time from start to end in seconds.
    pub wall_seconds: f64,
    /// Growth of the writable mounts in bytes.
    pub bytes_written: u64,
    /// What the runtime could not enforce, one sentence each.
    pub not_enforced: Vec<String>,
}

impl RunResult {
    /// Whether it ended by itself with status 0.
    pub fn succeeded(&self) -> bool {
        self.stopped.is_none() && self.exit == Exit::Code(0)
    }

    /// Whether it ran out of time.
    pub fn timed_out(&self) -> bool {
        self.stopped == Some(Stopped::TimedOut)
    }

    /// Whether somebody cancelled it.
    pub fn cancelled(&self) -> bool {
        self.stopped == Some(Stopped::Cancelled)
    }

    /// Whether it wrote too much.
    pub fn quota_exceeded(&self) -> bool {
        self.stopped == Some(Stopped::QuotaExceeded)
    }
}
