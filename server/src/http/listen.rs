//! Connections: how many at once, how long each may stand still, and how they
//! end when the process does. A reader that sends its head byte by byte, or
//! takes nothing of an answer, is given up instead of holding a place for ever.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep};
use tower::ServiceExt as _;

/// The address at the other end of the connection, as an extension of requests.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// How connections are treated.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once.
    pub connections: u32,
    /// The time that a request's head may take.
    pub head: Duration,
    /// The time that a reader may take nothing of an answer.
    pub idle: Duration,
    /// The time that running requests get when the process ends.
    pub grace: Duration,
}

/// Serves until `stopping` becomes true, then lets running requests end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    mut stopping: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(limits.connections as usize));
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_headers(100)
        .max_buf_size(64 << 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(64 << 10)
        .max_concurrent_streams(100)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(20));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            _ = stopping.wait_for(|stop| *stop) => break,
            accepted = accept(&listener, &room) => accepted,
        };
        let Some((stream, peer, place)) = accepted else {
            continue;
        };
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Peer(peer));
            router.clone().oneshot(request)
        });
        let io = TokioIo::new(Patient::new(stream, limits.idle));
        let connection = builder.serve_connection(io, service).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(e) = connection.await {
                // Readers go away all the time; that is no fault of ours.
                tracing::debug!(error = %e, %peer, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.grace, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not end in time and were cut off");
    }
}

/// Waits for room, then for a connection. None after a failure to accept.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let place = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            if let Err(e) = stream.set_nodelay(true) {
                tracing::debug!(error = %e, "TCP_NODELAY could not be set");
            }
            Some((stream, peer, place))
        }
        Err(e) => {
            // Out of file handles, most likely: some will be free in a moment.
            tracing::warn!(error = %e, "a connection could not be accepted");
            tokio::time::sleep(Duration::from_millis(200)).await;
            None
        }
    }
}

/// A connection whose writes fail when the reader takes nothing for too long.
struct Patient<T> {
    inner: T,
    idle: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    fn new(inner: T, idle: Duration) -> Self {
        Self {
            inner,
            idle,
            waiting: None,
        }
    }

    /// Passes a write's outcome on; a wait that is too long becomes an error.
    fn judge<R>(
        &mut self,
        cx: &mut Context<'_>,
        outcome: Poll<std::io::Result<R>>,
    ) -> Poll<std::io::Result<R>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let idle = self.idle;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + idle)));
        match waiting.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(std::io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.judge(cx, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(cx);
        self.judge(cx, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.judge(cx, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.judge(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

/// Waits for SIGTERM or SIGINT.
pub async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (term, int) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    );
    let (Ok(mut term), Ok(mut int)) = (term, int) else {
        tracing::error!("signals can't be listened to; the process ends only when it is killed");
        return std::future::pending().await;
    };
    poll_fn(|cx| {
        if term.poll_recv(cx).is_ready() || int.poll_recv(cx).is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt as _;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_given_up() {
        let (near, _far) = tokio::io::duplex(16);
        let mut patient = Patient::new(near, Duration::from_secs(60));
        let began = Instant::now();
        let error = patient.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), Duration::from_secs(60));
    }
}
