//! This process's terminal: put into raw mode for a program in a container, and
//! back into order whatever happens.

use std::io::IsTerminal as _;
use std::os::fd::AsFd;

use anyhow::Context as _;
use faultboard_portal::{Terminal, TerminalSize};
use rustix::termios::{self, OptionalActions, Termios};
use tokio::sync::watch;

/// Raw mode while this lives.
pub(super) struct Raw {
    before: Termios,
}

impl Drop for Raw {
    fn drop(&mut self) {
        // The terminal may be gone by now; then nothing is out of order.
        let _ = termios::tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.before);
    }
}

/// Takes the terminal over; an error says what is missing where there is none.
pub(super) fn take() -> anyhow::Result<(Raw, Terminal)> {
    anyhow::ensure!(
        std::io::stdin().is_terminal() && std::io::stdout().is_terminal(),
        "a shell needs a terminal, and this command's input or output is none; \
         run it at a terminal, or use `faultboard bench agent` and `bench reproduce` in scripts"
    );
    let stdin = std::io::stdin();
    let before = termios::tcgetattr(&stdin).context("the terminal can't be read")?;
    let mut raw = before.clone();
    raw.make_raw();
    termios::tcsetattr(&stdin, OptionalActions::Flush, &raw)
        .context("the terminal can't be put into raw mode")?;
    let raw = Raw { before };
    let (sender, size) = watch::channel(now());
    let mut resized = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::window_change())
        .context("changes of the terminal's size can't be followed")?;
    tokio::spawn(async move {
        while resized.recv().await.is_some() {
            if sender.send(now()).is_err() {
                break;
            }
        }
    });
    let terminal = Terminal {
        input: Box::new(file(&std::io::stdin())?),
        output: Box::new(file(&std::io::stdout())?),
        size,
    };
    Ok((raw, terminal))
}

/// One end of the terminal as a file of its own, read and written off the async
/// threads.
fn file(end: &impl AsFd) -> anyhow::Result<tokio::fs::File> {
    let own = end
        .as_fd()
        .try_clone_to_owned()
        .context("the terminal can't be opened a second time")?;
    Ok(tokio::fs::File::from_std(own.into()))
}

fn now() -> TerminalSize {
    let found = termios::tcgetwinsize(std::io::stdout()).ok();
    let usual = TerminalSize {
        rows: 24,
        columns: 80,
    };
    found.map_or(usual, |s| TerminalSize {
        rows: s.ws_row.max(1),
        columns: s.ws_col.max(1),
    })
}
