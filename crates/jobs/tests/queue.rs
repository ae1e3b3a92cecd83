//! The queue on a real database: leases, fencing, fairness, back-off, parking.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use faultboard_domain::clock::ManualClock;
use faultboard_domain::job::{JobKind, JobState, Priority};
use faultboard_domain::{Clock, JobId, SubmissionId, Timestamp};
use faultboard_jobs::{BoxFuture, Handler, JobContext, JobFailure, Policy, Worker, WorkerEvents};
use faultboard_store::jobs::{self, Claimed, Heartbeat, NewJob};
use faultboard_store::{Store, set_flag};

async fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("db.sqlite")).await.unwrap();
    (folder, store)
}

fn job(subject: &str) -> NewJob {
    NewJob {
        kind: JobKind::RebuildBoard,
        priority: Priority::Bulk,
        subject: subject.to_owned(),
        submission: None,
        revision: None,
        attempt: None,
        exclusive_key: None,
        unique_key: None,
        max_tries: 3,
    }
}

async fn add(store: &Store, j: &NewJob, now: Timestamp) -> bool {
    let mut tx = store.begin().await.unwrap();
    let added = jobs::insert(&mut tx, j, now).await.unwrap();
    tx.commit().await.unwrap();
    added
}

async fn claim(store: &Store, token: &str, now: Timestamp) -> Option<Claimed> {
    let mut tx = store.begin().await.unwrap();
    let got = jobs::claim(&mut tx, "w", token, true, 1000, now)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    got
}

const NOW: Timestamp = Timestamp(1_000_000);

#[tokio::test]
async fn a_lost_lease_can_write_nothing() {
    let (_folder, store) = store().await;
    add(&store, &job("x"), NOW).await;
    let first = claim(&store, "one", NOW).await.unwrap();
    assert!(
        claim(&store, "two", NOW).await.is_none(),
        "one job, one lease"
    );
    let mut tx = store.begin().await.unwrap();
    assert_eq!(
        jobs::expire(&mut tx, NOW.plus_ms(1001)).await.unwrap(),
        [first.id]
    );
    tx.commit().await.unwrap();
    let second = claim(&store, "two", NOW.plus_ms(1002)).await.unwrap();
    assert_eq!(
        (second.id, second.tries),
        (first.id, 2),
        "the counter rises when a job is claimed"
    );
    let mut tx = store.begin().await.unwrap();
    assert!(
        !jobs::finish(&mut tx, first.id, &first.token, NOW)
            .await
            .unwrap()
    );
    assert_eq!(
        jobs::heartbeat(&mut tx, first.id, &first.token, 1000, NOW)
            .await
            .unwrap(),
        Heartbeat::Lost
    );
    assert!(
        jobs::finish(&mut tx, second.id, &second.token, NOW)
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn unique_and_exclusive_keys_hold() {
    let (_folder, store) = store().await;
    let unique = NewJob {
        unique_key: Some("finish:r1".to_owned()),
        ..job("once")
    };
    assert!(add(&store, &unique, NOW).await);
    assert!(
        !add(&store, &unique, NOW).await,
        "asking twice enqueues once"
    );
    let exclusive = |n: &str| NewJob {
        exclusive_key: Some("case:a-1".to_owned()),
        priority: Priority::Interactive,
        ..job(n)
    };
    add(&store, &exclusive("a"), NOW).await;
    add(&store, &exclusive("b"), NOW).await;
    let a = claim(&store, "t1", NOW).await.unwrap();
    let next = claim(&store, "t2", NOW).await.unwrap();
    assert_eq!(next.exclusive_key, None, "the second run of the case waits");
    let mut tx = store.begin().await.unwrap();
    jobs::finish(&mut tx, a.id, &a.token, NOW).await.unwrap();
    tx.commit().await.unwrap();
    assert!(
        claim(&store, "t3", NOW)
            .await
            .unwrap()
            .exclusive_key
            .is_some()
    );
}

#[tokio::test]
async fn pausing_and_cancelling() {
    let (_folder, store) = store().await;
    add(&store, &job("x"), NOW).await;
    let mut tx = store.begin().await.unwrap();
    set_flag(&mut tx, "paused", "true").await.unwrap();
    tx.commit().await.unwrap();
    assert!(claim(&store, "t", NOW).await.is_none());
    let mut tx = store.begin().await.unwrap();
    set_flag(&mut tx, "paused", "false").await.unwrap();
    tx.commit().await.unwrap();
    let got = claim(&store, "t", NOW).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    assert!(jobs::cancel(&mut tx, got.id, NOW).await.unwrap());
    assert_eq!(
        jobs::heartbeat(&mut tx, got.id, &got.token, 1000, NOW)
            .await
            .unwrap(),
        Heartbeat::CancelWanted
    );
}

#[tokio::test]
async fn without_containers_only_other_work_is_claimed() {
    let (_folder, store) = store().await;
    add(
        &store,
        &NewJob {
            kind: JobKind::ScoreAttempt,
            priority: Priority::Interactive,
            ..job("score")
        },
        NOW,
    )
    .await;
    add(&store, &job("boards"), NOW).await;
    let mut tx = store.begin().await.unwrap();
    let got = jobs::claim(&mut tx, "w", "t", false, 1000, NOW)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(got.kind, JobKind::RebuildBoard);
    assert!(
        jobs::claim(&mut tx, "w", "u", false, 1000, NOW)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_job_that_kills_its_worker_stops_after_its_tries() {
    let (_folder, store) = store().await;
    add(&store, &job("deadly"), NOW).await;
    let mut now = NOW;
    for _ in 0..3 {
        assert!(claim(&store, "t", now).await.is_some());
        now = now.plus_ms(5000);
        let mut tx = store.begin().await.unwrap();
        jobs::expire(&mut tx, now).await.unwrap();
        tx.commit().await.unwrap();
    }
    assert!(claim(&store, "t", now).await.is_none());
    assert_eq!(
        jobs::parked(&mut store.reader().await.unwrap())
            .await
            .unwrap()
            .len(),
        1
    );
}

/// Fails for infrastructure reasons twice, then succeeds.
struct Flaky {
    store: Store,
    clock: Arc<ManualClock>,
    runs: AtomicU32,
}

impl Handler for Flaky {
    fn run<'a>(
        &'a self,
        job: &'a Claimed,
        context: JobContext,
    ) -> BoxFuture<'a, Result<(), JobFailure>> {
        Box::pin(async move {
            context.say("working");
            if self.runs.fetch_add(1, Ordering::SeqCst) < 2 {
                self.clock.advance_ms(400_000);
                return Err(JobFailure::Infrastructure {
                    reason: "engine down".to_owned(),
                    case: None,
                });
            }
            let mut tx = self.store.begin().await.unwrap();
            assert!(
                jobs::finish(&mut tx, job.id, &job.token, self.clock.now())
                    .await
                    .unwrap()
            );
            tx.commit().await.unwrap();
            Ok(())
        })
    }
}

struct Quiet;

impl WorkerEvents for Quiet {
    fn job_changed(&self, _: JobId, _: Option<&SubmissionId>) {}
    fn job_log(&self, _: JobId, _: &str) {}
}

#[tokio::test]
async fn infrastructure_failures_are_tried_again_and_logged() {
    let (_folder, store) = store().await;
    let clock = Arc::new(ManualClock::at(NOW));
    add(&store, &job("flaky"), NOW).await;
    let handler = Arc::new(Flaky {
        store: store.clone(),
        clock: Arc::clone(&clock),
        runs: AtomicU32::new(0),
    });
    let worker = Worker {
        store: store.clone(),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        handler: Arc::clone(&handler) as Arc<dyn Handler>,
        events: Arc::new(Quiet),
        gate: Arc::new(|| Box::pin(async { Ok(()) })),
        name: "w1".to_owned(),
        runtime: "fake".to_owned(),
        policy: Policy {
            poll_ms: 1,
            ..Policy::default()
        },
        bell: Arc::default(),
    };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(worker.run(stopped));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        clock.advance_ms(10_000);
        let done = jobs::get(&mut store.reader().await.unwrap(), JobId(1))
            .await
            .unwrap()
            .unwrap();
        if done.state == JobState::Done {
            assert_eq!(done.tries, 3);
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{done:?}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    stop.send_replace(true);
    running.await.unwrap();
    assert_eq!(
        jobs::log(&mut store.reader().await.unwrap(), JobId(1), 1000)
            .await
            .unwrap(),
        "working\n".repeat(3)
    );
}
