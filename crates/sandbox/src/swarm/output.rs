//! What a task printed, from two readings: one that follows it while it runs,
//! and one of what its node kept, made when it has ended. Neither alone is
//! enough: an engine hands out what is followed slowly after ten million bytes,
//! and a node keeps only the end of what is long. Nothing here decodes a byte.

use std::time::Duration;

use bollard::Docker;
use bollard::query_parameters as query;

use crate::docker::drain;
use crate::error::RuntimeError;
use crate::log::{Captured, LogSink, Recorder};

/// How much of both beginnings is compared.
const COMPARED: usize = 4096;

/// Follows a task's output until it is finished.
pub(super) struct Following {
    recorder: Recorder,
    task: tokio::task::JoinHandle<()>,
}

impl Following {
    pub(super) fn begin(client: &Docker, task: &str, cap: usize, sink: Option<LogSink>) -> Self {
        let recorder = Recorder::new(cap, sink);
        let output = Box::pin(client.task_logs(task, Some(options(true))));
        let (copy, id) = (recorder.clone(), task.to_owned());
        let task = tokio::spawn(async move {
            if let Err(e) = drain(output, copy).await {
                // What is kept is read at the end; only the live view is short of it.
                tracing::debug!(task = %id, error = %e, "following a task's output was interrupted");
            }
        });
        Self { recorder, task }
    }

    /// What was seen; a moment is given for what is on its way.
    pub(super) async fn finish(mut self) -> (Captured, Captured) {
        let _ = tokio::time::timeout(Duration::from_millis(300), &mut self.task).await;
        self.task.abort();
        self.recorder.take()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads what the task's node kept: everything, and standard output alone.
pub(super) async fn kept(
    client: &Docker,
    task: &str,
    cap: usize,
    patience: Duration,
) -> Result<(Captured, Captured), RuntimeError> {
    let recorder = Recorder::new(cap, None);
    let output = Box::pin(client.task_logs(task, Some(options(false))));
    match tokio::time::timeout(patience, drain(output, recorder.clone())).await {
        Ok(read) => read.map(|()| recorder.take()),
        Err(_) => Err(RuntimeError::EngineTimeout {
            call: "task logs",
            seconds: patience.as_secs(),
        }),
    }
}

fn options(follow: bool) -> query::LogsOptions {
    query::LogsOptionsBuilder::default()
        .follow(follow)
        .stdout(true)
        .stderr(true)
        .tail("all")
        .build()
}

/// One output from both readings, and whether it is known to be whole.
pub(super) fn joined(live: Captured, kept: Captured) -> (Captured, bool) {
    let n = live.head.len().min(kept.head.len()).min(COMPARED);
    if live.head[..n] == kept.head[..n] {
        // Both begin at the beginning: the longer one went on for longer.
        let longer = if kept.total() >= live.total() {
            kept
        } else {
            live
        };
        return (longer, true);
    }
    // The node threw its beginning away.
    let total = live.total().max(kept.total());
    let end = if kept.cut == 0 { kept.head } else { kept.tail };
    let begin = live.head.len() as u64;
    let room = usize::try_from(total.saturating_sub(begin)).unwrap_or(usize::MAX);
    // As much from each end as either had.
    let end = end[end.len().saturating_sub(room.min(live.head.len().max(1)))..].to_vec();
    let cut = total.saturating_sub(begin + end.len() as u64).max(1);
    let joined = Captured {
        head: live.head,
        tail: end,
        cut,
    };
    (joined, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(head: &str, tail: &str, cut: u64) -> Captured {
        Captured {
            head: head.into(),
            tail: tail.into(),
            cut,
        }
    }

    #[test]
    fn what_is_whole_stays_so_whichever_reading_was_cut_short() {
        let whole = captured("abc\n", "", 0);
        for early in ["", "a", "abc\n"] {
            let early = captured(early, "", 0);
            assert_eq!(joined(early.clone(), whole.clone()), (whole.clone(), true));
            assert_eq!(joined(whole.clone(), early), (whole.clone(), true));
        }
    }

    #[test]
    fn a_lost_beginning_is_made_up_for_and_said() {
        let live = captured("begin", "midst", 90);
        let kept = captured("later", "end..", 5);
        let (joined, whole) = joined(live, kept);
        assert!(!whole);
        assert_eq!(joined, captured("begin", "end..", 90));
    }

    #[test]
    fn a_gap_is_never_hidden() {
        let (joined, whole) = joined(captured("ab", "", 0), captured("yz", "", 0));
        assert!(!whole && joined.cut > 0, "{joined:?}");
        assert_eq!(joined.head, b"ab");
    }
}
