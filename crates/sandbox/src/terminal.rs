//! A person's terminal, as a runtime sees it: bytes in, bytes out, and a size.
//! Whoever has the terminal puts it into raw mode and back; nothing here does.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

/// How large a terminal is, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// Both ends of a terminal.
pub struct Terminal {
    /// What is typed.
    pub input: Box<dyn AsyncRead + Send + Sync + Unpin>,
    /// What is shown.
    pub output: Box<dyn AsyncWrite + Send + Sync + Unpin>,
    /// Its size now, and whenever it changes.
    pub size: watch::Receiver<TerminalSize>,
}
