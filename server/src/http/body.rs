//! Bodies as streams: an incoming one that gives up when no bytes arrive, and
//! an outgoing one that a task fills. Neither is ever held in memory whole.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _};
use tokio::sync::mpsc;

/// Why an incoming body ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    /// The connection broke, or a limit was met.
    #[error("the connection broke off: {0}")]
    Connection(#[from] axum::Error),
    /// Nothing arrived for too long.
    #[error("no bytes arrived for {} seconds", .0.as_secs())]
    Idle(Duration),
}

/// The incoming bytes; ends with an error when none arrive for `idle`.
pub(super) fn incoming(body: Body, idle: Duration) -> BoxStream<'static, Result<Bytes, Broken>> {
    let state = Some(body.into_data_stream());
    futures::stream::unfold(state, move |state: Option<BodyDataStream>| async move {
        let mut stream = state?;
        match tokio::time::timeout(idle, stream.next()).await {
            Ok(Some(Ok(bytes))) => Some((Ok(bytes), Some(stream))),
            Ok(Some(Err(e))) => Some((Err(e.into()), None)),
            Ok(None) => None,
            Err(_) => Some((Err(Broken::Idle(idle)), None)),
        }
    })
    .boxed()
}

/// Reads the rest of a small body, so that a browser sees the answer instead of
/// a broken connection. Gives up at 8 MiB or after five seconds.
pub(super) async fn drain(mut body: BoxStream<'static, Result<Bytes, Broken>>) {
    let reading = async {
        let mut left: usize = 8 << 20;
        while let Some(Ok(bytes)) = body.next().await {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                break;
            }
        }
    };
    // Whichever way it ends, the answer is given now.
    let _ = tokio::time::timeout(Duration::from_secs(5), reading).await;
}

/// Where a task writes the pieces of an outgoing body.
pub(super) struct Sink(mpsc::Sender<std::io::Result<Bytes>>);

/// The reader is gone; there is nobody to write for.
#[derive(Debug)]
pub(super) struct Gone;

impl Sink {
    /// Hands on a piece, waiting while the reader is slow.
    pub(super) async fn send(&self, bytes: impl Into<Bytes>) -> Result<(), Gone> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Ok(());
        }
        self.0.send(Ok(bytes)).await.map_err(|_| Gone)
    }

    /// Breaks the body off, so that the reader can't take it for whole.
    pub(super) async fn fail(&self, e: std::io::Error) -> Gone {
        // Nobody to tell if the reader is gone already.
        let _ = self.0.send(Err(e)).await;
        Gone
    }
}

/// A body that `write` fills from a task of its own; the task ends when it is
/// done or the reader is gone.
pub(super) fn outgoing<F, Fut>(write: F) -> Body
where
    F: FnOnce(Sink) -> Fut,
    Fut: Future<Output = Result<(), Gone>> + Send + 'static,
{
    let (sender, mut receiver) = mpsc::channel(4);
    let writing = write(Sink(sender));
    tokio::spawn(async move {
        // `Gone` is no failure of ours.
        let _ = writing.await;
    });
    Body::from_stream(futures::stream::poll_fn(move |cx| receiver.poll_recv(cx)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stands_still_is_given_up_and_what_came_is_kept() {
        let first = futures::stream::once(async { Ok::<_, std::io::Error>("some") });
        let body = Body::from_stream(first.chain(futures::stream::pending()));
        let mut incoming = incoming(body, Duration::from_secs(60));
        assert_eq!(incoming.next().await.unwrap().unwrap(), "some");
        let given_up = incoming.next().await.unwrap().unwrap_err();
        assert_eq!(given_up.to_string(), "no bytes arrived for 60 seconds");
        assert!(incoming.next().await.is_none());
    }

    #[tokio::test]
    async fn a_task_that_fails_breaks_the_body_off() {
        let body = outgoing(|sink| async move {
            sink.send("some").await?;
            Err(sink.fail(std::io::Error::other("gone")).await)
        });
        assert!(axum::body::to_bytes(body, 100).await.is_err());
    }

    #[tokio::test]
    async fn a_task_ends_when_nobody_reads() {
        let (told, ended) = tokio::sync::oneshot::channel();
        let body = outgoing(|sink| async move {
            while sink.send("more").await.is_ok() {}
            // The test waits for it.
            let _ = told.send(());
            Err(Gone)
        });
        drop(body);
        ended.await.unwrap();
    }
}
