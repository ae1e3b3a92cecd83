//! The queue on a real database: leases, fencing, fairness, back-off, parking.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use faultboard_domain::clock::ManualClock;
use faultboard_domain::job::{JobKind, JobState, Priority};
use faultboard_domain::view::WorkerView;
use faultboard_domain::{
    Actor, AttemptId, CaseId, Clock, Digest, JobId, Role, RunNumber, SubmissionId, SubmissionState,
    Timestamp, UserId,
};
use faultboard_jobs::{
    BoxFuture, Gate, Handler, JobContext, JobFailure, Obstacle, Permit, Policy, Worker,
    WorkerEvents,
};
use faultboard_store::accounts::{self, User};
use faultboard_store::attempts::{self, Attempt, Stored};
use faultboard_store::jobs::{self, Claimed, Heartbeat, NewJob};
use faultboard_store::submissions::{self, Submission};
use faultboard_store::workers::{self, Wish};
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

fn open_gate() -> Gate {
    Arc::new(|_| Box::pin(async { Permit::All }))
}

fn worker(
    store: &Store,
    clock: &Arc<ManualClock>,
    handler: Arc<dyn Handler>,
    name: &str,
    gate: Gate,
) -> Worker {
    Worker {
        store: store.clone(),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        handler,
        events: Arc::new(Quiet),
        gate,
        name: name.to_owned(),
        node: "node".to_owned(),
        runtime: "fake".to_owned(),
        policy: Policy {
            poll_ms: 1,
            heartbeat_ms: 5,
            ..Policy::default()
        },
        bell: Arc::default(),
    }
}

/// Runs a worker until the database shows what is awaited.
async fn until(
    worker: Worker,
    store: &Store,
    clock: &ManualClock,
    mut seen: impl AsyncFnMut(&Store) -> bool,
) {
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(worker.run(stopped));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !seen(store).await {
        assert!(
            std::time::Instant::now() < deadline,
            "{:?} {:?}",
            jobs::listing(&mut store.reader().await.unwrap(), 50).await,
            workers::since(&mut store.reader().await.unwrap(), Timestamp(0)).await
        );
        clock.advance_ms(500);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    stop.send_replace(true);
    running.await.unwrap();
}

/// An attempt on a case, with what it needs around it.
async fn attempt(store: &Store, number: u32, case: &str, submission: &str) -> NewJob {
    let mut tx = store.begin().await.unwrap();
    let user = UserId::parse("u00000001").unwrap();
    if accounts::user_by_id(&mut tx, &user)
        .await
        .unwrap()
        .is_none()
    {
        let ada = User {
            id: user.clone(),
            name: "Ada".to_owned(),
            email: "ada@example.org".to_owned(),
            password_hash: "x".to_owned(),
            role: Role::Submitter,
        };
        accounts::insert_user(&mut tx, &ada, NOW).await.unwrap();
    }
    let id = SubmissionId::parse(submission).unwrap();
    if submissions::get(&mut tx, &id).await.unwrap().is_none() {
        let s = Submission {
            id: id.clone(),
            user,
            team: None,
            state: SubmissionState::Received,
            file_name: "b.zip".to_owned(),
            size: 1,
            sha256: Digest::of(b"b"),
            metadata: None,
            report: None,
            trace_bytes: 0,
            live_revision: None,
            created: NOW,
            changed: NOW,
            published: None,
        };
        submissions::insert(&mut tx, &s, &Actor::System)
            .await
            .unwrap();
    }
    let a = Attempt {
        id: AttemptId::parse(&format!("a{number:08}")).unwrap(),
        submission: id.clone(),
        position: number,
        case: CaseId::parse(case).unwrap(),
        condition: None,
        run: RunNumber(number),
        patch: None,
        diagnosis: None,
        trace: Stored {
            digest: Digest::of(b"t"),
            size: 1,
        },
        trace_name: "t".to_owned(),
        normalised: None,
        step_index: None,
        summary: None,
        stats: None,
    };
    attempts::insert(&mut tx, &a).await.unwrap();
    tx.commit().await.unwrap();
    NewJob {
        kind: JobKind::ScoreAttempt,
        submission: Some(id),
        attempt: Some(a.id),
        ..job(case)
    }
}

/// Fails on some cases for reasons of infrastructure; `told` counts the tries.
struct Failing {
    store: Store,
    clock: Arc<ManualClock>,
    fails: fn(&str) -> bool,
    told: AtomicU32,
}

impl Failing {
    fn new(store: &Store, clock: &Arc<ManualClock>, fails: fn(&str) -> bool) -> Arc<Self> {
        Arc::new(Self {
            store: store.clone(),
            clock: Arc::clone(clock),
            fails,
            told: AtomicU32::new(0),
        })
    }
}

impl Handler for Failing {
    fn run<'a>(&'a self, job: &'a Claimed, _: JobContext) -> BoxFuture<'a, Result<(), JobFailure>> {
        Box::pin(async move {
            self.told.fetch_add(1, Ordering::SeqCst);
            let mut tx = self.store.begin().await.unwrap();
            let case = match &job.attempt {
                Some(a) => Some(attempts::get(&mut tx, a).await.unwrap().unwrap().case),
                None => None,
            };
            if let Some(case) = case.filter(|c| (self.fails)(c.as_str())) {
                return Err(JobFailure::Infrastructure {
                    reason: "image `x` is missing".to_owned(),
                    case: Some(case),
                });
            }
            jobs::finish(&mut tx, job.id, &job.token, self.clock.now())
                .await
                .unwrap();
            tx.commit().await.unwrap();
            Ok(())
        })
    }
}

async fn state_of(store: &Store, id: i64) -> JobState {
    jobs::get(&mut store.reader().await.unwrap(), JobId(id))
        .await
        .unwrap()
        .unwrap()
        .state
}

async fn worker_state(store: &Store, name: &str) -> (String, String) {
    workers::since(&mut store.reader().await.unwrap(), Timestamp(0))
        .await
        .unwrap()
        .into_iter()
        .find(|w| w.name == name)
        .map(|w| (w.state, w.why))
        .unwrap_or_default()
}

async fn wish(store: &Store, name: &str, wish: Wish) {
    let mut tx = store.begin().await.unwrap();
    assert!(workers::wish(&mut tx, name, wish).await.unwrap());
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn a_worker_that_fails_three_cases_in_a_row_takes_itself_out_until_it_is_released() {
    let (_folder, store) = store().await;
    let clock = Arc::new(ManualClock::at(NOW));
    for n in 1..=4 {
        let j = attempt(&store, n, &format!("case-{n}"), "s00000001").await;
        add(&store, &j, NOW).await;
    }
    let handler = Failing::new(&store, &clock, |_| true);
    let broken = worker(&store, &clock, handler.clone(), "w1", open_gate());
    until(broken, &store, &clock, async |s| {
        worker_state(s, "w1").await.0 == "quarantined"
    })
    .await;
    let told = handler.told.load(Ordering::SeqCst);
    assert_eq!(told, 3, "no case twice while others were not tried");
    // An administrator lets it out again, sooner than the time does.
    let handler = Failing::new(&store, &clock, |_| true);
    let third = worker(&store, &clock, handler, "w3", open_gate());
    let mut released = false;
    for n in 5..=8 {
        let j = attempt(&store, n, &format!("case-{n}"), "s00000001").await;
        add(&store, &j, NOW).await;
    }
    until(third, &store, &clock, async |s| {
        let (state, why) = worker_state(s, "w3").await;
        if state == "quarantined" && !released {
            assert!(why.contains("3 cases in a row"), "{why}");
            wish(s, "w3", Wish::Release).await;
            released = true;
        }
        released && state != "quarantined"
    })
    .await;
}

#[tokio::test]
async fn a_case_that_fails_on_every_worker_is_parked_and_can_be_let_go_on() {
    let (_folder, store) = store().await;
    let clock = Arc::new(ManualClock::at(NOW));
    for n in 1..=3 {
        let j = attempt(&store, n, "bad-1", "s00000001").await;
        add(&store, &j, NOW).await;
    }
    let good = attempt(&store, 9, "good-1", "s00000001").await;
    // Two workers are alive; the first alone can't park the case.
    let mut tx = store.begin().await.unwrap();
    let idle = WorkerView {
        name: "w2".to_owned(),
        node: "node".to_owned(),
        runtime: "fake".to_owned(),
        seen: Timestamp(i64::MAX),
        state: "claiming".to_owned(),
        why: String::new(),
        running: 0,
        wish: None,
    };
    workers::seen(&mut tx, &idle).await.unwrap();
    tx.commit().await.unwrap();
    let fails: fn(&str) -> bool = |c| c == "bad-1";
    let one = worker(
        &store,
        &clock,
        Failing::new(&store, &clock, fails),
        "w1",
        open_gate(),
    );
    until(one, &store, &clock, async |s| {
        state_of(s, 1).await == JobState::Parked
    })
    .await;
    let parked = async |s: &Store| {
        workers::parked_cases(&mut s.reader().await.unwrap())
            .await
            .unwrap()
    };
    assert!(
        parked(&store).await.is_empty(),
        "one worker has not tried it"
    );
    add(&store, &good, NOW).await;
    let mut tx = store.begin().await.unwrap();
    let first = jobs::parked(&mut tx).await.unwrap()[0].id;
    jobs::retry(&mut tx, first, NOW).await.unwrap();
    tx.commit().await.unwrap();
    let two = worker(
        &store,
        &clock,
        Failing::new(&store, &clock, fails),
        "w2",
        open_gate(),
    );
    until(two, &store, &clock, async |s| {
        !parked(s).await.is_empty() && state_of(s, 4).await == JobState::Done
    })
    .await;
    let case = &parked(&store).await[0];
    assert!(
        case.reason.contains("w1") && case.reason.contains("w2"),
        "{}",
        case.reason
    );
    assert_eq!(case.jobs, 3, "everything of the case waits: {case:?}");
    let mut tx = store.begin().await.unwrap();
    assert!(
        workers::release_case(&mut tx, &case.case, NOW)
            .await
            .unwrap()
    );
    tx.commit().await.unwrap();
    let mended = Failing::new(&store, &clock, |_| false);
    let three = worker(&store, &clock, mended, "w3", open_gate());
    until(three, &store, &clock, async |s| {
        let mut done = 0;
        for id in 1..=3 {
            done += u32::from(state_of(s, id).await == JobState::Done);
        }
        done == 3
    })
    .await;
}

#[tokio::test]
async fn a_try_that_fails_while_the_platform_is_down_does_not_count() {
    let (_folder, store) = store().await;
    let clock = Arc::new(ManualClock::at(NOW));
    let j = attempt(&store, 1, "case-1", "s00000001").await;
    add(&store, &j, NOW).await;
    // The engine goes down while the job is at work, five times over; the
    // worker learns of it by asking anew.
    let tries = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&tries);
    let gate: Gate = Arc::new(move |anew| {
        let down = anew && seen.fetch_add(1, Ordering::SeqCst) < 5;
        Box::pin(async move {
            if down {
                Permit::WithoutContainers(Obstacle {
                    kind: "engine",
                    text: "no answer".to_owned(),
                })
            } else {
                Permit::All
            }
        })
    });
    let handler = Failing::new(&store, &clock, |_| true);
    let w = worker(&store, &clock, handler.clone(), "w1", gate);
    until(w, &store, &clock, async |s| {
        state_of(s, 1).await == JobState::Parked
    })
    .await;
    assert_eq!(
        handler.told.load(Ordering::SeqCst),
        5 + 3,
        "five tries were given back, then the three that count were used"
    );
}

#[tokio::test]
async fn a_job_that_breaks_the_platform_each_time_comes_to_an_end() {
    let (_folder, store) = store().await;
    let clock = Arc::new(ManualClock::at(NOW));
    let j = attempt(&store, 1, "case-1", "s00000001").await;
    add(&store, &j, NOW).await;
    let gate: Gate = Arc::new(|anew| {
        Box::pin(async move {
            if anew {
                Permit::Nothing(Obstacle {
                    kind: "disk",
                    text: "full".to_owned(),
                })
            } else {
                Permit::All
            }
        })
    });
    let handler = Failing::new(&store, &clock, |_| true);
    let w = worker(&store, &clock, handler.clone(), "w1", gate);
    until(w, &store, &clock, async |s| {
        state_of(s, 1).await == JobState::Parked
    })
    .await;
    assert_eq!(
        handler.told.load(Ordering::SeqCst),
        Policy::default().spared_most + 3
    );
}

#[tokio::test]
async fn nothing_is_claimed_while_the_disk_is_full_and_it_says_so() {
    let (_folder, store) = store().await;
    let clock = Arc::new(ManualClock::at(NOW));
    add(&store, &job("boards"), NOW).await;
    let full = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let looked = Arc::clone(&full);
    let gate: Gate = Arc::new(move |_| {
        let full = looked.load(Ordering::SeqCst);
        Box::pin(async move {
            if full {
                Permit::Nothing(Obstacle {
                    kind: "disk",
                    text: "3 MiB free".to_owned(),
                })
            } else {
                Permit::All
            }
        })
    });
    let handler = Failing::new(&store, &clock, |_| false);
    let w = worker(&store, &clock, handler, "w1", gate);
    let mut beats = 0;
    until(w, &store, &clock, async |s| {
        let (state, why) = worker_state(s, "w1").await;
        if state == "waiting" && full.load(Ordering::SeqCst) {
            assert_eq!(why, "disk: 3 MiB free");
            assert_eq!(state_of(s, 1).await, JobState::Queued);
            beats += 1;
        }
        if beats == 20 {
            full.store(false, Ordering::SeqCst);
        }
        state_of(s, 1).await == JobState::Done
    })
    .await;
    assert!(beats >= 20, "{beats}");
}

#[tokio::test]
async fn a_drained_worker_ends_what_it_holds_and_claims_nothing_more() {
    struct Slow(Store, Arc<ManualClock>, Arc<tokio::sync::Notify>);
    impl Handler for Slow {
        fn run<'a>(
            &'a self,
            job: &'a Claimed,
            _: JobContext,
        ) -> BoxFuture<'a, Result<(), JobFailure>> {
            Box::pin(async move {
                self.2.notified().await;
                let mut tx = self.0.begin().await.unwrap();
                jobs::finish(&mut tx, job.id, &job.token, self.1.now())
                    .await
                    .unwrap();
                tx.commit().await.unwrap();
                Ok(())
            })
        }
    }
    let (_folder, store) = store().await;
    let clock = Arc::new(ManualClock::at(NOW));
    add(&store, &job("in hand"), NOW).await;
    let go_on = Arc::new(tokio::sync::Notify::new());
    let handler = Arc::new(Slow(store.clone(), Arc::clone(&clock), Arc::clone(&go_on)));
    let w = worker(&store, &clock, handler, "w1", open_gate());
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(w.run(stopped));
    while worker_state(&store, "w1").await.0 != "working" {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    add(&store, &job("later"), NOW).await;
    wish(&store, "w1", Wish::Drain).await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(state_of(&store, 1).await, JobState::Running, "it may end");
    go_on.notify_one();
    running.await.unwrap();
    assert_eq!(state_of(&store, 1).await, JobState::Done);
    assert_eq!(state_of(&store, 2).await, JobState::Queued);
    assert_eq!(worker_state(&store, "w1").await.0, "stopped");
}

#[tokio::test]
async fn a_dead_worker_s_jobs_wait_again_at_once() {
    let (_folder, store) = store().await;
    add(&store, &job("x"), NOW).await;
    let held = claim(&store, "t", NOW).await.unwrap();
    let mut tx = store.begin().await.unwrap();
    assert!(
        jobs::expire(&mut tx, NOW).await.unwrap().is_empty(),
        "its lease holds"
    );
    assert!(
        jobs::expire_of(&mut tx, "another", NOW)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(jobs::expire_of(&mut tx, "w", NOW).await.unwrap(), [held.id]);
    assert!(
        !jobs::finish(&mut tx, held.id, &held.token, NOW)
            .await
            .unwrap()
    );
    tx.commit().await.unwrap();
    assert!(claim(&store, "u", NOW).await.is_some());
}

#[tokio::test]
async fn interactive_work_goes_first_and_submissions_take_turns() {
    let (_folder, store) = store().await;
    for n in 1..=3 {
        let j = attempt(&store, n, "case-1", "s00000001").await;
        add(&store, &j, NOW).await;
    }
    let other = attempt(&store, 4, "case-1", "s00000002").await;
    add(&store, &other, NOW.plus_ms(5)).await;
    let soon = NewJob {
        priority: Priority::Interactive,
        ..job("somebody waits at a page")
    };
    add(&store, &soon, NOW.plus_ms(9)).await;
    let later = NOW.plus_ms(10);
    let mut order = Vec::new();
    for token in ["t1", "t2", "t3", "t4", "t5"] {
        order.push(claim(&store, token, later).await.unwrap().id.0);
    }
    assert_eq!(
        order,
        [5, 1, 4, 2, 3],
        "first what somebody waits for, then one of each submission in turn"
    );
}

#[tokio::test]
async fn a_long_queue_that_moves_is_not_stuck_and_one_that_stands_still_is() {
    let (_folder, store) = store().await;
    add(&store, &job("a"), NOW).await;
    add(&store, &job("b"), NOW).await;
    let hour = NOW.plus_ms(3_600_000);
    let before = hour.plus_ms(-2_700_000);
    let stuck = async |s: &Store| {
        jobs::stuck(&mut s.reader().await.unwrap(), before)
            .await
            .unwrap()
            .len()
    };
    assert_eq!(stuck(&store).await, 2, "nothing was begun for an hour");
    claim(&store, "t", hour).await.unwrap();
    assert_eq!(stuck(&store).await, 0, "it moves");
    let mut tx = store.begin().await.unwrap();
    set_flag(&mut tx, "paused", "true").await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(stuck(&store).await, 0);
    // A job that runs for too long is, however the queue moves.
    let late = jobs::stuck(&mut store.reader().await.unwrap(), hour.plus_ms(1))
        .await
        .unwrap();
    assert_eq!(late.len(), 1);
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
    let worker = worker(&store, &clock, handler, "w1", open_gate());
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
