//! Live updates as server-sent events. Each event is made from a fresh call of
//! a use case, so a reader never gets what they may not see; a change that was
//! missed is made good by the next tick.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use faultboard_domain::{Actor, JobId, SubmissionId};
use faultboard_portal::Change;
use serde::Serialize;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::actor::Asker;
use super::fault::Fault;
use super::state::Site;

/// A state is sent at least this often.
const TICK: Duration = Duration::from_secs(15);
/// Changes within this time are told together.
const GATHER: Duration = Duration::from_millis(250);
/// After this a stream ends; the browser asks again, and is identified again.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// The routes.
pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/submissions/{id}/events", get(submission))
        .route("/admin/jobs/{id}/events", get(job))
        .route("/admin/queue/events", get(queue))
}

/// What a stream waited for.
enum Woken {
    Change(Change),
    /// It is time to send the state anyway.
    Refresh,
    /// Changes came faster than the reader took them, and some were missed.
    Missed,
    /// The process ends, or nothing can change any more.
    End,
}

/// The sending half of one stream.
struct Feed {
    site: Site,
    changes: Receiver<Change>,
    tick: tokio::time::Interval,
    events: mpsc::Sender<Result<Event, Infallible>>,
    _room: OwnedSemaphorePermit,
}

impl Feed {
    /// Waits for the next change or tick.
    async fn wait(&mut self) -> Woken {
        tokio::select! {
            () = self.site.stopped() => Woken::End,
            () = self.events.closed() => Woken::End,
            _ = self.tick.tick() => Woken::Refresh,
            changed = self.changes.recv() => match changed {
                Ok(change) => Woken::Change(change),
                Err(RecvError::Lagged(_)) => Woken::Missed,
                Err(RecvError::Closed) => Woken::End,
            },
        }
    }

    /// Lets changes that come at once gather, so that a burst is told once.
    async fn gather(&mut self) {
        tokio::time::sleep(GATHER).await;
        while self.changes.try_recv().is_ok() {}
    }

    /// Sends an event; false when the reader is gone.
    async fn send(&self, name: &str, value: &impl Serialize) -> bool {
        match Event::default().event(name).json_data(value) {
            Ok(event) => self.events.send(Ok(event)).await.is_ok(),
            Err(e) => {
                tracing::error!(error = %e, name, "an event could not be written");
                false
            }
        }
    }
}

/// Opens a stream that `run` fills.
fn open<F, Fut>(site: Site, changes: Receiver<Change>, run: F) -> Result<Response, Fault>
where
    F: FnOnce(Feed) -> Fut,
    Fut: Future<Output = ()> + Send + 'static,
{
    let room = site.streams.clone().try_acquire_owned().map_err(|_| {
        Fault::busy(
            "Too many pages follow along just now; reload to see the present state.",
            30,
        )
    })?;
    let (events, mut receiver) = mpsc::channel(16);
    let mut tick = tokio::time::interval_at(tokio::time::Instant::now() + TICK, TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let work = run(Feed {
        site,
        changes,
        tick,
        events,
        _room: room,
    });
    tokio::spawn(async move {
        // A stream that has lasted its time just ends.
        let _ = tokio::time::timeout(LONGEST, work).await;
    });
    let stream = futures::stream::poll_fn(move |cx| receiver.poll_recv(cx));
    let mut response = Sse::new(stream)
        .keep_alive(KeepAlive::new().interval(TICK))
        .into_response();
    // Proxies that gather bytes would hold events back.
    response.headers_mut().insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    Ok(response)
}

async fn submission(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = SubmissionId::parse(&id)?;
    // Listening begins before the first state is read: nothing falls between.
    let changes = site.portal.subscribe();
    let first = site.portal.submission_live(&actor, &id).await?;
    open(site, changes, move |mut feed| async move {
        let mut alive = feed.send("live", &first).await;
        while alive {
            match feed.wait().await {
                Woken::Change(Change::Submission(of)) if of == id => feed.gather().await,
                Woken::Change(_) => continue,
                Woken::Refresh | Woken::Missed => {}
                Woken::End => break,
            }
            // A reader who may not see it any more gets no reason, just an end.
            let Ok(now) = feed.site.portal.submission_live(&actor, &id).await else {
                break;
            };
            alive = feed.send("live", &now).await;
        }
    })
}

async fn queue(State(site): State<Site>, Asker(actor): Asker) -> Result<Response, Fault> {
    let changes = site.portal.subscribe();
    let first = site.portal.queue(&actor).await?;
    open(site, changes, move |mut feed| async move {
        let mut alive = feed.send("queue", &first).await;
        while alive {
            match feed.wait().await {
                Woken::Change(Change::Queue | Change::Job(_)) => feed.gather().await,
                Woken::Change(_) => continue,
                Woken::Refresh | Woken::Missed => {}
                Woken::End => break,
            }
            let Ok(now) = feed.site.portal.queue(&actor).await else {
                break;
            };
            alive = feed.send("queue", &now).await;
        }
    })
}

/// The job number of an address.
pub(super) fn job_id(text: &str) -> Result<JobId, Fault> {
    text.parse().map(JobId).map_err(|_| Fault::missing())
}

async fn job(
    State(site): State<Site>,
    Asker(actor): Asker,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let id = job_id(&id)?;
    let changes = site.portal.subscribe();
    may_see(&site, &actor, id).await?;
    open(site, changes, move |mut feed| async move {
        loop {
            match feed.wait().await {
                Woken::Change(Change::JobLog(of, chunk)) if of == id => {
                    if !feed.send("log", &chunk).await {
                        break;
                    }
                }
                Woken::Change(_) => {}
                Woken::Refresh => {
                    if may_see(&feed.site, &actor, id).await.is_err() {
                        break;
                    }
                }
                Woken::Missed => {
                    let note = "\n[lines were skipped here; reload the page to see them]\n";
                    if !feed.send("log", &note).await {
                        break;
                    }
                }
                Woken::End => break,
            }
        }
    })
}

async fn may_see(site: &Site, actor: &Actor, id: JobId) -> Result<(), Fault> {
    site.portal.job(actor, id).await?;
    Ok(())
}
